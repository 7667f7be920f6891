//! A server: field compression (RFC 7541), in blocks by hand.

use headway_http::h2::ServerOptions;

use crate::frames::*;
use crate::peer::Expect::{Answers, Ends};
use crate::peer::{Case, case, check, then};

/// `:method: GET`, `:scheme: https`, of the static table (appendix A).
const METHOD_AND_SCHEME: [u8; 2] = [0x82, 0x87];

fn request(stream: u32, block: &[&[u8]]) -> Vec<u8> {
    headers(stream, WHOLE, &block.concat())
}

/// A good request, and these bytes behind its lines.
fn with(section: &'static str, name: &'static str, more: &[u8]) -> Case {
    let lines = block(&GET);
    case(section, name, &[request(1, &[&lines, more])], Ends(COMPRESSION_ERROR))
}

#[test]
fn what_cannot_be_decoded_ends_the_connection() {
    let cases = [
        with("6.1 of RFC 7541", "index 0", &[0x80]),
        with("2.3.3 of RFC 7541", "an index behind the static table", &[0xbe]),
        with("2.3.3 of RFC 7541", "a name there", &[0x7e, 1, b'x']),
        with("2.3.3 of RFC 7541", "a name there, not to be indexed", &[0x0f, 0x2f, 1, b'x']),
        with("4.2 of RFC 7541", "a table size behind a line", &[0x20]),
        with(
            "5.1 of RFC 7541",
            "an integer without end",
            &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
        ),
        with("5.1 of RFC 7541", "an integer cut short", &[0xff, 0x80]),
        with("5.2 of RFC 7541", "a string cut short", &[0, 1, b'x', 5, b'y']),
        // "a" is 00011: with three bits of EOS it fills its byte.
        with("5.2 of RFC 7541", "a whole byte of padding", &[0, 1, b'x', 0x82, 0x1f, 0xff]),
        with("5.2 of RFC 7541", "padding of zeros", &[0, 1, b'x', 0x81, 0x18]),
        with("5.2 of RFC 7541", "EOS in a string", &[0, 1, b'x', 0x84, 0xff, 0xff, 0xff, 0xff]),
        case(
            "6.3 of RFC 7541",
            "a table larger than allowed",
            &[request(1, &[&[0x3f, 0xe2, 0x1f], &block(&GET)])],
            Ends(COMPRESSION_ERROR),
        ),
        case(
            "4.3 of RFC 7541",
            "an entry that a table of 0 has lost",
            &[
                request(1, &[&block(&GET), &literal(0x40, "x", "y")]),
                request(3, &[&[0x20], &block(&GET), &[0xbe]]),
            ],
            Ends(COMPRESSION_ERROR),
        ),
        // 4.3 of RFC 9113: even where the message is of no interest.
        then(
            "4.3",
            "trailers of a stream that is over",
            &[headers(1, END_HEADERS, &block(&[GET[0], GET[1], GET[2]]))],
            &[headers(1, WHOLE, &[0x80])],
            Ends(COMPRESSION_ERROR),
        ),
    ];
    check(ServerOptions::default(), &cases);
}

#[test]
fn all_representations() {
    // 0x81 0x63: "/" in Huffman's code is 011000, behind which two bits are left.
    let cases = [
        case(
            "6 of RFC 7541",
            "static entries, and a name of one",
            &[request(1, &[&METHOD_AND_SCHEME, &[0x01, 1, b'a'], &[0x04, 9], b"/bytes/10"])],
            Answers(&[1]),
        ),
        case(
            "6.2.3 of RFC 7541",
            "lines that are never indexed",
            &[request(
                1,
                &[&METHOD_AND_SCHEME, &literal(0x10, ":authority", "a"), &[0x14, 9], b"/bytes/10"],
            )],
            Answers(&[1]),
        ),
        case(
            "5.2 of RFC 7541",
            "Huffman's code, with EOS as padding",
            &[request(1, &[&METHOD_AND_SCHEME, &[0x01, 1, b'a'], &[0x04, 0x81, 0x63]])],
            Answers(&[1]),
        ),
        case(
            "5.2 of RFC 7541",
            "no padding",
            // Eight times "a" are five bytes.
            &[request(
                1,
                &[&METHOD_AND_SCHEME, &[0x84], &[0x01, 0x85, 0x18, 0xc6, 0x31, 0x8c, 0x63]],
            )],
            Answers(&[1]),
        ),
        case(
            "2.3.2 of RFC 7541",
            "entries of earlier requests, the newest first",
            &[
                request(
                    1,
                    &[&METHOD_AND_SCHEME, &[0x84], &[0x41, 1, b'a'], &literal(0x40, "x", "y")],
                ),
                request(3, &[&METHOD_AND_SCHEME, &[0x84, 0xbf, 0xbe]]),
            ],
            Answers(&[1, 3]),
        ),
        case(
            "4.2 of RFC 7541",
            "table sizes in front, the least and then the present one",
            &[
                request(1, &[&METHOD_AND_SCHEME, &[0x84], &[0x41, 1, b'a']]),
                request(
                    3,
                    &[&[0x20, 0x3f, 0xe1, 0x1f], &METHOD_AND_SCHEME, &[0x84], &[0x41, 1, b'a']],
                ),
                request(5, &[&METHOD_AND_SCHEME, &[0x84, 0xbe]]),
            ],
            Answers(&[1, 3, 5]),
        ),
        case(
            "4.3",
            "the table lives on where a message is malformed",
            &[
                request(1, &[&METHOD_AND_SCHEME, &[0x41, 1, b'a']]),
                request(3, &[&METHOD_AND_SCHEME, &[0x84, 0xbe]]),
            ],
            crate::peer::Expect::Resets(1, PROTOCOL_ERROR),
        ),
    ];
    check(ServerOptions::default(), &cases);
}
