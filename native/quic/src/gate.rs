//! quinn-proto's congestion control, reduced to a gate that the sender opens and closes.
//!
//! Headway's sender decides for every packet whether window and pacing allow it. quinn-proto asks
//! its controller for a window before each packet that elicits an acknowledgment: it is told
//! "unlimited", which also ends its own pacing, or "none", which still lets acknowledgments and
//! probes pass.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

use quinn_proto::congestion::{Controller, ControllerFactory};

const OPEN_WINDOW: u64 = u64::MAX;
const CLOSED_WINDOW: u64 = 1;
/// No bytes in flight were told.
const UNTOLD: u64 = u64::MAX;

/// One connection's gate, shared with quinn-proto, and what quinn-proto tells in return.
#[derive(Debug)]
pub(crate) struct Gate {
    open: AtomicBool,
    persistent: AtomicBool,
    ecn: AtomicBool,
    paths: AtomicU32,
    in_flight: AtomicU64,
}

impl Default for Gate {
    fn default() -> Self {
        Self {
            open: AtomicBool::new(false),
            persistent: AtomicBool::new(false),
            ecn: AtomicBool::new(false),
            paths: AtomicU32::new(0),
            in_flight: AtomicU64::new(UNTOLD),
        }
    }
}

impl Gate {
    /// Lets packets pass that elicit acknowledgments, or not.
    pub(crate) fn set_open(&self, open: bool) {
        self.open.store(open, Ordering::Relaxed);
    }

    /// Whether quinn-proto saw persistent congestion (RFC 9002 section 7.6) since last asked.
    pub(crate) fn take_persistent(&self) -> bool {
        self.persistent.swap(false, Ordering::Relaxed)
    }

    /// Whether the peer reported more CE marks (RFC 9002 section 7.1) since last asked.
    pub(crate) fn take_ecn(&self) -> bool {
        self.ecn.swap(false, Ordering::Relaxed)
    }

    /// How many paths the connection has begun to use so far.
    pub(crate) fn paths(&self) -> u32 {
        self.paths.load(Ordering::Relaxed)
    }

    /// Bytes that quinn-proto has in flight after the acknowledgment handled since last asked, if
    /// there was one.
    pub(crate) fn take_in_flight(&self) -> Option<u64> {
        Some(self.in_flight.swap(UNTOLD, Ordering::Relaxed)).filter(|told| *told != UNTOLD)
    }
}

/// Makes quinn-proto's controllers, all of which are the connection's one gate.
#[derive(Debug)]
pub(crate) struct GateFactory(pub(crate) Arc<Gate>);

impl ControllerFactory for GateFactory {
    fn build(self: Arc<Self>, _now: Instant, _current_mtu: u16) -> Box<dyn Controller> {
        self.0.paths.fetch_add(1, Ordering::Relaxed);
        Box::new(GateController(Arc::clone(&self.0)))
    }
}

#[derive(Debug)]
struct GateController(Arc<Gate>);

impl Controller for GateController {
    fn on_congestion_event(
        &mut self,
        _now: Instant,
        _sent: Instant,
        is_persistent_congestion: bool,
        lost_bytes: u64,
    ) {
        if is_persistent_congestion {
            self.0.persistent.store(true, Ordering::Relaxed);
        }
        // quinn-proto reports no lost bytes if and only if ECN is the reason.
        if lost_bytes == 0 {
            self.0.ecn.store(true, Ordering::Relaxed);
        }
        // It detects losses after it has told of the acknowledgment.
        if let Some(before) = self.0.take_in_flight() {
            self.0.in_flight.store(before.saturating_sub(lost_bytes), Ordering::Relaxed);
        }
    }

    fn on_end_acks(
        &mut self,
        _now: Instant,
        in_flight: u64,
        _app_limited: bool,
        _largest_packet_num_acked: Option<u64>,
    ) {
        self.0.in_flight.store(in_flight, Ordering::Relaxed);
    }

    fn on_mtu_update(&mut self, _new_mtu: u16) {}

    fn window(&self) -> u64 {
        if self.0.open.load(Ordering::Relaxed) { OPEN_WINDOW } else { CLOSED_WINDOW }
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(Self(Arc::clone(&self.0)))
    }

    fn initial_window(&self) -> u64 {
        OPEN_WINDOW
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}
