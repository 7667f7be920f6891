/// Destination and source connection ID of a packet; short headers have no source.
///
/// # Arguments
/// * `header` - with the packet number, before header protection (RFC 9000 section 17).
pub(super) fn connection_ids(header: &[u8]) -> (&[u8], Option<&[u8]>) {
    const LONG: u8 = 0x80;
    let Some(&first) = header.first() else { return (&[], None) };
    if first & LONG == 0 {
        let number = usize::from(first & 0x03) + 1;
        return (header.get(1..header.len().saturating_sub(number)).unwrap_or(&[]), None);
    }
    let version = 4;
    let rest = header.get(1 + version..).unwrap_or(&[]);
    let (destination, rest) = prefixed(rest);
    let (source, _) = prefixed(rest);
    (destination, Some(source))
}

/// What follows its length in one byte, and the rest.
fn prefixed(bytes: &[u8]) -> (&[u8], &[u8]) {
    bytes
        .split_first()
        .and_then(|(&length, rest)| rest.split_at_checked(length.into()))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms() {
        let short = [0x41, 1, 2, 3, 0, 9];
        assert_eq!(connection_ids(&short), (&[1, 2, 3][..], None));
        let long = [0xc0, 0, 0, 0, 1, 2, 7, 8, 1, 9, 0];
        assert_eq!(connection_ids(&long), (&[7, 8][..], Some(&[9][..])));
    }

    #[test]
    fn nothing_is_read_that_is_not_there() {
        assert_eq!(connection_ids(&[0xc0, 0, 0, 0, 1, 200]), (&[][..], Some(&[][..])));
        assert_eq!(connection_ids(&[0x43]), (&[][..], None));
        assert_eq!(connection_ids(&[]), (&[][..], None));
    }
}
