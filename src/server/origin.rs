//! For which system an executable was built, and whether its functions keep frame pointers.
//!
//! DTrace walks user stacks by frame pointers. Compilers leave no note of them, but a function that keeps them begins in one way: on x86-64
//! `push %rbp; mov %rsp,%rbp`, on arm64 `stp x29, x30, …; mov x29, sp`. A sample of functions tells the rest.

use std::path::Path;

use object::read::ReadRef;
use object::{Architecture, BinaryFormat, FileFlags, Object, ObjectSection, ObjectSymbol, SymbolKind};

use super::image;
use crate::live::Flavor;

/// What is known of an executable's build.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The system that it runs on; None: cannot be told.
    pub flavor: Option<Flavor>,
    /// Functions looked at, and those of them that keep a frame pointer.
    pub sample: Option<(usize, usize)>,
    /// Built for x86-64.
    pub is_x86_64: bool,
}

/// Functions that are looked at.
const SAMPLE: usize = 2000;
/// Shorter ones may have no frame in any build.
const MIN_SIZE: u64 = 64;
/// So many bytes into a function its frame pointer is set.
const PROLOGUE: u64 = 32;

impl Origin {
    /// Looks into a file.
    pub fn inspect(path: &Path) -> Result<Origin, String> {
        image::look(path, Origin::default())
    }

    /// Whether user stacks will be whole: more than half of the functions keep their frame pointer. None: cannot be told.
    pub fn keeps_frame_pointers(&self) -> Option<bool> {
        let (looked_at, kept) = self.sample?;
        // A handful of functions is start-up code, which says nothing about the rest.
        (looked_at >= 8).then_some(kept > looked_at / 2)
    }
}

impl image::Look for Origin {
    type Found = Origin;

    fn look<'a, R: ReadRef<'a>>(self, object: &object::File<'a, R>) -> Result<Origin, String> {
        let is_x86_64 = object.architecture() == Architecture::X86_64;
        Ok(Origin { flavor: flavor(object), sample: sample(object), is_x86_64 })
    }
}

fn flavor<'a, R: ReadRef<'a>>(object: &object::File<'a, R>) -> Option<Flavor> {
    if object.format() == BinaryFormat::MachO {
        return Some(Flavor::MacOs);
    }
    let FileFlags::Elf { os_abi, .. } = object.flags() else { return None };
    let interpreter = object.section_by_name(".interp").and_then(|section| section.data().ok()).unwrap_or_default();
    let has_section =
        |start: &str| object.sections().any(|section| section.name().is_ok_and(|name| name.starts_with(start)));
    match os_abi {
        object::elf::ELFOSABI_FREEBSD => Some(Flavor::FreeBsd),
        object::elf::ELFOSABI_SOLARIS => Some(Flavor::Illumos),
        _ if interpreter.starts_with(b"/lib/ld-") || interpreter.starts_with(b"/lib64/ld-") => Some(Flavor::Linux),
        _ if interpreter.starts_with(b"/usr/lib/") || interpreter.starts_with(b"/lib/") => Some(Flavor::Illumos),
        _ if interpreter.starts_with(b"/libexec/") => Some(Flavor::FreeBsd),
        _ if has_section(".SUNW_ldynsym") || has_section(".SUNW_cap") => Some(Flavor::Illumos),
        object::elf::ELFOSABI_GNU => Some(Flavor::Linux),
        _ if has_section(".note.ABI-tag") || has_section(".gnu.hash") => Some(Flavor::Linux),
        _ => None,
    }
}

fn sample<'a, R: ReadRef<'a>>(object: &object::File<'a, R>) -> Option<(usize, usize)> {
    let keeps: fn(&[u8]) -> bool = match object.architecture() {
        Architecture::X86_64 => keeps_rbp,
        Architecture::Aarch64 => keeps_x29,
        _ => return None,
    };
    let mut starts: Vec<u64> = object
        .symbols()
        .chain(object.dynamic_symbols())
        .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
        // Mach-O keeps no sizes.
        .filter(|symbol| symbol.size() == 0 || symbol.size() >= MIN_SIZE)
        .map(|symbol| symbol.address())
        .collect();
    starts.sort_unstable();
    starts.dedup();
    let step = (starts.len() / SAMPLE).max(1);
    let (mut looked_at, mut kept) = (0, 0);
    for start in starts.iter().step_by(step) {
        let code = object.sections().find_map(|section| section.data_range(*start, PROLOGUE).ok().flatten());
        let Some(code) = code else { continue };
        looked_at += 1;
        kept += usize::from(keeps(code));
    }
    Some((looked_at, kept))
}

/// `push %rbp` and, soon after it, `mov %rsp,%rbp` in either encoding.
fn keeps_rbp(code: &[u8]) -> bool {
    let code = code.strip_prefix(&[0xf3, 0x0f, 0x1e, 0xfa]).unwrap_or(code);
    let moves = |part: &[u8]| part == [0x48, 0x89, 0xe5] || part == [0x48, 0x8b, 0xec];
    code.first() == Some(&0x55) && code.windows(3).any(moves)
}

/// `mov x29, sp` or `add x29, sp, #n` among the first instructions.
fn keeps_x29(code: &[u8]) -> bool {
    let words = code.chunks_exact(4).filter_map(|word| word.try_into().ok().map(u32::from_le_bytes));
    words.into_iter().any(|word| word & 0xffc0_03ff == 0x9100_03fd)
}
