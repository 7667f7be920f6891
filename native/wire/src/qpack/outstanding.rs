//! What the encoder does not know the decoder to have (RFC 9204 §2.1.1, §2.1.2, §2.1.4).

use std::collections::{BTreeMap, VecDeque};

use crate::primitive::Invalid;

/// Sections kept until they are acknowledged, by a peer that may never do so.
const MAX_SECTIONS: usize = 1000;

/// A section that refers to the dynamic table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Section {
    /// Insertions it needs.
    pub(super) required: u64,
    /// The oldest entry it refers to, by its absolute index.
    pub(super) oldest: u64,
}

/// Sections and insertions that are not acknowledged.
#[derive(Debug, Default)]
pub(super) struct Outstanding {
    /// In the order in which they were sent, which is that of their acknowledgment.
    sections: BTreeMap<u64, VecDeque<Section>>,
    count: usize,
    /// Insertions that the decoder is known to have.
    known_received: u64,
}

impl Outstanding {
    pub(super) const fn known_received(&self) -> u64 {
        self.known_received
    }

    /// Whether one more section may refer to the dynamic table.
    pub(super) const fn has_room(&self) -> bool {
        self.count < MAX_SECTIONS
    }

    pub(super) fn push(&mut self, stream: u64, section: Section) {
        self.sections.entry(stream).or_default().push_back(section);
        self.count += 1;
    }

    /// Whether a section of a stream may need what the decoder perhaps does not have yet, if no more than
    /// `max_blocked` streams may wait for that.
    pub(super) fn may_block(&self, stream: u64, max_blocked: u64) -> bool {
        let is_at_risk = |sections: &VecDeque<Section>| {
            sections.iter().any(|section| section.required > self.known_received)
        };
        self.sections.get(&stream).is_some_and(is_at_risk) || {
            let at_risk = self.sections.values().filter(|sections| is_at_risk(sections));
            (at_risk.count() as u64) < max_blocked
        }
    }

    /// The oldest entry that must not be evicted, by its absolute index (§2.1.1).
    pub(super) fn oldest(&self) -> u64 {
        let referred = self.sections.values().flatten().map(|section| section.oldest);
        referred.min().map_or(self.known_received, |oldest| oldest.min(self.known_received))
    }

    /// Section Acknowledgment (§4.4.1).
    pub(super) fn acknowledge(&mut self, stream: u64) -> Result<(), Invalid> {
        let sections = self.sections.get_mut(&stream);
        let Some(section) = sections.and_then(VecDeque::pop_front) else {
            return Err(Invalid("an acknowledgment of a section that was not sent"));
        };
        self.count -= 1;
        self.known_received = self.known_received.max(section.required);
        self.sections.retain(|_, sections| !sections.is_empty());
        Ok(())
    }

    /// Stream Cancellation (§4.4.2), also of a stream that refers to nothing.
    pub(super) fn cancel(&mut self, stream: u64) {
        self.count -= self.sections.remove(&stream).map_or(0, |sections| sections.len());
    }

    /// Insert Count Increment (§4.4.3), when there were `inserted` insertions.
    pub(super) fn increment(&mut self, by: u64, inserted: u64) -> Result<(), Invalid> {
        if by == 0 || by > inserted - self.known_received {
            return Err(Invalid("an Insert Count Increment of 0 or beyond what was inserted"));
        }
        self.known_received += by;
        Ok(())
    }
}
