/// What of Linux's arithmetic may be left out, to see what it makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LinuxPart {
    /// Thresholds are cut to whole packets; without it fractions are carried over to the next one.
    Rounding,
    /// CUBIC is evaluated every 31 ms while the window stays; without it at every acknowledgement.
    Ticks,
    /// What comes beyond a gap makes nothing grow; without it everything does.
    Gaps,
    /// The window is reduced packet by packet (RFC 6937); without it at once.
    Reduction,
    /// A recovery ends when all that was sent before is delivered; without it with the first
    /// acknowledgement of what was sent since.
    Recovery,
}
