/*
 * call-counts-macos.d - how often a process makes which system call
 *
 * GROUP    system
 * USAGE    dtrace -q -s call-counts-macos.d -p PID
 *
 * NEEDS
 *   providers  syscall
 *   system     macos
 *   target     yes
 *
 * OPTIONS
 *   --interval TIME  tick-1d         print a cumulative pass that often; 1s..1d
 *
 * FIELDS
 *   thread  text   name of the thread (Linux), of the process (elsewhere)
 *   call    text   name of the system call
 *   value   count  calls
 *
 * OUTPUT
 *   One aggregation, call_counts, of the calls that a database server makes; others are not seen.
 *
 * OVERHEAD
 *   Estimated: one probe a call.
 *
 * SEE ALSO
 *   blocked-calls (how long they take), function-counts
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet

uint64_t cc_pass;

BEGIN
{
	printf("# seatrace\t1\n# script\tcall-counts\t1\n");
	printf("# start\t%d\t%Y\n# target\t%d\n", walltimestamp, walltimestamp, $target);
}

syscall::read:entry, syscall::read_nocancel:entry, syscall::readv:entry, syscall::readv_nocancel:entry,
syscall::pread:entry, syscall::pread_nocancel:entry, syscall::write:entry, syscall::write_nocancel:entry,
syscall::writev:entry, syscall::writev_nocancel:entry, syscall::pwrite:entry, syscall::pwrite_nocancel:entry,
syscall::fsync:entry, syscall::fsync_nocancel:entry, syscall::fdatasync:entry, syscall::fcntl:entry,
syscall::fcntl_nocancel:entry, syscall::flock:entry, syscall::poll:entry, syscall::poll_nocancel:entry,
syscall::select:entry, syscall::select_nocancel:entry, syscall::kevent:entry, syscall::kevent64:entry,
syscall::recvfrom:entry, syscall::recvfrom_nocancel:entry, syscall::recvmsg:entry,
syscall::recvmsg_nocancel:entry, syscall::sendto:entry, syscall::sendto_nocancel:entry,
syscall::sendmsg:entry, syscall::sendmsg_nocancel:entry, syscall::accept:entry,
syscall::accept_nocancel:entry, syscall::connect:entry, syscall::connect_nocancel:entry,
syscall::psynch_mutexwait:entry, syscall::psynch_cvwait:entry, syscall::psynch_rw_rdlock:entry,
syscall::psynch_rw_wrlock:entry, syscall::ulock_wait:entry, syscall::__semwait_signal:entry,
syscall::__semwait_signal_nocancel:entry, syscall::wait4:entry, syscall::wait4_nocancel:entry,
syscall::open:entry, syscall::open_nocancel:entry, syscall::openat:entry, syscall::openat_nocancel:entry,
syscall::close:entry, syscall::close_nocancel:entry, syscall::lseek:entry, syscall::stat64:entry,
syscall::fstat64:entry, syscall::lstat64:entry, syscall::mmap:entry, syscall::munmap:entry,
syscall::madvise:entry, syscall::socket:entry, syscall::setsockopt:entry, syscall::ioctl:entry,
syscall::unlink:entry, syscall::rename:entry, syscall::ftruncate:entry, syscall::bsdthread_create:entry
/pid == $target/
{
	@call_counts[execname, probefunc] = count();
}

tick-1d
{
	cc_pass++;
	printf("# pass\t%d\t%d\tcumulative\n", cc_pass, walltimestamp);
	printf("# aggregation\tcall_counts\tcount\tcount\tthread:text\tcall:text\n");
	printa("%S\t%S\t%@d\n", @call_counts);
	printf("# end\tcall_counts\n");
}

END
{
	printf("# pass\t%d\t%d\tcumulative\n", cc_pass + 1, walltimestamp);
	printf("# aggregation\tcall_counts\tcount\tcount\tthread:text\tcall:text\n");
	printa("%S\t%S\t%@d\n", @call_counts);
	printf("# end\tcall_counts\n");
	printf("# stop\t%d\n", walltimestamp);
}
