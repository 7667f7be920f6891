//! What there is of a round: what runs, what is read, and what is yet to be done.

use std::collections::BTreeMap;
use std::fs;

use rustix::process::Pid;

use crate::bodies::Bodies;
use crate::carrierlink::CarrierProcess;
use crate::clock;
use crate::counters::Counter;
use crate::events::Events;
use crate::failure::{Doing, Failure};
use crate::faultlink::FaultProcess;
use crate::migration::Migrator;
use crate::orders::{Program, Round};
use crate::outcome::Ended;
use crate::process::RUN_DIRECTORY;
use crate::sampler::Sampler;
use crate::tracelink::TraceProcess;

/// What is done at a point in time of the workload.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    /// The change of a number, of the round's.
    Change(usize),
    Sample,
    MigrateWhenDue,
    /// The program of a number.
    Start(usize),
    /// The same, if it has not ended.
    End(usize),
}

impl Action {
    /// Whether it must not be late at all, as the kernel lets those who wait be by default.
    ///
    /// Samples tell their own time. What is done at the very start is late by as much in every lab, which
    /// keeps a workload off the moments at which the kernel's clock ticks.
    pub(crate) fn is_exact(self) -> bool {
        matches!(self, Self::Change(_) | Self::Start(_) | Self::End(_))
    }
}

/// What there is of a round.
#[derive(Debug)]
pub(crate) struct Course<'a> {
    pub(crate) round: &'a Round,
    pub(crate) directory: String,
    pub(crate) workload: Vec<(Pid, &'a Program)>,
    pub(crate) traces: BTreeMap<&'a str, TraceProcess>,
    pub(crate) carriers: BTreeMap<&'a str, CarrierProcess>,
    pub(crate) faults: BTreeMap<&'a str, FaultProcess>,
    pub(crate) counters: BTreeMap<&'a str, Counter>,
    pub(crate) events: Events<Action>,
    pub(crate) sampler: Option<Sampler>,
    pub(crate) migrator: Option<Migrator>,
    pub(crate) bodies: Option<Bodies<'a>>,
    pub(crate) ended: Vec<Ended>,
    pub(crate) began_ns: u64,
    pub(crate) migrated_ns: Option<u64>,
    /// How late the latest action was.
    pub(crate) late_ns: u64,
}

impl<'a> Course<'a> {
    /// Nothing yet, but a directory for what will come of a round.
    pub(crate) fn begin(round: &'a Round) -> Result<Self, Failure> {
        let directory = match round.directory.as_str() {
            "" => RUN_DIRECTORY.to_owned(),
            below => format!("{RUN_DIRECTORY}/{below}"),
        };
        fs::create_dir_all(&directory).doing(&directory)?;
        Ok(Self {
            round,
            directory,
            workload: Vec::new(),
            traces: BTreeMap::new(),
            carriers: BTreeMap::new(),
            faults: BTreeMap::new(),
            counters: BTreeMap::new(),
            events: Events::default(),
            sampler: None,
            migrator: None,
            bodies: None,
            ended: Vec::new(),
            began_ns: 0,
            migrated_ns: None,
            late_ns: 0,
        })
    }

    /// Processes that links have for their packets.
    pub(crate) fn helpers(&self) -> impl Iterator<Item = Pid> {
        let traces = self.traces.values().map(|trace| trace.pid);
        let carriers = self.carriers.values().map(|carrier| carrier.pid);
        traces.chain(carriers).chain(self.faults.values().map(|fault| fault.pid))
    }

    /// Nanoseconds since the workload's start.
    pub(crate) fn now(&self) -> u64 {
        clock::monotonic_ns().saturating_sub(self.began_ns)
    }

    /// Nanoseconds since the workload's start; negative before it.
    pub(crate) fn now_signed(&self) -> i128 {
        i128::from(clock::monotonic_ns()) - i128::from(self.began_ns)
    }
}
