//! RFC 7540's figures by hand, and the tree against a model that only knows who depends on whom.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::testing::{PACKET_BYTES, on, open_ready, send, urgency};

const A: StreamId = 1;
const B: StreamId = 3;
const C: StreamId = 5;
const D: StreamId = 7;
const E: StreamId = 9;
const F: StreamId = 11;

fn exclusively_on(parent: Option<StreamId>, weight: u16) -> Priority {
    let dependency = Some(Dependency { parent, weight, exclusive: true });
    Priority { dependency, ..Priority::default() }
}

fn tree(streams: &[(StreamId, Priority)]) -> DependencyTree {
    let mut tree = DependencyTree::new();
    open_ready(&mut tree, streams);
    tree
}

/// Who depends on a stream, or on the root, and with which weight.
fn children(tree: &DependencyTree, parent: Option<StreamId>) -> Vec<(StreamId, Weight)> {
    let children = parent.map_or(&tree.root, |parent| &tree.node(parent).children);
    children.members().collect()
}

fn weighted<const N: usize>(children: [(StreamId, u16); N]) -> Vec<(StreamId, Weight)> {
    children.iter().map(|&(stream, weight)| (stream, Weight::new(weight))).collect()
}

#[test]
fn parents_before_children() {
    let mut tree = tree(&[(A, on(None, 16)), (B, on(Some(A), 1)), (C, on(Some(A), 3))]);
    assert_eq!(send(&mut tree, 3), [A, A, A]);
    tree.blocked(A);
    assert_eq!(send(&mut tree, 8), [B, C, C, C, B, C, C, C]);
    tree.ready(A);
    assert_eq!(send(&mut tree, 1), [A]);
    tree.close(A);
    assert_eq!(send(&mut tree, 4), [B, C, C, C]);
}

#[test]
fn a_blocked_parents_share_goes_to_its_children() {
    let streams = [(A, on(None, 2)), (B, on(Some(A), 9)), (C, on(Some(A), 9)), (D, on(None, 1))];
    let mut tree = tree(&streams);
    assert_eq!(send(&mut tree, 6), [A, D, A, A, D, A]);
    tree.blocked(A);
    assert_eq!(send(&mut tree, 6), [B, D, C, B, D, C]);
}

#[test]
fn streams_without_dependencies_share_evenly() {
    let mut tree = tree(&[(A, urgency(0)), (B, urgency(7)), (C, on(None, 32))]);
    assert_eq!(send(&mut tree, 4), [A, B, C, C]);
}

#[test]
fn exclusive_dependency() {
    // RFC 7540 figure 4: D is put between A and its dependants B and C.
    let mut tree = tree(&[(A, on(None, 16)), (B, on(Some(A), 4)), (C, on(Some(A), 12))]);
    open_ready(&mut tree, &[(D, exclusively_on(Some(A), 16))]);
    assert_eq!(children(&tree, Some(A)), weighted([(D, 16)]));
    assert_eq!(children(&tree, Some(D)), weighted([(B, 4), (C, 12)]));
    tree.blocked(A);
    assert_eq!(send(&mut tree, 1), [D]);
    tree.blocked(D);
    assert_eq!(send(&mut tree, 4), [B, C, C, C]);
}

/// RFC 7540 figure 5: before A is made dependent on D.
fn figure_5() -> DependencyTree {
    tree(&[
        (A, on(None, 16)),
        (B, on(Some(A), 16)),
        (C, on(Some(A), 16)),
        (D, on(Some(C), 8)),
        (E, on(Some(C), 16)),
        (F, on(Some(D), 16)),
    ])
}

