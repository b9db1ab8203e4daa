//! What the DTraces of the four systems know: one table.
//!
//! M is macOS, I illumos, F FreeBSD, L Linux. Options are those of each libdtrace's dt_options.c, functions and variables those of its
//! dt_open.c (macOS: dtrace-409, illumos-gate, freebsd-src; Linux: dtrace-utils 2.0.7, where also tried). What is not here is
//! not known to work anywhere.

/// A word of D and the systems that know it.
pub struct Word {
    pub name: &'static str,
    /// Of `MIFL`; empty: no bundled script may use it.
    pub systems: &'static str,
    /// Where that stands, or why.
    pub why: &'static str,
}

const fn word(name: &'static str, systems: &'static str, why: &'static str) -> Word {
    Word { name, systems, why }
}

/// Words that every system knows: the options in dt_options.c of all four, the functions and variables in dt_open.c of all four and in the
/// D libraries that each loads.
const COMMON: [(Sort, &str); 3] = [
    (
        Sort::Option,
        "quiet defaultargs strsize bufsize aggsize dynvarsize switchrate aggrate cleanrate statusrate bufpolicy bufresize nspec \
             specsize stackframes ustackframes stackindent aggsortkey aggsortkeypos aggsortpos aggsortrev",
    ),
    (
        Sort::Function,
        "copyin copyinstr copyinto strjoin strlen strchr strrchr strstr strtok substr index rindex basename dirname cleanpath lltostr \
             inet_ntoa inet_ntoa6 inet_ntop htons htonl htonll ntohs ntohl ntohll count sum min max avg stddev quantize lquantize \
             llquantize normalize denormalize trunc clear printa printf trace tracemem stack ustack sym mod func usym umod uaddr ufunc \
             exit speculate speculation commit discard rand progenyof alloca bcopy sizeof offsetof stringof xlate",
    ),
    (
        Sort::Variable,
        "tid pid ppid execname timestamp vtimestamp walltimestamp uid gid probeprov probemod probefunc probename errno curthread \
             caller ucaller stackdepth ustackdepth id epid ipl cpu curpsinfo curlwpsinfo uregs args arg0 arg1 arg2 arg3 arg4 arg5 arg6 \
             arg7 arg8 arg9 NULL B_READ B_WRITE",
    ),
];

const OPTIONS: [Word; 10] = [
    word("temporal", "MIF", "2.0.7 says: Invalid option name"),
    word("agghist", "MIF", "2.0.7 says: Invalid option name"),
    word("aggpack", "MIF", "2.0.7 says: Invalid option name"),
    word("aggzoom", "MIF", "2.0.7 says: Invalid option name"),
    word("encoding", "MIF", "2.0.7 says: Invalid option name"),
    word("stacksymbols", "M", "Apple's dt_options.c alone"),
    word("zone", "I", "illumos' dt_options.c alone"),
    word("noresolve", "L", "dtrace-utils' dt_options.c alone"),
    word("zdefs", "", "a script that matches nothing must not run silently"),
    word("destructive", "", "a bundled script only looks"),
];

const FUNCTIONS: [Word; 22] = [
    word("json", "MIF", "not in dtrace-utils"),
    word("strtoll", "MIF", "not in dtrace-utils"),
    word("toupper", "MIF", "not in dtrace-utils"),
    word("tolower", "MIF", "not in dtrace-utils"),
    word("jstack", "MIF", "2.0.7 says: jstack() is not implemented (yet)"),
    word("print", "IFL", "not in older macOS"),
    word("getf", "IF", "illumos and FreeBSD alone"),
    word("memref", "F", "FreeBSD alone"),
    word("memstr", "F", "FreeBSD alone"),
    word("printm", "F", "FreeBSD alone"),
    word("msgsize", "IF", "STREAMS"),
    word("mutex_owned", "IFL", "not on macOS"),
    word("mutex_owner", "IFL", "not on macOS"),
    word("system", "", "destructive"),
    word("raise", "", "destructive"),
    word("stop", "", "destructive"),
    word("panic", "", "destructive"),
    word("chill", "", "destructive"),
    word("breakpoint", "", "destructive"),
    word("copyout", "", "destructive"),
    word("copyoutstr", "", "destructive"),
    word("freopen", "", "destructive"),
];

const VARIABLES: [Word; 7] = [
    word("fds", "MI", "io.d; FreeBSD has none, Linux's knows no path"),
    word("zonename", "MI", "not on FreeBSD and Linux"),
    word("execargs", "FL", "FreeBSD, and Linux since 2.0.3"),
    word("curcpu", "IFL", "not checked on macOS"),
    word("SRUN", "IL", "procfs.d; FreeBSD's pr_sname is always '?', macOS' differs"),
    word("SSLEEP", "IL", "procfs.d"),
    word("SONPROC", "IL", "procfs.d"),
];

const MEMBERS: [Word; 3] = [
    word("pr_fname", "MIL", "FreeBSD's psinfo.d has none"),
    word("pr_state", "IL", "sched.d and procfs.d; FreeBSD and macOS do not fill it"),
    word("pr_sname", "IL", "FreeBSD's is always '?'"),
];

