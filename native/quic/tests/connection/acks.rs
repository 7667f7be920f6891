//! Fewer acknowledgments, asked for.

use std::time::Duration;

use proptest::prelude::*;

use crate::apps::{Fetch, Serve};
use crate::link::{Setup, ms};

const LIMIT: Duration = Duration::from_secs(300);
/// No policy may make a transfer longer by more than this share.
const MOST_LONGER: f64 = 0.05;

/// How long a client waits for so many bytes over a path that loses nothing.
fn seconds(knobs: &str, rate_mbit: f64, rtt_ms: u64, bytes: u64) -> f64 {
    let windows = "stream-window=200000000,connection-window=200000000";
    let setup = Setup::symmetric(rate_mbit, ms(rtt_ms) / 2, u64::MAX);
    let mut pair = setup.server(knobs).client(windows).pair();
    let began = pair.now();
    let mut fetch = Fetch::of(1);
    pair.run(&mut fetch, &mut Serve::of(bytes), LIMIT);
    assert_eq!(pair.down.dropped(), 0, "{knobs}");
    (fetch.finished[0].2 - began).as_secs_f64()
}

/// A controller and how it starts.
fn controller() -> impl Strategy<Value = String> {
    let loss_based = prop::sample::select(vec!["newreno", "cubic", "hybla"]);
    let starts = prop::sample::select(vec!["classic", "hystart", "hystart++"]);
    prop_oneof![
        3 => (loss_based, starts)
            .prop_map(|(law, start)| format!("congestion-control={law},slow-start={start}")),
        1 => prop::sample::select(vec!["linux-reno", "linux-cubic"])
            .prop_map(|law| format!("congestion-control={law}")),
        1 => Just("congestion-control=bbr".to_owned()),
        1 => Just("congestion-control=bbr3".to_owned()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: 16,
        ..ProptestConfig::default()
    })]

    /// A transfer of five seconds and twenty round trips: shorter ones are mostly first flights, which a
    /// receiver that waits for more packets than there are holds up by its largest delay.
    #[test]
    fn no_policy_makes_a_lossless_transfer_much_longer(
        controller in controller(),
        rtt_ms in 10_u64..600,
        threshold in 2_u32..40,
        delay in prop::option::of(2_u64..25),
    ) {
        let rate_mbit = 5.0;
        let seconds_full = 5.0 + 20.0 * rtt_ms as f64 * 1e-3;
        let bytes = (seconds_full * rate_mbit * 125_000.0) as u64;
        let asked = delay.map_or(String::new(), |delay| format!(",max-ack-delay={delay}ms"));
        let plain = seconds(&controller, rate_mbit, rtt_ms, bytes);
        let fewer = format!("{controller},ack-threshold={threshold}{asked}");
        let longer = seconds(&fewer, rate_mbit, rtt_ms, bytes) / plain - 1.0;
        prop_assert!(longer < MOST_LONGER, "{longer} with {fewer} at {rtt_ms} ms");
    }
}

/// What the delays of a receiver did to slow start: over 20 Mbit/s and 580 ms it ended at its second
/// round, and 25 MB took more than twice as long.
#[test]
fn a_delayed_acknowledgment_is_no_queue() {
    for start in ["hystart", "hystart++"] {
        let plain = seconds(&format!("slow-start={start}"), 20.0, 580, 25_000_000);
        let fewer = seconds(&format!("slow-start={start},ack-threshold=9"), 20.0, 580, 25_000_000);
        assert!(fewer < plain * 1.02, "{start}: {fewer} s, {plain} s");
    }
}

/// A receiver that is asked with the handshake acknowledges the first flight when its largest delay is
/// over, and not at the sender's probe timeout (three round trips later).
#[test]
fn the_first_flight_is_acknowledged_in_time() {
    let setup = Setup::symmetric(20.0, ms(100), u64::MAX).server("ack-threshold=20");
    let mut pair = setup.pair();
    pair.run(&mut Fetch::of(1), &mut Serve::of(30_000), LIMIT);
    let flight =
        pair.down.departures.iter().position(|packet| packet.bytes > 1000 && packet.at > ms(250));
    let begun = pair.down.departures[flight.expect("a first flight")].at;
    let arrived = begun + ms(100);
    let acknowledged = pair.up.departures.iter().find(|packet| packet.at > arrived + ms(1));
    let waited = acknowledged.expect("an acknowledgment").at - arrived;
    assert!(waited <= ms(25 + 3), "{waited:?}");
}
