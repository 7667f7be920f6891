//! Firefox's groups: nodes of the dependency tree that no response has.

use crate::{Dependency, DependencyTree, Priority, Scheduler, StreamId};

/// No stream has an identifier from here on: those of QUIC have 62 bits, those of HTTP/2 31.
const FIRST_ID: StreamId = 1 << 62;

/// A group of responses, as Firefox makes of streams that it never opens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// What keeps the page from being shown: style sheets, and scripts that its parser waits for.
    Leaders,
    /// Neither kept waiting nor ahead of others: asynchronous scripts, requests of scripts.
    Unblocked,
    /// What nobody waits for.
    Background,
    /// What may be of use later.
    Speculative,
    /// What leaders come before: images, fonts.
    Followers,
    /// What the user asked for: the document.
    UrgentStart,
}

impl Group {
    /// All, each after the one that it depends on.
    pub const ALL: [Self; 6] = [
        Self::Leaders,
        Self::Unblocked,
        Self::Background,
        Self::Speculative,
        Self::Followers,
        Self::UrgentStart,
    ];

    /// The place of a response in the group.
    #[must_use]
    pub fn member(self, weight: u16) -> Dependency {
        Dependency { parent: Some(self.id()), weight, exclusive: false }
    }

    fn id(self) -> StreamId {
        FIRST_ID + self as StreamId
    }

    /// As Firefox says in PRIORITY frames, where weights are less by one.
    fn place(self) -> Dependency {
        let (parent, weight) = match self {
            Self::Leaders => (None, 201),
            Self::Unblocked => (None, 101),
            Self::Background => (None, 1),
            Self::Speculative => (Some(Self::Background), 1),
            Self::Followers => (Some(Self::Leaders), 1),
            Self::UrgentStart => (None, 241),
        };
        Dependency { parent: parent.map(Self::id), weight, exclusive: false }
    }
}

/// A dependency tree with all groups.
pub(crate) fn firefox_tree() -> DependencyTree {
    let mut tree = DependencyTree::new();
    for group in Group::ALL {
        let place = Priority { dependency: Some(group.place()), ..Priority::default() };
        tree.reprioritise(group.id(), &place);
    }
    tree
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::testing::{PACKET_BYTES, open_ready, send};

    /// Packets of each stream among so many.
    fn shares(streams: &[(StreamId, Group, u16)], packets: usize) -> BTreeMap<StreamId, usize> {
        let mut tree = firefox_tree();
        let placed: Vec<_> = streams
            .iter()
            .map(|&(stream, group, weight)| {
                let dependency = Some(group.member(weight));
                (stream, Priority { dependency, ..Priority::default() })
            })
            .collect();
        open_ready(&mut tree, &placed);
        let mut shares = BTreeMap::new();
        for stream in send(&mut tree, packets) {
            *shares.entry(stream).or_default() += 1;
        }
        shares
    }

    #[test]
    fn groups_share_by_weight_whatever_is_in_them() {
        let streams = [
            (0, Group::Leaders, 32),
            (4, Group::Unblocked, 32),
            (8, Group::Unblocked, 32),
            (12, Group::UrgentStart, 32),
        ];
        let cycle = 2 * (201 + 101 + 241);
        let expected = [(0, 402), (4, 101), (8, 101), (12, 482)];
        assert_eq!(shares(&streams, cycle), expected.into());
    }

    #[test]
    fn followers_have_a_small_part_of_the_leaders_share() {
        let streams =
            [(0, Group::Leaders, 32), (4, Group::Followers, 22), (8, Group::Followers, 22)];
        // 32 parts of 33, and the others the last one in turn.
        assert_eq!(shares(&streams, 66), [(0, 64), (4, 1), (8, 1)].into());
        // Without leaders they have all of it.
        let alone = [(4, Group::Followers, 22), (8, Group::Followers, 42)];
        assert_eq!(shares(&alone, 64), [(4, 22), (8, 42)].into());
    }

    #[test]
    fn the_speculative_depend_on_the_background() {
        let streams = [(0, Group::Background, 3), (4, Group::Speculative, 12)];
        assert_eq!(shares(&streams, 8), [(0, 6), (4, 2)].into());
    }

    #[test]
    fn groups_outlive_their_members() {
        let mut tree = firefox_tree();
        for stream in 0..500 {
            let dependency = Some(Group::Followers.member(22));
            open_ready(&mut tree, &[(stream, Priority { dependency, ..Priority::default() })]);
            assert_eq!(tree.next(), Some(stream));
            tree.sent(stream, PACKET_BYTES);
            tree.close(stream);
        }
        assert_eq!(tree.next(), None);
    }
}
