//! The order of stream data on the wire is the scheduler's.

use std::time::Duration;

use headway_schedule::{Dependency, Priority, Scheduler, Strategy, StreamId};

use crate::apps::{Fetch, Serve};
use crate::link::{Setup, ms};
use crate::qlog::{Qlog, Scratch};

const STRATEGIES: [&str; 6] = [
    "sequential",
    "round-robin",
    "batched-round-robin:4",
    "weighted-round-robin",
    "dependency-tree",
    "rfc9218",
];

const STREAMS: u64 = 6;

/// Different sizes and priorities of all kinds.
fn answer(index: u64) -> (u64, Priority) {
    let sizes = [150_000, 70_001, 200_000, 30_000, 1, 120_345];
    let parents = [None, None, Some(0), Some(4), None, Some(4)];
    let dependency = Dependency {
        parent: parents[index as usize],
        weight: [16, 32, 16, 200, 1, 8][index as usize],
        exclusive: false,
    };
    let priority = Priority {
        urgency: [3, 3, 1, 3, 5, 1][index as usize],
        incremental: [true, false, true, true, false, true][index as usize],
        dependency: Some(dependency),
    };
    (sizes[index as usize], priority)
}

/// The frames that answers were sent in: stream and bytes, packet by packet.
fn frames(log: &Qlog) -> Vec<Vec<(StreamId, u64)>> {
    let packets = log.stream_frames().into_iter();
    let sizes = packets.map(|frames| frames.iter().map(|&(id, _, len)| (id, len)).collect());
    sizes.filter(|frames: &Vec<_>| !frames.is_empty()).collect()
}

/// A scheduler that is asked what the sender's is asked.
struct Model {
    scheduler: Box<dyn Scheduler>,
    left: Vec<(StreamId, u64)>,
}

impl Model {
    fn new(strategy: &str) -> Self {
        let mut scheduler = strategy.parse::<Strategy>().unwrap().scheduler();
        let mut left = Vec::new();
        for index in 0..STREAMS {
            let (bytes, priority) = answer(index);
            scheduler.open(4 * index, &priority);
            left.push((4 * index, bytes));
        }
        for index in 0..STREAMS {
            scheduler.ready(4 * index);
        }
        Self { scheduler, left }
    }

    fn left(&mut self, stream: StreamId) -> &mut u64 {
        &mut self.left.iter_mut().find(|(other, _)| *other == stream).unwrap().1
    }

    fn sent(&mut self, stream: StreamId, bytes: u64) {
        *self.left(stream) -= bytes;
        self.scheduler.sent(stream, bytes);
        if *self.left(stream) == 0 {
            self.scheduler.blocked(stream);
        }
    }
}

/// Runs a transfer and compares its packets with the model's.
fn assert_exact(strategy: &str, upload_bytes: usize) -> Qlog {
    let scratch = Scratch::new(&format!("schedule-{strategy}-{upload_bytes}"));
    let mut setup = Setup::symmetric(20.0, ms(20), 2_000_000).traces(&scratch.0);
    setup.strategy = strategy.parse().unwrap();
    let mut pair = setup.pair();
    let (mut fetch, mut serve) = (Fetch::of(STREAMS as usize), Serve::with(answer));
    fetch.upload_bytes = upload_bytes;
    serve.answers_together = STREAMS as usize;
    pair.run(&mut fetch, &mut serve, Duration::from_secs(60));
    assert_eq!((fetch.finished.len(), pair.down.dropped()), (6, 0), "{strategy}");

    let log = scratch.server();
    let mut model = Model::new(strategy);
    let mut sent = Vec::new();
    for (number, packet) in frames(&log).iter().enumerate() {
        for (place, &(stream, bytes)) in packet.iter().enumerate() {
            let next = model.scheduler.next();
            assert_eq!(next, Some(stream), "{strategy}, packet {number}: {packet:?}");
            model.sent(stream, bytes);
            let is_last = place + 1 == packet.len();
            assert!(is_last || *model.left(stream) == 0, "{strategy}: {packet:?}");
            sent.push((stream, bytes as usize));
        }
    }
    assert_eq!(model.scheduler.next(), None, "{strategy}");
    // It comes as it went.
    let came: Vec<(u64, usize)> = fetch.came.iter().map(|&(_, id, len)| (id, len)).collect();
    assert_eq!(came, sent, "{strategy}");
    log
}

#[test]
fn every_packet_is_for_the_stream_that_the_scheduler_names() {
    for strategy in STRATEGIES {
        assert_exact(strategy, 0);
    }
}

#[test]
fn acknowledgments_of_an_upload_change_no_order() {
    for strategy in STRATEGIES {
        let log = assert_exact(strategy, 400_000);
        let acks = log.of("transport:packet_sent").filter(|(_, packet)| {
            packet["frames"].as_array().unwrap().iter().any(|frame| frame["frame_type"] == "ack")
        });
        assert!(acks.count() > 100, "{strategy}");
    }
}
