//! The four systems, sound and with each of their faults: what doctor says, and that its remedy names the way out.

use crate::eyes::Machine;
use crate::made::Made;
use crate::{all_probes, dashed, judge};
use object::{Architecture, BinaryFormat, elf};
use seatrace::doctor::{Report, State, Works, text};
use seatrace::live::Flavor;

/// A system, and what must be said of it.
struct Case {
    flavor: Flavor,
    machine: Machine,
    about: &'static str,
    state: State,
    /// What the finding must say, and what its remedy.
    says: &'static str,
    remedy: &'static str,
    /// Whether query-time can run.
    runs: bool,
}

/// The report on a server with all static probes, made for that system.
fn report(flavor: Flavor, machine: &Machine) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let dof = dashed(&all_probes());
    let made = match flavor {
        Flavor::MacOs => {
            Made { format: BinaryFormat::MachO, architecture: Architecture::Aarch64, dof, ..Made::default() }
        }
        Flavor::FreeBsd => {
            Made { os_abi: elf::ELFOSABI_FREEBSD, interpreter: "/libexec/ld-elf.so.1", dof, ..Made::default() }
        }
        Flavor::Illumos => Made { interpreter: "/usr/lib/amd64/ld.so.1", dof, ..Made::default() },
        Flavor::Linux => Made { notes: all_probes(), ..Made::default() },
    };
    judge(flavor, machine, &made.write(folder.path(), "mariadbd"))
}

fn case(
    flavor: Flavor,
    machine: Machine,
    about: &'static str,
    state: State,
    says: &'static str,
    remedy: &'static str,
    runs: bool,
) -> Case {
    Case { flavor, machine, about, state, says, remedy, runs }
}

