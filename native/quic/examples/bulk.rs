//! 1 GB through the whole stack in one process: what it computes, and how fast.

use std::collections::VecDeque;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Instant;

use bytes::{Bytes, BytesMut};
use headway_quic::*;
use headway_schedule::{Priority, Strategy};

#[derive(Default)]
struct Pipe(VecDeque<BytesMut>);
impl Network for Pipe {
    fn send(&mut self, _: SocketAddr, _: Option<IpAddr>, _: Option<EcnCodepoint>, payload: &[u8]) -> io::Result<()> {
        self.0.push_back(BytesMut::from(payload));
        Ok(())
    }
}

fn main() {
    let streams: usize = std::env::args().nth(1).unwrap().parse().unwrap();
    let total: u64 = std::env::args().nth(2).unwrap().parse().unwrap();
    let knobs = std::env::args().nth(3).unwrap_or_default();
    let certified = rcgen::generate_simple_self_signed(["server.test".to_owned()]).unwrap();
    let key = rustls_pki_types::PrivateKeyDer::try_from(certified.key_pair.serialize_der()).unwrap();
    let chain = vec![certified.cert.der().clone()];
    let mut roots = rustls::RootCertStore::empty();
    roots.add(chain[0].clone()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut c = rustls::ClientConfig::builder_with_provider(provider.clone()).with_protocol_versions(&[&rustls::version::TLS13]).unwrap().with_root_certificates(roots).with_no_client_auth();
    c.alpn_protocols = vec![b"t".to_vec()];
    let mut s = rustls::ServerConfig::builder_with_provider(provider).with_protocol_versions(&[&rustls::version::TLS13]).unwrap().with_no_client_auth().with_single_cert(chain, key).unwrap();
    s.alpn_protocols = vec![b"t".to_vec()];
    let c = Arc::new(QuicClientConfig::try_from(Arc::new(c)).unwrap());
    let s = Arc::new(QuicServerConfig::try_from(Arc::new(s)).unwrap());
    let config: Arc<Config> = Arc::new(knobs.parse().unwrap());
    let (mut client, mut server) = (Endpoint::client(), Endpoint::server(s.clone()));
    let mut now = Instant::now();
    let addr: [SocketAddr; 2] = ["10.0.0.1:1".parse().unwrap(), "10.0.0.2:2".parse().unwrap()];
    let key = client.connect(now, addr[1], "server.test", c, &config, Strategy::Sequential.scheduler()).unwrap();
    let (mut up, mut down) = (Pipe::default(), Pipe::default());
    let body = Bytes::from(vec![7u8; 1 << 16]);
    let mut left: std::collections::BTreeMap<StreamId, u64> = Default::default();
    let (mut got, mut done) = (0u64, 0);
    let began = Instant::now();
    let cpu0 = cpu();
    while done < streams {
        client.transmit(now, &mut up).unwrap();
        for p in up.0.drain(..) {
            server.receive(now, &mut down, ReceivedDatagram { remote: addr[0], local_ip: None, ecn: None, payload: p }).unwrap();
        }
        while let Some(i) = server.next_incoming() {
            server.accept(now, &mut down, i, s.clone(), &config, Strategy::RoundRobin.scheduler()).unwrap();
        }
        while let Some((k, e)) = server.poll() {
            let Some(conn) = server.connection(k) else { continue };
            match e {
                Event::Opened(st) => conn.prioritise(st, &Priority::default()),
                Event::Readable(st) => loop { match conn.read(now, st) { Read::Data(_) => {}, Read::Finished => { conn.forget(st); left.insert(st, total / streams as u64); fill(&mut left, &body, conn, st); break }, _ => break } },
                Event::Writable(st) if left.contains_key(&st) => fill(&mut left, &body, conn, st),
                _ => {}
            }
        }
        server.transmit(now, &mut down).unwrap();
        now += std::time::Duration::from_micros(200);
        for p in down.0.drain(..) {
            client.receive(now, &mut up, ReceivedDatagram { remote: addr[1], local_ip: None, ecn: None, payload: p }).unwrap();
        }
        while let Some((k, e)) = client.poll() {
            let Some(conn) = client.connection(k) else { continue };
            match e {
                Event::Connected { .. } => for _ in 0..streams { let st = conn.open(Dir::Bi).unwrap(); conn.write(st, Bytes::from_static(b"x")); conn.finish(st); },
                Event::Readable(st) => loop { match conn.read(now, st) { Read::Data(d) => got += d.len() as u64, Read::Finished => { conn.forget(st); done += 1; break }, _ => break } },
                _ => {}
            }
        }
        let next = client.deadline().into_iter().chain(server.deadline()).min();
        if let Some(next) = next { if up.0.is_empty() && down.0.is_empty() { now = now.max(next); } }
        let _ = key;
    }
    let (wall, cpu) = (began.elapsed().as_secs_f64(), cpu() - cpu0);
    println!("{streams} streams, {got} bytes: {:.0} Mbit per wall second, {:.0} per CPU second", got as f64 * 8e-6 / wall, got as f64 * 8e-6 / cpu);
}

fn fill(left: &mut std::collections::BTreeMap<StreamId, u64>, body: &Bytes, conn: &mut Connection, st: StreamId) {
    let l = left.get_mut(&st).unwrap();
    while conn.queued(st) < 256 << 10 && *l > 0 {
        let n = (*l).min(1 << 16);
        conn.write(st, body.slice(..n as usize));
        *l -= n;
    }
    if *l == 0 { conn.finish(st); }
}

fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    (fields[11].parse::<f64>().unwrap() + fields[12].parse::<f64>().unwrap()) / 100.0
}
