//! What a trace says of itself: script, start, target.

/// Which way up stacks are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Picture {
    /// Roots at the bottom.
    Flame,
    /// Roots on top: plans are read from there.
    Icicle,
}

/// The self-description of a trace; every part may be unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Heading {
    /// Name of the D script, or of the tool that wrote the input.
    pub script: Option<String>,
    /// Version of that script.
    pub version: Option<u32>,
    /// Start of the trace, nanoseconds since 1970 UTC.
    pub start: Option<i64>,
    /// End of the trace, likewise.
    pub stop: Option<i64>,
    /// Zone of the traced machine, in seconds east of UTC.
    pub zone: Option<i32>,
    /// Traced process.
    pub target: Option<i64>,
    /// Size of DTrace's string buffers: texts of `strsize - 1` bytes were cut.
    pub strsize: Option<u64>,
    /// Names of the inputs, for titles and messages.
    pub inputs: Vec<String>,
    /// Title for pictures, where the input has a better one than its script's name.
    pub title: Option<String>,
    /// The picture that suits the input, where it is not the usual one.
    pub picture: Option<Picture>,
}

impl Heading {
    /// Takes over from a further input what is not known yet.
    pub fn merge(&mut self, other: Heading) {
        self.script = self.script.take().or(other.script);
        self.version = self.version.or(other.version);
        self.start = min(self.start, other.start);
        self.stop = self.stop.max(other.stop);
        self.zone = self.zone.or(other.zone);
        self.target = self.target.or(other.target);
        self.strsize = self.strsize.or(other.strsize);
        self.title = self.title.take().or(other.title);
        self.picture = self.picture.or(other.picture);
        self.inputs.extend(other.inputs);
    }
}

fn min(a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
