//! Makes the controller that a configuration asks for.

use crate::algorithm::Algorithm;
use crate::bbr::{Bbr, Bbr3};
use crate::config::{Config, SlowStart};
use crate::controller::Controller;
use crate::cubic::Cubic;
use crate::hybla::{self, Hybla};
use crate::linux::{self, Linux};
use crate::new_reno::NewReno;
use crate::own;
use crate::prague::Prague;
use crate::settings::Settings;
use crate::slow_start;

impl Config {
    /// A controller for a new path. It ignores knobs that its algorithm does not have.
    #[must_use]
    pub fn build(&self) -> Box<dyn Controller> {
        let settings = self.settings();
        match self.algorithm {
            Algorithm::NewReno => {
                self.loss_based(NewReno::new(settings.datagram, self.connections), settings)
            }
            Algorithm::Cubic => {
                let law = Cubic::new(settings.datagram, self.connections, self.cubic_version);
                self.loss_based(law, settings)
            }
            Algorithm::Hybla => {
                let max_window = hybla::MAX_WINDOW.saturating_mul(settings.datagram);
                let max_window = Some(settings.max_window.unwrap_or(max_window));
                let law = Hybla::new(settings.datagram, self.hybla_rtt0);
                self.loss_based(law, Settings { max_window, ..settings })
            }
            Algorithm::Bbr => self.resuming(Bbr::new(&settings, self.seed), settings),
            Algorithm::Bbr3 => self.resuming(Bbr3::new(&settings, self.seed), settings),
            Algorithm::LinuxReno => {
                let law = linux::Reno::without(self.linux_without);
                let slow_start = Box::new(slow_start::Classic);
                Box::new(Linux::new(law, slow_start, settings, self.linux_without))
            }
            Algorithm::LinuxCubic => {
                let slow_start = self.slow_start(SlowStart::HyStart, settings);
                let law = linux::Cubic::without(self.linux_without);
                Box::new(Linux::new(law, slow_start, settings, self.linux_without))
            }
            Algorithm::Prague => Box::new(Prague::new(settings)),
            Algorithm::Own(name) => {
                let mut all = own::ALL.iter();
                let found = all.find(|(other, _)| *other == name);
                (found.expect("an algorithm is made by its name").1)(self, settings)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_packets_are_the_initial_window() {
        for (_, algorithm) in Algorithm::all() {
            let config = Config { algorithm, ..Config::default() };
            assert_eq!(config.build().window(), 12_000, "{algorithm}");
        }
    }
}
