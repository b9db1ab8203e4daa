//! The four DTraces, as data.
//!
//! macOS, illumos and FreeBSD descend from Sun's libdtrace, Linux has Oracle's rewrite; all claim interface version 3 and none
//! equals another. A flavor is a value at run time, not a `#[cfg]`: every machine compiles and tests all four, and only
//! [`Flavor::native`] asks where we are.

use std::fmt;

/// One of the four systems that have a DTrace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavor {
    /// macOS.
    MacOs,
    /// illumos (OmniOS, OpenIndiana, SmartOS).
    Illumos,
    /// FreeBSD.
    FreeBsd,
    /// Linux with Oracle's DTrace 2.x.
    Linux,
}

/// How `dtrace_proc_create` is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CreateShape {
    /// File and arguments.
    Plain,
    /// A hook for the child and its argument follow.
    WithHook,
    /// Flags follow.
    WithFlags,
}

/// What the binding has to know of one system.
#[derive(Debug)]
pub struct Traits {
    /// Name in messages.
    pub name: &'static str,
    /// The library, in the order in which to try.
    pub libraries: &'static [&'static str],
    /// The system's own dtrace(1), in the order in which to try.
    pub commands: &'static [&'static str],
    /// Linux: `dtrace_init`, flags for `dtrace_go`, handlers that get a pid, no `dtrace_sleep`, the longer `probedata`.
    pub is_linux: bool,
    /// Name of the function that takes hold of a process.
    pub grab: &'static str,
    /// Shape of `dtrace_proc_create`.
    pub create: CreateShape,
    /// Options that dtrace(1) sets by itself and the library does not.
    pub presets: &'static [(&'static str, Option<&'static str>)],
    /// Options that our programs need beyond those, also of dtrace(1).
    pub options: &'static [(&'static str, Option<&'static str>)],
    /// How to get the privileges that tracing takes.
    pub privileges: &'static str,
    /// How to get DTrace itself.
    pub install: &'static str,
}

impl Flavor {
    /// All four.
    pub const ALL: [Flavor; 4] = [Flavor::MacOs, Flavor::Illumos, Flavor::FreeBsd, Flavor::Linux];

    /// The flavor of the system that we run on, if it has a DTrace at all.
    pub fn native() -> Option<Flavor> {
        if cfg!(target_os = "macos") {
            Some(Flavor::MacOs)
        } else if cfg!(any(target_os = "illumos", target_os = "solaris")) {
            Some(Flavor::Illumos)
        } else if cfg!(target_os = "freebsd") {
            Some(Flavor::FreeBsd)
        } else if cfg!(target_os = "linux") {
            Some(Flavor::Linux)
        } else {
            None
        }
    }

    /// The word that scripts use for the system (`system` in their headers, suffix of a form).
    pub fn word(self) -> &'static str {
        match self {
            Flavor::MacOs => "macos",
            Flavor::Illumos => "illumos",
            Flavor::FreeBsd => "freebsd",
            Flavor::Linux => "linux",
        }
    }

    /// What differs.
    pub fn traits(self) -> &'static Traits {
        match self {
            Flavor::MacOs => &MACOS,
            Flavor::Illumos => &ILLUMOS,
            Flavor::FreeBsd => &FREEBSD,
            Flavor::Linux => &LINUX,
        }
    }
}

impl fmt::Display for Flavor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.traits().name)
    }
}

// Without stacksymbols every frame of a stack is a bare number on macOS.
const MACOS: Traits = Traits {
    name: "macOS",
    // In dyld's shared cache: the file need not exist on disk.
    libraries: &["/usr/lib/libdtrace.dylib"],
    commands: &["/usr/sbin/dtrace"],
    is_linux: false,
    grab: "dtrace_proc_grab",
    create: CreateShape::Plain,
    presets: &[
        ("bufsize", Some("4m")),
        ("aggsize", Some("4m")),
        ("stacksymbols", Some("enabled")),
        ("temporal", Some("yes")),
    ],
    // Names of C++ functions as the binary has them, as on the other systems: the pid forms look for those.
    options: &[("mangled", None)],
    privileges: "run it with sudo",
    install: "DTrace is part of macOS",
};

const ILLUMOS: Traits = Traits {
    name: "illumos",
    libraries: &["/usr/lib/64/libdtrace.so.1", "libdtrace.so.1"],
    commands: &["/usr/sbin/dtrace"],
    is_linux: false,
    grab: "dtrace_proc_grab",
    create: CreateShape::Plain,
    presets: &[("bufsize", Some("4m")), ("aggsize", Some("4m")), ("temporal", Some("yes"))],
    options: &[],
    privileges: "run it with pfexec, or give the user dtrace_proc, dtrace_user and dtrace_kernel \
                 (usermod -K defaultpriv=basic,dtrace_proc,dtrace_user,dtrace_kernel USER)",
    install: "install the package system/dtrace",
};

const FREEBSD: Traits = Traits {
    name: "FreeBSD",
    libraries: &["/lib/libdtrace.so.2", "libdtrace.so.2"],
    commands: &["/usr/sbin/dtrace"],
    is_linux: false,
    grab: "dtrace_proc_grab",
    create: CreateShape::WithHook,
    presets: &[("bufsize", Some("4m")), ("aggsize", Some("4m")), ("temporal", Some("yes"))],
    options: &[],
    privileges: "run it as root (sudo or doas)",
    install: "load the modules: kldload dtraceall",
};

const LINUX: Traits = Traits {
    name: "Linux",
    libraries: &["libdtrace.so.2"],
    commands: &["/usr/sbin/dtrace", "/usr/bin/dtrace"],
    is_linux: true,
    grab: "dtrace_proc_grab_pid",
    create: CreateShape::WithFlags,
    presets: &[("bufsize", Some("4m")), ("aggsize", Some("4m"))],
    options: &[],
    privileges: "run it as root (sudo)",
    install: "install Oracle's DTrace 2.x (packages dtrace and libdtrace2)",
};
