//! The client: starts flows, each on a connection of its own, and reports.

mod connector;
mod flows;
mod link;
mod quic;
mod tcp;

use std::time::Duration;

use headway_reactor::{Reactor, Signals, run, say};

use crate::client::connector::Connector;
use crate::client::flows::Flows;
use crate::failure::StartError;
use crate::flow::{Amount, Job, Planned};
use crate::options::ClientOptions;
use crate::report::{ClientReport, Direction, FlowReport, Output};
use headway_reactor::Clock;

/// Carries out the flows and writes the report.
///
/// # Returns
/// Whether all flows succeeded.
pub(crate) fn measure(options: &ClientOptions) -> Result<bool, StartError> {
    let clock = Clock::start();
    let planned = options.flows()?;
    let connector = Connector::new(options)?;
    let mut output = Output::open(&options.report)?;
    let mut reactor = Reactor::new()?;
    let mut signals = Signals::register(&reactor, flows::END, flows::ACT)?;
    let mut flows = |planned: &[Planned]| -> Result<Vec<FlowReport>, StartError> {
        let mut flows = Flows::new(&connector, &mut signals, clock, planned);
        run(&mut reactor, &mut flows)?;
        Ok(flows.reports())
    };
    if options.early_data {
        // What becomes of these connections shows in the flows: with tickets or without.
        let empty = |one: &Planned| Planned {
            start: Duration::ZERO,
            job: Job { direction: Direction::Download, amount: Amount::Bytes(0), ..one.job },
        };
        flows(&planned.iter().map(empty).collect::<Vec<_>>())?;
    }
    let flows = flows(&planned)?;
    let succeeded = flows.iter().all(|flow| flow.error.is_none());
    for (number, flow) in (1..).zip(&flows) {
        if let Some(error) = &flow.error {
            say!("headway-perf: flow {number}: {error}");
        }
    }
    output.write(&ClientReport {
        started_unix_s: clock.started_unix_s(),
        interval_s: options.transports.interval.as_secs_f64(),
        flows,
    })?;
    Ok(succeeded)
}
