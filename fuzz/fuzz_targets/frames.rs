//! Fuzzes `subagent_properties::frames`, which says what the input is and what must hold.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    subagent_properties::frames::check(input);
});
