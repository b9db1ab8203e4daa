//! What can be traced: running servers by their exact names, one process, or an executable by its path.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::eyes::Eyes;
use super::finding::Finding;
use crate::live::{self, Flavor, Process};
use crate::scripts::{self, FormKind};
use crate::server::{self, Binary, Origin};

/// A server, or the file of one.
pub struct Target {
    /// `pid 4242`, or the path of the file.
    pub name: String,
    /// The process; None for a file.
    pub pid: Option<i32>,
    /// Path, data directory, version.
    pub about: String,
    /// The executable; None if it is not known.
    path: Option<PathBuf>,
    /// What its binary holds; None if it cannot be read.
    pub binary: Option<Binary>,
    /// The system for which it was built, if that can be told.
    pub flavor: Option<Flavor>,
    /// Whether user stacks will be whole, if that can be told.
    pub frame_pointers: Option<bool>,
    /// What was found in it.
    pub findings: Vec<Finding>,
}

/// The running servers. Those of other users may hide their executables: they are named all the same.
pub fn running() -> Vec<Target> {
    let is_server = |path: &Path| server::SERVERS.iter().any(|name| path.file_name().is_some_and(|file| file == *name));
    let visible = live::processes().into_iter().filter(|process| is_server(&without_mark(&process.path)));
    let mut found: Vec<Target> = visible.map(|process| of_process(&process)).collect();
    for (pid, command) in by_ps() {
        if is_server(Path::new(&command)) && !found.iter().any(|target| target.pid == Some(pid)) {
            found.push(hidden(pid, &command));
        }
    }
    found.sort_by_key(|target| target.pid);
    found
}

/// Linux marks the executable of a server that was upgraded under it.
fn without_mark(path: &Path) -> PathBuf {
    let text = path.to_string_lossy();
    PathBuf::from(text.strip_suffix(" (deleted)").unwrap_or(&text).to_owned())
}

/// The process of that id.
pub fn of_pid(pid: i32) -> Target {
    match live::executable(pid) {
        Some(path) => of_process(&Process { pid, path }),
        None => match by_ps().into_iter().find(|(other, _)| *other == pid) {
            Some((_, command)) => hidden(pid, &command),
            None => {
                let finding = Finding::bad(
                    "process",
                    format!("no process has the id {pid}"),
                    "look with: pgrep -x mariadbd; pgrep -x mysqld",
                );
                Target::bare(format!("pid {pid}"), Some(pid), String::new(), vec![finding])
            }
        },
    }
}

/// The executable at `path`.
pub fn of_file(path: &Path) -> Target {
    let about = server::version(path).unwrap_or_default();
    Target::inspect(path.display().to_string(), None, about, path)
}

fn of_process(process: &Process) -> Target {
    let about = server::describe(process);
    let path = server::executable(process.pid).unwrap_or_else(|| process.path.clone());
    let mut target = Target::inspect(format!("pid {}", process.pid), Some(process.pid), about, &path);
    let name = without_mark(&process.path);
    if !server::SERVERS.iter().any(|known| name.file_name().is_some_and(|file| file == *known)) {
        let says = format!("{} is no server: its executable is neither mariadbd nor mysqld", process.path.display());
        target.findings.insert(0, Finding::doubt("process", says, "look with: pgrep -x mariadbd; pgrep -x mysqld"));
    }
    target
}

/// A process of another user, known from ps(1) alone.
fn hidden(pid: i32, command: &str) -> Target {
    let finding = Finding::doubt(
        "binary",
        "the process is another user's: its executable cannot be looked into",
        "run doctor as root, or give it the executable's path",
    );
    Target::bare(format!("pid {pid}"), Some(pid), command.to_owned(), vec![finding])
}

/// Processes and their commands, from the tool that every system has.
fn by_ps() -> Vec<(i32, String)> {
    let path = ["/bin/ps", "/usr/bin/ps"].into_iter().find(|path| Path::new(path).exists()).unwrap_or("/bin/ps");
    let output = Command::new(path)
        .args(["-A", "-o", "pid=", "-o", "comm="])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let lines = text.lines().filter_map(|line| line.trim().split_once(char::is_whitespace));
    lines.filter_map(|(pid, command)| Some((pid.parse().ok()?, command.trim().to_owned()))).collect()
}

impl Target {
    /// On macOS the system decides who may be traced: signature, translation.
    pub(super) fn ask_macos(&mut self, system: &[Finding], eyes: &dyn Eyes) {
        if let (Some(path), Some(Flavor::MacOs)) = (&self.path, self.flavor) {
            let origin = Origin::inspect(path).unwrap_or_default();
            self.findings.extend(super::macos::may_be_traced(path, &origin, system, eyes));
        }
    }

    fn bare(name: String, pid: Option<i32>, about: String, findings: Vec<Finding>) -> Target {
        Target { name, pid, about, path: None, binary: None, flavor: None, frame_pointers: None, findings }
    }

