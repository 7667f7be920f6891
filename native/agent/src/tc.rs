//! Lines for the `tc` program as requests of rtnetlink, as it makes them.
//!
//! Not all it knows: what Headway's lines usually say. Layouts: linux/pkt_sched.h.

use std::fs;
use std::sync::OnceLock;

use crate::ip::Names;
use crate::netlink::{CREATE, EXCLUSIVE, Message};

const NEWQDISC: u16 = 36;
const DELQDISC: u16 = 37;
const NEWTCLASS: u16 = 40;
const ROOT: u32 = 0xFFFF_FFFF;
const TCA_KIND: u16 = 1;
const TCA_OPTIONS: u16 = 2;
const HTB_PARMS: u16 = 1;
const HTB_INIT: u16 = 2;
const HTB_RATE64: u16 = 6;
const HTB_CEIL64: u16 = 7;
const LINK_ETHERNET: u8 = 1;
const NS_PER_TICK: f64 = 64.0;
const CODEL_LIMIT: u16 = 2;
const CODEL_ECN: u16 = 4;
const FQ_CODEL_LIMIT: u16 = 2;
const FQ_CODEL_ECN: u16 = 4;
const FQ_CODEL_MEMORY_LIMIT: u16 = 9;
const PLUG_BUFFER: u32 = 0;
const PLUG_RELEASE_INDEFINITE: u32 = 2;
const PLUG_LIMIT: u32 = 3;
const NETEM_DELAY_DIST: u16 = 2;
const NETEM_REORDER: u16 = 3;
const NETEM_CORRUPT: u16 = 4;
const NETEM_LOSS: u16 = 5;
const NETEM_LOSS_GE: u16 = 2;
const NETEM_RATE: u16 = 6;
const NETEM_RATE64: u16 = 8;
const NETEM_LATENCY64: u16 = 10;
const NETEM_JITTER64: u16 = 11;
const NETEM_PRNG_SEED: u16 = 14;
const DISTRIBUTION: &str = "/usr/lib/x86_64-linux-gnu/tc/normal.dist";

/// The request that a line stands for; None if the line is for the program itself.
pub(crate) fn request(line: &str, names: &dyn Names) -> Option<Message> {
    let words: Vec<&str> = line.split_ascii_whitespace().collect();
    let of = |device: &str, kind, flags, handle: u32, parent: u32| {
        let fields = [0, names.device(device)?, handle, parent, 0].map(u32::to_ne_bytes);
        Some(Message::new(kind, flags).with(fields.as_flattened()))
    };
    match words.as_slice() {
        ["qdisc", "del", "dev", device, "root"] => of(device, DELQDISC, 0, 0, ROOT),
        ["qdisc", verb, "dev", device, "root", "handle", number, rest @ ..] => {
            discipline(of(device, NEWQDISC, flags(verb)?, handle(number)?, ROOT)?, rest)
        }
        ["qdisc", verb, "dev", device, "parent", above, "handle", number, rest @ ..] => {
            let parent = handle(above)?;
            discipline(of(device, NEWQDISC, flags(verb)?, handle(number)?, parent)?, rest)
        }
        ["class", verb, "dev", device, "parent", above, "classid", number, "htb", rest @ ..] => {
            let parent = handle(above)?;
            shaper(of(device, NEWTCLASS, flags(verb)?, handle(number)?, parent)?, rest)
        }
        _ => None,
    }
}

fn flags(verb: &str) -> Option<u16> {
    match verb {
        "add" => Some(CREATE | EXCLUSIVE),
        "change" => Some(0),
        _ => None,
    }
}

/// `1:`, `1:1`: hexadecimal numbers of 16 bits.
fn handle(text: &str) -> Option<u32> {
    let (major, minor) = text.split_once(':')?;
    let number = |part: &str| if part.is_empty() { Some(0) } else { hexadecimal(part) };
    Some((number(major)? << 16) | number(minor)?)
}

fn hexadecimal(text: &str) -> Option<u32> {
    u16::from_str_radix(text, 16).ok().map(u32::from)
}

