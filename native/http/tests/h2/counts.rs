//! What header fields took.

use headway_http::h2::ServerOptions;
use headway_http::side::ServerSide;
use headway_wire::h2::Settings;

use crate::joined::get;
use crate::raw::Raw;

#[test]
fn what_fields_took_is_counted() {
    let mut coded = Vec::new();
    for table_bytes in [0, 4096] {
        let options = ServerOptions { table_bytes, ..ServerOptions::default() };
        let mut raw = Raw::new(options, Settings::default());
        for stream in [1, 3, 5, 7] {
            let mut request = get("/bytes/10");
            request.fields.push("user-agent", "a client with a name");
            raw.request(stream, &request, None);
        }
        raw.exchange();
        let counts = raw.server.header_counts();
        assert_eq!(counts.sent.raw, 4 * (":status200".len() + "content-length10".len()) as u64);
        let line = ":methodGET:schemehttps:authorityserver.test:path/bytes/10user-agenta client with a name";
        assert_eq!(counts.received.raw, 4 * line.len() as u64);
        assert!(counts.received.coded < counts.received.raw && counts.blocked == 0);
        coded.push(counts.sent.coded);
    }
    // Content-Length is not worth a place in the table, and what else there is, is in the static one; that
    // there is no table is said once.
    assert_eq!(coded[0], coded[1] + 1);
}
