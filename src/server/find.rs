//! Finding the server among the running processes, by the exact name of its executable.
//!
//! Exact, since `mysqld` is also a part of `mysqld_safe` and `mysqld_exporter`; and several matches are listed, never
//! guessed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{Error, Result};
use crate::live::{self, Process};

/// Executables to look for when no name is given, in that order.
pub const SERVERS: [&str; 2] = ["mariadbd", "mysqld"];

/// The one process whose executable has that name; without a name, the one server.
pub fn by_name(name: Option<&str>) -> Result<Process> {
    let names: Vec<&str> = name.map_or(SERVERS.to_vec(), |name| vec![name]);
    let running = live::processes();
    pick(&names, &running, &describe)
}

fn pick(names: &[&str], running: &[Process], describe: &dyn Fn(&Process) -> String) -> Result<Process> {
    for name in names {
        let found: Vec<&Process> = running.iter().filter(|process| is_named(process, name)).collect();
        match found.as_slice() {
            [] => {}
            [one] => return Ok((*one).clone()),
            many => {
                let list: Vec<String> =
                    many.iter().map(|process| format!("\n  -p {:<8}{}", process.pid, describe(process))).collect();
                return Err(Error::Usage(format!(
                    "{} processes are called {name}; choose one:{}",
                    many.len(),
                    list.concat()
                )));
            }
        }
    }
    Err(Error::Trace {
        cause: format!("no process is called {}", names.join(" or ")),
        remedy: "is the server running? Another name: --name NAME; a certain process: -p PID".into(),
    })
}

fn is_named(process: &Process, name: &str) -> bool {
    // Linux marks the executable of a server that was upgraded under it.
    let file = process.path.file_name().and_then(|file| file.to_str()).unwrap_or("");
    file.strip_suffix(" (deleted)").unwrap_or(file) == name
}

/// The file to look into for what a process holds.
pub fn executable(pid: i32) -> Option<PathBuf> {
    // In a container the path means another file; this one leads to the right one, also after an upgrade.
    let through = PathBuf::from(format!("/proc/{pid}/exe"));
    if cfg!(target_os = "linux") { Some(through) } else { live::executable(pid) }
}

/// The file that a command's name stands for, as execvp finds it.
pub fn in_path(word: &str) -> Option<PathBuf> {
    if word.contains('/') {
        return Some(PathBuf::from(word));
    }
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(word)).find(|path| path.is_file())
}

/// Data directory, version and path of a server, as far as they can be found.
pub fn describe(process: &Process) -> String {
    let words = arguments(process.pid);
    let option = |name: &str| words.iter().find_map(|word| word.strip_prefix(name).map(str::to_owned));
    let home = option("--datadir=").or_else(|| {
        // The server changes into its data directory.
        let here = std::fs::read_link(format!("/proc/{}/cwd", process.pid)).ok()?;
        Some(here.display().to_string())
    });
    let port = option("--port=").map(|port| format!(", port {port}")).unwrap_or_default();
    let version = executable(process.pid).and_then(|path| version(&path)).unwrap_or_else(|| "version unknown".into());
    format!(
        "{}, data in {}{port}, {version}",
        process.path.display(),
        home.unwrap_or_else(|| "an unknown place".into())
    )
}

fn arguments(pid: i32) -> Vec<String> {
    if let Ok(line) = std::fs::read(format!("/proc/{pid}/cmdline"))
        && cfg!(target_os = "linux")
    {
        return line.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    }
    let output =
        Command::new("/bin/ps").args(["-ww", "-o", "args=", "-p", &pid.to_string()]).stderr(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.split_whitespace().map(str::to_owned).collect()
}

/// The version of a MariaDB or MySQL server, from the texts in its binary: nothing of it is run.
pub fn version(path: &Path) -> Option<String> {
    use std::io::Read;
    // `11.8.3-MariaDB`; MySQL has no such mark, its version stands beside the name of its source directory or nowhere.
    let pattern = regex::bytes::Regex::new(r"\b\d{1,2}\.\d{1,2}\.\d{1,3}-MariaDB").ok()?;
    let mut file = std::fs::File::open(path).ok()?;
    let mut block = vec![0; 1 << 20];
    let mut kept = 0;
    loop {
        let length = file.read(block.get_mut(kept..)?).ok()?;
        let seen = block.get(..kept + length)?;
        if let Some(found) = pattern.find(seen) {
            return Some(String::from_utf8_lossy(found.as_bytes()).into_owned());
        }
        if length == 0 {
            return None;
        }
        let tail = seen.len().min(64);
        let from = seen.len() - tail;
        block.copy_within(from..from + tail, 0);
        kept = tail;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn processes(list: &[(i32, &str)]) -> Vec<Process> {
        list.iter().map(|(pid, path)| Process { pid: *pid, path: PathBuf::from(path) }).collect()
    }

    #[test]
    fn br_68_exact_names_only_and_several_are_listed() {
        let running = processes(&[
            (100, "/usr/bin/mysqld_safe"),
            (101, "/opt/mysqld_exporter"),
            (102, "/usr/sbin/mariadbd"),
            (103, "/usr/sbin/mariadbd (deleted)"),
        ]);
        let places = |process: &Process| if process.pid == 102 { "/srv/a".into() } else { "/srv/b".into() };
        let error = pick(&SERVERS, &running, &places).unwrap_err().to_string();
        assert_eq!(error, "2 processes are called mariadbd; choose one:\n  -p 102     /srv/a\n  -p 103     /srv/b");
        let one = pick(&SERVERS, &processes(&[(7, "/x/mysqld"), (8, "/x/mysqld_safe")]), &places).unwrap();
        assert_eq!(one.pid, 7);
        assert!(pick(&["nosuch"], &running, &places).unwrap_err().to_string().contains("--name"));
    }
}
