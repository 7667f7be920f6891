//! Which content coding of a representation a client gets (RFC 9110, section 12.5.3).

use headway_wire::Fields;

/// A content coding, whose files have an ending of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    /// RFC 7932.
    Brotli,
    /// RFC 1952.
    Gzip,
}

impl Coding {
    /// All, the preferred one first.
    pub(super) const ALL: [Self; 2] = [Self::Brotli, Self::Gzip];

    /// Its name in Accept-Encoding and Content-Encoding.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
        }
    }

    /// What is appended to the name of a file for the name of its encoded sibling.
    pub(super) const fn ending(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Gzip => ".gz",
        }
    }
}

/// What Accept-Encoding says of codings, in thousandths: 0 is not acceptable, none is not mentioned.
#[derive(Clone, Copy, Debug, Default)]
struct Acceptable {
    codings: [Option<u16>; Coding::ALL.len()],
    identity: Option<u16>,
    /// All that are not mentioned.
    others: Option<u16>,
}

impl Acceptable {
    fn parse(value: &[u8]) -> Self {
        let mut acceptable = Self::default();
        for member in value.split(|&byte| byte == b',') {
            let mut pieces = member.split(|&byte| byte == b';').map(<[u8]>::trim_ascii);
            let name = pieces.next().unwrap_or_default().to_ascii_lowercase();
            let Some(weight) = weight(pieces.next()) else { continue };
            match &name[..] {
                b"br" => acceptable.codings[0] = Some(weight),
                // RFC 9110, section 8.4.1.3.
                b"gzip" | b"x-gzip" => acceptable.codings[1] = Some(weight),
                b"identity" => acceptable.identity = Some(weight),
                b"*" => acceptable.others = Some(weight),
                _ => {}
            }
        }
        acceptable
    }
}

/// RFC 9110, section 12.4.2, in thousandths; none if it is not valid.
fn weight(parameter: Option<&[u8]>) -> Option<u16> {
    let Some(parameter) = parameter else { return Some(1000) };
    let value = parameter.strip_prefix(b"q=").or_else(|| parameter.strip_prefix(b"Q="))?;
    let (whole, decimals) = match value {
        [whole] => (whole, &b""[..]),
        [whole, b'.', decimals @ ..] if decimals.len() <= 3 => (whole, decimals),
        _ => return None,
    };
    if !decimals.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let digits = decimals.iter().chain(b"000").take(3);
    let thousandths = digits.fold(0, |sum, digit| sum * 10 + u16::from(digit - b'0'));
    match (whole, thousandths) {
        (b'0', _) => Some(thousandths),
        (b'1', 0) => Some(1000),
        _ => None,
    }
}

/// Chooses among the representations that there are: without a coding, and with these.
///
/// # Returns
/// The coding, or none for no coding.
///
/// # Errors
/// The client accepts none of them.
pub(super) fn choose(there: &[Coding], fields: &Fields) -> Result<Option<Coding>, NotAcceptable> {
    let Some(value) = fields.joined("accept-encoding") else { return Ok(None) };
    let acceptable = Acceptable::parse(&value);
    let of =
        |coding: Coding| acceptable.codings[coding as usize].or(acceptable.others).unwrap_or(0);
    // Of equal weights, the first.
    let best =
        there.iter().fold(
            None,
            |best: Option<Coding>, &coding| {
                if of(coding) > best.map_or(0, of) { Some(coding) } else { best }
            },
        );
    match (best, acceptable.identity) {
        // A client that says what it thinks of no coding may prefer it.
        (Some(coding), Some(identity)) if identity > of(coding) => Ok(None),
        (Some(coding), _) => Ok(Some(coding)),
        (None, Some(0)) => Err(NotAcceptable),
        (None, None) if acceptable.others == Some(0) => Err(NotAcceptable),
        (None, _) => Ok(None),
    }
}

/// There is nothing that the client accepts: status 406.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NotAcceptable;

#[cfg(test)]
mod tests {
    use headway_wire::Field;

    use super::*;

    type Choice = Result<Option<Coding>, NotAcceptable>;

    /// Accept-Encoding, and what is sent if both siblings are there, if gzip's is, and if none is.
    #[test]
    fn choices() {
        use Coding::{Brotli, Gzip};
        let (br, gzip, plain) = (Ok(Some(Brotli)), Ok(Some(Gzip)), Ok(None));
        let none = Err(NotAcceptable);
        let cases: [(&str, [Choice; 3]); 24] = [
            ("", [plain, plain, plain]),
            ("gzip, deflate, br, zstd", [br, gzip, plain]),
            ("gzip", [gzip, gzip, plain]),
            ("x-gzip", [gzip, gzip, plain]),
            ("GZIP ; Q=0.5", [gzip, gzip, plain]),
            ("br;q=0.5, gzip;q=0.501", [gzip, gzip, plain]),
            ("br;q=1.000, gzip;q=1", [br, gzip, plain]),
            ("br;q=0, gzip", [gzip, gzip, plain]),
            ("br;q=0.0,gzip;q=0.000", [plain, plain, plain]),
            ("*", [br, gzip, plain]),
            ("*;q=0.1, br;q=0", [gzip, gzip, plain]),
            ("identity", [plain, plain, plain]),
            ("identity, gzip;q=0.9", [plain, plain, plain]),
            ("identity;q=0.5, gzip;q=0.5", [gzip, gzip, plain]),
            ("identity;q=0, gzip", [gzip, gzip, none]),
            ("identity;q=0", [none, none, none]),
            ("*;q=0", [none, none, none]),
            ("*;q=0, br", [br, none, none]),
            ("*;q=0, identity;q=0.1", [plain, plain, plain]),
            ("identity;q=0, *", [br, gzip, none]),
            ("deflate, zstd", [plain, plain, plain]),
            // Without a valid weight a member says nothing.
            ("gzip;q=1.001", [plain, plain, plain]),
            ("gzip;q=0.0001, br;x=1", [plain, plain, plain]),
            ("gzip;q=.5, br;q=a", [plain, plain, plain]),
        ];
        for (value, expected) in cases {
            let fields: Fields = vec![Field::new("accept-encoding", value)].into();
            let chosen = [&[Brotli, Gzip][..], &[Gzip], &[]].map(|there| choose(there, &fields));
            assert_eq!(chosen, expected, "{value}");
        }
        assert_eq!(choose(&Coding::ALL, &Fields::new()), Ok(None));
        let twice =
            [Field::new("accept-encoding", "br;q=0.1"), Field::new("accept-encoding", "gzip")];
        assert_eq!(choose(&Coding::ALL, &twice.into_iter().collect()), Ok(Some(Gzip)));
    }
}
