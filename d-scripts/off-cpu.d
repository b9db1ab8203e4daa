/*
 * off-cpu.d - time that threads spent blocked, by user stack
 *
 * GROUP    stacks
 * USAGE    dtrace -q -s off-cpu.d -p PID
 *
 * NEEDS
 *   providers  sched
 *   system     linux illumos
 *   target     yes
 *
 * OPTIONS
 *   --min TIME       $1              only waits that took at least this long; 0s
 *   --depth N        ofc_depth=64    frames kept of a stack; 1..127
 *   --interval TIME  tick-1d         print a cumulative pass that often; 1s..1d
 *
 * FIELDS
 *   thread  text    name of the thread (Linux), of the process (elsewhere)
 *   stack   frames  where it blocked
 *   value   ns      sum of the waits that began and ended inside the trace
 *
 * OUTPUT
 *   One aggregation, off_cpu. A thread that was ready but had no CPU is not blocked and is left out; a wait
 *   that was in progress when the trace began or ended is not in the sum: a note counts those at the end.
 *
 * OVERHEAD
 *   As measured, emulated: a program that only switches made 0.26 of its round trips under it; see the page. Two
 *   probes a context switch of the whole system, a stack walk for each wait that is kept.
 *
 * SEE ALSO
 *   lock-waits (whole stacks where libc has no frame pointers), query-off-cpu, wakeups, on-cpu
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* Thousands of stacks: the default of 4 MB a CPU loses rows on a busy server. */
#pragma D option aggsize=16m
/* One start time for each blocked thread. */
#pragma D option dynvarsize=4m

enum { ofc_depth=64 };

self uint64_t ofc_start;          /* when it blocked */
self int ofc_call;                /* it is in a call of the C library that waits */
self uint64_t ofc_sum;            /* and was blocked that long in it */
uint64_t ofc_pass;

BEGIN
{
	printf("# seatrace\t1\n# script\toff-cpu\t1\n");
	printf("# start\t%d\t%Y\n# target\t%d\n", walltimestamp, walltimestamp, $target);
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
/!self->ofc_call/
{
	self->ofc_call = 1;
	self->ofc_sum = 0;
}

pid$target:lib*:pthread_cond_wait:return,
pid$target:lib*:pthread_cond_timedwait:return,
pid$target:lib*:pthread_cond_[cd]*:return,
pid$target:lib*:f*sync:return
/self->ofc_call && self->ofc_sum && self->ofc_sum >= $1/
{
	@off_cpu[execname, ustack(ofc_depth)] = sum(self->ofc_sum);
}

pid$target:lib*:pthread_cond_wait:return,
pid$target:lib*:pthread_cond_timedwait:return,
pid$target:lib*:pthread_cond_[cd]*:return,
pid$target:lib*:f*sync:return
/self->ofc_call/
{
	self->ofc_call = 0;
	self->ofc_sum = 0;
}

sched:::off-cpu
/pid == $target && curlwpsinfo->pr_state != SRUN/
{
	self->ofc_start = timestamp;
	@ofc_open = sum(1);
}

sched:::on-cpu
/self->ofc_start/
{
	@ofc_open = sum(-1);
}

sched:::on-cpu
/self->ofc_start && self->ofc_call/
{
	self->ofc_sum += timestamp - self->ofc_start;
	self->ofc_start = 0;
}

sched:::on-cpu
/self->ofc_start && timestamp - self->ofc_start >= $1/
{
	@off_cpu[execname, ustack(ofc_depth)] = sum(timestamp - self->ofc_start);
}

sched:::on-cpu
/self->ofc_start/
{
	self->ofc_start = 0;
}

tick-1d
{
	ofc_pass++;
	printf("# pass\t%d\t%d\tcumulative\n", ofc_pass, walltimestamp);
	printf("# aggregation\toff_cpu\tsum\tns\tthread:text\tstack:frames/%d\n", ofc_depth);
	printa("%S\t%k%@d\n", @off_cpu);
	printf("# end\toff_cpu\n");
}

END
{
	printf("# pass\t%d\t%d\tcumulative\n", ofc_pass + 1, walltimestamp);
	printf("# aggregation\toff_cpu\tsum\tns\tthread:text\tstack:frames/%d\n", ofc_depth);
	printa("%S\t%k%@d\n", @off_cpu);
	printf("# end\toff_cpu\n");
	printa("# note\t%@d waits were still in progress at the end and are not counted\n", @ofc_open);
	printf("# stop\t%d\n", walltimestamp);
}
