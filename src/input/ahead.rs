//! Reading ahead: a second thread that takes blocks of the input and looks at their lines, while the reader of the format works on the blocks before.
//!
//! The thread *marks* lines: facts about single lines that hold whatever came before, so that the reader need not look at their text
//! again. Both take blocks from the same source, in order; the reader takes one for itself whenever it would have to wait for the thread.
//! So a block without marks must be as good as one with: which ones have some depends on the moment, what the reader makes of them does not.
//! A few blocks go round, so that memory does not grow, and each side fills its own: text that one processor wrote and the other reads
//! costs more than the marks save.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;

use super::marks::{Marker, Marks};

/// A read that gives less may be all that its source has for now.
const LIVE: usize = 32 << 10;
/// How many marked blocks wait for the reader at the most.
const WAITING: usize = 4;

/// When to read ahead, and how.
#[derive(Clone, Debug)]
pub struct Ahead {
    /// How much is read first without a thread: it is not worth it for small inputs.
    pub after: u64,
    /// Bytes of a block.
    pub block: usize,
    /// The thread marks one of so many of its blocks; more than one is for tests.
    pub each: u64,
    /// The reader takes no block for itself, for tests.
    pub waits: bool,
}

impl Default for Ahead {
    fn default() -> Ahead {
        Ahead { after: 1 << 20, block: 256 << 10, each: 1, waits: false }
    }
}

/// A piece of the input. It ends with a line's end, unless a line is longer or the input ends.
#[derive(Default)]
pub(super) struct Block {
    /// The text stands in the first `end` bytes.
    pub(super) buffer: Vec<u8>,
    pub(super) end: usize,
    pub(super) marks: Marks,
    /// The how many-th it is, from 0.
    place: u64,
    /// Nothing comes after it; why, if reading failed.
    last: Option<Option<io::Error>>,
}

/// What both sides read from.
struct Source {
    read: Box<dyn Read + Send>,
    size: usize,
    /// The begin of a line.
    rest: Vec<u8>,
    /// How many blocks were taken.
    taken: u64,
    is_at_end: bool,
}

/// The reader's side.
pub(super) struct Blocks {
    source: Arc<Mutex<Source>>,
    ready: Receiver<Block>,
    used: Sender<Block>,
    /// A block that the reader has taken for itself, while the thread had the one before in work.
    own: Option<Block>,
    /// Memory for such blocks.
    spare: Vec<Block>,
    size: usize,
    waits: bool,
    /// The place of the next block, and whether the one before was taken by the reader.
    place: u64,
    was_own: bool,
    end: Option<Option<io::Error>>,
}

impl Blocks {
    /// Starts the thread. Without one, if the system has none to spare, the reader takes every block.
    pub(super) fn begin(read: Box<dyn Read + Send>, ahead: &Ahead, marker: Marker) -> Blocks {
        let source = Source { read, size: ahead.block.max(1), rest: Vec::new(), taken: 0, is_at_end: false };
        let source = Arc::new(Mutex::new(source));
        let (ready_sender, ready) = sync_channel(WAITING);
        let (used, used_receiver) = channel();
        let helper = Helper {
            source: Arc::clone(&source),
            each: ahead.each.max(1),
            marker,
            ready: ready_sender,
            used: used_receiver,
        };
        // Nobody waits for the thread's end: it may stand in a read of a pipe that never ends.
        let _ = thread::Builder::new().name("ahead".into()).spawn(move || helper.run());
        Blocks {
            source,
            ready,
            used,
            own: None,
            spare: Vec::new(),
            size: ahead.block,
            waits: ahead.waits,
            place: 0,
            was_own: true,
            end: None,
        }
    }

    /// Waits for the next block and takes back the memory of the one before; `None` at the end.
    pub(super) fn next(&mut self, buffer: Vec<u8>, marks: Marks) -> io::Result<Option<Block>> {
        if let Some(end) = self.end.take() {
            return end.map_or(Ok(None), Err);
        }
        // A buffer that has grown by a long line does not go round.
        let buffer = if buffer.len() > self.size { Vec::new() } else { buffer };
        let before = Block { buffer, marks, ..Block::default() };
        match self.was_own {
            true => self.spare.push(before),
            // A thread that has nothing more to read needs no block.
            false => self.used.send(before).unwrap_or(()),
        }
        let mut block = self.take()?;
        self.place += 1;
        self.end = block.last.take();
        Ok(Some(block))
    }

