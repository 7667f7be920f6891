//! Which messages are questions, and what becomes of others.

use domain::base::iana::{OptRcode, Rcode, Rtype};
use domain::base::{Message, MessageBuilder};

/// Where the flags are in a header (RFC 1035, section 4.1.1), and what of them.
const FLAGS: usize = 2;
const RESPONSE: u8 = 0x80;
const OPCODE: u8 = 0x78;
const RECURSION_DESIRED: u8 = 0x01;
const RECURSION_AVAILABLE: u8 = 0x80;

/// Why a message is not answered as it asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flaw {
    /// It cannot be read, or it has not one question.
    Format,
    /// It asks for something else than an answer.
    Kind,
    /// Its EDNS is of a later version (RFC 6891, section 6.1.3).
    Version,
}

impl Flaw {
    /// The answer, which repeats nothing of what cannot be read.
    pub(crate) fn refusal(self, query: &[u8]) -> Option<Vec<u8>> {
        let rcode = match self {
            Self::Format => Rcode::FORMERR,
            Self::Kind => Rcode::NOTIMP,
            Self::Version => return later_version(query),
        };
        let [first, second, flags, ..] = *query else { return None };
        let flags = RESPONSE | (flags & (OPCODE | RECURSION_DESIRED));
        let mut answer = vec![first, second, flags, RECURSION_AVAILABLE | rcode.to_int()];
        answer.extend([0; 8]);
        Some(answer)
    }
}

fn later_version(query: &[u8]) -> Option<Vec<u8>> {
    let message = Message::from_octets(query).ok()?;
    let mut builder = MessageBuilder::new_vec();
    builder.header_mut().set_ra(true);
    let mut builder = builder.start_answer(&message, Rcode::NOERROR).ok()?.additional();
    let told = builder.opt(|opt| {
        opt.set_rcode(OptRcode::BADVERS);
        Ok(())
    });
    told.ok()?;
    Some(builder.finish())
}

/// A message that is a question.
///
/// # Errors
/// It is none. Nothing is answered to an answer, nor to what has no flags.
pub(crate) fn checked(query: &[u8]) -> Result<Message<&[u8]>, Option<Flaw>> {
    let Some(flags) = query.get(FLAGS) else { return Err(None) };
    if flags & RESPONSE != 0 {
        return Err(None);
    }
    if flags & OPCODE != 0 {
        return Err(Some(Flaw::Kind));
    }
    let message = Message::from_octets(query).map_err(|_| Some(Flaw::Format))?;
    let options = options(&message).ok_or(Some(Flaw::Format))?;
    match (options, message.opt().map(|opt| opt.version())) {
        (0, _) | (1, Some(0)) => Ok(message),
        (1, Some(_)) => Err(Some(Flaw::Version)),
        _ => Err(Some(Flaw::Format)),
    }
}

