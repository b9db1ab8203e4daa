//! Inputs: files, standard input, live sessions, as lines of bytes.
//!
//! Compressed files are found by content (gzip), UTF-16 by its byte order mark. Lines are slices of one buffer: no allocation a
//! line. A line longer than [`MAX_LINE`] is cut there and the rest of it dropped, which is counted.

mod ahead;
mod marks;

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::error::{Error, Result};
use crate::progress::Watched;
use ahead::Blocks;
pub use ahead::{Ahead, Died};
pub use marks::{Marked, Marker, Marks};

/// Longest line that is kept whole.
pub const MAX_LINE: usize = 16 << 20;
/// How much of an input is looked at to find its format.
const HEAD: usize = 64 << 10;
/// How much is read at once: little enough to stay in the processor's cache until it is looked at.
const BLOCK: usize = 128 << 10;
/// A read that gives less may be all that a live source has for now.
const LIVE: usize = 32 << 10;

/// An opened input.
pub struct Input {
    /// What messages call it: its path as given, `<stdin>`, or the script of a live trace.
    pub name: String,
    /// Its lines.
    pub lines: Lines,
}

impl Input {
    /// Opens a path; `-` is standard input.
    pub fn open(path: &str) -> Result<Input> {
        Input::open_watched(path, false)
    }

    /// Opens a path; `watched`: progress is told where somebody can see it.
    pub fn open_watched(path: &str, watched: bool) -> Result<Input> {
        if path == "-" {
            return Input::from_read("<stdin>", Box::new(io::stdin()));
        }
        let file = File::open(path).map_err(|source| Error::io(Path::new(path), source))?;
        if file.metadata().is_ok_and(|data| data.is_dir()) {
            return Err(Error::io(
                Path::new(path),
                io::Error::new(io::ErrorKind::IsADirectory, "is a directory: name the files in it"),
            ));
        }
        if watched && Watched::is_seen() {
            return Input::from_read(path, Box::new(Watched::new(file, path)));
        }
        Input::from_read(path, Box::new(file))
    }

    /// An input of that name from any reader; looks at its first bytes.
    pub fn from_read(name: &str, mut source: Box<dyn Read + Send>) -> Result<Input> {
        let failed = |error| Error::Io { what: name.to_owned(), source: error };
        let mut start = [0u8; 2];
        let got = read_full(&mut source, &mut start).map_err(failed)?;
        let start = start.get(..got).unwrap_or(&[]).to_vec();
        let lines = match start.as_slice() {
            [0x1f, 0x8b] => {
                let chained = io::Cursor::new(start).chain(source);
                Lines::new(Box::new(Steady::new(flate2::read::MultiGzDecoder::new(chained))))
            }
            [0xff, 0xfe] => Lines::new(Box::new(Utf16::new(source, u16::from_le_bytes))),
            [0xfe, 0xff] => Lines::new(Box::new(Utf16::new(source, u16::from_be_bytes))),
            _ => Lines { end: start.len(), buffer: start, ..Lines::new(source) },
        };
        Ok(Input { name: name.to_owned(), lines })
    }
}