#[test]
fn parent_below_its_own_descendant() {
    let mut tree = figure_5();
    tree.reprioritise(A, &on(Some(D), 16));
    assert_eq!(children(&tree, None), weighted([(D, 8)]));
    assert_eq!(children(&tree, Some(D)), weighted([(A, 16), (F, 16)]));
    assert_eq!(children(&tree, Some(A)), weighted([(B, 16), (C, 16)]));
    assert_eq!(children(&tree, Some(C)), weighted([(E, 16)]));
    assert_eq!(send(&mut tree, 1), [D]);
    tree.blocked(D);
    assert_eq!(send(&mut tree, 4), [A, F, A, F]);
}

#[test]
fn parent_below_its_own_descendant_exclusively() {
    let mut tree = figure_5();
    tree.reprioritise(A, &exclusively_on(Some(D), 16));
    assert_eq!(children(&tree, None), weighted([(D, 8)]));
    assert_eq!(children(&tree, Some(D)), weighted([(A, 16)]));
    assert_eq!(children(&tree, Some(A)), weighted([(B, 16), (C, 16), (F, 16)]));
    assert_eq!(children(&tree, Some(C)), weighted([(E, 16)]));
}

#[test]
fn removal_divides_the_share() {
    // RFC 7540 section 5.3.4: A and B share evenly, C and D below A do; when A goes, C and D get a
    // quarter each.
    let streams =
        [(A, on(None, 12)), (B, on(None, 12)), (C, on(Some(A), 100)), (D, on(Some(A), 100))];
    let mut tree = tree(&streams);
    tree.close(A);
    tree.forget(A);
    assert_eq!(children(&tree, None), weighted([(B, 12), (C, 6), (D, 6)]));
    assert_eq!(send(&mut tree, 8), [B, C, D, B, B, C, D, B]);
}

#[test]
fn a_closed_stream_keeps_its_place_for_a_while() {
    let mut tree = tree(&[(A, on(None, 1)), (B, on(None, 1))]);
    tree.close(A);
    open_ready(&mut tree, &[(C, on(Some(A), 256))]);
    assert_eq!(send(&mut tree, 4), [C, B, C, B], "C has A's share, and A's turn");
    for stream in 100..100 + CLOSED_MAX as u64 {
        tree.open(stream, &Priority::default());
        tree.close(stream);
    }
    assert_eq!(children(&tree, None)[..2], weighted([(B, 1), (C, 1)]));
    assert_eq!(tree.nodes.len(), CLOSED_MAX + 2);
}

#[test]
fn idle_streams_group_others() {
    // As Firefox does: leaders at 201 and followers at 101, on streams that are never opened.
    let mut tree = DependencyTree::new();
    tree.reprioritise(A, &on(None, 201));
    tree.reprioritise(B, &on(None, 101));
    open_ready(&mut tree, &[(C, on(Some(A), 32)), (D, on(Some(B), 32))]);
    let sent = send(&mut tree, 302);
    assert_eq!(sent.iter().filter(|&&stream| stream == C).count(), 201);
    tree.ready(A);
    assert!(!send(&mut tree, 4).contains(&A), "an idle stream has nothing to send");
}

#[test]
fn idle_streams_are_bounded() {
    let mut tree = DependencyTree::new();
    for stream in 0..1000 {
        tree.reprioritise(stream, &on(None, 16));
    }
    assert_eq!(tree.nodes.len(), IDLE_MAX);
}

#[test]
fn unknown_parents_give_the_default() {
    let mut tree = tree(&[(A, exclusively_on(Some(E), 200)), (B, exclusively_on(Some(B), 200))]);
    assert_eq!(children(&tree, None), weighted([(A, 16), (B, 16)]));
    tree.reprioritise(A, &urgency(0));
    assert_eq!(children(&tree, None), weighted([(A, 16), (B, 16)]));
}

#[derive(Clone, Debug)]
enum Op {
    Open(StreamId, Dependency),
    Reprioritise(StreamId, Dependency),
    Close(StreamId),
    ForgetOldest,
    Ready(StreamId),
    Blocked(StreamId),
    Send(u64),
}

fn stream() -> impl Strategy<Value = StreamId> {
    0u64..12
}

