//! How far a long input has been read: one line on the terminal, from the first second on.

use std::fs::File;
use std::io::{self, IsTerminal, Read};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

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
    /// Whether there is a terminal to tell it on, which the results do not use at the same time.
    pub fn is_seen() -> bool {
        io::stderr().is_terminal() && !io::stdout().is_terminal()
    }

    /// Watches a file, which messages call `name`.
    pub fn new(file: File, name: &str) -> Watched {
        Watched { file, name: name.to_owned(), began: Instant::now(), read: 0, bar: None }
    }

    /// The bar; of a pipe, whose size is not known, only the bytes so far.
    fn begin(&self) -> ProgressBar {
        let size = self.file.metadata().ok().filter(|data| data.is_file()).map(|data| data.len());
        let (bar, template) = match size {
            Some(size) => (ProgressBar::new(size), "{msg}: {bytes} of {total_bytes}, {eta} left"),
            None => (ProgressBar::new_spinner(), "{msg}: {bytes}"),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        // What the terminal shows must not move its cursor.
        bar.set_message(self.name.chars().filter(|c| !c.is_control()).collect::<String>());
        bar
    }
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
