//! What an executable holds for DTrace: static probes and functions.
//!
//! Static probes are found where each system keeps them: on Linux as ELF notes of systemtap's sys/sdt.h (section
//! `.note.stapsdt`, type 3: three addresses, then provider, name and arguments as C strings), elsewhere as DOF, DTrace's own object
//! format (`.SUNW_dof` in ELF, `__dof…` in Mach-O), whose string table holds their names. No root is needed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use object::read::ReadRef;
use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};

use super::image;

/// What an executable holds for DTrace.
#[derive(Clone, Debug, Default)]
pub struct Binary {
    /// Kind of file, as `ELF 64 bit, x86-64`.
    pub kind: String,
    /// Static probes by provider, names with dashes, from ELF notes.
    pub probes: BTreeMap<String, BTreeSet<String>>,
    /// Strings of the DOF sections.
    dof: BTreeSet<String>,
    /// Names of all functions, sorted.
    functions: Vec<String>,
}

impl Binary {
    /// Looks into a file.
    pub fn inspect(path: &Path) -> Result<Binary, String> {
        image::look(path, Binary::default())
    }

    /// Whether it has any static probe of the provider.
    pub fn has_provider(&self, provider: &str) -> bool {
        self.probes.contains_key(provider) || self.dof.contains(provider)
    }

    /// Whether it has that static probe; `name` as D writes it, with dashes.
    pub fn has_probe(&self, provider: &str, name: &str) -> bool {
        let noted = self.probes.get(provider).is_some_and(|names| names.contains(name));
        noted || (self.dof.contains(provider) && self.dof.contains(name))
    }

    /// Whether a function matches the glob.
    pub fn has_function(&self, glob: &str) -> bool {
        self.functions.iter().any(|name| matches(glob.as_bytes(), name.as_bytes()))
    }

    /// How many functions match the glob.
    pub fn functions_like(&self, glob: &str) -> usize {
        self.functions.iter().filter(|name| matches(glob.as_bytes(), name.as_bytes())).count()
    }

    /// Whether any function has a name: a stripped file has none.
    pub fn has_symbols(&self) -> bool {
        !self.functions.is_empty()
    }

    /// Reads notes: name size, descriptor size and type, then both, each padded to four bytes.
    fn read_notes(&mut self, mut data: &[u8], is_64: bool, is_little: bool) {
        const STAPSDT: u32 = 3;
        let word = |data: &[u8], at: usize| -> Option<u32> {
            let bytes: [u8; 4] = data.get(at..at.checked_add(4)?)?.try_into().ok()?;
            Some(if is_little { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) })
        };
        let padded = |size: u32| usize::try_from(size).ok()?.checked_next_multiple_of(4);
        while let (Some(name_size), Some(size), Some(kind)) = (word(data, 0), word(data, 4), word(data, 8)) {
            let Some((name, rest)) = padded(name_size).and_then(|size| data.get(12..)?.split_at_checked(size)) else {
                return;
            };
            let Some((descriptor, rest)) = padded(size).and_then(|size| rest.split_at_checked(size)) else { return };
            if kind == STAPSDT && name.starts_with(b"stapsdt\0") {
                // Address, base and semaphore come first.
                let mut texts = c_strings(descriptor.get(if is_64 { 24 } else { 12 }..).unwrap_or_default());
                if let (Some(provider), Some(probe)) = (texts.next(), texts.next()) {
                    self.probes.entry(provider).or_default().insert(probe.replace("__", "-"));
                }
            }
            data = rest;
        }
    }
}

impl image::Look for Binary {
    type Found = Binary;

    fn look<'a, R: ReadRef<'a>>(mut self, object: &object::File<'a, R>) -> Result<Binary, String> {
        let bits = if object.is_64() { 64 } else { 32 };
        let format = if object.format() == object::BinaryFormat::MachO { "Mach-O" } else { "ELF" };
        let architecture = format!("{:?}", object.architecture()).to_lowercase().replace("x86_64", "x86-64");
        self.kind = format!("{format} {bits} bit, {architecture}");
        for section in object.sections() {
            let Ok(name) = section.name() else { continue };
            if name == ".note.stapsdt" {
                let data = section.data().map_err(|error| error.to_string())?;
                self.read_notes(data, object.is_64(), object.is_little_endian());
            } else if name.starts_with(".SUNW_dof") || name.starts_with("__dof") {
                let data = section.data().map_err(|error| error.to_string())?;
                self.dof.extend(c_strings(data));
            }
        }
        let strip = if object.format() == object::BinaryFormat::MachO { "_" } else { "" };
        for symbol in object.symbols().chain(object.dynamic_symbols()) {
            let is_function = symbol.kind() == SymbolKind::Text && symbol.is_definition();
            if let Some(name) = symbol.name().ok().filter(|name| is_function && !name.is_empty()) {
                self.functions.push(name.strip_prefix(strip).unwrap_or(name).to_owned());
            }
        }
        self.functions.sort_unstable();
        self.functions.dedup();
        Ok(self)
    }
}

fn c_strings(data: &[u8]) -> impl Iterator<Item = String> + '_ {
    data.split(|byte| *byte == 0).filter(|text| !text.is_empty()).map(|text| String::from_utf8_lossy(text).into_owned())
}

/// DTrace's globs: `*` any text, `?` one byte. Without them the name itself.
pub(crate) fn matches(glob: &[u8], name: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while from < name.len() {
        match glob.get(at) {
            Some(b'*') => {
                star = Some((at, from));
                at += 1;
            }
            Some(b'?') => (at, from) = (at + 1, from + 1),
            Some(byte) if Some(byte) == name.get(from) => (at, from) = (at + 1, from + 1),
            _ => match star {
                Some((star_at, star_from)) => {
                    star = Some((star_at, star_from + 1));
                    (at, from) = (star_at + 1, star_from + 1);
                }
                None => return false,
            },
        }
    }
    glob.iter().skip(at).all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs() {
        for (glob, name, fits) in [
            ("*dispatch_command*", "_Z16dispatch_command19enum", true),
            ("a*b*c", "aXbYbc", true),
            ("a*b*c", "aXbYcd", false),
            ("main", "main", true),
            ("main", "main2", false),
            ("m??n*", "main", true),
            ("*", "", true),
        ] {
            assert_eq!(matches(glob.as_bytes(), name.as_bytes()), fits, "{glob} {name}");
        }
    }

    #[test]
    fn no_executable_is_said() {
        assert!(Binary::inspect(Path::new("Cargo.toml")).is_err());
    }
}
