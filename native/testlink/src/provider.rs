//! Cryptography whose random numbers are known.

use std::sync::{Arc, Mutex, PoisonError};

use rustls::crypto::{
    ActiveKeyExchange, CryptoProvider, GetRandomFailed, SecureRandom, SharedSecret,
    SupportedKxGroup, ring,
};
use rustls::{Error, NamedGroup, PeerMisbehaved};
use x25519_dalek::{X25519_BASEPOINT_BYTES, x25519};

use crate::numbers::Numbers;

/// What rustls takes for secret random numbers. They are none: this is for tests.
#[derive(Debug)]
struct Known(Mutex<Numbers>);

impl SecureRandom for Known {
    fn fill(&self, bytes: &mut [u8]) -> Result<(), GetRandomFailed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).fill(bytes);
        Ok(())
    }
}

/// X25519 (RFC 7748) with private keys of known random numbers.
#[derive(Debug)]
struct KnownX25519(&'static Known);

impl SupportedKxGroup for KnownX25519 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let mut private = [0; 32];
        self.0.fill(&mut private)?;
        let public = x25519(private, X25519_BASEPOINT_BYTES);
        Ok(Box::new(KeyExchange { private, public }))
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

struct KeyExchange {
    private: [u8; 32],
    public: [u8; 32],
}

impl ActiveKeyExchange for KeyExchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let peer = peer.try_into().map_err(|_| PeerMisbehaved::InvalidKeyShare)?;
        Ok(SharedSecret::from(&x25519(self.private, peer)[..]))
    }

    fn pub_key(&self) -> &[u8] {
        &self.public
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519
    }
}

/// The cryptography of programs, but its random numbers grow from a seed.
///
/// rustls wants them to live for ever, so each provider leaves a few bytes behind.
#[must_use]
pub fn provider(seed: u64) -> Arc<CryptoProvider> {
    let random: &'static Known = Box::leak(Box::new(Known(Mutex::new(Numbers::new(seed)))));
    let kx_groups: Vec<&'static dyn SupportedKxGroup> =
        vec![Box::leak(Box::new(KnownX25519(random)))];
    Arc::new(CryptoProvider { secure_random: random, kx_groups, ..ring::default_provider() })
}
