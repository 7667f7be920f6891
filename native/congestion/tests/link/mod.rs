//! Bulk senders over the nodes of `headway-testlink`: a constant rate and delay behind a drop-tail queue.
//!
//! Every packet is acknowledged at once. A packet is lost when three later ones were acknowledged.

use std::collections::BTreeMap;
use std::time::Duration;

use headway_congestion::{Ack, Acked, Config, Controller, Loss, Rate, Rtt, Sent, State, Time};
use headway_testlink::{Delay, Drop, Node, Queue, path, simulate};

/// Bytes of every packet.
pub(crate) const PACKET: u64 = 1200;
/// Later packets acknowledged before one is lost (RFC 9002, section 6.1.1).
const REORDERING: u64 = 3;

/// The path all flows share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Path {
    /// The bottleneck.
    pub(crate) rate: Rate,
    /// The round-trip time without queue.
    pub(crate) rtt: Duration,
    /// Packets that the queue holds beyond the one in transmission.
    pub(crate) queue: u64,
    /// Drop one in so many packets of each flow, besides what the queue drops.
    pub(crate) drop_every: Option<u64>,
}

impl Path {
    /// A path of so many Mbit/s and milliseconds, its queue so many bandwidth-delay products.
    pub(crate) fn new(mbits: u64, rtt_ms: u64, queue_bdps: f64) -> Self {
        let rate = Rate::from_bytes_per_second(mbits * 125_000);
        let rtt = Duration::from_millis(rtt_ms);
        let queue = (rate.bytes_in(rtt) as f64 * queue_bdps) as u64 / PACKET;
        Self { rate, rtt, queue, drop_every: None }
    }

    /// The bandwidth-delay product in packets.
    pub(crate) fn bdp(&self) -> f64 {
        self.rate.bytes_in(self.rtt) as f64 / PACKET as f64
    }

    /// From the senders back to them: what arrives is acknowledged by itself.
    fn nodes(self) -> headway_testlink::Path<Packet> {
        let loses = move |packet: &Packet| {
            self.drop_every.is_some_and(|every| packet.number % every == every - 1)
        };
        let mbits = self.rate.bytes_per_second() as f64 * 8e-6;
        path![
            Drop::when(move |_, packet: &Packet| loses(packet)),
            Queue::new(mbits, self.queue * PACKET, |_: &Packet| PACKET),
            Delay::constant(self.rtt),
        ]
    }
}

/// A packet, or its acknowledgement: its flow's place and its number there.
struct Packet {
    flow: usize,
    number: u64,
}

/// A moment of a flow, taken at each acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) at: Time,
    pub(crate) window: u64,
    pub(crate) state: State,
    pub(crate) rtt: Rtt,
    /// Packets acknowledged and lost so far.
    pub(crate) acked: u64,
    pub(crate) lost: u64,
}

/// A bulk sender.
pub(crate) struct Flow {
    controller: Box<dyn Controller>,
    rtt: Rtt,
    next_number: u64,
    outstanding: BTreeMap<u64, Time>,
    acked: u64,
    lost: u64,
    next_departure: Time,
    /// The least time without progress after which it probes.
    patience: Duration,
    next_probe: Time,
    last_progress: Time,
    pub(crate) moments: Vec<Moment>,
}

impl Flow {
    fn new(config: &Config, start: Time, path: Path) -> Self {
        let patience = path.rtt * 4;
        Self {
            controller: config.build(),
            rtt: Rtt::default(),
            next_number: 0,
            outstanding: BTreeMap::new(),
            acked: 0,
            lost: 0,
            next_departure: start,
            patience,
            next_probe: start + patience,
            last_progress: start,
            moments: Vec::new(),
        }
    }

    fn in_flight(&self) -> u64 {
        self.outstanding.len() as u64 * PACKET
    }

    fn has_room(&self) -> bool {
        self.in_flight() + PACKET <= self.controller.window()
    }

    fn wake(&self) -> Time {
        if self.has_room() { self.next_departure.min(self.next_probe) } else { self.next_probe }
    }

    /// The number of a packet that leaves now: one that window and pacing allow, or one beyond the
    /// window if nothing was acknowledged for long.
    fn send(&mut self, now: Time) -> Option<u64> {
        if now >= self.next_probe {
            let timeout = self.patience.max(self.rtt.smoothed * 3);
            self.next_probe = now + timeout;
            if now >= self.last_progress + timeout {
                self.controller.on_pto(now);
                return Some(self.transmit(now));
            }
        }
        if now < self.next_departure || !self.has_room() {
            return None;
        }
        if let Some(rate) = self.controller.pacing_rate(&self.rtt) {
            // At most one packet of credit: no bursts after a pause.
            self.next_departure = now + rate.time_for(PACKET);
        }
        Some(self.transmit(now))
    }

