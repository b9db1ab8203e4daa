//! Which form of a script fits a server, and why none does.

use super::{Form, FormKind, Script, TargetNeed};
use crate::error::{Error, Result};
use crate::live::Flavor;
use crate::server::Binary;

/// What is known of the target.
pub struct Server<'a> {
    /// What messages call it: `pid 4242`, or a path.
    pub name: String,
    /// What its binary holds; None if that could not be read.
    pub binary: Option<&'a Binary>,
}

/// A chosen form.
pub struct Choice<'a> {
    /// The form.
    pub form: &'a Form,
    /// Why this one, if it is not the plain one.
    pub reason: Option<String>,
}

/// The first form of the script whose needs are met.
pub fn choose<'a>(script: &'a Script, flavor: Flavor, server: Option<&Server<'_>>) -> Result<Choice<'a>> {
    let mut obstacles: Vec<(&Form, String)> = Vec::new();
    for form in &script.forms {
        match obstacle(form, flavor, server) {
            None => {
                let reason =
                    obstacles.first().map(|(other, why)| format!("{}.d runs, since {}.d {why}", form.name, other.name));
                return Ok(Choice { form, reason });
            }
            // A form for another system is no alternative here.
            Some(_) if matches!(form.kind, FormKind::System(system) if system != flavor.word()) => {}
            Some(why) => obstacles.push((form, why)),
        }
    }
    let causes: Vec<String> = obstacles.iter().map(|(form, why)| format!("\n  {}.d {why}", form.name)).collect();
    let name = server.map_or("this system".to_owned(), |server| server.name.clone());
    Err(Error::Trace {
        cause: format!("{} cannot run on {name}:{}", script.name, causes.concat()),
        remedy: remedy(&obstacles, server),
    })
}

/// What keeps the form from running, as the end of a sentence.
fn obstacle(form: &Form, flavor: Flavor, server: Option<&Server<'_>>) -> Option<String> {
    let header = &form.header;
    if matches!(form.kind, FormKind::System(system) if system != flavor.word()) {
        return Some(format!("is not for {flavor}"));
    }
    if !header.systems.is_empty() && !header.systems.iter().any(|system| system == flavor.word()) {
        return Some(format!("does not run on {flavor}"));
    }
    let Some(server) = server else {
        let needs = header.target == TargetNeed::Yes;
        return needs.then(|| "needs a process: give -p PID, --name NAME or -c CMD".to_owned());
    };
    // Nothing known of the binary: DTrace itself will say what is missing.
    let binary = server.binary?;
    let missing: Vec<&str> =
        header.probes.iter().filter(|probe| !binary.has_probe(&header.provider, probe)).map(String::as_str).collect();
    if let Some(first) = missing.first() {
        return Some(if missing.len() == header.probes.len() && !binary.has_provider(&header.provider) {
            format!("needs static probes, and this build of the server has none of provider {}", header.provider)
        } else {
            format!("needs the static probe {}:::{first}, which this build of the server lacks", header.provider)
        });
    }
    let glob = header.functions.iter().find(|glob| !binary.has_function(glob))?;
    Some(format!("needs a function {glob}, which the server's symbols lack"))
}

fn remedy(obstacles: &[(&Form, String)], server: Option<&Server<'_>>) -> String {
    if server.is_none() {
        return String::new();
    }
    let needs_symbols = obstacles.iter().any(|(_, why)| why.contains("symbols"));
    let needs_probes = obstacles.iter().any(|(_, why)| why.contains("static probe"));
    match (needs_probes, needs_symbols) {
        (true, true) => "is this process the server, and not a wrapper? A server built with -DENABLE_DTRACE=1 has the probes, one that is not \
                         stripped of its symbols has the functions"
            .into(),
        (true, false) => "the probes are there if the server is built with -DENABLE_DTRACE=1 (MySQL removed them in 8.0)".into(),
        (false, true) => "is this process the server, and not a wrapper? Its binary must not be stripped of its symbols".into(),
        (false, false) => String::new(),
    }
}
