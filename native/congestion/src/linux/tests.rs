use std::time::Duration;

use super::*;
use crate::controller::Acked;
use crate::slow_start::Classic;

const PACKET: u64 = 1000;
const RTT: Duration = Duration::from_millis(100);

/// A Reno of Linux that sends full packets as its window allows.
struct Sender {
    controller: Linux<Reno>,
    next: u64,
    in_flight: u64,
    now: Time,
}

fn sender(initial_window: u64) -> Sender {
    sender_without(initial_window, None)
}

fn sender_without(initial_window: u64, without: Option<LinuxPart>) -> Sender {
    let initial_window = initial_window * PACKET;
    let settings = Settings {
        datagram: PACKET,
        initial_window,
        max_window: None,
        initial_ssthresh: None,
        pacing: None,
    };
    let reno = Reno::without(without);
    let controller = Linux::new(reno, Box::new(Classic), settings, without);
    Sender { controller, next: 0, in_flight: 0, now: Time::ZERO }
}

fn packets(numbers: &[u64]) -> Vec<Acked> {
    let packet = |&number| Acked { number, bytes: PACKET, sent_at: Time::ZERO };
    numbers.iter().map(packet).collect()
}

impl Sender {
    /// Sends what may leave, and tells how many packets that were.
    fn fill(&mut self) -> u64 {
        let before = self.next;
        while self.controller.room(self.in_flight) > 0 {
            let (number, at, in_flight) = (self.next, self.now, self.in_flight);
            self.controller.on_sent(&Sent { number, bytes: PACKET, at, in_flight });
            self.next += 1;
            self.in_flight += PACKET;
        }
        self.next - before
    }

    fn ack(&mut self, numbers: &[u64]) {
        self.in_flight -= PACKET * numbers.len() as u64;
        self.controller.on_ack(&Ack {
            now: self.now,
            packets: &packets(numbers),
            rtt: Rtt { latest: RTT, smoothed: RTT, min: RTT, undelayed: RTT, ..Rtt::default() },
            in_flight: self.in_flight,
            cwnd_limited: false,
        });
    }

    fn lose(&mut self, numbers: &[u64], persistent: bool) {
        self.in_flight -= PACKET * numbers.len() as u64;
        self.controller.on_loss(&Loss {
            now: self.now,
            packets: &packets(numbers),
            in_flight: self.in_flight,
            persistent,
            largest_sent: self.next - 1,
        });
    }

    fn window(&self) -> u64 {
        self.controller.window() / PACKET
    }
}

#[test]
fn slow_start_grows_by_what_is_acknowledged() {
    let mut sender = sender(10);
    assert_eq!(sender.fill(), 10);
    (0..10).for_each(|number| sender.ack(&[number]));
    assert_eq!(sender.window(), 20);
}

#[test]
fn what_comes_beyond_a_gap_makes_nothing_grow() {
    let mut sender = sender(10);
    sender.fill();
    sender.ack(&[1]);
    sender.ack(&[2]);
    assert_eq!(sender.window(), 10);
    sender.ack(&[0]);
    assert_eq!(sender.window(), 11, "and counts for nothing later");
}

#[test]
fn a_recovery_ends_when_what_was_sent_before_it_is_delivered() {
    let mut sender = sender(10);
    sender.fill();
    sender.lose(&[0], false);
    sender.ack(&[1, 2, 3]);
    assert_eq!(sender.controller.ssthresh(), Some(5 * PACKET));
    assert_eq!(sender.fill(), 2, "half of the four that are gone");
    (4..10).for_each(|number| {
        sender.ack(&[number]);
        sender.fill();
    });
    assert_eq!(sender.controller.state(), State::Recovery);
    // Packet 10 has the place of the lost one.
    sender.ack(&[10]);
    assert_eq!(sender.controller.state(), State::CongestionAvoidance);
    assert_eq!(sender.window(), 5);
}

