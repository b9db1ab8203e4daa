//! Live traces with a real DTrace. They need root and libdtrace: `tests/machine/sid-root run target/debug/deps/live-…` has both; anywhere else
//! each test says why it is skipped.

#[cfg(target_os = "linux")]
mod doctor;
#[cfg(target_os = "linux")]
mod dump;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod fixture;
#[cfg(target_os = "linux")]
mod header;
#[cfg(target_os = "linux")]
mod machine;
#[cfg(target_os = "linux")]
mod mysql8;
#[cfg(target_os = "linux")]
mod planted;
#[cfg(target_os = "linux")]
mod report;
#[cfg(target_os = "linux")]
mod scripts_counts;
#[cfg(target_os = "linux")]
mod scripts_queries;
#[cfg(target_os = "linux")]
mod scripts_stacks;
#[cfg(target_os = "linux")]
mod stock;
#[cfg(target_os = "linux")]
mod vm;
