//! Fuzzes `subagent_properties::diagnostic`, which says what the input is and what must hold.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    subagent_properties::diagnostic::check(input);
});
