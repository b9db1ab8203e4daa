//! Linux: DTrace 2.x is made of BPF, tracefs and the kernel's symbols, any of which may be missing.

use super::eyes::Eyes;
use super::finding::{Finding, State};

/// Bits of a capability set that tracing takes: SYS_ADMIN, PERFMON, BPF.
const CAPABILITIES: [(u32, &str); 3] = [(21, "CAP_SYS_ADMIN"), (38, "CAP_PERFMON"), (39, "CAP_BPF")];
/// Where distributions put the D libraries.
const LIBRARIES: [&str; 4] =
    ["/usr/lib64/dtrace", "/usr/lib/x86_64-linux-gnu/dtrace", "/usr/lib/aarch64-linux-gnu/dtrace", "/usr/lib/dtrace"];
const TRACEFS: [&str; 2] = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];

/// What of the kernel decides.
pub(super) fn examine(options: &[(String, Option<String>)], eyes: &dyn Eyes) -> Vec<Finding> {
    let mut found = vec![privileges(eyes), kernel(eyes)];
    found.extend(tracefs(eyes));
    let own = options.iter().rev().find(|(name, _)| name == "syslibdir").and_then(|(_, value)| value.as_deref());
    found.push(symbols(own, eyes));
    found.extend(lockdown(eyes));
    found
}

fn privileges(eyes: &dyn Eyes) -> Finding {
    let status = eyes.read("/proc/self/status").unwrap_or_default();
    let held = status.lines().find_map(|line| u64::from_str_radix(line.strip_prefix("CapEff:")?.trim(), 16).ok());
    let missing: Vec<&str> = CAPABILITIES
        .iter()
        .filter(|(bit, _)| held.is_some_and(|set| set >> bit & 1 == 0))
        .map(|(_, name)| *name)
        .collect();
    match (eyes.is_root(), missing.as_slice()) {
        (true, []) => Finding::good("privileges", "root"),
        // CAP_SYS_ADMIN implies the other two on kernels that know them.
        (true, some) if !some.contains(&"CAP_SYS_ADMIN") => Finding::good("privileges", "root"),
        (true, some) => Finding::bad(
            "privileges",
            format!("root, but without {}: a container", some.join(", ")),
            "trace from the host, where the server's pid is visible, or start the container with --privileged",
        ),
        (false, _) => Finding::bad(
            "privileges",
            "not root: DTrace starts, then fails with a text about locked memory",
            "run it as root (sudo)",
        ),
    }
}

fn kernel(eyes: &dyn Eyes) -> Finding {
    let release = eyes.read("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned();
    let mut parts = release.split(['.', '-']).map(|part| part.parse::<u32>().unwrap_or(0));
    let version = (parts.next().unwrap_or(0), parts.next().unwrap_or(0));
    let types =
        eyes.exists("/sys/kernel/btf/vmlinux") || eyes.exists(&format!("/lib/modules/{release}/kernel/vmlinux.ctfa"));
    match (version >= (5, 2), types) {
        (true, true) => Finding::good("kernel", format!("Linux {release}, with type information")),
        (false, _) => Finding::bad("kernel", format!("Linux {release}: DTrace 2.x needs 5.2"), "a newer kernel"),
        (true, false) => Finding::bad(
            "kernel",
            format!("Linux {release} keeps no type information (/sys/kernel/btf/vmlinux)"),
            "a kernel with CONFIG_DEBUG_INFO_BTF=y",
        ),
    }
}

/// Mount, uprobes and kprobes.
fn tracefs(eyes: &dyn Eyes) -> Vec<Finding> {
    // Without root the directory looks empty, whatever is mounted. The names of the kernel's functions can be read all the same.
    if !eyes.is_root() {
        let names = eyes.read(NAMES).unwrap_or_default();
        let has_kprobes = names.is_empty() || has_name(&names, "register_kprobe");
        let unseen = Finding::doubt("tracefs", "cannot be looked at without root", "");
        return [unseen].into_iter().chain((!has_kprobes).then(no_kprobes)).collect();
    }
    let Some(at) = TRACEFS.iter().find(|at| eyes.exists(&format!("{at}/events"))) else {
        return vec![Finding::bad(
            "tracefs",
            "not mounted: DTrace finds no kernel probe",
            "mount -t tracefs tracefs /sys/kernel/tracing; mount -t debugfs debugfs /sys/kernel/debug",
        )];
    };
    let mut found = Vec::new();
    if !eyes.exists(&format!("{at}/uprobe_events")) {
        let says = "the kernel has no uprobes: neither static probes nor pid forms can fire";
        found.push(Finding::lacks("uprobes", says, "a kernel with CONFIG_UPROBE_EVENTS=y", &["pid", "mysql"]));
    }
    if !eyes.exists(&format!("{at}/kprobe_events")) {
        found.push(no_kprobes());
    }
    if found.is_empty() {
        found.push(Finding::good("tracefs", format!("{at}, uprobes, kprobes")));
    }
    found
}

fn no_kprobes() -> Finding {
    Finding::lacks(
        "kprobes",
        "the kernel has no kprobes: fbt, io and sched:::on-cpu cannot fire",
        "a kernel with CONFIG_KPROBES=y; without: sampling, static probes, pid forms and system calls work",
        &["fbt", "io", "sched:on-cpu"],
    )
}

/// The kernel's names: functions always, variables with KALLSYMS_ALL.
const NAMES: &str = "/proc/kallsyms";

fn has_name(names: &str, name: &str) -> bool {
    names.lines().any(|line| line.split_whitespace().nth(2) == Some(name))
}

/// The D library io.d refers to a variable of the kernel, whose name is kept with KALLSYMS_ALL only; without it not even BEGIN compiles.
/// `own`: the library that the user gives in its place.
fn symbols(own: Option<&str>, eyes: &dyn Eyes) -> Finding {
    let names = eyes.read(NAMES).unwrap_or_default();
    if names.is_empty() {
        return Finding::doubt("D library", "/proc/kallsyms cannot be read", "");
    }
    if has_name(&names, "major_names") {
        return Finding::good("D library", "the kernel keeps the names that io.d needs");
    }
    if let Some(folder) = own {
        let state = if eyes.exists(folder) { State::Doubt } else { State::Bad };
        let says =
            format!("{folder} in place of the system's, as the kernel keeps no name `major_names`: no io provider");
        return Finding { state, ..Finding::lacks("D library", says, "", &["io"]) };
    }
    let from = LIBRARIES.iter().find(|path| eyes.exists(path)).unwrap_or(&"/usr/lib64/dtrace");
    Finding::bad(
        "D library",
        "the kernel keeps no name `major_names` (CONFIG_KALLSYMS_ALL is off): DTrace's io.d does not compile, and then nothing does",
        format!(
            "copy the library without it: cp -r {from} DIR; find DIR -name io.d -delete; then give doctor, and each run, -x syslibdir=DIR"
        ),
    )
}

fn lockdown(eyes: &dyn Eyes) -> Option<Finding> {
    let state = eyes.read("/sys/kernel/security/lockdown")?;
    state.contains("[confidentiality]").then(|| {
        Finding::bad(
            "lockdown",
            "the kernel is locked down for confidentiality: BPF may not read its memory",
            "lower it: lockdown=integrity on the kernel's command line, or switch Secure Boot off",
        )
    })
}
