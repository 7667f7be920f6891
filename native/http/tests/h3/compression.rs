//! Both sides of ours with dynamic tables.

use std::time::Duration;

use headway_http::counts::HeaderCounts;
use headway_http::h3::{Client, Compression};
use headway_http::service::Reply;
use headway_testlink::Direction;
use headway_wire::Response;

use crate::fetch::{Fetch, get};
use crate::pair::{MINUTE, Pair, Setup};
use crate::pattern::{self, body};
use crate::serve::Serve;

/// A server whose responses have fields that come again and others that do not.
fn serve(compression: Compression) -> Serve {
    let mut answered = 0;
    let serve = Serve::with(move |request| {
        answered += 1;
        let reply = pattern::respond(request);
        let Response { status, mut fields } = reply.response;
        fields.push("server", "a server with a name");
        fields.push("x-of-ten", format!("{}", answered % 10));
        fields.push("x-number", format!("response number {answered}"));
        Reply { response: Response { status, fields }, ..reply }
    });
    Serve { compression, ..serve }
}

/// Requests, each with fields of its own, in groups: what a group inserted serves the next.
fn fetch_groups(fetch: &mut Fetch, serve: &mut Serve, direction: Direction, sizes: &[u64]) {
    let mut pair = Pair::new(&Setup { direction, ..Setup::default() });
    let key = pair.connect();
    for group in sizes.chunks(20) {
        for size in group {
            let mut request = get(format!("/bytes/{size}"));
            request.fields.push("user-agent", "a client with a name");
            request.fields.push("x-size", size.to_string());
            request.fields.push("authorization", "Basic c2VjcmV0");
            fetch.ask(request, None, pair.client.connection(key));
        }
        pair.run(fetch, serve, Duration::from_secs(2));
    }
    pair.run(fetch, serve, MINUTE);
}

#[test]
fn responses_arrive_whole_whatever_is_lost_and_waits() {
    let sizes: Vec<u64> = (0..100).map(|i| i * i * 7 % 20_011).collect();
    for table_bytes in [64, 256, 4096] {
        for blocked_streams in [0, 1, 100] {
            for (loss, seed) in [(0.0, 1), (0.03, 2), (0.2, 3)] {
                let compression = Compression { table_bytes, blocked_streams };
                let mut fetch = Fetch { side: Client::new(compression), ..Fetch::default() };
                let mut serve = serve(compression);
                let direction = Direction { loss, seed, ..Setup::default().direction };
                fetch_groups(&mut fetch, &mut serve, direction, &sizes);
                for (request, &size) in sizes.iter().enumerate() {
                    let outcome = fetch.outcome(request as u64);
                    assert!(outcome.is_finished, "{compression:?} {loss}: {:?}", outcome.failure);
                    assert!(outcome.content == body(size), "{compression:?} {loss}: {size}");
                    let fields = &outcome.response.as_ref().unwrap().fields;
                    assert_eq!(fields.get("server").unwrap(), "a server with a name");
                }
                assert_eq!(serve.finished.len(), sizes.len());
            }
        }
    }
}

/// What a client and a server counted in an exchange over a path that loses a fifth of all packets.
fn counted(compression: Compression, seed: u64) -> [HeaderCounts; 2] {
    let mut fetch = Fetch { side: Client::new(compression), ..Fetch::default() };
    let mut serve = serve(compression);
    let direction = Direction { loss: 0.2, seed, ..Setup::default().direction };
    let mut pair = Pair::new(&Setup { direction, ..Setup::default() });
    let key = pair.connect();
    // What is inserted for the first requests serves the others.
    for _ in 0..3 {
        for _ in 0..20 {
            let mut request = get("/bytes/500");
            request.fields.push("user-agent", "a client with a name");
            fetch.ask(request, None, pair.client.connection(key));
        }
        pair.run(&mut fetch, &mut serve, Duration::from_secs(20));
    }
    assert_eq!(fetch.finished.len(), 60);
    let (_, server) = serve.sides.first_key_value().unwrap();
    [fetch.side.header_counts(), server.header_counts()]
}

/// What both sides count of one another's fields is the same, and tables make it less.
#[test]
fn what_fields_took_is_counted_on_both_sides() {
    let request =
        ":methodGET:schemehttps:authorityserver.test:path/bytes/500user-agenta client with a name";
    let mut coded = Vec::new();
    for (table_bytes, blocked_streams) in [(0, 0), (4096, 0), (4096, 100)] {
        let mut all = HeaderCounts::default();
        for seed in 0..10 {
            let [client, server] = counted(Compression { table_bytes, blocked_streams }, seed);
            assert_eq!((client.sent, client.received), (server.received, server.sent));
            assert_eq!(client.sent.raw, 60 * request.len() as u64);
            all.add(&client);
            all.add(&server);
        }
        // Sections wait only if they may, and then some do.
        assert_eq!(all.blocked > 0, blocked_streams > 0, "{all:?}");
        assert_eq!(all.blocked_time.is_zero(), all.blocked == 0);
        coded.push(all.sent.coded);
    }
    assert!(coded[1] < coded[0] && coded[2] < coded[1] * 3 / 4, "{coded:?}");
}

#[test]
fn only_one_side_may_have_a_table() {
    let table = Compression { table_bytes: 4096, blocked_streams: 10 };
    for (of_client, of_server) in [(table, Compression::default()), (Compression::default(), table)]
    {
        let mut fetch = Fetch { side: Client::new(of_client), ..Fetch::default() };
        let mut serve = serve(of_server);
        fetch_groups(&mut fetch, &mut serve, Setup::default().direction, &[1000; 40]);
        assert_eq!(fetch.finished.len(), 40);
    }
}
