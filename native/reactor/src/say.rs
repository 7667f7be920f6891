//! Words for people.

use std::io::{self, Write};

/// Writes a line to the standard error. If nobody can read it, since that is closed, it is lost: the
/// standard library's `eprintln!` would end the program.
///
/// Some of the words may be a peer's: what a terminal would not show but obey is escaped.
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => { $crate::say_line(format_args!($($words)*)) };
}

/// What [`say!`] does.
#[doc(hidden)]
pub fn say_line(words: std::fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{}", shown(&words.to_string()));
}

/// Text without what terminals obey: control characters, ends of lines among them, and those that
/// change the direction of writing. They are shown as in a literal of Rust.
fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                shown.extend(character.escape_default());
            }
            _ if character.is_control() => shown.extend(character.escape_default()),
            _ => shown.push(character),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminals_have_nothing_to_obey() {
        let cases = [
            ("Grüße, \"世界\" \\ ok", "Grüße, \"世界\" \\ ok"),
            ("\u{1b}]0;title\u{7}", "\\u{1b}]0;title\\u{7}"),
            ("\u{1b}[2Jgone\r\nnext\ttab", "\\u{1b}[2Jgone\\r\\nnext\\ttab"),
            ("\u{9b}31m\u{7f}\0", "\\u{9b}31m\\u{7f}\\u{0}"),
            ("a\u{202e}b\u{2066}c\u{200f}\u{2028}", "a\\u{202e}b\\u{2066}c\\u{200f}\\u{2028}"),
        ];
        for (text, expected) in cases {
            assert_eq!(shown(text), expected);
        }
    }
}
