//! HTTP/2's dependency tree (RFC 7540 section 5.3).

use std::collections::{HashMap, VecDeque};

use crate::fair::{FairQueue, Weight};
use crate::{Dependency, Priority, Scheduler, StreamId};

/// How many closed streams keep their place (RFC 7540 section 5.3.4): a client may name one as a
/// parent before it knows that the response is sent.
const CLOSED_MAX: usize = 100;
/// How many streams may have a place before they are opened. Firefox groups responses under some
/// that it never opens.
const IDLE_MAX: usize = 100;

/// RFC 7540's scheme: a stream is served before those that depend on it, which share what it leaves
/// by their weights, in bytes.
///
/// A blocked stream's share goes to those that depend on it. A stream without a dependency is on
/// the root with weight 16, and a priority without one leaves a stream's place as it is. Work per
/// call grows with the stream's depth, and with the logarithm of the siblings at every step.
#[derive(Debug, Default)]
pub struct DependencyTree {
    nodes: HashMap<StreamId, Node>,
    /// What depends on no stream.
    root: FairQueue,
    /// Closed streams that still have a place, longest closed first.
    closed: VecDeque<StreamId>,
    /// How many nodes are idle.
    idle: usize,
}

#[derive(Debug)]
struct Node {
    parent: Option<StreamId>,
    /// What depends on this stream. Those wait that are active.
    children: FairQueue,
    state: State,
    ready: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Prioritised, but not yet opened.
    Idle,
    Open,
    Closed,
}

impl Node {
    fn new(state: State) -> Self {
        Self { parent: None, children: FairQueue::default(), state, ready: false }
    }

    /// Whether this stream, or one that depends on it, can send.
    fn is_active(&self) -> bool {
        self.ready || !self.children.is_idle()
    }
}

impl DependencyTree {
    /// Without streams.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A stream that is known to have a place.
    fn node(&self, stream: StreamId) -> &Node {
        self.nodes.get(&stream).expect("parents and children in the tree have nodes")
    }

    fn node_mut(&mut self, stream: StreamId) -> &mut Node {
        self.nodes.get_mut(&stream).expect("parents and children in the tree have nodes")
    }

    /// What depends on a stream, or on the root.
    fn children_of(&mut self, parent: Option<StreamId>) -> &mut FairQueue {
        match parent {
            Some(stream) => &mut self.node_mut(stream).children,
            None => &mut self.root,
        }
    }

    /// Tells the stream's ancestors that it became active.
    fn wake(&mut self, mut stream: StreamId) {
        loop {
            let parent = self.node(stream).parent;
            let was_active = parent.is_none_or(|parent| self.node(parent).is_active());
            self.children_of(parent).wake(stream);
            match parent {
                Some(parent) if !was_active => stream = parent,
                _ => return,
            }
        }
    }

    /// Tells the stream's ancestors that it is no longer active.
    fn rest(&mut self, mut stream: StreamId) {
        loop {
            let parent = self.node(stream).parent;
            self.children_of(parent).rest(stream);
            match parent {
                Some(parent) if !self.node(parent).is_active() => stream = parent,
                _ => return,
            }
        }
    }

    fn set_ready(&mut self, stream: StreamId, ready: bool) {
        let Some(node) = self.nodes.get_mut(&stream) else { return };
        if node.state != State::Open || node.ready == ready {
            return;
        }
        node.ready = ready;
        if !node.children.is_idle() {
            return; // active before and after
        }
        if ready {
            self.wake(stream);
        } else {
            self.rest(stream);
        }
    }

    /// Takes a stream, with all that depends on it, from its parent; its weight and virtual time.
    fn detach(&mut self, stream: StreamId) -> (Weight, u128) {
        if self.node(stream).is_active() {
            self.rest(stream);
        }
        let parent = self.node(stream).parent;
        self.children_of(parent).remove(stream).expect("a stream is among its parent's children")
    }

    /// Puts a detached stream below a parent.
    fn attach(&mut self, stream: StreamId, parent: Option<StreamId>, weight: Weight, time: u128) {
        self.node_mut(stream).parent = parent;
        self.children_of(parent).insert_at(stream, weight, time);
        if self.node(stream).is_active() {
            self.wake(stream);
        }
    }

    /// Moves a stream, with all that depends on it, to a parent that does not depend on it.
    fn relocate(&mut self, stream: StreamId, parent: Option<StreamId>, weight: Weight) {
        if self.node(stream).parent == parent {
            self.children_of(parent).set_weight(stream, weight);
        } else {
            self.detach(stream);
            self.attach(stream, parent, weight, 0);
        }
    }

