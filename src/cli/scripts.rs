//! `seatrace scripts`: the bundled scripts, the page of one, or its D program.

use std::fmt::Write as _;
use std::io::Write;

use clap::Args;

use super::run::ScriptArgs;
use crate::error::{Error, Result};
use crate::live::Flavor;
use crate::scripts::{self, Form, FormKind, Script};

/// Shown by `seatrace scripts --help`; a test runs them.
pub(super) const EXAMPLES: &str = "Examples:
  seatrace scripts
  seatrace scripts query-time
  seatrace scripts query-time --print --min 10ms
  seatrace scripts query-time-pid --print > query-time-pid.d";

/// `seatrace scripts [NAME]`
#[derive(Args)]
pub(super) struct Scripts {
    /// Show the page of this script
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Show its D program as it would run with the options given; a form by its own name: query-time-pid
    #[arg(long, requires = "name")]
    print: bool,
    #[command(flatten)]
    script_args: ScriptArgs,
}

/// The groups in the order of the list, with what they answer.
const GROUPS: [(&str, &str); 6] = [
    ("queries", "which statements are slow, and where their time goes"),
    ("waits", "what threads wait for"),
    ("stacks", "what the server executes, for flame graphs"),
    ("files", "which files are read and written"),
    ("server", "connections, caches, functions"),
    ("system", "disks and other processes"),
];

impl Scripts {
    /// Prints the list, a page or a program.
    pub(super) fn run(&self) -> Result<()> {
        let mut out = std::io::stdout().lock();
        let Some(name) = &self.name else {
            out.write_all(list().as_bytes())?;
            return Ok(());
        };
        let script = scripts::by_name(name)?;
        if self.print {
            return self.program(script, name, &mut out);
        }
        if !self.script_args.for_script(&[]).is_empty() {
            return Err(Error::Usage(format!("options of {name} go with --print, or with `seatrace run {name}`")));
        }
        out.write_all(page(script).as_bytes())?;
        Ok(())
    }

    /// The D program, and on standard error what dtrace(1) takes beside it.
    fn program(&self, script: &Script, name: &str, out: &mut dyn Write) -> Result<()> {
        let form = form(script, name)?;
        let names: Vec<&str> = form.header.options.iter().map(|option| option.name.as_str()).collect();
        let program = scripts::prepare(form, &self.script_args.for_script(&names))?;
        out.write_all(program.text.as_bytes())?;
        if !program.args.is_empty() {
            let args: Vec<String> = program.args.iter().map(|arg| format!("{arg:?}")).collect();
            eprintln!("seatrace: arguments: {}", args.join(" "));
        }
        Ok(())
    }
}

/// The form that was named, else the one of this system, else the plain one.
fn form<'a>(script: &'a Script, name: &str) -> Result<&'a Form> {
    let name = name.strip_suffix(".d").unwrap_or(name);
    let named = script.forms.iter().find(|form| form.name == name && form.name != script.name);
    let own = Flavor::native().map(Flavor::word);
    let native = script.forms.iter().find(|form| matches!(form.kind, FormKind::System(word) if Some(word) == own));
    named.or(native).or(script.main_form()).ok_or_else(|| Error::Usage(format!("{name}: no such script")))
}

/// All scripts by group, one line each.
fn list() -> String {
    let mut out = String::new();
    let width = scripts::all().iter().map(|script| script.name.len()).max().unwrap_or(0);
    let of = |group: &str| {
        scripts::all()
            .iter()
            .filter(|script| script.main_form().is_some_and(|form| form.header.group == group))
            .collect::<Vec<_>>()
    };
    for (group, about) in GROUPS {
        let members = of(group);
        if members.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{group}: {about}");
        for script in members {
            let purpose = script.main_form().map_or("", |form| form.header.purpose.as_str());
            let _ = writeln!(out, "  {:<width$}  {purpose}", script.name);
        }
        out.push('\n');
    }
    out + "`seatrace scripts NAME` shows the page of one, `seatrace doctor` which of them work here.\n"
}

/// The page; a script without one shows the comment on top of its program.
fn page(script: &Script) -> String {
    if !script.page.is_empty() {
        return script.page.to_owned();
    }
    let text = script.main_form().map_or("", |form| form.text);
    let comment = text.split_once("*/").map_or("", |(comment, _)| comment);
    let lines =
        comment.lines().skip(1).map(|line| line.strip_prefix(" * ").or(line.strip_prefix(" *")).unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n") + "\n"
}
