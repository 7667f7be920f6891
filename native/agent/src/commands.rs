//! Programs that the agent itself runs to their end: those of lines that it does not understand.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::failure::{Doing, Failure};

const PLACES: &str = "/usr/sbin:/usr/bin:/sbin:/bin";
/// How lines for `ip` begin that are about IPv6 and name no address.
const OF_IPV6: &str = "-6 ";

/// Where a program is in places as `PATH` has them; its name if it is nowhere.
pub(crate) fn path_of(name: &str, places: &str) -> String {
    if name.contains('/') {
        return name.to_owned();
    }
    let mut places = places.split(':').map(|place| format!("{place}/{name}"));
    places.find(|file| Path::new(file).exists()).unwrap_or_else(|| name.to_owned())
}

/// Have a program carry out a text in the namespace that the caller is inside of.
pub(crate) fn carry_out(argv: &[&str], text: &str) -> Result<(), Failure> {
    let done = run(argv, text)?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let said: Vec<&str> = said.split_whitespace().collect();
    let shown = text.trim_end().replace('\n', "; ");
    Err(Failure(format!("{}: {} in: {shown}", argv[0], said.join(" "))))
}

/// Have `ip` or `tc` carry out lines in the namespace that the caller is inside of.
///
/// The option `-6`, with which lines may begin, holds for all of them: others say of which family they are by
/// their addresses.
pub(crate) fn carry_out_batch<S: AsRef<str>>(program: &str, lines: &[S]) -> Result<(), Failure> {
    let of_ipv6 = lines.iter().any(|line| line.as_ref().starts_with(OF_IPV6));
    let plain = |line: &S| line.as_ref().trim_start_matches(OF_IPV6).to_owned() + "\n";
    let text: String = lines.iter().map(plain).collect();
    let option: &[&str] = if of_ipv6 { &[OF_IPV6.trim_ascii_end()] } else { &[] };
    carry_out(&[&[program], option, &["-batch", "-"]].concat(), &text)
}

/// Run a program in the namespace that the caller is inside of, to its end.
pub(crate) fn run(argv: &[&str], text: &str) -> Result<std::process::Output, Failure> {
    let mut child = Command::new(path_of(argv[0], PLACES))
        .args(&argv[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .doing(argv[0])?;
    if let Some(mut input) = child.stdin.take() {
        // A program that does not read all says why in the end.
        let _ = input.write_all(text.as_bytes());
    }
    child.wait_with_output().doing(argv[0])
}