    fn take(&mut self) -> io::Result<Block> {
        self.was_own = true;
        if let Some(block) = self.own.take_if(|block| block.place == self.place) {
            return Ok(block);
        }
        if let Ok(block) = self.ready.try_recv() {
            self.was_own = false;
            return Ok(block);
        }
        if let Some(block) = self.take_own()? {
            return Ok(block);
        }
        self.was_own = false;
        self.ready.recv().map_err(|_| io::Error::other(Died))
    }

    /// The next block, if nobody has taken it. If the thread has it in work, the one after it is taken for later.
    fn take_own(&mut self) -> io::Result<Option<Block>> {
        if self.own.is_some() || self.waits {
            return Ok(None);
        }
        let mut source = self.source.lock().map_err(|_| io::Error::other(Died))?;
        if source.taken <= self.place + 1 {
            self.own = source.next(self.spare.pop().unwrap_or_default());
        }
        Ok(self.own.take_if(|block| block.place == self.place))
    }
}

/// The thread that reads ahead died, which is a fault of this program.
#[derive(Debug, thiserror::Error)]
#[error("the thread that reads ahead came to an untimely end; --threads 1 does without it")]
pub struct Died;

/// The thread's side.
struct Helper {
    source: Arc<Mutex<Source>>,
    each: u64,
    marker: Marker,
    ready: SyncSender<Block>,
    used: Receiver<Block>,
}

impl Helper {
    /// Reads to the end, or until nobody takes the blocks.
    fn run(mut self) {
        for count in 0u64.. {
            let spare = match self.used.try_recv() {
                Ok(block) => block,
                Err(TryRecvError::Empty) => Block::default(),
                Err(TryRecvError::Disconnected) => return,
            };
            let Some(mut block) = self.source.lock().ok().and_then(|mut source| source.next(spare)) else { return };
            let text = block.buffer.get(..block.end).unwrap_or(&[]);
            if text.ends_with(b"\n") && count.is_multiple_of(self.each) {
                (self.marker)(text, &mut block.marks);
            }
            if self.ready.send(block).is_err() {
                return;
            }
        }
    }
}

impl Source {
    /// The next block, in the memory of `spare`; `None` behind the last one.
    fn next(&mut self, spare: Block) -> Option<Block> {
        if self.is_at_end {
            return None;
        }
        let mut block = spare;
        block.marks.clear();
        self.begin(&mut block);
        match self.fill(&mut block) {
            Ok(true) => self.keep_whole_lines(&mut block),
            end => {
                self.is_at_end = true;
                // What the source shows on the terminal is gone before the reader comes to the end.
                self.read = Box::new(io::empty());
                block.last = Some(end.err());
            }
        }
        block.place = self.taken;
        self.taken += 1;
        Some(block)
    }

    fn begin(&mut self, block: &mut Block) {
        let size = self.size.max(self.rest.len() + 1);
        if block.buffer.len() < size {
            block.buffer.resize(size, 0);
        }
        if let Some(start) = block.buffer.get_mut(..self.rest.len()) {
            start.copy_from_slice(&self.rest);
        }
        block.end = self.rest.len();
        self.rest.clear();
    }

    /// Whether there may be more.
    fn fill(&mut self, block: &mut Block) -> io::Result<bool> {
        let size = self.size.max(block.end + 1);
        while let Some(room) = block.buffer.get_mut(block.end..size).filter(|room| !room.is_empty()) {
            match self.read.read(room) {
                Ok(0) => return Ok(false),
                Ok(count) => {
                    block.end += count;
                    if count < LIVE {
                        break;
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    /// Keeps what stands behind the last line's end for the next block. A line that is longer than a block stays: the reader puts it together.
    fn keep_whole_lines(&mut self, block: &mut Block) {
        let text = block.buffer.get(..block.end).unwrap_or(&[]);
        let Some(newline) = memchr::memrchr(b'\n', text) else { return };
        self.rest.extend_from_slice(text.get(newline + 1..).unwrap_or(&[]));
        block.end = newline + 1;
    }
}
