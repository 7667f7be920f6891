//! Processors of hosts: which programs they charge, and what they have done
//! (`arch/um/kernel/processor.c` of the lab kernel).

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

use serde::Serialize;

use crate::failure::{Doing, Failure};

const CHARGES_FILE: &str = "/proc/sys/kernel/processor-charges";
const WORK_FILE: &str = "/proc/thread-self/net/processor";
const SETTINGS: &str = "net.processor.";
/// Of a line: six fields, and one for each of 64 cores at most.
const MOST_BYTES: usize = 70 * 21;

/// What a line of `WORK_FILE` has, before the time for which each core was busy; Python's
/// `headway.contract.samples.ProcessorWork`.
const WORK_FIELDS: [&str; 6] =
    ["calls_ns", "sent_ns", "received_ns", "computing_ns", "dropped_packets", "waiting_packets"];

/// Whose processors are sampled, and what a line says of each before its cores.
#[derive(Serialize)]
pub(crate) struct ProcessorsHeader<'a> {
    namespaces: &'a [String],
    fields: [&'static str; WORK_FIELDS.len()],
}

impl<'a> ProcessorsHeader<'a> {
    /// None if there are none.
    pub(crate) fn of(namespaces: &'a [String]) -> Option<Self> {
        (!namespaces.is_empty()).then_some(Self { namespaces, fields: WORK_FIELDS })
    }
}

/// Whether sysctls of a namespace give it a processor.
pub(crate) fn is_set(sysctls: &[(String, String)]) -> bool {
    sysctls.iter().any(|(name, _)| name.starts_with(SETTINGS))
}

/// Have what is started meanwhile be charged; what measures is not.
pub(crate) fn charged<T>(start: impl FnOnce() -> T) -> Result<T, Failure> {
    fs::write(CHARGES_FILE, "1").doing(CHARGES_FILE)?;
    let started = start();
    fs::write(CHARGES_FILE, "0").doing(CHARGES_FILE)?;
    Ok(started)
}

/// Reads what the processor of a namespace has done.
#[derive(Debug)]
pub(crate) struct ProcessorReader(File);

impl ProcessorReader {
    /// For the namespace that the caller is inside of.
    pub(crate) fn new() -> Result<Self, Failure> {
        File::open(WORK_FILE).doing(WORK_FILE).map(Self)
    }

    /// Since the lab's boot.
    pub(crate) fn read(&mut self) -> Result<Vec<u64>, Failure> {
        let mut bytes = [0; MOST_BYTES];
        let length = self.0.read_at(&mut bytes, 0).doing(WORK_FILE)?;
        let line = String::from_utf8_lossy(&bytes[..length]);
        let numbers: Option<Vec<u64>> =
            line.split_ascii_whitespace().map(|number| number.parse().ok()).collect();
        let whole = |numbers: &Vec<u64>| numbers.len() > WORK_FIELDS.len();
        numbers
            .filter(whole)
            .ok_or_else(|| Failure(format!("{WORK_FILE} is not understood: {line}")))
    }
}
