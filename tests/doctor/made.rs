//! Executables of all four systems, made here: small, but with the sections, symbols and notes that the real ones have.

use std::fs;
use std::path::{Path, PathBuf};

use object::elf;
use object::write::{Object, StandardSegment, Symbol, SymbolSection};
use object::{Architecture, BinaryFormat, Endianness, FileFlags, SectionKind, SymbolFlags, SymbolKind, SymbolScope};

/// What a made file holds.
#[derive(Clone)]
pub struct Made {
    pub format: BinaryFormat,
    pub architecture: Architecture,
    pub os_abi: elf::OsAbi,
    pub interpreter: &'static str,
    /// Names of functions, each with a frame pointer or not.
    pub functions: Vec<String>,
    pub frame_pointers: bool,
    /// Static probes of provider mysql: as notes of sys/sdt.h, or in a section of DOF.
    pub notes: Vec<&'static str>,
    pub dof: Vec<&'static str>,
}

impl Default for Made {
    fn default() -> Made {
        Made {
            format: BinaryFormat::Elf,
            architecture: Architecture::X86_64,
            os_abi: elf::ELFOSABI_SYSV,
            interpreter: "/lib64/ld-linux-x86-64.so.2",
            functions: vec!["main".into()],
            frame_pointers: false,
            notes: Vec::new(),
            dof: Vec::new(),
        }
    }
}

/// `push %rbp; mov %rsp,%rbp`, or `sub $0x48,%rsp`; on arm64 `stp x29, x30, [sp, #-32]!; mov x29, sp`, or `sub sp, sp, #32`.
fn code(architecture: Architecture, frame_pointer: bool) -> Vec<u8> {
    let (start, filler): (&[u8], &[u8]) = match (architecture, frame_pointer) {
        (Architecture::Aarch64, true) => (&[0xfd, 0x7b, 0xbe, 0xa9, 0xfd, 0x03, 0x00, 0x91], &[0x1f, 0x20, 0x03, 0xd5]),
        (Architecture::Aarch64, false) => (&[0xff, 0x83, 0x00, 0xd1], &[0x1f, 0x20, 0x03, 0xd5]),
        (_, true) => (&[0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x89, 0xe5], &[0x90]),
        (_, false) => (&[0x48, 0x83, 0xec, 0x48], &[0x90]),
    };
    start.iter().copied().chain(filler.iter().copied().cycle()).take(80).collect()
}

/// One note: sizes and type, the owner, three addresses, then provider, name and arguments.
fn note(name: &str, word: usize) -> Vec<u8> {
    let mut descriptor = vec![0; 3 * word];
    for text in ["mysql", name, "8@%rdi"] {
        descriptor.extend(text.bytes().chain([0]));
    }
    let mut bytes = Vec::new();
    for number in [8u32, u32::try_from(descriptor.len()).unwrap(), 3] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(b"stapsdt\0");
    descriptor.resize(descriptor.len().next_multiple_of(4), 0);
    bytes.extend(descriptor);
    bytes
}

impl Made {
    /// Writes it as `folder/name`.
    pub fn write(&self, folder: &Path, name: &str) -> PathBuf {
        let path = folder.join(name);
        fs::write(&path, self.bytes()).unwrap();
        path
    }

    /// Writes a universal file of macOS: x86-64 and arm64 beside each other, big-endian offsets in front.
    pub fn write_universal(&self, folder: &Path, name: &str) -> PathBuf {
        let parts = [(0x0100_0007u32, 3u32, Architecture::X86_64), (0x0100_000c, 0, Architecture::Aarch64)];
        let mut bytes: Vec<u8> = [0xcafe_babeu32, 2].iter().flat_map(|word| word.to_be_bytes()).collect();
        let mut contents = Vec::new();
        for (kind, subtype, architecture) in parts {
            let part = Made { format: BinaryFormat::MachO, architecture, ..self.clone() }.bytes();
            let offset = u32::try_from(4096 + contents.len()).unwrap();
            let words = [kind, subtype, offset, u32::try_from(part.len()).unwrap(), 12];
            bytes.extend(words.iter().flat_map(|word| word.to_be_bytes()));
            contents.extend(part);
            contents.resize(contents.len().next_multiple_of(4096), 0);
        }
        bytes.resize(4096, 0);
        bytes.extend(contents);
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    fn bytes(&self) -> Vec<u8> {
        let mut object = Object::new(self.format, self.architecture, Endianness::Little);
        let is_elf = self.format == BinaryFormat::Elf;
        if is_elf {
            object.flags = FileFlags::Elf { os_abi: self.os_abi, abi_version: 0, e_flags: elf::FileFlags(0) };
            let interpreter = object.add_section(vec![], b".interp".to_vec(), SectionKind::ReadOnlyData);
            object.append_section_data(interpreter, self.interpreter.as_bytes(), 1);
        }
        let text = object.section_id(object::write::StandardSection::Text);
        for function in &self.functions {
            let code = code(self.architecture, self.frame_pointers);
            let value = object.append_section_data(text, &code, 16);
            object.add_symbol(Symbol {
                name: function.as_bytes().to_vec(),
                value,
                size: code.len() as u64,
                kind: SymbolKind::Text,
                scope: SymbolScope::Dynamic,
                weak: false,
                section: SymbolSection::Section(text),
                flags: SymbolFlags::None,
            });
        }
        if !self.notes.is_empty() {
            let section = object.add_section(vec![], b".note.stapsdt".to_vec(), SectionKind::Note);
            let word = if self.architecture == Architecture::I386 { 4 } else { 8 };
            for name in &self.notes {
                object.append_section_data(section, &note(name, word), 4);
            }
        }
        if !self.dof.is_empty() {
            let (segment, name): (&[u8], &[u8]) =
                if is_elf { (b"", b".SUNW_dof") } else { (object.segment_name(StandardSegment::Data), b"__dof_mysql") };
            let section = object.add_section(segment.to_vec(), name.to_vec(), SectionKind::Data);
            // DTrace's object file begins with its magic; the names stand in a string table.
            let mut bytes = b"\x7fDOF\x02\x01\x02\0".to_vec();
            for text in ["mysql"].iter().chain(&self.dof) {
                bytes.extend([0].into_iter().chain(text.bytes()));
            }
            bytes.push(0);
            object.append_section_data(section, &bytes, 8);
        }
        object.write().unwrap()
    }
}
