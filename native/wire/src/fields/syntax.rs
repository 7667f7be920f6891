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
