//! Mends unpaired surrogate escapes. JavaScript peers that cut a text in the middle of an emoji send one half of a
//! pair, as `\ud83d`; no Rust string can hold that, so a decoder would refuse the whole frame.

use memchr::memchr;

const ESCAPE: usize = r"\uXXXX".len();

/// Rewrites every unpaired surrogate escape of `line` into `\ufffd`, in place. Nothing else changes, not even the
/// length.
pub(super) fn mend(line: &mut [u8]) {
    let mut at = 0;
    // Walking from backslash to backslash keeps an escaped backslash from being taken for the start of an escape.
    while let Some(ahead) = memchr(b'\\', &line[at..]) {
        at += ahead;
        at += match escape_at(line, at) {
            Some(0xD800..=0xDBFF) if matches!(escape_at(line, at + ESCAPE), Some(0xDC00..=0xDFFF)) => {
                2 * ESCAPE
            }
            Some(0xD800..=0xDFFF) => {
                line[at..at + ESCAPE].copy_from_slice(br"\ufffd");
                ESCAPE
            }
            _ => r"\\".len(),
        };
        at = at.min(line.len());
    }
}

/// The UTF-16 unit that is escaped at `at`, if there is one.
fn escape_at(line: &[u8], at: usize) -> Option<u16> {
    let digits = line.get(at..at + ESCAPE)?.strip_prefix(br"\u")?;
    digits.iter().try_fold(0, |unit: u16, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(digit).ok()?)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mended(text: &str) -> String {
        let mut bytes = text.as_bytes().to_vec();
        mend(&mut bytes);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn halves_are_replaced_and_pairs_are_kept() {
        assert_eq!(mended(r#"{"a":"\ud83d"}"#), r#"{"a":"\ufffd"}"#);
        assert_eq!(mended(r"\uDE00\uD83D"), r"\ufffd\ufffd");
        assert_eq!(mended(r"\ud83d\ude00"), r"\ud83d\ude00");
        assert_eq!(mended(r"\ud83d\ud83d\ude00\ude00"), r"\ufffd\ud83d\ude00\ufffd");
        assert_eq!(mended(r"\ud83dé\ude00"), r"\ufffdé\ufffd");
    }

    #[test]
    fn an_escaped_backslash_starts_no_escape() {
        assert_eq!(mended(r"\\ud83d"), r"\\ud83d");
        assert_eq!(mended(r"\\\ud83d"), r"\\\ufffd");
        assert_eq!(mended(r"\ud83d\\ude00"), r"\ufffd\\ude00");
    }

    #[test]
    fn what_is_no_escape_stays_as_it_is() {
        for text in [
            "", r"\", r"\u", r"\ud8", r"\ud83", r"\ud83g", r"\u+83d", r"\ue000", r"\ud7ff", "ud83d",
        ] {
            assert_eq!(mended(text), text);
        }
    }

    /// Every sequence of five tokens, against the standard library's own view of UTF-16.
    #[test]
    fn every_mended_text_decodes_as_the_standard_library_decodes_it() {
        const TOKENS: [(&str, &[u16]); 8] = [
            (r"\ud83d", &[0xD83D]),
            (r"\uDE00", &[0xDE00]),
            (r"\\", &[0x5C]),
            (r"\u0041", &[0x41]),
            (r"\n", &[0x0A]),
            (r"ud83d", &[0x75, 0x64, 0x38, 0x33, 0x64]),
            (r#"\""#, &[0x22]),
            ("é", &[0xE9]),
        ];
        for number in 0..TOKENS.len().pow(5) {
            let tokens = (0..5).map(|place| TOKENS[number / TOKENS.len().pow(place) % TOKENS.len()]);
            let text: String = tokens.clone().map(|(text, _)| text).collect();
            let units: Vec<u16> = tokens.flat_map(|(_, units)| units).copied().collect();
            let decoded: String = serde_json::from_str(&format!("\"{}\"", mended(&text))).unwrap();
            assert_eq!(decoded, String::from_utf16_lossy(&units), "{text}");
        }
    }
}
