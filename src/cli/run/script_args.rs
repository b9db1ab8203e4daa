//! The options of the bundled scripts, as options of `run`: they are known only when the scripts' headers have been read.

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};

use crate::scripts;

/// Options that the user gave for a script.
#[derive(Debug, Default)]
pub(in crate::cli) struct ScriptArgs {
    given: Vec<Given>,
}

#[derive(Debug)]
struct Given {
    name: String,
    value: String,
    /// `run` has an option of that name too (`--min` keeps slow queries also in the view): no mistake where the script has none.
    is_shared: bool,
}

impl ScriptArgs {
    /// The options that are meant for a script which knows `names`.
    pub(in crate::cli) fn for_script(&self, names: &[&str]) -> Vec<(String, String)> {
        let meant = |given: &&Given| !given.is_shared || names.contains(&given.name.as_str());
        self.given.iter().filter(meant).map(|given| (given.name.clone(), given.value.clone())).collect()
    }
}

/// Names and what is said of them, once for all scripts.
fn known() -> Vec<(&'static str, String, &'static str)> {
    let mut known: Vec<(&str, String, &str)> = Vec::new();
    for option in scripts::all().iter().flat_map(|script| script.options()) {
        if !known.iter().any(|(name, ..)| *name == option.name) {
            known.push((&option.name, option.kind.placeholder(), &option.about));
        }
    }
    known.sort();
    known
}

/// clap's name for an option that a field of `run` may have too.
fn id(name: &str) -> String {
    name.replace('-', "_")
}

fn is_own(command: &Command, name: &str) -> bool {
    ["strict", "quiet", "help", "version"].contains(&name)
        || command.get_arguments().any(|arg| arg.get_long() == Some(name) || arg.get_id() == id(name).as_str())
}

impl clap::Args for ScriptArgs {
    fn augment_args(mut command: Command) -> Command {
        for (name, placeholder, about) in known() {
            if !is_own(&command, name) {
                let arg = Arg::new(id(name)).long(name).value_name(placeholder).help(about);
                command = command.arg(arg.help_heading("Options of the scripts"));
            }
        }
        command
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for ScriptArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<ScriptArgs, clap::Error> {
        let mut given = Vec::new();
        for (name, ..) in known() {
            let id = id(name);
            let is_here = matches.try_contains_id(&id).unwrap_or(false);
            if !is_here || matches.value_source(&id) != Some(ValueSource::CommandLine) {
                continue;
            }
            let value = matches.get_raw(&id).and_then(Iterator::last).map(|value| value.to_string_lossy().into_owned());
            // Ours are texts; those that `run` knows itself have other types.
            let is_shared =
                !matches!(matches.try_get_one::<String>(&id), Ok(Some(_))) || ["only", "without"].contains(&name);
            given.extend(value.map(|value| Given { name: name.to_owned(), value, is_shared }));
        }
        Ok(ScriptArgs { given })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
