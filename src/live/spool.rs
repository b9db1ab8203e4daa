//! What lies between libdtrace and the reader: takes all that libdtrace prints, at once, and gives it out as it is asked for.
//!
//! libdtrace writes to a pipe. If anything made it wait there it would see neither the end of the time nor Ctrl-C, so a thread
//! always empties the pipe: into memory, and beyond [`MEMORY`] into a temporary file without a name. Diagnostics
//! (`dtrace: 12 drops on CPU 0`) come by another way and are put between two lines of the text.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Bytes kept in memory before the temporary file is used.
const MEMORY: usize = 32 << 20;
/// Size of one read from the pipe.
const CHUNK: usize = 64 << 10;
/// What the pipe is to hold, where the system can be asked for that: a round of records at full load, so that libdtrace need not sleep
/// until the draining thread has its turn. The default of 64 KiB is 500 lines.
const PIPE: libc::c_int = 1 << 20;
/// Reads before clock, signals and the reader have their turn: a fast writer would keep the pipe full for ever.
const ROUND: usize = 64;

/// Text on its way from libdtrace to the reader.
pub(super) struct Spool {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    /// Reading end of the pipe, non-blocking. None once its end was seen.
    pipe: Option<OwnedFd>,
    memory: VecDeque<u8>,
    /// What did not fit into memory, from `given` to `stored`.
    file: Option<File>,
    stored: u64,
    given: u64,
    limit: usize,
    /// The last byte of text that was taken in; a line starts after a newline, and at the beginning.
    last: u8,
    has_printed: bool,
    /// Diagnostics that wait for the end of a line.
    waiting: Vec<u8>,
    chunk: Box<[u8]>,
}

impl Spool {
    /// A spool that takes in what comes out of `pipe`, which is made non-blocking.
    pub fn new(pipe: OwnedFd) -> io::Result<Spool> {
        Spool::with_limit(pipe, MEMORY)
    }

    fn with_limit(pipe: OwnedFd, limit: usize) -> io::Result<Spool> {
        set_nonblocking(pipe.as_raw_fd())?;
        let state = State {
            pipe: Some(pipe),
            memory: VecDeque::new(),
            file: None,
            stored: 0,
            given: 0,
            limit,
            last: b'\n',
            has_printed: false,
            waiting: Vec::new(),
            chunk: vec![0; CHUNK].into_boxed_slice(),
        };
        Ok(Spool { state: Mutex::new(state), changed: Condvar::new() })
    }

    /// Takes in what is in the pipe now, [`ROUND`] reads at the most. False once the pipe has ended.
    pub fn pump(&self) -> bool {
        let mut state = self.lock();
        state.pump();
        self.changed.notify_all();
        state.pipe.is_some()
    }

    /// Puts a diagnostic into the text: `dtrace: ` and `message`, at the start of a line. What was printed before it must
    /// have been flushed into the pipe.
    pub fn say(&self, message: &str) {
        let line = format!("dtrace: {}\n", message.trim_end().replace(['\n', '\r'], " "));
        let mut state = self.lock();
        state.pump();
        if state.last == b'\n' && state.pipe.is_some() {
            state.store(line.as_bytes());
        } else {
            state.waiting.extend_from_slice(line.as_bytes());
        }
        self.changed.notify_all();
    }

    /// Closes the pipe without reading what is in it: whoever writes there gets an error instead of waiting.
    pub fn cut(&self) {
        let mut state = self.lock();
        state.end();
        self.changed.notify_all();
    }

    /// True if anything has come out of the pipe.
    pub fn has_printed(&self) -> bool {
        self.lock().has_printed
    }

