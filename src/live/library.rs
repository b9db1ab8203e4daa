//! libdtrace, loaded at run time.
//!
//! Loading is all this module does: which names, which of them are optional, which file. It is never unloaded, since
//! libdtrace leaves threads and exit handlers behind.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::bindings::*;
use super::error::LiveError;
use super::flavor::{CreateShape, Flavor};

/// Names another file as libdtrace. As root it must belong to root, and nobody else may be able to write it.
pub const LIBRARY_VARIABLE: &str = "SEATRACE_LIBDTRACE";

type Unwrapped<T> = <T as Callable>::Function;

/// bindgen's pointers to functions are options; a loaded symbol is always there.
pub(super) trait Callable {
    /// The function pointer itself.
    type Function: Copy;
}
impl<F: Copy> Callable for Option<F> {
    type Function = F;
}

/// `dtrace_go`, in its two shapes.
#[derive(Clone, Copy)]
pub(super) enum Go {
    Classic(Unwrapped<dt_go_classic>),
    Linux(Unwrapped<dt_go_linux>),
}

/// `dtrace_handle_proc`, in its two shapes.
#[derive(Clone, Copy)]
pub(super) enum HandleProcess {
    Classic(Unwrapped<dt_handle_proc_classic>),
    Linux(Unwrapped<dt_handle_proc_linux>),
}

/// `dtrace_proc_create`, in its three shapes.
#[derive(Clone, Copy)]
pub(super) enum Create {
    Plain(Unwrapped<dt_proc_create>),
    WithHook(Unwrapped<dt_proc_create_freebsd>),
    WithFlags(Unwrapped<dt_proc_create_linux>),
}

/// The functions of a loaded library.
pub(super) struct Library {
    pub flavor: Flavor,
    pub open: Unwrapped<dt_open>,
    pub close: Unwrapped<dt_close>,
    pub errno: Unwrapped<dt_errno>,
    pub errmsg: Unwrapped<dt_errmsg>,
    pub setopt: Unwrapped<dt_setopt>,
    pub init: Option<Unwrapped<dt_init_linux>>,
    pub compile: Unwrapped<dt_fcompile>,
    pub exec: Unwrapped<dt_exec>,
    pub go: Go,
    pub stop: Unwrapped<dt_stop>,
    pub sleep: Option<Unwrapped<dt_sleep_classic>>,
    pub work: Unwrapped<dt_work>,
    pub aggregate_print: Unwrapped<dt_aggregate_print>,
    pub handle_err: Unwrapped<dt_handle_err>,
    pub handle_drop: Unwrapped<dt_handle_drop>,
    pub handle_process: HandleProcess,
    pub create: Create,
    pub grab: Unwrapped<dt_proc_grab>,
    pub resume: Unwrapped<dt_proc_continue>,
    pub release: Unwrapped<dt_proc_release>,
    /// Never dropped before the process ends.
    _mapping: std::mem::ManuallyDrop<libloading::Library>,
}

impl Library {
    /// Loads the library of `flavor`: `path` alone if given, else the names of the flavor in turn.
    pub fn load(flavor: Flavor, path: Option<&Path>) -> Result<Library, LiveError> {
        let names: Vec<OsString> = match path {
            Some(path) => vec![path.into()],
            None => flavor.traits().libraries.iter().map(OsString::from).collect(),
        };
        let mut causes = Vec::new();
        for name in &names {
            match open(name) {
                Ok(mapping) => return Library::resolve(flavor, mapping),
                Err(cause) => causes.push(format!("{}: {cause}", name.to_string_lossy())),
            }
        }
        Err(LiveError::no_library(flavor, &causes))
    }

