//! The system: its DTrace, our privileges, and what its kernel keeps back.

use super::eyes::Eyes;
use super::finding::Finding;
use crate::live::Flavor;

/// Everything about the system that decides whether a trace can start.
pub fn examine(flavor: Flavor, options: &[(String, Option<String>)], eyes: &dyn Eyes) -> Vec<Finding> {
    let mut found = vec![command(flavor, eyes), library(flavor, eyes)];
    found.extend(match flavor {
        Flavor::MacOs => super::macos::examine(eyes),
        Flavor::Illumos => illumos(eyes),
        Flavor::FreeBsd => freebsd(eyes),
        Flavor::Linux => super::linux::examine(options, eyes),
    });
    found
}

/// The system's dtrace(1), which also tells the version.
fn command(flavor: Flavor, eyes: &dyn Eyes) -> Finding {
    let traits = flavor.traits();
    let Some(path) = traits.commands.iter().find(|path| eyes.exists(path)) else {
        return Finding::doubt("dtrace(1)", format!("not at {}", traits.commands.join(", ")), traits.install);
    };
    let version = eyes.run(&[path, "-V"]).unwrap_or_default();
    let version =
        version.lines().next().and_then(|line| line.strip_prefix("dtrace: ")).unwrap_or("version unknown").to_owned();
    Finding::good("dtrace(1)", format!("{version}, {path}"))
}

fn library(flavor: Flavor, eyes: &dyn Eyes) -> Finding {
    match eyes.library(flavor) {
        Ok(name) => Finding::good("libdtrace", format!("{name} loads")),
        Err(cause) => {
            let mut lines = cause.lines();
            let says = lines.next().unwrap_or_default().to_owned();
            Finding::bad("libdtrace", says, lines.map(str::trim).collect::<Vec<_>>().join(" "))
        }
    }
}

const PRIVILEGES: [&str; 3] = ["dtrace_proc", "dtrace_user", "dtrace_kernel"];

fn illumos(eyes: &dyn Eyes) -> Vec<Finding> {
    let own = std::process::id().to_string();
    let held = eyes.run(&["/usr/bin/ppriv", "-v", &own]).unwrap_or_default();
    let zone = eyes.run(&["/usr/bin/zonename"]).map_or(String::new(), |name| name.trim().to_owned());
    let mut found = vec![privilege_set(&held, &zone, eyes.is_root())];
    if !eyes.exists("/dev/dtrace/dtrace") {
        found.push(Finding::bad(
            "device",
            "/dev/dtrace/dtrace is not there",
            "in a zone: zonecfg set limitpriv=default,dtrace_proc,dtrace_user, and boot it again",
        ));
    }
    if !zone.is_empty() && zone != "global" {
        let says = format!("zone {zone}: probes of the kernel fire only for what the zone may see");
        found.push(Finding::doubt("zone", says, "trace from the global zone for the whole system"));
    }
    found
}

/// The effective set in `ppriv -v`: `E: basic,dtrace_kernel,…`, on one line or several.
fn privilege_set(held: &str, zone: &str, is_root: bool) -> Finding {
    let after = held.lines().skip_while(|line| !line.trim_start().starts_with("E:"));
    let set: String = after.take_while(|line| !line.trim_start().starts_with("I:")).collect();
    let words: Vec<&str> = set.split([',', ' ', '\t', ':']).filter(|word| !word.is_empty()).collect();
    let all = words.contains(&"all") && (zone.is_empty() || zone == "global");
    let missing: Vec<&str> = PRIVILEGES.into_iter().filter(|name| !all && !words.contains(name)).collect();
    let remedy = "run it with pfexec, or: usermod -K defaultpriv=basic,dtrace_proc,dtrace_user,dtrace_kernel USER, and log in again";
    if words.is_empty() {
        let says = if is_root { "root; ppriv does not tell the set" } else { "ppriv does not tell the set" };
        return Finding::doubt("privileges", says, remedy);
    }
    match missing.as_slice() {
        [] => Finding::good("privileges", PRIVILEGES.join(", ")),
        ["dtrace_kernel"] => Finding::lacks(
            "privileges",
            "dtrace_kernel is missing: static probes and pid forms work on your own processes, kernel probes do not",
            remedy,
            &["fbt", "sched", "io", "lockstat", "proc", "sysinfo", "vminfo"],
        ),
        some => Finding::bad("privileges", format!("{} missing", some.join(", ")), remedy),
    }
}

/// Modules that bundled scripts need, by the providers that they bring.
const MODULES: [(&str, &[&str]); 4] = [
    ("fasttrap", &["pid", "mysql"]),
    ("profile", &["profile"]),
    ("sdt", &["sched", "io", "proc"]),
    ("systrace", &["syscall"]),
];

fn freebsd(eyes: &dyn Eyes) -> Vec<Finding> {
    let jailed = eyes.run(&["/sbin/sysctl", "-n", "security.jail.jailed"]).is_some_and(|text| text.trim() == "1");
    let loaded = eyes.run(&["/sbin/kldstat"]).unwrap_or_default();
    let mut found = vec![if eyes.is_root() {
        Finding::good("privileges", "root")
    } else {
        Finding::bad("privileges", "not root: /dev/dtrace is for root alone", "run it as root: sudo, doas or su")
    }];
    let missing: Vec<&str> =
        MODULES.iter().map(|(name, _)| *name).filter(|name| !loaded.contains(&format!("{name}.ko"))).collect();
    let remedy = "kldload dtraceall (at every start: kld_list+=\" dtraceall\" in /etc/rc.conf)";
    found.push(if loaded.contains("dtraceall.ko") || missing.is_empty() {
        Finding::good("modules", "dtraceall is loaded")
    } else if jailed {
        Finding::bad(
            "modules",
            "this is a jail, which has no /dev/dtrace",
            "trace from the host: the server's pid is visible there",
        )
    } else if eyes.exists("/dev/dtrace/dtrace") {
        Finding::doubt(
            "modules",
            format!("kldstat does not list {}: they may be in the kernel itself", missing.join(", ")),
            remedy,
        )
    } else if eyes.is_root() {
        Finding::doubt("modules", "dtraceall is not loaded: DTrace tries to load it when it starts", remedy)
    } else {
        Finding::bad("modules", "dtraceall is not loaded", remedy)
    });
    found
}
