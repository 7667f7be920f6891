//! How fast the path delivers (draft-cheng-iccrg-delivery-rate-estimation-00), and what it loses
//! (draft-ietf-ccwg-bbr-06, section 4.1).

use std::collections::BTreeMap;

use crate::controller::{Ack, Acked, Sent, Time};
use crate::rate::Rate;

/// What was known when a packet was sent (section 3.1.2 of the draft).
#[derive(Clone, Copy, Debug)]
struct AtSending {
    sent_at: Time,
    first_sent_at: Time,
    delivered: u64,
    delivered_at: Time,
    lost: u64,
    in_flight: u64,
    application_limited: bool,
}

/// What an acknowledgement says about the path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sample {
    /// The delivery rate over the flight of the newest packet; none if the interval is shorter than
    /// the least round-trip time, and therefore unreliable.
    pub(super) rate: Option<Rate>,
    /// Whether the application, rather than the path, may have made the rate.
    pub(super) application_limited: bool,
    /// Bytes delivered when the newest packet was sent.
    pub(super) prior_delivered: u64,
    /// Bytes newly delivered.
    pub(super) newly_delivered: u64,
    /// Bytes delivered since the newest packet was sent.
    pub(super) delivered: u64,
    /// Bytes lost since the newest packet was sent.
    pub(super) lost: u64,
    /// Bytes in flight when the newest packet was sent, that packet included.
    pub(super) in_flight: u64,
}

/// What a lost packet says about the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LostPacket {
    /// Its size.
    pub(super) bytes: u64,
    /// Bytes lost since it was sent, the packet included.
    pub(super) lost: u64,
    /// Bytes in flight when it was sent, the packet included.
    pub(super) in_flight: u64,
    /// Whether it was sent after a pause of the application.
    pub(super) application_limited: bool,
}

/// Estimates the delivery rate by packet.
#[derive(Debug, Default)]
pub(super) struct DeliveryRate {
    delivered: u64,
    delivered_at: Time,
    lost: u64,
    /// When the packet was sent whose acknowledgement ended the previous sampling interval.
    first_sent_at: Time,
    /// The bytes delivered at which the application's pause will have passed.
    limited_until: Option<u64>,
    in_flight: BTreeMap<u64, AtSending>,
}

impl DeliveryRate {
    /// Bytes delivered since the connection began.
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether the application's pause is still in flight.
    pub(super) fn is_application_limited(&self) -> bool {
        self.limited_until.is_some()
    }

    /// Section 3.2 of the draft.
    pub(super) fn on_sent(&mut self, sent: &Sent) {
        if sent.in_flight == 0 {
            self.first_sent_at = sent.at;
            self.delivered_at = sent.at;
        }
        let at_sending = AtSending {
            sent_at: sent.at,
            first_sent_at: self.first_sent_at,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            lost: self.lost,
            in_flight: sent.in_flight.saturating_add(sent.bytes),
            application_limited: self.limited_until.is_some(),
        };
        self.in_flight.insert(sent.number, at_sending);
    }

    /// Section 3.3 of the draft. None if no packet was in flight.
    pub(super) fn on_ack(&mut self, ack: &Ack<'_>) -> Option<Sample> {
        let mut newest: Option<(u64, AtSending)> = None;
        let mut newly_delivered = 0_u64;
        for packet in ack.packets {
            let Some(at_sending) = self.in_flight.remove(&packet.number) else {
                continue;
            };
            newly_delivered = newly_delivered.saturating_add(packet.bytes);
            if newest.is_none_or(|(number, _)| number < packet.number) {
                newest = Some((packet.number, at_sending));
            }
        }
        let (_, newest) = newest?;
        self.first_sent_at = newest.sent_at;
        self.deliver(newly_delivered);
        self.delivered_at = ack.now;
        let send_elapsed = newest.sent_at.saturating_sub(newest.first_sent_at);
        let ack_elapsed = ack.now.saturating_sub(newest.delivered_at);
        let interval = send_elapsed.max(ack_elapsed);
        let delivered = self.delivered.saturating_sub(newest.delivered);
        Some(Sample {
            rate: Rate::over(delivered, interval).filter(|_| interval >= ack.rtt.min),
            application_limited: newest.application_limited,
            prior_delivered: newest.delivered,
            newly_delivered,
            delivered,
            lost: self.lost.saturating_sub(newest.lost),
            in_flight: newest.in_flight,
        })
    }

