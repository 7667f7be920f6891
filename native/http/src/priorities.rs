//! Who decides how important responses are: the client, or the server by what they are.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

use headway_schedule::{Dependency, Group, Priority, Strategy};
use headway_wire::Request;

/// Who decides, and if it is the server, like which browser. Its text is what options and studies call it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Priorities {
    /// `browser`: what the client says counts.
    #[default]
    Browser,
    /// `chrome`: one after the other, by the classes that Chromium has.
    Chrome,
    /// `safari`: all at once, by weights of kinds.
    Safari,
    /// `firefox`: the dependency tree of Firefox's groups.
    Firefox,
    /// `firefox-eps`: its groups as levels of urgency (Sander et al. 2022, section IV-B1).
    FirefoxEps,
    /// `round-robin`: a packet each in turn.
    RoundRobin,
    /// `batched-round-robin:N`: N packets each.
    BatchedRoundRobin(NonZeroU32),
}

/// What is asked for, as browsers tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Document,
    Frame,
    Style,
    /// A script that the parser waits for, in the document's head.
    BlockingScript,
    OtherScript,
    Font,
    Image,
    /// What scripts ask for.
    Data,
    /// Fetched for a page that the user may go to.
    Prefetch,
    /// A report that nobody waits for.
    Report,
    Other,
}

/// The least urgent that Chromium says of a script that its parser waits for in the document's head.
const BLOCKING_URGENCY: u8 = 1;

impl Kind {
    /// The kind of what is asked for: by Fetch Metadata, and of scripts by the urgency that the browser gives them.
    fn of(request: &Request) -> Self {
        let field = |name| request.fields.get(name).map(|value| &value[..]).unwrap_or_default();
        if field("sec-purpose").starts_with(b"prefetch") {
            return Self::Prefetch;
        }
        match field("sec-fetch-dest") {
            b"document" => Self::Document,
            b"iframe" | b"frame" => Self::Frame,
            b"style" | b"xslt" => Self::Style,
            b"script" if urgency(request) <= BLOCKING_URGENCY => Self::BlockingScript,
            b"script" => Self::OtherScript,
            b"font" => Self::Font,
            b"image" => Self::Image,
            b"empty" => Self::Data,
            b"report" => Self::Report,
            _ => Self::Other,
        }
    }

    /// Safari's weight for it (Wijnants et al. 2018).
    fn weight(self) -> u16 {
        match self {
            Self::Document | Self::Frame => 255,
            Self::Style | Self::BlockingScript | Self::OtherScript => 24,
            Self::Data | Self::Font => 16,
            Self::Image | Self::Prefetch | Self::Report | Self::Other => 8,
        }
    }

    /// Firefox's group for it, and the weight there.
    fn group(self) -> (Group, u16) {
        match self {
            Self::Document => (Group::UrgentStart, 32),
            Self::Style | Self::BlockingScript => (Group::Leaders, 32),
            Self::OtherScript | Self::Data => (Group::Unblocked, 32),
            Self::Frame => (Group::Followers, 32),
            Self::Font => (Group::Followers, 42),
            Self::Image | Self::Other => (Group::Followers, 22),
            Self::Report => (Group::Background, 12),
            Self::Prefetch => (Group::Speculative, 12),
        }
    }
}

/// The level that the browser itself says, without updates: RFC 9218's, 3 if it says none.
fn urgency(request: &Request) -> u8 {
    headway_wire::Priority::from_fields(&request.fields).urgency
}

/// The level of a group, in the order in which Firefox's tree would have them.
fn level(group: Group) -> u8 {
    match group {
        Group::UrgentStart => 1,
        Group::Leaders => 2,
        Group::Followers => 3,
        Group::Unblocked => 4,
        Group::Background => 5,
        Group::Speculative => 6,
    }
}

impl Priorities {
    /// The scheduler that carries it out.
    ///
    /// # Arguments
    /// * `otherwise` - that of a server whose client decides.
    #[must_use]
    pub fn strategy(self, otherwise: Strategy) -> Strategy {
        match self {
            Self::Browser => otherwise,
            Self::Chrome => Strategy::Sequential,
            Self::Safari => Strategy::WeightedRoundRobin,
            Self::Firefox => Strategy::FirefoxTree,
            Self::FirefoxEps => Strategy::Rfc9218,
            Self::RoundRobin => Strategy::RoundRobin,
            Self::BatchedRoundRobin(packets) => Strategy::BatchedRoundRobin(packets),
        }
    }

