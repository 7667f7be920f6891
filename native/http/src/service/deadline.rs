//! Answers that have to be over by a moment, as gRPC's.

use std::time::{Duration, Instant};

use headway_wire::Fields;

use super::{Conversation, Said};

/// Of a request, how long its answer may take.
pub(super) const TIMEOUT: &str = "grpc-timeout";
/// DEADLINE_EXCEEDED, of gRPC.
const EXCEEDED: &str = "4";
const MOST_DIGITS: usize = 8;

/// How long an answer may take, as gRPC writes it: at most eight digits, and a unit.
pub(super) fn parse_timeout(value: &[u8]) -> Option<Duration> {
    let (unit, digits) = value.split_last()?;
    let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    let nanoseconds = match unit {
        b'H' => 3_600_000_000_000,
        b'M' => 60_000_000_000,
        b'S' => 1_000_000_000,
        b'm' => 1_000_000,
        b'u' => 1000,
        b'n' => 1,
        _ => return None,
    };
    let is_short = digits.len() <= MOST_DIGITS && digits.iter().all(u8::is_ascii_digit);
    let timeout = Duration::from_nanos(nanoseconds).checked_mul(u32::try_from(number).ok()?);
    timeout.filter(|_| is_short)
}

/// Who says something until a moment, and then that it is too late.
pub(super) struct Timely {
    pub(super) talk: Box<dyn Conversation>,
    pub(super) until: Instant,
}

impl Conversation for Timely {
    fn due(&self) -> Option<Instant> {
        Some(self.talk.due().map_or(self.until, |due| due.min(self.until)))
    }

    fn hear(&mut self, content: &[u8], now: Instant) {
        self.talk.hear(content, now);
    }

    fn hear_end(&mut self, now: Instant) {
        self.talk.hear_end(now);
    }

    fn say(&mut self, now: Instant) -> Said {
        if now < self.until {
            return self.talk.say(now);
        }
        let mut trailers = Fields::new();
        trailers.push("grpc-status", EXCEEDED);
        Said { ends: true, trailers, ..Said::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_have_a_unit() {
        let (seconds, nanoseconds) = (Duration::from_secs, Duration::from_nanos);
        for (text, time) in [
            ("1500000u", Some(Duration::from_millis(1500))),
            ("2H", Some(seconds(7200))),
            ("3M", Some(seconds(180))),
            ("4S", Some(seconds(4))),
            ("5m", Some(Duration::from_millis(5))),
            ("6n", Some(nanoseconds(6))),
            ("99999999H", Some(seconds(99_999_999 * 3600))),
            ("", None),
            ("5", None),
            ("S", None),
            ("+5S", None),
            ("123456789S", None),
            ("5s", None),
        ] {
            assert_eq!(parse_timeout(text.as_bytes()), time, "{text}");
        }
    }

    /// Says something when it has heard something.
    #[derive(Default)]
    struct Parrot(Option<Instant>);

    impl Conversation for Parrot {
        fn due(&self) -> Option<Instant> {
            self.0
        }

        fn hear(&mut self, _content: &[u8], now: Instant) {
            self.0 = Some(now);
        }

        fn say(&mut self, _now: Instant) -> Said {
            self.0 = None;
            Said { content: "a".into(), ..Said::default() }
        }
    }

    #[test]
    fn what_is_too_late_is_not_said() {
        let start = Instant::now();
        let until = start + Duration::from_secs(1);
        let mut talk = Timely { talk: Box::new(Parrot::default()), until };
        assert_eq!(talk.due(), Some(until));
        talk.hear(b"x", start);
        assert_eq!((talk.due(), &talk.say(start).content[..]), (Some(start), &b"a"[..]));
        talk.hear(b"x", until);
        let said = talk.say(until);
        assert_eq!((said.content.len(), said.ends), (0, true));
        assert_eq!(said.trailers.get("grpc-status"), Some(&b"4"[..].into()));
    }
}