fn cases() -> Vec<Case> {
    use Flavor::{FreeBsd, Illumos, Linux, MacOs};
    use State::{Bad, Doubt, Good};
    let good = Machine::good;
    let sip = |text: &str| good(MacOs).answer("/usr/bin/csrutil status", text);
    let held = |set: &str| {
        good(Illumos).answer("/usr/bin/ppriv -v", &format!("1:\tx\nflags = <none>\n\tE: {set}\n\tI: basic\n")).user()
    };
    let custom = "System Integrity Protection status: unknown (Custom Configuration).\n\nConfiguration:\n\tApple Internal: disabled\n\tKext Signing: enabled\n\tDTrace Restrictions: ";
    let no_kallsyms = good(Linux).file("/proc/kallsyms", "0 T _stext\n").file("/usr/lib64/dtrace", "");
    vec![
        case(MacOs, good(MacOs), "protection", Good, "off", "", true),
        case(MacOs, good(MacOs).user(), "privileges", Bad, "additional privileges", "sudo", false),
        case(
            MacOs,
            sip("System Integrity Protection status: enabled.\n"),
            "protection",
            Bad,
            "is on",
            "csrutil enable --without dtrace",
            true,
        ),
        case(MacOs, sip(&format!("{custom}disabled\n")), "protection", Good, "leaves DTrace alone", "", true),
        case(MacOs, sip(&format!("{custom}enabled\n")), "protection", Bad, "is on", "csrutil", true),
        case(MacOs, sip(""), "protection", Doubt, "does not tell", "csrutil status", true),
        case(Illumos, good(Illumos), "privileges", Good, "dtrace_proc, dtrace_user, dtrace_kernel", "", true),
        case(
            Illumos,
            held("basic"),
            "privileges",
            Bad,
            "dtrace_proc, dtrace_user, dtrace_kernel missing",
            "pfexec",
            false,
        ),
        case(
            Illumos,
            held("basic,dtrace_proc,dtrace_user"),
            "privileges",
            Bad,
            "dtrace_kernel is missing",
            "usermod -K defaultpriv",
            true,
        ),
        case(Illumos, held("all"), "privileges", Good, "dtrace_proc", "", true),
        case(
            Illumos,
            held("zone").answer("/usr/bin/zonename", "web\n"),
            "privileges",
            Bad,
            "missing",
            "usermod",
            false,
        ),
        case(
            Illumos,
            good(Illumos).answer("/usr/bin/zonename", "web\n"),
            "zone",
            Doubt,
            "zone web",
            "global zone",
            true,
        ),
        case(Illumos, good(Illumos).without("/dev/dtrace/dtrace"), "device", Bad, "not there", "limitpriv", false),
        case(FreeBsd, good(FreeBsd), "modules", Good, "dtraceall", "", true),
        case(FreeBsd, good(FreeBsd).user(), "privileges", Bad, "root alone", "doas", false),
        case(
            FreeBsd,
            good(FreeBsd).answer("/sbin/kldstat", "kernel\n").without("/dev/dtrace/dtrace"),
            "modules",
            Doubt,
            "tries to load",
            "kldload dtraceall",
            true,
        ),
        case(
            FreeBsd,
            good(FreeBsd).answer("/sbin/kldstat", "kernel\n").without("/dev/dtrace/dtrace").user(),
            "modules",
            Bad,
            "not loaded",
            "kldload dtraceall",
            false,
        ),
        case(
            FreeBsd,
            good(FreeBsd).answer("/sbin/kldstat", "kernel\n").answer("/sbin/sysctl -n security.jail.jailed", "1\n"),
            "modules",
            Bad,
            "jail",
            "host",
            false,
        ),
        case(Linux, good(Linux), "tracefs", Good, "uprobes, kprobes", "", true),
        case(Linux, good(Linux).user(), "privileges", Bad, "locked memory", "root", false),
        case(
            Linux,
            good(Linux).file("/proc/self/status", "CapEff:\t00000000a80425fb\n"),
            "privileges",
            Bad,
            "CAP_SYS_ADMIN",
            "--privileged",
            false,
        ),
        case(
            Linux,
            good(Linux).file("/proc/sys/kernel/osrelease", "4.18.0-553.el8\n"),
            "kernel",
            Bad,
            "needs 5.2",
            "newer kernel",
            false,
        ),
        case(
            Linux,
            good(Linux).without("/sys/kernel/btf/vmlinux"),
            "kernel",
            Bad,
            "type information",
            "CONFIG_DEBUG_INFO_BTF",
            false,
        ),
        case(
            Linux,
            good(Linux).without("/sys/kernel/tracing/events"),
            "tracefs",
            Bad,
            "not mounted",
            "mount -t tracefs",
            false,
        ),
        case(
            Linux,
            good(Linux).without("/sys/kernel/tracing/kprobe_events"),
            "kprobes",
            Bad,
            "sched:::on-cpu cannot fire",
            "CONFIG_KPROBES",
            true,
        ),
        case(
            Linux,
            good(Linux).without("/sys/kernel/tracing/uprobe_events"),
            "uprobes",
            Bad,
            "neither static probes nor pid forms",
            "CONFIG_UPROBE_EVENTS",
            false,
        ),
        case(Linux, no_kallsyms, "D library", Bad, "CONFIG_KALLSYMS_ALL", "cp -r /usr/lib64/dtrace DIR", false),
        case(
            Linux,
            good(Linux).file("/sys/kernel/security/lockdown", "none integrity [confidentiality]\n"),
            "lockdown",
            Bad,
            "locked down",
            "lockdown=integrity",
            false,
        ),
        case(
            Linux,
            Machine { has_library: false, ..good(Linux) },
            "libdtrace",
            Bad,
            "no libdtrace",
            "packages dtrace and libdtrace2",
            false,
        ),
        case(
            MacOs,
            Machine { has_library: false, ..good(MacOs) },
            "libdtrace",
            Bad,
            "no libdtrace",
            "part of macOS",
            false,
        ),
    ]
}

#[test]
fn each_fault_of_each_system_has_its_way_out() {
    for case in cases() {
        let report = report(case.flavor, &case.machine);
        let all = text(&report);
        let found = report
            .system
            .iter()
            .find(|finding| finding.about == case.about)
            .unwrap_or_else(|| panic!("{}: {all}", case.about));
        assert_eq!(found.state, case.state, "{}: {all}", case.about);
        assert!(found.says.contains(case.says), "{} is not in {:?}", case.says, found.says);
        assert!(found.remedy.contains(case.remedy), "{} is not in {:?}", case.remedy, found.remedy);
        assert_eq!(found.remedy.is_empty(), case.remedy.is_empty(), "{:?}", found.remedy);
        assert_eq!(report.query_time_runs(), case.runs, "{}: {}\n{all}", case.flavor, case.about);
        // The last words agree with the status.
        assert_eq!(all.contains("query-time can run"), case.runs, "{all}");
    }
}