#[test]
fn what_is_lost_during_a_recovery_reduces_the_window_when_it_is_over() {
    let mut sender = sender(20);
    sender.fill();
    sender.lose(&[0], false);
    sender.ack(&[1, 2, 3]);
    // 20 has the place of 0, 21 is new.
    assert_eq!(sender.fill(), 2);
    sender.ack(&(4..20).collect::<Vec<_>>());
    sender.fill();
    sender.lose(&[21], false);
    assert_eq!(sender.controller.ssthresh(), Some(10 * PACKET), "not yet");
    sender.ack(&[20, 22, 23, 24]);
    assert_eq!(sender.controller.ssthresh(), Some(5 * PACKET));
    assert_eq!(sender.controller.state(), State::Recovery);
}

#[test]
fn a_loss_that_was_none_is_undone() {
    let mut sender = sender(10);
    sender.fill();
    sender.lose(&[0], false);
    sender.ack(&[1, 2, 3]);
    let spurious = SpuriousLoss { now: Time::ZERO, packets: &packets(&[0]) };
    sender.controller.on_spurious_loss(&spurious);
    assert_eq!((sender.window(), sender.controller.ssthresh()), (10, None));
}

#[test]
fn a_time_out_leaves_one_packet_and_slow_start() {
    let mut sender = sender(10);
    sender.fill();
    sender.lose(&(0..10).collect::<Vec<_>>(), true);
    assert_eq!((sender.window(), sender.controller.ssthresh()), (1, Some(5 * PACKET)));
    assert_eq!(sender.fill(), 1);
    sender.ack(&[10]);
    assert_eq!(sender.window(), 2);
    assert_eq!(sender.controller.state(), State::SlowStart);
}

#[test]
fn marks_reduce_once_a_round() {
    let mut sender = sender(10);
    sender.fill();
    let ecn =
        Ecn { now: Time::ZERO, number: 0, in_flight: sender.in_flight, largest_sent: 9, marked: 1 };
    sender.controller.on_ecn(&ecn);
    sender.controller.on_ecn(&ecn);
    assert_eq!(sender.controller.ssthresh(), Some(5 * PACKET));
    assert_eq!(sender.controller.state(), State::Recovery);
}

#[test]
fn small_packets_take_the_place_of_whole_ones() {
    let mut sender = sender(10);
    for number in 0..10 {
        let in_flight = 100 * number;
        sender.controller.on_sent(&Sent { number, bytes: 100, at: Time::ZERO, in_flight });
    }
    assert_eq!(sender.controller.room(1000), 0);
}

#[test]
fn what_was_sent_again_in_vain_does_not_close_the_window() {
    let mut sender = sender(2);
    sender.fill();
    sender.lose(&[0], false);
    sender.ack(&[1]);
    sender.fill();
    // The place of 0 is delivered, so that 2, which has it, brings nothing new.
    let spurious = SpuriousLoss { now: Time::ZERO, packets: &packets(&[0]) };
    sender.controller.on_spurious_loss(&spurious);
    let out: Vec<u64> = (2..sender.next).collect();
    out.iter().for_each(|&number| sender.ack(&[number]));
    assert_eq!(sender.in_flight, 0);
    assert!(sender.fill() > 0);
}

#[test]
fn what_comes_beyond_a_gap_can_make_the_window_grow() {
    let mut sender = sender_without(10, Some(LinuxPart::Gaps));
    sender.fill();
    sender.ack(&[1]);
    assert_eq!(sender.window(), 11);
}

#[test]
fn the_window_can_be_reduced_at_once() {
    let mut sender = sender_without(10, Some(LinuxPart::Reduction));
    sender.fill();
    sender.lose(&[0], false);
    sender.ack(&[1]);
    assert_eq!(sender.window(), 5);
}

#[test]
fn a_recovery_can_be_as_short_as_quics() {
    let mut sender = sender_without(10, Some(LinuxPart::Recovery));
    sender.fill();
    sender.lose(&[0], false);
    sender.ack(&[1, 2, 3]);
    sender.fill();
    sender.ack(&[11]);
    assert_eq!(sender.controller.state(), State::CongestionAvoidance, "10 is still out");
}
