//! From a query's bytes to those of its answer.

use domain::base::iana::Rcode;
use domain::base::message_builder::{AnswerBuilder, StaticCompressor};
use domain::base::{Message, MessageBuilder, ToName};
use serde::Serialize;

use crate::query::checked;
use crate::zone::{Finding, Name, Zone};

/// What a client takes that says nothing else (RFC 1035, section 4.2.1).
const PLAIN_BYTES: usize = 512;
/// What is sent over UDP at most: it passes everywhere without fragments (RFC 9715).
const MOST_UDP_BYTES: u16 = 1232;

/// How a query came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Transport {
    /// In a datagram.
    Udp,
    /// Over a connection (RFC 7766).
    Tcp,
    /// In a request (RFC 8484).
    Https,
}

/// What became of a query.
#[derive(Debug, Serialize)]
pub(crate) struct Told {
    pub(crate) transport: Transport,
    pub(crate) id: u16,
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) rtype: String,
    /// Of the answer; none if there is none.
    pub(crate) rcode: Option<String>,
    /// Records in it.
    pub(crate) answers: usize,
    /// Whether it was too long for a datagram.
    pub(crate) truncated: bool,
    /// What is wrong with the zone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<String>,
}

type Builder = AnswerBuilder<StaticCompressor<Vec<u8>>>;

/// What becomes of a message.
#[derive(Debug, Default)]
pub(crate) struct Answered {
    /// What it asks; none if it asks nothing that can be answered.
    pub(crate) told: Option<Told>,
    /// What is sent.
    pub(crate) answer: Option<Vec<u8>>,
}

/// Answers a message.
pub(crate) fn answered(zone: &Zone, query: &[u8], over: Transport) -> Answered {
    match checked(query) {
        Ok(message) => {
            let (told, answer) = found(zone, &message, over);
            Answered { told, answer }
        }
        Err(flaw) => Answered { told: None, answer: flaw.and_then(|flaw| flaw.refusal(query)) },
    }
}

/// Looks a question up.
fn found(
    zone: &Zone,
    message: &Message<&[u8]>,
    over: Transport,
) -> (Option<Told>, Option<Vec<u8>>) {
    let Ok(question) = message.sole_question() else { return (None, None) };
    let name: Name = question.qname().to_name();
    let mut told = Told {
        transport: over,
        id: message.header().id(),
        name: name.to_string(),
        rtype: question.qtype().to_string(),
        rcode: None,
        answers: 0,
        truncated: false,
        fault: None,
    };
    let Finding::Records { rcode, records, fault } = zone.find(&name, question.qtype()) else {
        return (Some(told), None);
    };
    told.rcode = Some(rcode.to_string());
    told.answers = records.len();
    told.fault = fault;
    let whole = start(message, rcode, over).and_then(|mut builder| {
        for (owner, data) in &records {
            builder.push((owner, zone.ttl_s, data)).ok()?;
        }
        finished(builder, message)
    });
    let bytes = whole.or_else(|| {
        told.truncated = true;
        let mut builder = start(message, rcode, over)?;
        builder.header_mut().set_tc(true);
        finished(builder, message)
    });
    (Some(told), bytes)
}

fn start(message: &Message<&[u8]>, rcode: Rcode, over: Transport) -> Option<Builder> {
    let mut builder = MessageBuilder::from_target(StaticCompressor::new(Vec::new())).ok()?;
    if over == Transport::Udp {
        let taken = message.opt().map_or(PLAIN_BYTES, |opt| {
            usize::from(opt.udp_payload_size().min(MOST_UDP_BYTES)).max(PLAIN_BYTES)
        });
        builder.set_push_limit(taken);
    }
    builder.header_mut().set_ra(true);
    builder.start_answer(message, rcode).ok()
}

