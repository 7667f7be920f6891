//! How fast segments came.

/// Half-lives of the two means, in seconds of download (dash.js 5 and Sabre, video on demand).
const HALF_LIVES_S: [f64; 2] = [3.0, 8.0];

/// What a player knows of its throughput.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// In bit/s, of each segment: its bits over the time from its request to its last byte.
    samples: Vec<f64>,
    means: [f64; 2],
    seconds: f64,
}

impl History {
    /// A segment has come.
    pub fn add(&mut self, bytes: u64, seconds: f64) {
        if seconds <= 0.0 {
            return;
        }
        let bit_s = 8.0 * bytes as f64 / seconds;
        for (mean, half_life) in self.means.iter_mut().zip(HALF_LIVES_S) {
            let kept = 0.5_f64.powf(seconds / half_life);
            *mean = kept * *mean + (1.0 - kept) * bit_s;
        }
        self.seconds += seconds;
        self.samples.push(bit_s);
    }

    /// The lesser of two exponentially weighted means, in bit/s, as dash.js 5 and Sabre have it:
    /// the weights are times, and what is missing at the beginning is corrected for.
    #[must_use]
    pub fn smoothed_bit_s(&self) -> Option<f64> {
        let corrected =
            |(mean, half_life): (&f64, f64)| mean / (1.0 - 0.5_f64.powf(self.seconds / half_life));
        let means = self.means.iter().zip(HALF_LIVES_S).map(corrected);
        if self.samples.is_empty() { None } else { means.min_by(f64::total_cmp) }
    }

    /// The harmonic mean of the last segments, in bit/s (Jiang and others, FESTIVE, 2012).
    #[must_use]
    pub fn harmonic_bit_s(&self, last: usize) -> Option<f64> {
        harmonic(self.last(self.samples.len(), last))
    }

    /// By how much such a mean was wrong at most, relative to what came, in as many segments.
    #[must_use]
    pub fn greatest_error(&self, last: usize) -> f64 {
        let first = self.samples.len().saturating_sub(last);
        (first..self.samples.len())
            .filter_map(|place| {
                let predicted = harmonic(self.last(place, last))?;
                Some((predicted - self.samples[place]).abs() / self.samples[place])
            })
            .fold(0.0, f64::max)
    }

    fn last(&self, end: usize, count: usize) -> &[f64] {
        &self.samples[end.saturating_sub(count)..end]
    }
}

fn harmonic(samples: &[f64]) -> Option<f64> {
    let inverse: f64 = samples.iter().map(|bit_s| 1.0 / bit_s).sum();
    if samples.is_empty() { None } else { Some(samples.len() as f64 / inverse) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_rate_is_known_from_the_first_segment_on() {
        let mut history = History::default();
        assert_eq!(history.smoothed_bit_s(), None);
        for seconds in [0.4, 2.0, 9.0] {
            history.add((seconds * 1e6 / 8.0) as u64, seconds);
            assert!((history.smoothed_bit_s().unwrap() - 1e6).abs() < 1e-3);
            assert!((history.harmonic_bit_s(5).unwrap() - 1e6).abs() < 1e-3);
        }
        assert!(history.greatest_error(5) < 1e-9);
    }

    #[test]
    fn a_fall_is_believed_sooner_than_a_rise() {
        let mut history = History::default();
        for _ in 0..10 {
            history.add(500_000, 1.0);
        }
        let mut fallen = history.clone();
        fallen.add(50_000, 1.0);
        let mut risen = history.clone();
        risen.add(5_000_000, 1.0);
        let before = history.smoothed_bit_s().unwrap();
        // The weight of the last of eleven seconds, of the fast mean and of the slow one.
        let weight = |half_life: f64| {
            (1.0 - 0.5_f64.powf(1.0 / half_life)) / (1.0 - 0.5_f64.powf(11.0 / half_life))
        };
        let down = 1.0 - fallen.smoothed_bit_s().unwrap() / before;
        assert!((down - 0.9 * weight(3.0)).abs() < 1e-9, "{down}");
        let up = risen.smoothed_bit_s().unwrap() / before - 1.0;
        assert!((up - 9.0 * weight(8.0)).abs() < 1e-9, "{up}");
        assert!((fallen.greatest_error(5) - 9.0).abs() < 1e-9, "4 Mbit/s foretold, 0.4 came");
    }
}
