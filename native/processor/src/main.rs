//! `headway-processor`: what system calls, packets and bytes cost this machine, printed as JSON.
//!
//! Everything runs on one core and over the loopback interface, so nothing waits for a wire. There the
//! sender's call does the receiver's protocol work, too: costs of packets are halves of what both took.

mod calls;
mod packets;
mod timing;

use std::io;

use serde::Serialize;

use crate::calls::CallCosts;
use crate::packets::PacketCosts;

/// Nanoseconds, each of the fastest of several rounds.
#[derive(Debug, Serialize)]
struct Costs {
    #[serde(flatten)]
    calls: CallCosts,
    #[serde(flatten)]
    packets: PacketCosts,
}

fn main() -> io::Result<()> {
    timing::stay_on_one_core()?;
    let costs = Costs { calls: CallCosts::measured()?, packets: PacketCosts::measured()? };
    println!("{}", serde_json::to_string(&costs).expect("costs are JSON"));
    Ok(())
}
