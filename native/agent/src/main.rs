//! PID 1 of a lab: mounts what it needs, carries out its orders, and powers it off.
//!
//! Kernel command line words after `--` name the host's directories: `code=` (Python modules), `run=`
//! (the boot's directory, the only place the guest can write to), `www=` (bodies), `site=` (what is
//! replayed, if anything is) and, for each optional program that the host has, `extras/NAME=`.

mod arrivals;
mod bodies;
mod carrierlink;
mod clock;
mod commands;
mod counters;
mod course;
mod demand;
mod events;
mod failure;
mod faultlink;
mod files;
mod framing;
mod hostcounts;
mod ip;
mod ippacket;
mod lab;
mod migration;
mod mounts;
mod netlink;
mod network;
mod orders;
mod outcome;
mod pings;
mod process;
mod processor;
mod sampler;
mod spins;
mod sys;
mod tc;
mod timer;
mod tracelink;
mod tunprocess;
mod views;

use std::fs;

use crate::failure::{Doing, Failure};
use crate::lab::Lab;
use crate::orders::Orders;
use crate::process::RUN_DIRECTORY;

const ORDERS_FILE: &str = "orders.json";

/// Whatever happens, the lab is ended.
fn main() {
    let words: Vec<String> = std::env::args().collect();
    let result = match words.as_slice() {
        [word, place] if word == tracelink::TRACE_LINK => tracelink::forward(place),
        [word, place] if word == carrierlink::CARRIER_LINK => carrierlink::forward(place),
        [word, place] if word == faultlink::FAULT_LINK => faultlink::forward(place),
        _ => be_first(&words),
    };
    if let Err(failure) = result {
        println!("headway: {failure}");
    }
    if rustix::process::getpid().is_init() {
        mounts::power_off();
    }
}

fn be_first(words: &[String]) -> Result<(), Failure> {
    mounts::mount_all(words)?;
    let file = format!("{RUN_DIRECTORY}/{ORDERS_FILE}");
    let text = fs::read(&file).doing(&file)?;
    let orders: Orders = serde_json::from_slice(&text).doing(&file)?;
    Lab::new(&orders)?.run()
}
