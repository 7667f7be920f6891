//! Tokens by which a client shows later that it had its address before (NEW_TOKEN, RFC 9000 section 8.1.3).

use std::collections::{BTreeMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use quinn_proto::{
    NoneTokenStore, TokenLog, TokenMemoryCache, TokenReuseError, TokenStore, ValidationTokenConfig,
};

/// How long a token is good for.
const LIFETIME: Duration = Duration::from_secs(24 * 60 * 60);
/// How many a client is given once it has shown that it has its address.
const TOKENS: u32 = 2;
/// Tokens issued within a lifetime that may be used: what remembers them is bounded.
const MAX_USED: usize = 1 << 16;

/// What a client does with tokens.
#[derive(Clone, Default)]
pub struct Tokens(Option<Arc<TokenMemoryCache>>);

impl Tokens {
    /// It keeps them, and sends each once: with the first packet of a later connection that has the
    /// same configuration.
    #[must_use]
    pub fn kept() -> Self {
        Self(Some(Arc::default()))
    }

    pub(crate) fn store(&self) -> Arc<dyn TokenStore> {
        match &self.0 {
            Some(cache) => Arc::clone(cache) as Arc<dyn TokenStore>,
            None => Arc::new(NoneTokenStore),
        }
    }
}

impl std::fmt::Debug for Tokens {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "kept" } else { "thrown away" })
    }
}

/// Tokens that are good for one connection each.
pub(crate) fn validation_tokens() -> ValidationTokenConfig {
    let mut tokens = ValidationTokenConfig::default();
    tokens.lifetime(LIFETIME).sent(TOKENS).log(Arc::new(Used::default()));
    tokens
}

/// Tokens that were used, by the lifetime in which they were issued: those that are still good are of the
/// present one or of the one before.
#[derive(Default)]
struct Used(Mutex<BTreeMap<u64, HashSet<u128>>>);

impl TokenLog for Used {
    fn check_and_insert(
        &self,
        nonce: u128,
        issued: SystemTime,
        lifetime: Duration,
    ) -> Result<(), TokenReuseError> {
        let age = issued.duration_since(UNIX_EPOCH).unwrap_or_default();
        let period = age.as_secs() / lifetime.as_secs().max(1);
        let mut periods = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let last = periods.last_key_value().map_or(period, |(&last, _)| last.max(period));
        periods.retain(|&other, _| other + 1 >= last);
        let used = periods.entry(period).or_default();
        if used.len() < MAX_USED && used.insert(nonce) { Ok(()) } else { Err(TokenReuseError) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_good_once() {
        let used = Used::default();
        let start = UNIX_EPOCH + 1000 * LIFETIME;
        let is_good = |nonce, issued| used.check_and_insert(nonce, issued, LIFETIME).is_ok();
        assert!(is_good(1, start) && !is_good(1, start) && is_good(2, start));
        // The next lifetime's have their own room, and those before are remembered meanwhile.
        assert!(is_good(3, start + LIFETIME) && !is_good(2, start));
        assert!(is_good(4, start + 2 * LIFETIME));
        assert_eq!(used.0.lock().unwrap().len(), 2);
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let used = Used::default();
        let good = (0..100_000)
            .filter(|&nonce| used.check_and_insert(nonce, UNIX_EPOCH + LIFETIME, LIFETIME).is_ok());
        assert_eq!(good.count(), MAX_USED);
    }
}
