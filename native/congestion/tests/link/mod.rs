//! A deterministic link: constant rate, constant delay, a drop-tail queue, and bulk senders.
//!
//! Every packet is acknowledged at once. A packet is lost when three later ones were acknowledged.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::time::Duration;

use headway_congestion::{Ack, Acked, Config, Controller, Loss, Rate, Rtt, Sent, State, Time};

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
    start: Time,
    rtt: Rtt,
    next_number: u64,
    outstanding: BTreeMap<u64, Time>,
    acked: u64,
    lost: u64,
    next_departure: Time,
    departure_scheduled: bool,
    last_progress: Time,
    pub(crate) moments: Vec<Moment>,
}

impl Flow {
    fn new(config: &Config, start: Time) -> Self {
        Self {
            controller: config.build(),
            start,
            rtt: Rtt::default(),
            next_number: 0,
            outstanding: BTreeMap::new(),
            acked: 0,
            lost: 0,
            next_departure: start,
            departure_scheduled: false,
            last_progress: start,
            moments: Vec::new(),
        }
    }

    fn in_flight(&self) -> u64 {
        self.outstanding.len() as u64 * PACKET
    }

    fn measure(&mut self, sample: Duration) {
        if self.rtt.smoothed.is_zero() {
            let variation = sample / 2;
            self.rtt = Rtt { latest: sample, smoothed: sample, min: sample, variation };
            return;
        }
        self.rtt.latest = sample;
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Depart,
    Acknowledged(u64),
    ProbeTimeout,
}

/// The link with its flows.
struct Link {
    path: Path,
    flows: Vec<Flow>,
    /// When the bottleneck will have sent all it holds.
    free_at: Time,
    /// Events by time, and by the order in which they were scheduled.
    events: BinaryHeap<Reverse<(Time, u64, usize, Event)>>,
    scheduled: u64,
}

impl Link {
    fn schedule(&mut self, at: Time, flow: usize, event: Event) {
        self.scheduled += 1;
        self.events.push(Reverse((at, self.scheduled, flow, event)));
    }

    fn handle(&mut self, now: Time, index: usize, event: Event) {
        match event {
            Event::Depart => self.flows[index].departure_scheduled = false,
            Event::Acknowledged(number) => self.flows[index].on_ack(number, now),
            Event::ProbeTimeout => self.on_probe_timeout(now, index),
        }
        self.depart(now, index);
    }

    /// Sends a packet beyond the window if nothing was acknowledged for long.
    fn on_probe_timeout(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        let timeout = (self.path.rtt * 4).max(flow.rtt.smoothed * 3);
        if now >= flow.last_progress + timeout && now >= flow.start {
            flow.controller.on_pto(now);
            self.transmit(now, index);
        }
        self.schedule(now + timeout, index, Event::ProbeTimeout);
    }

    /// Sends what window and pacing allow.
    fn depart(&mut self, now: Time, index: usize) {
        loop {
            let flow = &mut self.flows[index];
            if now < flow.start || flow.in_flight() + PACKET > flow.controller.window() {
                return;
            }
            if flow.next_departure > now {
                if !flow.departure_scheduled {
                    flow.departure_scheduled = true;
                    let at = flow.next_departure;
                    self.schedule(at, index, Event::Depart);
                }
                return;
            }
            if let Some(rate) = flow.controller.pacing_rate(&flow.rtt) {
                // At most one packet of credit: no bursts after a pause.
                flow.next_departure = now + rate.time_for(PACKET);
            }
            self.transmit(now, index);
        }
    }

    fn transmit(&mut self, now: Time, index: usize) {
        let path = self.path;
        let flow = &mut self.flows[index];
        let number = flow.next_number;
        let sent = Sent { number, bytes: PACKET, at: now, in_flight: flow.in_flight() };
        flow.controller.on_sent(&sent);
        flow.outstanding.insert(number, now);
        flow.next_number += 1;
        let queued = path.rate.bytes_in(self.free_at.saturating_sub(now));
        let dropped = path.drop_every.is_some_and(|every| number % every == every - 1);
        if dropped || queued > path.queue * PACKET {
            return;
        }
        self.free_at = self.free_at.max(now) + path.rate.time_for(PACKET);
        self.schedule(self.free_at + path.rtt, index, Event::Acknowledged(number));
    }
}

/// Runs flows, each a configuration and a start, over a path for so long.
pub(crate) fn run(path: Path, flows: &[(Config, Time)], duration: Duration) -> Vec<Flow> {
    let mut link = Link {
        path,
        flows: flows.iter().map(|(config, start)| Flow::new(config, *start)).collect(),
        free_at: Time::ZERO,
        events: BinaryHeap::new(),
        scheduled: 0,
    };
    for (index, (_, start)) in flows.iter().enumerate() {
        link.schedule(*start, index, Event::Depart);
        link.schedule(*start + path.rtt * 4, index, Event::ProbeTimeout);
    }
    while let Some(Reverse((now, _, index, event))) = link.events.pop() {
        if now > duration {
            break;
        }
        link.handle(now, index, event);
    }
    link.flows
}

/// Jain's index of fairness.
pub(crate) fn jain(shares: &[f64]) -> f64 {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    sum * sum / (shares.len() as f64 * squares)
}
