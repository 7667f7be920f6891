//! Events of loss recovery and congestion control.

use std::io::Write;
use std::time::Duration;

use super::json::Members;
use super::{PacketType, Qlog};
use crate::{Metrics, State};

/// Why a packet counts as lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossTrigger {
    /// Enough later packets were acknowledged (RFC 9002 section 6.1.1).
    ReorderingThreshold,
    /// A later packet was acknowledged, long enough ago (RFC 9002 section 6.1.2).
    TimeThreshold,
    /// A probe time-out expired. RFC 9002 itself declares nothing lost then.
    PtoExpired,
}

/// What the loss detection timer waits for (RFC 9002 appendix A.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerType {
    /// The time threshold of a packet.
    Ack,
    /// A probe time-out.
    Pto,
}

/// What happened to the loss detection timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerEvent {
    /// It will expire this much later.
    Set(Duration),
    /// It is due.
    Expired,
    /// It is no longer needed.
    Cancelled,
}

/// A phase of Careful Resume (RFC 9959), with the event's words for it.
#[derive(Clone, Copy, Debug)]
pub struct CarefulResumePhase<'a> {
    /// The phase before; none at the beginning.
    pub old: Option<&'a str>,
    /// The phase now.
    pub new: &'a str,
    /// Why.
    pub trigger: Option<&'a str>,
    /// The validated capacity in bytes.
    pub pipe_size: u64,
    /// Number of the first packet beyond the controller's own window; 0 before there is one.
    pub first_unvalidated: u64,
    /// Number of the last one; 0 while it is unknown.
    pub last_unvalidated: u64,
    /// Congestion window in bytes.
    pub cwnd_bytes: u64,
    /// Slow start threshold in bytes; none while there is none.
    pub ssthresh_bytes: Option<u64>,
    /// The saved congestion window in bytes.
    pub saved_cwnd_bytes: u64,
    /// The saved round-trip time.
    pub saved_rtt: Duration,
}

impl<W: Write> Qlog<W> {
    /// The sender's metrics may have changed. Only those that have are written, if any.
    pub fn metrics_updated(&mut self, at: Duration, metrics: &Metrics) {
        let before = self.metrics.replace(*metrics);
        if before.as_ref() != Some(metrics) {
            self.event(at, "recovery:metrics_updated", |data| {
                write_changes(data, before.as_ref(), metrics);
            });
        }
    }

    /// The sender's state changed.
    pub fn congestion_state_updated(&mut self, at: Duration, old: State, new: State) {
        self.event(at, "recovery:congestion_state_updated", |data| {
            data.text("old", old.qlog_name()).text("new", new.qlog_name());
        });
    }

    /// The sender entered a phase of Careful Resume (draft-ietf-tsvwg-careful-resume-qlog-02).
    pub fn careful_resume_phase_updated(&mut self, at: Duration, phase: &CarefulResumePhase<'_>) {
        self.event(at, "recovery:careful_resume_phase_updated", |data| {
            if let Some(old) = phase.old {
                data.text("old", old);
            }
            data.text("new", phase.new);
            data.object("state_data", |state| {
                state.number("pipesize", phase.pipe_size);
                state.number("first_unvalidated_packet", phase.first_unvalidated);
                state.number("last_unvalidated_packet", phase.last_unvalidated);
                state.number("congestion_window", phase.cwnd_bytes);
                if let Some(ssthresh) = phase.ssthresh_bytes {
                    state.number("ssthresh", ssthresh);
                }
            });
            data.object("restored_data", |restored| {
                restored.number("saved_congestion_window", phase.saved_cwnd_bytes);
                restored.millis("saved_rtt", phase.saved_rtt);
            });
            if let Some(trigger) = phase.trigger {
                data.text("trigger", trigger);
            }
        });
    }

    /// A packet was declared lost.
    pub fn packet_lost(
        &mut self,
        at: Duration,
        packet_type: PacketType,
        number: u64,
        trigger: LossTrigger,
    ) {
        let trigger = match trigger {
            LossTrigger::ReorderingThreshold => "reordering_threshold",
            LossTrigger::TimeThreshold => "time_threshold",
            LossTrigger::PtoExpired => "pto_expired",
        };
        self.event(at, "recovery:packet_lost", |data| {
            data.object("header", |header| {
                header.text("packet_type", packet_type.name()).number("packet_number", number);
            });
            data.text("trigger", trigger);
        });
    }

    /// The loss detection timer was set, expired or was cancelled.
    pub fn loss_timer_updated(&mut self, at: Duration, timer: TimerType, event: TimerEvent) {
        let timer = match timer {
            TimerType::Ack => "ack",
            TimerType::Pto => "pto",
        };
        self.event(at, "recovery:loss_timer_updated", |data| {
            data.text("timer_type", timer);
            match event {
                TimerEvent::Set(delta) => data.text("event_type", "set").millis("delta", delta),
                TimerEvent::Expired => data.text("event_type", "expired"),
                TimerEvent::Cancelled => data.text("event_type", "cancelled"),
            };
        });
    }
}

/// Writes the metrics that are not what they were before.
fn write_changes(data: &mut Members<'_>, before: Option<&Metrics>, now: &Metrics) {
    type Time = fn(&Metrics) -> Option<Duration>;
    let times: [(&'static str, Time); 4] = [
        ("min_rtt", |metrics| metrics.min_rtt),
        ("smoothed_rtt", |metrics| metrics.smoothed_rtt),
        ("latest_rtt", |metrics| metrics.latest_rtt),
        ("rtt_variance", |metrics| metrics.rtt_variance),
    ];
    for (key, of) in times {
        if let Some(value) = changed(before.and_then(of), of(now)) {
            data.millis(key, value);
        }
    }
    type Number = fn(&Metrics) -> Option<u64>;
    let numbers: [(&'static str, Number); 5] = [
        ("pto_count", |metrics| Some(u64::from(metrics.pto_count))),
        ("congestion_window", |metrics| Some(metrics.cwnd_bytes)),
        ("bytes_in_flight", |metrics| Some(metrics.in_flight_bytes)),
        ("ssthresh", |metrics| metrics.ssthresh_bytes),
        ("pacing_rate", |metrics| metrics.pacing_rate_bytes_per_s.map(bits)),
    ];
    for (key, of) in numbers {
        if let Some(value) = changed(before.and_then(of), of(now)) {
            data.number(key, value);
        }
    }
}

/// qlog's rates are in bits per second.
fn bits(bytes: u64) -> u64 {
    bytes.saturating_mul(8)
}

fn changed<T: Copy + PartialEq>(before: Option<T>, now: Option<T>) -> Option<T> {
    now.filter(|_| now != before)
}
