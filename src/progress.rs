//! How far a long input has been read: one line on the terminal, from the first second on.

use std::fmt;
use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::time::{Duration, Instant};

use indicatif::{HumanDuration, ProgressBar, ProgressState, ProgressStyle};

/// Inputs that are read in less time show nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// A file that tells how much of it has been read.
pub struct Watched {
    file: File,
    name: String,
    began: Instant,
    read: u64,
    bar: Option<ProgressBar>,
}

impl Watched {
    /// Whether there is a terminal to tell it on.
    pub fn is_seen() -> bool {
        io::stderr().is_terminal()
    }

    /// Watches a file, which messages call `name`.
    pub fn new(file: File, name: &str) -> Watched {
        Watched { file, name: name.to_owned(), began: Instant::now(), read: 0, bar: None }
    }

    /// The bar; of a pipe, whose size is not known, only the bytes so far.
    fn begin(&self) -> ProgressBar {
        let size = self.file.metadata().ok().filter(|data| data.is_file()).map(|data| data.len());
        let (bar, template) = match size {
            Some(size) => (ProgressBar::new(size), "{bytes} of {total_bytes}, {left} left: {wide_msg}"),
            None => (ProgressBar::new_spinner(), "{bytes}: {wide_msg}"),
        };
        // What the terminal shows must not move its cursor.
        let name: String = self.name.chars().filter(|c| !c.is_control()).collect();
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        bar.with_style(style.with_key("left", left))
            .with_message(name)
            .with_elapsed(self.began.elapsed())
            .with_position(self.read)
    }
}

/// Seconds left at the speed so far. indicatif's own estimate begins with the bar, and takes the first second for nothing.
fn left(state: &ProgressState, out: &mut dyn fmt::Write) {
    let (done, all) = (state.pos(), state.len().unwrap_or(0));
    let seconds = state.elapsed().as_secs_f64() * all.saturating_sub(done) as f64 / done.max(1) as f64;
    _ = write!(out, "{}", HumanDuration(Duration::from_secs_f64(seconds.ceil().min(1e9))));
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read(buffer)?;
        self.read += count as u64;
        if self.bar.is_none() && self.began.elapsed() >= PATIENCE {
            self.bar = Some(self.begin());
        }
        if let Some(bar) = &self.bar {
            bar.set_position(self.read);
        }
        Ok(count)
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
