//! A stub resolver: asks a recursive resolver for addresses and for the HTTPS record (RFC 1034, section 5.3.1; RFC 9460).

use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream, UdpSocket};
use std::str::FromStr;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use domain::base::iana::{Rcode, Rtype};
use domain::base::{Message, MessageBuilder, Name};
use domain::rdata::AllRecordData;
use domain::rdata::svcb::value::{Alpn, Port};
use headway_reactor::{Interest, Reactor, Token};
use ring::rand::{SecureRandom, SystemRandom};

/// An answer is awaited so long, and so often: as resolv.conf(5) has it.
const ATTEMPT: Duration = Duration::from_secs(5);
const ATTEMPTS: u32 = 2;
/// Once there is an address, other answers are awaited so long (RFC 8305, section 3).
const RESOLUTION_DELAY: Duration = Duration::from_millis(50);
const HIGHEST_PAYLOAD: u16 = 1232;
const LINE: Token = Token(0);

/// Over what a resolver is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Over {
    /// Datagrams; TCP if an answer is too long for one.
    Udp,
    /// A connection (RFC 7766).
    Tcp,
}

/// What is known of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    /// Its addresses, those of IPv6 first (RFC 6724, section 2.1).
    pub(crate) addresses: Vec<IpAddr>,
    /// What its HTTPS record says; none if it has none, or the answer did not come in time.
    pub(crate) service: Option<Service>,
}

/// What an HTTPS record says, as far as this client follows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Service {
    priority: u16,
    /// Names of protocols; http/1.1 goes without saying.
    alpn: Vec<Vec<u8>>,
    /// Of the service, if not the URL's.
    pub(crate) port: Option<u16>,
}

impl Service {
    /// Whether it names a protocol.
    pub(crate) fn names(&self, alpn: &[u8]) -> bool {
        self.alpn.iter().any(|one| one == alpn)
    }
}

/// Why there is no address.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LookupError {
    #[error("{0} is not a name of DNS")]
    Name(String),
    #[error("could not resolve {0}: the name does not exist (NXDOMAIN)")]
    Unknown(String),
    #[error("could not resolve {0}: the resolver says {1}")]
    Refused(String, Rcode),
    #[error("could not resolve {0}: it has no address")]
    NoAddress(String),
    #[error("could not resolve {0}: the resolver {1} does not answer")]
    Silent(String, SocketAddr),
    #[error("could not resolve {0}: {1}")]
    Io(String, #[source] io::Error),
}

/// Asks a resolver for a host.
pub(crate) fn look_up(resolver: SocketAddr, over: Over, host: &str) -> Result<Found, LookupError> {
    let name = Name::<Vec<u8>>::from_str(host).map_err(|_| LookupError::Name(host.to_owned()))?;
    let failed = |error| LookupError::Io(host.to_owned(), error);
    let mut answers = Answers::default();
    for _ in 0..ATTEMPTS {
        let mut line = Line::open(resolver, over).map_err(failed)?;
        for rtype in answers.missing() {
            let (id, query) = query(&name, rtype).map_err(failed)?;
            answers.asked.insert(id, rtype);
            line.send(&query).map_err(failed)?;
        }
        let until = Instant::now() + ATTEMPT;
        while let Some(until) = answers.awaited(until) {
            let Some(message) = line.receive(until).map_err(failed)? else { break };
            if answers.take(&message) == Taken::Truncated && over == Over::Udp {
                return look_up(resolver, Over::Tcp, host);
            }
        }
        if !answers.found.addresses.is_empty() || answers.missing().is_empty() {
            return answers.finished(host);
        }
    }
    Err(LookupError::Silent(host.to_owned(), resolver))
}

fn query(name: &Name<Vec<u8>>, rtype: Rtype) -> io::Result<(u16, Vec<u8>)> {
    let mut id = [0; 2];
    SystemRandom::new().fill(&mut id).map_err(|_| io::Error::other("no random numbers"))?;
    let id = u16::from_be_bytes(id);
    let mut builder = MessageBuilder::new_vec();
    builder.header_mut().set_id(id);
    builder.header_mut().set_rd(true);
    let mut builder = builder.question();
    builder.push((name, rtype)).map_err(io::Error::other)?;
    let mut builder = builder.additional();
    let told = builder.opt(|opt| {
        opt.set_udp_payload_size(HIGHEST_PAYLOAD);
        Ok(())
    });
    told.map_err(io::Error::other)?;
    Ok((id, builder.finish()))
}

#[derive(Debug, PartialEq, Eq)]
enum Taken {
    Yes,
    Truncated,
    No,
}

#[derive(Debug, Default)]
struct Answers {
    /// By the number of the message.
    asked: BTreeMap<u16, Rtype>,
    answered: Vec<Rtype>,
    found: Found,
    rcode: Option<Rcode>,
    addressed: Option<Instant>,
}