/// How many OPT records a message has; none if it has not one question, or a record cannot be read.
fn options(message: &Message<&[u8]>) -> Option<usize> {
    message.sole_question().ok()?;
    let mut options = 0;
    let mut section = Some(message.answer().ok()?);
    while let Some(mut records) = section {
        for record in &mut records {
            options += usize::from(record.ok()?.rtype() == Rtype::OPT);
        }
        section = records.next_section().ok()?;
    }
    Some(options)
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &[u8] = &[0, 1, 0, 1];
    const OPT: &[u8] = &[0, 0, 41, 16, 0, 0, 0, 0, 0, 0, 0];

    /// A message of RFC 1035, section 4.1.
    ///
    /// # Arguments
    /// * `counts` - of questions, answers, authorities and additional records.
    fn message(flags: u16, counts: [u16; 4], rest: &[&[u8]]) -> Vec<u8> {
        let header = [&[7, flags][..], &counts].concat();
        let header = header.iter().flat_map(|field| field.to_be_bytes());
        header.chain(rest.concat()).collect()
    }

    fn name(labels: &[usize]) -> Vec<u8> {
        let labels =
            labels.iter().flat_map(|&length| [vec![length as u8], vec![b'a'; length]].concat());
        labels.chain([0]).collect()
    }

    /// The code of the answer, with EDNS's upper bits.
    fn code(query: &[u8]) -> Option<u16> {
        let answer = checked(query).err()??.refusal(query)?;
        assert_eq!((&answer[..2], answer[2] & RESPONSE), (&query[..2], RESPONSE));
        let message = Message::from_octets(&answer).unwrap();
        let upper = message.opt().map_or(0, |opt| opt.rcode(message.header()).to_int() >> 4);
        Some(upper << 4 | u16::from(message.header().rcode().to_int()))
    }

    #[test]
    fn questions_are_questions() {
        let asks = &name(&[6, 4]);
        for (counts, rest) in [([1, 0, 0, 0], &[&asks[..], A][..]), ([1, 0, 0, 1], &[asks, A, OPT])]
        {
            assert!(checked(&message(0x100, counts, rest)).is_ok());
        }
        // 255 bytes, of labels of 63.
        let longest = name(&[63, 63, 63, 61]);
        assert!(checked(&message(0, [1, 0, 0, 0], &[&longest, A])).is_ok());
    }

    #[test]
    fn what_cannot_be_read_is_a_format_error() {
        let asks = &name(&[6, 4])[..];
        let one = [1, 0, 0, 0];
        let later_options = [0, 0, 41, 16, 0, 0, 0, 0, 0, 0xff, 0xff];
        for (what, query) in [
            ("no question", message(0, [0; 4], &[])),
            ("two questions", message(0, [2, 0, 0, 0], &[asks, A, asks, A])),
            ("65535 questions", message(0, [65_535, 0, 0, 0], &[asks, A])),
            ("a pointer to itself", message(0, one, &[&[0xc0, 12], A])),
            ("a label and a pointer to it", message(0, one, &[&[1, b'a', 0xc0, 12], A])),
            ("two pointers to each other", message(0, one, &[&[0xc0, 14, 0xc0, 12], A])),
            ("a pointer beyond the end", message(0, one, &[&[0xc0, 0xff], A])),
            ("a label of 64 bytes", message(0, one, &[&name(&[64]), A])),
            ("a label of a kind that there is not", message(0, one, &[&[0x80, 1, 2, 0], A])),
            ("a label cut short", message(0, one, &[&[63, b'a', b'a']])),
            ("a name of 256 bytes", message(0, one, &[&name(&[63, 63, 63, 62]), A])),
            ("a question without its class", message(0, one, &[asks, &[0, 1]])),
            ("records that are not there", message(0, [1, 0, 0, 65_535], &[asks, A])),
            ("an answer that is not there", message(0, [1, 1, 0, 0], &[asks, A])),
            ("options cut short", message(0, [1, 0, 0, 1], &[asks, A, &later_options])),
            ("two OPT", message(0, [1, 0, 0, 2], &[asks, A, OPT, OPT])),
            ("a header cut short", message(0, one, &[])[..11].to_vec()),
            ("flags alone", vec![0, 7, 1]),
        ] {
            assert_eq!(code(&query), Some(1), "{what}");
        }
    }

    #[test]
    fn what_is_no_question_of_today() {
        let asks = &name(&[6, 4])[..];
        let plain = |flags| message(flags, [1, 0, 0, 0], &[asks, A]);
        // Updates and an opcode that there is not: NOTIMP.
        assert_eq!([0x2800, 0x7800].map(|flags| code(&plain(flags))), [Some(4); 2]);
        let later = [0, 0, 41, 16, 0, 0, 1, 0, 0, 0, 0];
        assert_eq!(code(&message(0, [1, 0, 0, 1], &[asks, A, &later])), Some(16), "BADVERS");
        // Nothing is answered to an answer, nor to what has no identifier and flags.
        assert_eq!(checked(&plain(0x8000)).err(), Some(None));
        assert_eq!([&b""[..], b"a", b"ab"].map(|query| checked(query).err()), [Some(None); 3]);
    }
}
