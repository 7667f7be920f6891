use std::time::Duration;

use headway_trace::qlog::Parameters;
use quinn_proto::VarInt;
use quinn_proto::coding::Codec;

const DEFAULT_ACK_DELAY_EXPONENT: u8 = 3;
const DEFAULT_MAX_ACK_DELAY: Duration = Duration::from_millis(25);

/// Reads encoded transport parameters (RFC 9000 section 18, and the one of
/// draft-ietf-quic-ack-frequency-12 section 3), of which those that are not there but
/// matter to a sender have their defaults.
pub(crate) fn decode(bytes: &[u8]) -> Parameters {
    let mut parameters = Parameters {
        ack_delay_exponent: Some(DEFAULT_ACK_DELAY_EXPONENT),
        max_ack_delay: Some(DEFAULT_MAX_ACK_DELAY),
        ..Parameters::default()
    };
    let mut rest = bytes;
    while let Some((id, value)) = take(&mut rest) {
        set(&mut parameters, id, value);
    }
    parameters
}

fn take<'a>(rest: &mut &'a [u8]) -> Option<(u64, &'a [u8])> {
    let id = integer(rest)?;
    let length = usize::try_from(integer(rest)?).ok()?;
    let (value, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some((id, value))
}

fn integer(bytes: &mut &[u8]) -> Option<u64> {
    VarInt::decode(bytes).ok().map(VarInt::into_inner)
}

fn set(parameters: &mut Parameters, id: u64, mut value: &[u8]) {
    if id == 0x0c {
        parameters.disable_active_migration = true;
        return;
    }
    let Some(number) = integer(&mut value) else { return };
    let place = match id {
        0x01 => return parameters.max_idle_timeout = Some(Duration::from_millis(number)),
        0x0a => return parameters.ack_delay_exponent = u8::try_from(number).ok(),
        0x0b => return parameters.max_ack_delay = Some(Duration::from_millis(number)),
        0xff04_de1b => return parameters.min_ack_delay = Some(Duration::from_micros(number)),
        0x03 => &mut parameters.max_udp_payload_size,
        0x04 => &mut parameters.initial_max_data,
        0x05 => &mut parameters.initial_max_stream_data_bidi_local,
        0x06 => &mut parameters.initial_max_stream_data_bidi_remote,
        0x07 => &mut parameters.initial_max_stream_data_uni,
        0x08 => &mut parameters.initial_max_streams_bidi,
        0x09 => &mut parameters.initial_max_streams_uni,
        0x0e => &mut parameters.active_connection_id_limit,
        _ => return,
    };
    *place = Some(number);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_read_and_the_rest_passed_over() {
        let bytes = [
            0x01, 2, 0x67, 0x10, // max_idle_timeout 10,000 ms
            0x0f, 3, 1, 2, 3, // initial_source_connection_id
            0x0a, 1, 10, // ack_delay_exponent
            0x0c, 0, // disable_active_migration
            0x04, 4, 0x80, 0x01, 0x00, 0x00, // initial_max_data 65,536
            0xc0, 0, 0, 0, 0xff, 0x04, 0xde, 0x1b, 2, 0x43, 0xe8, // min_ack_delay 1,000 us
        ];
        let parameters = decode(&bytes);
        assert_eq!(parameters.max_idle_timeout, Some(Duration::from_secs(10)));
        assert_eq!(parameters.ack_delay_exponent, Some(10));
        assert_eq!(parameters.max_ack_delay, Some(DEFAULT_MAX_ACK_DELAY));
        assert_eq!(parameters.initial_max_data, Some(65_536));
        assert_eq!(parameters.min_ack_delay, Some(Duration::from_millis(1)));
        assert!(parameters.disable_active_migration);
    }

    #[test]
    fn what_is_cut_short_ends_it() {
        assert_eq!(decode(&[0x04, 4, 0x80]).initial_max_data, None);
    }
}
