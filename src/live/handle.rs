//! A libdtrace handle: the calls, made safe.
//!
//! One thread owns a handle and makes every call; the handlers run inside those calls, in that thread.

use std::cell::Cell;
use std::ffi::{CStr, CString, c_char, c_int, c_uint, c_void};
use std::io::{Seek, Write};
use std::os::fd::{IntoRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;

use super::bindings::*;
use super::library::{Create, Go, HandleProcess, Library};
use super::session::Shared;

/// Interface version that all four systems have.
const VERSION: c_int = 3;
/// Action code of `exit()`, everywhere.
const ACTION_EXIT: u16 = 2;
/// What consume callbacks answer: let libdtrace print it, or pass over it.
const CONSUME_THIS: c_int = 0;
const CONSUME_NEXT: c_int = 1;
/// What handlers answer: go on. A drop or an error in a probe never ends the trace.
const HANDLE_OK: c_int = 0;

/// What `dtrace_work` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// There will be more.
    Okay,
    /// The program called `exit()`, or everything has been read.
    Done,
    /// It failed; the text says how.
    Failed,
}

/// A process that libdtrace holds.
#[derive(Clone, Copy)]
pub(super) struct Process(NonNull<dt_process>);

/// A compiled program.
#[derive(Clone, Copy)]
pub(super) struct Compiled(NonNull<dt_program>);

/// What the callbacks reach through their `void *`.
struct Listener {
    shared: Arc<Shared>,
    /// Where libdtrace prints.
    output: *mut libc::FILE,
    is_linux: bool,
    /// Status given to `exit()`.
    status: Cell<Option<i32>>,
    /// Processes held that still live.
    living: Cell<usize>,
}

/// An open handle with its output stream.
pub(super) struct Handle {
    library: Library,
    raw: NonNull<dt_handle>,
    // A raw pointer, not a Box: the callbacks hold a copy of it.
    listener: NonNull<Listener>,
    output_is_open: bool,
}

impl Handle {
    /// Opens libdtrace; it will print into `pipe`.
    pub fn open(library: Library, pipe: OwnedFd, shared: Arc<Shared>) -> Result<Handle, String> {
        // SAFETY: the descriptor is open and ours; the stream takes it over.
        let output = unsafe { libc::fdopen(pipe.into_raw_fd(), c"w".as_ptr()) };
        if output.is_null() {
            return Err(std::io::Error::last_os_error().to_string());
        }
        let mut error: c_int = 0;
        // SAFETY: the signature is libdtrace's; `error` outlives the call.
        let raw = unsafe { (library.open)(VERSION, 0, &mut error) };
        let Some(raw) = NonNull::new(raw) else {
            // SAFETY: the stream is open. A message without a handle is allowed for after a failed open.
            let text = unsafe {
                libc::fclose(output);
                copied((library.errmsg)(std::ptr::null_mut(), error))
            };
            return Err(text);
        };
        let is_linux = library.flavor.traits().is_linux;
        let listener = Listener { shared, output, is_linux, status: Cell::new(None), living: Cell::new(0) };
        let listener = NonNull::from(Box::leak(Box::new(listener)));
        Ok(Handle { library, raw, listener, output_is_open: true })
    }

    fn listener(&self) -> &Listener {
        // SAFETY: made in `open`, freed in `drop`; only shared references to it exist.
        unsafe { self.listener.as_ref() }
    }

    /// libdtrace's text for its last error.
    pub fn message(&self) -> String {
        // SAFETY: the handle is open; the text is copied before the next call.
        unsafe { copied((self.library.errmsg)(self.raw.as_ptr(), self.number())) }
    }

    /// Number of the last error; below 1000 an errno.
    pub fn number(&self) -> c_int {
        // SAFETY: the handle is open.
        unsafe { (self.library.errno)(self.raw.as_ptr()) }
    }

    fn check(&self, result: c_int) -> Result<(), String> {
        if result == -1 { Err(self.message()) } else { Ok(()) }
    }

