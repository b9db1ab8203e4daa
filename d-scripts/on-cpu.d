/*
 * on-cpu.d - what threads did on the CPU, by user stack, sampled
 *
 * GROUP    stacks
 * USAGE    dtrace -q -s on-cpu.d -p PID
 *
 * NEEDS
 *   providers  profile
 *   target     yes
 *
 * OPTIONS
 *   --rate HZ        profile-499    samples a second and CPU; 1..5000
 *   --depth N        onc_depth=64   frames kept of a stack; 1..127
 *   --interval TIME  tick-1d        print a cumulative pass that often; 1s..1d
 *
 * FIELDS
 *   thread  text    name of the thread (Linux), of the process (elsewhere)
 *   stack   frames  what it was executing
 *   value   samples how often it was found there
 *
 * OUTPUT
 *   One aggregation, on_cpu. Time inside the kernel is shown under the user stack that called it.
 *
 * OVERHEAD
 *   Estimated: one timer interrupt a sample and CPU, one stack walk where the process is found running.
 *
 * SEE ALSO
 *   query-on-cpu, off-cpu
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
/* Thousands of stacks: the default of 4 MB a CPU loses rows on a busy server. */
#pragma D option aggsize=16m

enum { onc_depth=64 };

uint64_t onc_pass;

BEGIN
{
	printf("# seatrace\t1\n# script\ton-cpu\t1\n");
	printf("# start\t%d\t%Y\n# target\t%d\n", walltimestamp, walltimestamp, $target);
}

/* 499, not 500: not in step with anything that the server does each so many milliseconds. */
profile-499
/pid == $target/
{
	@on_cpu[execname, ustack(onc_depth)] = count();
}

tick-1d
{
	onc_pass++;
	printf("# pass\t%d\t%d\tcumulative\n", onc_pass, walltimestamp);
	printf("# aggregation\ton_cpu\tcount\tsamples\tthread:text\tstack:frames/%d\n", onc_depth);
	printa("%S\t%k%@d\n", @on_cpu);
	printf("# end\ton_cpu\n");
}

END
{
	printf("# pass\t%d\t%d\tcumulative\n", onc_pass + 1, walltimestamp);
	printf("# aggregation\ton_cpu\tcount\tsamples\tthread:text\tstack:frames/%d\n", onc_depth);
	printa("%S\t%k%@d\n", @on_cpu);
	printf("# end\ton_cpu\n");
	printf("# stop\t%d\n", walltimestamp);
}