    fn transmit(&mut self, now: Time) -> u64 {
        let number = self.next_number;
        let sent = Sent { number, bytes: PACKET, at: now, in_flight: self.in_flight() };
        self.controller.on_sent(&sent);
        self.outstanding.insert(number, now);
        self.next_number += 1;
        number
    }

    fn measure(&mut self, sample: Duration) {
        if self.rtt.smoothed.is_zero() {
            let variation = sample / 2;
            self.rtt =
                Rtt { latest: sample, smoothed: sample, min: sample, variation, undelayed: sample };
            return;
        }
        self.rtt.latest = sample;
        self.rtt.undelayed = sample;
        self.rtt.min = self.rtt.min.min(sample);
        self.rtt.variation = (self.rtt.variation * 3 + self.rtt.smoothed.abs_diff(sample)) / 4;
        self.rtt.smoothed = (self.rtt.smoothed * 7 + sample) / 8;
    }

    fn on_ack(&mut self, number: u64, now: Time) {
        let Some(sent_at) = self.outstanding.remove(&number) else {
            return;
        };
        self.last_progress = now;
        self.measure(now - sent_at);
        self.lose_before(number, now);
        self.acked += 1;
        let packets = [Acked { number, bytes: PACKET, sent_at }];
        let in_flight = self.in_flight();
        self.controller.on_ack(&Ack {
            now,
            packets: &packets,
            rtt: self.rtt,
            in_flight,
            cwnd_limited: false,
        });
        self.moments.push(Moment {
            at: now,
            window: self.controller.window(),
            state: self.controller.state(),
            rtt: self.rtt,
            acked: self.acked,
            lost: self.lost,
        });
    }

    fn lose_before(&mut self, number: u64, now: Time) {
        let kept = self.outstanding.split_off(&(number + 1).saturating_sub(REORDERING));
        let lost = std::mem::replace(&mut self.outstanding, kept);
        if lost.is_empty() {
            return;
        }
        self.lost += lost.len() as u64;
        let lost = lost.into_iter();
        let packets: Vec<_> =
            lost.map(|(number, sent_at)| Acked { number, bytes: PACKET, sent_at }).collect();
        self.controller.on_loss(&Loss {
            now,
            packets: &packets,
            in_flight: self.in_flight(),
            persistent: false,
            largest_sent: self.next_number - 1,
        });
    }

    /// Mean throughput between two times, in bytes per second.
    pub(crate) fn throughput(&self, from: Time, to: Time) -> f64 {
        let acked = |at: Time| {
            let before = self.moments.partition_point(|moment| moment.at <= at);
            before.checked_sub(1).map_or(0, |last| self.moments[last].acked)
        };
        ((acked(to) - acked(from)) * PACKET) as f64 / (to - from).as_secs_f64()
    }

    /// The moments between two times.
    pub(crate) fn between(&self, from: Time, to: Time) -> &[Moment] {
        let index = |at: Time| self.moments.partition_point(|moment| moment.at < at);
        &self.moments[index(from)..index(to)]
    }

    /// Mean window between two times, in packets, weighted by time.
    pub(crate) fn mean_window(&self, from: Time, to: Time) -> f64 {
        let moments = self.between(from, to);
        let area: f64 = moments
            .windows(2)
            .map(|pair| pair[0].window as f64 * (pair[1].at - pair[0].at).as_secs_f64())
            .sum();
        let first = moments.first().expect("a moment").at;
        let last = moments.last().expect("a moment").at;
        area / PACKET as f64 / (last - first).as_secs_f64()
    }
}

/// All senders, as one end of the path.
struct Senders(Vec<Flow>);

impl Node<Packet> for Senders {
    fn receive(&mut self, now: Time, packet: Packet) {
        self.0[packet.flow].on_ack(packet.number, now);
    }

    fn send(&mut self, now: Time) -> Option<Packet> {
        let mut flows = self.0.iter_mut().enumerate();
        flows.find_map(|(flow, sender)| Some(Packet { flow, number: sender.send(now)? }))
    }

    fn wake(&mut self) -> Option<Time> {
        self.0.iter().map(Flow::wake).min()
    }
}

/// Runs flows, each a configuration and a start, over a path for so long.
pub(crate) fn run(path: Path, flows: &[(Config, Time)], duration: Duration) -> Vec<Flow> {
    let flows = flows.iter().map(|(config, start)| Flow::new(config, *start, path));
    let (mut senders, mut clock) = (Senders(flows.collect()), Time::ZERO);
    simulate(&mut clock, duration, &mut [&mut senders, &mut path.nodes()]);
    senders.0
}

/// Jain's index of fairness.
pub(crate) fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    sum * sum / (shares.len() as f64 * squares)
}
