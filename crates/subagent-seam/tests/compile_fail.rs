//! Proves that no text which exists only at run time can enter the safe failure text: every file in `compile-fail` tries
//! one way to do it, and the compiler's refusal is pinned beside it.
//!
//! After a change of toolchain or of the public types, `TRYBUILD=overwrite cargo test -p subagent-seam --test
//! compile_fail` writes the refusals anew; read them before you keep them.

/// A module of this name is run alone: the compiler needs the whole machine.
mod heavy {
    #[test]
    fn no_text_of_run_time_enters_a_diagnostic() {
        trybuild::TestCases::new().compile_fail("tests/compile-fail/*.rs");
    }
}
