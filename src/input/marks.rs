//! Marks: what a thread that reads ahead knows of lines by themselves.

/// How much a processor fetches at once.
const CACHE_LINE: usize = 64;
/// What a first line mostly takes.
const FIRST: usize = 128;

/// Finds the marks of a block of whole lines.
pub type Marker = Box<dyn FnMut(&[u8], &mut Marks) + Send>;

/// What is known of the lines of a block: runs of lines, in order.
#[derive(Debug, Default)]
pub struct Marks {
    runs: Vec<Run>,
    /// One number a line.
    numbers: Vec<u32>,
    /// How many runs lie behind the reader; of the next one, the first line that it has not passed: where, and which.
    passed: usize,
    at: usize,
    line: usize,
}

/// Lines that follow each other and begin with the same number of blanks.
#[derive(Debug)]
struct Run {
    start: usize,
    indent: usize,
    /// Behind the last line.
    end: usize,
    /// Of its lines, in the numbers of all.
    from: usize,
    to: usize,
}

/// Marked lines that come next.
pub struct Marked<'a> {
    /// How many blanks each begins with.
    pub indent: usize,
    /// What their texts are: the same number means the same.
    pub numbers: &'a [u32],
    /// The lines.
    pub lines: &'a [u8],
}

impl Marks {
    /// The line from `start` to `end`, its line end included, has that number. Lines are added in order.
    pub fn add(&mut self, start: usize, end: usize, indent: usize, number: u32) {
        let from = self.numbers.len();
        self.numbers.push(number);
        match self.runs.last_mut().filter(|run| run.end == start && run.indent == indent) {
            Some(run) => (run.end, run.to) = (end, from + 1),
            None => self.runs.push(Run { start, indent, end, from, to: from + 1 }),
        }
    }

    /// The marked lines from `start` on, where a line of `text` begins, if that one is marked.
    pub(super) fn next<'a>(&'a mut self, text: &'a [u8], start: usize) -> Option<Marked<'a>> {
        while self.runs.get(self.passed).is_some_and(|run| run.end <= start) {
            self.passed += 1;
        }
        let run = self.runs.get(self.passed).filter(|run| run.start <= start)?;
        if self.at < run.start {
            (self.at, self.line) = (run.start, run.from);
        }
        // Lines of the run that the reader took by themselves.
        while self.at < start {
            self.at += memchr::memchr(b'\n', text.get(self.at..)?)? + 1;
            self.line += 1;
        }
        let numbers = self.numbers.get(self.line..run.to)?;
        Some(Marked { indent: run.indent, numbers, lines: text.get(start..run.end)? })
    }

    /// Brings the places of `text` that the reader will look at into its processor's cache: what lies between runs, and the first line of each. All
    /// at once, since to wait for the other processor at every line takes several times as long.
    pub(super) fn fetch(&self, text: &[u8]) {
        let (mut from, mut all) = (0, 0);
        for run in &self.runs {
            for at in (from..run.start + FIRST).step_by(CACHE_LINE) {
                all ^= text.get(at).copied().unwrap_or(0);
            }
            from = run.end;
        }
        std::hint::black_box(all);
    }

    /// Forgets all.
    pub(super) fn clear(&mut self) {
        self.runs.clear();
        self.numbers.clear();
        (self.passed, self.at, self.line) = (0, 0, 0);
    }
}
