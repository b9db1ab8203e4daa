//! The machine that the tests run on: what it has, how to start things on it, and how to be sure that they end.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The program under test.
pub const SEATRACE: &str = env!("CARGO_BIN_EXE_seatrace");
/// The source tree.
pub const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// A machine with DTrace; tests hold it one at a time, since traces slow each other.
pub struct Machine {
    /// A folder of this test.
    pub folder: tempfile::TempDir,
    _alone: MutexGuard<'static, ()>,
}

impl Machine {
    /// The machine, or None with the reason said.
    pub fn get() -> Option<Machine> {
        static ALONE: Mutex<()> = Mutex::new(());
        let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"];
        let has_library = folders.iter().any(|folder| Path::new(folder).join("libdtrace.so.2").exists());
        if !has_library || !is_root() {
            let why = if has_library { "not root" } else { "no libdtrace.so.2" };
            eprintln!("skipped: {why} on this machine; see tests/machine/sid-root");
            return None;
        }
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        Some(Machine { folder: tempfile::tempdir().unwrap(), _alone: alone })
    }

    /// A path in the folder of this test.
    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Builds a C program of the tree.
    pub fn build(&self, source: &str) -> PathBuf {
        let program = self.path("program");
        let done = Command::new("cc")
            .args(["-O1", "-g", "-fno-omit-frame-pointer", "-pthread", "-o"])
            .arg(&program)
            .arg(Path::new(ROOT).join(source))
            .status()
            .unwrap();
        assert!(done.success(), "{source} does not build");
        program
    }

    /// `seatrace` with these arguments, in the folder of this test.
    pub fn seatrace(&self, args: &[&str]) -> Command {
        let mut command = Command::new(SEATRACE);
        command.args(args).current_dir(self.folder.path());
        if args.first() == Some(&"run") && !args.contains(&"--") {
            command.args(syslibdir());
        }
        command
    }
}

/// The option that this kernel's DTrace needs: see tests/machine/sid-root.
pub fn syslibdir() -> Vec<String> {
    let copy = "/opt/dtrace-lib";
    if Path::new(copy).exists() { vec!["-x".into(), format!("syslibdir={copy}")] } else { Vec::new() }
}

fn is_root() -> bool {
    fs::read_to_string("/proc/self/status").unwrap_or_default().lines().any(|line| line.starts_with("Uid:\t0\t0"))
}

/// A child that is killed when the test ends.
pub struct Running(pub Child);

impl Running {
    /// Starts it.
    pub fn start(command: &mut Command) -> Running {
        Running(command.stdin(Stdio::null()).spawn().unwrap())
    }

    /// Its pid.
    pub fn pid(&self) -> String {
        self.0.id().to_string()
    }

    /// Sends it a signal by name.
    pub fn signal(&self, name: &str) {
        let done = Command::new("kill").args([&format!("-{name}"), &self.pid()]).status().unwrap();
        assert!(done.success());
    }

    /// Waits for its end; panics after the limit.
    pub fn wait(&mut self, limit: Duration) -> Option<i32> {
        let begin = Instant::now();
        loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                return status.code();
            }
            assert!(begin.elapsed() < limit, "still running after {limit:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Standard output of a finished command.
pub fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Standard error of a finished command.
pub fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Runs it to its end; a machine that is busy takes a minute to detach.
pub fn finish(command: &mut Command) -> Output {
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let pid = child.id();
    let (done, watch) = std::sync::mpsc::channel::<()>();
    let watcher = std::thread::spawn(move || {
        if watch.recv_timeout(Duration::from_secs(200)) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            let _ = Command::new("kill").args(["-KILL", &pid.to_string()]).status();
        }
    });
    let output = child.wait_with_output().unwrap();
    drop(done);
    watcher.join().unwrap();
    output
}

/// Waits until a file holds `text`.
pub fn wait_for(path: &Path, text: &str, limit: Duration) {
    let begin = Instant::now();
    while !fs::read_to_string(path).unwrap_or_default().contains(text) {
        assert!(begin.elapsed() < limit, "{}: no {text:?} after {limit:?}", path.display());
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Waits until DTrace has enabled all probes: on a busy machine each takes up to a second, and BEGIN may print before the last.
pub fn wait_for_probes(pid: &str) {
    let folder = format!("/proc/{pid}/fd");
    let open = || {
        let links =
            fs::read_dir(&folder).into_iter().flatten().flatten().filter_map(|fd| fs::read_link(fd.path()).ok());
        let names: Vec<String> = links.map(|link| link.to_string_lossy().into_owned()).collect();
        (names.iter().any(|name| name.contains("perf_event")), names.len())
    };
    let (begin, mut before, mut still) = (Instant::now(), 0, 0);
    while still < 12 {
        assert!(begin.elapsed() < Duration::from_secs(90), "no probes after {:?}", begin.elapsed());
        std::thread::sleep(Duration::from_millis(250));
        let (loaded, count) = open();
        still = if loaded && count == before { still + 1 } else { 0 };
        before = count;
    }
}
