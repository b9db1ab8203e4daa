//! The rules themselves: a sound script passes, and each fault put into it is found.

use crate::program::Program;
use crate::rules::{Script, judge};

/// A script without fault; the table below breaks it.
const SOUND: &str = r##"/*
 * sound.d - what a script looks like
 *
 * GROUP    queries
 * USAGE    dtrace -q -s sound.d -p PID
 *
 * NEEDS
 *   probes     mysql query-start query-done
 *   providers  sched
 *   target     yes
 *
 * OPTIONS
 *   --min TIME       $1          only statements that took at least this long; 0s
 *   --interval TIME  tick-10s    time between passes; 1s..1h
 *
 * FIELDS
 *   elapsed  ns  its time
 *
 * OUTPUT
 *   Records.
 *
 * OVERHEAD
 *   Estimated: little.
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
#pragma D option strsize=1024

enum { sd_depth=64 };
self int64_t sd_start;
self string sd_text;

BEGIN
{
	printf("# seatrace\t1\n# script\tsound\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t1024\n",
	    walltimestamp, walltimestamp, $target);
	printf("# record\tquery\telapsed:ns\tkind:text\tquery:text\n");
}

mysql$target:::query-start
{
	self->sd_start = timestamp;
	self->sd_text = copyinstr(arg0);
}

sched:::off-cpu
/pid == $target/
{
	@sound[execname, ustack(sd_depth)] = count();
}

mysql$target:::query-done
/self->sd_start && timestamp - self->sd_start >= $1/
{
	printf("query\t%d\t%s\t%S\n", timestamp - self->sd_start, arg0 == 0 ? "good" : "bad", self->sd_text);
}

mysql$target:::query-done
{
	self->sd_start = 0;
	self->sd_text = 0;
}

tick-10s
{
	printf("# aggregation\tsound\tcount\tsamples\tname:text\tstack:frames/%d\n", sd_depth);
	printa("%S\t%k%@d\n", @sound);
	printf("# end\tsound\n");
}

END
{
	printf("# stop\t%d\n", walltimestamp);
}
"##;

fn complaints(source: &str) -> Vec<String> {
    match Program::parse(source) {
        Ok(program) => judge(&Script { form: "sound", name: "sound", source, program, systems: "MIFL".into() }),
        Err(wrong) => vec![wrong],
    }
}

#[test]
fn a_sound_script_passes() {
    assert_eq!(complaints(SOUND), Vec::<String>::new());
}

