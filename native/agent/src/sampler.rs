//! Samples of queues and TCP sockets while the workload runs. Sampling costs no virtual time.
//!
//! The first line of the file is a header. Every other line is a sample, a JSON array: microseconds
//! since the workload's start, for each device its queue's fields or null if it has none, and for
//! each namespace the fields of every connection. After those of one with BBR come its gains, of
//! pacing and of the window. Last comes what each processor did, if hosts have any.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::{BufWriter, Write};

use serde::Serialize;

use crate::clock;
use crate::failure::{Doing, Failure};
use crate::netlink::{Connection, QUEUE_FIELDS, QueueReader, TcpReader, tcp_fields};
use crate::network::{Network, index_of};
use crate::orders::Sampling;
use crate::processor::{ProcessorReader, ProcessorsHeader};

const SAMPLES_FILE: &str = "samples.jsonl";
const CONTROLS_FILE: &str = "tcp.json";
const FIRST_INTERVAL_NS: u64 = 10_000_000;
/// In a long run, an interval is this part of the time since its start.
const SHARE_OF_TIME: u64 = 200;

/// Writes a line per sample.
#[derive(Debug)]
pub(crate) struct Sampler {
    sampling: Sampling,
    directory: String,
    file: BufWriter<File>,
    queues: Vec<QueueReader>,
    tcp: Vec<TcpReader>,
    processors: Vec<ProcessorReader>,
    begun: bool,
}

/// The first line of the file; Python's `headway.contract.samples.SamplesHeader`.
#[derive(Serialize)]
struct Header<'a> {
    epoch_ns: u64,
    devices: &'a [(String, String)],
    namespaces: &'a [String],
    queue_fields: [&'static str; QUEUE_FIELDS.len()],
    tcp_fields: Vec<&'static str>,
    version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    processors: Option<ProcessorsHeader<'a>>,
}

impl Sampler {
    /// For a round whose files are in a directory.
    pub(crate) fn new(
        sampling: &Sampling,
        network: &Network,
        directory: &str,
    ) -> Result<Self, Failure> {
        let file = format!("{directory}/{SAMPLES_FILE}");
        let file = BufWriter::new(File::create(&file).doing(&file)?);
        let queues = sampling.devices.iter().map(|(namespace, device)| {
            network.inside(namespace, || QueueReader::new(index_of(device)?).doing(device))?
        });
        let tcp = sampling.tcp_namespaces.iter().map(|namespace| {
            network.inside(namespace, || TcpReader::new(sampling.families()))?.doing(namespace)
        });
        let processors = sampling
            .processors
            .iter()
            .map(|namespace| network.inside(namespace, ProcessorReader::new)?);
        Ok(Self {
            processors: processors.collect::<Result<_, _>>()?,
            queues: queues.collect::<Result<_, _>>()?,
            tcp: tcp.collect::<Result<_, _>>()?,
            sampling: sampling.clone(),
            directory: directory.to_owned(),
            file,
            begun: false,
        })
    }

    /// Take a sample.
    pub(crate) fn sample(&mut self, at_ns: u64) -> Result<(), Failure> {
        if !self.begun {
            self.begun = true;
            let header = self.header(clock::wall_ns() - at_ns);
            writeln!(self.file, "{header}").doing(SAMPLES_FILE)?;
        }
        let mut line = format!("[{},", at_ns / 1000);
        let queues = self.queues.iter_mut();
        let queues =
            queues.map(QueueReader::read).collect::<Result<Vec<_>, _>>().doing("queues")?;
        list(&mut line, &queues, |line, queue| match queue {
            Some(fields) => list(line, fields, |line, field| push(line, *field)),
            None => line.push_str("null"),
        });
        line.push(',');
        let tcp = self.tcp.iter_mut();
        let tcp = tcp.map(TcpReader::read).collect::<Result<Vec<_>, _>>().doing("sockets")?;
        list(&mut line, &tcp, |line, connections| list(line, connections, write_connection));
        if !self.processors.is_empty() {
            let work = self.processors.iter_mut().map(ProcessorReader::read);
            line.push(',');
            list(&mut line, &work.collect::<Result<Vec<_>, _>>()?, |line, fields| {
                list(line, fields, |line, field| push(line, *field));
            });
        }
        line.push_str("]\n");
        self.file.write_all(line.as_bytes()).doing(SAMPLES_FILE)
    }

    /// Time of the next sample.
    pub(crate) fn next_after(&self, at_ns: u64) -> u64 {
        next_sample_ns(at_ns, self.sampling.interval_ns)
    }

    /// Write what is buffered, and which congestion controls there were.
    pub(crate) fn close(mut self) -> Result<(), Failure> {
        self.file.flush().doing(SAMPLES_FILE)?;
        let names = self.sampling.tcp_namespaces.iter();
        let controls: BTreeMap<_, _> =
            names.zip(self.tcp.iter().map(TcpReader::controls)).collect();
        let file = format!("{}/{CONTROLS_FILE}", self.directory);
        fs::write(&file, serde_json::to_vec(&controls).doing(&file)?).doing(&file)
    }

    fn header(&self, epoch_ns: u64) -> String {
        let header = Header {
            epoch_ns,
            devices: &self.sampling.devices,
            namespaces: &self.sampling.tcp_namespaces,
            queue_fields: QUEUE_FIELDS,
            tcp_fields: tcp_fields().collect(),
            version: 1,
            processors: ProcessorsHeader::of(&self.sampling.processors),
        };
        serde_json::to_string(&header).expect("a header is JSON")
    }
}

fn write_connection(line: &mut String, connection: &Connection) {
    let ((local, local_port), (peer, peer_port)) = (connection.local, connection.peer);
    let _ = write!(line, "[\"{local}\",{local_port},\"{peer}\",{peer_port}");
    for field in connection.info.into_iter().chain(connection.gains.into_iter().flatten()) {
        line.push(',');
        push(line, field);
    }
    line.push(']');
}

fn list<T>(line: &mut String, items: &[T], write: impl Fn(&mut String, &T)) {
    line.push('[');
    for (number, item) in items.iter().enumerate() {
        if number > 0 {
            line.push(',');
        }
        write(line, item);
    }
    line.push(']');
}

fn push(line: &mut String, number: u64) {
    let _ = write!(line, "{number}");
}

/// Time of the next sample: dense at the start, where transfers change most.
///
/// In a run of minutes intervals grow on, or reading samples would be half of its cost. Python's
/// `headway.contract.samples` has the same rule.
fn next_sample_ns(at_ns: u64, interval_ns: u64) -> u64 {
    let longest_ns = interval_ns.max(at_ns / SHARE_OF_TIME);
    at_ns + (at_ns / 50).max(FIRST_INTERVAL_NS).min(longest_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_dense_at_the_start_and_sparse_in_long_runs() {
        let mut times = vec![0];
        while *times.last().expect("the first") < 100_000_000_000 {
            times.push(next_sample_ns(*times.last().expect("the first"), 100_000_000));
        }
        let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.is_sorted());
        assert_eq!(gaps[0], 10_000_000);
        let gap_at = |at_ns| gaps[times.partition_point(|time| *time < at_ns)];
        assert_eq!((gap_at(6_000_000_000), gap_at(19_000_000_000)), (100_000_000, 100_000_000));
        assert!(gap_at(90_000_000_000) > 400_000_000);
        assert!(times.len() < 1200);
    }

    #[test]
    fn lists_are_json() {
        let mut line = String::new();
        list(&mut line, &[vec![1, 2], vec![]], |line, inner| list(line, inner, |l, n| push(l, *n)));
        assert_eq!(line, "[[1,2],[]]");
    }
}
