//! `seatrace completions SHELL` and `seatrace man`: what a package installs beside the program, made from the command line's own
//! description.

use std::io;

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::error::Result;

/// `seatrace completions SHELL`
#[derive(Args)]
pub(super) struct Completions {
    /// bash, elvish, fish, powershell or zsh
    #[arg(value_name = "SHELL")]
    shell: Shell,
}

impl Completions {
    /// Prints the script that the shell reads.
    pub(super) fn run(&self) -> Result<()> {
        // The generator takes no error of the writer: written to memory first.
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut super::Cli::command(), "seatrace", &mut script);
        io::Write::write_all(&mut io::stdout(), &script)?;
        Ok(())
    }
}

/// `seatrace man [VERB]`
#[derive(Args)]
pub(super) struct Man {
    /// The page of one verb
    #[arg(value_name = "VERB")]
    verb: Option<String>,
}

impl Man {
    /// Prints a page in roff, for `man -l -`.
    pub(super) fn run(&self) -> Result<()> {
        let mut whole = super::Cli::command();
        whole.build();
        let command = match &self.verb {
            None => whole,
            Some(name) => whole
                .find_subcommand(name)
                .cloned()
                .ok_or_else(|| crate::error::Error::Usage(format!("man {name}: no such verb; see seatrace --help")))?,
        };
        clap_mangen::Man::new(command).render(&mut io::stdout())?;
        Ok(())
    }
}