fn finished(builder: Builder, message: &Message<&[u8]>) -> Option<Vec<u8>> {
    let mut builder = builder.additional();
    if message.opt().is_some() {
        let told = builder.opt(|opt| {
            opt.set_udp_payload_size(MOST_UDP_BYTES);
            Ok(())
        });
        told.ok()?;
    }
    Some(builder.finish().into_target())
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use domain::base::iana::Rtype;

    use super::*;

    const ZONE: &str = r#"{"ttl_s": 300, "drops": ["TXT"], "names": {
        "server.test": {"addresses": ["10.0.2.2", "fd00::2"],
            "https": [{"priority": 1, "alpn": ["h3", "h2"], "port": 443, "hints": ["10.0.2.2"]}]},
        "www.test": {"alias": "server.test"},
        "a.test": {"alias": "b.test"}, "b.test": {"alias": "a.test"},
        "mute.test": {"silent": true},
        "many.test": {"addresses": ["10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5",
            "10.0.0.6", "10.0.0.7", "10.0.0.8", "10.0.0.9", "10.0.0.10", "10.0.0.11", "10.0.0.12",
            "10.0.0.13", "10.0.0.14", "10.0.0.15", "10.0.0.16", "10.0.0.17", "10.0.0.18",
            "10.0.0.19", "10.0.0.20", "10.0.0.21", "10.0.0.22", "10.0.0.23", "10.0.0.24",
            "10.0.0.25", "10.0.0.26", "10.0.0.27", "10.0.0.28", "10.0.0.29", "10.0.0.30",
            "10.0.0.31", "10.0.0.32"]}}}"#;

    fn asked(name: &str, rtype: Rtype, over: Transport) -> (Told, Option<Vec<u8>>) {
        let mut builder = MessageBuilder::new_vec().question();
        builder.header_mut().set_id(7);
        builder.header_mut().set_rd(true);
        builder.push((Name::from_str(name).unwrap(), rtype)).unwrap();
        let Answered { told, answer } =
            answered(&Zone::read(ZONE).unwrap(), &builder.finish(), over);
        (told.unwrap(), answer)
    }

    fn records(name: &str, rtype: Rtype) -> Vec<String> {
        let (_, bytes) = asked(name, rtype, Transport::Udp);
        let message = Message::from_octets(bytes.unwrap()).unwrap();
        assert!(message.header().qr() && message.header().ra() && message.header().id() == 7);
        let records = message.answer().unwrap().limit_to::<domain::rdata::AllRecordData<_, _>>();
        records.map(|one| one.unwrap().data().to_string()).collect()
    }

    #[test]
    fn records_are_what_the_zone_states() {
        assert_eq!(records("server.test", Rtype::A), ["10.0.2.2"]);
        assert_eq!(records("SERVER.test", Rtype::AAAA), ["fd00::2"]);
        assert_eq!(records("www.test", Rtype::A), ["server.test.", "10.0.2.2"]);
        let [https] = &records("server.test", Rtype::HTTPS)[..] else { panic!("one record") };
        assert_eq!(https, "1 . alpn=h3,h2 port=443 ipv4hint=10.0.2.2");
        assert!(records("server.test", Rtype::MX).is_empty());
    }

    #[test]
    fn what_is_not_there_has_no_name() {
        let (told, bytes) = asked("other.test", Rtype::A, Transport::Udp);
        assert_eq!((told.rcode.as_deref(), told.answers), (Some("NXDOMAIN"), 0));
        assert!(bytes.is_some());
    }

    #[test]
    fn aliases_that_do_not_end_fail() {
        let (told, _) = asked("a.test", Rtype::A, Transport::Udp);
        assert_eq!(told.rcode.as_deref(), Some("SERVFAIL"));
        assert_eq!(
            told.fault.as_deref(),
            Some("aliases that do not end: a.test > b.test > a.test")
        );
    }

    #[test]
    fn dropped_types_and_silent_names_are_not_answered() {
        assert!(asked("server.test", Rtype::TXT, Transport::Udp).1.is_none());
        assert!(asked("mute.test", Rtype::A, Transport::Tcp).1.is_none());
    }

    #[test]
    fn what_is_too_long_for_a_datagram_comes_over_a_connection() {
        let (told, bytes) = asked("many.test", Rtype::A, Transport::Udp);
        assert!(told.truncated && bytes.as_ref().unwrap().len() <= PLAIN_BYTES);
        assert!(Message::from_octets(bytes.unwrap()).unwrap().header().tc());
        let (told, bytes) = asked("many.test", Rtype::A, Transport::Tcp);
        assert!(!told.truncated && bytes.unwrap().len() > PLAIN_BYTES);
    }

    #[test]
    fn an_answer_is_no_query() {
        let zone = Zone::read(ZONE).unwrap();
        let (_, answer) = asked("server.test", Rtype::A, Transport::Udp);
        let Answered { told, answer } = answered(&zone, &answer.unwrap(), Transport::Udp);
        assert!(told.is_none() && answer.is_none());
    }
}
