//! Root's care, where no DTrace is needed to see it. What needs a trace is in tests/live/faults.rs.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{patiently, seatrace, text};

const SOON: Duration = Duration::from_secs(100);
const NOBODY: u32 = 65534;

/// A folder that belongs to nobody, with an input in it; None where we are not root.
fn folder() -> Option<tempfile::TempDir> {
    if !seatrace::live::is_root() {
        eprintln!("skipped: this test needs root");
        return None;
    }
    let folder = tempfile::tempdir().expect("a folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("it is ours");
    chown(folder.path(), Some(NOBODY), Some(NOBODY)).expect("we are root");
    fs::write(folder.path().join("in.folded"), "main;a 5\n").expect("it can be written");
    Some(folder)
}

fn replay(folder: &Path, output: &str) -> Command {
    let mut command = seatrace(folder, &["replay", "in.folded", "-f", "folded", "-o", output]);
    for name in ["SUDO_UID", "SUDO_GID", "DOAS_USER"] {
        command.env_remove(name);
    }
    command
}

fn owner(folder: &Path, name: &str) -> (u32, u32) {
    let data = fs::symlink_metadata(folder.join(name)).expect("it was written");
    (data.uid(), data.gid())
}

#[test]
fn a_file_belongs_to_the_caller_of_sudo() {
    let Some(folder) = folder() else { return };
    let output = patiently(replay(folder.path(), "out").env("SUDO_UID", "1234").env("SUDO_GID", "1235"), SOON);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(owner(folder.path(), "out"), (1234, 1235));
    // A half-told or wrong caller is none.
    for (user, group) in [("1234", ""), ("-1", "5"), ("x", "y")] {
        let output = patiently(replay(folder.path(), "other").env("SUDO_UID", user).env("SUDO_GID", group), SOON);
        assert!(output.status.success(), "{}", text(&output.stderr));
        assert_eq!(owner(folder.path(), "other"), (0, 0), "{user}:{group}");
    }
}

#[test]
fn a_file_belongs_to_the_caller_of_doas() {
    let Some(folder) = folder() else { return };
    let output = patiently(replay(folder.path(), "out").env("DOAS_USER", "nobody"), SOON);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(owner(folder.path(), "out").0, NOBODY);
}

#[test]
fn a_file_belongs_to_the_caller_of_pfexec() {
    let Some(folder) = folder() else { return };
    let mut command = replay(folder.path(), "out");
    // pfexec leaves the real ids and changes the effective one.
    let become_caller = || {
        // SAFETY: two system calls in the child, between fork and exec.
        match unsafe { libc::setregid(NOBODY, u32::MAX) | libc::setreuid(NOBODY, u32::MAX) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: the closure only makes system calls.
    unsafe { command.pre_exec(become_caller) };
    let output = patiently(&mut command, SOON);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(owner(folder.path(), "out"), (NOBODY, NOBODY));
}

#[test]
fn a_planted_link_is_not_followed() {
    let Some(folder) = folder() else { return };
    fs::write(folder.path().join("victim"), "precious").expect("it can be written");
    for target in ["victim", "nowhere", "/dev/null"] {
        let _ = fs::remove_file(folder.path().join("out.svg"));
        symlink(target, folder.path().join("out.svg")).expect("it can be made");
        let output = patiently(&mut replay(folder.path(), "out.svg"), SOON);
        assert_eq!(output.status.code(), Some(1), "{target}");
        assert!(folder.path().join("out.svg").is_symlink());
    }
    assert_eq!(fs::read_to_string(folder.path().join("victim")).expect("it is there"), "precious");
    assert!(!folder.path().join("nowhere").exists());
}

#[test]
fn a_link_in_a_folder_that_all_can_write_is_not_followed() {
    let Some(folder) = folder() else { return };
    // As /tmp: root's, sticky, open to all.
    chown(folder.path(), Some(0), Some(0)).expect("we are root");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).expect("it is ours");
    fs::write(folder.path().join("victim"), "precious").expect("it can be written");
    symlink("victim", folder.path().join("out")).expect("it can be made");
    let output = patiently(&mut replay(folder.path(), "out"), SOON);
    assert_eq!(output.status.code(), Some(1));
    assert!(
        text(&output.stderr).contains("is a symbolic link, which root does not follow"),
        "{}",
        text(&output.stderr)
    );
    assert_eq!(fs::read_to_string(folder.path().join("victim")).expect("it is there"), "precious");
}

#[test]
fn temporary_files_are_beside_their_target() {
    let Some(folder) = folder() else { return };
    let output = patiently(replay(folder.path(), "out").env("TMPDIR", "/nonexistent"), SOON);
    assert!(output.status.success(), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(folder.path().join("out")).expect("it is there"), "main;a 5\n");
}

#[test]
fn a_library_that_is_not_roots_is_not_loaded() {
    let Some(folder) = folder() else { return };
    // An initialiser would show that it was loaded.
    let marker = folder.path().join("loaded");
    let source = folder.path().join("evil.c");
    let code = format!(
        "#include <fcntl.h>\n__attribute__((constructor)) static void run(void) {{ open(\"{}\", O_CREAT, 0600); }}\n",
        marker.display()
    );
    fs::write(&source, code).expect("it can be written");
    let build = |library: &Path| {
        let status = Command::new("/usr/bin/cc").args(["-shared", "-fPIC", "-o"]).arg(library).arg(&source).status();
        status.is_ok_and(|status| status.success())
    };
    let library = folder.path().join("libevil.so");
    if !build(&library) {
        eprintln!("skipped: no C compiler on this machine");
        return;
    }
    fs::write(folder.path().join("p.d"), "BEGIN { exit(0); }\n").expect("it can be written");
    let refused = |library: &str, cause: &str| {
        for args in [&["run", "--via", "library", "-s", "p.d"][..], &["doctor"]] {
            let output = patiently(seatrace(folder.path(), args).env("SEATRACE_LIBDTRACE", library), SOON);
            let said = text(&[output.stdout, output.stderr].concat());
            assert!(said.contains("is refused: ") && said.contains(cause), "{args:?}: {said}");
            assert!(!marker.exists(), "{args:?}");
        }
    };
    let path = library.to_str().expect("UTF-8").to_owned();
    refused("libevil.so", "is not an absolute path");
    refused(&path, "does not belong to root");
    chown(folder.path(), Some(0), Some(0)).expect("we are root");
    fs::set_permissions(&library, fs::Permissions::from_mode(0o757)).expect("it is ours");
    refused(&path, "others can write");
    fs::set_permissions(&library, fs::Permissions::from_mode(0o755)).expect("it is ours");
    chown(&library, Some(NOBODY), Some(NOBODY)).expect("we are root");
    refused(&path, "does not belong to root");
    refused("/nonexistent/libdtrace.so", "No such file");
    // Root's own is loaded: then it is no libdtrace, which is another error.
    chown(&library, Some(0), Some(0)).expect("we are root");
    let args = ["run", "--via", "library", "-s", "p.d"];
    let output = patiently(seatrace(folder.path(), &args).env("SEATRACE_LIBDTRACE", &path), SOON);
    assert!(!text(&output.stderr).contains("is refused") && marker.exists(), "{}", text(&output.stderr));
}

/// Programs of the system are started by their full paths: those that PATH finds first are left alone.
#[test]
fn path_is_not_trusted() {
    let folder = tempfile::tempdir().expect("a folder");
    let marker = folder.path().join("marker");
    let fake = format!("#!/bin/sh\necho $0 >> {}\n", marker.display());
    let names = "dtrace ps pgrep id uname sysctl csrutil codesign kldstat kldload ppriv zonename sh bash lldb readelf nm cpp ld which file sudo";
    for name in names.split(' ') {
        let path = folder.path().join(name);
        fs::write(&path, &fake).expect("it can be written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
    fs::write(folder.path().join("p.d"), "BEGIN { exit(0); }\n").expect("it can be written");
    fs::write(folder.path().join("in.folded"), "main;a 5\n").expect("it can be written");
    let own = std::process::id().to_string();
    for args in [
        &["doctor"][..],
        &["doctor", "-p", &own],
        &["run", "-s", "p.d", "-p", "2147483647"],
        &["run", "--via", "dtrace", "-s", "p.d", "-d", "1s"],
        &["run", "query-time", "--name", "nosuch"],
        &["scripts"],
        &["replay", "in.folded", "-o", "out.html"],
    ] {
        let mut command = seatrace(folder.path(), args);
        patiently(command.env("PATH", folder.path()), SOON);
        assert!(!marker.exists(), "{args:?} ran {}", fs::read_to_string(&marker).unwrap_or_default());
    }
}

/// In the sources: every program that is started has a full path, none is a shell.
#[test]
fn no_shell_and_no_bare_name() {
    let mut started = 0;
    for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let source = fs::read_to_string(&file).expect("it can be read");
        for call in ["Command::new(\"", "run(&[\""] {
            for after in source.split(call).skip(1) {
                let program = after.split('"').next().unwrap_or_default();
                started += 1;
                let is_ours = file.ends_with("src/cli/mod.rs") || source.contains("clap::Command");
                assert!(program.starts_with('/') || is_ours, "{}: {program}", file.display());
                assert!(!program.ends_with("sh") && !program.ends_with("/env"), "{}: {program}", file.display());
            }
        }
        assert!(!source.contains("libc::system(") && !source.contains("popen("), "{}", file.display());
    }
    assert!(started > 3, "{started}");
}

/// In the sources: which variables are read at all; those of DTrace are taken away. PATH serves to look into the file that -c will start.
#[test]
fn only_known_variables_are_read() {
    let known = ["PATH", "SUDO_UID", "SUDO_GID", "DOAS_USER", "SEATRACE_LIBDTRACE", "DTRACE_"];
    let variable = regex::Regex::new("\"([A-Z][A-Z_]{3,})\"").expect("a pattern");
    for file in sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src")) {
        let source = fs::read_to_string(&file).expect("it can be read");
        let code = source.split("#[cfg(test)]").next().unwrap_or_default();
        if code.contains("env::var") {
            for name in variable.captures_iter(code) {
                assert!(known.contains(&&name[1]), "{} reads {}", file.display(), &name[1]);
            }
        }
        // D programs and what is spilled of a trace: programs where only root can put them, data in files without a name.
        for call in ["NamedTempFile::new()", ".tempfile()", "tempfile::tempfile()", "temp_dir()"] {
            let may = ["src/live/spool.rs", "src/live/handle.rs", "src/live/privilege.rs", "src/doctor/self_test.rs"];
            assert!(!code.contains(call) || may.iter().any(|may| file.ends_with(may)), "{}: {call}", file.display());
        }
    }
}

fn sources(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}