fn read_full(source: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while let Some(room) = buffer.get_mut(got..).filter(|room| !room.is_empty()) {
        match source.read(room) {
            Ok(0) => break,
            Ok(count) => got += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

/// The lines of an input.
pub struct Lines {
    source: Source,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    finished: bool,
    /// Where the next newline is, if that is known.
    newline: Option<usize>,
    number: u64,
    cut: u64,
    /// The last line had no newline at its end.
    unterminated: bool,
    /// Reading failed (a cut gzip file): the lines so far stand.
    failure: Option<io::Error>,
    /// How much has been read without a thread.
    read: u64,
    /// What is known of lines in the buffer.
    marks: Marks,
}

/// Where more comes from.
enum Source {
    Read(Box<dyn Read + Send>),
    /// Later read ahead.
    Soon(Box<dyn Read + Send>, Ahead, Marker),
    Ahead(Blocks),
}

impl Lines {
    /// Lines of any reader.
    pub fn new(source: Box<dyn Read + Send>) -> Lines {
        Lines {
            source: Source::Read(source),
            buffer: Vec::new(),
            start: 0,
            end: 0,
            finished: false,
            newline: None,
            number: 0,
            cut: 0,
            unterminated: false,
            failure: None,
            read: 0,
            marks: Marks::default(),
        }
    }

    /// Has a thread of its own read on, as soon as the input turns out to be large. `marker` finds what [`Lines::marked`] tells.
    pub fn read_ahead(&mut self, ahead: Ahead, marker: Marker) {
        self.source = match std::mem::replace(&mut self.source, Source::Read(Box::new(io::empty()))) {
            Source::Read(source) => Source::Soon(source, ahead, marker),
            other => other,
        };
    }

    /// Lines of bytes in memory, for tests and parts of inputs.
    pub fn from_bytes(bytes: &[u8]) -> Lines {
        // All there is stands in the buffer: nothing is read, no block is made room for.
        Lines { buffer: bytes.to_vec(), end: bytes.len(), finished: true, ..Lines::new(Box::new(io::empty())) }
    }

    /// The first bytes, up to 64 KiB, without taking them. Waits until there is at least one line or the input ends.
    pub fn head(&mut self) -> &[u8] {
        while self.end - self.start < HEAD && !self.finished {
            let before = self.end;
            self.fill();
            // A live source gives what it has: one read is enough to judge by once a whole line is there that is not blank.
            // The first read gives only the bytes that `from_read` looked at.
            let judged = before > 0 || self.end > 2;
            let start = self.pending().trim_ascii_start();
            if judged && self.end - before < LIVE && memchr::memchr(b'\n', start).is_some() {
                break;
            }
        }
        let head = self.pending();
        head.get(..HEAD).unwrap_or(head)
    }

    /// The next line without its line end (LF or CR LF); `None` at the end.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Option<&[u8]> {
        self.next_raw().map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }

    /// The next line without its LF; a CR before that is kept, for texts that may hold one.
    pub fn next_raw(&mut self) -> Option<&[u8]> {
        let mut searched = 0;
        let length = loop {
            if let Some(at) = self.newline.take() {
                break at - self.start;
            }
            let pending = self.pending();
            if let Some(at) = pending.get(searched..).and_then(|rest| memchr::memchr(b'\n', rest)) {
                break searched + at;
            }
            searched = pending.len();
            if searched > MAX_LINE {
                return self.cut_line();
            }
            if self.finished {
                if searched == 0 {
                    return None;
                }
                self.unterminated = true;
                break searched;
            }
            self.fill();
        };
        // However the bytes arrived: a line that came in one piece is cut at the same place.
        if length > MAX_LINE {
            return self.cut_line();
        }
        let from = self.start;
        self.start = (from + length + 1).min(self.end);
        self.number += 1;
        self.buffer.get(from..from + length)
    }

    /// What is here of the input behind `indent` blanks, if it begins with them.
    pub fn indented(&self, indent: usize) -> Option<&[u8]> {
        let (blanks, rest) = self.pending().split_at_checked(indent)?;
        blanks.iter().fold(true, |all, &byte| all & (byte == b' ')).then_some(rest)
    }

    /// Passes over the next line, which is here and of that length.
    pub fn pass_over(&mut self, length: usize) {
        self.start = (self.start + length + 1).min(self.end);
        self.newline = None;
        self.number += 1;
    }

    /// The marked lines that come next, if the next one is marked.
    pub fn marked(&mut self) -> Option<Marked<'_>> {
        self.marks.next(self.buffer.get(..self.end)?, self.start)
    }

    /// Passes over `count` marked lines, which take that many bytes.
    pub fn pass_over_marked(&mut self, count: usize, length: usize) {
        self.start = self.start.saturating_add(length).min(self.end);
        self.newline = None;
        self.number += count as u64;
    }

    /// Everything that is left, up to `limit` bytes; whether there was more.
    pub fn rest(&mut self, limit: usize) -> (Vec<u8>, bool) {
        let mut all = Vec::new();
        loop {
            all.extend_from_slice(self.pending());
            (self.start, self.newline) = (self.end, None);
            if all.len() > limit {
                all.truncate(limit);
                return (all, true);
            }
            if self.finished {
                return (all, false);
            }
            self.fill();
        }
    }

    /// Number of the line that `next` gave last, counted from 1.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether the next line is already here, so that `next` will not wait.
    pub fn is_ready(&mut self) -> bool {
        if self.newline.is_none() {
            self.newline = memchr::memchr(b'\n', self.pending()).map(|at| self.start + at);
        }
        self.finished || self.newline.is_some()
    }

    /// How many lines were longer than [`MAX_LINE`].
    pub fn cut_lines(&self) -> u64 {
        self.cut
    }

    /// Whether the input ended without a newline.
    pub fn is_unterminated(&self) -> bool {
        self.unterminated
    }

    /// Why reading stopped before the end, if it did.
    pub fn failure(&self) -> Option<&io::Error> {
        self.failure.as_ref()
    }

    fn pending(&self) -> &[u8] {
        self.buffer.get(self.start..self.end).unwrap_or(&[])
    }

    fn cut_line(&mut self) -> Option<&[u8]> {
        let kept: Vec<u8> = self.pending().get(..MAX_LINE).unwrap_or(&[]).to_vec();
        loop {
            if let Some(at) = memchr::memchr(b'\n', self.pending()) {
                self.start += at + 1;
                break;
            }
            self.start = self.end;
            if self.finished {
                break;
            }
            self.fill();
        }
        self.number += 1;
        self.cut += 1;
        // The kept part goes in front of what is pending, so that the slice can be handed out.
        let tail = self.pending().to_vec();
        self.marks.clear();
        self.buffer.clear();
        self.buffer.extend_from_slice(&kept);
        self.buffer.extend_from_slice(&tail);
        (self.start, self.end) = (kept.len(), self.buffer.len());
        self.buffer.get(..kept.len())
    }

    fn fill(&mut self) {
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end, self.newline) = (0, self.end - self.start, None);
        }
        let source = match &mut self.source {
            Source::Ahead(_) => return self.fill_ahead(),
            Source::Soon(_, ahead, _) if self.read >= ahead.after => return self.begin_ahead(),
            Source::Read(source) | Source::Soon(source, ..) => source,
        };
        if self.buffer.len() < self.end + BLOCK / 2 {
            self.buffer.resize((self.end + BLOCK).max(self.buffer.len() * 2), 0);
        }
        let Some(room) = self.buffer.get_mut(self.end..) else { return };
        match source.read(room) {
            Ok(0) => self.finished = true,
            Ok(count) => {
                self.end += count;
                self.read = self.read.saturating_add(count as u64);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                self.failure = Some(error);
                self.finished = true;
            }
        }
    }

    /// Starts the thread. The next `fill` gets a block.
    fn begin_ahead(&mut self) {
        self.source = match std::mem::replace(&mut self.source, Source::Read(Box::new(io::empty()))) {
            Source::Soon(source, ahead, marker) => Source::Ahead(Blocks::begin(source, &ahead, marker)),
            other => other,
        };
    }

    /// The next block takes the place of the buffer; behind the begin of a long line it is added.
    fn fill_ahead(&mut self) {
        let Source::Ahead(blocks) = &mut self.source else { return };
        let is_empty = self.end == 0;
        let buffer = if is_empty { std::mem::take(&mut self.buffer) } else { Vec::new() };
        self.marks.clear();
        match blocks.next(buffer, std::mem::take(&mut self.marks)) {
            Ok(Some(block)) if is_empty => {
                (self.buffer, self.end, self.marks) = (block.buffer, block.end, block.marks);
                self.marks.fetch(self.buffer.get(..self.end).unwrap_or(&[]));
            }
            Ok(Some(block)) => {
                self.buffer.truncate(self.end);
                self.buffer.extend_from_slice(block.buffer.get(..block.end).unwrap_or(&[]));
                self.end = self.buffer.len();
            }
            Ok(None) => self.finished = true,
            Err(error) => {
                self.failure = Some(error);
                self.finished = true;
            }
        }
    }
}

