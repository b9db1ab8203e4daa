/*
 * query-off-cpu.d - time that statements spent off the CPU, by their text and user stack
 *
 * GROUP    stacks
 * USAGE    dtrace -q -s query-off-cpu.d -p PID
 *
 * NEEDS
 *   probes     mysql query-start query-exec-start query-exec-done query-done
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
 *   As measured, emulated: a program that only switches made 0.20 of its round trips under it; see the page. Two
 *   probes a context switch and a wait for a condition; the text is read for each that is kept.
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
/* A start time for each thread that is off the CPU. */
#pragma D option dynvarsize=4m

enum { qf_depth=64 };

self uint64_t qf_text;            /* address of the text of the statement that runs; 0: none */
self int qf_prepared;             /* it came without query-start */
self int qf_open;                 /* executions open inside it */
self uint64_t qf_start;           /* when it left the CPU */
self int qf_call;                 /* it is in a call of the C library that waits */
self uint64_t qf_sum;             /* and was off the CPU that long in it */
uint64_t qf_pass;

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-off-cpu\t1\n");
	printf("# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n", walltimestamp, walltimestamp, $target);
}

/* The text exists from here to query-done, or nearly: the server frees it just before. */
mysql$target:::query-start
{
	self->qf_text = arg0;
}

/* A prepared statement has no query-start. What runs inside it is its own. */
mysql$target:::query-exec-start
/!self->qf_text/
{
	self->qf_text = arg0;
	self->qf_open = 0;
	self->qf_prepared = 1;
}

mysql$target:::query-exec-start
/self->qf_prepared/
{
	self->qf_open++;
}

mysql$target:::query-exec-done
/self->qf_prepared/
{
	self->qf_open--;
}

mysql$target:::query-exec-done
/self->qf_prepared && self->qf_open == 0/
{
	self->qf_text = 0;
	self->qf_prepared = 0;
}

mysql$target:::query-done
{
	self->qf_text = 0;
	self->qf_prepared = 0;
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
/self->qf_text && !self->qf_call/
{
	self->qf_call = 1;
	self->qf_sum = 0;
}

pid$target:lib*:pthread_cond_wait:return,
pid$target:lib*:pthread_cond_timedwait:return,
pid$target:lib*:pthread_cond_[cd]*:return,
pid$target:lib*:f*sync:return
/self->qf_call && self->qf_sum && self->qf_sum >= $1 && self->qf_text &&
    ($$2 == "" || strstr(copyinstr(self->qf_text), $$2) != NULL)/
{
	@query_off_cpu[copyinstr(self->qf_text), probefunc, ustack(qf_depth)] = sum(self->qf_sum);
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
/self->qf_text/
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
/self->qf_start && timestamp - self->qf_start >= $1 && self->qf_text &&
    ($$2 == "" || strstr(copyinstr(self->qf_text), $$2) != NULL)/
{
	@query_off_cpu[copyinstr(self->qf_text), "other", ustack(qf_depth)] = sum(timestamp - self->qf_start);
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