    /// Sets an option.
    pub fn set(&self, name: &str, value: Option<&str>) -> Result<(), String> {
        let name = c_string(name)?;
        let value = value.map(c_string).transpose()?;
        let value = value.as_ref().map_or(std::ptr::null(), |value| value.as_ptr());
        // SAFETY: both strings live until the call returns; libdtrace copies what it keeps.
        self.check(unsafe { (self.library.setopt)(self.raw.as_ptr(), name.as_ptr(), value) })
    }

    /// Takes hold of a process.
    pub fn grab(&self, pid: i32) -> Result<Process, String> {
        // SAFETY: the handle is open; no flags.
        let process = unsafe { (self.library.grab)(self.raw.as_ptr(), pid, 0) };
        self.held(process)
    }

    /// Creates a stopped process.
    pub fn create(&self, command: &[String]) -> Result<Process, String> {
        let words = command.iter().map(|word| c_string(word)).collect::<Result<Vec<_>, _>>()?;
        let Some(file) = words.first() else { return Err("no command".to_string()) };
        let argv = argument_vector(&words);
        let _pipe = super::signals::DefaultPipe::new();
        let raw = self.raw.as_ptr();
        // SAFETY: `file` and `argv`, which ends in null, live until the calls return. Hook and flags are absent.
        let process = unsafe {
            match self.library.create {
                Create::Plain(create) => create(raw, file.as_ptr(), argv.as_ptr()),
                Create::WithHook(create) => {
                    create(raw, file.as_ptr(), argv.as_ptr(), std::ptr::null_mut(), std::ptr::null_mut())
                }
                Create::WithFlags(create) => create(raw, file.as_ptr(), argv.as_ptr(), 0),
            }
        };
        self.held(process)
    }

    fn held(&self, process: *mut dt_process) -> Result<Process, String> {
        let process = NonNull::new(process).ok_or_else(|| self.message())?;
        let living = &self.listener().living;
        living.set(living.get() + 1);
        Ok(Process(process))
    }

    /// Lets a held process run.
    pub fn resume(&self, process: Process) {
        // SAFETY: the process is held by this handle.
        unsafe { (self.library.resume)(self.raw.as_ptr(), process.0.as_ptr()) }
    }

    /// Lets go of a process. Linux keeps hold of it otherwise, even when the handle is closed.
    pub fn release(&self, process: Process) {
        // SAFETY: the process is held by this handle, and not used after this.
        unsafe { (self.library.release)(self.raw.as_ptr(), process.0.as_ptr()) }
    }

    /// Linux: reads the D libraries. Elsewhere `open` has done so.
    pub fn init(&self) -> Result<(), String> {
        match self.library.init {
            // SAFETY: the handle is open.
            Some(init) => self.check(unsafe { init(self.raw.as_ptr()) }),
            None => Ok(()),
        }
    }

    /// Compiles a program; `args[0]` is `$0`. It goes through a file, since only then do errors name its lines.
    pub fn compile(&self, text: &str, args: &[String]) -> Result<Compiled, String> {
        let words = args.iter().map(|word| c_string(word)).collect::<Result<Vec<_>, _>>()?;
        let argv = argument_vector(&words);
        let argc = c_int::try_from(words.len()).map_err(|_| "too many arguments".to_string())?;
        let file = source_file(text).map_err(|error| format!("temporary file: {error}"))?;
        // SAFETY: stream and arguments live until the call returns; libdtrace copies them, and leaves the stream open.
        let program = unsafe {
            let program = (self.library.compile)(self.raw.as_ptr(), file.as_ptr().cast(), 0, argc, argv.as_ptr());
            libc::fclose(file.as_ptr());
            program
        };
        NonNull::new(program).map(Compiled).ok_or_else(|| self.message())
    }

    /// Installs the handlers. On Linux 2.0.7 an error handler that is installed before the first program is compiled makes
    /// `dtrace_close` abort: so compile first.
    pub fn listen(&self) -> Result<(), String> {
        let raw = self.raw.as_ptr();
        let argument: *mut c_void = self.listener.as_ptr().cast();
        // SAFETY: the callbacks have the types that libdtrace wants, and the listener outlives the handle.
        unsafe {
            self.check((self.library.handle_err)(raw, Some(on_error), argument))?;
            self.check((self.library.handle_drop)(raw, Some(on_drop), argument))?;
            self.check(match self.library.handle_process {
                HandleProcess::Classic(handle) => handle(raw, Some(on_process_classic), argument),
                HandleProcess::Linux(handle) => handle(raw, Some(on_process_linux), argument),
            })
        }
    }

