//! No value of an option becomes D: texts go beside the program as macro arguments, everything else is a checked number or word.

use std::process::Command;

use seatrace::scripts::{self, OptionKind, Token as Place};

use crate::program;

/// Values that would be D, or end a string, a predicate, a clause or a comment, if they stood in the program.
const HOSTILE: &[&str] = &[
    "x\" || 1/ { system(\"touch pwned\"); } BEGIN /\"",
    "'; } BEGIN { exit(9); }",
    "a'b\"c",
    "line\nBEGIN { exit(9); }\n",
    "*/ BEGIN { exit(9); } /*",
    "$target",
    "$$1",
    "%s%n",
    "\\",
    "\\\" } BEGIN {",
    "",
];

/// Values that no number is.
const NO_NUMBERS: &[&str] =
    &["1; exit(9)", "1/{}", "0x10", "-1", "+1", "1e3s;", "1s}", "64, 1", "9999999999999999999999", "1 2"];

#[test]
fn texts_never_enter_the_program() {
    for form in scripts::all().iter().flat_map(|script| &script.forms) {
        for option in form.header.options.iter().filter(|option| option.kind == OptionKind::Text) {
            let Place::Text(number) = option.token else {
                panic!("{}: --{} is a text in the program", form.name, option.name)
            };
            for value in HOSTILE {
                let program = scripts::prepare(form, &[(option.name.clone(), (*value).to_owned())]).unwrap();
                assert_eq!(program.text, form.text, "{}: --{} {value:?}", form.name, option.name);
                assert_eq!(program.args[number - 1], *value, "{}: --{}", form.name, option.name);
            }
        }
    }
}

#[test]
fn numbers_and_words_are_checked() {
    let mut tried = 0;
    for form in scripts::all().iter().flat_map(|script| &script.forms) {
        for option in form.header.options.iter().filter(|option| option.kind != OptionKind::Text) {
            for value in HOSTILE.iter().chain(NO_NUMBERS) {
                tried += 1;
                let result = scripts::prepare(form, &[(option.name.clone(), (*value).to_owned())]);
                let error = result
                    .err()
                    .unwrap_or_else(|| panic!("{}: --{} {value:?} is taken", form.name, option.name))
                    .to_string();
                assert!(error.contains(&format!("--{}", option.name)), "{error}");
            }
        }
    }
    assert!(tried > 0);
}

/// A value that is taken changes numbers only: the words of the program stay, in their order.
#[test]
fn constants_change_nothing_but_numbers() {
    let without_numbers = |text: &str| -> Vec<String> {
        let comment_end = text.find("*/").map_or(0, |at| at + 2);
        let program = program::Program::parse(text).unwrap();
        let tokens = program.declarations.iter().flatten().chain(program.tokens()).map(|token| token.text.clone());
        assert!(comment_end > 0);
        // `tick-10s` becomes `tick-10000ms`; digits inside names stay.
        tokens.filter(|token| !token.starts_with(|c: char| c.is_ascii_digit())).collect()
    };
    for form in scripts::all().iter().flat_map(|script| &script.forms) {
        for option in form.header.options.iter().filter(|option| matches!(option.token, Place::Constant(..))) {
            let value = match option.kind {
                OptionKind::Time => "7s",
                OptionKind::Size => "1m",
                _ => "7",
            };
            let Ok(program) = scripts::prepare(form, &[(option.name.clone(), value.to_owned())]) else { continue };
            assert_ne!(program.text, form.text, "{}: --{} {value} changes nothing", form.name, option.name);
            let (old, new) = (without_numbers(form.text), without_numbers(&program.text));
            let differing: Vec<_> = old.iter().zip(&new).filter(|(old, new)| old != new).collect();
            let only_texts = differing.iter().all(|(old, new)| old.starts_with('"') && new.starts_with('"'));
            assert!(old.len() == new.len() && only_texts, "{}: --{}: {differing:?}", form.name, option.name);
        }
    }
}

/// The command line: a hostile text is shown as an argument and the program is the bundled one; a hostile number is a usage error.
#[test]
fn the_command_line_keeps_values_apart() {
    let seatrace = |words: &[&str]| Command::new(env!("CARGO_BIN_EXE_seatrace")).args(words).output().unwrap();
    let script = scripts::by_name("query-time").unwrap().main_form().unwrap();
    for verb in [&["scripts", "query-time", "--print"][..], &["run", "query-time", "--print"]] {
        for value in HOSTILE {
            let output = seatrace(&[verb, &["--user", value]].concat());
            assert_eq!(String::from_utf8_lossy(&output.stdout), script.text, "{verb:?} --user {value:?}");
            // It does reach the program, as its second argument.
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(said.contains(&format!("arguments: \"0\" {value:?}")), "{verb:?} --user {value:?}: {said}");
        }
        let said = String::from_utf8_lossy(&seatrace(&[verb, &["--min", "10ms"]].concat()).stderr).into_owned();
        assert!(said.contains("arguments: \"10000000\""), "{verb:?} --min: {said}");
        for value in NO_NUMBERS {
            let output = seatrace(&[verb, &[&format!("--min={value}")]].concat());
            assert_eq!(output.status.code(), Some(2), "{verb:?} --min={value:?}");
            assert!(output.stdout.is_empty() && String::from_utf8_lossy(&output.stderr).contains("--min"), "{value:?}");
        }
    }
}

/// `function-counts` probes what the user names: something, and not everything.
#[test]
fn patterns_of_functions_are_checked_before_the_start() {
    let pid = std::process::id().to_string();
    let said = |more: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_seatrace"))
            .args(["run", "function-counts", "-p", &pid])
            .args(more)
            .output()
            .unwrap();
        assert!(!output.status.success());
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(said(&[]).contains("function-counts needs --function TEXT"), "{}", said(&[]));
    // This test's own executable has thousands.
    let everything = said(&["--function", "*"]);
    assert!(
        everything.contains("functions of the server, and more than 1000") && everything.contains("narrower pattern")
    );
}
