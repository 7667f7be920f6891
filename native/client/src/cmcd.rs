//! What a player tells a server of its state with each request: CMCD, Common Media Client Data (CTA-5004), in fields.

use headway_abr::Player;

/// Tells of a session.
#[derive(Debug)]
pub(crate) struct Reporter {
    session: String,
    /// How often the buffer had been empty when it told last.
    starvations: usize,
}

impl Reporter {
    pub(crate) fn new(session: String) -> Self {
        Self { session, starvations: 0 }
    }

    fn of_session(&self, player: &Player) -> String {
        let rate = if player.is_playing() { player.rate() } else { 0.0 };
        let kind = if player.video().live.is_some() { "l" } else { "v" };
        let told =
            if kind == "v" || rate == 1.0 { String::new() } else { format!("pr={rate:.3},") };
        format!("{told}sf=d,sid=\"{}\",st={kind}", self.session)
    }

    /// Fields of the request that the player makes now, keys in the order of the alphabet as the standard has them.
    pub(crate) fn report(&mut self, player: &Player) -> Vec<(&'static str, String)> {
        let Some(segment) = player.asked() else { return Vec::new() };
        let video = player.video();
        let rate = |rung: usize| (video.rungs[rung].bit_s / 1e3).round();
        let mut asked = Vec::new();
        let buffer_ms = hundreds(segment.buffer_s * 1e3);
        asked.push(format!("bl={buffer_ms}"));
        if player.is_playing() {
            asked.push(format!("dl={buffer_ms}"));
        }
        if let Some(bit_s) = segment.believed_bit_s {
            asked.push(format!("mtp={}", hundreds(bit_s / 1e3)));
        }
        if !player.is_playing() {
            asked.push("su".to_owned());
        }
        let object = format!(
            "br={},d={},ot=v,tb={}",
            rate(segment.rung),
            (video.length_s(segment.number) * 1e3).round(),
            rate(video.top())
        );
        let mut fields = vec![
            ("cmcd-object", object),
            ("cmcd-request", asked.join(",")),
            ("cmcd-session", self.of_session(player)),
        ];
        let starvations = player.starvations();
        if starvations > std::mem::replace(&mut self.starvations, starvations) {
            fields.push(("cmcd-status", "bs".to_owned()));
        }
        fields
    }
}

/// Rounded as the standard asks for it.
fn hundreds(value: f64) -> f64 {
    (value / 100.0).round() * 100.0
}

#[cfg(test)]
mod tests {
    use headway_abr::{Lengths, RuleName, Rung, Settings, Video};

    use super::*;

    fn player() -> Player {
        let rung =
            |bit_s: f64| Rung { bit_s, paths: vec!["/".into()], bytes: vec![bit_s as u64 / 4] };
        let video = Video {
            segment_s: Lengths::All(2.0),
            segments: 9,
            rungs: vec![rung(1e6), rung(2.5e6)],
            live: None,
        };
        let settings =
            Settings { rule: RuleName::Lowest, buffer_s: 30.0, start_s: 2.0, watch_s: None };
        Player::new(video, settings).unwrap()
    }

    fn of<'a>(fields: &'a [(&str, String)], name: &str) -> Option<&'a str> {
        fields.iter().find(|field| field.0 == name).map(|field| field.1.as_str())
    }

    #[test]
    fn a_server_hears_of_buffer_throughput_and_starvation() {
        let (mut player, mut reporter) = (player(), Reporter::new("a-1".into()));
        player.step(0.0);
        let first = reporter.report(&player);
        assert_eq!(of(&first, "cmcd-object"), Some("br=1000,d=2000,ot=v,tb=2500"));
        assert_eq!(of(&first, "cmcd-request"), Some("bl=0,su"));
        assert_eq!(of(&first, "cmcd-session"), Some("sf=d,sid=\"a-1\",st=v"));
        assert_eq!(of(&first, "cmcd-status"), None);
        player.loaded(0.5, 250_000);
        player.step(0.5);
        let second = reporter.report(&player);
        assert_eq!(of(&second, "cmcd-request"), Some("bl=2000,dl=2000,mtp=4000"));
        // It comes a second after the buffer was empty.
        player.loaded(3.5, 250_000);
        player.step(3.5);
        let third = reporter.report(&player);
        assert_eq!(of(&third, "cmcd-status"), Some("bs"));
        player.loaded(3.6, 250_000);
        player.step(3.6);
        assert_eq!(of(&reporter.report(&player), "cmcd-status"), None);
    }
}
