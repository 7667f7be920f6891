//! Content of requests.

use headway_wire::Request;

use crate::fetch::{Fetch, get};
use crate::pair::{MINUTE, Pair, Setup};
use crate::pattern;
use crate::serve::Serve;

const SIZES: [u64; 4] = [0, 1, 70_000, 1_000_000];

/// A server that answers POST as it does GET.
fn taking() -> Serve {
    Serve::with(|request| pattern::respond(&Request { method: "GET".into(), ..request.clone() }))
}

#[test]
fn content_arrives_whole() {
    for expects in [false, true] {
        let (mut pair, mut serve) = (Pair::new(&Setup::default()), taking());
        let mut fetch = Fetch::default();
        for size in SIZES {
            let mut request = get("/bytes/0");
            request.method = "POST".into();
            request.fields.push("content-length", size.to_string());
            if expects {
                request.fields.push("expect", "100-continue");
            }
            fetch.post(request, size);
        }
        pair.connect();
        serve.answers_at_end = true;
        pair.run(&mut fetch, &mut serve, MINUTE);
        serve.received.sort_unstable();
        assert_eq!(serve.received, SIZES);
        for (number, size) in (0..).zip(SIZES) {
            assert_eq!(fetch.status(number), Some(200));
            assert_eq!(fetch.outcome(number).is_continued, expects, "{size}");
        }
    }
}

#[test]
fn an_answer_before_the_end_ends_the_upload() {
    let (mut pair, mut serve) = (Pair::new(&Setup::default()), taking());
    let mut fetch = Fetch::default();
    let mut request = get("/bytes/10");
    request.method = "POST".into();
    request.fields.push("content-length", "10000000");
    fetch.post(request, 10_000_000);
    pair.connect();
    pair.run(&mut fetch, &mut serve, MINUTE);
    assert_eq!((fetch.status(0), &*serve.received), (Some(200), &[][..]));
    assert_eq!(fetch.outcome(0).content.len(), 10);
}