    /// Enables a program. Returns the number of probes that it matched.
    pub fn enable(&self, program: Compiled) -> Result<u32, String> {
        let mut info = dt_proginfo::default();
        // SAFETY: the program belongs to this handle; `info` outlives the call.
        self.check(unsafe { (self.library.exec)(self.raw.as_ptr(), program.0.as_ptr(), &mut info) })?;
        Ok(info.matches)
    }

    /// Probes fire from here on.
    pub fn go(&self) -> Result<(), String> {
        // SAFETY: the handle is open.
        self.check(unsafe {
            match self.library.go {
                Go::Classic(go) => go(self.raw.as_ptr()),
                Go::Linux(go) => go(self.raw.as_ptr(), 0 as c_uint),
            }
        })
    }

    /// Sleeps until there is work, or a signal comes. On Linux `work` itself sleeps.
    pub fn sleep(&self) {
        if let Some(sleep) = self.library.sleep {
            // SAFETY: the handle is open.
            unsafe { sleep(self.raw.as_ptr()) }
        }
    }

    /// Prints what has been recorded.
    pub fn work(&self) -> Work {
        let listener = self.listener();
        let record = if listener.is_linux { on_record_linux } else { on_record_classic };
        let argument: *mut c_void = self.listener.as_ptr().cast();
        // SAFETY: the stream is open; the callbacks' types are libdtrace's, the listener outlives the handle.
        let result = unsafe {
            (self.library.work)(self.raw.as_ptr(), listener.output.cast(), Some(on_probe), Some(record), argument)
        };
        self.flush();
        match result {
            0 => Work::Okay,
            1 => Work::Done,
            _ => Work::Failed,
        }
    }

    /// Probes no longer fire; END does.
    pub fn stop(&self) -> Result<(), String> {
        // SAFETY: the handle is open.
        self.check(unsafe { (self.library.stop)(self.raw.as_ptr()) })
    }

    /// Prints the aggregations that no `printa` has printed, after an empty line, as dtrace(1) does.
    pub fn print_aggregations(&self) -> Result<(), String> {
        let output = self.listener().output;
        // SAFETY: the stream is open; without a walk function libdtrace sorts as dtrace(1) does.
        let result = unsafe {
            libc::fputs(c"\n".as_ptr(), output);
            (self.library.aggregate_print)(self.raw.as_ptr(), output.cast(), std::ptr::null_mut())
        };
        self.check(result)
    }

    /// Processes held that still live.
    pub fn living(&self) -> usize {
        self.listener().living.get()
    }

    /// Status given to `exit()`.
    pub fn exit_status(&self) -> Option<i32> {
        self.listener().status.get()
    }

    fn flush(&self) {
        // SAFETY: the stream is open: `end_output` is the last thing that a tracer does with it.
        unsafe { libc::fflush(self.listener().output) };
    }

    /// Ends the text: the reader sees its end.
    pub fn end_output(&mut self) {
        if std::mem::take(&mut self.output_is_open) {
            // SAFETY: open until here, and never used again: no call that prints follows.
            unsafe { libc::fclose(self.listener().output) };
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // SAFETY: the handle is open, and its handlers run no more after it is closed: the listener can go then.
        unsafe {
            (self.library.close)(self.raw.as_ptr());
            self.end_output();
            drop(Box::from_raw(self.listener.as_ptr()));
        }
    }
}

impl Listener {
    /// The listener behind a callback's argument.
    ///
    /// # Safety
    /// `argument` is what [`Handle`] gave to libdtrace, and its handle is open.
    unsafe fn behind<'a>(argument: *mut c_void) -> &'a Listener {
        // SAFETY: the caller's promise.
        unsafe { &*argument.cast::<Listener>() }
    }

