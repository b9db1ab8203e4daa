/*
 * wakeups.d - who wakes the threads of a process, and from where
 *
 * GROUP    system
 * USAGE    dtrace -q -s wakeups.d -p PID
 *
 * NEEDS
 *   providers  sched
 *   target     yes
 *
 * OPTIONS
 *   --depth N        wk_depth=64     frames kept of a stack; 1..127
 *   --interval TIME  tick-1d         print a cumulative pass that often; 1s..1d
 *
 * FIELDS
 *   waker   text    name of the thread that woke (Linux), of the process (elsewhere)
 *   woken   int     id of the thread that was woken
 *   stack   frames  what the waker was executing
 *   value   count   wakeups
 *
 * OUTPUT
 *   Two aggregations: wakeups, by who woke whom; wk_stacks, where the waker belongs to the process: a lock
 *   given up, a condition signalled. A timer wakes from whichever thread it interrupts.
 *
 * OVERHEAD
 *   Estimated: one probe a wakeup of the whole system, a stack walk for each inside the process.
 *
 * SEE ALSO
 *   off-cpu, lock-waits
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
/* Thousands of stacks: the default of 4 MB a CPU loses rows on a busy server. */
#pragma D option aggsize=16m

enum { wk_depth=64 };

uint64_t wk_pass;

BEGIN
{
	printf("# seatrace\t1\n# script\twakeups\t1\n");
	printf("# start\t%d\t%Y\n# target\t%d\n", walltimestamp, walltimestamp, $target);
}

sched:::wakeup
/args[1]->pr_pid == $target/
{
	@wakeups[execname, (int64_t)args[0]->pr_lwpid] = count();
}

sched:::wakeup
/args[1]->pr_pid == $target && pid == $target/
{
	@wk_stacks[execname, ustack(wk_depth)] = count();
}

tick-1d
{
	wk_pass++;
	printf("# pass\t%d\t%d\tcumulative\n", wk_pass, walltimestamp);
	printf("# aggregation\twakeups\tcount\tcount\twaker:text\twoken:int\n");
	printa("%S\t%d\t%@d\n", @wakeups);
	printf("# end\twakeups\n");
	printf("# aggregation\twk_stacks\tcount\tcount\twaker:text\tstack:frames/%d\n", wk_depth);
	printa("%S\t%k%@d\n", @wk_stacks);
	printf("# end\twk_stacks\n");
}

END
{
	printf("# pass\t%d\t%d\tcumulative\n", wk_pass + 1, walltimestamp);
	printf("# aggregation\twakeups\tcount\tcount\twaker:text\twoken:int\n");
	printa("%S\t%d\t%@d\n", @wakeups);
	printf("# end\twakeups\n");
	printf("# aggregation\twk_stacks\tcount\tcount\twaker:text\tstack:frames/%d\n", wk_depth);
	printa("%S\t%k%@d\n", @wk_stacks);
	printf("# end\twk_stacks\n");
	printf("# stop\t%d\n", walltimestamp);
}
