//! What holds for every controller, whatever happens.

use std::num::NonZeroU32;
use std::time::Duration;

use headway_congestion::{
    Ack, Acked, Algorithm, Config, Controller, Ecn, LinuxPart, Loss, Phase, Rtt, Saved, Sent,
    SlowStart, SpuriousLoss, WindowSize,
};
use proptest::prelude::*;

/// Something that happens to a sender.
#[derive(Clone, Debug)]
enum Event {
    Wait(u64),
    Send(u16, u16),
    Ack { which: Vec<u16>, rtt_us: u64, cwnd_limited: bool },
    Lose { which: Vec<u16>, persistent: bool },
    Regret(u16),
    Mark,
    ProbeTimeout,
    Pause,
}

fn event() -> impl Strategy<Value = Event> {
    let which = || prop::collection::vec(any::<u16>(), 1..20);
    prop_oneof![
        2 => (0_u64..2_000_000_000).prop_map(Event::Wait),
        1 => any::<u64>().prop_map(|nanos| Event::Wait(nanos >> 8)),
        6 => (0_u16..60, 1_u16..=1500).prop_map(|(count, bytes)| Event::Send(count, bytes)),
        6 => (which(), prop_oneof![0_u64..1_000_000, any::<u64>()], any::<bool>())
            .prop_map(|(which, rtt_us, cwnd_limited)| Event::Ack { which, rtt_us, cwnd_limited }),
        3 => (which(), prop::bool::weighted(0.2))
            .prop_map(|(which, persistent)| Event::Lose { which, persistent }),
        1 => any::<u16>().prop_map(Event::Regret),
        1 => Just(Event::Mark),
        1 => Just(Event::ProbeTimeout),
        1 => Just(Event::Pause),
    ]
}

fn config() -> impl Strategy<Value = Config> {
    use LinuxPart::{Gaps, Recovery, Reduction, Rounding, Ticks};
    use SlowStart::{Classic, HyStart, HyStartPlusPlus};
    (
        prop::sample::select(Algorithm::all()),
        prop::sample::select(vec![Some(Classic), Some(HyStart), Some(HyStartPlusPlus), None]),
        prop::option::of(prop::sample::select(vec![Gaps, Recovery, Reduction, Rounding, Ticks])),
        1_u32..100,
        prop::option::of(2_u32..5000),
        prop::option::of(0_u32..5000),
        1_u32..20,
        any::<bool>(),
        any::<u64>(),
        prop::option::of((0_u64..10_000_000, 0_u64..1_000_000)),
    )
        .prop_map(
            |(
                (_, algorithm),
                slow_start,
                linux_without,
                initial,
                max,
                ssthresh,
                connections,
                paced,
                seed,
                saved,
            )| {
                Config {
                    algorithm,
                    slow_start,
                    linux_without,
                    initial_window: WindowSize::Packets(initial),
                    max_window: max.map(WindowSize::Packets),
                    initial_ssthresh: ssthresh.map(WindowSize::Packets),
                    connections: NonZeroU32::new(connections).expect("not zero"),
                    pacing: Config::default().pacing.filter(|_| paced),
                    seed,
                    saved: saved.map(|(window, rtt_us)| Saved {
                        window,
                        rtt: Duration::from_micros(rtt_us),
                    }),
                    ..Config::default()
                }
            },
        )
}

/// A sender that sends, forgets and remembers arbitrarily.
struct Sender {
    controller: Box<dyn Controller>,
    now: Duration,
    next_number: u64,
    outstanding: Vec<Acked>,
    lost: Vec<Acked>,
    rtt: Rtt,
}

impl Sender {
    fn in_flight(&self) -> u64 {
        self.outstanding.iter().map(|packet| packet.bytes).sum()
    }

    fn take(&mut self, which: &[u16]) -> Vec<Acked> {
        let mut taken = Vec::new();
        for &choice in which {
            if !self.outstanding.is_empty() {
                let index = usize::from(choice) % self.outstanding.len();
                taken.push(self.outstanding.swap_remove(index));
            }
        }
        taken
    }

