//! What the schedulers' tests share.

use crate::{Dependency, Priority, Scheduler, StreamId};

pub(crate) const PACKET_BYTES: u64 = 1200;

pub(crate) fn urgency(urgency: u8) -> Priority {
    Priority { urgency, ..Priority::default() }
}

pub(crate) fn on(parent: Option<StreamId>, weight: u16) -> Priority {
    let dependency = Some(Dependency { parent, weight, exclusive: false });
    Priority { dependency, ..Priority::default() }
}

pub(crate) fn open_ready(scheduler: &mut dyn Scheduler, streams: &[(StreamId, Priority)]) {
    for (stream, priority) in streams {
        scheduler.open(*stream, priority);
        scheduler.ready(*stream);
    }
}

/// Sends so many full packets; the streams they were for.
pub(crate) fn send(scheduler: &mut dyn Scheduler, packets: usize) -> Vec<StreamId> {
    let one = |_| {
        let stream = scheduler.next()?;
        scheduler.sent(stream, PACKET_BYTES);
        Some(stream)
    };
    (0..packets).map_while(one).collect()
}
