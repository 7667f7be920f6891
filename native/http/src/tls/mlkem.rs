//! X25519MLKEM768: a key exchange that holds as long as one of its two parts does (draft-ietf-tls-ecdhe-mlkem).

use ml_kem::kem::{Decapsulate, DecapsulationKey, EncapsulationKey};
use ml_kem::{B32, EncapsulateDeterministic, EncodedSizeUser, KemCore, MlKem768, MlKem768Params};
use rustls::crypto::ring::{default_provider, kx_group::X25519};
use rustls::crypto::{ActiveKeyExchange, CompletedKeyExchange, SharedSecret, SupportedKxGroup};
use rustls::{Error, NamedGroup, PeerMisbehaved, ProtocolVersion};

/// An encapsulation key of ML-KEM-768 (FIPS 203, table 3), in bytes.
const KEY_BYTES: usize = 1184;
/// A ciphertext of it.
const CIPHERTEXT_BYTES: usize = 1088;

/// The group.
pub(super) static X25519_MLKEM768: &dyn SupportedKxGroup = &X25519MlKem768;

#[derive(Debug)]
struct X25519MlKem768;

impl SupportedKxGroup for X25519MlKem768 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        let classical = X25519.start()?;
        let (private, public) = MlKem768::generate_deterministic(&random()?, &random()?);
        let share = [&public.as_bytes()[..], classical.pub_key()].concat();
        Ok(Box::new(KeyExchange { private, classical, share }))
    }

    fn start_and_complete(&self, peer: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let (key, point) = split(peer, KEY_BYTES)?;
        let encoded = key.try_into().map_err(|_| invalid())?;
        let public = EncapsulationKey::<MlKem768Params>::from_bytes(encoded);
        // Coefficients beyond the modulus are no key (FIPS 203, section 7.2).
        if public.as_bytes()[..] != *key {
            return Err(invalid());
        }
        let classical = X25519.start_and_complete(point)?;
        let sealed = public.encapsulate_deterministic(&random()?);
        let (ciphertext, secret) = sealed.map_err(|()| invalid())?;
        Ok(CompletedKeyExchange {
            group: self.name(),
            pub_key: [&ciphertext[..], &classical.pub_key].concat(),
            secret: joined(&secret, &classical.secret),
        })
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

/// A client's exchange, until the server has answered.
struct KeyExchange {
    private: DecapsulationKey<MlKem768Params>,
    classical: Box<dyn ActiveKeyExchange>,
    share: Vec<u8>,
}

impl ActiveKeyExchange for KeyExchange {
    fn complete(self: Box<Self>, peer: &[u8]) -> Result<SharedSecret, Error> {
        let (ciphertext, point) = split(peer, CIPHERTEXT_BYTES)?;
        let encoded = ciphertext.try_into().map_err(|_| invalid())?;
        let secret = self.private.decapsulate(encoded).map_err(|()| invalid())?;
        Ok(joined(&secret, &self.classical.complete(point)?))
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn group(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }
}

fn split(share: &[u8], first: usize) -> Result<(&[u8], &[u8]), Error> {
    share.split_at_checked(first).ok_or_else(invalid)
}

fn joined(first: &[u8], classical: &SharedSecret) -> SharedSecret {
    SharedSecret::from([first, classical.secret_bytes()].concat())
}

fn invalid() -> Error {
    PeerMisbehaved::InvalidKeyShare.into()
}

fn random() -> Result<B32, Error> {
    let mut bytes = B32::default();
    default_provider().secure_random.fill(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_the_sizes_of_the_draft() {
        let client = X25519_MLKEM768.start().unwrap();
        assert_eq!(client.pub_key().len(), 1184 + 32);
        let server = X25519_MLKEM768.start_and_complete(client.pub_key()).unwrap();
        assert_eq!(server.pub_key.len(), 1088 + 32);
        assert_eq!(server.secret.secret_bytes().len(), 64);
    }

    #[test]
    fn shares_that_are_none_are_refused() {
        let good = X25519_MLKEM768.start().unwrap().pub_key().to_vec();
        let mut beyond = good.clone();
        beyond[..3].fill(0xff);
        for share in [&good[..40], &good[..1200], &beyond, &[]] {
            assert!(X25519_MLKEM768.start_and_complete(share).is_err());
            assert!(X25519_MLKEM768.start().unwrap().complete(share).is_err());
        }
        assert!(!X25519_MLKEM768.usable_for_version(ProtocolVersion::TLSv1_2));
    }
}