    fn resolve(flavor: Flavor, mapping: libloading::Library) -> Result<Library, LiveError> {
        let traits = flavor.traits();
        let symbols = Symbols { flavor, mapping: &mapping };
        // SAFETY: each name is looked up as the type that abi/calls.h gives it; tests compare those with the headers of Linux's
        // library, the classic ones follow the sources of the three systems.
        let library = unsafe {
            Library {
                flavor,
                open: symbols.get("dtrace_open")?,
                close: symbols.get("dtrace_close")?,
                errno: symbols.get("dtrace_errno")?,
                errmsg: symbols.get("dtrace_errmsg")?,
                setopt: symbols.get("dtrace_setopt")?,
                init: if traits.is_linux { Some(symbols.get("dtrace_init")?) } else { None },
                compile: symbols.get("dtrace_program_fcompile")?,
                exec: symbols.get("dtrace_program_exec")?,
                go: match traits.is_linux {
                    true => Go::Linux(symbols.get("dtrace_go")?),
                    false => Go::Classic(symbols.get("dtrace_go")?),
                },
                stop: symbols.get("dtrace_stop")?,
                sleep: if traits.is_linux { None } else { Some(symbols.get("dtrace_sleep")?) },
                work: symbols.get("dtrace_work")?,
                aggregate_print: symbols.get("dtrace_aggregate_print")?,
                handle_err: symbols.get("dtrace_handle_err")?,
                handle_drop: symbols.get("dtrace_handle_drop")?,
                handle_process: match traits.is_linux {
                    true => HandleProcess::Linux(symbols.get("dtrace_handle_proc")?),
                    false => HandleProcess::Classic(symbols.get("dtrace_handle_proc")?),
                },
                create: match traits.create {
                    CreateShape::Plain => Create::Plain(symbols.get("dtrace_proc_create")?),
                    CreateShape::WithHook => Create::WithHook(symbols.get("dtrace_proc_create")?),
                    CreateShape::WithFlags => Create::WithFlags(symbols.get("dtrace_proc_create")?),
                },
                grab: symbols.get(traits.grab)?,
                resume: symbols.get("dtrace_proc_continue")?,
                release: symbols.get("dtrace_proc_release")?,
                _mapping: std::mem::ManuallyDrop::new(mapping),
            }
        };
        Ok(library)
    }
}

/// The first name of the flavor's library that loads, with all the functions that we call.
pub fn loadable(flavor: Flavor) -> Result<String, LiveError> {
    if let Some(path) = override_path()? {
        return Library::load(flavor, Some(&path)).map(|_| path.display().to_string());
    }
    let mut names = flavor.traits().libraries.iter();
    let first = names.find(|name| Library::load(flavor, Some(Path::new(name))).is_ok());
    match first {
        Some(name) => Ok((*name).to_owned()),
        None => Library::load(flavor, None).map(|_| String::new()),
    }
}

fn open(name: &OsString) -> Result<libloading::Library, String> {
    use libloading::os::unix::{Library as Unix, RTLD_LAZY, RTLD_LOCAL};
    // SAFETY: loading runs the library's initialisers. It is the system's libdtrace, or the file that `override_path` checked.
    let loaded = unsafe { Unix::open(Some(name), RTLD_LAZY | RTLD_LOCAL) };
    // The reason is in the source of the error: its own text says only that dlopen failed.
    loaded.map(Into::into).map_err(|error| chain(&error))
}

fn chain(error: &dyn std::error::Error) -> String {
    match error.source() {
        Some(source) => chain(source),
        None => error.to_string(),
    }
}

struct Symbols<'a> {
    flavor: Flavor,
    mapping: &'a libloading::Library,
}

impl Symbols<'_> {
    /// # Safety
    /// `T` must be the type of the function `name`.
    unsafe fn get<T: Copy>(&self, name: &str) -> Result<T, LiveError> {
        // SAFETY: the caller's promise.
        match unsafe { self.mapping.get::<T>(name.as_bytes()) } {
            Ok(symbol) => Ok(*symbol),
            Err(_) => Err(LiveError::foreign_library(self.flavor, name)),
        }
    }
}

/// The file that the environment names instead of the system's library, if it may be used.
pub fn override_path() -> Result<Option<PathBuf>, LiveError> {
    let Some(path) = std::env::var_os(LIBRARY_VARIABLE).filter(|path| !path.is_empty()) else {
        return Ok(None);
    };
    let path = PathBuf::from(path);
    if super::privilege::is_root() {
        check_owner(&path)?;
    }
    Ok(Some(path))
}

/// Code that runs as root must come from root: the file, and each directory that leads to it.
fn check_owner(path: &Path) -> Result<(), LiveError> {
    use std::os::unix::fs::MetadataExt;
    let refuse = |cause: String| {
        LiveError::usage(
            format!("{LIBRARY_VARIABLE} is refused: {cause}"),
            "as root it must name a file that belongs to root and that nobody else can write, in directories of that kind",
        )
    };
    if !path.is_absolute() {
        return Err(refuse(format!("{} is not an absolute path", path.display())));
    }
    let real = path.canonicalize().map_err(|error| refuse(format!("{}: {error}", path.display())))?;
    for part in real.ancestors() {
        let metadata = part.metadata().map_err(|error| refuse(format!("{}: {error}", part.display())))?;
        let sticky_directory = metadata.is_dir() && metadata.mode() & 0o1000 != 0;
        if metadata.uid() != 0 {
            return Err(refuse(format!("{} does not belong to root", part.display())));
        }
        if metadata.mode() & 0o022 != 0 && !sticky_directory {
            return Err(refuse(format!("others can write {}", part.display())));
        }
    }
    Ok(())
}
