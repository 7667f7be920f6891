//! What holds for every scheduler, whatever it is told; and the shares and orders each promises.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use headway_schedule::{Dependency, Priority, Scheduler, Strategy as Kind, StreamId};
use proptest::collection::vec;
use proptest::prelude::*;

const PACKET_BYTES: u64 = 1200;

fn batches_of(packets: u32) -> Kind {
    Kind::BatchedRoundRobin(NonZeroU32::new(packets).expect("batches are of a packet or more"))
}

fn kinds() -> Vec<Kind> {
    vec![
        Kind::Sequential,
        Kind::RoundRobin,
        batches_of(3),
        Kind::WeightedRoundRobin,
        Kind::DependencyTree,
        Kind::Rfc9218,
    ]
}

#[derive(Clone, Debug)]
enum Op {
    Open(StreamId, Priority),
    Reprioritise(StreamId, Priority),
    Close(StreamId),
    Ready(StreamId),
    Blocked(StreamId),
    /// To the stream that is next.
    Send(u64),
    /// To any stream.
    SendAside(StreamId, u64),
}

fn stream() -> impl Strategy<Value = StreamId> {
    prop_oneof![20 => 0u64..16, 1 => any::<u64>()]
}

fn priority() -> impl Strategy<Value = Priority> {
    let dependency = (proptest::option::of(stream()), any::<u16>(), any::<bool>())
        .prop_map(|(parent, weight, exclusive)| Dependency { parent, weight, exclusive });
    (0u8..10, any::<bool>(), proptest::option::of(dependency)).prop_map(
        |(urgency, incremental, dependency)| Priority { urgency, incremental, dependency },
    )
}

fn op() -> impl Strategy<Value = Op> {
    let bytes = 0..=PACKET_BYTES;
    prop_oneof![
        3 => (stream(), priority()).prop_map(|(stream, priority)| Op::Open(stream, priority)),
        2 => (stream(), priority())
            .prop_map(|(stream, priority)| Op::Reprioritise(stream, priority)),
        1 => stream().prop_map(Op::Close),
        4 => stream().prop_map(Op::Ready),
        2 => stream().prop_map(Op::Blocked),
        4 => bytes.clone().prop_map(Op::Send),
        1 => (stream(), bytes).prop_map(|(stream, bytes)| Op::SendAside(stream, bytes)),
    ]
}

/// Which streams are open and ready, and in which order they came.
#[derive(Default)]
struct Model {
    open: BTreeMap<StreamId, (Priority, usize)>,
    ready: BTreeSet<StreamId>,
    opened: usize,
}

impl Model {
    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Open(stream, priority) => {
                let arrival = self.open.get(&stream).map_or(self.opened, |&(_, arrival)| arrival);
                self.open.insert(stream, (priority, arrival));
                self.opened += 1;
            }
            Op::Reprioritise(stream, priority) => {
                self.open.entry(stream).and_modify(|known| known.0 = priority);
            }
            Op::Close(stream) => {
                self.open.remove(&stream);
                self.ready.remove(&stream);
            }
            Op::Ready(stream) if self.open.contains_key(&stream) => {
                self.ready.insert(stream);
            }
            Op::Blocked(stream) => {
                self.ready.remove(&stream);
            }
            _ => {}
        }
    }

    fn level(&self, stream: StreamId) -> u8 {
        self.open[&stream].0.urgency.min(7)
    }

    fn most_urgent(&self) -> Option<u8> {
        self.ready.iter().map(|&stream| self.level(stream)).min()
    }
}

fn apply(scheduler: &mut dyn Scheduler, op: &Op) {
    match *op {
        Op::Open(stream, priority) => scheduler.open(stream, &priority),
        Op::Reprioritise(stream, priority) => scheduler.reprioritise(stream, &priority),
        Op::Close(stream) => scheduler.close(stream),
        Op::Ready(stream) => scheduler.ready(stream),
        Op::Blocked(stream) => scheduler.blocked(stream),
        Op::Send(bytes) => {
            if let Some(stream) = scheduler.next() {
                scheduler.sent(stream, bytes);
            }
        }
        Op::SendAside(stream, bytes) => scheduler.sent(stream, bytes),
    }
}

/// Sends so many full packets; how many each stream got.
fn shares(scheduler: &mut dyn Scheduler, packets: u64) -> BTreeMap<StreamId, u64> {
    let mut shares = BTreeMap::new();
    for _ in 0..packets {
        let stream = scheduler.next().expect("streams are ready");
        scheduler.sent(stream, PACKET_BYTES);
        *shares.entry(stream).or_default() += 1;
    }
    shares
}