fn discipline(request: Message, words: &[&str]) -> Option<Message> {
    let (kind, options) = words.split_first()?;
    let request = request.string(TCA_KIND, kind);
    match (*kind, options) {
        ("htb", ["default", class]) => {
            // struct tc_htb_glob: version, rate2quantum, default class, debug, direct packets
            let fields = [3, 10, hexadecimal(class)?, 0, 0].map(u32::to_ne_bytes);
            let init = |options: Message| options.attribute(HTB_INIT, fields.as_flattened());
            Some(request.enclose(TCA_OPTIONS, init))
        }
        ("pfifo" | "bfifo", ["limit", limit]) => {
            Some(request.number(TCA_OPTIONS, limit.parse().ok()?))
        }
        ("plug", options) => {
            // struct tc_plug_qopt: action, limit
            let fields = match options {
                ["limit", limit] => [PLUG_LIMIT, limit.parse().ok()?],
                ["block"] => [PLUG_BUFFER, 0],
                ["release_indefinite"] => [PLUG_RELEASE_INDEFINITE, 0],
                _ => return None,
            };
            Some(request.attribute(TCA_OPTIONS, fields.map(u32::to_ne_bytes).as_flattened()))
        }
        ("codel", ["limit", packets, "noecn"]) => {
            let limit = packets.parse().ok()?;
            Some(request.enclose(TCA_OPTIONS, |options| {
                options.number(CODEL_LIMIT, limit).number(CODEL_ECN, 0)
            }))
        }
        ("fq_codel", ["limit", packets, "memory_limit", bytes, "noecn"]) => {
            let (limit, memory) = (packets.parse().ok()?, bytes.parse().ok()?);
            Some(request.enclose(TCA_OPTIONS, |options| {
                let options = options.number(FQ_CODEL_LIMIT, limit).number(FQ_CODEL_ECN, 0);
                options.number(FQ_CODEL_MEMORY_LIMIT, memory)
            }))
        }
        ("fq" | "fq_codel" | "pfifo_fast", []) => Some(request),
        ("netem", options) => Netem::parse(options)?.write(request),
        _ => None,
    }
}

/// An HTB class; with `linklayer ethernet`, the kernel does not look at tables of rates.
fn shaper(request: Message, words: &[&str]) -> Option<Message> {
    let ["rate", rate, "burst", burst, "cburst", ceiling_burst, "quantum", quantum] = words else {
        return None;
    };
    let bits: u64 = rate.strip_suffix("bit")?.parse().ok()?;
    let rate = bits / 8;
    let low = u32::try_from(rate).unwrap_or(u32::MAX);
    let ticks = |burst: &str| -> Option<u32> {
        let bytes: u32 = burst.parse().ok()?;
        Some((1e9 * (f64::from(bytes) / rate as f64) / NS_PER_TICK).ceil() as u32)
    };
    // struct tc_ratespec: cell_log, link layer, overhead; cell_align, mpu; rate
    let spec = [[3, LINK_ETHERNET, 0, 0], [0xFF, 0xFF, 0, 0], low.to_ne_bytes()];
    // struct tc_htb_opt: rate, ceiling; buffer, cbuffer, quantum, level, priority
    let last = [ticks(burst)?, ticks(ceiling_burst)?, quantum.parse().ok()?, 0, 0];
    let last = last.map(u32::to_ne_bytes);
    let fields = [spec.as_flattened(), spec.as_flattened(), last.as_flattened()];
    Some(request.string(TCA_KIND, "htb").enclose(TCA_OPTIONS, |mut options| {
        if u64::from(low) != rate {
            let rate = rate.to_ne_bytes();
            options = options.attribute(HTB_RATE64, &rate).attribute(HTB_CEIL64, &rate);
        }
        options.attribute(HTB_PARMS, &fields.concat())
    }))
}

/// What a line says of netem; probabilities are fractions of `u32::MAX`.
#[derive(Debug, Default, PartialEq)]
struct Netem {
    limit: u32,
    delay_ns: u64,
    jitter_ns: Option<u64>,
    normal: bool,
    rate: Option<u64>,
    loss: u32,
    /// struct tc_netem_gemodel: p, r, 1 - h, 1 - k.
    bursts: Option<[u32; 4]>,
    duplicate: u32,
    corrupt: Option<u32>,
    reorder: Option<u32>,
    seed: Option<u64>,
}

impl Netem {
    fn parse(mut words: &[&str]) -> Option<Self> {
        let mut found = Self::default();
        loop {
            words = match words {
                [] => return Some(found),
                ["limit", packets, rest @ ..] => {
                    found.limit = packets.parse().ok()?;
                    rest
                }
                ["delay", delay, rest @ ..] => {
                    found.delay_ns = nanoseconds(delay)?;
                    match rest.split_first() {
                        Some((jitter, rest)) if nanoseconds(jitter).is_some() => {
                            found.jitter_ns = nanoseconds(jitter);
                            rest
                        }
                        _ => rest,
                    }
                }
                ["distribution", "normal", rest @ ..] => {
                    found.normal = true;
                    rest
                }
                ["rate", rate, rest @ ..] => {
                    let gigabits: u64 = rate.strip_suffix("gbit")?.parse().ok()?;
                    found.rate = Some(gigabits * 1_000_000_000 / 8);
                    rest
                }
                ["loss", "random", share, rest @ ..] => {
                    found.loss = probability(share)?;
                    rest
                }
                ["loss", "gemodel", enter, leave, rest @ ..] => {
                    found.bursts = Some([probability(enter)?, probability(leave)?, 0, 0]);
                    rest
                }
                ["duplicate", share, rest @ ..] => {
                    found.duplicate = probability(share)?;
                    rest
                }
                ["corrupt", share, rest @ ..] => {
                    found.corrupt = Some(probability(share)?);
                    rest
                }
                ["reorder", share, rest @ ..] => {
                    found.reorder = Some(probability(share)?);
                    rest
                }
                ["seed", number, rest @ ..] => {
                    found.seed = Some(number.parse().ok()?);
                    rest
                }
                _ => return None,
            }
        }
    }

