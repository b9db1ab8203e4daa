/*
 * call-counts.d - how often a process makes which system call
 *
 * GROUP    system
 * USAGE    dtrace -q -s call-counts.d -p PID
 *
 * NEEDS
 *   providers  syscall
 *   system     linux
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
 *   Estimated: one probe a call. The list is named: with all of syscall::: a trace takes a minute to end on
 *   Linux.
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

syscall::read:entry, syscall::readv:entry, syscall::pread64:entry, syscall::preadv:entry,
syscall::write:entry, syscall::writev:entry, syscall::pwrite64:entry, syscall::pwritev:entry,
syscall::open*:entry, syscall::close:entry, syscall::fsync:entry, syscall::fdatasync:entry,
syscall::lseek:entry, syscall::*stat*:entry, syscall::mmap:entry, syscall::munmap:entry,
syscall::madvise:entry, syscall::futex:entry, syscall::*poll:entry, syscall::*select*:entry,
syscall::epoll_*wait*:entry, syscall::epoll_ctl:entry, syscall::recvfrom:entry, syscall::recvmsg:entry,
syscall::sendto:entry, syscall::sendmsg:entry, syscall::accept*:entry, syscall::connect:entry,
syscall::socket:entry, syscall::setsockopt:entry, syscall::ioctl:entry, syscall::fcntl:entry,
syscall::io_submit:entry, syscall::io_getevents:entry, syscall::io_uring_enter:entry,
syscall::*nanosleep:entry, syscall::sched_yield:entry, syscall::clone*:entry, syscall::unlink*:entry,
syscall::rename*:entry, syscall::ftruncate:entry, syscall::fallocate:entry
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
