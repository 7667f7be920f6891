//! Flow control (RFC 9113, section 5.2).

use headway_wire::h2::MAX_WINDOW;

/// A window above 2^31-1, which is an error (RFC 9113, section 6.9.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

/// More came than the window allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Exceeded;

/// What may be sent on a connection, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendWindow(i64);

impl SendWindow {
    pub(super) fn new(bytes: u32) -> Self {
        Self(i64::from(bytes))
    }

    pub(super) fn available(self) -> usize {
        usize::try_from(self.0).unwrap_or(0)
    }

    pub(super) fn take(&mut self, bytes: usize) {
        self.0 -= bytes as i64;
    }

    pub(super) fn widen(&mut self, bytes: u32) -> Result<(), TooLarge> {
        let changed = self.0 + i64::from(bytes);
        if changed > i64::from(MAX_WINDOW) {
            return Err(TooLarge);
        }
        self.0 = changed;
        Ok(())
    }
}

/// What may be sent on a stream, in bytes beyond the peer's initial window. That changes for all
/// streams at once (RFC 9113, section 6.9.2), and no stream has to be visited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct StreamWindow(i64);

impl StreamWindow {
    pub(super) fn available(self, initial: u32) -> usize {
        usize::try_from(self.0 + i64::from(initial)).unwrap_or(0)
    }

    pub(super) fn take(&mut self, bytes: usize) {
        self.0 -= bytes as i64;
    }

    pub(super) fn widen(&mut self, bytes: u32, initial: u32) -> Result<(), TooLarge> {
        self.0 += i64::from(bytes);
        self.check(initial)
    }

    pub(super) fn check(self, initial: u32) -> Result<(), TooLarge> {
        let total = self.0 + i64::from(initial);
        if total > i64::from(MAX_WINDOW) { Err(TooLarge) } else { Ok(()) }
    }
}

/// What the peer may send, in bytes. The peer is told when half the window was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReceiveWindow {
    size: u32,
    /// Of what came, what nobody has read.
    unread: u32,
    /// What was read, and the peer was not told.
    used: u32,
}

impl ReceiveWindow {
    pub(super) fn new(size: u32) -> Self {
        Self { size, unread: 0, used: 0 }
    }

    /// Counts bytes that came and were read at once.
    ///
    /// # Returns
    /// The increment to announce, if it is time.
    pub(super) fn receive(&mut self, bytes: u32) -> Result<Option<u32>, Exceeded> {
        self.arrive(bytes)?;
        Ok(self.read(bytes))
    }

    /// Counts bytes that came, and that somebody will read.
    pub(super) fn arrive(&mut self, bytes: u32) -> Result<(), Exceeded> {
        let held = self.used.checked_add(self.unread).and_then(|held| held.checked_add(bytes));
        held.filter(|&held| held <= self.size).ok_or(Exceeded)?;
        self.unread += bytes;
        Ok(())
    }

    /// Bytes that came were read.
    ///
    /// # Returns
    /// The increment to announce, if it is time.
    pub(super) fn read(&mut self, bytes: u32) -> Option<u32> {
        self.unread -= bytes;
        self.used += bytes;
        self.due()
    }

    /// The window is another one from now on, whatever came before.
    ///
    /// # Returns
    /// The increment to announce, if it is time.
    pub(super) fn resize(&mut self, size: u32) -> Option<u32> {
        self.size = size;
        self.due()
    }

    fn due(&mut self) -> Option<u32> {
        let due = self.used > 0 && self.used >= self.size / 2;
        due.then(|| std::mem::take(&mut self.used))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_streams_window_may_be_negative() {
        let mut window = StreamWindow::default();
        window.take(80);
        assert_eq!(window.available(100), 20);
        // The peer's SETTINGS make all windows smaller by 50.
        assert_eq!(window.available(50), 0);
        window.widen(40, 50).unwrap();
        assert_eq!(window.available(50), 10);
        assert_eq!(window.check(MAX_WINDOW), Ok(()));
        assert_eq!(window.widen(41, MAX_WINDOW), Err(TooLarge));
    }

    #[test]
    fn a_send_window_has_an_upper_limit() {
        let mut window = SendWindow::new(MAX_WINDOW - 1);
        window.widen(1).unwrap();
        assert_eq!(window.widen(1), Err(TooLarge));
        assert_eq!(window.available(), MAX_WINDOW as usize);
    }

    #[test]
    fn what_nobody_reads_is_not_announced() {
        let mut window = ReceiveWindow::new(100);
        assert_eq!((window.arrive(60), window.receive(40)), (Ok(()), Ok(None)));
        assert_eq!(window.arrive(1), Err(Exceeded));
        assert_eq!((window.read(9), window.read(1)), (None, Some(50)));
        assert_eq!((window.arrive(50), window.arrive(1)), (Ok(()), Err(Exceeded)));
    }

    #[test]
    fn half_a_window_is_announced() {
        let mut window = ReceiveWindow::new(100);
        assert_eq!(window.receive(49), Ok(None));
        assert_eq!(window.receive(1), Ok(Some(50)));
        assert_eq!(window.receive(100), Ok(Some(100)));
        assert_eq!(window.receive(0), Ok(None));
        assert_eq!(window.receive(101), Err(Exceeded));
        assert_eq!(ReceiveWindow::new(0).receive(1), Err(Exceeded));
        // A peer that has sent more than a smaller window allows waits to be told to go on.
        let mut window = ReceiveWindow::new(100);
        assert_eq!(window.receive(40), Ok(None));
        assert_eq!((window.resize(10), window.receive(11)), (Some(40), Err(Exceeded)));
    }
}
