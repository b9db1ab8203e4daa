//! What a thread waited for, judged by the functions on its stack.

/// Parts of function names, and what a stack that holds one waits for; the first line that fits decides.
///
/// Functions of MariaDB 10.6 to 12 and MySQL 5.7 to 9, and of the C libraries below them.
const KINDS: &[(&str, &[&str])] = &[
    ("user lock", &["Item_func_get_lock"]),
    ("metadata lock", &["MDL_wait", "MDL_context::acquire_lock"]),
    ("row lock", &["lock_wait", "row_mysql_handle_errors"]),
    ("table lock", &["thr_lock", "thr_multi_lock", "wait_for_lock"]),
    ("sleep", &["Item_func_sleep", "my_sleep", "nanosleep"]),
    ("commit", &["log_write_up_to", "MYSQL_BIN_LOG", "trans_commit", "ha_commit"]),
    ("network", &["vio_", "net_read", "net_write", "recv", "poll"]),
    (
        "disk",
        &[
            "pread",
            "pwrite",
            "fsync",
            "fdatasync",
            "io_getevents",
            "io_uring",
            "os_file",
            "fil_io",
            "buf_read_page",
            "my_read",
            "my_write",
        ],
    ),
    ("lock in the server", &["mutex", "rwlock", "rw_lock", "srw_lock", "ssux_lock", "futex", "pthread_cond"]),
];

/// What stacks are called in which nothing of the kind is found.
const OTHER: &str = "other";

/// The kind of wait of a stack.
pub(super) fn of_stack<'a>(frames: impl Iterator<Item = &'a str> + Clone) -> &'static str {
    let fits = |parts: &[&str]| frames.clone().any(|frame| parts.iter().any(|part| frame.contains(part)));
    KINDS.iter().find(|(_, parts)| fits(parts)).map_or(OTHER, |(kind, _)| kind)
}
