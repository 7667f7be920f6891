//! Careful Resume over NewReno, by the examples of RFC 9959, appendix B: an initial window of 10
//! packets and a saved one of 300, packets of 1000 bytes.

use std::num::NonZeroU32;
use std::ops::RangeInclusive;

use super::*;
use crate::loss_based::LossBased;
use crate::new_reno::NewReno;
use crate::slow_start;

const PACKET: u64 = 1000;
const RTT: Duration = Duration::from_millis(600);
const LATER: Time = Duration::from_secs(1);

struct Sender {
    resume: CarefulResume<LossBased<NewReno>>,
    next: u64,
    in_flight: u64,
    rtt: Duration,
    phases: Vec<(Phase, Option<Trigger>)>,
}

fn sender() -> Sender {
    let settings = Settings {
        datagram: PACKET,
        initial_window: 10_000,
        max_window: None,
        initial_ssthresh: None,
        pacing: None,
    };
    let law = NewReno::new(PACKET, NonZeroU32::MIN);
    let reno = LossBased::new(law, Box::new(slow_start::Classic), settings);
    let saved = Saved { window: 300_000, rtt: RTT };
    let resume = CarefulResume::new(reno, saved, settings);
    Sender { resume, next: 0, in_flight: 0, rtt: RTT, phases: Vec::new() }
}

fn packet(number: u64) -> Acked {
    Acked { number, bytes: PACKET, sent_at: Time::ZERO }
}

impl Sender {
    fn send_at(&mut self, at: Time, packets: u64) {
        for _ in 0..packets {
            let (number, in_flight) = (self.next, self.in_flight);
            self.resume.on_sent(&Sent { number, bytes: PACKET, at, in_flight });
            self.next += 1;
            self.in_flight += PACKET;
        }
        self.note();
    }

    fn send(&mut self, packets: u64) {
        self.send_at(Time::ZERO, packets);
    }

    /// Sends what the window allows.
    fn fill(&mut self) {
        while self.in_flight + PACKET <= self.resume.window() {
            self.send(1);
        }
    }

    fn rtt(&self) -> Rtt {
        let rtt = self.rtt;
        Rtt { latest: rtt, smoothed: rtt, min: rtt, undelayed: rtt, ..Rtt::default() }
    }

    fn ack(&mut self, numbers: RangeInclusive<u64>) {
        for number in numbers {
            self.in_flight -= PACKET;
            self.resume.on_ack(&Ack {
                now: Time::ZERO,
                packets: &[packet(number)],
                rtt: self.rtt(),
                in_flight: self.in_flight,
                cwnd_limited: false,
            });
        }
        self.note();
    }

    fn lose(&mut self, number: u64, persistent: bool) {
        self.in_flight -= PACKET;
        self.resume.on_loss(&Loss {
            now: Time::ZERO,
            packets: &[packet(number)],
            in_flight: self.in_flight,
            persistent,
            largest_sent: self.next - 1,
        });
        self.note();
    }

    fn note(&mut self) {
        while let Some(update) = self.resume.next_phase_update() {
            self.phases.push((update.new, update.trigger));
        }
    }

    fn window(&self) -> u64 {
        self.resume.window()
    }

    fn phase(&self) -> (Phase, Option<Trigger>) {
        *self.phases.last().expect("the first one is told")
    }

    /// The initial window was acknowledged, and 20 packets are out, after which the jump may be
    /// made; 0 to 9 are acknowledged.
    fn confirm_path(&mut self) {
        self.send(10);
        for number in 0..10 {
            self.ack(number..=number);
            if self.phase().0 == Phase::Reconnaissance {
                self.fill();
            }
        }
    }
}

#[test]
fn the_jump_is_half_the_saved_window_once_the_initial_window_is_acknowledged() {
    let mut sender = sender();
    sender.send(10);
    sender.ack(0..=8);
    sender.fill();
    assert_eq!((sender.window(), sender.phases.len()), (19_000, 1), "nine of ten");
    sender.ack(9..=9);
    assert_eq!(sender.window(), 150_000);
    assert_eq!(sender.phase(), (Phase::Unvalidated, Some(Trigger::CongestionWindowLimited)));
}

