//! HTTP/3 over an emulated path in virtual time: both sides of ours together, and each against a
//! peer that writes on its streams what it wants.

#![allow(clippy::unwrap_used)]

mod arbitrary;
mod by_hand;
mod compression;
mod early_data;
mod exchange;
mod fetch;
mod fuzz;
mod growing;
mod hostile_client;
mod hostile_server;
mod memory;
mod pair;
#[path = "../support/pattern.rs"]
mod pattern;
mod priorities;
mod raw;
mod replay;
mod rules_for_clients;
mod rules_for_servers;
mod serve;
mod talks;
mod uploads;
