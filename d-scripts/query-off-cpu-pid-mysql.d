/*
 * query-off-cpu-pid-mysql.d - time that statements spent off the CPU, by their text and user stack
 *
 * GROUP    stacks
 * USAGE    dtrace -q -s query-off-cpu-pid-mysql.d -p PID
 *
 * NEEDS
 *   functions  _Z16dispatch_commandP3THDPK8COM_DATA*
 *   providers  sched
 *   target     yes
 *
 * OPTIONS
 *   --min TIME       $1             only waits that took at least this long; 0s
 *   --query TEXT     $$2            only statements that contain this text
 *   --depth N        qf_depth=64    frames kept of a stack; 1..127
 *   --interval TIME  tick-1d        print a cumulative pass that often; 1s..1d
 *
 * FIELDS
 *   query  text    the statement of the client, cut at 255 bytes
 *   call   text    where it waited: a function of the C library that waits for a condition (pthread_cond_timedwait) or
 *                  for a file to be safe (fdatasync); other: anything else, also a CPU
 *   stack  frames  where it left the CPU
 *   value  ns      sum of the times that began and ended inside the statement
 *
 * OUTPUT
 *   One aggregation, query_off_cpu. All time off the CPU counts, also that of a thread that was ready but had no CPU.
 *
 * OVERHEAD
 *   Estimated: two probes a context switch and a wait for a condition; the text of each statement is copied.
 *
 * SEE ALSO
 *   off-cpu (without the statements), lock-waits, query-on-cpu, query-phases
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* A stack for each text: 4 MB hold 6,000 rows, a busy server has more. */
#pragma D option aggsize=64m
/* A text and a start time for each thread. */
#pragma D option dynvarsize=16m

enum { qf_depth=64 };

self string qf_text;              /* text of the statement that runs */
self int qf_open;                 /* there is one */
self uint64_t qf_start;           /* when it left the CPU */
self int qf_call;                 /* it is in a call of the C library that waits */
self uint64_t qf_sum;             /* and was off the CPU that long in it */
uint64_t qf_pass;

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-off-cpu\t1\n");
	printf("# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n", walltimestamp, walltimestamp, $target);
}

/* COM_DATA begins with the address of the text; the answer overwrites the text, so it is copied at once. 3: sent as text. */
pid$target::_Z16dispatch_commandP3THDPK8COM_DATA*:entry
/arg2 == 3/
{
	self->qf_text = copyinstr(*(uint64_t *)copyin(arg1, 8));
	self->qf_open = 1;
}

/* 23: the execution of a prepared statement, whose text is not at hand. */
pid$target::_Z16dispatch_commandP3THDPK8COM_DATA*:entry
/arg2 == 23/
{
	self->qf_text = "(prepared statement)";
	self->qf_open = 1;
}

pid$target::_Z16dispatch_commandP3THDPK8COM_DATA*:return
/self->qf_open/
{
	self->qf_text = 0;
	self->qf_open = 0;
}

/*
 * The C library of Linux has no frame pointers: a stack taken inside these calls ends there. Their time is kept until they
 * return, and given to the stack of the caller. By name where there are two versions of a function (glibc); [cd]*: clockwait,
 * where there is one, and destroy, so that the glob finds something everywhere.
 */
pid$target:lib*:pthread_cond_wait:entry,
pid$target:lib*:pthread_cond_timedwait:entry,
pid$target:lib*:pthread_cond_[cd]*:entry,
pid$target:lib*:f*sync:entry
/self->qf_open && !self->qf_call/
{
	self->qf_call = 1;
	self->qf_sum = 0;
}

pid$target:lib*:pthread_cond_wait:return,
pid$target:lib*:pthread_cond_timedwait:return,
pid$target:lib*:pthread_cond_[cd]*:return,
pid$target:lib*:f*sync:return
/self->qf_call && self->qf_sum && self->qf_sum >= $1 && self->qf_open &&
    ($$2 == "" || strstr(self->qf_text, $$2) != NULL)/
{
	@query_off_cpu[self->qf_text, probefunc, ustack(qf_depth)] = sum(self->qf_sum);
}

pid$target:lib*:pthread_cond_wait:return,
pid$target:lib*:pthread_cond_timedwait:return,
pid$target:lib*:pthread_cond_[cd]*:return,
pid$target:lib*:f*sync:return
/self->qf_call/
{
	self->qf_call = 0;
	self->qf_sum = 0;
}

sched:::off-cpu
/self->qf_open/
{
	self->qf_start = timestamp;
}

sched:::on-cpu
/self->qf_start && self->qf_call/
{
	self->qf_sum += timestamp - self->qf_start;
	self->qf_start = 0;
}

sched:::on-cpu
/self->qf_start && timestamp - self->qf_start >= $1 && self->qf_open &&
    ($$2 == "" || strstr(self->qf_text, $$2) != NULL)/
{
	@query_off_cpu[self->qf_text, "other", ustack(qf_depth)] = sum(timestamp - self->qf_start);
}

sched:::on-cpu
/self->qf_start/
{
	self->qf_start = 0;
}

tick-1d
{
	qf_pass++;
	printf("# pass\t%d\t%d\tcumulative\n", qf_pass, walltimestamp);
	printf("# aggregation\tquery_off_cpu\tsum\tns\tquery:text\tcall:text\tstack:frames/%d\n", qf_depth);
	printa("%S\t%S\t%k%@d\n", @query_off_cpu);
	printf("# end\tquery_off_cpu\n");
}

END
{
	printf("# pass\t%d\t%d\tcumulative\n", qf_pass + 1, walltimestamp);
	printf("# aggregation\tquery_off_cpu\tsum\tns\tquery:text\tcall:text\tstack:frames/%d\n", qf_depth);
	printa("%S\t%S\t%k%@d\n", @query_off_cpu);
	printf("# end\tquery_off_cpu\n");
	printf("# stop\t%d\n", walltimestamp);
}
