//! A live trace as a stream of text: what `dtrace -q` would print, with its diagnostics between the lines.
//!
//! [`Session::start`] returns once probes fire; reading gives the text as it comes, and ends when the trace has printed all that it
//! will. Then results can be shown while the target still lives, and [`Session::finish`] lets libdtrace detach, which may
//! take a minute.

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::error::LiveError;
use super::plan::{Ended, Plan};
use super::signals::{self, Masked, Sleeper};
use super::spool::Spool;
use super::{command, tracer};

/// Where the text comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// libdtrace, loaded into this process.
    Library,
    /// The system's dtrace(1), started as a child.
    Command,
}

/// What was counted while tracing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Probe firings seen (0 with [`Via::Command`], which does not tell).
    pub events: u64,
    /// Records that DTrace dropped.
    pub drops: u64,
    /// Errors inside probes.
    pub errors: u64,
}

/// How a trace went.
#[derive(Clone, Debug)]
pub struct Report {
    /// Why it ended.
    pub ended: Ended,
    /// What was counted.
    pub counts: Counts,
    /// What went wrong after tracing had begun; what was printed before stands.
    pub failure: Option<LiveError>,
}

/// How long detaching may take before something is said. On Linux it always takes some seconds.
const PATIENCE: Duration = Duration::from_secs(5);

/// What the threads of a session share.
pub(super) struct Shared {
    pub spool: Spool,
    pub sleeper: Sleeper,
    stop: AtomicBool,
    printing: AtomicBool,
    events: AtomicU64,
    drops: AtomicU64,
    errors: AtomicU64,
    /// Nanoseconds from `origin` to the moment when probes began to fire; 0 before.
    began: AtomicU64,
    origin: Instant,
    may_close: Mutex<bool>,
    closing: Condvar,
}

impl Shared {
    fn new(spool: Spool) -> Shared {
        Shared {
            spool,
            sleeper: Sleeper::default(),
            stop: AtomicBool::new(false),
            printing: AtomicBool::new(true),
            events: AtomicU64::new(0),
            drops: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            began: AtomicU64::new(0),
            origin: Instant::now(),
            may_close: Mutex::new(false),
            closing: Condvar::new(),
        }
    }

    /// Probes fire: the time of `-d` runs.
    pub fn begin(&self) {
        let nanoseconds = u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.began.store(nanoseconds.max(1), Ordering::SeqCst);
    }

    /// How long probes have fired.
    pub fn running(&self) -> Option<Duration> {
        match self.began.load(Ordering::SeqCst) {
            0 => None,
            began => Some(self.origin.elapsed().saturating_sub(Duration::from_nanos(began))),
        }
    }

