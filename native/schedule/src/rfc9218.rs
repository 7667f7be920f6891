//! The Extensible Prioritization Scheme.

use std::collections::{BTreeSet, HashMap};
use std::ops::Bound::{Excluded, Unbounded};

use crate::{Priority, Scheduler, StreamId};

const LEVELS: usize = Priority::URGENCY_MAX as usize + 1;

/// RFC 9218 section 10: the most urgent level first; within it, non-incremental responses one after
/// the other by ascending identifier, incremental ones sharing, here a packet each in turn.
///
/// Where a level has both, the RFC asks that neither starve: the non-incremental response whose
/// turn it is counts as one more stream in the round, and is the first of it.
#[derive(Debug, Default)]
pub struct Rfc9218 {
    open: HashMap<StreamId, Place>,
    levels: [Level; LEVELS],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    level: u8,
    incremental: bool,
}

impl Place {
    fn of(priority: &Priority) -> Self {
        Self { level: priority.level(), incremental: priority.incremental }
    }
}

/// The ready streams of an urgency.
#[derive(Debug, Default)]
struct Level {
    whole: BTreeSet<StreamId>,
    incremental: BTreeSet<StreamId>,
    last: Turn,
}

/// Where in its round a level is.
#[derive(Clone, Copy, Debug, Default)]
enum Turn {
    /// At the end.
    #[default]
    None,
    /// The non-incremental response has had its turn.
    Whole,
    /// This incremental response has had its turn, and those of lower identifiers.
    Incremental(StreamId),
}

impl Level {
    fn kind(&mut self, incremental: bool) -> &mut BTreeSet<StreamId> {
        if incremental { &mut self.incremental } else { &mut self.whole }
    }

    fn next(&self) -> Option<StreamId> {
        let later = match self.last {
            Turn::None => None,
            Turn::Whole => self.incremental.first(),
            Turn::Incremental(last) => self.incremental.range((Excluded(last), Unbounded)).next(),
        };
        later.or_else(|| self.whole.first()).or_else(|| self.incremental.first()).copied()
    }
}

impl Rfc9218 {
    /// Without streams.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The set that a stream of this place belongs to if it is ready.
    fn set(&mut self, place: Place) -> &mut BTreeSet<StreamId> {
        self.levels[usize::from(place.level)].kind(place.incremental)
    }
}

impl Scheduler for Rfc9218 {
    fn open(&mut self, stream: StreamId, priority: &Priority) {
        if self.open.contains_key(&stream) {
            return self.reprioritise(stream, priority);
        }
        self.open.insert(stream, Place::of(priority));
    }

    fn reprioritise(&mut self, stream: StreamId, priority: &Priority) {
        let Some(place) = self.open.get_mut(&stream) else { return };
        let before = std::mem::replace(place, Place::of(priority));
        if self.set(before).remove(&stream) {
            self.set(Place::of(priority)).insert(stream);
        }
    }

    fn close(&mut self, stream: StreamId) {
        self.blocked(stream);
        self.open.remove(&stream);
    }

    fn ready(&mut self, stream: StreamId) {
        if let Some(&place) = self.open.get(&stream) {
            self.set(place).insert(stream);
        }
    }

    fn blocked(&mut self, stream: StreamId) {
        if let Some(&place) = self.open.get(&stream) {
            self.set(place).remove(&stream);
        }
    }

    fn next(&mut self) -> Option<StreamId> {
        self.levels.iter().find_map(Level::next)
    }

    fn sent(&mut self, stream: StreamId, _bytes: u64) {
        let Some(place) = self.open.get(&stream) else { return };
        let turn = if place.incremental { Turn::Incremental(stream) } else { Turn::Whole };
        self.levels[usize::from(place.level)].last = turn;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{open_ready, send, urgency};

    fn incremental(level: u8) -> Priority {
        Priority { incremental: true, ..urgency(level) }
    }

    #[test]
    fn levels_then_identifiers() {
        let mut scheduler = Rfc9218::new();
        open_ready(&mut scheduler, &[(8, urgency(3)), (4, urgency(3)), (0, urgency(5))]);
        assert_eq!(send(&mut scheduler, 2), [4, 4]);
        scheduler.close(4);
        assert_eq!(send(&mut scheduler, 1), [8]);
        scheduler.blocked(8);
        assert_eq!(send(&mut scheduler, 1), [0]);
    }

    #[test]
    fn incremental_ones_share() {
        let mut scheduler = Rfc9218::new();
        let streams = [0, 4, 8].map(|stream| (stream, incremental(3)));
        open_ready(&mut scheduler, &streams);
        assert_eq!(send(&mut scheduler, 4), [0, 4, 8, 0]);
        scheduler.close(4);
        assert_eq!(send(&mut scheduler, 2), [8, 0]);
    }

    #[test]
    fn a_mixed_level_starves_neither() {
        let mut scheduler = Rfc9218::new();
        let streams = [(0, urgency(3)), (4, incremental(3)), (8, urgency(3)), (12, incremental(3))];
        open_ready(&mut scheduler, &streams);
        assert_eq!(send(&mut scheduler, 7), [0, 4, 12, 0, 4, 12, 0]);
        scheduler.close(0);
        assert_eq!(send(&mut scheduler, 4), [4, 12, 8, 4]);
    }

    #[test]
    fn a_priority_update_takes_effect_at_once() {
        let mut scheduler = Rfc9218::new();
        open_ready(&mut scheduler, &[(0, urgency(3)), (4, urgency(3))]);
        scheduler.reprioritise(4, &urgency(0));
        assert_eq!(send(&mut scheduler, 1), [4]);
        scheduler.reprioritise(4, &urgency(200));
        assert_eq!(send(&mut scheduler, 1), [0]);
        scheduler.reprioritise(8, &urgency(0));
        assert_eq!(send(&mut scheduler, 1), [0], "a stream that is not open stays out");
    }
}