/// What holds back kernel probes stops the scripts that use them, and no others.
#[test]
fn missing_kernel_probes_stop_only_what_uses_them() {
    // Seen in tracefs as root; by an ordinary user in the names of the kernel's functions.
    let root = Machine::good(Flavor::Linux).without("/sys/kernel/tracing/kprobe_events");
    let names = "0 T _stext\n0 t unregister_kprobe.cold\n0 d major_names\n";
    for machine in [root, Machine::good(Flavor::Linux).user().file("/proc/kallsyms", names)] {
        let report = report(Flavor::Linux, &machine);
        for verdict in &report.examined[0].verdicts {
            let script = seatrace::scripts::by_name(verdict.script).unwrap();
            if script.main_form().unwrap().text.contains("sched:::on-cpu") {
                assert_eq!(verdict.works, Works::No, "{}", verdict.script);
                let told = verdict.because.contains("no kprobes") && verdict.remedy.contains("CONFIG_KPROBES");
                assert!(told, "{}", verdict.because);
            }
        }
        let verdicts = &report.examined[0].verdicts;
        let works = |name: &str| verdicts.iter().find(|verdict| verdict.script == name).unwrap().works;
        assert_eq!((works("on-cpu"), works("off-cpu")), (Works::Yes, Works::No));
    }
}

/// How codesign(1) shows an own build, the hardened runtime, and that with the entitlement which lets debuggers in.
const OWN: &str = "Executable=/x/mariadbd\nIdentifier=mariadbd\nCodeDirectory v=20400 size=1 flags=0x20002(adhoc,linker-signed) hashes=1\n";
const HARDENED: &str = "Executable=/x/mariadbd\nCodeDirectory v=20500 size=1 flags=0x10000(runtime) hashes=1\n";
const OPENED: &str = "Executable=/x/mariadbd\nCodeDirectory v=20500 size=1 flags=0x10000(runtime) hashes=1\n\
    [Key] com.apple.security.get-task-allow\n";

/// Case BR-03: which of the reasons applies is told before anything is started.
#[test]
fn macos_tells_who_may_be_traced() {
    let on = Machine::good(Flavor::MacOs)
        .answer("/usr/bin/csrutil status", "System Integrity Protection status: enabled.\n");
    let off = Machine::good(Flavor::MacOs);
    for (machine, signature, state, runs) in [
        (&on, OWN, State::Good, true),
        (&on, OPENED, State::Good, true),
        (&on, HARDENED, State::Bad, false),
        (&off, HARDENED, State::Good, true),
        (&on, "", State::Doubt, true),
    ] {
        let machine = machine.clone().answer("/usr/bin/codesign", signature);
        let report = report(Flavor::MacOs, &machine);
        let (found, says) = crate::finding(&report, "signature");
        assert_eq!((found, report.query_time_runs()), (state, runs), "{signature}: {says}");
        assert_eq!(says.contains("get-task-allow"), state == State::Bad, "{says}");
    }
}

#[test]
fn macos_tells_rosetta() {
    let folder = tempfile::tempdir().unwrap();
    let made = Made { format: BinaryFormat::MachO, dof: dashed(&all_probes()), ..Made::default() };
    let report = judge(Flavor::MacOs, &Machine::good(Flavor::MacOs), &made.write(folder.path(), "mariadbd"));
    let (state, says) = crate::finding(&report, "translation");
    assert!(state == State::Bad && says.contains("Rosetta") && says.contains("arm64 build"), "{says}");
    assert!(!report.query_time_runs());
}

#[test]
fn universal_files_are_looked_into() {
    let folder = tempfile::tempdir().unwrap();
    let file = Made { dof: dashed(&all_probes()), ..Made::default() }.write_universal(folder.path(), "mariadbd");
    let machine = Machine::good(Flavor::MacOs)
        .answer("/usr/bin/uname -m", if cfg!(target_arch = "aarch64") { "arm64" } else { "x86_64" });
    let report = judge(Flavor::MacOs, &machine, &file);
    assert_eq!(crate::finding(&report, "static probes").0, State::Good);
    assert!(report.query_time_runs());
}
