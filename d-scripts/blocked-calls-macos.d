/*
 * blocked-calls-macos.d - time inside system calls that can block, by call and user stack
 *
 * GROUP    waits
 * USAGE    dtrace -q -s blocked-calls-macos.d -p PID
 *
 * NEEDS
 *   providers  syscall
 *   system     macos
 *   target     yes
 *
 * OPTIONS
 *   --min TIME       $1              only calls that took at least this long; 0s
 *   --depth N        bc_depth=64     frames kept of a stack; 1..127
 *   --interval TIME  tick-1d         print a cumulative pass that often; 1s..1d
 *
 * FIELDS
 *   call    text    name of the system call
 *   stack   frames  who called it
 *   value   ns      sum of the calls that began and ended inside the trace
 *
 * OUTPUT
 *   One aggregation, blocked_calls. A call counts from its entry to its return, whether it had to wait or not.
 *
 * OVERHEAD
 *   Estimated: two probes and a stack walk a call. The list is named: with all of syscall::: a trace takes a
 *   minute to end on Linux (measured, see the page).
 *
 * SEE ALSO
 *   off-cpu, lock-waits, file-latency, call-counts
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* Thousands of stacks: the default of 4 MB a CPU loses rows on a busy server. */
#pragma D option aggsize=16m
/* A start time for each thread that is in a call. */
#pragma D option dynvarsize=4m

enum { bc_depth=64 };

self uint64_t bc_start;
uint64_t bc_pass;

BEGIN
{
	printf("# seatrace\t1\n# script\tblocked-calls\t1\n");
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
syscall::__semwait_signal_nocancel:entry, syscall::wait4:entry, syscall::wait4_nocancel:entry
/pid == $target/
{
	self->bc_start = timestamp;
}

syscall::read:return, syscall::read_nocancel:return, syscall::readv:return, syscall::readv_nocancel:return,
syscall::pread:return, syscall::pread_nocancel:return, syscall::write:return, syscall::write_nocancel:return,
syscall::writev:return, syscall::writev_nocancel:return, syscall::pwrite:return,
syscall::pwrite_nocancel:return, syscall::fsync:return, syscall::fsync_nocancel:return,
syscall::fdatasync:return, syscall::fcntl:return, syscall::fcntl_nocancel:return, syscall::flock:return,
syscall::poll:return, syscall::poll_nocancel:return, syscall::select:return, syscall::select_nocancel:return,
syscall::kevent:return, syscall::kevent64:return, syscall::recvfrom:return, syscall::recvfrom_nocancel:return,
syscall::recvmsg:return, syscall::recvmsg_nocancel:return, syscall::sendto:return,
syscall::sendto_nocancel:return, syscall::sendmsg:return, syscall::sendmsg_nocancel:return,
syscall::accept:return, syscall::accept_nocancel:return, syscall::connect:return,
syscall::connect_nocancel:return, syscall::psynch_mutexwait:return, syscall::psynch_cvwait:return,
syscall::psynch_rw_rdlock:return, syscall::psynch_rw_wrlock:return, syscall::ulock_wait:return,
syscall::__semwait_signal:return, syscall::__semwait_signal_nocancel:return, syscall::wait4:return,
syscall::wait4_nocancel:return
/self->bc_start && timestamp - self->bc_start >= $1/
{
	@blocked_calls[probefunc, ustack(bc_depth)] = sum(timestamp - self->bc_start);
}

syscall::read:return, syscall::read_nocancel:return, syscall::readv:return, syscall::readv_nocancel:return,
syscall::pread:return, syscall::pread_nocancel:return, syscall::write:return, syscall::write_nocancel:return,
syscall::writev:return, syscall::writev_nocancel:return, syscall::pwrite:return,
syscall::pwrite_nocancel:return, syscall::fsync:return, syscall::fsync_nocancel:return,
syscall::fdatasync:return, syscall::fcntl:return, syscall::fcntl_nocancel:return, syscall::flock:return,
syscall::poll:return, syscall::poll_nocancel:return, syscall::select:return, syscall::select_nocancel:return,
syscall::kevent:return, syscall::kevent64:return, syscall::recvfrom:return, syscall::recvfrom_nocancel:return,
syscall::recvmsg:return, syscall::recvmsg_nocancel:return, syscall::sendto:return,
syscall::sendto_nocancel:return, syscall::sendmsg:return, syscall::sendmsg_nocancel:return,
syscall::accept:return, syscall::accept_nocancel:return, syscall::connect:return,
syscall::connect_nocancel:return, syscall::psynch_mutexwait:return, syscall::psynch_cvwait:return,
syscall::psynch_rw_rdlock:return, syscall::psynch_rw_wrlock:return, syscall::ulock_wait:return,
syscall::__semwait_signal:return, syscall::__semwait_signal_nocancel:return, syscall::wait4:return,
syscall::wait4_nocancel:return
/self->bc_start/
{
	self->bc_start = 0;
}

tick-1d
{
	bc_pass++;
	printf("# pass\t%d\t%d\tcumulative\n", bc_pass, walltimestamp);
	printf("# aggregation\tblocked_calls\tsum\tns\tcall:text\tstack:frames/%d\n", bc_depth);
	printa("%S\t%k%@d\n", @blocked_calls);
	printf("# end\tblocked_calls\n");
}

END
{
	printf("# pass\t%d\t%d\tcumulative\n", bc_pass + 1, walltimestamp);
	printf("# aggregation\tblocked_calls\tsum\tns\tcall:text\tstack:frames/%d\n", bc_depth);
	printa("%S\t%k%@d\n", @blocked_calls);
	printf("# end\tblocked_calls\n");
	printf("# stop\t%d\n", walltimestamp);
}
