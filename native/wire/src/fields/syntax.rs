//! What field names and values are made of (RFC 9110 §5.1, §5.5, §5.6.2).

use super::Malformed;

/// RFC 9110 §5.6.2.
fn is_token_char(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Whether `bytes` is a token (RFC 9110 §5.6.2).
pub(crate) fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().copied().all(is_token_char)
}

/// A field name of a field section: a token without upper case (RFC 9114 §4.2, RFC 9113 §8.2.1).
pub(super) fn check_name(name: &[u8]) -> Result<(), Malformed> {
    if !is_token(name) {
        return Err(Malformed("a field name that is not a token"));
    }
    if name.iter().any(u8::is_ascii_uppercase) {
        return Err(Malformed("a field name with upper case"));
    }
    Ok(())
}

/// A field value (RFC 9110 §5.5, RFC 9113 §8.2.1).
pub(super) fn check_value(value: &[u8]) -> Result<(), Malformed> {
    if value.iter().any(|byte| matches!(byte, 0 | b'\r' | b'\n')) {
        return Err(Malformed("a field value with NUL or a line break"));
    }
    let space = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    if space(value.first()) || space(value.last()) {
        return Err(Malformed("a field value with white space around it"));
    }
    Ok(())
}

/// Whether `bytes` is the host, and perhaps the port, of an http or https URI (RFC 3986 §3.2, RFC 9110
/// §4.2): neither userinfo, nor what belongs behind the authority.
pub(crate) fn is_authority(bytes: &[u8]) -> bool {
    let (host, port) = match bytes.iter().rposition(|&byte| byte == b':') {
        // The colons of an address of IPv6 are within brackets.
        Some(colon) if !bytes[colon..].contains(&b']') => (&bytes[..colon], &bytes[colon + 1..]),
        _ => (bytes, &[][..]),
    };
    let host = match host.strip_prefix(b"[") {
        Some(rest) => match rest.strip_suffix(b"]") {
            Some(address) if address.contains(&b':') => address,
            _ => return false,
        },
        None if host.contains(&b':') => return false,
        None => host,
    };
    let of_host = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=%:".contains(byte);
    !host.is_empty() && host.iter().all(of_host) && port.iter().all(u8::is_ascii_digit)
}

/// Whether `bytes` is a URI's scheme (RFC 3986 §3.1).
pub(crate) fn is_scheme(bytes: &[u8]) -> bool {
    let of_scheme = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.iter().all(of_scheme)
}

/// A decimal number of digits only.
pub(crate) fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorities() {
        for good in ["a", "a.example:443", "127.0.0.1", "[::1]", "[2001:db8::1]:80", "a%20b", "a:"]
        {
            assert!(is_authority(good.as_bytes()), "{good}");
        }
        let bad = [
            "", ":80", "user@a", "a/b", "a?c", "a#d", "a:x", "a:1:2", "::1", "[a]", "[::1",
            "[::1]x", "ü",
        ];
        for bad in bad {
            assert!(!is_authority(bad.as_bytes()), "{bad}");
        }
    }

    #[test]
    fn schemes() {
        assert!(is_scheme(b"https") && is_scheme(b"coap+tcp") && is_scheme(b"H2"));
        assert!(!is_scheme(b"") && !is_scheme(b"1a") && !is_scheme(b"a/b"));
    }
}
