/*
 * blocked-calls.d - time inside system calls that can block, by call and user stack
 *
 * GROUP    waits
 * USAGE    dtrace -q -s blocked-calls.d -p PID
 *
 * NEEDS
 *   providers  syscall
 *   system     linux
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
 *   query-blocked-calls (by statement), lock-time, off-cpu, lock-waits, file-latency, call-counts
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

syscall::read:entry, syscall::readv:entry, syscall::pread64:entry, syscall::preadv:entry,
syscall::write:entry, syscall::writev:entry, syscall::pwrite64:entry, syscall::pwritev:entry,
syscall::fsync:entry, syscall::fdatasync:entry, syscall::futex:entry, syscall::*poll:entry,
syscall::*select*:entry, syscall::epoll_*wait*:entry, syscall::recvfrom:entry, syscall::recvmsg:entry,
syscall::sendto:entry, syscall::sendmsg:entry, syscall::accept*:entry, syscall::connect:entry,
syscall::io_getevents:entry, syscall::io_uring_enter:entry, syscall::nanosleep:entry,
syscall::clock_nanosleep:entry, syscall::flock:entry, syscall::fcntl:entry, syscall::wait4:entry
/pid == $target/
{
	self->bc_start = timestamp;
}

syscall::read:return, syscall::readv:return, syscall::pread64:return, syscall::preadv:return,
syscall::write:return, syscall::writev:return, syscall::pwrite64:return, syscall::pwritev:return,
syscall::fsync:return, syscall::fdatasync:return, syscall::futex:return, syscall::*poll:return,
syscall::*select*:return, syscall::epoll_*wait*:return, syscall::recvfrom:return, syscall::recvmsg:return,
syscall::sendto:return, syscall::sendmsg:return, syscall::accept*:return, syscall::connect:return,
syscall::io_getevents:return, syscall::io_uring_enter:return, syscall::nanosleep:return,
syscall::clock_nanosleep:return, syscall::flock:return, syscall::fcntl:return, syscall::wait4:return
/self->bc_start && timestamp - self->bc_start >= $1/
{
	@blocked_calls[probefunc, ustack(bc_depth)] = sum(timestamp - self->bc_start);
}

syscall::read:return, syscall::readv:return, syscall::pread64:return, syscall::preadv:return,
syscall::write:return, syscall::writev:return, syscall::pwrite64:return, syscall::pwritev:return,
syscall::fsync:return, syscall::fdatasync:return, syscall::futex:return, syscall::*poll:return,
syscall::*select*:return, syscall::epoll_*wait*:return, syscall::recvfrom:return, syscall::recvmsg:return,
syscall::sendto:return, syscall::sendmsg:return, syscall::accept*:return, syscall::connect:return,
syscall::io_getevents:return, syscall::io_uring_enter:return, syscall::nanosleep:return,
syscall::clock_nanosleep:return, syscall::flock:return, syscall::fcntl:return, syscall::wait4:return
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
