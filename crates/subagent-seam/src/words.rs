//! Closed vocabularies: the only strings that safe failure text can be made of. Owns the trait, the macro that
//! declares a vocabulary, and [`Word`]; which words exist is each provider's business.

use std::fmt;

/// A closed set of words, known in full when the program is compiled.
///
/// The words are an associated constant, so they are fixed by the compiler: no value that exists only at run time,
/// not even a leaked `&'static str`, can become one. Declare a vocabulary with [`closed_words!`](crate::closed_words).
pub trait ClosedWord: Copy + Send + Sync + 'static {
    /// Every word of the vocabulary.
    const WORDS: &'static [&'static str];

    /// Every value, in the order of their words.
    const VALUES: &'static [Self];

    /// The place of this value's word in [`WORDS`](Self::WORDS).
    fn index(self) -> usize;
}

/// One word of some closed vocabulary, with the vocabulary's type erased.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Word(&'static str);

impl Word {
    /// The word that `value` stands for. An index outside the vocabulary reads as `unknown`.
    pub fn of<W: ClosedWord>(value: W) -> Self {
        Self(W::WORDS.get(value.index()).copied().unwrap_or("unknown"))
    }

    /// The word's text.
    pub const fn as_str(self) -> &'static str {
        self.0
    }
}

impl fmt::Display for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Word({:?})", self.0)
    }
}

/// Declares an enum whose variants are the words of a closed vocabulary.
///
/// ```
/// use subagent_seam::{ClosedWord, Word, closed_words};
///
/// closed_words! {
///     /// Stages of a delivery.
///     pub enum Stage {
///         /// Before it leaves.
///         Packing = "packing",
///         /// On its way.
///         Transit = "transit",
///     }
/// }
///
/// assert_eq!(Word::of(Stage::Transit).as_str(), "transit");
/// assert_eq!(Stage::VALUES.len(), 2);
/// ```
#[macro_export]
macro_rules! closed_words {
    ($(#[$meta:meta])* $vis:vis enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        $vis enum $name { $($(#[$variant_meta])* $variant),+ }

        impl $crate::ClosedWord for $name {
            const WORDS: &'static [&'static str] = &[$($word),+];
            const VALUES: &'static [Self] = &[$(Self::$variant),+];

            fn index(self) -> usize {
                self as usize
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    closed_words! {
        enum Colour { Red = "red", Green = "green" }
    }

    #[derive(Clone, Copy)]
    struct Broken;

    impl ClosedWord for Broken {
        const WORDS: &'static [&'static str] = &["only"];
        const VALUES: &'static [Self] = &[Broken];

        fn index(self) -> usize {
            7
        }
    }

    #[test]
    fn a_value_reads_as_its_own_word() {
        let words: Vec<_> = Colour::VALUES
            .iter()
            .map(|colour| Word::of(*colour).as_str())
            .collect();
        assert_eq!(words, ["red", "green"]);
    }

    #[test]
    fn an_index_outside_the_vocabulary_reads_as_unknown() {
        assert_eq!(Word::of(Broken).to_string(), "unknown");
    }
}