impl Answers {
    fn missing(&self) -> Vec<Rtype> {
        let all = [Rtype::A, Rtype::AAAA, Rtype::HTTPS];
        all.into_iter().filter(|one| !self.answered.contains(one)).collect()
    }

    /// Until when another answer is awaited; none if nothing more is.
    fn awaited(&self, until: Instant) -> Option<Instant> {
        let until = self.addressed.map_or(until, |at| until.min(at + RESOLUTION_DELAY));
        (!self.missing().is_empty()).then_some(until)
    }

    fn take(&mut self, message: &[u8]) -> Taken {
        let Ok(message) = Message::from_octets(message) else { return Taken::No };
        let header = message.header();
        let Some(&rtype) = self.asked.get(&header.id()).filter(|_| header.qr()) else {
            return Taken::No;
        };
        if self.answered.contains(&rtype) {
            return Taken::No;
        }
        if header.tc() {
            return Taken::Truncated;
        }
        self.answered.push(rtype);
        if header.rcode() != Rcode::NOERROR {
            self.rcode = self.rcode.or(Some(header.rcode()));
        }
        let Ok(section) = message.answer() else { return Taken::Yes };
        for record in section.limit_to::<AllRecordData<_, _>>().flatten() {
            match record.into_data() {
                AllRecordData::A(data) => self.found.addresses.push(data.addr().into()),
                AllRecordData::Aaaa(data) => self.found.addresses.push(data.addr().into()),
                AllRecordData::Https(data) if data.is_service() => {
                    let alpn = data.params().first::<Alpn<_>>();
                    let alpn = alpn.map(|all| all.iter().map(|one: &[u8]| one.to_vec()).collect());
                    let port = data.params().first::<Port>().map(Port::port);
                    self.serve(Service {
                        priority: data.priority(),
                        alpn: alpn.unwrap_or_default(),
                        port,
                    });
                }
                _ => {}
            }
        }
        if self.addressed.is_none() && !self.found.addresses.is_empty() {
            self.addressed = Some(Instant::now());
        }
        Taken::Yes
    }

    /// Of several services the first in order counts (RFC 9460, section 2.4.1).
    fn serve(&mut self, service: Service) {
        if self.found.service.as_ref().is_none_or(|known| service.priority < known.priority) {
            self.found.service = Some(service);
        }
    }

    fn finished(mut self, host: &str) -> Result<Found, LookupError> {
        if self.found.addresses.is_empty() {
            return Err(match self.rcode {
                Some(Rcode::NXDOMAIN) => LookupError::Unknown(host.to_owned()),
                Some(rcode) => LookupError::Refused(host.to_owned(), rcode),
                None => LookupError::NoAddress(host.to_owned()),
            });
        }
        self.found.addresses.sort_by_key(IpAddr::is_ipv4);
        Ok(self.found)
    }
}

/// What messages go over. Waiting is the reactor's, which is exact.
struct Line {
    reactor: Reactor,
    socket: Carrier,
    received: Vec<u8>,
}

enum Carrier {
    Udp(UdpSocket),
    Tcp(TcpStream),
}

impl Line {
    fn open(resolver: SocketAddr, over: Over) -> io::Result<Self> {
        let reactor = Reactor::new()?;
        let socket = if over == Over::Tcp {
            let stream = TcpStream::connect_timeout(&resolver, ATTEMPT)?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            reactor.register(&stream, LINE, Interest::Read)?;
            Carrier::Tcp(stream)
        } else {
            let any: SocketAddr = match resolver {
                SocketAddr::V4(_) => ([0; 4], 0).into(),
                SocketAddr::V6(_) => ([0; 16], 0).into(),
            };
            let socket = UdpSocket::bind(any)?;
            socket.connect(resolver)?;
            socket.set_nonblocking(true)?;
            reactor.register(&socket, LINE, Interest::Read)?;
            Carrier::Udp(socket)
        };
        Ok(Self { reactor, socket, received: Vec::new() })
    }

    fn send(&mut self, message: &[u8]) -> io::Result<()> {
        match &mut self.socket {
            Carrier::Udp(socket) => socket.send(message).map(drop),
            Carrier::Tcp(stream) => {
                let length = u16::try_from(message.len()).map_err(io::Error::other)?;
                stream.write_all(&[&length.to_be_bytes()[..], message].concat())
            }
        }
    }

