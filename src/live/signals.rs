//! Ctrl-C, SIGTERM and SIGHUP in a live trace.
//!
//! The first one ends the trace, which then prints what it has. The second stops the printing; the third leaves at once.
//! Only the thread that runs libdtrace receives them (they must interrupt its sleep), all others keep them masked.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};

/// Signals that end a trace.
const ENDING: [libc::c_int; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];
/// Wakes the libdtrace thread. By default it is ignored, so a stray one does no harm.
const KICK: libc::c_int = libc::SIGURG;

static RECEIVED: AtomicUsize = AtomicUsize::new(0);
static INSTALL: Once = Once::new();

/// How many ending signals have come since `install`.
pub fn received() -> usize {
    RECEIVED.load(Ordering::SeqCst)
}

/// Installs the handlers, once in the life of the process.
pub(super) fn install() {
    INSTALL.call_once(|| {
        for signal in ENDING {
            // nohup means what it says. SIGINT is taken even if ignored: shells ignore it for background jobs, and `kill -INT`
            // would otherwise find a trace that cannot be ended.
            if signal == libc::SIGHUP && is_ignored(signal) {
                continue;
            }
            // SAFETY: the handler touches one atomic and may call _exit; both are async-signal-safe.
            let _ = unsafe { signal_hook::low_level::register(signal, on_signal) };
        }
        // SAFETY: the handler does nothing; it exists so that the signal interrupts a sleep.
        let _ = unsafe { signal_hook::low_level::register(KICK, || ()) };
    });
}

fn on_signal() {
    if RECEIVED.fetch_add(1, Ordering::SeqCst) >= 2 {
        // SAFETY: _exit is async-signal-safe.
        unsafe { libc::_exit(130) };
    }
}

fn is_ignored(signal: libc::c_int) -> bool {
    // SAFETY: a null new action only asks; `old` is plain data that sigaction fills.
    unsafe {
        let mut old: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut old) == 0 && old.sa_sigaction == libc::SIG_IGN
    }
}

/// Masks the ending signals in this thread, and in those that it starts, until dropped.
pub(super) struct Masked(libc::sigset_t);

impl Masked {
    pub fn new() -> Masked {
        Masked(change_mask(libc::SIG_BLOCK))
    }
}

impl Drop for Masked {
    fn drop(&mut self) {
        // SAFETY: the set was filled by pthread_sigmask.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
    }
}

/// Lets the ending signals and the kick reach this thread.
pub(super) fn unmask() {
    change_mask(libc::SIG_UNBLOCK);
}

fn change_mask(how: libc::c_int) -> libc::sigset_t {
    // SAFETY: both sets are plain data, filled by the calls below before they are read.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        let mut old: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for signal in ENDING {
            libc::sigaddset(&mut set, signal);
        }
        libc::sigaddset(&mut set, KICK);
        libc::pthread_sigmask(how, &set, &mut old);
        old
    }
}

/// SIGPIPE at its default while a command is started: Rust ignores it, and the child would inherit that.
pub(super) struct DefaultPipe(libc::sighandler_t);

impl DefaultPipe {
    pub fn new() -> DefaultPipe {
        // SAFETY: SIG_DFL is a valid disposition; nothing else in the process writes to a pipe meanwhile.
        DefaultPipe(unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) })
    }
}

impl Drop for DefaultPipe {
    fn drop(&mut self) {
        // SAFETY: puts back what `new` found.
        unsafe { libc::signal(libc::SIGPIPE, self.0) };
    }
}

/// A thread that can be woken while it sleeps in libdtrace.
#[derive(Default)]
pub(super) struct Sleeper(Mutex<Option<libc::pthread_t>>);

impl Sleeper {
    /// From now on this thread may be kicked.
    pub fn enter(&self) {
        // SAFETY: pthread_self always succeeds.
        *self.lock() = Some(unsafe { libc::pthread_self() });
    }

    /// From now on it may not.
    pub fn leave(&self) {
        *self.lock() = None;
    }

    /// Interrupts the sleep. The thread may be between its look at the flag and its sleep: callers repeat.
    pub fn kick(&self) {
        if let Some(thread) = *self.lock() {
            // SAFETY: the thread is alive: it takes its id out, under this lock, before it ends.
            unsafe { libc::pthread_kill(thread, KICK) };
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<libc::pthread_t>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