/// Old text, new text, and what is said of it.
const FAULTS: &[(&str, &str, &str)] = &[
    // What a system rejects.
    ("option strsize=1024", "option temporal", "refused on Linux"),
    ("option strsize=1024", "option stacksymbols", "refused on illumos, FreeBSD, Linux"),
    ("option strsize=1024", "option nosuch=1", "no Option"),
    ("option strsize=1024", "option zdefs", "must not run silently"),
    ("option strsize=1024", "option strsize=4096", "2048 at the most"),
    ("#pragma D option quiet\n", "", "option quiet"),
    ("#pragma D option defaultargs\n", "", "without `#pragma D option defaultargs`"),
    ("#pragma D option quiet", "#include <stdio.h>", "only `#pragma"),
    ("copyinstr(arg0)", "json(copyinstr(arg0), \"a\")", "json: refused on Linux"),
    ("copyinstr(arg0)", "toupper(copyinstr(arg0))", "toupper: refused on Linux"),
    ("copyinstr(arg0)", "nosuch(arg0)", "nosuch: no Function"),
    ("ustack(sd_depth)", "jstack()", "jstack: refused on Linux"),
    ("= count();", "= count(); system(\"id\");", "destructive"),
    ("[execname,", "[zonename,", "zonename: refused on FreeBSD, Linux"),
    ("[execname,", "[curpsinfo->pr_fname,", "pr_fname: refused on FreeBSD"),
    ("[execname,", "[nosuch,", "nosuch: no Variable"),
    ("= timestamp;", "= timestamp; if (arg0) { trace(1); }", "`if`: no statement"),
    ("= timestamp;", "= timestamp; // now", "// comment"),
    ("sched:::off-cpu", "sched:::preempt", "sched:preempt: refused on Linux"),
    ("sched:::off-cpu", "plockstat$target:::mutex-block", "plockstat: refused on FreeBSD, Linux"),
    ("sched:::off-cpu", "syscall:::entry", "every function"),
    ("sched:::off-cpu", "pid$target:::entry", "every function"),
    ("sched:::off-cpu", "pid$target::main:3a", "entry or return"),
    ("mysql$target:::query-start", "mysql*:::query-start", "needs $target"),
    ("mysql$target:::query-start", "mysql$target:::query-*", "a glob in a static probe's name"),
    ("tick-10s\n{", "tick-$2s\n{", "a literal number"),
    ("[execname, ustack", "[execname, pid, tid, uid, gid, ppid, ustack", "7 keys"),
    // What is lost or mixed up.
    (
        "@sound[execname, ustack(sd_depth)] = count();",
        "@sound[execname, ustack(sd_depth)] = count(); @sound[execname, ustack(1)] = sum(1);",
        "is count and sum",
    ),
    ("\tself->sd_text = 0;\n", "", "set and never cleared"),
    ("self string sd_text;\n", "", "not declared"),
    ("self string sd_text;", "self string sd_text; int ot_one;", "another prefix"),
    ("self string sd_text;", "self string sd_text; int x;", "no prefix"),
    ("self string sd_text;", "self string sd_text; int sd_by[int64_t, int];", "int64_t before another key"),
    ("@sound[", "@noise[", "neither the script's prefix nor its name"),
    (
        "\n{\n\tself->sd_start = timestamp;",
        "\n{\n\tprinta(\"%@d\\n\", @sound);\n\tself->sd_start = timestamp;",
        "used before it is collected",
    ),
    // What it prints.
    ("%s\\t%S\\n\"", "%s\\t%s\\n\"", "use %S"),
    ("%d\\t%s\\t%S", "%hhd\\t%s\\t%S", "%hh"),
    ("%d\\t%s\\t%S", "%d\\t%S", "2 values, 3 fields"),
    ("query\\t%d\\t%s", "other\\t%d\\t%s", "neither a heading nor a declared record"),
    ("elapsed:ns", "elapsed:hours", "no type"),
    ("name:text\\t", "name:text\\tuser:text\\t", "2 keys are printed, 3 are declared"),
    ("%S\\t%k%@d", "%d\\t%k%@d", "name:text is printed by %d"),
    ("\tprintf(\"# end\\tsound\\n\");\n", "", "no # end"),
    ("printa(\"%S\\t%k%@d\\n\", @sound)", "printa(@sound)", "without a format"),
    ("# script\\tsound", "# script\\tnoise", "BEGIN does not start"),
    ("# strsize\\t1024\\n", "", "no `# strsize"),
    ("# stop\\t%d\\n", "# end\\n", "END does not end"),
    (
        "walltimestamp, walltimestamp, $target);",
        "walltimestamp, walltimestamp, $target); trace(execname);",
        "which have no process",
    ),
    // What its header says.
    ("sound.d - what", "noise.d - what", "the first line"),
    ("GROUP    queries", "GROUP    things", "GROUP things"),
    (" * OVERHEAD\n *   Estimated: little.\n", "", "no section OVERHEAD"),
    ("Estimated: little.", "Little.", "begin with `Estimated: `"),
    ("Estimated: little.", "Little (measured).", "no line with the number"),
    (" * FIELDS\n *   elapsed  ns  its time\n *\n * OUTPUT\n", " * OUTPUT\n *\n * FIELDS\n", "OUTPUT stands too early"),
    ("-q -s sound.d", "-s noise.d", "USAGE"),
    ("query-start query-done\n", "query-start\n", "lacks query-done"),
    ("query-start query-done\n", "query-start query-done filesort-start\n", "does not use"),
    (" *   providers  sched\n", "", "providers lacks sched"),
    ("target     yes", "target     no", "uses $target"),
    ("$1          only", "$2          only", "$2 stands nowhere"),
    ("tick-10s    time", "tick-20s    time", "tick-20s stands nowhere"),
];

#[test]
fn each_fault_is_found() {
    for (old, new, said) in FAULTS {
        assert!(SOUND.contains(old), "the sound script has no {old}");
        let found = complaints(&SOUND.replacen(old, new, 1));
        assert!(found.iter().any(|complaint| complaint.contains(said)), "{old} -> {new}: {said} is not in {found:#?}");
    }
}