fn dependency() -> impl Strategy<Value = Dependency> {
    (proptest::option::of(stream()), 0u16..300, any::<bool>())
        .prop_map(|(parent, weight, exclusive)| Dependency { parent, weight, exclusive })
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        3 => (stream(), dependency()).prop_map(|(stream, dependency)| Op::Open(stream, dependency)),
        3 => (stream(), dependency())
            .prop_map(|(stream, dependency)| Op::Reprioritise(stream, dependency)),
        1 => stream().prop_map(Op::Close),
        1 => Just(Op::ForgetOldest),
        3 => stream().prop_map(Op::Ready),
        1 => stream().prop_map(Op::Blocked),
        3 => (0..=PACKET_BYTES).prop_map(Op::Send),
    ]
}

fn with(dependency: Dependency) -> Priority {
    Priority { dependency: Some(dependency), ..Priority::default() }
}

fn apply(tree: &mut DependencyTree, op: &Op) {
    match *op {
        Op::Open(stream, dependency) => tree.open(stream, &with(dependency)),
        Op::Reprioritise(stream, dependency) => tree.reprioritise(stream, &with(dependency)),
        Op::Close(stream) => tree.close(stream),
        Op::ForgetOldest => {
            if let Some(oldest) = tree.closed.pop_front() {
                tree.forget(oldest);
            }
        }
        Op::Ready(stream) => tree.ready(stream),
        Op::Blocked(stream) => tree.blocked(stream),
        Op::Send(bytes) => {
            if let Some(stream) = tree.next() {
                tree.sent(stream, bytes);
            }
        }
    }
}

/// Every stream's parent and weight, as RFC 7540 words the changes.
#[derive(Default)]
struct Model {
    places: BTreeMap<StreamId, (Option<StreamId>, f64)>,
    closed: Vec<StreamId>,
}

impl Model {
    fn apply(&mut self, op: &Op) {
        match *op {
            Op::Open(stream, dependency) => {
                self.closed.retain(|&closed| closed != stream);
                self.place(stream, dependency);
            }
            Op::Reprioritise(stream, dependency) => self.place(stream, dependency),
            Op::Close(stream) if self.is_open_or_idle(stream) => self.closed.push(stream),
            Op::ForgetOldest if !self.closed.is_empty() => {
                let oldest = self.closed.remove(0);
                self.forget(oldest);
            }
            _ => {}
        }
    }

    fn is_open_or_idle(&self, stream: StreamId) -> bool {
        self.places.contains_key(&stream) && !self.closed.contains(&stream)
    }

    fn place(&mut self, stream: StreamId, wanted: Dependency) {
        let known = wanted.parent.is_none_or(|it| it != stream && self.places.contains_key(&it));
        let wanted = if known { wanted } else { Dependency::default() };
        let before = self.places.get(&stream).copied();
        if self.is_below(wanted.parent, stream) {
            let moved = wanted.parent.unwrap();
            self.places.get_mut(&moved).unwrap().0 = before.unwrap().0;
        }
        if wanted.exclusive {
            for place in self.places.values_mut().filter(|place| place.0 == wanted.parent) {
                place.0 = Some(stream);
            }
        }
        self.places.insert(stream, (wanted.parent, f64::from(wanted.weight.clamp(1, 256))));
    }

    fn is_below(&self, mut at: Option<StreamId>, ancestor: StreamId) -> bool {
        while let Some(stream) = at {
            if stream == ancestor {
                return true;
            }
            at = self.places[&stream].0;
        }
        false
    }

    fn forget(&mut self, stream: StreamId) {
        let (parent, share) = self.places.remove(&stream).unwrap();
        let orphans = self.places.values_mut().filter(|place| place.0 == Some(stream));
        let orphans: Vec<_> = orphans.collect();
        let total: f64 = orphans.iter().map(|place| place.1).sum();
        for place in orphans {
            *place = (parent, share * place.1 / total);
        }
    }
}

