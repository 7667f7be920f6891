//! Priorities: the extensible ones of RFC 9218, and as an extension of them the dependencies of
//! RFC 7540 §5.3, which HTTP/2 carries in frames of its own and HTTP/3 does not have at all.

use crate::fields::Fields;
use crate::structured::{self, Item};

/// The name of the field (RFC 9218 §5).
pub const FIELD: &str = "priority";

/// The parameters that are looked at.
const KEYS: [&[u8]; 5] = [b"u", b"i", b"hw-parent", b"hw-weight", b"hw-exclusive"];

/// A place in a dependency tree (RFC 7540 §5.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The stream depended on; none is the root. (HTTP/2 writes the root as 0, which in HTTP/3 is a
    /// stream.)
    pub parent: Option<u64>,
    /// The share among siblings: 1 to 256.
    pub weight: u16,
    /// Whether to become the only child of the parent.
    pub exclusive: bool,
}

impl Default for Dependency {
    /// RFC 7540 §5.3.5.
    fn default() -> Self {
        Self { parent: None, weight: 16, exclusive: false }
    }
}

/// The priority of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Priority {
    /// From 0, the most urgent, to 7 (RFC 9218 §4.1).
    pub urgency: u8,
    /// Whether parts of the response are of use (RFC 9218 §4.2).
    pub incremental: bool,
    /// Headway's own extension: `hw-parent`, `hw-weight`, `hw-exclusive`.
    pub dependency: Option<Dependency>,
}

impl Default for Priority {
    fn default() -> Self {
        Self { urgency: 3, incremental: false, dependency: None }
    }
}

impl Priority {
    /// The least urgent.
    pub const MAX_URGENCY: u8 = 7;

    /// Reads the value of a Priority field or of a PRIORITY_UPDATE frame. Parameters that are unknown,
    /// out of range or of another type are ignored (RFC 9218 §4), and so is a value that is no
    /// dictionary (RFC 9651 §4.2).
    #[must_use]
    pub fn parse(value: &[u8]) -> Self {
        let mut priority = Self::default();
        let members = structured::dictionary(value).unwrap_or_default();
        for key in KEYS {
            if let Some((_, item)) = members.iter().rev().find(|member| member.0 == key) {
                priority.set(key, *item);
            }
        }
        priority
    }

    /// The priority a request asks for.
    #[must_use]
    pub fn from_fields(fields: &Fields) -> Self {
        fields.joined(FIELD).map_or_else(Self::default, |value| Self::parse(&value))
    }

    fn set(&mut self, key: &[u8], item: Item) {
        match (key, item) {
            (b"u", Item::Integer(urgency @ 0..=7)) => self.urgency = urgency as u8,
            (b"i", Item::Boolean(incremental)) => self.incremental = incremental,
            (b"hw-parent", Item::Integer(parent @ 0..)) => {
                self.dependency().parent = Some(parent as u64);
            }
            (b"hw-weight", Item::Integer(weight @ 1..=256)) => {
                self.dependency().weight = weight as u16;
            }
            (b"hw-exclusive", Item::Boolean(exclusive)) => self.dependency().exclusive = exclusive,
            _ => {}
        }
    }

    fn dependency(&mut self) -> &mut Dependency {
        self.dependency.get_or_insert_default()
    }

    /// The value of a Priority field: what is not at its default. Empty if nothing is, and then the
    /// field is better left out.
    #[must_use]
    pub fn to_value(&self) -> String {
        let mut members = Vec::new();
        let default = Self::default();
        if self.urgency != default.urgency {
            members.push(format!("u={}", self.urgency));
        }
        if self.incremental {
            members.push("i".to_owned());
        }
        if let Some(Dependency { parent, weight, exclusive }) = self.dependency {
            members.extend(parent.map(|parent| format!("hw-parent={parent}")));
            members.push(format!("hw-weight={weight}"));
            if exclusive {
                members.push("hw-exclusive".to_owned());
            }
        }
        members.join(", ")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DEFAULT: Priority = Priority { urgency: 3, incremental: false, dependency: None };

    #[test]
    fn values() {
        let cases = [
            ("", DEFAULT),
            ("u=5, i", Priority { urgency: 5, incremental: true, dependency: None }),
            ("i=?1,u=0", Priority { urgency: 0, incremental: true, dependency: None }),
            ("i, i=?0", DEFAULT),
            ("u=2;a=b;c, x=(1 2);d, y=tok", Priority { urgency: 2, ..DEFAULT }),
        ];
        for (value, priority) in cases {
            assert_eq!(Priority::parse(value.as_bytes()), priority, "{value}");
        }
    }

    #[test]
    fn bad_parameters_are_ignored() {
        for value in ["u=8", "u=-1", "u=1.0", "u=\"1\"", "u", "i=1", "u=1, u=9", "u=1, u=x", "q=7"]
        {
            assert_eq!(Priority::parse(value.as_bytes()), DEFAULT, "{value}");
        }
        let urgent = Priority { urgency: 1, ..DEFAULT };
        assert_eq!(Priority::parse(b"u=1, i=1"), urgent, "the good one counts");
    }

    #[test]
    fn what_is_no_dictionary_is_ignored() {
        for value in ["u=1,", "u=1 i", "U=1", "u=", "=1", "u=1, \"", "u=1\n"] {
            assert_eq!(Priority::parse(value.as_bytes()), DEFAULT, "{value:?}");
        }
    }

    #[test]
    fn dependencies() {
        let dependency = |value: &str| Priority::parse(value.as_bytes()).dependency;
        let all = Dependency { parent: Some(8), weight: 256, exclusive: true };
        assert_eq!(dependency("hw-parent=8, hw-weight=256, hw-exclusive"), Some(all));
        let parent_only = Dependency { parent: Some(8), weight: 16, exclusive: false };
        assert_eq!(dependency("hw-parent=8"), Some(parent_only));
        for value in ["hw-weight=0", "hw-weight=257", "hw-parent=-4", "hw-exclusive=1"] {
            assert_eq!(dependency(value), None, "{value}");
        }
    }

    #[test]
    fn of_a_request() {
        let mut fields = Fields::new();
        assert_eq!(Priority::from_fields(&fields), DEFAULT);
        fields.push(FIELD, "u=1");
        fields.push(FIELD, "i");
        let priority = Priority { urgency: 1, incremental: true, dependency: None };
        assert_eq!(Priority::from_fields(&fields), priority);
    }

    fn any_dependency() -> impl Strategy<Value = Dependency> {
        (prop::option::of(0..1_u64 << 40), 1..=256_u16, any::<bool>())
            .prop_map(|(parent, weight, exclusive)| Dependency { parent, weight, exclusive })
    }

    proptest! {
        #[test]
        fn round_trip(
            urgency in 0..=Priority::MAX_URGENCY,
            incremental: bool,
            dependency in prop::option::of(any_dependency()),
        ) {
            let priority = Priority { urgency, incremental, dependency };
            prop_assert_eq!(Priority::parse(priority.to_value().as_bytes()), priority);
        }

        #[test]
        fn any_bytes(value: Vec<u8>) {
            prop_assert!(Priority::parse(&value).urgency <= Priority::MAX_URGENCY);
        }

        #[test]
        fn any_text(value in r#"[ui=,;?01 ()"a-z:@%.*-]{0,24}"#) {
            prop_assert!(Priority::parse(value.as_bytes()).urgency <= Priority::MAX_URGENCY);
        }
    }
}
