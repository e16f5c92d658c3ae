//! Fuzzes `subagent_properties::acp`, which says what the input is and what must hold.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    subagent_fuzz::without_waiting(subagent_properties::acp::check(input));
});
