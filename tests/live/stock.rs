//! A stock MariaDB of Debian, which has no static probes: the pid form is chosen, said, and sees what the clients did.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::dump::{near, rows, sum};
use crate::machine::{Machine, ROOT, Running, finish, stderr, stdout, syslibdir, wait_for, wait_for_probes};

/// A server with a data directory of its own.
pub struct Server {
    folder: tempfile::TempDir,
    pub running: Running,
}

impl Server {
    /// Starts one, or says why not.
    pub fn start() -> Option<Server> {
        if Command::new("mariadbd").arg("--version").output().is_err() {
            eprintln!("skipped: no mariadbd on this machine");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        fs::create_dir(&data).unwrap();
        for path in [folder.path(), &data] {
            assert!(Command::new("chown").arg("mysql").arg(path).status().unwrap().success());
        }
        let install = Command::new("mariadb-install-db")
            .args(["--no-defaults", "--user=mysql", "--auth-root-authentication-method=normal"])
            .arg(format!("--datadir={}", data.display()))
            .output()
            .unwrap();
        assert!(install.status.success(), "{}", stderr(&install));
        let running = Running::start(
            Command::new("mariadbd")
                .args(["--no-defaults", "--user=mysql", "--skip-networking"])
                .arg(format!("--datadir={}", data.display()))
                .arg(format!("--socket={}", folder.path().join("s").display()))
                .stdout(Stdio::null())
                .stderr(Stdio::null()),
        );
        let server = Server { folder, running };
        let begin = Instant::now();
        while !server.client("select 1").status.success() {
            assert!(begin.elapsed() < Duration::from_secs(60), "the server does not start");
            std::thread::sleep(Duration::from_millis(200));
        }
        Some(server)
    }

    /// Where clients connect.
    pub fn socket(&self) -> PathBuf {
        self.folder.path().join("s")
    }

    /// Runs statements in one connection, going on after errors.
    pub fn client(&self, statements: &str) -> Output {
        let mut command = Command::new("mariadb");
        command.args([
            "--no-defaults",
            "--force",
            "-uroot",
            "--comments",
            "--default-character-set=utf8mb4",
            "--socket",
        ]);
        command.arg(self.socket()).arg("-e").arg(statements).output().unwrap()
    }
}

/// Fields of a record of the dump: status, elapsed in ns, kind and text as they stand there.
pub fn queries(dump: &str) -> Vec<(i64, i64, String, String)> {
    let names = dump.lines().find(|line| line.starts_with("# record\tquery\t")).unwrap();
    let names: Vec<&str> = names.split('\t').skip(2).map(|name| name.split(':').next().unwrap()).collect();
    let records = dump.lines().filter(|line| line.starts_with("query\t"));
    let fields = records.map(|line| line.split('\t').skip(1).collect::<Vec<&str>>());
    fields
        .map(|fields| {
            let get = |name: &str| names.iter().position(|known| *known == name).map_or("0", |at| fields[at]);
            let text = |name: &str| get(name).trim_end_matches("\\0").to_owned();
            (get("status").parse().unwrap(), get("elapsed").parse().unwrap(), text("kind"), text("query"))
        })
        .collect()
}

#[test]
fn the_pid_form_sees_every_statement_once() {
    let Some(machine) = Machine::get() else { return };
    let Some(server) = Server::start() else { return };
    server.client("create database shop; create table shop.t (a int primary key, b varchar(100)); insert into shop.t values (1,'x')");
    let long = format!("select length('{}')", "y".repeat(10_000));
    let args = ["run", "query-time", "-p", &server.running.pid(), "--save", "saved", "-f", "log", "--wide", "--utc"];
    let out = fs::File::create(machine.path("out")).unwrap();
    let err = fs::File::create(machine.path("err")).unwrap();
    let mut trace = Running::start(machine.seatrace(&args).stdout(out).stderr(err));
    wait_for(&machine.path("saved.part"), "# record", Duration::from_secs(60));
    std::thread::sleep(Duration::from_millis(500));
    server.client("select sleep(0.2)");
    server.client("select 1,\n  'line two'");
    server.client("select 'Zürich', 'O\\'Neil', \"q\"");
    server.client(&long);
    server.client("selec nonsense");
    server.client("select * from shop.missing");
    server.client("prepare p from 'select a from shop.t where a = ?'; set @x = 1; execute p using @x");
    std::thread::sleep(Duration::from_secs(1));
    trace.signal("INT");
    assert_eq!(trace.wait(Duration::from_secs(200)), Some(0));
    let said = fs::read_to_string(machine.path("err")).unwrap();
    assert!(said.contains("query-time-pid.d runs, since query-time.d needs static probes"), "{said}");
    let dump = fs::read_to_string(machine.path("saved")).unwrap();
    let seen = queries(&dump);
    let one = |text: &str| {
        let found: Vec<_> = seen.iter().filter(|(.., query)| query.starts_with(text)).collect();
        assert_eq!(found.len(), 1, "{text}: {found:?} in {seen:?}");
        found[0].clone()
    };
    let (status, elapsed, kind, _) = one("select sleep(0.2)");
    assert!(status == 0 && kind == "direct" && (195_000_000..400_000_000).contains(&elapsed), "{elapsed}");
    assert_eq!(one("select 1,\\n  'line two'").0, 0);
    assert_eq!(one("select 'Z\\303\\274rich', 'O\\\\'Neil', \\\"q\\\"").0, 0);
    let cut = one("select length('yyy").3;
    assert!((900..=4096).contains(&cut.len()) && long.starts_with(&cut), "{} bytes", cut.len());
    assert_eq!(one("selec nonsense").0, 1064);
    assert_eq!(one("select * from shop.missing").0, 1146);
    // What was shown live is what replay shows.
    let replayed = finish(&mut machine.seatrace(&["replay", "saved", "-f", "log", "--wide", "--utc"]));
    assert_eq!(stdout(&replayed), fs::read_to_string(machine.path("out")).unwrap());
    assert!(stdout(&replayed).contains("select 'Zürich'"));
}

#[test]
fn sysbench_counts_what_we_count() {
    let Some(machine) = Machine::get() else { return };
    if Command::new("sysbench").arg("--version").output().is_err() {
        eprintln!("skipped: no sysbench on this machine");
        return;
    }
    let Some(server) = Server::start() else { return };
    server.client("create database sbtest");
    let sysbench = |mode: &str, action: &str| {
        let mut command = Command::new("sysbench");
        command.args(["oltp_read_write", "--tables=1", "--table-size=1000", "--threads=2", "--events=40", "--time=0"]);
        command.args(["--mysql-user=root", "--db-driver=mysql", &format!("--db-ps-mode={mode}")]);
        command.arg(format!("--mysql-socket={}", server.socket().display())).arg(action).output().unwrap()
    };
    assert!(sysbench("auto", "prepare").status.success());
    for mode in ["auto", "disable"] {
        let args = ["run", "query-time", "-p", &server.running.pid(), "--save", mode, "-f", "log"];
        let err = fs::File::create(machine.path("err")).unwrap();
        let mut trace = Running::start(machine.seatrace(&args).stdout(Stdio::null()).stderr(err));
        wait_for(&machine.path(&format!("{mode}.part")), "# record", Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(500));
        let output = sysbench(mode, "run");
        assert!(output.status.success(), "{}", stdout(&output));
        std::thread::sleep(Duration::from_secs(1));
        trace.signal("INT");
        assert_eq!(trace.wait(Duration::from_secs(200)), Some(0));
        let report = stdout(&output);
        let total = report.lines().find_map(|line| line.trim().strip_prefix("total:")).unwrap().trim();
        let seen = queries(&fs::read_to_string(machine.path(mode)).unwrap());
        // sysbench's driver also asks for settings of the session when a connection opens.
        let of_bench =
            |query: &str| query.contains("sbtest1") || matches!(query.to_uppercase().as_str(), "BEGIN" | "COMMIT");
        let (ours, others): (Vec<_>, Vec<_>) = seen.iter().partition(|(.., query)| of_bench(query));
        // With prepared statements each is also prepared once in each connection, which is no execution.
        let expected: usize = total.parse().unwrap();
        // A statement that ran into a conflict counts for us and not for sysbench, which begins its transaction anew.
        let failed = ours.iter().filter(|(status, ..)| *status != 0).count();
        let few: Vec<_> = others.iter().take(8).collect();
        assert_eq!(ours.len() - failed, expected, "{mode}: {failed} failed; beside them {}: {few:?}", others.len());
    }
}

#[test]
fn on_cpu_makes_a_flame_graph_with_names() {
    let Some(machine) = Machine::get() else { return };
    let Some(server) = Server::start() else { return };
    let socket = server.socket();
    let mut busy = Running::start(
        Command::new("mariadb")
            .args(["--no-defaults", "-uroot", "--socket"])
            .arg(socket)
            .args(["-e", "select benchmark(100000000000, md5('x'))"])
            .stdout(Stdio::null())
            .stderr(Stdio::null()),
    );
    let output =
        finish(&mut machine.seatrace(&["run", "on-cpu", "-p", &server.running.pid(), "-d", "5s", "-o", "x.svg"]));
    let _ = busy.0.kill();
    let _ = busy.0.wait();
    assert!(output.status.success(), "{}", stderr(&output));
    let picture = fs::read_to_string(machine.path("x.svg")).unwrap();
    assert!(picture.contains("do_command") && picture.contains("dispatch_command"), "{}", stderr(&output));
    assert!(!picture.contains("_Z10do_command"), "names are not demangled");
}

/// User and system time of a process, in ticks of 10 ms.
fn ticks(pid: &str) -> i64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    fields[11].parse::<i64>().unwrap() + fields[12].parse::<i64>().unwrap()
}