    /// Puts what DTrace says between the lines of its text. While the handle closes nobody reads any more.
    fn say(&self, message: &str) {
        if self.shared.is_printing() {
            // SAFETY: the stream is open while the trace prints.
            unsafe { libc::fflush(self.output) };
            self.shared.spool.say(message);
        }
    }

    fn record(&self, action: u16, data: *const c_char) -> c_int {
        if action != ACTION_EXIT {
            return CONSUME_THIS;
        }
        // SAFETY: the record of exit() is an int; its place may be unaligned.
        self.status.set(Some(unsafe { data.cast::<i32>().read_unaligned() }));
        CONSUME_NEXT
    }

    fn process_event(&self, message: *const c_char) {
        if message.is_null() {
            self.living.set(self.living.get().saturating_sub(1));
        } else {
            // SAFETY: libdtrace passes a C string.
            self.say(&format!("target: {}", unsafe { copied(message) }));
        }
    }
}

extern "C" fn on_probe(_: *const dt_probedata, argument: *mut c_void) -> c_int {
    // SAFETY: libdtrace hands back the argument of `work`.
    unsafe { Listener::behind(argument) }.shared.count_event();
    CONSUME_THIS
}

extern "C" fn on_record_classic(probe: *const dt_probedata, record: *const dt_recdesc, argument: *mut c_void) -> c_int {
    if record.is_null() {
        return CONSUME_NEXT;
    }
    // SAFETY: on macOS, illumos and FreeBSD a firing begins as dt_probedata_classic says.
    unsafe { Listener::behind(argument).record((*record).action, (*probe.cast::<dt_probedata_classic>()).data) }
}

extern "C" fn on_record_linux(probe: *const dt_probedata, record: *const dt_recdesc, argument: *mut c_void) -> c_int {
    if record.is_null() {
        return CONSUME_NEXT;
    }
    // SAFETY: on Linux a firing begins as dt_probedata_linux says.
    unsafe { Listener::behind(argument).record((*record).action, (*probe.cast::<dt_probedata_linux>()).data) }
}

extern "C" fn on_error(data: *const dt_errdata, argument: *mut c_void) -> c_int {
    // SAFETY: libdtrace passes a filled structure and our argument.
    let (listener, message) = unsafe { (Listener::behind(argument), copied((*data).msg)) };
    listener.shared.count_error();
    listener.say(&message);
    HANDLE_OK
}

extern "C" fn on_drop(data: *const dt_dropdata, argument: *mut c_void) -> c_int {
    // SAFETY: as above.
    let (listener, drops, message) = unsafe { (Listener::behind(argument), (*data).drops, copied((*data).msg)) };
    listener.shared.count_drops(drops);
    listener.say(&message);
    HANDLE_OK
}

extern "C" fn on_process_classic(_: *mut dt_process, message: *const c_char, argument: *mut c_void) {
    // SAFETY: libdtrace hands back our argument.
    unsafe { Listener::behind(argument) }.process_event(message);
}

extern "C" fn on_process_linux(_: c_int, message: *const c_char, argument: *mut c_void) {
    // SAFETY: libdtrace hands back our argument.
    unsafe { Listener::behind(argument) }.process_event(message);
}

/// A stream of the C library with the program in it, at its beginning.
fn source_file(text: &str) -> std::io::Result<NonNull<libc::FILE>> {
    let mut file = tempfile::tempfile()?;
    file.write_all(text.as_bytes())?;
    file.rewind()?;
    // SAFETY: the descriptor is open and ours; the stream takes it over.
    let stream = unsafe { libc::fdopen(OwnedFd::from(file).into_raw_fd(), c"r".as_ptr()) };
    NonNull::new(stream).ok_or_else(std::io::Error::last_os_error)
}

/// # Safety
/// `text` is null or a C string.
unsafe fn copied(text: *const c_char) -> String {
    if text.is_null() {
        return "no reason given".to_string();
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().trim_end().to_string()
}

fn c_string(text: &str) -> Result<CString, String> {
    CString::new(text).map_err(|_| "a NUL byte in the text".to_string())
}

fn argument_vector(words: &[CString]) -> Vec<*mut c_char> {
    words.iter().map(|word| word.as_ptr().cast_mut()).chain([std::ptr::null_mut()]).collect()
}
