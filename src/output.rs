//! Outputs: standard output, or a file that appears whole or not at all.
//!
//! A file is written beside its target and renamed at the end. A target that exists and is no regular file (`/dev/null`, a FIFO) is
//! written in place.
//!
//! Tracing takes root, and root writes with care: the file belongs to the person who called sudo, doas or pfexec, and a symbolic link is
//! followed only where nobody but root could have put it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, fchown};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};
use crate::live;

/// How much is written at once.
const BLOCK: usize = 64 << 10;

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
            return Ok(Output::Stdout(BufWriter::with_capacity(BLOCK, io::stdout())));
        };
        let failed = |source| Error::io(path, source);
        if is_special(path) {
            let file = open_special(path).map_err(failed)?;
            return Ok(Output::Special(path.to_owned(), BufWriter::with_capacity(BLOCK, file)));
        }
        let target = check_target(path)?;
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = tempfile::Builder::new()
            .prefix(".seatrace-")
            .permissions(permissions())
            .tempfile_in(folder)
            .map_err(failed)?;
        give_to_caller(file.as_file()).map_err(failed)?;
        Ok(Output::File(target, BufWriter::with_capacity(BLOCK, file)))
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

/// Whether the path leads to a device, FIFO or socket, which is written in place.
pub fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|data| !data.is_file() && !data.is_dir())
}

/// Opens a device or FIFO. As root its last link is not followed, unless only root can have made it (/dev/stdout).
pub fn open_special(path: &Path) -> io::Result<File> {
    let follow = if may_follow(path) { 0 } else { libc::O_NOFOLLOW };
    OpenOptions::new().write(true).custom_flags(follow).open(path)
}

/// The file that a target's name stands for: behind a link, which must be one that may be followed, and no directory.
pub fn check_target(path: &Path) -> Result<PathBuf> {
    if path.is_symlink() && !may_follow(path) {
        let cause = "is a symbolic link, which root does not follow: name the file itself";
        return Err(Error::io(path, io::Error::new(io::ErrorKind::InvalidInput, cause)));
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if target.is_dir() {
        let cause = "is a directory: name a file in it";
        return Err(Error::io(path, io::Error::new(io::ErrorKind::IsADirectory, cause)));
    }
    Ok(target)
}

/// A new file, which belongs to the caller; an error if there is one of that name, or a link.
pub fn create_new(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().write(true).create_new(true).custom_flags(libc::O_NOFOLLOW).mode(0o666).open(path)?;
    give_to_caller(&file)?;
    Ok(file)
}

/// Whether a link at this place may be followed: always by an ordinary user, by root where only root can write.
fn may_follow(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_roots = |data: fs::Metadata| data.uid() == 0 && data.mode() & 0o022 == 0;
    !live::is_root() || fs::metadata(folder).is_ok_and(is_roots)
}

/// Under sudo, doas and pfexec a file belongs to whom they were called by.
fn give_to_caller(file: &File) -> io::Result<()> {
    match live::caller() {
        Some((user, group)) => fchown(file, Some(user), Some(group)),
        None => Ok(()),
    }
}

/// What `open` with the user's umask gives: a temporary file would be 0600.
fn permissions() -> fs::Permissions {
    use std::os::unix::fs::PermissionsExt;
    fs::Permissions::from_mode(0o666)
}
