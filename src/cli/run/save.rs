//! `--save`: the dump, growing under `NAME.part` and renamed at the end, so that a trace that breaks off leaves what it had.
//!
//! Each block that comes from DTrace is written at once: it is what was printed in one round, one system call for many lines, and
//! `NAME.part` can be read, or replayed, while the trace runs.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::output;

/// A dump that grows.
pub(super) struct Save {
    target: PathBuf,
    /// Where it grows; None: in place, a device or pipe.
    part: Option<PathBuf>,
    file: File,
    failure: Option<io::Error>,
}

impl Save {
    /// Begins a dump.
    pub(super) fn create(target: &Path) -> Result<Save> {
        if output::is_special(target) {
            let file = output::open_special(target).map_err(|source| Error::io(target, source))?;
            return Ok(Save { target: target.to_owned(), part: None, file, failure: None });
        }
        output::check_target(target)?;
        let mut name = target.as_os_str().to_owned();
        name.push(".part");
        let part = PathBuf::from(name);
        let failed = |source| Error::io(&part, source);
        // A trace that runs holds a lock on its part. One that an earlier trace left is removed, not written into, since it may be a
        // link to something else.
        let flags = libc::O_NOFOLLOW | libc::O_NONBLOCK;
        let left = OpenOptions::new().read(true).custom_flags(flags).open(&part);
        left.as_ref().map_or(Ok(()), claim).map_err(failed)?;
        let _ = std::fs::remove_file(&part);
        let file = output::create_new(&part).map_err(failed)?;
        claim(&file).map_err(failed)?;
        Ok(Save { target: target.to_owned(), part: Some(part), file, failure: None })
    }

    /// Appends what has been read. After a failure (the disk is full) the trace goes on without it.
    pub(super) fn write(&mut self, text: &[u8]) {
        if self.failure.is_none() {
            self.failure = self.file.write_all(text).err();
        }
    }

    /// The text ends before the trace does: the dump keeps the name of a part.
    pub(super) fn break_off(&mut self, error: io::Error) {
        self.failure.get_or_insert(error);
    }

    /// Gives the dump its name.
    pub(super) fn finish(self) -> Result<()> {
        let place = self.part.as_deref().unwrap_or(&self.target);
        match self.failure {
            Some(source) => Err(Error::Io { what: format!("{}: kept as far as it goes", place.display()), source }),
            None => match &self.part {
                Some(part) => std::fs::rename(part, &self.target).map_err(|source| Error::io(&self.target, source)),
                None => Ok(()),
            },
        }
    }

    /// Nothing was traced: nothing is left behind.
    pub(super) fn discard(self) {
        if let Some(part) = self.part {
            let _ = std::fs::remove_file(part);
        }
    }
}

/// Takes the lock of a dump that grows; a file system without locks lets anybody.
fn claim(file: &File) -> io::Result<()> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            Err(io::Error::other("another trace writes it now: choose another name for --save"))
        }
        Err(TryLockError::Error(_)) | Ok(()) => Ok(()),
    }
}
