//! Transfers over an emulated path: byte-exact, and as physics wants.

mod link;

use std::time::{Duration, Instant};

use headway_quic::{Connection, Dir, Event, Read, StreamId};
use link::{Direction, Pair, Progress, Side, content, ms};

/// Fetches streams and checks what comes.
#[derive(Default)]
struct Fetch {
    streams: usize,
    opened: Vec<Progress>,
    finished: Vec<(StreamId, Instant)>,
    /// Whose bytes came, in which order.
    order: Vec<(u64, usize)>,
    slow: bool,
    closed: Option<String>,
}

impl Fetch {
    fn of(streams: usize) -> Self {
        Self { streams, ..Self::default() }
    }

    fn read(&mut self, now: Instant, connection: &mut Connection, stream: StreamId) {
        loop {
            match connection.read(now, stream) {
                Read::Data(data) => {
                    let index = self.opened.iter().position(|p| p.stream == stream).unwrap();
                    let progress = &mut self.opened[index];
                    assert_eq!(data, content(progress.bytes, data.len()), "{stream}");
                    progress.bytes += data.len() as u64;
                    self.order.push((stream.into(), data.len()));
                }
                Read::Finished => {
                    connection.forget(stream);
                    self.finished.push((stream, now));
                    if self.finished.len() == self.streams {
                        connection.close(now, 0, "done");
                    }
                    return;
                }
                Read::Blocked => return,
                Read::Reset(code) => panic!("reset with {code}"),
            }
        }
    }
}

impl Side for Fetch {
    fn event(&mut self, now: Instant, connection: &mut Connection, event: Event) {
        match event {
            Event::Connected { .. } => {
                for _ in 0..self.streams {
                    let stream = connection.open(Dir::Bi).unwrap();
                    connection.write(stream, content(0, 100));
                    connection.finish(stream);
                    self.opened.push(Progress { stream, bytes: 0 });
                }
            }
            Event::Readable(stream) if !self.slow => self.read(now, connection, stream),
            Event::Closed(close) => self.closed = Some(close.to_string()),
            _ => {}
        }
    }
}

/// Answers each stream with so many bytes.
#[derive(Default)]
struct Serve {
    bytes: u64,
    written: Vec<Progress>,
    most_queued: u64,
}

impl Serve {
    fn of(bytes: u64) -> Self {
        Self { bytes, ..Self::default() }
    }

    fn fill(&mut self, connection: &mut Connection, stream: StreamId) {
        let Some(index) = self.written.iter().position(|p| p.stream == stream) else { return };
        let progress = &mut self.written[index];
        while connection.queued(stream) < 256 << 10 && progress.bytes < self.bytes {
            let piece = (self.bytes - progress.bytes).min(64 << 10);
            connection.write(stream, content(progress.bytes, piece as usize));
            progress.bytes += piece;
        }
        self.most_queued = self.most_queued.max(connection.queued(stream));
        if progress.bytes == self.bytes {
            connection.finish(stream);
            self.written.remove(index);
        }
    }
}

impl Side for Serve {
    fn event(&mut self, now: Instant, connection: &mut Connection, event: Event) {
        match event {
            Event::Opened(stream) => {
                connection.prioritise(stream, &headway_schedule::Priority::default());
                self.written.push(Progress { stream, bytes: 0 });
            }
            Event::Readable(stream) => loop {
                match connection.read(now, stream) {
                    Read::Data(_) => {}
                    Read::Finished => {
                        connection.forget(stream);
                        self.fill(connection, stream);
                        return;
                    }
                    _ => return,
                }
            },
            Event::Writable(stream) => self.fill(connection, stream),
            _ => {}
        }
    }
}

fn symmetric(rate_mbit: f64, one_way: Duration, queue_bytes: u64) -> (Direction, Direction) {
    let direction = Direction::new(rate_mbit, one_way, queue_bytes);
    (direction.clone(), direction)
}

