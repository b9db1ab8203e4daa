/*
 * query-blocked-calls.d - time of statements inside system calls that can block, by text, call and user stack
 *
 * GROUP    waits
 * USAGE    dtrace -q -s query-blocked-calls.d -p PID
 *
 * NEEDS
 *   probes     mysql query-start query-exec-start query-exec-done query-done
 *   providers  syscall
 *   system     linux
 *   target     yes
 *
 * OPTIONS
 *   --min TIME       $1             only calls that took at least this long; 0s
 *   --query TEXT     $$2            only statements that contain this text
 *   --depth N        qb_depth=64    frames kept of a stack; 1..127
 *   --interval TIME  tick-1d        print a cumulative pass that often; 1s..1d
 *
 * FIELDS
 *   query  text    the statement of the client, cut at 255 bytes
 *   call   text    name of the system call
 *   stack  frames  who called it
 *   value  ns      sum of the calls that began and ended inside the statement
 *
 * OUTPUT
 *   One aggregation, query_blocked_calls. A call counts from its entry to its return, whether it had to wait or
 *   not. A wait for a lock is a futex call.
 *
 * OVERHEAD
 *   Estimated: two probes a call of the whole system, a stack walk and a text for each inside a statement.
 *
 * SEE ALSO
 *   blocked-calls (all threads), lock-time (which lock), query-off-cpu (all time off the CPU)
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* A stack for each text: 4 MB hold 6,000 rows, a busy server has more. */
#pragma D option aggsize=64m
/* A start time for each thread that is in a call. */
#pragma D option dynvarsize=4m

enum { qb_depth=64 };

self uint64_t qb_text;            /* address of the text of the statement that runs; 0: none */
self int qb_prepared;             /* it came without query-start */
self int qb_open;                 /* executions open inside it */
self uint64_t qb_start;           /* when it called */
uint64_t qb_pass;

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-blocked-calls\t1\n");
	printf("# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n", walltimestamp, walltimestamp, $target);
}

/* The text exists from here to query-done, or nearly: the server frees it just before. */
mysql$target:::query-start
{
	self->qb_text = arg0;
}

/* A prepared statement has no query-start. What runs inside it is its own. */
mysql$target:::query-exec-start
/!self->qb_text/
{
	self->qb_text = arg0;
	self->qb_open = 0;
	self->qb_prepared = 1;
}

mysql$target:::query-exec-start
/self->qb_prepared/
{
	self->qb_open++;
}

mysql$target:::query-exec-done
/self->qb_prepared/
{
	self->qb_open--;
}

mysql$target:::query-exec-done
/self->qb_prepared && self->qb_open == 0/
{
	self->qb_text = 0;
	self->qb_prepared = 0;
}

mysql$target:::query-done
{
	self->qb_text = 0;
	self->qb_prepared = 0;
	self->qb_open = 0;
}

syscall::read:entry, syscall::readv:entry, syscall::pread64:entry, syscall::preadv:entry,
syscall::write:entry, syscall::writev:entry, syscall::pwrite64:entry, syscall::pwritev:entry,
syscall::fsync:entry, syscall::fdatasync:entry, syscall::futex:entry, syscall::*poll:entry,
syscall::*select*:entry, syscall::epoll_*wait*:entry, syscall::recvfrom:entry, syscall::recvmsg:entry,
syscall::sendto:entry, syscall::sendmsg:entry, syscall::accept*:entry, syscall::connect:entry,
syscall::io_getevents:entry, syscall::io_uring_enter:entry, syscall::nanosleep:entry,
syscall::clock_nanosleep:entry, syscall::flock:entry, syscall::fcntl:entry, syscall::wait4:entry
/self->qb_text/
{
	self->qb_start = timestamp;
}

syscall::read:return, syscall::readv:return, syscall::pread64:return, syscall::preadv:return,
syscall::write:return, syscall::writev:return, syscall::pwrite64:return, syscall::pwritev:return,
syscall::fsync:return, syscall::fdatasync:return, syscall::futex:return, syscall::*poll:return,
syscall::*select*:return, syscall::epoll_*wait*:return, syscall::recvfrom:return, syscall::recvmsg:return,
syscall::sendto:return, syscall::sendmsg:return, syscall::accept*:return, syscall::connect:return,
syscall::io_getevents:return, syscall::io_uring_enter:return, syscall::nanosleep:return,
syscall::clock_nanosleep:return, syscall::flock:return, syscall::fcntl:return, syscall::wait4:return
/self->qb_start && timestamp - self->qb_start >= $1 && self->qb_text &&
    ($$2 == "" || strstr(copyinstr(self->qb_text), $$2) != NULL)/
{
	@query_blocked_calls[copyinstr(self->qb_text), probefunc, ustack(qb_depth)] = sum(timestamp - self->qb_start);
}

syscall::read:return, syscall::readv:return, syscall::pread64:return, syscall::preadv:return,
syscall::write:return, syscall::writev:return, syscall::pwrite64:return, syscall::pwritev:return,
syscall::fsync:return, syscall::fdatasync:return, syscall::futex:return, syscall::*poll:return,
syscall::*select*:return, syscall::epoll_*wait*:return, syscall::recvfrom:return, syscall::recvmsg:return,
syscall::sendto:return, syscall::sendmsg:return, syscall::accept*:return, syscall::connect:return,
syscall::io_getevents:return, syscall::io_uring_enter:return, syscall::nanosleep:return,
syscall::clock_nanosleep:return, syscall::flock:return, syscall::fcntl:return, syscall::wait4:return
/self->qb_start/
{
	self->qb_start = 0;
}

tick-1d
{
	qb_pass++;
	printf("# pass\t%d\t%d\tcumulative\n", qb_pass, walltimestamp);
	printf("# aggregation\tquery_blocked_calls\tsum\tns\tquery:text\tcall:text\tstack:frames/%d\n", qb_depth);
	printa("%S\t%S\t%k%@d\n", @query_blocked_calls);
	printf("# end\tquery_blocked_calls\n");
}

END
{
	printf("# pass\t%d\t%d\tcumulative\n", qb_pass + 1, walltimestamp);
	printf("# aggregation\tquery_blocked_calls\tsum\tns\tquery:text\tcall:text\tstack:frames/%d\n", qb_depth);
	printa("%S\t%S\t%k%@d\n", @query_blocked_calls);
	printf("# end\tquery_blocked_calls\n");
	printf("# stop\t%d\n", walltimestamp);
}
