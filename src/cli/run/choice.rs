//! The bundled script that was named, in the form that fits the target, and the scripts that run with it.

use super::Run;
use super::start::explicit_target;
use crate::doctor;
use crate::error::{Error, Result};
use crate::live::{Flavor, Program, Target};
use crate::scripts::{self, Form, Script, ScriptOption, Server, TargetNeed, Token};
use crate::server::{self, Binary};

/// What runs.
pub(super) struct Chosen {
    /// Name of the script.
    pub name: String,
    /// Its program, then those of the scripts that run with it.
    pub programs: Vec<Program>,
    /// What is traced.
    pub target: Target,
    /// What to tell before it starts: form, target.
    pub remarks: Vec<String>,
    /// What the trace will lack.
    pub left_out: Vec<String>,
}

/// Settles target and forms.
pub(super) fn bundled(run: &Run, name: &str, flavor: Option<Flavor>) -> Result<Chosen> {
    let script = scripts::by_name(name)?;
    let need = script.main_form().map_or(TargetNeed::Yes, |form| form.header.target);
    let mut remarks = Vec::new();
    let target = match explicit_target(run)? {
        Some(target) => target,
        // What would run is shown without a server too.
        None if need != TargetNeed::Yes || run.print => Target::System,
        None => {
            let found = server::by_name(None)?;
            remarks.push(format!("tracing {}, pid {}", found.path.display(), found.pid));
            Target::Process(found.pid)
        }
    };
    let (called, path) = match &target {
        Target::System => (String::new(), None),
        Target::Process(pid) => (format!("pid {pid}"), server::executable(*pid)),
        Target::Command(words) => {
            let word = words.first().cloned().unwrap_or_default();
            let path = server::in_path(&word);
            (word, path)
        }
    };
    let binary = path.and_then(|path| Binary::inspect(&path).ok());
    let server = (target != Target::System).then_some(Server { name: called, binary: binary.as_ref() });
    let chooser = Chooser { run, flavor, server };
    let named = script.forms.iter().find(|form| form.name == name && form.name != script.name);
    let form = match named {
        // The form itself was named: query-time-pid.
        Some(form) => form,
        None => chooser.form(script, &mut remarks)?,
    };
    if !run.print {
        check_pattern(form, run, binary.as_ref())?;
    }
    let mut left_out = Vec::new();
    let mut forms = vec![form];
    for words in &form.header.scripts {
        forms.extend(chooser.companion(words, &mut remarks, &mut left_out));
    }
    let programs = programs(run, &forms)?;
    Ok(Chosen { name: script.name.to_owned(), programs, target, remarks, left_out })
}

/// What forms are chosen by.
struct Chooser<'a> {
    run: &'a Run,
    flavor: Option<Flavor>,
    server: Option<Server<'a>>,
}

impl Chooser<'_> {
    fn form(&self, script: &'static Script, remarks: &mut Vec<String>) -> Result<&'static Form> {
        if self.server.is_none() && self.run.print {
            let form = script.main_form();
            return form.ok_or_else(|| Error::Usage(format!("{}: no such script", script.name)));
        }
        let choice = scripts::choose(script, self.flavor.unwrap_or(Flavor::Linux), self.server.as_ref())?;
        remarks.extend(choice.reason);
        Ok(choice.form)
    }

    /// The first of `one|other` that can run here; None if none can, with the reason left.
    fn companion(&self, words: &str, remarks: &mut Vec<String>, left_out: &mut Vec<String>) -> Option<&'static Form> {
        let mut whys = Vec::new();
        for name in words.split('|') {
            let found = scripts::by_name(name).and_then(|script| self.form(script, remarks));
            let found = found.map_err(|error| error.to_string()).and_then(|form| match self.stopped(form) {
                Some(why) => Err(why),
                None => Ok(form),
            });
            match found {
                Ok(form) => {
                    left_out.extend(whys.into_iter().map(|why| format!("{why}; {name} is there in its place")));
                    return Some(form);
                }
                Err(why) => whys.push(format!("{name} is not in this trace: {why}")),
            }
        }
        left_out.extend(whys);
        None
    }

    fn stopped(&self, form: &Form) -> Option<String> {
        let flavor = self.flavor.filter(|_| self.server.is_some())?;
        doctor::obstacle(form, flavor, &self.run.options, &doctor::Here).map(|finding| finding.says)
    }
}

/// The programs with the options that each knows; one that none knows is an error.
fn programs(run: &Run, forms: &[&Form]) -> Result<Vec<Program>> {
    let names: Vec<&str> =
        forms.iter().flat_map(|form| &form.header.options).map(|option| option.name.as_str()).collect();
    let given = run.script_args.for_script(&names);
    let is_last = |form: &Form| forms.last().is_some_and(|last| last.name == form.name);
    let own = |form: &Form| {
        let knows = |name: &str| form.header.options.iter().any(|option| option.name == name);
        let own = given.iter().filter(|(name, _)| knows(name) || is_last(form) && !names.contains(&name.as_str()));
        own.cloned().collect::<Vec<_>>()
    };
    forms.iter().map(|form| scripts::prepare(form, &own(form))).collect()
}

/// Functions that a pattern may match: each costs breakpoints, and time when the trace starts.
const MOST_FUNCTIONS: usize = 1000;

/// Where the user names the functions to probe (`pid$target::$$1:entry`), there must be some, and not too many.
fn check_pattern(form: &Form, run: &Run, binary: Option<&Binary>) -> Result<()> {
    let names_functions = |option: &&ScriptOption| match option.token {
        Token::Text(number) => form.text.contains(&format!("pid$target::$${number}:")),
        _ => false,
    };
    let Some(option) = form.header.options.iter().find(names_functions) else { return Ok(()) };
    let given = run.script_args.for_script(&[&option.name]);
    let Some((_, pattern)) = given.iter().find(|(name, _)| *name == option.name) else {
        return Err(Error::Usage(format!(
            "{} needs --{} TEXT: {}\n  for example: seatrace run {} --{} '*dispatch_command*'",
            form.name, option.name, option.about, form.name, option.name
        )));
    };
    // Sets of letters ([ab]) are DTrace's business.
    let Some(binary) = binary.filter(|binary| binary.has_symbols() && !pattern.contains('[')) else { return Ok(()) };
    let count = binary.functions_like(pattern);
    if count > MOST_FUNCTIONS {
        return Err(Error::Trace {
            cause: format!(
                "--{} '{pattern}' matches {count} functions of the server, and more than {MOST_FUNCTIONS} stop it for long",
                option.name
            ),
            remedy: format!(
                "use a narrower pattern; or, if you mean it: seatrace scripts {} --print > all.d, \
                 then seatrace run -s all.d --arg '{pattern}' with your -p",
                form.name
            ),
        });
    }
    Ok(())
}
