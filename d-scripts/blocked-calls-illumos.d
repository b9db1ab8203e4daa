/*
 * blocked-calls-illumos.d - time inside system calls that can block, by call and user stack
 *
 * GROUP    waits
 * USAGE    dtrace -q -s blocked-calls-illumos.d -p PID
 *
 * NEEDS
 *   providers  syscall
 *   system     illumos
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

syscall::read:entry, syscall::readv:entry, syscall::pread:entry, syscall::preadv:entry, syscall::write:entry,
syscall::writev:entry, syscall::pwrite:entry, syscall::pwritev:entry, syscall::fdsync:entry,
syscall::pollsys:entry, syscall::portfs:entry, syscall::lwp_park:entry, syscall::lwp_mutex_timedlock:entry,
syscall::nanosleep:entry, syscall::recv:entry, syscall::recvfrom:entry, syscall::recvmsg:entry,
syscall::send:entry, syscall::sendto:entry, syscall::sendmsg:entry, syscall::accept:entry,
syscall::connect:entry, syscall::fcntl:entry, syscall::waitsys:entry
/pid == $target/
{
	self->bc_start = timestamp;
}

syscall::read:return, syscall::readv:return, syscall::pread:return, syscall::preadv:return,
syscall::write:return, syscall::writev:return, syscall::pwrite:return, syscall::pwritev:return,
syscall::fdsync:return, syscall::pollsys:return, syscall::portfs:return, syscall::lwp_park:return,
syscall::lwp_mutex_timedlock:return, syscall::nanosleep:return, syscall::recv:return,
syscall::recvfrom:return, syscall::recvmsg:return, syscall::send:return, syscall::sendto:return,
syscall::sendmsg:return, syscall::accept:return, syscall::connect:return, syscall::fcntl:return,
syscall::waitsys:return
/self->bc_start && timestamp - self->bc_start >= $1/
{
	@blocked_calls[probefunc, ustack(bc_depth)] = sum(timestamp - self->bc_start);
}

syscall::read:return, syscall::readv:return, syscall::pread:return, syscall::preadv:return,
syscall::write:return, syscall::writev:return, syscall::pwrite:return, syscall::pwritev:return,
syscall::fdsync:return, syscall::pollsys:return, syscall::portfs:return, syscall::lwp_park:return,
syscall::lwp_mutex_timedlock:return, syscall::nanosleep:return, syscall::recv:return,
syscall::recvfrom:return, syscall::recvmsg:return, syscall::send:return, syscall::sendto:return,
syscall::sendmsg:return, syscall::accept:return, syscall::connect:return, syscall::fcntl:return,
syscall::waitsys:return
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