#[test]
fn query_on_cpu_names_the_statement() {
    let Some(machine) = Machine::get() else { return };
    let Some(server) = Server::start() else { return };
    let pid = server.running.pid();
    let args = ["run", "query-on-cpu", "-p", &pid, "--save", "saved", "-f", "json", "-q"];
    let mut trace = Running::start(machine.seatrace(&args).stdout(Stdio::null()));
    wait_for_probes(&trace.pid());
    let before = ticks(&pid);
    let statement = "select benchmark(90000000, rand() * 2)";
    assert!(server.client(statement).status.success());
    let cpu = ticks(&pid) - before;
    trace.signal("INT");
    assert_eq!(trace.wait(Duration::from_secs(200)), Some(0));
    let dump = fs::read_to_string(machine.path("saved")).unwrap();
    let rows = rows(&dump, "query_on_cpu");
    near(statement, sum(&rows, statement, ""), cpu * 499 / 100, 0.15, 20);
    assert!(sum(&rows, statement, "_ZN19Item_func_benchmark7val_intEv") > sum(&rows, "", "") / 2, "{dump}");
}

/// Forms that need sched:::on-cpu run in the virtual machine. Here they are compiled, with -Z, which lets that probe be missing.
#[test]
fn forms_of_the_virtual_machine_compile() {
    let Some(_machine) = Machine::get() else { return };
    let Some(server) = Server::start() else { return };
    for form in ["off-cpu", "query-off-cpu-pid", "wakeups"] {
        let output = Command::new("dtrace")
            .args(["-q", "-e", "-Z"])
            .args(syslibdir())
            .args(["-p", &server.running.pid(), "-s", &format!("{ROOT}/d-scripts/{form}.d")])
            .output()
            .unwrap();
        assert!(output.status.success(), "{form}: {}", stderr(&output));
    }
}