fn check_invariants(tree: &DependencyTree) {
    let mut placed = 0;
    for parent in tree.nodes.keys().copied().map(Some).chain([None]) {
        let queue = parent.map_or(&tree.root, |parent| &tree.node(parent).children);
        let mut waiting = 0;
        for (child, _) in queue.members() {
            let node = tree.node(child);
            assert_eq!(node.parent, parent);
            assert!(!node.ready || node.state == State::Open);
            waiting += usize::from(node.is_active());
            placed += 1;
        }
        assert_eq!(queue.waiting_count(), waiting, "exactly the active ones wait");
    }
    assert_eq!(placed, tree.nodes.len(), "every stream is in one place");
    let counted = |state| tree.nodes.values().filter(|node| node.state == state).count();
    assert_eq!(counted(State::Idle), tree.idle);
    assert_eq!(counted(State::Closed), tree.closed.len());
    for &stream in tree.nodes.keys() {
        assert!(!tree.depends(stream, StreamId::MAX), "walking up ends");
    }
}

/// Whom the next packet is for if nothing but `sent` packets per subtree counts: the child that is
/// furthest behind by packets over weight, in whole numbers.
fn expected_next(
    places: &BTreeMap<StreamId, (Option<StreamId>, u64)>,
    ready: &[StreamId],
    sent: &BTreeMap<StreamId, u64>,
    parent: Option<StreamId>,
) -> Option<StreamId> {
    let mut candidates: Vec<_> = places
        .iter()
        .filter(|(_, place)| place.0 == parent)
        .filter_map(|(&child, &(_, weight))| {
            let below = || expected_next(places, ready, sent, Some(child));
            let next = if ready.contains(&child) { Some(child) } else { below() };
            next.map(|next| (child, weight, next))
        })
        .collect();
    candidates.sort_by(|one, other| {
        let (ahead, behind) = (sent[&one.0] * other.1, sent[&other.0] * one.1);
        ahead.cmp(&behind).then(one.0.cmp(&other.0))
    });
    candidates.first().map(|&(_, _, next)| next)
}

proptest! {
    #[test]
    fn places_are_the_models(ops in vec(op(), 0..120)) {
        let (mut tree, mut model) = (DependencyTree::new(), Model::default());
        for op in &ops {
            apply(&mut tree, op);
            model.apply(op);
            check_invariants(&tree);
        }
        prop_assert_eq!(tree.nodes.len(), model.places.len());
        for (&stream, &(parent, weight)) in &model.places {
            let found = children(&tree, parent).into_iter().find(|&(child, _)| child == stream);
            let (_, found) = found.expect("the stream is where the model has it");
            let error = (found.as_f64() - weight).abs();
            prop_assert!(error <= 0.001, "weight {} for {}", found.as_f64(), weight);
        }
    }

    #[test]
    fn order_is_the_models(
        streams in vec((any::<prop::sample::Index>(), 1u64..=256, any::<bool>()), 1..12),
    ) {
        let mut tree = DependencyTree::new();
        let mut places = BTreeMap::new();
        let mut ready = Vec::new();
        for (number, &(parent, weight, is_ready)) in streams.iter().enumerate() {
            let stream = number as u64;
            // An earlier stream or the root.
            let parent = (parent.index(number + 1) as u64).checked_sub(1);
            tree.open(stream, &on(parent, weight as u16));
            places.insert(stream, (parent, weight));
            if is_ready {
                tree.ready(stream);
                ready.push(stream);
            }
        }
        let mut sent: BTreeMap<_, _> = places.keys().map(|&stream| (stream, 0)).collect();
        for _ in 0..300 {
            let next = expected_next(&places, &ready, &sent, None);
            prop_assert_eq!(tree.next(), next);
            let mut at = next;
            while let Some(stream) = at {
                *sent.get_mut(&stream).unwrap() += 1;
                at = places[&stream].0;
            }
            tree.sent(next.unwrap_or(0), PACKET_BYTES);
        }
    }
}
