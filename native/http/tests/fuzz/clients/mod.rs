//! Clients against servers that send mutants of responses.

mod h1;
mod h2;

use std::collections::BTreeMap;

use headway_http::event::{ClientEvent, RequestId};
use headway_http::side::ClientSide;
use headway_testlink::Numbers;

/// What became of a client's requests. That each gets what it may, in order, is checked as it comes.
#[derive(Default)]
struct Requests {
    stages: BTreeMap<RequestId, Stage>,
    finished: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Stage {
    Asked,
    /// Its response has begun.
    Answered,
    Over,
}

impl Requests {
    fn ask(&mut self, id: RequestId) {
        self.stages.insert(id, Stage::Asked);
    }

    fn take(&mut self, client: &mut impl ClientSide) {
        while let Some(event) = client.poll() {
            let stage =
                self.stages.get_mut(&event.id()).expect("an event of a request that was made");
            *stage = match (*stage, &event) {
                (
                    Stage::Asked | Stage::Answered,
                    ClientEvent::Sent { .. } | ClientEvent::Continued { .. },
                ) => *stage,
                (Stage::Asked, ClientEvent::Head { response, .. }) => {
                    assert!((200..1000).contains(&response.status), "{event:?}");
                    Stage::Answered
                }
                (Stage::Answered, ClientEvent::Data { .. } | ClientEvent::Trailers { .. }) => {
                    Stage::Answered
                }
                (Stage::Answered, ClientEvent::Finished { .. }) => {
                    self.finished += 1;
                    Stage::Over
                }
                (Stage::Asked | Stage::Answered, ClientEvent::Failed { .. }) => Stage::Over,
                _ => panic!("{event:?} when the request is {stage:?}"),
            };
        }
    }

    /// The connection is over, and so is every request.
    ///
    /// # Returns
    /// How many were finished, and how many were not.
    fn end(mut self, numbers: &mut Numbers, client: &mut impl ClientSide) -> [u64; 2] {
        client.close("over", numbers.one_in(2));
        self.take(client);
        let over = self.stages.values().filter(|stage| **stage == Stage::Over).count();
        assert_eq!(over, self.stages.len(), "{:?}", self.stages);
        [self.finished, over as u64 - self.finished]
    }
}