    /// The reader, or a failure, ends the trace.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::SeqCst)
    }

    /// The text has ended: diagnostics have no place any more.
    pub fn end_printing(&self) {
        self.printing.store(false, Ordering::SeqCst);
    }

    pub fn is_printing(&self) -> bool {
        self.printing.load(Ordering::SeqCst)
    }

    pub fn count_event(&self) {
        self.events.fetch_add(1, Ordering::Relaxed);
    }

    pub fn count_drops(&self, drops: u64) {
        self.drops.fetch_add(drops, Ordering::Relaxed);
    }

    pub fn count_error(&self) {
        self.errors.fetch_add(1, Ordering::Relaxed);
    }

    pub fn counts(&self) -> Counts {
        Counts {
            events: self.events.load(Ordering::Relaxed),
            drops: self.drops.load(Ordering::Relaxed),
            errors: self.errors.load(Ordering::Relaxed),
        }
    }

    fn allow_close(&self) {
        *self.may_close.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.closing.notify_all();
    }

    /// Waits until results are shown.
    pub fn wait_to_close(&self) {
        let mut allowed = self.may_close.lock().unwrap_or_else(PoisonError::into_inner);
        while !*allowed {
            allowed = self.closing.wait(allowed).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A running trace.
pub struct Session {
    shared: Arc<Shared>,
    report: Receiver<Report>,
    threads: Vec<JoinHandle<()>>,
    duration: Option<Duration>,
    // Last: the mask is put back after the threads have ended.
    _masked: Masked,
}

/// The text of a [`Session`], for a reader that wants to own its source.
pub struct Text(Arc<Shared>);

impl Session {
    /// Starts a trace. Returns when probes fire, or says why they do not.
    pub fn start(plan: Plan, via: Via) -> Result<Session, LiveError> {
        let (reader, writer) = super::spool::pipe().map_err(|error| LiveError::system("pipe", &error))?;
        let end = std::os::fd::AsRawFd::as_raw_fd(&reader);
        let spool = Spool::new(reader).map_err(|error| LiveError::system("pipe", &error))?;
        plan.remarks.iter().for_each(|remark| spool.say(remark));
        let shared = Arc::new(Shared::new(spool));
        signals::install();
        let masked = Masked::new();
        let duration = plan.duration;
        let (started, start) = mpsc::channel();
        let (reported, report) = mpsc::channel();
        let theirs = shared.clone();
        let tracer = std::thread::Builder::new()
            .name("libdtrace".into())
            .spawn(move || {
                signals::unmask();
                match via {
                    Via::Library => tracer::trace(&plan, writer, theirs, &started, &reported),
                    Via::Command => command::trace(&plan, writer, theirs, &started, &reported),
                }
            })
            .map_err(|error| LiveError::system("thread", &error))?;
        // Until probes fire nothing else runs in this process: a command that libdtrace creates is forked from it.
        if let Err(error) = start.recv().unwrap_or_else(|_| Err(LiveError::interrupted())) {
            shared.allow_close();
            let _ = tracer.join();
            return Err(error);
        }
        let theirs = shared.clone();
        let drain = std::thread::Builder::new()
            .name("drain".into())
            .spawn(move || drain(&theirs, end, duration))
            .map_err(|error| LiveError::system("thread", &error))?;
        Ok(Session { shared, report, threads: vec![tracer, drain], duration, _masked: masked })
    }

    /// The text of the trace.
    pub fn text(&self) -> Text {
        Text(self.shared.clone())
    }

    /// What has been counted so far.
    pub fn counts(&self) -> Counts {
        self.shared.counts()
    }

    /// A view of the counts and times for a status line.
    pub fn progress(&self) -> Progress {
        Progress { shared: self.shared.clone(), duration: self.duration }
    }

    /// Ends the trace; its text goes on to the end, with what END prints.
    pub fn stop(&self) {
        self.shared.stop();
    }

    /// Lets libdtrace detach, and waits for it. `slow` is called once if that takes more than five seconds.
    pub fn finish(mut self, slow: impl FnOnce()) -> Report {
        self.shared.stop();
        self.shared.allow_close();
        let report = self.report.recv().ok();
        let waiting = self.report.recv_timeout(PATIENCE);
        if matches!(waiting, Err(RecvTimeoutError::Timeout)) {
            slow();
        }
        self.join();
        report.unwrap_or(Report { ended: Ended::Aborted, counts: self.shared.counts(), failure: None })
    }

    fn join(&mut self) {
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Drop for Session {
    /// A reader that wants no more (`| head`) ends the trace: nothing is printed, libdtrace detaches.
    fn drop(&mut self) {
        self.shared.stop();
        self.shared.spool.cut();
        self.shared.allow_close();
        self.join();
    }
}

impl Read for Text {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.spool.read(out, || match signals::received() {
            0 | 1 => Ok(()),
            _ => Err(io::Error::other(SecondSignal)),
        })
    }
}

/// The error inside the [`io::Error`] of a read after a second Ctrl-C.
#[derive(Debug, thiserror::Error)]
#[error("stopped by a second Ctrl-C")]
pub struct SecondSignal;

/// Counts and times of a running trace.
#[derive(Clone)]
pub struct Progress {
    shared: Arc<Shared>,
    duration: Option<Duration>,
}

impl Progress {
    /// What has been counted so far.
    pub fn counts(&self) -> Counts {
        self.shared.counts()
    }

    /// How long probes have fired.
    pub fn running(&self) -> Duration {
        self.shared.running().unwrap_or_default()
    }

    /// How long they are to fire.
    pub fn duration(&self) -> Option<Duration> {
        self.duration
    }

    /// The trace is printing, or has ended.
    pub fn is_over(&self) -> bool {
        !self.shared.is_printing()
    }
}

/// Empties the pipe until it ends; ends the trace when its time is over or a signal has come.
fn drain(shared: &Shared, pipe: std::os::fd::RawFd, duration: Option<Duration>) {
    /// How often the clock is looked at. A kick may fall between the other thread's look at the flag and its sleep: it is repeated.
    const TICK: i32 = 20;
    while shared.spool.pump() {
        super::spool::wait_readable(pipe, TICK);
        let is_over = duration.is_some_and(|limit| shared.running().is_some_and(|running| running >= limit));
        if is_over {
            shared.stop();
        }
        if signals::received() > 1 {
            // A second Ctrl-C: what libdtrace is printing fails, and it gives up.
            shared.spool.cut();
        }
        if shared.is_stopped() || signals::received() > 0 {
            shared.sleeper.kick();
        }
    }
}
