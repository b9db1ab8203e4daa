/*
 * query-on-cpu-pid-mysql.d - what statements did on the CPU, by their text and user stack, sampled
 *
 * GROUP    stacks
 * USAGE    dtrace -q -s query-on-cpu-pid-mysql.d -p PID
 *
 * NEEDS
 *   functions  _Z16dispatch_commandP3THDPK8COM_DATA*
 *   providers  profile
 *   target     yes
 *
 * OPTIONS
 *   --query TEXT     $$1            only statements that contain this text
 *   --rate HZ        profile-499    samples a second and CPU; 1..5000
 *   --depth N        qn_depth=64    frames kept of a stack; 1..127
 *   --interval TIME  tick-1d        print a cumulative pass that often; 1s..1d
 *
 * FIELDS
 *   query  text    the statement of the client, cut at 255 bytes
 *   stack  frames  what it was executing
 *   value  samples how often it was found there
 *
 * OUTPUT
 *   One aggregation, query_on_cpu. Samples outside of statements are left out.
 *
 * OVERHEAD
 *   Estimated: a few instructions a statement; the text of each is copied.
 *
 * SEE ALSO
 *   on-cpu (without the statements), query-off-cpu, query-phases
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* A stack for each text: 4 MB hold 6,000 rows, a busy server has more. */
#pragma D option aggsize=64m
/* A text for each thread. */
#pragma D option dynvarsize=16m

enum { qn_depth=64 };

self string qn_text;              /* text of the statement that runs */
self int qn_open;                 /* there is one */
uint64_t qn_pass;

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-on-cpu\t1\n");
	printf("# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n", walltimestamp, walltimestamp, $target);
}

/* COM_DATA begins with the address of the text; the answer overwrites the text, so it is copied at once. 3: sent as text. */
pid$target::_Z16dispatch_commandP3THDPK8COM_DATA*:entry
/arg2 == 3/
{
	self->qn_text = copyinstr(*(uint64_t *)copyin(arg1, 8));
	self->qn_open = 1;
}

/* 23: the execution of a prepared statement, whose text is not at hand. */
pid$target::_Z16dispatch_commandP3THDPK8COM_DATA*:entry
/arg2 == 23/
{
	self->qn_text = "(prepared statement)";
	self->qn_open = 1;
}

pid$target::_Z16dispatch_commandP3THDPK8COM_DATA*:return
/self->qn_open/
{
	self->qn_text = 0;
	self->qn_open = 0;
}

/* 499, not 500: not in step with anything that the server does each so many milliseconds. */
profile-499
/pid == $target && self->qn_open && ($$1 == "" || strstr(self->qn_text, $$1) != NULL)/
{
	@query_on_cpu[self->qn_text, ustack(qn_depth)] = count();
}

tick-1d
{
	qn_pass++;
	printf("# pass\t%d\t%d\tcumulative\n", qn_pass, walltimestamp);
	printf("# aggregation\tquery_on_cpu\tcount\tsamples\tquery:text\tstack:frames/%d\n", qn_depth);
	printa("%S\t%k%@d\n", @query_on_cpu);
	printf("# end\tquery_on_cpu\n");
}

END
{
	printf("# pass\t%d\t%d\tcumulative\n", qn_pass + 1, walltimestamp);
	printf("# aggregation\tquery_on_cpu\tcount\tsamples\tquery:text\tstack:frames/%d\n", qn_depth);
	printa("%S\t%k%@d\n", @query_on_cpu);
	printf("# end\tquery_on_cpu\n");
	printf("# stop\t%d\n", walltimestamp);
}