    /// A packet is in flight no more, and was not delivered. None if it was not in flight.
    pub(super) fn on_lost(&mut self, packet: &Acked) -> Option<LostPacket> {
        let at_sending = self.in_flight.remove(&packet.number)?;
        self.lost = self.lost.saturating_add(packet.bytes);
        Some(LostPacket {
            bytes: packet.bytes,
            lost: self.lost.saturating_sub(at_sending.lost),
            in_flight: at_sending.in_flight,
            application_limited: at_sending.application_limited,
        })
    }

    /// Bytes were delivered.
    pub(super) fn deliver(&mut self, bytes: u64) {
        self.delivered = self.delivered.saturating_add(bytes);
        if self.limited_until.is_some_and(|until| self.delivered > until) {
            self.limited_until = None;
        }
    }

    /// The sender has nothing to send (section 3.4 of the draft).
    pub(super) fn on_application_limited(&mut self, in_flight: u64) {
        self.limited_until = Some(self.delivered.saturating_add(in_flight).max(1));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::controller::Rtt;

    const fn ms(millis: u64) -> Duration {
        Duration::from_millis(millis)
    }

    fn sent(number: u64, at: Time, in_flight: u64) -> Sent {
        Sent { number, bytes: 1000, at, in_flight }
    }

    fn ack(packets: &[Acked], now: Time) -> Ack<'_> {
        let rtt = Rtt { min: ms(100), ..Rtt::default() };
        Ack { now, packets, rtt, in_flight: 0, cwnd_limited: true }
    }

    const fn acked(number: u64, sent_at: Time) -> Acked {
        Acked { number, bytes: 1000, sent_at }
    }

    #[test]
    fn the_rate_is_what_was_delivered_during_a_packets_flight() {
        let mut delivery = DeliveryRate::default();
        // Ten packets, one per 10 ms, each acknowledged after 100 ms: 100 kB/s.
        for number in 0..10 {
            delivery.on_sent(&sent(number, ms(10 * number), 1000 * number));
        }
        for number in 0..10 {
            let at = ms(10 * number);
            delivery.on_sent(&sent(10 + number, ms(100) + at, 9000));
            delivery.on_ack(&ack(&[acked(number, at)], ms(100) + at));
        }
        let packets = [acked(10, ms(100))];
        let sample = delivery.on_ack(&ack(&packets, ms(200))).expect("a sample");
        // Packet 10 left before the acknowledgement of packet 0: eleven packets in 200 ms.
        assert_eq!(sample.rate, Rate::over(11_000, ms(200)));
        let packets = [acked(11, ms(110))];
        let sample = delivery.on_ack(&ack(&packets, ms(210))).expect("a sample");
        assert_eq!(sample.rate.map(Rate::bytes_per_second), Some(100_000));
        assert_eq!(sample.prior_delivered, 1000);
    }

    #[test]
    fn losses_are_counted_during_a_packets_flight() {
        let mut delivery = DeliveryRate::default();
        (0..5).for_each(|number| delivery.on_sent(&sent(number, ms(number), 1000 * number)));
        let lost = delivery.on_lost(&acked(1, ms(1))).expect("in flight");
        assert_eq!((lost.lost, lost.in_flight), (1000, 2000));
        assert_eq!(delivery.on_lost(&acked(1, ms(1))), None);
        delivery.on_sent(&sent(5, ms(50), 4000));
        delivery.on_lost(&acked(2, ms(2)));
        let sample = delivery.on_ack(&ack(&[acked(4, ms(4))], ms(104))).expect("a sample");
        assert_eq!((sample.lost, sample.in_flight), (2000, 5000));
        let sample = delivery.on_ack(&ack(&[acked(5, ms(50))], ms(150))).expect("a sample");
        assert_eq!((sample.lost, sample.in_flight), (1000, 5000));
    }

    #[test]
    fn an_interval_shorter_than_the_path_is_no_sample() {
        let mut delivery = DeliveryRate::default();
        delivery.on_sent(&sent(0, ms(0), 0));
        let packets = [acked(0, ms(0))];
        let sample = delivery.on_ack(&ack(&packets, ms(99))).expect("delivered");
        assert_eq!(sample.rate, None);
    }

    #[test]
    fn a_pause_of_the_application_marks_what_is_sent_until_it_was_delivered() {
        let mut delivery = DeliveryRate::default();
        delivery.on_sent(&sent(0, ms(0), 0));
        delivery.on_application_limited(1000);
        delivery.on_sent(&sent(1, ms(10), 1000));
        let first = delivery.on_ack(&ack(&[acked(0, ms(0))], ms(100))).expect("a sample");
        assert!(!first.application_limited);
        assert!(delivery.is_application_limited());
        let second = delivery.on_ack(&ack(&[acked(1, ms(10))], ms(110))).expect("a sample");
        assert!(second.application_limited);
        assert!(!delivery.is_application_limited());
    }
}
