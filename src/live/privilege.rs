//! Who we are, and for whom: a trace needs root, its results belong to the person who called.

use std::fs;
use std::path::PathBuf;

/// Whether this process may do anything.
pub fn is_root() -> bool {
    // SAFETY: only reads the id of the process.
    unsafe { libc::geteuid() == 0 }
}

/// User and group that called sudo, doas or pfexec; None if nobody did, or we are not root.
pub fn caller() -> Option<(u32, u32)> {
    if !is_root() {
        return None;
    }
    // SAFETY: only reads the ids of the process.
    let (user, group) = unsafe { (libc::getuid(), libc::getgid()) };
    // pfexec changes the effective id alone. sudo and doas change both, and say who called.
    if user != 0 {
        return Some((user, group));
    }
    let number = |name: &str| std::env::var(name).ok()?.parse::<u32>().ok();
    if let (Some(user), Some(group)) = (number("SUDO_UID"), number("SUDO_GID")) {
        return Some((user, group));
    }
    ids_of(&fs::read_to_string("/etc/passwd").ok()?, &std::env::var("DOAS_USER").ok()?)
}

/// Where files with D programs go. As root not where the environment says: whoever owns that folder could put another program there.
pub fn temporary_folder() -> PathBuf {
    if is_root() { PathBuf::from("/tmp") } else { std::env::temp_dir() }
}

/// User and group of a name in the text of /etc/passwd.
fn ids_of(passwd: &str, name: &str) -> Option<(u32, u32)> {
    let line = passwd.lines().find(|line| line.split(':').next() == Some(name))?;
    let mut fields = line.split(':').skip(2);
    Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_up() {
        let passwd = "root:x:0:0:root:/root:/bin/sh\nann:x:1000:1001:Ann:/home/ann:/bin/sh\n";
        assert_eq!(ids_of(passwd, "ann"), Some((1000, 1001)));
        assert_eq!(ids_of(passwd, "an"), None);
    }
}
