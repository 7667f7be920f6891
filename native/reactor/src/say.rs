//! Words for people.

use std::io::{self, Write};

/// Writes a line to the standard error. If nobody can read it, since that is closed, it is lost: the
/// standard library's `eprintln!` would end the program.
#[macro_export]
macro_rules! say {
    ($($words:tt)*) => { $crate::say_line(format_args!($($words)*)) };
}

/// What [`say!`] does.
#[doc(hidden)]
pub fn say_line(words: std::fmt::Arguments<'_>) {
    let _ = writeln!(io::stderr(), "{words}");
}