    /// Gives out text; waits for some unless the pipe has ended. `patience` limits each wait: it is called when it is over,
    /// and its error ends the read.
    pub fn read(&self, out: &mut [u8], mut patience: impl FnMut() -> io::Result<()>) -> io::Result<usize> {
        let mut state = self.lock();
        loop {
            patience()?;
            if state.has_text() {
                return state.give(out);
            }
            if state.pipe.is_none() {
                return Ok(0);
            }
            let pause = std::time::Duration::from_millis(100);
            state = self.changed.wait_timeout(state, pause).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn pump(&mut self) {
        let mut chunk = std::mem::take(&mut self.chunk);
        for _ in 0..ROUND {
            let Some(pipe) = &self.pipe else { break };
            match read_fd(pipe.as_raw_fd(), &mut chunk) {
                Ok(0) => self.end(),
                Ok(length) => self.take(chunk.get(..length).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(_) => self.end(),
            }
        }
        self.chunk = chunk;
    }

    /// Text from the pipe; waiting diagnostics go behind its first newline.
    fn take(&mut self, text: &[u8]) {
        let Some(&last) = text.last() else { return };
        self.has_printed = true;
        let mut rest = text;
        if !self.waiting.is_empty()
            && let Some(newline) = memchr::memchr(b'\n', text)
        {
            let (line, after) = text.split_at(newline + 1);
            let waiting = std::mem::take(&mut self.waiting);
            self.store(line);
            self.store(&waiting);
            rest = after;
        }
        self.store(rest);
        self.last = last;
    }

    fn end(&mut self) {
        if self.pipe.take().is_some() && !self.waiting.is_empty() {
            let waiting = std::mem::take(&mut self.waiting);
            if self.last != b'\n' {
                self.store(b"\n");
                self.last = b'\n';
            }
            self.store(&waiting);
        }
    }

    fn store(&mut self, text: &[u8]) {
        let spilled = self.given < self.stored;
        if !spilled && self.memory.len().saturating_add(text.len()) <= self.limit {
            self.memory.extend(text);
        } else if self.spill(text).is_err() {
            // The disk is full. Text behind the spilled part must not overtake it, so only with an empty file can memory take
            // over; else the text is kept in order by reading the file back.
            self.recall();
            self.memory.extend(text);
        }
    }

    fn spill(&mut self, text: &[u8]) -> io::Result<()> {
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(tempfile::tempfile()?),
        };
        file.seek(SeekFrom::Start(self.stored))?;
        file.write_all(text)?;
        self.stored += text.len() as u64;
        Ok(())
    }

    /// Brings the spilled part back into memory.
    fn recall(&mut self) {
        while self.given < self.stored {
            let mut part = vec![0; CHUNK];
            match self.give_spilled(&mut part) {
                Ok(length) if length > 0 => self.memory.extend(part.get(..length).unwrap_or_default()),
                _ => break,
            }
        }
    }

    fn has_text(&self) -> bool {
        !self.memory.is_empty() || self.given < self.stored
    }

    fn give(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.memory.is_empty() {
            return self.give_spilled(out);
        }
        self.memory.read(out)
    }

    fn give_spilled(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.stored - self.given).unwrap_or(usize::MAX);
        let wanted = left.min(out.len());
        let (Some(file), Some(out)) = (&mut self.file, out.get_mut(..wanted)) else { return Ok(0) };
        file.seek(SeekFrom::Start(self.given))?;
        let length = file.read(out)?;
        self.given += length as u64;
        if self.given == self.stored {
            // If that fails the space comes back with the file's end.
            let _ = file.set_len(0);
            self.given = 0;
            self.stored = 0;
        }
        Ok(length)
    }
}

/// A pipe whose two ends no child inherits.
pub(super) fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    if cfg!(target_os = "linux") {
        /// `F_SETPIPE_SZ` of <linux/fcntl.h>, which other systems do not have.
        const SET_SIZE: libc::c_int = 1031;
        // SAFETY: takes and gives plain integers. Refused, the pipe stays as it is.
        unsafe { libc::fcntl(writer.as_raw_fd(), SET_SIZE, PIPE) };
    }
    Ok((reader.into(), writer.into()))
}