    fn write(&self, request: Message) -> Option<Message> {
        let gap = u32::from(self.reorder.is_some_and(|share| share > 0));
        // struct tc_netem_qopt: latency, limit, loss, gap, duplicate, jitter
        let fields = [0, self.limit, self.loss, gap, self.duplicate, 0].map(u32::to_ne_bytes);
        let distribution = if self.normal { Some(normal_distribution()?) } else { None };
        Some(request.enclose(TCA_OPTIONS, |options| {
            let mut options = options.with(fields.as_flattened());
            options = options.attribute(NETEM_LATENCY64, &self.delay_ns.to_ne_bytes());
            if let Some(jitter_ns) = self.jitter_ns {
                options = options.attribute(NETEM_JITTER64, &jitter_ns.to_ne_bytes());
            }
            for (kind, share) in [(NETEM_REORDER, self.reorder), (NETEM_CORRUPT, self.corrupt)] {
                if let Some(share) = share {
                    // Each with its correlation.
                    let pair = [share, 0].map(u32::to_ne_bytes);
                    options = options.attribute(kind, pair.as_flattened());
                }
            }
            if let Some(bursts) = self.bursts {
                let model = bursts.map(u32::to_ne_bytes);
                let write = |loss: Message| loss.attribute(NETEM_LOSS_GE, model.as_flattened());
                options = options.enclose(NETEM_LOSS, write);
            }
            if let Some(rate) = self.rate {
                options = with_rate(options, rate);
            }
            if let Some(seed) = self.seed {
                options = options.attribute(NETEM_PRNG_SEED, &seed.to_ne_bytes());
            }
            match distribution {
                Some(table) => options.attribute(NETEM_DELAY_DIST, table),
                None => options,
            }
        }))
    }
}

/// struct tc_netem_rate: rate, packet overhead, cell size, cell overhead.
fn with_rate(options: Message, rate: u64) -> Message {
    let low = u32::try_from(rate).unwrap_or(u32::MAX);
    let options = match u64::from(low) == rate {
        true => options,
        false => options.attribute(NETEM_RATE64, &rate.to_ne_bytes()),
    };
    options.attribute(NETEM_RATE, [low, 0, 0, 0].map(u32::to_ne_bytes).as_flattened())
}

fn nanoseconds(text: &str) -> Option<u64> {
    text.strip_suffix("ns")?.parse().ok()
}

fn probability(text: &str) -> Option<u32> {
    let percent: f64 = text.strip_suffix('%')?.parse().ok()?;
    let share = percent / 100.0;
    (0.0..=1.0).contains(&share).then(|| (share * f64::from(u32::MAX)).round_ties_even() as u32)
}

/// The table of a normal distribution that comes with `tc`: numbers of 16 bits.
fn normal_distribution() -> Option<&'static [u8]> {
    static TABLE: OnceLock<Option<Vec<u8>>> = OnceLock::new();
    TABLE.get_or_init(|| read_distribution(&fs::read_to_string(DISTRIBUTION).ok()?)).as_deref()
}

fn read_distribution(text: &str) -> Option<Vec<u8>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let numbers = lines.flat_map(str::split_ascii_whitespace).map(str::parse::<i16>);
    let bytes: Result<Vec<_>, _> = numbers.map(|number| number.map(i16::to_ne_bytes)).collect();
    Some(bytes.ok()?.concat())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn netem_is_read_word_by_word() {
        let line = "limit 1000000 delay 5000ns 10ns distribution normal rate 100gbit loss gemodel \
                    1.5% 25% duplicate 1% corrupt 2% reorder 50% seed 18446744073709551615";
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let expected = Netem {
            limit: 1_000_000,
            delay_ns: 5000,
            jitter_ns: Some(10),
            normal: true,
            rate: Some(12_500_000_000),
            loss: 0,
            bursts: Some([64_424_509, 1_073_741_824, 0, 0]),
            duplicate: 42_949_673,
            corrupt: Some(85_899_346),
            reorder: Some(2_147_483_648),
            seed: Some(u64::MAX),
        };
        assert_eq!(Netem::parse(&words), Some(expected));
        assert_eq!(Netem::parse(&["slot", "1ms"]), None);
    }

    #[test]
    fn shares_are_those_of_all_numbers_of_32_bits() {
        assert_eq!(probability("100%"), Some(u32::MAX));
        assert_eq!(probability("0%"), Some(0));
        assert_eq!(probability("101%"), None);
        assert_eq!(probability("3"), None);
    }

    #[test]
    fn handles_are_hexadecimal() {
        assert_eq!(handle("10:"), Some(0x0010_0000));
        assert_eq!(handle("1:1"), Some(0x0001_0001));
        assert_eq!(handle("1"), None);
    }

    #[test]
    fn a_distribution_has_comments_and_numbers() {
        assert_eq!(read_distribution("# two\n-1 256\n"), Some(vec![0xFF, 0xFF, 0, 1]));
        assert_eq!(read_distribution("70000\n"), None);
    }
}
