//! Enumerations written as words, as command lines give them.

use thiserror::Error;

/// A word that names none of the choices.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown {what} {word:?}: choose from {choices}")]
pub struct UnknownWord {
    what: &'static str,
    word: String,
    choices: String,
}

/// The choice called `word`.
pub(crate) fn choose<T: Copy>(
    what: &'static str,
    choices: &[(&'static str, T)],
    word: &str,
) -> Result<T, UnknownWord> {
    choices.iter().find(|(name, _)| *name == word).map(|&(_, choice)| choice).ok_or_else(|| {
        UnknownWord {
            what,
            word: word.to_owned(),
            choices: choices.iter().map(|&(name, _)| name).collect::<Vec<_>>().join(", "),
        }
    })
}

/// `FromStr` and `Display` by a table of words.
macro_rules! words {
    ($type:ty, $what:literal, $table:expr) => {
        impl ::std::str::FromStr for $type {
            type Err = $crate::words::UnknownWord;

            fn from_str(word: &str) -> Result<Self, $crate::words::UnknownWord> {
                $crate::words::choose($what, &$table[..], word)
            }
        }

        impl ::std::fmt::Display for $type {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                let table = $table;
                let named = table.iter().find(|(_, choice)| choice == self);
                f.write_str(named.expect("every choice has a word").0)
            }
        }
    };
}

pub(crate) use words;