#[test]
fn the_jump_is_spread_over_a_round_trip_even_if_nothing_else_is() {
    let mut sender = sender();
    assert_eq!(sender.resume.pacing_rate(&sender.rtt()), None);
    sender.confirm_path();
    // 150 kB in 0.6 s.
    let rate = Some(Rate::from_bytes_per_second(250_000));
    assert_eq!(sender.resume.pacing_rate(&sender.rtt()), rate);
    sender.fill();
    assert_eq!(sender.phase().0, Phase::Validating);
    assert_eq!(sender.resume.pacing_rate(&sender.rtt()), None);
}

#[test]
fn without_congestion_the_window_grows_from_the_jump() {
    let mut sender = sender();
    sender.confirm_path();
    sender.fill();
    assert_eq!(sender.phase(), (Phase::Validating, Some(Trigger::LastUnvalidatedPacketSent)));
    assert_eq!((sender.window(), sender.in_flight), (150_000, 150_000));
    let last = sender.next - 1;
    sender.ack(10..=last - 1);
    assert_eq!(sender.phase().0, Phase::Validating);
    sender.ack(last..=last);
    let over = Some(Trigger::LastUnvalidatedPacketAcknowledged);
    assert_eq!(sender.phase(), (Phase::Normal, over));
    assert_eq!(sender.window(), 300_000, "slow start doubled it");
}

#[test]
fn an_early_acknowledgement_ends_the_jump_at_what_is_in_flight() {
    let mut sender = sender();
    sender.confirm_path();
    let first = sender.next;
    sender.send(60);
    sender.ack(first..=first);
    let early = Some(Trigger::FirstUnvalidatedPacketAcknowledged);
    assert_eq!(sender.phase(), (Phase::Validating, early));
    assert_eq!(sender.window(), sender.in_flight);
}

#[test]
fn the_jump_lasts_a_round_trip_at_most() {
    let mut sender = sender();
    sender.confirm_path();
    sender.send_at(RTT, 50);
    assert_eq!(sender.phase().0, Phase::Unvalidated);
    sender.send_at(LATER, 1);
    assert_eq!(sender.phase(), (Phase::Validating, Some(Trigger::RttExceeded)));
    assert_eq!(sender.window(), sender.in_flight);
}

#[test]
fn a_jump_that_is_not_made_use_of_is_taken_back() {
    let mut sender = sender();
    sender.confirm_path();
    let (first, in_flight) = (sender.next, sender.in_flight);
    assert_eq!(in_flight, 18_000, "the tenth acknowledgement allowed two more");
    sender.send(1);
    sender.ack(10..=first);
    assert_eq!(sender.phase(), (Phase::Normal, Some(Trigger::RateLimited)));
    // What was in flight before the jump, and the packet sent since.
    assert_eq!(sender.window(), in_flight + PACKET);
}

#[test]
fn a_sender_without_data_does_not_jump_until_it_has() {
    let mut sender = sender();
    sender.send(10);
    sender.resume.on_application_limited(Time::ZERO, sender.in_flight);
    sender.ack(0..=9);
    assert_eq!(sender.phase().0, Phase::Reconnaissance);
    sender.send(2);
    sender.ack(10..=10);
    assert_eq!(sender.phase().0, Phase::Unvalidated);
}

#[test]
fn loss_of_the_initial_data_forbids_the_jump() {
    let mut sender = sender();
    sender.send(10);
    sender.ack(1..=3);
    sender.lose(0, false);
    assert_eq!(sender.phase(), (Phase::Normal, Some(Trigger::PacketLoss)));
    // Half of 13, as without Careful Resume.
    assert_eq!(sender.window(), 6500);
    sender.fill();
    sender.ack(4..=sender.next - 1);
    assert!(sender.window() < 10_000, "{}", sender.window());
}

#[test]
fn a_mark_forbids_the_jump() {
    let mut sender = sender();
    sender.send(10);
    let ecn = Ecn { now: Time::ZERO, number: 0, in_flight: 10_000, largest_sent: 9, marked: 1 };
    sender.resume.on_ecn(&ecn);
    sender.note();
    assert_eq!(sender.phase(), (Phase::Normal, Some(Trigger::EcnCe)));
}