    fn send(&mut self, bytes: u64) {
        let (number, at, in_flight) = (self.next_number, self.now, self.in_flight());
        self.controller.on_sent(&Sent { number, bytes, at, in_flight });
        self.outstanding.push(Acked { number, bytes, sent_at: at });
        self.next_number += 1;
    }

    fn acknowledge(&mut self, which: &[u16], rtt_us: u64, cwnd_limited: bool) {
        let packets = self.take(which);
        let latest = Duration::from_micros(rtt_us >> 20);
        let min = if self.rtt.min.is_zero() { latest } else { self.rtt.min.min(latest) };
        self.rtt = Rtt { latest, smoothed: latest, min, variation: latest / 2, undelayed: latest };
        let (now, rtt, in_flight) = (self.now, self.rtt, self.in_flight());
        self.controller.on_ack(&Ack { now, packets: &packets, rtt, in_flight, cwnd_limited });
    }

    fn lose(&mut self, which: &[u16], persistent: bool) {
        let packets = self.take(which);
        let (now, in_flight, largest_sent) = (self.now, self.in_flight(), self.next_number);
        self.controller.on_loss(&Loss {
            now,
            packets: &packets,
            in_flight,
            persistent,
            largest_sent: largest_sent.saturating_sub(1),
        });
        self.lost.extend(packets);
    }

    fn handle(&mut self, event: &Event) {
        let (now, in_flight) = (self.now, self.in_flight());
        let largest_sent = self.next_number.saturating_sub(1);
        match event {
            Event::Wait(nanos) => self.now += Duration::from_nanos(*nanos),
            Event::Send(count, bytes) => (0..*count).for_each(|_| self.send(u64::from(*bytes))),
            Event::Ack { which, rtt_us, cwnd_limited } => {
                self.acknowledge(which, *rtt_us, *cwnd_limited);
            }
            Event::Lose { which, persistent } => self.lose(which, *persistent),
            Event::Regret(which) if !self.lost.is_empty() => {
                let index = usize::from(*which) % self.lost.len();
                let packets = [self.lost.swap_remove(index)];
                self.controller.on_spurious_loss(&SpuriousLoss { now, packets: &packets });
            }
            Event::Regret(_) => {}
            Event::Mark => {
                let number = largest_sent;
                self.controller.on_ecn(&Ecn { now, number, in_flight, largest_sent, marked: 1 });
            }
            Event::ProbeTimeout => self.controller.on_pto(now),
            Event::Pause => self.controller.on_application_limited(now, in_flight),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn windows_stay_within_bounds(
        config in config(),
        events in prop::collection::vec(event(), 1..200),
    ) {
        let mut sender = Sender {
            controller: config.build(),
            now: Duration::ZERO,
            next_number: 0,
            outstanding: Vec::new(),
            lost: Vec::new(),
            rtt: Rtt::default(),
        };
        let mut retreat = None;
        let most = config.max_window.map_or(u64::MAX, |most| most.bytes(config.max_datagram));
        for event in &events {
            sender.handle(event);
            let window = sender.controller.window();
            // Linux's is a packet after a time-out.
            let linux = [Algorithm::LinuxReno, Algorithm::LinuxCubic].contains(&config.algorithm);
            let fewest = if linux { 1 } else { 2 };
            prop_assert!(window >= fewest * config.max_datagram, "{window} after {event:?}");
            prop_assert!(window <= most, "{window} after {event:?}");
            let least = 2 * config.max_datagram;
            prop_assert!(sender.controller.ssthresh().is_none_or(|ssthresh| ssthresh >= least));
            while let Some(update) = sender.controller.next_phase_update() {
                retreat = (update.new == Phase::SafeRetreat).then_some(update);
            }
            // RFC 9959, section 3.5.
            if let Some(retreat) = retreat {
                prop_assert!(window <= retreat.window, "{window} after {event:?}");
                prop_assert!(window <= (retreat.pipe_size / 2).max(least), "{retreat:?}");
            }
            let _ = (sender.controller.pacing_rate(&sender.rtt), sender.controller.state());
        }
    }
}
