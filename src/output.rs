//! Outputs: standard output, or a file that appears whole or not at all.
//!
//! A file is written beside its target and renamed at the end. A target that exists and is no regular file (`/dev/null`, a FIFO) is
//! written in place.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Where a view's bytes go.
pub enum Output {
    /// Standard output.
    Stdout(BufWriter<io::Stdout>),
    /// A device or pipe, written in place.
    Special(PathBuf, BufWriter<File>),
    /// A file that is renamed to its name at the end.
    File(PathBuf, BufWriter<NamedTempFile>),
}

impl Output {
    /// Opens an output; no path and `-` are standard output. Fails at once if the place cannot be written.
    pub fn create(path: Option<&Path>) -> Result<Output> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            return Ok(Output::Stdout(BufWriter::new(io::stdout())));
        };
        let failed = |source| Error::io(path, source);
        if fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir()) {
            let file = OpenOptions::new().write(true).open(path).map_err(failed)?;
            return Ok(Output::Special(path.to_owned(), BufWriter::new(file)));
        }
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        if target.is_dir() {
            return Err(failed(io::Error::new(io::ErrorKind::IsADirectory, "is a directory: name a file in it")));
        }
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = tempfile::Builder::new()
            .prefix(".seatrace-")
            .permissions(permissions())
            .tempfile_in(folder)
            .map_err(failed)?;
        Ok(Output::File(target, BufWriter::new(file)))
    }

    /// Ends the output: everything written, the file under its name.
    pub fn finish(self) -> Result<()> {
        match self {
            Output::Stdout(mut out) => out.flush().map_err(Error::from),
            Output::Special(path, mut out) => out.flush().map_err(|source| Error::io(&path, source)),
            Output::File(path, out) => {
                let file = out.into_inner().map_err(|error| Error::io(&path, error.into_error()))?;
                file.persist(&path).map(drop).map_err(|error| Error::io(&path, error.error))
            }
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Stdout(out) => out.write(bytes),
            Output::Special(_, out) => out.write(bytes),
            Output::File(_, out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Stdout(out) => out.flush(),
            Output::Special(_, out) => out.flush(),
            Output::File(_, out) => out.flush(),
        }
    }
}

/// What `open` with the user's umask gives: a temporary file would be 0600.
fn permissions() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o666)
}
