//! Made-up systems to look at.

use std::collections::BTreeMap;

use seatrace::doctor::Eyes;
use seatrace::live::Flavor;

/// A system as files and answers of commands.
#[derive(Clone, Default)]
pub struct Machine {
    pub files: BTreeMap<String, String>,
    /// First words of a command, and what it prints.
    pub answers: BTreeMap<String, String>,
    pub is_root: bool,
    pub has_library: bool,
}

impl Machine {
    pub fn file(mut self, path: &str, text: &str) -> Machine {
        self.files.insert(path.into(), text.into());
        self
    }

    pub fn answer(mut self, command: &str, text: &str) -> Machine {
        self.answers.insert(command.into(), text.into());
        self
    }

    pub fn without(mut self, path: &str) -> Machine {
        self.files.remove(path);
        self
    }

    pub fn user(mut self) -> Machine {
        self.is_root = false;
        self
    }

    /// A system on which everything works.
    pub fn good(flavor: Flavor) -> Machine {
        let machine = Machine { is_root: true, has_library: true, ..Machine::default() };
        let machine = machine.file("/usr/sbin/dtrace", "").answer("/usr/sbin/dtrace -V", "dtrace: Sun D 1.13\n");
        match flavor {
            Flavor::MacOs => {
                machine.answer("/usr/bin/csrutil status", "System Integrity Protection status: disabled.\n").answer("/usr/bin/uname -m", "arm64\n")
            }
            Flavor::Illumos => machine
                .file("/dev/dtrace/dtrace", "")
                .answer("/usr/bin/ppriv -v", "4242:\tseatrace\nflags = <none>\n\tE: basic,dtrace_kernel,dtrace_proc,\n\t\tdtrace_user\n\tI: basic\n")
                .answer("/usr/bin/zonename", "global\n"),
            Flavor::FreeBsd => machine
                .file("/dev/dtrace/dtrace", "")
                .answer("/sbin/sysctl -n security.jail.jailed", "0\n")
                .answer("/sbin/kldstat", "Id Refs Address Size Name\n 1 12 0xffffffff80200000 1d34658 kernel\n 2 1 0xffffffff82c18000 2500 dtraceall.ko\n"),
            Flavor::Linux => machine
                .file("/proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n")
                .file("/proc/sys/kernel/osrelease", "6.12.30+deb13-amd64\n")
                .file("/sys/kernel/btf/vmlinux", "")
                .file("/sys/kernel/tracing/events", "")
                .file("/sys/kernel/tracing/uprobe_events", "")
                .file("/sys/kernel/tracing/kprobe_events", "")
                .file("/proc/kallsyms", "0000000000000000 T _stext\n0000000000000000 T register_kprobe\n0000000000000000 d major_names\n")
                .file("/sys/kernel/security/lockdown", "[none] integrity confidentiality\n"),
        }
    }
}

impl Eyes for Machine {
    fn read(&self, path: &str) -> Option<String> {
        self.files.get(path).cloned()
    }

    fn exists(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    fn run(&self, command: &[&str]) -> Option<String> {
        let words = command.join(" ");
        self.answers.iter().find(|(start, _)| words.starts_with(start.as_str())).map(|(_, text)| text.clone())
    }

    fn is_root(&self) -> bool {
        self.is_root
    }

    fn library(&self, flavor: Flavor) -> Result<String, String> {
        let name = flavor.traits().libraries[0].to_owned();
        if self.has_library {
            Ok(name)
        } else {
            Err(format!("there is no libdtrace on this system\n  {}", flavor.traits().install))
        }
    }
}
