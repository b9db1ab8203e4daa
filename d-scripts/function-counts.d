/*
 * function-counts.d - how often functions of the server are called, and how long they take
 *
 * GROUP    system
 * USAGE    dtrace -q -s function-counts.d -p PID '*PATTERN*'
 *
 * NEEDS
 *   target     yes
 *
 * OPTIONS
 *   --function TEXT  $$1             names of functions, as `*dispatch_command*`: * ? [] stand for others; required
 *   --interval TIME  tick-1d         print a cumulative pass that often; 1s..1d
 *
 * FIELDS
 *   function  text   its name, mangled
 *   value            function_counts: count, calls. fc_time: ns, sum, with the functions that it calls
 *
 * OUTPUT
 *   Two aggregations with the same key, of the program and its libraries. A function that calls itself is timed from the
 *   outermost call.
 *
 * OVERHEAD
 *   Estimated: a breakpoint for each function that matches, two for each call: start with a narrow pattern.
 *   Above a thousand functions the start takes long, and a busy server is slowed down.
 *
 * SEE ALSO
 *   on-cpu, call-counts
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
/* Threads in a function, for each function. */
#pragma D option dynvarsize=16m

self uint64_t fc_start[string];
self int fc_depth[string];
uint64_t fc_pass;

BEGIN
{
	printf("# seatrace\t1\n# script\tfunction-counts\t1\n");
	printf("# start\t%d\t%Y\n# target\t%d\n", walltimestamp, walltimestamp, $target);
}

pid$target::$$1:entry
{
	@function_counts[probefunc] = count();
	self->fc_start[probefunc] = self->fc_depth[probefunc] ? self->fc_start[probefunc] : timestamp;
	self->fc_depth[probefunc]++;
}

pid$target::$$1:return
/self->fc_depth[probefunc]/
{
	self->fc_depth[probefunc]--;
}

pid$target::$$1:return
/self->fc_start[probefunc] && self->fc_depth[probefunc] == 0/
{
	@fc_time[probefunc] = sum(timestamp - self->fc_start[probefunc]);
	self->fc_start[probefunc] = 0;
	self->fc_depth[probefunc] = 0;
}

tick-1d
{
	fc_pass++;
	printf("# pass\t%d\t%d\tcumulative\n", fc_pass, walltimestamp);
	printf("# aggregation\tfunction_counts\tcount\tcount\tfunction:text\n");
	printa("%S\t%@d\n", @function_counts);
	printf("# end\tfunction_counts\n");
	printf("# aggregation\tfc_time\tsum\tns\tfunction:text\n");
	printa("%S\t%@d\n", @fc_time);
	printf("# end\tfc_time\n");
}

END
{
	printf("# pass\t%d\t%d\tcumulative\n", fc_pass + 1, walltimestamp);
	printf("# aggregation\tfunction_counts\tcount\tcount\tfunction:text\n");
	printa("%S\t%@d\n", @function_counts);
	printf("# end\tfunction_counts\n");
	printf("# aggregation\tfc_time\tsum\tns\tfunction:text\n");
	printa("%S\t%@d\n", @fc_time);
	printf("# end\tfc_time\n");
	printf("# stop\t%d\n", walltimestamp);
}
