//! The `seatrace` command: error policy only. Everything else is in the library.

use std::process::ExitCode;

use seatrace::error::Error;
use seatrace::view::harmless;

fn main() -> ExitCode {
    match seatrace::cli::run(std::env::args_os()) {
        Ok(code) => code,
        // A reader that went away (`| head`) is no failure.
        Err(error) if error.downcast_ref::<Error>().is_some_and(Error::is_broken_pipe) => ExitCode::SUCCESS,
        Err(error) => {
            // An error of ours tells its source itself.
            let said = match error.downcast_ref::<Error>() {
                Some(ours) => ours.to_string(),
                None => format!("{error:#}"),
            };
            eprintln!("seatrace: {}", harmless(&said));
            ExitCode::from(if matches!(error.downcast_ref(), Some(Error::Usage(_))) { 2 } else { 1 })
        }
    }
}