    /// The priority that the server decides on; None if that is for the client.
    pub(crate) fn decided(self, request: &Request) -> Option<Priority> {
        let kind = Kind::of(request);
        let on = |dependency| Priority { dependency: Some(dependency), ..Priority::default() };
        Some(match self {
            Self::Browser => return None,
            Self::Chrome => Priority { urgency: urgency(request), ..Priority::default() },
            Self::Safari => {
                on(Dependency { parent: None, weight: kind.weight(), exclusive: false })
            }
            Self::Firefox => {
                let (group, weight) = kind.group();
                on(group.member(weight))
            }
            Self::FirefoxEps => {
                let urgency = level(kind.group().0);
                Priority { urgency, incremental: true, dependency: None }
            }
            Self::RoundRobin | Self::BatchedRoundRobin(_) => Priority::default(),
        })
    }
}

const NAMED: [(&str, Priorities); 6] = [
    ("browser", Priorities::Browser),
    ("chrome", Priorities::Chrome),
    ("safari", Priorities::Safari),
    ("firefox", Priorities::Firefox),
    ("firefox-eps", Priorities::FirefoxEps),
    ("round-robin", Priorities::RoundRobin),
];
const BATCHED: &str = "batched-round-robin:";

impl fmt::Display for Priorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::BatchedRoundRobin(packets) = self {
            return write!(f, "{BATCHED}{packets}");
        }
        let named = NAMED.iter().find(|(_, priorities)| priorities == self);
        f.write_str(named.map_or("", |(name, _)| name))
    }
}

/// A text that names nobody.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no priorities '{0}': there are browser, chrome, safari, firefox, firefox-eps, round-robin and \
     batched-round-robin:N (N packets)"
)]
pub struct UnknownPriorities(String);

impl FromStr for Priorities {
    type Err = UnknownPriorities;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unknown = || UnknownPriorities(text.to_owned());
        if let Some(packets) = text.strip_prefix(BATCHED) {
            return packets.parse().map(Self::BatchedRoundRobin).map_err(|_| unknown());
        }
        let named = NAMED.iter().find(|(name, _)| *name == text);
        named.map(|&(_, priorities)| priorities).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(fields: &[(&'static str, &'static str)]) -> Request {
        let mut request = Request::get("https", "a.test", "/");
        for (name, value) in fields {
            request.fields.push(*name, *value);
        }
        request
    }

    fn of(dest: &'static str, priority: &'static str) -> Request {
        request(&[("sec-fetch-dest", dest), ("priority", priority)])
    }

    #[test]
    fn names_are_read_back() {
        let names = ["browser", "chrome", "safari", "firefox", "firefox-eps", "round-robin"];
        for name in names.into_iter().chain(["batched-round-robin:15"]) {
            assert_eq!(name.parse::<Priorities>().unwrap().to_string(), name);
        }
        for name in ["", "Chrome", "batched-round-robin:0"] {
            let error = name.parse::<Priorities>().unwrap_err();
            assert!(error.to_string().starts_with(&format!("no priorities '{name}'")));
        }
    }

    #[test]
    fn kinds_are_told_by_destination_and_place() {
        let cases = [
            (of("document", "u=0, i"), Kind::Document),
            (of("iframe", "u=0, i"), Kind::Frame),
            (of("style", "u=0"), Kind::Style),
            (of("script", "u=1"), Kind::BlockingScript),
            (of("script", "u=2"), Kind::OtherScript),
            (request(&[("sec-fetch-dest", "script")]), Kind::OtherScript),
            (of("font", "u=0"), Kind::Font),
            (of("image", "u=2, i"), Kind::Image),
            (of("empty", "u=1, i"), Kind::Data),
            (of("video", "i"), Kind::Other),
            (request(&[]), Kind::Other),
            (request(&[("sec-purpose", "prefetch"), ("sec-fetch-dest", "script")]), Kind::Prefetch),
        ];
        for (request, kind) in cases {
            assert_eq!(Kind::of(&request), kind, "{request:?}");
        }
    }

    #[test]
    fn chrome_s_classes_are_what_the_browser_says_at_first() {
        let level = |request: &Request| Priorities::Chrome.decided(request).unwrap().urgency;
        assert_eq!(level(&of("image", "u=2, i")), 2);
        assert_eq!(level(&of("style", "u=0")), 0);
        assert_eq!(level(&request(&[("sec-fetch-dest", "image")])), 3);
        assert!(!Priorities::Chrome.decided(&of("image", "i")).unwrap().incremental);
    }

    #[test]
    fn the_browser_s_own_count_where_it_decides() {
        assert_eq!(Priorities::Browser.decided(&of("image", "u=2, i")), None);
        assert_eq!(Priorities::Browser.strategy(Strategy::Sequential), Strategy::Sequential);
    }
}
