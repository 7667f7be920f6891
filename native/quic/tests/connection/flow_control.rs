//! Windows of any size: whatever they are, nothing waits for ever.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use headway_quic::{Close, Config, Connection, ConnectionKey, Dir, Event, Read, StreamId};
use headway_schedule::{Dependency, Priority, Strategy};
use headway_testlink::Numbers;

use crate::apps::content;
use crate::link::{self, Pair, Setup, ms};

/// Seeds tried; `HEADWAY_FLOW_CONTROL_SEEDS` says how many instead.
const SEEDS: u64 = 100;
/// Of virtual time. What has not come by then never will.
const LIMIT: Duration = Duration::from_secs(3600);
const RESET: u64 = 7;
const STOP: u64 = 8;

/// A number from a range.
fn from(numbers: &mut Numbers, range: std::ops::Range<u64>) -> u64 {
    range.start + numbers.any() % (range.end - range.start)
}

fn chance(numbers: &mut Numbers, of: f64) -> bool {
    numbers.fraction() < of
}

/// What happens to one direction of a stream. Both sides know it.
struct Fate {
    bytes: u64,
    /// The sender gives it up after so many bytes.
    reset_after: Option<u64>,
    /// The receiver wants no more after so many bytes.
    stop_after: Option<u64>,
    priority: Option<Priority>,
}

impl Fate {
    fn of(seed: u64, stream: StreamId, sender: link::End) -> Self {
        let place = (u64::from(stream) << 1) | u64::from(sender == link::End::Client);
        let numbers = &mut Numbers::new(seed ^ place.wrapping_mul(0x9e37_79b9));
        let bytes = match from(numbers, 0..4) {
            0 => from(numbers, 0..10),
            1 => from(numbers, 0..3000),
            _ => from(numbers, 0..60_000),
        };
        let within = |numbers: &mut Numbers| {
            chance(numbers, 0.1).then(|| from(numbers, 0..bytes.max(1))).filter(|_| bytes > 0)
        };
        let (reset_after, stop_after) = (within(numbers), within(numbers));
        let priority = chance(numbers, 0.7).then(|| Priority {
            urgency: from(numbers, 0..8) as u8,
            incremental: chance(numbers, 0.5),
            dependency: chance(numbers, 0.5).then(|| Dependency {
                parent: chance(numbers, 0.3).then(|| from(numbers, 0..20) * 4),
                weight: from(numbers, 1..257) as u16,
                exclusive: chance(numbers, 0.2),
            }),
        });
        Self { bytes, reset_after, stop_after, priority }
    }
}

/// How streams that came ended.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    Finished,
    Reset,
    Stopped,
}

/// One side: it sends on all streams that it can, and receives on all that it hears of.
struct Party {
    seed: u64,
    end: link::End,
    /// Streams that are still to be opened, of both kinds.
    to_open: BTreeMap<bool, u64>,
    /// Bytes that are written at a time, rounded up to whole pieces.
    ahead: u64,
    /// Bytes written on streams that are not ended.
    sending: BTreeMap<StreamId, u64>,
    received: BTreeMap<StreamId, u64>,
    /// It reads when it is told to.
    readable: BTreeSet<StreamId>,
    ended: BTreeMap<StreamId, Ended>,
    closed: Option<Close>,
}

impl Party {
    fn new(seed: u64, end: link::End, numbers: &mut Numbers) -> Self {
        let bidirectional = if end == link::End::Client { from(numbers, 1..12) } else { 0 };
        Self {
            seed,
            end,
            to_open: [(true, bidirectional), (false, from(numbers, 0..4))].into(),
            ahead: [1, 5000, 1 << 20][from(numbers, 0..3) as usize],
            sending: BTreeMap::new(),
            received: BTreeMap::new(),
            readable: BTreeSet::new(),
            ended: BTreeMap::new(),
            closed: None,
        }
    }

    fn open(&mut self, connection: &mut Connection) {
        for (bidirectional, left) in self.to_open.clone() {
            let dir = if bidirectional { Dir::Bi } else { Dir::Uni };
            for _ in 0..left {
                let Some(stream) = connection.open(dir) else { break };
                *self.to_open.get_mut(&bidirectional).unwrap() -= 1;
                self.begin(connection, stream);
            }
        }
    }

    fn begin(&mut self, connection: &mut Connection, stream: StreamId) {
        if let Some(priority) = Fate::of(self.seed, stream, self.end).priority {
            connection.prioritise(stream, &priority);
        }
        self.sending.insert(stream, 0);
        self.write(connection, stream);
    }

    fn write(&mut self, connection: &mut Connection, stream: StreamId) {
        let Some(written) = self.sending.get_mut(&stream) else { return };
        let fate = Fate::of(self.seed, stream, self.end);
        // Who is asked for more must give some, or is not asked again.
        let until = *written + self.ahead;
        while *written < fate.bytes.min(until) {
            let piece = (fate.bytes - *written).min(4000);
            connection.write(stream, content(*written, piece as usize));
            *written += piece;
            if fate.reset_after.is_some_and(|after| *written > after) {
                connection.reset(stream, RESET);
                self.sending.remove(&stream);
                return;
            }
        }
        if *written == fate.bytes {
            connection.finish(stream);
            self.sending.remove(&stream);
        }
    }