#[test]
fn another_round_trip_time_forbids_the_jump() {
    for (rtt_ms, jumps) in [(300, false), (301, true), (6000, true), (6001, false)] {
        let mut sender = sender();
        sender.rtt = Duration::from_millis(rtt_ms);
        sender.confirm_path();
        let jumped = sender.phase().0 == Phase::Unvalidated;
        assert_eq!(jumped, jumps, "{rtt_ms} ms");
        if !jumps {
            assert_eq!(sender.phase(), (Phase::Normal, Some(Trigger::RttNotValidated)));
        }
    }
}

#[test]
fn a_shorter_round_trip_during_the_jump_is_another_path() {
    let mut sender = sender();
    sender.confirm_path();
    let (validated, window) = (sender.in_flight, sender.window());
    sender.send(50);
    sender.rtt = RTT / 2;
    sender.ack(10..=10);
    assert_eq!(sender.phase(), (Phase::SafeRetreat, Some(Trigger::PathChanged)));
    assert_eq!((window, sender.window()), (150_000, validated / 2));
}

#[test]
fn a_saved_window_of_no_use_is_left_alone() {
    let mut sender = sender();
    sender.resume.saved.window = 40_000;
    sender.confirm_path();
    // Half of it is what slow start reached.
    assert_eq!((sender.phase(), sender.window()), ((Phase::Normal, None), 20_000));
}

#[test]
fn loss_of_an_unvalidated_packet_halves_what_is_validated() {
    let mut sender = sender();
    sender.confirm_path();
    let (first, before) = (sender.next, sender.in_flight / PACKET);
    sender.fill();
    let last = sender.next - 1;
    // As in appendix B.4, where 29 are in flight before, and the 35th unvalidated packet is lost.
    let lost = first + 34;
    sender.ack(10..=lost - 1);
    sender.lose(lost, false);
    assert_eq!(sender.phase(), (Phase::SafeRetreat, Some(Trigger::PacketLoss)));
    let half = (before + 34) * PACKET / 2;
    assert_eq!(sender.window(), half);
    sender.ack(lost + 1..=last - 1);
    assert_eq!((sender.phase().0, sender.window()), (Phase::SafeRetreat, half));
    sender.ack(last..=last);
    assert_eq!(sender.phase(), (Phase::Normal, Some(Trigger::ExitRecovery)));
    // All but one of the unvalidated packets arrived.
    let validated = (before + last - first) * PACKET;
    assert_eq!((sender.window(), sender.resume.ssthresh()), (half, Some(validated / 2)));
}

#[test]
fn a_loss_that_was_none_gives_back_no_more_than_what_is_validated() {
    let mut sender = sender();
    sender.confirm_path();
    let (first, before) = (sender.next, sender.in_flight);
    sender.fill();
    sender.ack(10..=first + 4);
    sender.lose(first + 5, false);
    let half = sender.window();
    let packets = [packet(first + 5)];
    sender.resume.on_spurious_loss(&SpuriousLoss { now: Time::ZERO, packets: &packets });
    assert_eq!(sender.window(), half, "it does not grow in Safe Retreat");
    sender.ack(first + 6..=sender.next - 1);
    assert_eq!((sender.phase().0, sender.window()), (Phase::Normal, half));
    assert_eq!(half, (before + 5 * PACKET) / 2);
}

#[test]
fn persistent_congestion_ends_it() {
    let mut sender = sender();
    sender.confirm_path();
    sender.fill();
    sender.lose(sender.next - 1, true);
    assert_eq!(sender.phase(), (Phase::Normal, Some(Trigger::PacketLoss)));
    assert_eq!(sender.window(), 2 * PACKET);
}

#[test]
fn names_are_those_of_qlog() {
    let mut sender = sender();
    let first = sender.resume.next_phase_update().expect("the beginning is told");
    assert_eq!((first.old, first.new, first.trigger), (None, Phase::Reconnaissance, None));
    let saved = Saved { window: 300_000, rtt: RTT };
    assert_eq!((first.window, first.saved), (10_000, saved));
    assert_eq!(Phase::SafeRetreat.name(), "safe_retreat");
    assert_eq!(Trigger::EcnCe.name(), "ECN_CE");
}
