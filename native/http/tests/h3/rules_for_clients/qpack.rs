//! Field sections and the streams of QPACK (RFC 9204).

use headway_http::h3::Compression;

use super::Expect::{Answers, Closes};
use super::{ANOTHER, Case, REQUEST, UNI, check, one_way, request};
use crate::by_hand::*;
use crate::pair::{MINUTE, Pair, Setup};
use crate::raw::Raw;
use crate::serve::Serve;

/// Field sections behind their prefix, and the streams of QPACK, where there is no dynamic table.
#[test]
fn qpack_without_a_table() {
    let section = |name, bytes: &[u8]| {
        request(
            name,
            &format!("{bytes:02x?}"),
            &[frame(HEADERS, bytes)],
            Closes(DECOMPRESSION_FAILED),
        )
    };
    let encoder = |name, bytes: &[u8], expect| {
        one_way(name, &format!("{bytes:02x?}"), &[&[2], bytes].concat(), expect)
    };
    let decoder = |name, bytes: &[u8], expect| {
        one_way(name, &format!("{bytes:02x?}"), &[&[3], bytes].concat(), expect)
    };
    let cases = vec![
        section("4.5.1 of RFC 9204, no prefix", &[]),
        section("4.5.1 of RFC 9204, half a prefix", &[0]),
        section("4.5.1.1 of RFC 9204, insertions required", &[2, 0, 0x80]),
        section("4.5.1.2 of RFC 9204, a Base below 0", &[0, 0x81, 0xc1]),
        section("3.1 of RFC 9204, entry 99 of the static table", &[0, 0, 0xff, 0x24]),
        section("3.1 of RFC 9204, a name there", &[0, 0, 0x5f, 0x54, 0]),
        section("3.2.5 of RFC 9204, an entry of the dynamic table", &[0, 0, 0x80]),
        section("3.2.5 of RFC 9204, a name there", &[0, 0, 0x40, 0]),
        section("3.2.6 of RFC 9204, an entry behind the Base", &[0, 0, 0x10]),
        section("3.2.6 of RFC 9204, a name there", &[0, 0, 0, 0]),
        section(
            "4.1.1 of RFC 9204, an integer without end",
            &[0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
        ),
        section("4.1.2 of RFC 9204, a string cut short", &[0, 0, 0x51, 5, b'/']),
        section("4.1.2 of RFC 9204, padding of zeros", &[0, 0, 0x51, 0x81, 0x60]),
        section("4.1.2 of RFC 9204, EOS", &[0, 0, 0x51, 0x84, 0xff, 0xff, 0xff, 0xff]),
        encoder("3.2.3 of RFC 9204, no capacity", &[0x20], Answers),
        encoder(
            "4.3.1 of RFC 9204, a capacity above the limit",
            &[0x3f, 1],
            Closes(ENCODER_STREAM_ERROR),
        ),
        encoder("4.3.2 of RFC 9204, an insertion", &[0xc1, 1, b'/'], Closes(ENCODER_STREAM_ERROR)),
        encoder(
            "4.3.3 of RFC 9204, an insertion with its name",
            &[0x41, b'a', 1, b'b'],
            Closes(ENCODER_STREAM_ERROR),
        ),
        encoder("4.3.4 of RFC 9204, a duplicate", &[0], Closes(ENCODER_STREAM_ERROR)),
        decoder(
            "4.4.1 of RFC 9204, an acknowledgment of nothing",
            &[0x80],
            Closes(DECODER_STREAM_ERROR),
        ),
        decoder("4.4.2 of RFC 9204, a cancellation", &[0x40, 0x7f, 0x20], Answers),
        decoder("4.4.3 of RFC 9204, an increment of 0", &[0], Closes(DECODER_STREAM_ERROR)),
        decoder(
            "4.4.3 of RFC 9204, an increment beyond what was sent",
            &[1],
            Closes(DECODER_STREAM_ERROR),
        ),
    ];
    check(Compression::default(), cases);
}

/// The same where the server allows a table of 100 bytes, and one stream to wait for it.
#[test]
fn qpack_with_a_table() {
    let compression = Compression { table_bytes: 100, blocked_streams: 1 };
    // `:path: /bytes/300` takes 47 bytes of the table: its name is entry 1 of the static table.
    let insert = [&[0xc1, 10][..], b"/bytes/300"].concat();
    let begin = [&[2, 0x3f, 69][..], &insert].concat();
    // GET, https, and `:authority: a`, then the entry that was inserted last, of as many.
    let ask = |insertions: u8, line: u8| {
        let required = (insertions % 6) + 1; // MaxEntries is 3 (section 4.5.1.1)
        frame(HEADERS, &[required, 0, 0xd1, 0xd7, 0x50, 1, b'a', line])
    };
    let case =
        |section, name: &str, encoder: Vec<u8>, first: bool, sections: &[Vec<u8>], expect| {
            let mut streams = vec![(REQUEST, sections.concat(), true)];
            streams.insert(usize::from(!first), (UNI, encoder, false));
            Case { section, name: name.into(), streams, expect }
        };
    let cases = vec![
        case("2.1 of RFC 9204", "an entry", begin.clone(), true, &[ask(1, 0x80)], Answers),
        case(
            "2.1.2 of RFC 9204",
            "an entry that is to come",
            begin.clone(),
            false,
            &[ask(1, 0x80)],
            Answers,
        ),
        case(
            "4.5.3 of RFC 9204",
            "an entry behind the Base",
            begin.clone(),
            true,
            &[frame(HEADERS, &[2, 0x80, 0xd1, 0xd7, 0x50, 1, b'a', 0x10])],
            Answers,
        ),
        case(
            "4.3.4 of RFC 9204",
            "a duplicate",
            [&begin[..], &[0]].concat(),
            true,
            &[ask(2, 0x80)],
            Answers,
        ),
        case(
            "2.2.3 of RFC 9204",
            "an entry that is not required",
            [&begin[..], &insert].concat(),
            true,
            &[frame(HEADERS, &[2, 0x00, 0xd1, 0xd7, 0x50, 1, b'a', 0x10])],
            Closes(DECOMPRESSION_FAILED),
        ),
        case(
            "2.2.3 of RFC 9204",
            "an entry that is gone",
            [&begin[..], &insert, &insert].concat(),
            true,
            &[ask(3, 0x82)],
            Closes(DECOMPRESSION_FAILED),
        ),
        case(
            "4.5.1.1 of RFC 9204",
            "a count that cannot be",
            begin.clone(),
            true,
            &[frame(HEADERS, &[9, 0, 0x80])],
            Closes(DECOMPRESSION_FAILED),
        ),
        case(
            "4.3.1 of RFC 9204",
            "a capacity above the limit",
            vec![2, 0x3f, 70],
            true,
            &[get()],
            Closes(ENCODER_STREAM_ERROR),
        ),
        case(
            "4.3.2 of RFC 9204",
            "an entry that is too large",
            [&begin[..], &[0xc1, 100], &[b'x'; 100]].concat(),
            true,
            &[get()],
            Closes(ENCODER_STREAM_ERROR),
        ),
        case(
            "4.3.2 of RFC 9204",
            "entry 99 of the static table",
            [&begin[..], &[0xff, 0x24, 0]].concat(),
            true,
            &[get()],
            Closes(ENCODER_STREAM_ERROR),
        ),
        case(
            "4.3.2 of RFC 9204",
            "a name that is not there",
            [&begin[..], &[0x81, 0]].concat(),
            true,
            &[get()],
            Closes(ENCODER_STREAM_ERROR),
        ),
        case(
            "4.3.4 of RFC 9204",
            "a duplicate of nothing",
            [&begin[..], &[1]].concat(),
            true,
            &[get()],
            Closes(ENCODER_STREAM_ERROR),
        ),
    ];
    check(compression, cases);
    let mut raw = Raw::client([(REQUEST, ask(1, 0x80), true), (ANOTHER, ask(1, 0x80), true)]);
    let mut pair = Pair::new(&Setup::default());
    pair.connect();
    pair.run(&mut raw, &mut Serve { compression, ..Serve::default() }, MINUTE);
    let closed = format!("{:?}", raw.closed);
    assert!(
        closed.contains(&DECOMPRESSION_FAILED.to_string()),
        "2.1.2 of RFC 9204: two wait: {closed}"
    );
}
