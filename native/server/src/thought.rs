//! How long an application thinks about each answer, whatever else it has to do.

use std::f64::consts::TAU;
use std::time::Duration;

use headway_wire::Request;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

/// A median, and how far single answers are from it: log-normally distributed, as waits on the web are.
///
/// What is asked for decides, and a seed: the same resource takes the same time whenever it is asked for.
pub(crate) struct Thought {
    median: Duration,
    /// Standard deviation of the logarithm.
    spread: f64,
    seed: String,
    /// Of a page's document instead, the same for all.
    document: Option<Duration>,
}

impl Thought {
    pub(crate) fn new(median: Duration, spread: f64, seed: &str) -> Self {
        Self { median, spread, seed: seed.to_owned(), document: None }
    }

    /// The same with a time of its own for documents of pages.
    pub(crate) fn of_documents(self, document: Option<Duration>) -> Self {
        Self { document, ..self }
    }

    /// The same for all answers.
    #[cfg(test)]
    pub(crate) fn constant(time: Duration) -> Self {
        Self::new(time, 0.0, "")
    }

    /// Whether answers take no time.
    pub(crate) fn is_none(&self) -> bool {
        self.median.is_zero() && self.document.is_none()
    }

    /// How long the answer to this request takes.
    pub(crate) fn about(&self, request: &Request) -> Duration {
        let is_document =
            || request.fields.get("sec-fetch-dest").is_some_and(|dest| dest == "document");
        if let Some(document) = self.document.filter(|_| is_document()) {
            return document;
        }
        if self.spread == 0.0 {
            return self.median;
        }
        let parts = [&self.seed, &request.method, &request.authority, &request.path];
        let mut chance = StdRng::seed_from_u64(fnv1a(parts.into_iter().map(String::as_str)));
        self.median.mul_f64((self.spread * normal(&mut chance)).exp())
    }
}

/// A standard normal variate (Box and Muller 1958).
fn normal(chance: &mut StdRng) -> f64 {
    // 1 - u, as the logarithm of 0 is none.
    let (radius, angle) = (1.0 - chance.random::<f64>(), chance.random::<f64>());
    (-2.0 * radius.ln()).sqrt() * (TAU * angle).cos()
}

/// FNV-1a of 64 bits: the standard library's hashes may change with its release, and draws would with them.
fn fnv1a<'a>(parts: impl Iterator<Item = &'a str>) -> u64 {
    let bytes = parts.flat_map(|part| part.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(seed: &str, path: &str) -> f64 {
        let thought = Thought::new(Duration::from_millis(100), 0.8, seed);
        thought.about(&Request::get("https", "server.test", path)).as_secs_f64()
    }

    #[test]
    fn a_resource_takes_the_same_time_by_the_seed() {
        assert_eq!(of("1", "/a"), of("1", "/a"));
        assert_ne!(of("1", "/a"), of("2", "/a"));
        assert_ne!(of("1", "/a"), of("1", "/b"));
    }

    #[test]
    fn documents_have_a_time_of_their_own() {
        let thought = Thought::constant(Duration::from_millis(5));
        let thought = thought.of_documents(Some(Duration::from_millis(300)));
        let mut request = Request::get("https", "server.test", "/");
        assert_eq!(thought.about(&request), Duration::from_millis(5));
        request.fields.push("sec-fetch-dest", "document");
        assert_eq!(thought.about(&request), Duration::from_millis(300));
    }

    #[test]
    fn times_are_log_normal() {
        let logs: Vec<f64> =
            (0..20_000).map(|number| (of("1", &format!("/{number}")) / 0.1).ln() / 0.8).collect();
        let count = logs.len() as f64;
        let mean = logs.iter().sum::<f64>() / count;
        let variance = logs.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / count;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.04, "{mean}, {variance}");
        // 2.28 % of a normal distribution are beyond two standard deviations, on each side.
        for side in [-1.0, 1.0] {
            let share = logs.iter().filter(|&&one| one * side > 2.0).count() as f64 / count;
            assert!((share - 0.0228).abs() < 0.004, "{share}");
        }
    }
}
