//! One line on the terminal while there is nothing else to see: starting, then time left, events and drops.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

use crate::live::Progress;

/// The line; nothing at all where standard error is no terminal.
pub(super) struct Status {
    bar: ProgressBar,
    script: String,
    over: Arc<AtomicBool>,
    watcher: Mutex<Option<JoinHandle<()>>>,
}

impl Status {
    /// Says that DTrace is starting, which takes some seconds.
    pub(super) fn begin(quiet: bool, script: &str) -> Status {
        let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new_spinner() };
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        bar.set_message(format!("{script}: starting DTrace"));
        bar.tick();
        Status { bar, script: script.to_owned(), over: Arc::default(), watcher: Mutex::default() }
    }

    /// Follows a trace that shows nothing before its end.
    pub(super) fn watch(&self, progress: Progress) {
        if self.bar.is_hidden() {
            return;
        }
        let (bar, script, over) = (self.bar.clone(), self.script.clone(), self.over.clone());
        let watcher = std::thread::spawn(move || {
            while !over.load(Ordering::Relaxed) {
                bar.set_message(format!("{script}: {}", line(&progress)));
                bar.tick();
                std::thread::sleep(Duration::from_millis(250));
            }
        });
        *self.watcher.lock().unwrap_or_else(PoisonError::into_inner) = Some(watcher);
    }

    /// Takes the line away.
    pub(super) fn end(&self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(watcher) = self.watcher.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = watcher.join();
        }
        self.bar.finish_and_clear();
    }
}

fn line(progress: &Progress) -> String {
    let counts = progress.counts();
    let running = progress.running().as_secs();
    let time = match progress.duration() {
        _ if progress.is_over() => "reading the results".to_owned(),
        Some(limit) => format!("{} s left", limit.as_secs().saturating_sub(running)),
        None => format!("{running} s, end with Ctrl-C"),
    };
    let errors = if counts.errors > 0 { format!(", {} errors in probes", counts.errors) } else { String::new() };
    format!("{time}, {} events, {} drops{errors}", counts.events, counts.drops)
}
