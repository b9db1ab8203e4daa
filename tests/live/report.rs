//! `run report`: several scripts in one trace of a stock server with a lock and a sort made on purpose, and the page that is made of it.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use crate::machine::{Machine, Running, finish, stderr, wait_for};
use crate::stock::Server;

const TABLES: &str = "create database shop; use shop; create table stock (id int primary key, amount int); \
                      insert into stock select seq, 100 from seq_1_to_10; create table orders (id int primary key, note varchar(80)); \
                      insert into orders select seq, md5(seq) from seq_1_to_30000";
const HOLDER: &str = "lock tables shop.stock write; select sleep(2); unlock tables";
const WAITER: &str = "update shop.stock set amount = amount - 1 where id = 1";
const SORTER: &str = "select id, note from shop.orders order by note desc limit 20";

/// Runs the report while the lock and the sorts happen; what it said.
fn report(machine: &Machine, server: &Server, more: &[&str]) -> String {
    let pid = server.running.pid();
    let mut args = vec!["run", "report", "-p", &pid, "--save", "report.dump"];
    args.extend(more);
    let said = fs::File::create(machine.path("said")).unwrap();
    let mut trace = Running::start(machine.seatrace(&args).stdout(Stdio::null()).stderr(said));
    wait_for(&machine.path("report.dump.part"), "# record", Duration::from_secs(60));
    std::thread::sleep(Duration::from_secs(1));
    std::thread::scope(|scope| {
        scope.spawn(|| server.client(HOLDER));
        std::thread::sleep(Duration::from_millis(500));
        scope.spawn(|| server.client(WAITER));
        for _ in 0..20 {
            server.client(SORTER);
        }
    });
    std::thread::sleep(Duration::from_secs(1));
    trace.signal("INT");
    let status = trace.wait(Duration::from_secs(200));
    let said = fs::read_to_string(machine.path("said")).unwrap();
    assert_eq!(status, Some(0), "{said}");
    said
}

#[test]
fn a_lock_and_a_sort_are_found_in_one_page() {
    let Some(machine) = Machine::get() else { return };
    let Some(server) = Server::start() else { return };
    server.client(TABLES);
    let said = report(&machine, &server, &[]);
    assert!(
        said.contains("options of all scripts, the largest that one asks for: strsize=1024, aggsize=32m"),
        "{said}"
    );
    let dump = fs::read_to_string(machine.path("report.dump")).unwrap();
    for script in ["report", "query-time", "query-phases", "on-cpu"] {
        assert!(dump.contains(&format!("# script\t{script}\t1\n")), "{script}: {said}");
    }
    // Where the kernel cannot tell who leaves the CPU, that is said and system calls are there instead.
    let off_cpu = dump.contains("# script\toff-cpu\t");
    assert_ne!(off_cpu, said.contains("off-cpu is not in this trace"), "{said}");
    assert_ne!(off_cpu, dump.contains("# script\tblocked-calls\t"), "{said}");
    let count = |heading: &str| dump.lines().filter(|line| line.starts_with(heading)).count();
    assert_eq!((count("# seatrace\t1"), count("# stop\t")), (5, 5));
    assert_eq!(count("# strsize\t"), count("# strsize\t1024"), "one size for all");

    let page = fs::read_to_string(machine.path("report.html")).unwrap();
    let findings = page.split("What stands out").nth(1).unwrap().split("</ul>").next().unwrap();
    let of = |statement: &str| {
        let found = findings.lines().find(|line| line.contains(statement));
        found.unwrap_or_else(|| panic!("{statement} is not among the findings: {findings}")).to_owned()
    };
    assert!(of("update shop.stock set amount = amount - ? where id = ?").contains("waiting for a metadata lock"));
    assert!(of("select id, note from shop.orders order by note desc limit ?").contains("sorting (filesort)"));
    assert!(page.contains("No losses"), "{said}");

    // The page is that of the dump, byte for byte, whatever the dump is called.
    fs::rename(machine.path("report.dump"), machine.path("other.dump")).unwrap();
    let output = finish(&mut machine.seatrace(&["replay", "other.dump", "-o", "other.html"]));
    assert!(output.status.success(), "{}", stderr(&output));
    assert!(fs::read_to_string(machine.path("other.html")).unwrap() == page);
}

#[test]
fn the_system_s_own_dtrace_runs_all_scripts_too() {
    let Some(machine) = Machine::get() else { return };
    let Some(server) = Server::start() else { return };
    server.client(TABLES);
    let said = report(&machine, &server, &["--via", "dtrace", "-o", "by-command.html"]);
    let page = fs::read_to_string(machine.path("by-command.html")).unwrap();
    assert!(page.contains("waiting for a metadata lock") && page.contains("sorting (filesort)"), "{said}");
}
