use std::io;
use std::net::{Shutdown, TcpStream};

use crate::limits::VESSEL_BYTES;
use crate::vessel::{Vessel, Vessels};

/// How often bytes are handed over before other connections have their turn.
const HANDOVERS_PER_TURN: usize = 4;

/// Which socket failed.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The one that bytes come from.
    Source(io::Error),
    /// The one that they go to.
    Sink(io::Error),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// The source has ended its half of the connection.
    Ended,
    /// The sink was told.
    Finished,
}

/// One direction of a connection: what one half receives, the other sends.
///
/// It reads only when everything read before was taken, so that a slow sink slows the source, and
/// at most one vessel's worth is here.
#[derive(Debug)]
pub(crate) struct Flow {
    state: State,
    /// What the sink has not taken yet.
    vessel: Option<Vessel>,
    read_bytes: u64,
}

impl Flow {
    pub(crate) fn new() -> Self {
        Self { state: State::Open, vessel: None, read_bytes: 0 }
    }

    /// Whether it waits for the source.
    pub(crate) fn wants_input(&self) -> bool {
        self.state == State::Open && self.vessel.is_none()
    }

    /// Whether it waits for the sink.
    pub(crate) fn wants_output(&self) -> bool {
        self.vessel.is_some()
    }

    /// Whether the sink has everything, and was told so.
    pub(crate) fn is_finished(&self) -> bool {
        self.state == State::Finished
    }

    /// Bytes that the sink's socket has taken.
    pub(crate) fn bytes(&self) -> u64 {
        self.read_bytes - self.vessel.as_ref().map_or(0, |vessel| vessel.held() as u64)
    }

    /// Hands over what is there, as far as there is room for it.
    pub(crate) fn advance(
        &mut self,
        source: &TcpStream,
        sink: &TcpStream,
        vessels: &mut Vessels,
    ) -> Result<(), Fault> {
        for _ in 0..HANDOVERS_PER_TURN {
            let is_last = self.wants_input() && !self.fill(source, vessels)?;
            self.drain(sink, vessels)?;
            if is_last || !self.wants_input() {
                break;
            }
        }
        if self.state == State::Ended && self.vessel.is_none() {
            self.state = State::Finished;
            sink.shutdown(Shutdown::Write).map_err(Fault::Sink)?;
        }
        Ok(())
    }

    /// Reads once.
    ///
    /// # Returns
    /// Whether there may be more to read.
    fn fill(&mut self, source: &TcpStream, vessels: &mut Vessels) -> Result<bool, Fault> {
        match vessels.filled(source) {
            Ok(vessel) if vessel.held() == 0 => {
                self.state = State::Ended;
                vessels.give_back(vessel);
                Ok(false)
            }
            Ok(vessel) => {
                let read = vessel.held();
                self.read_bytes += read as u64;
                self.vessel = Some(vessel);
                // Less than asked for is all there was, which saves asking again.
                Ok(read == VESSEL_BYTES)
            }
            Err(error) if is_temporary(&error) => Ok(false),
            Err(error) => Err(Fault::Source(error)),
        }
    }

    /// Writes until the vessel is empty or the sink takes no more.
    fn drain(&mut self, sink: &TcpStream, vessels: &mut Vessels) -> Result<(), Fault> {
        while let Some(mut vessel) = self.vessel.take() {
            let drained = vessel.drain(sink);
            if vessel.held() == 0 {
                vessels.give_back(vessel);
            } else {
                self.vessel = Some(vessel);
            }
            match drained {
                Ok(()) => {}
                Err(error) if is_temporary(&error) => break,
                Err(error) => return Err(Fault::Sink(error)),
            }
        }
        Ok(())
    }
}

fn is_temporary(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
