//! What an endpoint's random numbers grow from.

use quinn_proto::{ConnectionId, ConnectionIdGenerator};
use rand::rngs::{StdRng, SysRng};
use rand::{Rng, RngExt, SeedableRng, TryRng};
use ring::{hkdf, hmac};

/// Bytes of a connection ID that an endpoint chooses for itself or, as a client, for the server
/// at first (RFC 9000 section 7.2: at least 8).
const CONNECTION_ID_BYTES: usize = 8;

/// What an endpoint's random numbers grow from: connection IDs, the keys of tokens and stateless
/// resets, packet numbers that are left out, transport parameters that mean nothing.
///
/// Who knows it foresees them all. TLS has its own, from the provider of its configuration.
#[derive(Clone)]
pub struct Seed([u8; 32]);

impl Seed {
    /// One that nobody knows, from the operating system.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "the system calls of Linux do not fail")]
    pub fn secret() -> Self {
        let mut bytes = [0; 32];
        SysRng.try_fill_bytes(&mut bytes).expect("the operating system has random numbers");
        Self(bytes)
    }

    /// A known one, for tests: whatever else is equal, so is every packet.
    #[must_use]
    pub fn known(number: u64) -> Self {
        Self(StdRng::seed_from_u64(number).random())
    }
}

/// The random numbers of an endpoint.
#[derive(Debug)]
pub(crate) struct Randomness(StdRng);

impl Randomness {
    pub(crate) fn new(seed: &Seed) -> Self {
        Self(StdRng::from_seed(seed.0))
    }

    /// A seed for something that draws its own.
    pub(crate) fn seed(&mut self) -> [u8; 32] {
        self.0.random()
    }

    /// A key of stateless resets (RFC 9000 section 10.3.2).
    pub(crate) fn reset_key(&mut self) -> hmac::Key {
        hmac::Key::new(hmac::HMAC_SHA256, &self.seed())
    }

    /// A key of address validation tokens (RFC 9000 section 8.1.4).
    pub(crate) fn token_key(&mut self) -> hkdf::Prk {
        hkdf::Salt::new(hkdf::HKDF_SHA256, &[]).extract(&self.seed())
    }

    /// A connection ID.
    pub(crate) fn connection_id(&mut self) -> ConnectionId {
        let mut bytes = [0; CONNECTION_ID_BYTES];
        self.0.fill_bytes(&mut bytes);
        ConnectionId::new(&bytes)
    }
}

/// Connection IDs for quinn-proto.
pub(crate) struct ConnectionIds(Randomness);

impl ConnectionIds {
    pub(crate) fn new(seed: [u8; 32]) -> Self {
        Self(Randomness::new(&Seed(seed)))
    }
}

impl ConnectionIdGenerator for ConnectionIds {
    fn generate_cid(&mut self) -> ConnectionId {
        self.0.connection_id()
    }

    fn cid_len(&self) -> usize {
        CONNECTION_ID_BYTES
    }

    fn cid_lifetime(&self) -> Option<std::time::Duration> {
        None
    }
}
