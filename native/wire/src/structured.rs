//! Dictionaries of structured fields (RFC 9651 §4.2.2), as far as anybody here asks: integers and
//! booleans; everything else is checked and forgotten.

/// The value of a member; its parameters are dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    Integer(i64),
    Boolean(bool),
    Other,
}

/// The members of a dictionary in their order; of those with the same key the last counts. `None` if it
/// is not one.
pub(crate) fn dictionary(value: &[u8]) -> Option<Vec<(&[u8], Item)>> {
    let mut parser = Parser { rest: value };
    let mut members: Vec<(&[u8], Item)> = Vec::new();
    parser.skip(b" ");
    while !parser.rest.is_empty() {
        let key = parser.key()?;
        let item = parser.member_value()?;
        if members.len() == MAX_MEMBERS {
            return None;
        }
        members.push((key, item));
        parser.skip(b" \t");
        if parser.rest.is_empty() {
            break;
        }
        parser.expect(b',')?;
        parser.skip(b" \t");
        if parser.rest.is_empty() {
            return None; // a comma at the end
        }
    }
    parser.skip(b" ");
    Some(members)
}

/// RFC 9651 §3.2: at least so many must be supported.
const MAX_MEMBERS: usize = 1024;

struct Parser<'a> {
    rest: &'a [u8],
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*first)
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        (self.next()? == byte).then_some(())
    }

    /// Takes `byte` if it is next.
    fn accept(&mut self, byte: u8) -> bool {
        let accepted = self.peek() == Some(byte);
        if accepted {
            self.rest = &self.rest[1..];
        }
        accepted
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'a [u8] {
        let len = self.rest.iter().take_while(|&&byte| wanted(byte)).count();
        let (taken, rest) = self.rest.split_at(len);
        self.rest = rest;
        taken
    }

    fn skip(&mut self, bytes: &[u8]) {
        self.take_while(|byte| bytes.contains(&byte));
    }

    /// RFC 9651 §4.2.3.3.
    fn key(&mut self) -> Option<&'a [u8]> {
        let starts = self.peek().is_some_and(|byte| byte.is_ascii_lowercase() || byte == b'*');
        starts.then(|| {
            self.take_while(|byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_-.*".contains(&byte)
            })
        })
    }

    /// RFC 9651 §4.2.2: what follows the key of a member.
    fn member_value(&mut self) -> Option<Item> {
        let item = if !self.accept(b'=') {
            Item::Boolean(true)
        } else if self.accept(b'(') {
            self.inner_list()?;
            Item::Other
        } else {
            self.bare_item()?
        };
        self.parameters()?;
        Some(item)
    }

    /// RFC 9651 §4.2.1.2, behind the opening parenthesis.
    fn inner_list(&mut self) -> Option<()> {
        loop {
            self.skip(b" ");
            if self.accept(b')') {
                return Some(());
            }
            self.bare_item()?;
            self.parameters()?;
            if !matches!(self.peek()?, b' ' | b')') {
                return None;
            }
        }
    }

    /// RFC 9651 §4.2.3.2.
    fn parameters(&mut self) -> Option<()> {
        while self.accept(b';') {
            self.skip(b" ");
            self.key()?;
            if self.accept(b'=') {
                self.bare_item()?;
            }
        }
        Some(())
    }

    /// RFC 9651 §4.2.3.1.
    fn bare_item(&mut self) -> Option<Item> {
        match self.peek()? {
            b'-' | b'0'..=b'9' => self.number(),
            b'?' => self.boolean(),
            b'"' => self.string(),
            b':' => self.byte_sequence(),
            b'@' => self.date(),
            b'%' => self.display_string(),
            b'*' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.take_while(|byte| {
                    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&byte)
                });
                Some(Item::Other)
            }
            _ => None,
        }
    }

    /// RFC 9651 §4.2.4: an integer of up to 15 digits, or a decimal of up to 12 and 3.
    fn number(&mut self) -> Option<Item> {
        let sign = if self.accept(b'-') { -1 } else { 1 };
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        if self.accept(b'.') {
            let fraction = self.take_while(|byte| byte.is_ascii_digit());
            let fits = matches!(digits.len(), 1..=12) && matches!(fraction.len(), 1..=3);
            return fits.then_some(Item::Other);
        }
        let value = digits.iter().fold(0_i64, |value, digit| {
            value.saturating_mul(10).saturating_add(i64::from(digit - b'0'))
        });
        matches!(digits.len(), 1..=15).then_some(Item::Integer(sign * value))
    }

    /// RFC 9651 §4.2.8.
    fn boolean(&mut self) -> Option<Item> {
        self.expect(b'?')?;
        match self.next()? {
            b'0' => Some(Item::Boolean(false)),
            b'1' => Some(Item::Boolean(true)),
            _ => None,
        }
    }

    /// RFC 9651 §4.2.5.
    fn string(&mut self) -> Option<Item> {
        self.expect(b'"')?;
        loop {
            match self.next()? {
                b'"' => return Some(Item::Other),
                b'\\' => match self.next()? {
                    b'"' | b'\\' => {}
                    _ => return None,
                },
                b' '..=b'~' => {}
                _ => return None,
            }
        }
    }

    /// RFC 9651 §4.2.7, without decoding it.
    fn byte_sequence(&mut self) -> Option<Item> {
        self.expect(b':')?;
        self.take_while(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte));
        self.expect(b':')?;
        Some(Item::Other)
    }

    /// RFC 9651 §4.2.9.
    fn date(&mut self) -> Option<Item> {
        self.expect(b'@')?;
        matches!(self.number()?, Item::Integer(_)).then_some(Item::Other)
    }

    /// RFC 9651 §4.2.10, without decoding it.
    fn display_string(&mut self) -> Option<Item> {
        self.expect(b'%')?;
        self.expect(b'"')?;
        loop {
            match self.next()? {
                b'"' => return Some(Item::Other),
                b'%' => {
                    for _ in 0..2 {
                        let digit = self.next()?;
                        matches!(digit, b'0'..=b'9' | b'a'..=b'f').then_some(())?;
                    }
                }
                b' '..=b'~' => {}
                _ => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(value: &str) -> Option<Vec<(&str, Item)>> {
        let members = dictionary(value.as_bytes())?;
        Some(
            members
                .into_iter()
                .map(|(key, item)| (std::str::from_utf8(key).unwrap(), item))
                .collect(),
        )
    }

    #[test]
    fn values_of_every_type() {
        let value = " a=1, b=-12;x, c=?0\t,\td, e=1.5, f=\"a\\\"b\", g=tok/en, h=:YQ==:, i=@7, \
                     j=%\"%c3%bc\", k=(1 \"2\";p=?1 x);q, a=2 ";
        let members = parse(value).unwrap();
        let known = [
            ("a", Item::Integer(1)),
            ("b", Item::Integer(-12)),
            ("c", Item::Boolean(false)),
            ("d", Item::Boolean(true)),
        ];
        assert_eq!(members[..4], known);
        assert!(members[4..11].iter().all(|member| member.1 == Item::Other));
        assert_eq!(members[11..], [("a", Item::Integer(2))]);
    }

    #[test]
    fn what_is_wrong() {
        let bad = [
            "a,",
            "A",
            "1=1",
            "a=",
            "a b",
            "a=1234567890123456",
            "a=1.",
            "a=1.2345",
            "a=-",
            "a=?2",
            "a=?",
            "a=\"",
            "a=\"\\x\"",
            "a=\"\u{7f}\"",
            "a=:a",
            "a=:~:",
            "a=@1.5",
            "a=%\"%C3\"",
            "a=%x",
            "a=(1",
            "a=(1,2)",
            "a=(1\"\")",
            "a;",
            "a;=1",
            "a;B",
            "\ta",
        ];
        for value in bad {
            assert_eq!(parse(value), None, "{value:?}");
        }
        assert_eq!(parse("  ").unwrap(), []);
    }

    #[test]
    fn number_of_members_is_bounded() {
        let value = |members: usize| {
            let members: Vec<_> = (0..members).map(|index| format!("a{index}")).collect();
            members.join(",")
        };
        assert_eq!(parse(&value(1024)).unwrap().len(), 1024);
        assert_eq!(parse(&value(1025)), None);
    }
}
