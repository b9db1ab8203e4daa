//! Running processes and their executables, asked of each system in its own way.

use std::path::PathBuf;

/// A running process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: i32,
    /// Its executable.
    pub path: PathBuf,
}

/// All processes whose executable can be seen, by pid.
pub fn processes() -> Vec<Process> {
    let mut all: Vec<Process> =
        pids().into_iter().filter_map(|pid| Some(Process { pid, path: executable(pid)? })).collect();
    all.sort_by_key(|process| process.pid);
    all
}

/// Why a process that is there cannot be taken hold of: libdtrace says `No such process` also then.
pub(super) fn holder(pid: i32) -> Option<String> {
    // SAFETY: signal 0 only asks whether the process could be signalled.
    let is_there =
        unsafe { libc::kill(pid, 0) } == 0 || std::io::Error::last_os_error().raw_os_error() == Some(libc::EPERM);
    let status = is_there.then(|| std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default())?;
    let tracer = status.lines().find_map(|line| line.strip_prefix("TracerPid:")).map_or("0", str::trim);
    Some(match tracer {
        "0" => "it is there, but cannot be taken hold of".to_owned(),
        tracer => format!("pid {tracer} already holds it (a debugger, strace or another DTrace)"),
    })
}

/// Linux and illumos show processes as directories.
#[cfg(not(any(target_os = "macos", target_os = "freebsd")))]
fn pids() -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The executable of a process.
#[cfg(not(any(target_os = "macos", target_os = "freebsd")))]
pub fn executable(pid: i32) -> Option<PathBuf> {
    let link = if cfg!(target_os = "linux") { format!("/proc/{pid}/exe") } else { format!("/proc/{pid}/path/a.out") };
    std::fs::read_link(link).ok()
}

#[cfg(target_os = "macos")]
fn pids() -> Vec<i32> {
    let mut pids = vec![0i32; 65536];
    let size = i32::try_from(std::mem::size_of_val(pids.as_slice())).unwrap_or(i32::MAX);
    // SAFETY: the buffer is ours and its size in bytes is passed; the count of pids comes back.
    let count = unsafe { libc::proc_listallpids(pids.as_mut_ptr().cast(), size) };
    pids.truncate(usize::try_from(count).unwrap_or(0));
    pids
}

/// The executable of a process.
#[cfg(target_os = "macos")]
pub fn executable(pid: i32) -> Option<PathBuf> {
    let mut path = vec![0u8; 4096];
    // SAFETY: the buffer is ours and its size is passed; the length of the path comes back.
    let length = unsafe { libc::proc_pidpath(pid, path.as_mut_ptr().cast(), 4096) };
    path.truncate(usize::try_from(length).ok().filter(|length| *length > 0)?);
    Some(PathBuf::from(String::from_utf8(path).ok()?))
}

/// sysctl by number, into as many bytes as it has.
#[cfg(target_os = "freebsd")]
fn sysctl(name: &[libc::c_int], room: usize) -> Option<Vec<u8>> {
    let mut data = vec![0u8; room];
    let mut size = room;
    let count = u32::try_from(name.len()).ok()?;
    // SAFETY: name and buffer are ours and their sizes are passed; nothing is set.
    let done = unsafe { libc::sysctl(name.as_ptr(), count, data.as_mut_ptr().cast(), &mut size, std::ptr::null(), 0) };
    data.truncate(size);
    (done == 0).then_some(data)
}

/// `kinfo_proc` begins with its own size; its pid is read at the place that the libc crate knows.
#[cfg(target_os = "freebsd")]
fn pids() -> Vec<i32> {
    let name = [libc::CTL_KERN, libc::KERN_PROC, libc::KERN_PROC_PROC];
    let Some(data) = sysctl(&name, 64 << 20) else { return Vec::new() };
    let at = std::mem::offset_of!(libc::kinfo_proc, ki_pid);
    let mut pids = Vec::new();
    let mut rest = data.as_slice();
    while let Some(size) = rest.first_chunk::<4>().map(|bytes| i32::from_ne_bytes(*bytes)) {
        let Some((process, after)) =
            usize::try_from(size).ok().filter(|size| *size > 0).and_then(|size| rest.split_at_checked(size))
        else {
            break;
        };
        pids.extend(
            process.get(at..).and_then(|bytes| bytes.first_chunk::<4>()).map(|bytes| i32::from_ne_bytes(*bytes)),
        );
        rest = after;
    }
    pids
}

/// The executable of a process.
#[cfg(target_os = "freebsd")]
pub fn executable(pid: i32) -> Option<PathBuf> {
    let mut path = sysctl(&[libc::CTL_KERN, libc::KERN_PROC, libc::KERN_PROC_PATHNAME, pid], 4096)?;
    path.retain(|byte| *byte != 0);
    Some(PathBuf::from(String::from_utf8(path).ok()?))
}
