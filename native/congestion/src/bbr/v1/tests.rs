//! BBR version 1 by numbers worked out by hand.

use std::time::Duration;

use super::*;
use crate::bbr::sender::{RTT, Sender};

fn sender() -> Sender<Bbr> {
    Sender::new(Bbr::new)
}

impl Sender<Bbr> {
    /// Fills the pipe with 100 datagrams a round trip: 1 MB/s.
    fn reach_probe_bw(&mut self) {
        (0..5).for_each(|_| self.round(100));
        assert!(matches!(self.bbr.phase, Phase::ProbeBw { .. }), "{:?}", self.bbr.phase);
    }
}

#[test]
fn startup_paces_at_twice_over_ln_two_of_the_rate() {
    let mut sender = sender();
    // 10 kB in the assumed millisecond, before there is a round-trip time.
    assert_eq!(sender.rate(), 28_853_900);
    // 10, 20 and 40 kB in 100 ms.
    for (packets, rate) in [(10, 288_539), (20, 577_078), (40, 1_154_156)] {
        sender.round(packets);
        assert_eq!(sender.rate(), rate);
        assert_eq!(sender.bbr.state(), State::Startup);
    }
}

#[test]
fn a_full_pipe_is_cruised_at_its_rate_with_two_bdp() {
    let mut sender = sender();
    sender.reach_probe_bw();
    // 1 MB/s in 100 ms are 100 kB; three bursts of two datagrams more.
    assert_eq!(sender.bbr.in_flight_at(1.0), 106_000);
    (0..10).for_each(|_| sender.round(100));
    assert_eq!(sender.bbr.window(), 206_000);
}

#[test]
fn startup_is_drained_to_one_bdp() {
    let mut sender = sender();
    (0..3).for_each(|_| sender.round(100));
    let sent = sender.send(200);
    sender.now += RTT;
    sender.ack(&sent[..1], 199_000);
    assert_eq!(sender.bbr.state(), State::Drain);
    assert_eq!(sender.rate(), 346_573, "1 MB/s times ln 2 / 2");
    sender.ack(&sent[1..93], 107_000);
    assert_eq!(sender.bbr.state(), State::Drain);
}

#[test]
fn the_cycle_has_eight_steps_a_round_trip_each() {
    let mut sender = sender();
    sender.reach_probe_bw();
    let mut gains = Vec::new();
    for _ in 0..16 {
        sender.now += RTT + Duration::from_millis(1);
        // As much as 1.25 BDP asks for.
        sender.bbr.advance_cycle(sender.now, 131_000);
        gains.push(sender.bbr.phase.pacing_gain());
    }
    let up = gains.iter().position(|&gain| gain > 1.0).expect("an upward step");
    assert_eq!(gains[up..up + 8], CYCLE);
}

#[test]
fn probing_up_lasts_until_it_fills_or_loses() {
    let mut sender = sender();
    sender.reach_probe_bw();
    let up = Phase::ProbeBw { step: 0, since: sender.now };
    let late = sender.now + RTT * 3;
    sender.bbr.phase = up;
    sender.bbr.advance_cycle(late, 130_000);
    assert_eq!(sender.bbr.phase, up, "1.25 BDP and the bursts are 131 kB");
    sender.bbr.lost = 1000;
    sender.bbr.advance_cycle(late, 130_000);
    assert_eq!(sender.bbr.phase, Phase::ProbeBw { step: 1, since: late });
    sender.bbr.advance_cycle(late, 106_000);
    assert_eq!(sender.bbr.phase, Phase::ProbeBw { step: 2, since: late }, "drained");
}

#[test]
fn the_seed_chooses_any_first_step_but_the_draining_one() {
    let mut seen = [0; 8];
    for seed in 0..1000 {
        let mut sender = sender();
        sender.bbr.random = Random::new(seed);
        sender.bbr.enter_probe_bw(Time::ZERO);
        if let Phase::ProbeBw { step, .. } = sender.bbr.phase {
            seen[step] += 1;
        }
    }
    assert_eq!(seen[1], 0);
    assert_eq!(seen.iter().filter(|&&count| count > 100).count(), 7, "{seen:?}");
}

#[test]
fn recovery_conserves_packets_for_a_round_and_restores_the_window() {
    let mut sender = sender();
    sender.reach_probe_bw();
    (0..10).for_each(|_| sender.round(100));
    let before = sender.bbr.window();
    let sent = sender.send(100);
    sender.now += RTT;
    sender.lose(&sent[..10], 90_000, false);
    sender.ack(&sent[10..11], 89_000);
    assert_eq!(sender.bbr.window(), 91_000, "90 kB and a datagram at the loss");
    sender.ack(&sent[11..14], 86_000);
    assert_eq!(sender.bbr.window(), 91_000);
    sender.ack(&sent[14..], 0);
    sender.round(1);
    assert_eq!(sender.bbr.window(), before);
}

#[test]
fn persistent_congestion_leaves_two_datagrams() {
    let mut sender = sender();
    sender.round(10);
    let packets = sender.send(10);
    sender.lose(&packets, 0, true);
    assert_eq!(sender.bbr.window(), 2000);
}

#[test]
fn the_propagation_delay_is_probed_after_ten_seconds_with_four_datagrams() {
    let mut sender = sender();
    sender.reach_probe_bw();
    let window = {
        (0..10).for_each(|_| sender.round(100));
        sender.bbr.window()
    };
    // The sender pauses until the delay is too old.
    sender.bbr.model.renew_propagation(sender.now);
    sender.now += Duration::from_secs(10);
    sender.round(100);
    assert_eq!(sender.bbr.state(), State::ProbeRtt);
    assert_eq!(sender.bbr.window(), 4000);
    let rounds = (0..10).take_while(|_| {
        sender.round(4);
        sender.bbr.state() == State::ProbeRtt
    });
    assert_eq!(rounds.count(), 2, "more than 200 ms, that is three rounds");
    assert_eq!(sender.bbr.window(), window);
}
