//! BBR version 3 by numbers worked out by hand.

use super::*;
use crate::bbr::control::MIN_PIPE;
use crate::bbr::sender::{RTT, Sender};

fn sender() -> Sender<Bbr3> {
    Sender::new(Bbr3::new)
}

impl Sender<Bbr3> {
    /// Sends a flight, of which the first packets are lost.
    fn lossy_round(&mut self, packets: u64, lost: usize) {
        let sent = self.send(packets);
        self.now += RTT;
        self.lose(&sent[..lost], (packets - lost as u64) * 1000, false);
        self.ack(&sent[lost..], 0);
    }

    /// Fills the pipe with 100 datagrams a round trip, 1 MB/s, until it cruises.
    fn reach_cruise(&mut self) {
        (0..6).for_each(|_| self.round(100));
        assert_eq!(self.bbr.phase, Phase::Cruise);
    }

    fn reach(&mut self, phase: Phase) {
        let reached = (0..80).any(|_| {
            self.round(100);
            self.bbr.phase == phase
        });
        assert!(reached, "{:?}", self.bbr.phase);
    }
}

#[test]
fn startup_paces_at_four_ln_two_of_the_rate_less_a_percent() {
    let mut sender = sender();
    // 10 kB in the assumed millisecond, before there is a round-trip time.
    assert_eq!(sender.rate(), 27_725_887);
    // 10 kB in the round trip, and then 20 and 40 kB with the margin.
    for (packets, rate) in [(10, 277_258), (20, 548_972), (40, 1_097_945)] {
        sender.round(packets);
        assert_eq!(sender.rate(), rate);
    }
}

#[test]
fn a_full_pipe_is_cruised_at_its_rate() {
    let mut sender = sender();
    sender.reach_cruise();
    assert_eq!(sender.rate(), 990_000);
    assert_eq!(sender.bbr.bdp(sender.bbr.rate(), 1.0), 100_000);
}

#[test]
fn a_round_of_losses_while_cruising_bounds_the_rate_until_the_next_probe() {
    let mut sender = sender();
    sender.reach_cruise();
    (0..3).for_each(|_| sender.lossy_round(100, 20));
    // 80 of 100 packets were delivered, which is more than seven tenths.
    assert_eq!(sender.bbr.rate().bytes_per_second(), 800_000);
    assert_eq!(sender.rate(), 792_000);
    sender.reach(Phase::Refill);
    assert_eq!(sender.bbr.rate().bytes_per_second(), 1_000_000);
}

#[test]
fn a_probe_follows_within_three_seconds_and_paces_a_quarter_faster() {
    let mut sender = sender();
    sender.reach_cruise();
    let start = sender.now;
    sender.reach(Phase::Refill);
    let waited = sender.now - start;
    assert!(waited > Duration::from_secs(1) && waited < Duration::from_millis(3200), "{waited:?}");
    sender.round(100);
    assert_eq!(sender.bbr.phase, Phase::Up);
    assert_eq!(sender.rate(), 1_237_500);
}

/// A Reno flow has at least the packets that are in flight at least, however small the path is.
#[test]
fn a_path_of_less_than_a_packet_is_not_probed_every_round() {
    let mut sender = sender();
    // A third of one each round trip.
    sender.bbr.control.settings.datagram = 3000;
    (0..12).for_each(|_| sender.round(1));
    let mut waited = Vec::new();
    let mut rounds = 0;
    for _ in 0..40 {
        sender.round(1);
        match sender.bbr.phase {
            Phase::Down | Phase::Cruise => rounds += 1,
            _ => waited.push(std::mem::take(&mut rounds)),
        }
    }
    waited.retain(|rounds| *rounds > 0);
    // The round in which a probe ends is the first.
    assert!(waited.len() > 3, "{waited:?}");
    assert!(waited[1..].iter().all(|rounds| rounds + 1 >= MIN_PIPE), "{waited:?}");
}

#[test]
fn a_probe_that_loses_too_much_sets_the_bound_and_goes_down() {
    let mut sender = sender();
    sender.reach_cruise();
    sender.reach(Phase::Up);
    let sent = sender.send(125);
    sender.now += RTT;
    // Two of 101 packets are within 2 %, three of 102 are not.
    sender.lose(&sent[99..101], 123_000, false);
    assert_eq!(sender.bbr.phase, Phase::Up);
    sender.lose(&sent[101..102], 122_000, false);
    assert_eq!(sender.bbr.phase, Phase::Down);
    // 101 kB before it, of which 2 kB were lost: (2.02 - 2) / 0.98 kB more.
    assert_eq!(sender.bbr.long.bound, Some(101_020));
    assert!(sender.bbr.long.too_high);
}

#[test]
fn the_losses_of_a_probe_are_undone_when_they_were_none() {
    let mut sender = sender();
    sender.reach_cruise();
    sender.reach(Phase::Up);
    let sent = sender.send(125);
    sender.now += RTT;
    sender.lose(&sent[90..100], 115_000, false);
    assert_eq!(sender.bbr.phase, Phase::Down);
    sender.bbr.on_spurious_loss(&SpuriousLoss { now: sender.now, packets: &sent[90..100] });
    assert_eq!(sender.bbr.phase, Phase::Refill);
    assert_eq!(sender.bbr.long.bound, None);
}

#[test]
fn startup_ends_with_six_gaps_and_more_than_two_percent_lost() {
    for (gaps, state) in [(5, State::Startup), (6, State::ProbeBw)] {
        let mut sender = sender();
        sender.round(10);
        // Recovery begins in the first of these rounds, and has lasted for one in the second.
        for packets in [20, 40, 80] {
            let sent = sender.send(packets);
            sender.now += RTT;
            let (mut lost, mut kept) = (Vec::new(), Vec::new());
            for (index, packet) in sent.into_iter().enumerate() {
                if index % 2 == 0 && index < 2 * gaps {
                    lost.push(packet);
                } else {
                    kept.push(packet);
                }
            }
            sender.lose(&lost, kept.len() as u64 * 1000, false);
            sender.ack(&kept, 0);
        }
        assert_eq!(sender.bbr.state(), state, "{gaps} gaps");
    }
}

#[test]
fn persistent_congestion_leaves_room_for_a_datagram() {
    let mut sender = sender();
    sender.reach_cruise();
    let sent = sender.send(10);
    sender.lose(&sent[..7], 3000, true);
    assert_eq!(sender.bbr.window(), 4000);
}

#[test]
fn the_propagation_delay_is_probed_with_half_a_bdp() {
    let mut sender = sender();
    sender.reach_cruise();
    sender.now = Duration::from_millis(5200);
    sender.round(100);
    assert_eq!(sender.bbr.state(), State::ProbeRtt);
    assert_eq!(sender.bbr.window(), 50_000);
    let rounds = (0..10).take_while(|_| {
        sender.round(50);
        sender.bbr.state() == State::ProbeRtt
    });
    assert_eq!(rounds.count(), 2, "more than 200 ms, that is three rounds");
    assert_eq!(sender.bbr.phase, Phase::Cruise);
}
