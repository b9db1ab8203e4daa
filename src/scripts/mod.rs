//! The bundled D scripts, embedded by build.rs: what each needs, what can be set, and which form of it fits a server.
//!
//! A script has a form for static probes (`NAME.d`), and may have one for servers without them (`NAME-pid.d`, and
//! `NAME-pid-mysql.d` where MySQL 8 and 9 differ from MariaDB) and forms for single systems (`NAME-macos.d`).

mod choose;
mod header;
mod option;
mod prepare;

pub use choose::{Choice, Server, choose};
pub use header::{Header, TargetNeed};
pub use option::{OptionKind, ScriptOption, Token, parse_size};
pub use prepare::{pragma_value, prepare, share_options, with_options};

use std::sync::LazyLock;

use crate::error::{Error, Result};

/// File names and texts.
static FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/scripts.rs"));

/// What a form is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FormKind {
    /// One system, which must run this form: `macos`, `illumos`, `freebsd` or `linux`.
    System(&'static str),
    /// The form for every server, or for servers with static probes.
    Plain,
    /// Servers without static probes: MariaDB, and MySQL to 5.7.
    Pid,
    /// Servers without static probes: MySQL 8 and 9.
    PidMySql,
}

/// One D program.
#[derive(Clone, Debug)]
pub struct Form {
    /// Name of its file without `.d`.
    pub name: &'static str,
    /// What it is for.
    pub kind: FormKind,
    /// The D text.
    pub text: &'static str,
    /// What its header says.
    pub header: Header,
}

/// A script with all its forms.
#[derive(Clone, Debug)]
pub struct Script {
    /// Its name.
    pub name: &'static str,
    /// Its page, in Markdown; empty if it has none.
    pub page: &'static str,
    /// Its forms, in the order in which they are tried.
    pub forms: Vec<Form>,
}

const SUFFIXES: [(&str, FormKind); 6] = [
    ("-pid-mysql", FormKind::PidMySql),
    ("-pid", FormKind::Pid),
    ("-macos", FormKind::System("macos")),
    ("-illumos", FormKind::System("illumos")),
    ("-freebsd", FormKind::System("freebsd")),
    ("-linux", FormKind::System("linux")),
];

impl Script {
    /// The form that is described where none has been chosen yet.
    pub fn main_form(&self) -> Option<&Form> {
        self.forms.iter().find(|form| form.kind == FormKind::Plain).or(self.forms.first())
    }

    /// All options that any form knows, by name.
    pub fn options(&self) -> Vec<&ScriptOption> {
        let mut all: Vec<&ScriptOption> = Vec::new();
        for option in self.forms.iter().flat_map(|form| &form.header.options) {
            if !all.iter().any(|known| known.name == option.name) {
                all.push(option);
            }
        }
        all
    }
}

/// All bundled scripts, by name.
pub fn all() -> &'static [Script] {
    static ALL: LazyLock<Vec<Script>> = LazyLock::new(|| collect(FILES));
    &ALL
}

/// The script of that name.
pub fn by_name(name: &str) -> Result<&'static Script> {
    let name = name.strip_suffix(".d").unwrap_or(name);
    let found = all().iter().find(|script| script.name == name || script.forms.iter().any(|form| form.name == name));
    found.ok_or_else(|| {
        let names: Vec<&str> = all().iter().map(|script| script.name).collect();
        Error::Usage(format!("{name}: no such script; there are {}\n  your own program: -s FILE", names.join(", ")))
    })
}

fn collect(files: &'static [(&'static str, &'static str)]) -> Vec<Script> {
    let mut scripts: Vec<Script> = Vec::new();
    for &(file, text) in files {
        let Some(file) = file.strip_suffix(".d") else { continue };
        let (name, kind) = split(file, files);
        // A header that cannot be read is caught by a test; such a form is not offered.
        let Ok(header) = Header::parse(text) else { continue };
        let form = Form { name: file, kind, text, header };
        match scripts.iter_mut().find(|script| script.name == name) {
            Some(script) => script.forms.push(form),
            None => scripts.push(Script { name, page: page(name, files), forms: vec![form] }),
        }
    }
    scripts.iter_mut().for_each(|script| script.forms.sort_by_key(|form| form.kind));
    scripts.sort_by_key(|script| script.name);
    scripts
}

/// The script and kind that a file name stands for; a suffix counts if the rest has a page or a main form.
fn split(file: &'static str, files: &[(&str, &str)]) -> (&'static str, FormKind) {
    for (suffix, kind) in SUFFIXES {
        if let Some(name) = file.strip_suffix(suffix)
            && files.iter().any(|(other, _)| *other == format!("{name}.md") || *other == format!("{name}.d"))
        {
            return (name, kind);
        }
    }
    (file, FormKind::Plain)
}

fn page(name: &str, files: &'static [(&'static str, &'static str)]) -> &'static str {
    files.iter().find(|(file, _)| *file == format!("{name}.md")).map_or("", |(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bundled_header_can_be_read() {
        for (file, text) in FILES.iter().filter(|(file, _)| file.ends_with(".d")) {
            let header = Header::parse(text).unwrap_or_else(|wrong| panic!("{file}: {wrong}"));
            assert!(!header.purpose.is_empty() && !header.group.is_empty(), "{file}: purpose and group");
            for option in &header.options {
                let place = match &option.token {
                    Token::Number(number) => format!("${number}"),
                    Token::Text(number) => format!("$${number}"),
                    Token::Constant(before, number, after) => format!("{before}{number}{after}"),
                };
                let body = text.split_once("*/").map_or("", |(_, body)| body);
                assert!(body.contains(&place), "{file}: --{}: {place} is not in the program", option.name);
            }
        }
    }

    #[test]
    fn forms_come_together_under_their_script() {
        let header = "/*\n * x - y\n */\n";
        let files: &'static [(&str, &str)] = Vec::leak(vec![
            ("a.d", header),
            ("a-pid.d", header),
            ("a-pid-mysql.d", header),
            ("a-macos.d", header),
            ("a.md", "page"),
            ("by-pid.d", header),
        ]);
        let scripts = collect(files);
        let kinds: Vec<FormKind> = scripts[0].forms.iter().map(|form| form.kind).collect();
        assert_eq!(kinds, [FormKind::System("macos"), FormKind::Plain, FormKind::Pid, FormKind::PidMySql]);
        assert_eq!((scripts[0].page, scripts[1].name), ("page", "by-pid"));
    }
}
