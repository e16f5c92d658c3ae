//! Fuzzes `subagent_properties::dsh_sdk`, which says what the input is and what must hold.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    subagent_fuzz::without_waiting(subagent_properties::dsh_sdk::check(input));
});
