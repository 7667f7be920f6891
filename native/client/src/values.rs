//! Values of options.

use std::time::Duration;

use headway_wire::range::Range;
use headway_wire::{Field, Priority};

/// A number of seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| format!("{text} is not a number of seconds"))?;
    Duration::try_from_secs_f64(seconds).map_err(|error| error.to_string())
}

/// A whole number of milliseconds.
pub(crate) fn milliseconds(text: &str) -> Result<Duration, String> {
    match text.trim_end_matches("ms").trim().parse() {
        Ok(ms @ 1..) => Ok(Duration::from_millis(ms)),
        _ => Err(format!("{text} is not a number of milliseconds")),
    }
}

/// How long an attempt to connect is alone.
pub(crate) fn attempt_delay(text: &str) -> Result<Duration, String> {
    headway_knobs::find("headway-client", "attempt-delay").check(text)?;
    headway_knobs::parse_time(text)
}

/// A part of a content, as a Range field has it without its unit.
pub(crate) fn range(text: &str) -> Result<Range, String> {
    let range = Range::parse(format!("bytes={text}").as_bytes());
    range.ok_or_else(|| format!("{text} is not FIRST-LAST, FIRST- or -LENGTH"))
}

/// A field of a request.
pub(crate) fn field(text: &str) -> Result<Field, String> {
    let (name, value) = text.split_once(':').ok_or("a field is \"name: value\"")?;
    Ok(Field::new(name.trim().to_ascii_lowercase(), value.trim().to_owned()))
}

/// A Priority field that says nothing is a mistake worth telling.
/// A value of the Priority field.
pub(crate) fn check_priority(value: &str) -> Result<String, String> {
    if Priority::parse(value.as_bytes()) == Priority::default() && !value.contains("u=3") {
        return Err(format!("{value} is no priority such as \"u=1, i\""));
    }
    Ok(value.to_owned())
}