    /// The next message; none if none came in time.
    fn receive(&mut self, until: Instant) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(message) = self.next()? {
                return Ok(Some(message));
            }
            if Instant::now() >= until {
                return Ok(None);
            }
            self.reactor.wait(Some(until), &mut Vec::new())?;
        }
    }

    /// A message that has come.
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut buffer = vec![0; usize::from(u16::MAX)];
        loop {
            if let Some(message) = first_message(&self.received) {
                self.received.drain(..2 + message.len());
                return Ok(Some(message));
            }
            let read = match &mut self.socket {
                Carrier::Udp(socket) => socket.recv(&mut buffer),
                Carrier::Tcp(stream) => stream.read(&mut buffer),
            };
            match (read, &self.socket) {
                (Ok(0), Carrier::Tcp(_)) => return Err(ErrorKind::UnexpectedEof.into()),
                (Ok(bytes), Carrier::Tcp(_)) => self.received.extend(&buffer[..bytes]),
                (Ok(bytes), Carrier::Udp(_)) => {
                    buffer.truncate(bytes);
                    return Ok(Some(buffer));
                }
                (Err(error), _) if error.kind() == ErrorKind::WouldBlock => return Ok(None),
                (Err(error), _) => return Err(error),
            }
        }
    }
}

/// The first message of what has come over TCP, each after its length (RFC 1035, section 4.2.2).
fn first_message(received: &[u8]) -> Option<Vec<u8>> {
    let (length, rest) = received.split_first_chunk::<2>()?;
    Some(rest.get(..usize::from(u16::from_be_bytes(*length)))?.to_vec())
}

#[cfg(test)]
mod tests {
    use std::thread;

    use domain::base::iana::Class;
    use domain::base::{Record, Ttl};
    use domain::rdata::{A, Aaaa};

    use super::*;

    /// A resolver that answers so many questions, each as it is told.
    fn resolver(answers: Vec<fn(Rtype) -> Option<Rcode>>) -> SocketAddr {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = socket.local_addr().unwrap();
        thread::spawn(move || {
            for answer in answers {
                let mut buffer = [0; 512];
                let (bytes, client) = socket.recv_from(&mut buffer).unwrap();
                let message = Message::from_octets(&buffer[..bytes]).unwrap();
                let question = message.sole_question().unwrap();
                let Some(rcode) = answer(question.qtype()) else { continue };
                let builder = MessageBuilder::new_vec();
                let mut builder = builder.start_answer(&message, rcode).unwrap();
                let ttl = Ttl::from_secs(300);
                let owner: Name<Vec<u8>> = Name::from_str("a.test").unwrap();
                if rcode == Rcode::NOERROR && question.qtype() == Rtype::A {
                    let data = A::new([192, 0, 2, 1].into());
                    builder.push(Record::new(owner, Class::IN, ttl, data)).unwrap();
                } else if rcode == Rcode::NOERROR && question.qtype() == Rtype::AAAA {
                    let data = Aaaa::new("2001:db8::1".parse().unwrap());
                    builder.push(Record::new(owner, Class::IN, ttl, data)).unwrap();
                }
                socket.send_to(&builder.finish(), client).unwrap();
            }
        });
        address
    }

    #[test]
    fn both_families_are_asked_for_and_ipv6_comes_first() {
        let address = resolver(vec![|_| Some(Rcode::NOERROR); 3]);
        let found = look_up(address, Over::Udp, "a.test").unwrap();
        let expected: [IpAddr; 2] = ["2001:db8::1".parse().unwrap(), "192.0.2.1".parse().unwrap()];
        assert_eq!(found.addresses, expected);
        assert_eq!(found.service, None);
    }

    #[test]
    fn what_is_not_answered_is_not_waited_for_once_there_is_an_address() {
        let only_a = |rtype| (rtype == Rtype::A).then_some(Rcode::NOERROR);
        let address = resolver(vec![only_a; 3]);
        let found = look_up(address, Over::Udp, "a.test").unwrap();
        assert_eq!(found.addresses, ["192.0.2.1".parse::<IpAddr>().unwrap()]);
    }

    #[test]
    fn a_name_that_does_not_exist_is_told() {
        let address = resolver(vec![|_| Some(Rcode::NXDOMAIN); 3]);
        let told = look_up(address, Over::Udp, "a.test").unwrap_err().to_string();
        assert_eq!(told, "could not resolve a.test: the name does not exist (NXDOMAIN)");
    }

    #[test]
    fn aliases_without_end_are_told() {
        let address = resolver(vec![|_| Some(Rcode::SERVFAIL); 3]);
        let told = look_up(address, Over::Udp, "a.test").unwrap_err().to_string();
        assert_eq!(told, "could not resolve a.test: the resolver says SERVFAIL");
    }

    #[test]
    fn names_are_checked() {
        let nowhere = "127.0.0.1:1".parse().unwrap();
        let told = look_up(nowhere, Over::Udp, "a..test").unwrap_err().to_string();
        assert_eq!(told, "a..test is not a name of DNS");
    }
}
