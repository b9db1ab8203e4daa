//! What doctor looks at: files and commands of the system by fixed paths. Tests look at made-up systems instead.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::live::{self, Flavor};

/// A way to look at a system.
pub trait Eyes {
    /// The text of a file.
    fn read(&self, path: &str) -> Option<String>;
    /// Whether a file or directory is there.
    fn exists(&self, path: &str) -> bool;
    /// What a command prints, standard error included; None if it cannot be started.
    fn run(&self, command: &[&str]) -> Option<String>;
    /// Whether we are root.
    fn is_root(&self) -> bool;
    /// Loads libdtrace: the name that loaded, or why none did.
    fn library(&self, flavor: Flavor) -> Result<String, String>;
}

/// The system that we run on.
pub struct Here;

impl Eyes for Here {
    fn read(&self, path: &str) -> Option<String> {
        std::fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    fn exists(&self, path: &str) -> bool {
        Path::new(path).exists()
    }

    fn run(&self, command: &[&str]) -> Option<String> {
        let (program, arguments) = command.split_first()?;
        let output = Command::new(program).args(arguments).stdin(Stdio::null()).env("LC_ALL", "C").output().ok()?;
        let text = [output.stdout, output.stderr].concat();
        Some(String::from_utf8_lossy(&text).into_owned())
    }

    fn is_root(&self) -> bool {
        live::is_root()
    }

    fn library(&self, flavor: Flavor) -> Result<String, String> {
        live::loadable(flavor).map_err(|error| error.to_string())
    }
}