const PROVIDERS: [Word; 18] = [
    word("dtrace", "MIFL", "all"),
    word("profile", "MIFL", "all"),
    word("tick", "MIFL", "the profile provider"),
    word("pid", "MIFL", "all"),
    word("mysql", "MIFL", "static probes of the server"),
    word("syscall", "MIFL", "all; names differ"),
    word("proc", "MIFL", "all"),
    word("sched", "MIFL", "all; Linux: not all probes"),
    word("io", "MIFL", "all; Linux: needs KALLSYMS_ALL"),
    word("fbt", "MIFL", "all; names are the kernel's, none under SIP"),
    word("lockstat", "IFL", "names differ on macOS"),
    word("plockstat", "MI", "2.0.7: does not match any probes"),
    word("vminfo", "MI", "not on FreeBSD and Linux"),
    word("sysinfo", "I", "illumos alone"),
    word("tcp", "MIFL", "all"),
    word("ip", "MIFL", "all"),
    word("cpc", "IL", "illumos and Linux"),
    word("rawtp", "L", "Linux alone"),
];

/// Probes of providers whose lists differ; a provider that is not here has its probes everywhere.
const PROBES: [Word; 20] = [
    word("sched:on-cpu", "MIFL", "all"),
    word("sched:off-cpu", "MIFL", "all"),
    word("sched:enqueue", "MIFL", "all"),
    word("sched:dequeue", "MIFL", "all"),
    word("sched:surrender", "MIFL", "all"),
    word("sched:tick", "MIFL", "all"),
    word("sched:wakeup", "MIFL", "all"),
    word("sched:sleep", "MIF", "2.0.7 does not list it"),
    word("sched:preempt", "MIF", "2.0.7 does not list it"),
    word("sched:remain-cpu", "MIF", "2.0.7 does not list it"),
    word("sched:change-pri", "MIF", "2.0.7 does not list it"),
    word("io:start", "MIFL", "all"),
    word("io:done", "MIFL", "all"),
    word("io:wait-start", "MIFL", "all"),
    word("io:wait-done", "MIFL", "all"),
    word("proc:exec-success", "MIFL", "all"),
    word("proc:exit", "MIFL", "all"),
    word("proc:lwp-exit", "MIFL", "all"),
    word("proc:lwp-start", "MIFL", "all"),
    word("proc:fault", "MIF", "2.0.7 does not list it"),
];

/// Conversions of printf that every dt_printf.c has.
pub const CONVERSIONS: &str = "a A c C d e E f g G i k o p s S T u x X Y";
/// Statements of newer or older dialects: dt_sugar.c is in macOS, illumos and FreeBSD; 2.0.7 says `syntax error near "if"`.
pub const STATEMENTS: [&str; 8] = ["if", "else", "while", "for", "do", "switch", "goto", "import"];
/// More keys than this need more tuple registers than some have (`Insufficient tuple registers to generate code`).
pub const MAX_KEYS: usize = 6;
/// 4096 does not fit the BPF maps of Linux (`failed to create BPF map 'mem': Too big`).
pub const MAX_STRSIZE: u64 = 2048;
/// Types that a declaration or a cast may name.
pub const TYPES: &str = "char short int long unsigned signed void string struct union enum int8_t int16_t int32_t int64_t uint8_t uint16_t \
    uint32_t uint64_t size_t ssize_t uintptr_t intptr_t pid_t id_t lwpsinfo_t psinfo_t bufinfo_t devinfo_t fileinfo_t const";

/// What a word is used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sort {
    Option,
    Function,
    Variable,
    Member,
    Provider,
    Probe,
}

/// Why `name` cannot be used on `systems`, if so.
pub fn refused(sort: Sort, name: &str, systems: &str) -> Option<String> {
    let common = COMMON.iter().any(|(of, names)| *of == sort && names.split(' ').any(|known| known == name));
    if common {
        return None;
    }
    let table: &[Word] = match sort {
        Sort::Option => &OPTIONS,
        Sort::Function => &FUNCTIONS,
        Sort::Variable => &VARIABLES,
        Sort::Member => &MEMBERS,
        Sort::Provider => &PROVIDERS,
        Sort::Probe => &PROBES,
    };
    let Some(word) = table.iter().find(|word| word.name == name) else {
        // Members of the server's and the kernel's own structures, and probes of providers without a list, are not judged.
        let listed =
            sort == Sort::Probe && PROBES.iter().any(|word| word.name.split(':').next() == name.split(':').next());
        return (sort != Sort::Member && (sort != Sort::Probe || listed))
            .then(|| format!("{name}: no {sort:?} that is known to work"));
    };
    let missing: Vec<&str> = systems
        .chars()
        .filter(|system| !word.systems.contains(*system))
        .map(|system| match system {
            'M' => "macOS",
            'I' => "illumos",
            'F' => "FreeBSD",
            _ => "Linux",
        })
        .collect();
    (!missing.is_empty()).then(|| format!("{name}: refused on {} ({})", missing.join(", "), word.why))
}