    fn depends(&self, stream: StreamId, ancestor: StreamId) -> bool {
        let mut at = Some(stream);
        while let Some(node) = at {
            if node == ancestor {
                return true;
            }
            at = self.node(node).parent;
        }
        false
    }

    /// Gives a stream of the tree another place (RFC 7540 sections 5.3.1 and 5.3.3).
    fn prioritise(&mut self, stream: StreamId, wanted: Dependency) {
        let Dependency { parent, weight, exclusive } = self.possible(stream, wanted);
        if let Some(parent) = parent.filter(|&parent| self.depends(parent, stream)) {
            let above = self.node(stream).parent;
            let (weight, _) = self.detach(parent);
            self.attach(parent, above, weight, 0);
        }
        self.relocate(stream, parent, Weight::new(weight));
        if exclusive {
            self.adopt_siblings(stream);
        }
    }

    /// A dependency on a stream without a place, or on itself, is the default one (section 5.3.1).
    fn possible(&self, stream: StreamId, wanted: Dependency) -> Dependency {
        let exists = |parent| parent != stream && self.nodes.contains_key(&parent);
        if wanted.parent.is_none_or(exists) { wanted } else { Dependency::default() }
    }

    fn adopt_siblings(&mut self, stream: StreamId) {
        let parent = self.node(stream).parent;
        let siblings: Vec<_> = self.children_of(parent).members().collect();
        for (sibling, weight) in siblings {
            if sibling != stream {
                self.relocate(sibling, Some(stream), weight);
            }
        }
    }

    /// Takes a stream out; its share is divided among what depended on it (section 5.3.4).
    fn forget(&mut self, stream: StreamId) {
        let orphans: Vec<_> = self.node(stream).children.members().collect();
        let total = self.node(stream).children.total_weight();
        for &(orphan, _) in &orphans {
            self.detach(orphan);
        }
        let (share, time) = self.detach(stream);
        let parent = self.node(stream).parent;
        for (orphan, weight) in orphans {
            self.attach(orphan, parent, share.portion(weight, total), time);
        }
        self.nodes.remove(&stream);
    }

    fn add(&mut self, stream: StreamId, state: State) {
        self.nodes.insert(stream, Node::new(state));
        self.root.insert(stream, Weight::new(Dependency::default().weight));
    }

    /// Notes that a stream of the tree leaves its state for another.
    fn set_state(&mut self, stream: StreamId, state: State) {
        match std::mem::replace(&mut self.node_mut(stream).state, state) {
            State::Idle => self.idle -= 1,
            State::Closed => self.closed.retain(|&closed| closed != stream),
            State::Open => {}
        }
    }
}

impl Scheduler for DependencyTree {
    fn open(&mut self, stream: StreamId, priority: &Priority) {
        if self.nodes.contains_key(&stream) {
            self.set_state(stream, State::Open);
        } else {
            self.add(stream, State::Open);
        }
        self.reprioritise(stream, priority);
    }

    fn reprioritise(&mut self, stream: StreamId, priority: &Priority) {
        let Some(dependency) = priority.dependency else { return };
        if !self.nodes.contains_key(&stream) {
            if self.idle == IDLE_MAX {
                return;
            }
            self.idle += 1;
            self.add(stream, State::Idle);
        }
        self.prioritise(stream, dependency);
    }

    fn close(&mut self, stream: StreamId) {
        if self.nodes.get(&stream).is_none_or(|node| node.state == State::Closed) {
            return;
        }
        self.blocked(stream);
        self.set_state(stream, State::Closed);
        self.closed.push_back(stream);
        if self.closed.len() > CLOSED_MAX {
            let oldest = self.closed.pop_front().expect("there are more than the maximum");
            self.forget(oldest);
        }
    }

    fn ready(&mut self, stream: StreamId) {
        self.set_ready(stream, true);
    }

    fn blocked(&mut self, stream: StreamId) {
        self.set_ready(stream, false);
    }

    fn next(&mut self) -> Option<StreamId> {
        let mut children = &self.root;
        loop {
            let stream = children.first()?;
            let node = self.node(stream);
            if node.ready {
                return Some(stream);
            }
            children = &node.children;
        }
    }

    fn sent(&mut self, stream: StreamId, bytes: u64) {
        let mut at = Some(stream).filter(|stream| self.nodes.contains_key(stream));
        while let Some(stream) = at {
            let parent = self.node(stream).parent;
            self.children_of(parent).charge(stream, bytes);
            at = parent;
        }
    }
}

#[cfg(test)]
mod tests;
