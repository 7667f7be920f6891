//! System calls that move no data, and the way to a waiting thread and back.

use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::thread;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::getppid;
use serde::Serialize;

use crate::timing::each_ns;

const TIMES: u32 = 20_000;
const NOT_AT_ALL: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

/// Nanoseconds; the names are the study file's keys.
#[derive(Debug, Serialize)]
pub(crate) struct CallCosts {
    call: f64,
    send_call: f64,
    receive_call: f64,
    wait_call: f64,
    switch: f64,
}

impl CallCosts {
    pub(crate) fn measured() -> io::Result<Self> {
        let (mut near, mut far) = UnixStream::pair()?;
        let call = each_ns(TIMES, || {
            let _parent = getppid();
            Ok(())
        })?;
        let mut byte = [0; 1];
        let both = each_ns(TIMES, || {
            near.write_all(&byte)?;
            far.read_exact(&mut byte)
        })?;
        near.write_all(&byte)?;
        let wait_call = each_ns(TIMES, || {
            let mut asked = [PollFd::from_borrowed_fd(far.as_fd(), PollFlags::IN)];
            poll(&mut asked, Some(&NOT_AT_ALL))?;
            Ok(())
        })?;
        // A write of one byte and its read are nearly all the cost of the two calls.
        let (send_call, receive_call) = (both / 2.0, both / 2.0);
        let switch = (round_trip_ns()? - 2.0 * both).max(0.0) / 2.0;
        Ok(Self { call, send_call, receive_call, wait_call, switch })
    }
}

/// To another thread that waits on the same core, and back.
fn round_trip_ns() -> io::Result<f64> {
    let (mut near, mut far) = UnixStream::pair()?;
    let other = thread::spawn(move || {
        let mut byte = [0; 1];
        while far.read_exact(&mut byte).and_then(|()| far.write_all(&byte)).is_ok() {}
    });
    let mut byte = [0; 1];
    let found = each_ns(TIMES / 4, || {
        near.write_all(&byte)?;
        near.read_exact(&mut byte)
    });
    drop(near);
    let ended = other.join();
    debug_assert!(ended.is_ok());
    found
}
