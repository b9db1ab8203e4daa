//! Each script: whether it works on a target, in which form, or why not and what to do.

use serde::Serialize;

use super::finding::Finding;
use super::target::Target;
use crate::error::Error;
use crate::live::Flavor;
use crate::scripts::{self, Form, FormKind, Script, Server};

/// Whether a script works.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Works {
    /// In its plain form.
    Yes,
    /// In another form.
    Form,
    /// Not.
    No,
    /// Cannot be told from here.
    Unknown,
}

/// What is told of one script.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// Its name.
    pub script: &'static str,
    /// Whether it works.
    pub works: Works,
    /// The form that runs.
    pub form: Option<&'static str>,
    /// Why another form, why not, or what to expect; may be empty.
    pub because: String,
    /// What to do; may be empty.
    pub remedy: String,
}

impl Verdict {
    fn no(script: &'static Script, because: impl Into<String>, remedy: impl Into<String>) -> Verdict {
        Verdict { script: script.name, works: Works::No, form: None, because: because.into(), remedy: remedy.into() }
    }

    /// Whether it surely can run.
    pub fn can_run(&self) -> bool {
        matches!(self.works, Works::Yes | Works::Form)
    }
}

/// Findings about a target that shut DTrace out altogether.
const CLOSED: [&str; 3] = ["binary", "signature", "translation"];

/// All scripts on one target, or on the system without one.
pub fn all(flavor: Flavor, target: Option<&Target>, findings: &[Finding]) -> Vec<Verdict> {
    scripts::all().iter().map(|script| judge(script, flavor, target, findings)).collect()
}

fn judge(script: &'static Script, flavor: Flavor, target: Option<&Target>, findings: &[Finding]) -> Verdict {
    if let Some(unreadable) = target.filter(|target| target.binary.is_none()).and_then(|target| target.findings.last())
    {
        let works = if unreadable.stops_everything() { Works::No } else { Works::Unknown };
        if works == Works::No || script.forms.iter().any(asks_of_binary) {
            return Verdict { works, ..Verdict::no(script, unreadable.says.clone(), unreadable.remedy.clone()) };
        }
    }
    let closed = target.and_then(|target| {
        target.findings.iter().find(|finding| CLOSED.contains(&finding.about) && finding.stops_everything())
    });
    if let Some(closed) = closed {
        return Verdict::no(script, closed.says.clone(), closed.remedy.clone());
    }
    let server = target.map(|target| Server { name: target.name.clone(), binary: target.binary.as_ref() });
    let choice = match scripts::choose(script, flavor, server.as_ref()) {
        Ok(choice) => choice,
        Err(Error::Trace { cause, remedy }) if target.is_some() => {
            let causes: Vec<&str> = cause.lines().skip(1).map(|line| without_name(line.trim())).collect();
            return Verdict::no(script, distinct(&causes).join("; "), remedy);
        }
        Err(_) => {
            return Verdict::no(
                script,
                "needs a server, and none is running",
                "start the server, or give the path of its executable",
            );
        }
    };
    if let Some(stop) = findings.iter().find(|finding| is_stopped(choice.form, finding)) {
        return Verdict::no(script, stop.says.clone(), stop.remedy.clone());
    }
    let mut because = choice
        .reason
        .as_deref()
        .and_then(|reason| reason.split_once("since "))
        .map_or("", |(_, why)| without_name(why))
        .to_owned();
    let mut remedy = String::new();
    let walks_stacks = choice.form.text.contains("ustack(");
    let is_stripped = target.and_then(|target| target.binary.as_ref()).is_some_and(|binary| !binary.has_symbols());
    if walks_stacks && is_stripped {
        let names = "its stacks will have no names: the binary is stripped of its symbols";
        because = if because.is_empty() { names.into() } else { format!("{because}; {names}") };
        remedy = "an unstripped build, or the distribution's own package".into();
    } else if walks_stacks && target.and_then(|target| target.frame_pointers) == Some(false) {
        let stacks = "its stacks will be short: the server keeps no frame pointers";
        because = if because.is_empty() { stacks.into() } else { format!("{because}; {stacks}") };
        remedy = "a build with -fno-omit-frame-pointer has whole stacks".into();
    }
    let works = if choice.form.kind == FormKind::Plain { Works::Yes } else { Works::Form };
    Verdict { script: script.name, works, form: Some(choice.form.name), because, remedy }
}

/// Whether the form needs something of the server's executable.
fn asks_of_binary(form: &Form) -> bool {
    !form.header.probes.is_empty() || !form.header.functions.is_empty()
}

/// `NAME.d needs …` without the name: the same reason is told once for all scripts.
fn without_name(reason: &str) -> &str {
    match reason.split_once(' ') {
        Some((name, rest)) if name.ends_with(".d") => rest,
        _ => reason,
    }
}

fn distinct<'a>(causes: &[&'a str]) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for cause in causes {
        if !found.contains(cause) {
            found.push(cause);
        }
    }
    found
}

/// Whether the finding keeps probes that the form uses from firing.
pub(super) fn is_stopped(form: &Form, finding: &Finding) -> bool {
    let header = &form.header;
    let own = [(!header.functions.is_empty(), "pid"), (!header.probes.is_empty(), header.provider.as_str())];
    let own = own.into_iter().filter(|(uses, _)| *uses).map(|(_, provider)| provider);
    own.chain(header.providers.iter().map(String::as_str)).any(|provider| finding.stops(provider, form.text))
}
