//! The object file inside an executable: a universal file of macOS holds one for each architecture.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use object::FileKind;
use object::read::macho::{FatArch, MachOFatFile32, MachOFatFile64};
use object::read::{ReadCache, ReadRef};

/// What looks at an object file.
pub(super) trait Look {
    /// What it finds.
    type Found;
    /// Looks at it.
    fn look<'a, R: ReadRef<'a>>(self, object: &object::File<'a, R>) -> Result<Self::Found, String>;
}

/// Opens the file at `path` and has `looker` look at it: at the part for this machine's architecture, if there are several.
pub(super) fn look<L: Look>(path: &Path, looker: L) -> Result<L::Found, String> {
    let file = File::open(path).map_err(|error| error.to_string())?;
    let cache = ReadCache::new(BufReader::new(file));
    let (start, size) = match FileKind::parse(&cache).map_err(said)? {
        FileKind::MachOFat32 => part(MachOFatFile32::parse(&cache).map_err(said)?.arches())?,
        FileKind::MachOFat64 => part(MachOFatFile64::parse(&cache).map_err(said)?.arches())?,
        _ => (0, cache.len().map_err(|()| "its size cannot be found".to_owned())?),
    };
    looker.look(&object::File::parse(cache.range(start, size)).map_err(said)?)
}

fn said(error: object::Error) -> String {
    error.to_string()
}

/// Start and size of the part for this architecture, else of the first.
fn part<A: FatArch>(parts: &[A]) -> Result<(u64, u64), String> {
    let own = if cfg!(target_arch = "aarch64") { object::Architecture::Aarch64 } else { object::Architecture::X86_64 };
    let chosen = parts.iter().find(|part| part.architecture() == own).or(parts.first());
    chosen.map(FatArch::file_range).ok_or_else(|| "a universal file without parts".to_owned())
}
