use headway_trace::qlog::{CloseCode, CloseTrigger, Owner};
use quinn_proto::ConnectionError;

/// Codes by which applications say that nothing went wrong: 0, and H3_NO_ERROR (RFC 9114 section
/// 8.1).
const NO_ERROR: [u64; 2] = [0, 0x100];

/// The end of a connection in qlog's terms.
pub(super) struct Ending {
    pub(super) owner: Owner,
    pub(super) code: CloseCode,
    pub(super) reason: String,
    pub(super) trigger: CloseTrigger,
}

impl Ending {
    /// An application closed.
    pub(super) fn by_application(owner: Owner, code: u64, reason: &[u8]) -> Self {
        let clean = NO_ERROR.contains(&code);
        let trigger = if clean { CloseTrigger::Clean } else { CloseTrigger::Application };
        let reason = String::from_utf8_lossy(reason).into_owned();
        Self { owner, code: CloseCode::Application(code), reason, trigger }
    }

    /// The connection failed.
    ///
    /// # Arguments
    /// * `handshaking` - it had not been set up yet.
    pub(super) fn of(error: &ConnectionError, handshaking: bool) -> Self {
        use CloseTrigger as Trigger;
        let (owner, code, trigger) = match error {
            ConnectionError::ApplicationClosed(close) => {
                let code = close.error_code.into_inner();
                return Self::by_application(Owner::Remote, code, &close.reason);
            }
            ConnectionError::ConnectionClosed(close) => {
                let code = CloseCode::Transport(close.error_code.into());
                (Owner::Remote, code, Trigger::Error)
            }
            ConnectionError::TransportError(error) => {
                (Owner::Local, CloseCode::Transport(error.code.into()), Trigger::Error)
            }
            ConnectionError::TimedOut if handshaking => {
                (Owner::Local, CloseCode::None, Trigger::HandshakeTimeout)
            }
            ConnectionError::TimedOut => (Owner::Local, CloseCode::None, Trigger::IdleTimeout),
            ConnectionError::Reset => (Owner::Remote, CloseCode::None, Trigger::StatelessReset),
            ConnectionError::VersionMismatch => {
                (Owner::Remote, CloseCode::None, Trigger::VersionMismatch)
            }
            ConnectionError::LocallyClosed => (Owner::Local, CloseCode::None, Trigger::Clean),
            ConnectionError::CidsExhausted => (Owner::Local, CloseCode::None, Trigger::Error),
        };
        Self { owner, code, reason: error.to_string(), trigger }
    }
}