    fn inspect(name: String, pid: Option<i32>, about: String, path: &Path) -> Target {
        let binary = match Binary::inspect(path) {
            Ok(binary) => binary,
            Err(cause) => {
                let finding = Finding::bad(
                    "binary",
                    format!("cannot be looked into: {cause}"),
                    "give the server itself, not a script that starts it, and with the right to read it",
                );
                return Target::bare(name, pid, about, vec![finding]);
            }
        };
        let origin = Origin::inspect(path).unwrap_or_default();
        let mut findings = vec![kind(&binary, &origin), probes(&binary), functions(&binary)];
        findings.push(frames(&origin));
        Target {
            name,
            pid,
            about,
            path: Some(path.to_owned()),
            flavor: origin.flavor,
            frame_pointers: origin.keeps_frame_pointers(),
            binary: Some(binary),
            findings,
        }
    }
}

fn kind(binary: &Binary, origin: &Origin) -> Finding {
    let system = origin.flavor.map_or("system unknown".into(), |flavor| format!("for {flavor}"));
    let says = format!("{}, {system}", binary.kind);
    // Seen with DTrace 2.0.7: `dtrace -p` says "No such process", of a 64 bit program of the same source it does not.
    if binary.kind.contains(" 32 bit") && origin.flavor.is_none_or(|flavor| flavor == Flavor::Linux) {
        return Finding::bad(
            "binary",
            format!("{says}: DTrace takes hold of no 32 bit process on Linux"),
            "a 64 bit build of the server",
        );
    }
    Finding::good("binary", says)
}

/// Provider of the server's static probes.
const PROVIDER: &str = "mysql";

fn probes(binary: &Binary) -> Finding {
    let count = binary.probes.get(PROVIDER).map_or(0, BTreeSet::len);
    if binary.has_provider(PROVIDER) {
        let says = if count > 0 { format!("{count} of provider {PROVIDER}") } else { format!("provider {PROVIDER}") };
        return Finding::good("static probes", says);
    }
    let (says, remedy) = match is_mysql(binary) {
        true => ("none: MySQL took them out in 8.0", "pid forms work in their place"),
        false => (
            "none: this build was made without",
            "pid forms work in their place; a server built with -DENABLE_DTRACE=1 has them",
        ),
    };
    let remedy = if wanted(binary).iter().all(|(_, there)| !there) {
        "a server built with -DENABLE_DTRACE=1 has them"
    } else {
        remedy
    };
    Finding::doubt("static probes", says, remedy)
}

/// MySQL passes a command's data in a structure that MariaDB does not have.
fn is_mysql(binary: &Binary) -> bool {
    binary.has_function("*dispatch_command*COM_DATA*")
}

/// The functions that pid forms of the server's kind look for, and whether they are there.
fn wanted(binary: &Binary) -> Vec<(&'static str, bool)> {
    let is_mysql = is_mysql(binary);
    let forms = scripts::all().iter().flat_map(|script| &script.forms);
    let fitting = forms.filter(|form| match form.kind {
        FormKind::Pid => !is_mysql,
        FormKind::PidMySql => is_mysql,
        _ => false,
    });
    let globs: BTreeSet<&str> = fitting.flat_map(|form| form.header.functions.iter().map(String::as_str)).collect();
    globs.into_iter().map(|glob| (glob, binary.has_function(glob))).collect()
}

fn functions(binary: &Binary) -> Finding {
    if !binary.has_symbols() {
        return Finding::bad(
            "functions",
            "none: the binary is stripped of its symbols",
            "an unstripped build, or the distribution's own package",
        );
    }
    let wanted = wanted(binary);
    let missing: Vec<&str> = wanted.iter().filter(|(_, there)| !there).map(|(glob, _)| *glob).collect();
    match (missing.len(), wanted.len()) {
        (0, 0) => Finding::doubt("functions", "no pid form is known for this kind of server", ""),
        (0, all) => Finding::good("functions", format!("all {all} that pid forms look for")),
        (lacking, all) if lacking == all => Finding::doubt(
            "functions",
            "none of those that pid forms look for",
            "is this the server, and not another program?",
        ),
        (lacking, all) => Finding::doubt(
            "functions",
            format!("{} of {all} that pid forms look for; missing: {}", all - lacking, missing.join(" ")),
            "",
        ),
    }
}

fn frames(origin: &Origin) -> Finding {
    match (origin.keeps_frame_pointers(), origin.sample) {
        (Some(true), Some((looked_at, kept))) => {
            Finding::good("frame pointers", format!("likely: {kept} of {looked_at} functions set one"))
        }
        (Some(false), Some((looked_at, kept))) => Finding::doubt(
            "frame pointers",
            format!("hardly: {kept} of {looked_at} functions set one, so user stacks end early or hold wrong frames"),
            "a build with -fno-omit-frame-pointer; or scripts without stacks, such as query-phases",
        ),
        _ => Finding::doubt("frame pointers", "cannot be told from this binary", ""),
    }
}
