//! Reading ahead: a thread that reads (and unpacks) the input block by block, while the reader of the format works on the block before.
//!
//! Where the reader is behind, the thread also *marks* lines: facts about single lines that hold whatever came before, so that the
//! reader need not look at their text again. Which blocks are marked depends on the moment, and nothing else does: a mark
//! says what the reader would have found. A few blocks go round between both, so that memory does not grow.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread;

/// A read that gives less may be all that its source has for now.
const LIVE: usize = 32 << 10;
/// How many blocks wait for the reader at the most.
const WAITING: usize = 4;
/// The thread marks lines while so many blocks wait: by then the reader has enough to do.
const ENOUGH: usize = 2;

/// When to read ahead, and how.
#[derive(Clone, Debug)]
pub struct Ahead {
    /// How much is read first without a thread: it is not worth it for small inputs.
    pub after: u64,
    /// Bytes of a block.
    pub block: usize,
    /// Which blocks are marked.
    pub marking: Marking,
}

/// Which blocks are marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Marking {
    /// Those for which there is time.
    #[default]
    InTime,
    /// Every other one, every one: for tests.
    Half,
    /// All, for tests.
    All,
}

impl Default for Ahead {
    fn default() -> Ahead {
        Ahead { after: 2 << 20, block: 256 << 10, marking: Marking::InTime }
    }
}

/// What is known of a line: `indent` blanks, then `length` bytes of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Where in its block the line begins.
    pub at: u32,
    /// Blanks before the text.
    pub indent: u32,
    /// Bytes of the text.
    pub length: u32,
    /// What the text is; the same number means the same.
    pub id: u32,
}

/// Finds the marks of a block of whole lines, in order.
pub type Marker = Box<dyn FnMut(&[u8], &mut Vec<Mark>) + Send>;

/// A piece of the input. It ends with a line's end, unless a line is longer or the input ends.
#[derive(Default)]
pub(super) struct Block {
    /// The text stands in the first `end` bytes.
    pub(super) buffer: Vec<u8>,
    pub(super) end: usize,
    pub(super) marks: Vec<Mark>,
}

enum Message {
    Block(Block),
    /// The input ended, or reading failed.
    End(Option<io::Error>),
}

/// The reader's end of the thread.
pub(super) struct Blocks {
    ready: Receiver<Message>,
    used: Sender<Block>,
    waiting: Arc<AtomicUsize>,
}

impl Blocks {
    /// Starts the thread; gives the source back if the system has none to spare.
    pub(super) fn begin(
        source: Box<dyn Read + Send>,
        ahead: Ahead,
        marker: Marker,
    ) -> Result<Blocks, Box<dyn Read + Send>> {
        let (ready_sender, ready) = sync_channel(WAITING);
        let (used, used_receiver) = channel();
        // The source follows when the thread is there.
        let (hand_over, handed) = channel();
        let waiting = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&waiting);
        let work = move || {
            if let Ok(source) = handed.recv() {
                let worker =
                    Worker { source, ahead, marker, ready: ready_sender, used: used_receiver, waiting: counter };
                worker.run();
            }
        };
        // Nobody waits for the thread's end: it may stand in a read of a pipe that never ends.
        if thread::Builder::new().name("ahead".into()).spawn(work).is_err() {
            return Err(source);
        }
        hand_over.send(source).map_err(|unsent| unsent.0)?;
        Ok(Blocks { ready, used, waiting })
    }

    /// Waits for the next block and gives `used` back; `None` at the end.
    pub(super) fn next(&self, used: Block) -> io::Result<Option<Block>> {
        // A thread that has read everything needs no more blocks.
        let _ = self.used.send(used);
        match self.ready.recv() {
            Ok(Message::Block(block)) => {
                self.waiting.fetch_sub(1, Ordering::Relaxed);
                Ok(Some(block))
            }
            Ok(Message::End(None)) => Ok(None),
            Ok(Message::End(Some(error))) => Err(error),
            Err(_) => Err(io::Error::other(Died)),
        }
    }
}

/// The thread that reads ahead died, which is a fault of this program.
#[derive(Debug, thiserror::Error)]
#[error("the thread that reads ahead came to an untimely end; --threads 1 does without it")]
pub struct Died;

/// The thread's end.
struct Worker {
    source: Box<dyn Read + Send>,
    ahead: Ahead,
    marker: Marker,
    ready: SyncSender<Message>,
    used: Receiver<Block>,
    waiting: Arc<AtomicUsize>,
}

impl Worker {
    /// Reads to the end, or until nobody takes the blocks.
    fn run(mut self) {
        let mut rest = Vec::new();
        let mut count = 0u64;
        loop {
            let mut block = match self.used.try_recv() {
                Ok(block) => block,
                Err(TryRecvError::Empty) => Block::default(),
                Err(TryRecvError::Disconnected) => return,
            };
            let more = self.fill(&mut block, &mut rest);
            count += 1;
            if block.is_whole() && self.is_marked(count) {
                let mut marks = std::mem::take(&mut block.marks);
                (self.marker)(block.text(), &mut marks);
                block.marks = marks;
            }
            if block.end > 0 {
                self.waiting.fetch_add(1, Ordering::Relaxed);
                if self.ready.send(Message::Block(block)).is_err() {
                    return;
                }
            }
            let end = match more {
                Ok(true) => continue,
                Ok(false) => None,
                Err(error) => Some(error),
            };
            // What the source shows on the terminal is gone before the reader goes on.
            drop(self.source);
            // Nobody may be there to hear it.
            let _ = self.ready.send(Message::End(end));
            return;
        }
    }

    fn is_marked(&self, count: u64) -> bool {
        match self.ahead.marking {
            Marking::InTime => self.waiting.load(Ordering::Relaxed) >= ENOUGH,
            Marking::Half => count % 2 == 0,
            Marking::All => true,
        }
    }

    /// Fills the block, which begins with the `rest` of the one before; whether there may be more.
    fn fill(&mut self, block: &mut Block, rest: &mut Vec<u8>) -> io::Result<bool> {
        let size = self.ahead.block.max(1).max(rest.len() * 2);
        block.begin(rest, size);
        let more = loop {
            let Some(room) = block.buffer.get_mut(block.end..size).filter(|room| !room.is_empty()) else {
                break Ok(true);
            };
            match self.source.read(room) {
                Ok(0) => break Ok(false),
                Ok(count) => {
                    block.end += count;
                    if count < LIVE {
                        break Ok(true);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        if matches!(more, Ok(true)) {
            block.keep_whole_lines(rest);
        }
        more
    }
}

impl Block {
    fn begin(&mut self, rest: &mut Vec<u8>, size: usize) {
        if self.buffer.len() < size {
            self.buffer.resize(size, 0);
        }
        if let Some(start) = self.buffer.get_mut(..rest.len()) {
            start.copy_from_slice(rest);
        }
        self.end = rest.len();
        rest.clear();
        self.marks.clear();
    }

    fn text(&self) -> &[u8] {
        self.buffer.get(..self.end).unwrap_or(&[])
    }

    fn is_whole(&self) -> bool {
        self.text().ends_with(b"\n")
    }

    /// Moves what stands behind the last line's end to `rest`. A line that is longer than the block stays: the reader puts it together.
    fn keep_whole_lines(&mut self, rest: &mut Vec<u8>) {
        let Some(newline) = memchr::memrchr(b'\n', self.text()) else { return };
        rest.extend_from_slice(self.text().get(newline + 1..).unwrap_or(&[]));
        self.end = newline + 1;
    }
}