    /// Reads all that came.
    fn read(&mut self, now: Instant, connection: &mut Connection) {
        for stream in std::mem::take(&mut self.readable) {
            let sender = self.end.other();
            let fate = Fate::of(self.seed, stream, sender);
            while !self.ended.contains_key(&stream) {
                let received = self.received.entry(stream).or_default();
                if fate.stop_after.is_some_and(|after| *received > after) {
                    connection.stop(stream, STOP);
                    self.ended.insert(stream, Ended::Stopped);
                    break;
                }
                match connection.read(now, stream) {
                    Read::Data(data) => {
                        assert_eq!(data, content(*received, data.len()));
                        *received += data.len() as u64;
                    }
                    Read::Finished => {
                        assert_eq!(*received, fate.bytes, "{stream}");
                        connection.forget(stream);
                        self.ended.insert(stream, Ended::Finished);
                    }
                    Read::Reset(code) => {
                        assert!(code == RESET && fate.reset_after.is_some(), "{stream}");
                        self.ended.insert(stream, Ended::Reset);
                    }
                    Read::Blocked => break,
                }
            }
        }
    }
}

impl link::Side for Party {
    fn event(&mut self, _: Instant, _: ConnectionKey, connection: &mut Connection, event: Event) {
        match event {
            Event::Connected { .. } | Event::Available(_) => self.open(connection),
            Event::Opened(stream) if stream.dir() == Dir::Bi => self.begin(connection, stream),
            Event::Readable(stream) => drop(self.readable.insert(stream)),
            Event::Writable(stream) => self.write(connection, stream),
            Event::Stopped(stream, code) => {
                assert_eq!(code, STOP);
                self.sending.remove(&stream);
            }
            event => self.last_word(event),
        }
    }

    fn last_word(&mut self, event: Event) {
        if let Event::Closed(close) = event {
            self.closed = Some(close);
        }
    }
}

fn windows(config: &mut Config, numbers: &mut Numbers) {
    config.receive_window = from(numbers, 500..50_000) as u32;
    config.stream_receive_window = from(numbers, 500..50_000) as u32;
    config.max_streams = from(numbers, 1..12) as u32;
    config.idle_timeout = LIMIT;
}

fn setup(seed: u64, numbers: &mut Numbers) -> Setup {
    let mut setup = Setup::symmetric(20.0, ms(from(numbers, 1..100)), 30_000);
    setup.seed = seed;
    let strategies = [
        Strategy::Sequential,
        Strategy::RoundRobin,
        Strategy::BatchedRoundRobin(3.try_into().unwrap()),
        Strategy::WeightedRoundRobin,
        Strategy::DependencyTree,
        Strategy::Rfc9218,
    ];
    setup.strategy = strategies[from(numbers, 0..6) as usize];
    for direction in [&mut setup.up, &mut setup.down] {
        direction.seed = numbers.any();
        direction.bursts = (from(numbers, 0..50), from(numbers, 1..4));
        direction.delay_every = (from(numbers, 0..20), ms(from(numbers, 0..30)));
    }
    for config in [&mut setup.client, &mut setup.server] {
        windows(config, numbers);
    }
    setup
}

/// Streams of all kinds, until all have ended.
fn transfer(seed: u64) -> [Party; 2] {
    let numbers = &mut Numbers::new(seed);
    let mut pair = setup(seed, numbers).pair();
    let mut client = Party::new(seed, link::End::Client, numbers);
    let mut server = Party::new(seed, link::End::Server, numbers);
    let count = |party: &Party, bidirectional: bool| party.to_open[&bidirectional] as usize;
    let expected = [
        count(&client, true) + count(&server, false),
        count(&client, true) + count(&client, false),
    ];
    // How eagerly each side reads: at every step, or at every n-th, or only when nothing is on its
    // way any more and the other one waits for its windows.
    let mut every = || [1, 3, 20, u64::MAX][from(numbers, 0..4) as usize];
    let every = [every(), every()];
    let mut steps = 0;
    while [client.ended.len(), server.ended.len()] != expected {
        let closed = (&client.closed, &server.closed);
        assert_eq!(closed, (&None, &None), "seed {seed}: {expected:?}");
        assert!(pair.elapsed() < LIMIT, "seed {seed}");
        steps += 1;
        pair.turn(&mut client, &mut server);
        let quiet = pair.is_quiet();
        let reads = every.map(|every| quiet || steps % every == 0);
        read(&mut pair, [&mut client, &mut server], reads);
        assert!(pair.step(&mut client, &mut server), "seed {seed}");
    }
    [client, server]
}

fn read(pair: &mut Pair, parties: [&mut Party; 2], reads: [bool; 2]) {
    let (now, [client, server]) = (pair.now(), parties);
    for ((party, connection), reads) in [client, server].into_iter().zip(pair.ends()).zip(reads) {
        if let Some(connection) = connection.filter(|_| reads) {
            party.read(now, connection);
        }
    }
}

#[test]
fn every_byte_arrives_whatever_the_windows() {
    let seeds = std::env::var("HEADWAY_FLOW_CONTROL_SEEDS");
    let seeds = seeds.map_or(SEEDS, |seeds| seeds.parse().unwrap());
    let mut ended = Vec::new();
    for seed in 0..seeds {
        let parties = transfer(seed);
        ended.extend(parties.into_iter().flat_map(|party| party.ended.into_values()));
    }
    // Each kind of end is there.
    for end in [Ended::Finished, Ended::Reset, Ended::Stopped] {
        let share = ended.iter().filter(|other| **other == end).count() as f64 / ended.len() as f64;
        assert!(share > 0.02, "{end:?}: {share} of {}", ended.len());
    }
}

#[test]
fn a_connection_window_smaller_than_a_streams_does_not_hold_it_up_for_ever() {
    for windows in ["connection-window=100000,stream-window=1000000", "connection-window=8000"] {
        let mut pair = Setup::symmetric(100.0, ms(5), 1_000_000).client(windows).pair();
        let mut fetch = crate::apps::Fetch::of(2);
        pair.run(&mut fetch, &mut crate::apps::Serve::of(1_000_000), Duration::from_secs(60));
        assert_eq!(fetch.finished.len(), 2, "{windows}");
    }
}