/// Asks a decoder for the same amount every time, whatever it is asked for itself: how much comes out of damaged data before
/// the error depends on that.
struct Steady<R> {
    source: R,
    ready: Vec<u8>,
    at: usize,
    end: usize,
}

impl<R: Read> Steady<R> {
    fn new(source: R) -> Steady<R> {
        Steady { source, ready: vec![0; LIVE], at: 0, end: 0 }
    }
}

impl<R: Read> Read for Steady<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.end {
            (self.at, self.end) = (0, self.source.read(&mut self.ready)?);
        }
        let count = self.ready.get(self.at..self.end).unwrap_or(&[]).read(out)?;
        self.at += count;
        Ok(count)
    }
}

/// UTF-16 as UTF-8; the byte order mark is taken off, bad pairs become U+FFFD.
struct Utf16<R> {
    source: R,
    decode: fn([u8; 2]) -> u16,
    odd: Option<u8>,
    high: Option<u16>,
    ready: Vec<u8>,
    at: usize,
    first: bool,
}

impl<R: Read> Utf16<R> {
    fn new(source: R, decode: fn([u8; 2]) -> u16) -> Utf16<R> {
        Utf16 { source, decode, odd: None, high: None, ready: Vec::new(), at: 0, first: true }
    }

    fn push(&mut self, unit: u16) {
        let mut text = String::new();
        if std::mem::take(&mut self.first) && unit == 0xfeff {
            return;
        }
        let units = self.high.take().into_iter().chain([unit]).collect::<Vec<u16>>();
        if units.len() == 1 && (0xd800..0xdc00).contains(&unit) {
            self.high = Some(unit);
            return;
        }
        text.extend(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
        self.ready.extend_from_slice(text.as_bytes());
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.at >= self.ready.len() {
            (self.ready, self.at) = (Vec::new(), 0);
            let mut block = [0u8; 8192];
            let count = self.source.read(&mut block)?;
            if count == 0 {
                if self.high.take().is_some() || self.odd.take().is_some() {
                    self.ready.extend_from_slice("\u{fffd}".as_bytes());
                    continue;
                }
                return Ok(0);
            }
            for &byte in block.iter().take(count) {
                match self.odd.take() {
                    Some(first) => {
                        let unit = (self.decode)([first, byte]);
                        self.push(unit);
                    }
                    None => self.odd = Some(byte),
                }
            }
        }
        let pending = self.ready.get(self.at..).unwrap_or(&[]);
        let count = pending.len().min(out.len());
        if let (Some(to), Some(from)) = (out.get_mut(..count), pending.get(..count)) {
            to.copy_from_slice(from);
        }
        self.at += count;
        Ok(count)
    }
}