fn set_nonblocking(fd: RawFd) -> io::Result<()> {
    // SAFETY: F_GETFL and F_SETFL take and give plain integers.
    let done = unsafe {
        let flags = libc::fcntl(fd, libc::F_GETFL);
        flags >= 0 && libc::fcntl(fd, libc::F_SETFL, flags | libc::O_NONBLOCK) >= 0
    };
    if done { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn read_fd(fd: RawFd, out: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the buffer is ours and its length is passed.
    let length = unsafe { libc::read(fd, out.as_mut_ptr().cast(), out.len()) };
    usize::try_from(length).map_err(|_| io::Error::last_os_error())
}

/// Waits until `fd` can be read or has ended, at most for `milliseconds`.
pub(super) fn wait_readable(fd: RawFd, milliseconds: i32) {
    let mut wanted = libc::pollfd { fd, events: libc::POLLIN, revents: 0 };
    // SAFETY: one pollfd, and its count is 1.
    unsafe { libc::poll(&mut wanted, 1, milliseconds) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spool(limit: usize) -> (Spool, File) {
        let (reader, writer) = pipe().unwrap();
        (Spool::with_limit(reader, limit).unwrap(), File::from(writer))
    }

    fn all(spool: &Spool) -> String {
        let (mut text, mut part) = (Vec::new(), [0; 7]);
        loop {
            let length = spool.read(&mut part, || Ok(())).unwrap();
            if length == 0 {
                return String::from_utf8(text).unwrap();
            }
            text.extend_from_slice(&part[..length]);
        }
    }

    #[test]
    fn diagnostics_stand_at_line_starts() {
        let (spool, mut pipe) = spool(MEMORY);
        spool.say("first");
        pipe.write_all(b"one\ntw").unwrap();
        spool.say("second\n");
        pipe.write_all(b"o").unwrap();
        spool.say("third");
        pipe.write_all(b"\nthree\nend").unwrap();
        spool.say("fourth");
        drop(pipe);
        assert!(!spool.pump());
        assert_eq!(all(&spool), "dtrace: first\none\ntwo\ndtrace: second\ndtrace: third\nthree\nend\ndtrace: fourth\n");
    }

    #[test]
    fn order_survives_the_temporary_file() {
        let (spool, mut pipe) = spool(10);
        let mut expected = String::new();
        let mut seen = Vec::new();
        for number in 0..2000 {
            let line = format!("line {number}\n");
            expected += &line;
            pipe.write_all(line.as_bytes()).unwrap();
            spool.pump();
            if number % 3 == 0 {
                let mut part = [0; 20];
                let length = spool.read(&mut part, || Ok(())).unwrap();
                seen.extend_from_slice(&part[..length]);
            }
        }
        drop(pipe);
        spool.pump();
        assert_eq!(String::from_utf8(seen).unwrap() + &all(&spool), expected);
    }

    /// The disk under the temporary file is full: what is in the file already comes first, then memory takes over.
    #[test]
    fn order_survives_a_full_disk() {
        let (spool, mut pipe) = spool(10);
        for part in ["one\n", "two\n", "three\n", "four\n"] {
            pipe.write_all(part.as_bytes()).unwrap();
            spool.pump();
        }
        // From now on it can only be read.
        let spilled = spool.lock().file.take().unwrap();
        let Ok(reading) = File::open(format!("/dev/fd/{}", spilled.as_raw_fd())) else { return };
        spool.lock().file = Some(reading);
        for part in ["five\n", "six\n"] {
            pipe.write_all(part.as_bytes()).unwrap();
            spool.pump();
        }
        drop(pipe);
        spool.pump();
        assert_eq!(all(&spool), "one\ntwo\nthree\nfour\nfive\nsix\n");
    }

    #[test]
    fn a_cut_pipe_fails_its_writer() {
        let (spool, mut pipe) = spool(MEMORY);
        spool.cut();
        assert!(pipe.write_all(b"x").is_err());
        assert_eq!(all(&spool), "");
    }
}