proptest! {
    #[test]
    fn a_ready_stream_is_always_found_and_no_other(ops in vec(op(), 0..150)) {
        for kind in kinds() {
            let mut scheduler = kind.scheduler();
            let mut model = Model::default();
            for op in &ops {
                apply(scheduler.as_mut(), op);
                model.apply(op);
                let next = scheduler.next();
                prop_assert_eq!(next.is_some(), !model.ready.is_empty(), "{}", kind);
                prop_assert!(next.is_none_or(|next| model.ready.contains(&next)), "{}", kind);
                prop_assert_eq!(scheduler.next(), next, "{} is not stable", kind);
            }
        }
    }

    #[test]
    fn sequential_is_by_urgency_then_arrival(ops in vec(op(), 0..150)) {
        let mut scheduler = Kind::Sequential.scheduler();
        let mut model = Model::default();
        for op in &ops {
            apply(scheduler.as_mut(), op);
            model.apply(op);
            let place = |&stream: &StreamId| (model.level(stream), model.open[&stream].1);
            let expected = model.ready.iter().copied().min_by_key(place);
            prop_assert_eq!(scheduler.next(), expected);
        }
    }

    #[test]
    fn rfc9218_keeps_levels_and_identifiers(ops in vec(op(), 0..150)) {
        let mut scheduler = Kind::Rfc9218.scheduler();
        let mut model = Model::default();
        for op in &ops {
            apply(scheduler.as_mut(), op);
            model.apply(op);
            let Some(next) = scheduler.next() else { continue };
            let level = model.level(next);
            prop_assert_eq!(Some(level), model.most_urgent());
            if !model.open[&next].0.incremental {
                let earlier = model.ready.range(..next).find(|&&stream| {
                    model.level(stream) == level && !model.open[&stream].0.incremental
                });
                prop_assert_eq!(earlier, None, "non-incremental ones go by identifier");
            }
        }
    }

    #[test]
    fn round_robin_gives_everyone_a_batch_a_round(
        streams in proptest::collection::btree_set(any::<u64>(), 1..20),
        batch in 1u32..5,
        rounds in 1u64..4,
    ) {
        let mut scheduler = batches_of(batch).scheduler();
        for &stream in &streams {
            scheduler.open(stream, &Priority::default());
            scheduler.ready(stream);
        }
        let each = u64::from(batch) * rounds;
        for (stream, share) in shares(scheduler.as_mut(), each * streams.len() as u64) {
            prop_assert_eq!(share, each, "stream {}", stream);
        }
    }

}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn weights_come_out_exactly_over_a_cycle_and_within_a_packet_before(
        weights in vec(1u16..=256, 1..8),
        cut in 0.0..1.0,
    ) {
        for kind in [Kind::WeightedRoundRobin, Kind::DependencyTree] {
            let mut scheduler = kind.scheduler();
            for (stream, &weight) in (0..).zip(&weights) {
                let dependency = Some(Dependency { parent: None, weight, exclusive: false });
                scheduler.open(stream, &Priority { dependency, ..Priority::default() });
                scheduler.ready(stream);
            }
            let cycle: u64 = weights.iter().map(|&weight| u64::from(weight)).sum();
            let first = (cycle as f64 * cut) as u64;
            let mut share = shares(scheduler.as_mut(), first);
            // Nobody is a packet further than anybody else was when that one last sent.
            for (stream, &weight) in (0..).zip(&weights) {
                let virtual_start = |sent: u64| sent.saturating_sub(1) as f64 / f64::from(weight);
                let sent = share.get(&stream).copied().unwrap_or(0);
                for (other, &other_weight) in (0..).zip(&weights) {
                    let other_sent = share.get(&other).copied().unwrap_or(0) as f64;
                    let other_time = other_sent / f64::from(other_weight);
                    prop_assert!(virtual_start(sent) <= other_time + 1e-9, "{}", kind);
                }
            }
            for (stream, rest) in shares(scheduler.as_mut(), cycle - first) {
                *share.entry(stream).or_default() += rest;
            }
            for (stream, &weight) in (0..).zip(&weights) {
                prop_assert_eq!(share[&stream], u64::from(weight), "{}", kind);
            }
        }
    }
}