#[test]
fn a_clean_transfer_takes_the_time_that_physics_wants() {
    let (up, down) = symmetric(10.0, ms(50), 2_000_000);
    let mut pair = Pair::new("", "", up, down);
    let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(1_000_000));
    pair.run(&mut fetch, &mut serve, Duration::from_secs(60));
    assert_eq!(fetch.opened[0].bytes, 1_000_000);
    let done = fetch.finished[0].1 - (pair.now - pair.elapsed());
    // Two round trips, 1 MB and 3 % headers at 10 Mbit/s, and the round trips of slow start in which the path
    // stands still: with 12 kB, 24 kB and 48 kB in flight of 125 kB, about 0.15 s.
    assert!(done > ms(1020) && done < ms(1400), "{done:?}");
}

#[test]
fn every_thirtieth_packet_lost_and_still_every_byte_comes() {
    let (up, down) = symmetric(20.0, ms(10), 200_000);
    let down = Direction { lose_every: 30, ..down };
    let mut pair = Pair::new("", "", up, down);
    let (mut fetch, mut serve) = (Fetch::of(5), Serve::of(400_000));
    pair.run(&mut fetch, &mut serve, Duration::from_secs(120));
    assert_eq!(fetch.finished.len(), 5, "{:?}", fetch.closed);
    assert!(fetch.opened.iter().all(|progress| progress.bytes == 400_000));
    assert!(pair.server_dropped() > 50);
}

#[test]
fn an_initial_window_of_ten_sends_ten_packets() {
    for packets in [4, 10, 32] {
        let (up, down) = symmetric(1000.0, ms(50), 2_000_000);
        let knobs = format!("initial-window={packets},pacing=off");
        let mut pair = Pair::new("", &knobs, up, down);
        let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(500_000));
        pair.run(&mut fetch, &mut serve, Duration::from_secs(10));
        // The request is there after one and a half round trips, the first acknowledgment another
        // round trip later.
        let first_flight = pair
            .server_departures()
            .iter()
            .filter(|d| d.at > ms(149) && d.at < ms(248) && d.bytes > 1000);
        assert_eq!(first_flight.count(), packets);
    }
}

#[test]
fn thousands_of_gaps_in_one_stream() {
    // Slow start at 1 Gbit/s into a deep queue overshoots by thousands of packets.
    let (up, down) = symmetric(1000.0, ms(10), 2_500_000);
    let mut pair = Pair::new("", "slow-start=classic,pacing=off", up, down);
    let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(40_000_000));
    pair.run(&mut fetch, &mut serve, Duration::from_secs(60));
    assert_eq!(fetch.finished.len(), 1, "{:?}", fetch.closed);
    assert!(pair.server_dropped() > 1024, "{}", pair.server_dropped());
}

#[test]
fn a_slow_reader_bounds_what_is_sent_and_queued() {
    let (up, down) = symmetric(100.0, ms(10), 2_000_000);
    let window = 1 << 20;
    let mut pair = Pair::new(&format!("stream-window={window}"), "", up, down);
    let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(50_000_000));
    fetch.slow = true;
    pair.run(&mut fetch, &mut serve, Duration::from_secs(10));
    let sent: usize = pair.server_departures().iter().map(|d| d.bytes).sum();
    // The window, and what the client took to be ready for its reader.
    assert!(sent as u64 > window && (sent as u64) < 2 * window, "{sent}");
    assert!(serve.most_queued <= 320 << 10, "{}", serve.most_queued);
    assert_eq!(fetch.opened[0].bytes, 0);
}

#[test]
fn the_window_cap_caps() {
    // 60 kB in flight per 100 ms: 4.8 Mbit/s.
    let (up, down) = symmetric(100.0, ms(50), 2_000_000);
    let mut pair = Pair::new("", "max-window=60000B", up, down);
    let (mut fetch, mut serve) = (Fetch::of(1), Serve::of(3_000_000));
    pair.run(&mut fetch, &mut serve, Duration::from_secs(60));
    let began = pair.now - pair.elapsed();
    let seconds = (fetch.finished[0].1 - began).as_secs_f64();
    let mbit = 3_000_000.0 * 8e-6 / (seconds - 0.3);
    assert!((4.2..4.9).contains(&mbit), "{mbit}");
}
