//! Fuzzes `subagent_properties::configuration`, which says what the input is and what must hold.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    subagent_properties::configuration::check(input);
});
