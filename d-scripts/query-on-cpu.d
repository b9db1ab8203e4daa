/*
 * query-on-cpu.d - what statements did on the CPU, by their text and user stack, sampled
 *
 * GROUP    stacks
 * USAGE    dtrace -q -s query-on-cpu.d -p PID
 *
 * NEEDS
 *   probes     mysql query-start query-exec-start query-exec-done query-done
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
 *   Estimated: a few instructions a statement; the text is read from the server where a sample is taken.
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

enum { qn_depth=64 };

self uint64_t qn_text;            /* address of the text of the statement that runs; 0: none */
self int qn_prepared;             /* it came without query-start */
self int qn_open;                 /* executions open inside it */
uint64_t qn_pass;

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-on-cpu\t1\n");
	printf("# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n", walltimestamp, walltimestamp, $target);
}

/* The text exists from here to query-done, or nearly: the server frees it just before. */
mysql$target:::query-start
{
	self->qn_text = arg0;
}

/* A prepared statement has no query-start. What runs inside it is its own. */
mysql$target:::query-exec-start
/!self->qn_text/
{
	self->qn_text = arg0;
	self->qn_open = 0;
	self->qn_prepared = 1;
}

mysql$target:::query-exec-start
/self->qn_prepared/
{
	self->qn_open++;
}

mysql$target:::query-exec-done
/self->qn_prepared/
{
	self->qn_open--;
}

mysql$target:::query-exec-done
/self->qn_prepared && self->qn_open == 0/
{
	self->qn_text = 0;
	self->qn_prepared = 0;
}

mysql$target:::query-done
{
	self->qn_text = 0;
	self->qn_prepared = 0;
	self->qn_open = 0;
}

/* 499, not 500: not in step with anything that the server does each so many milliseconds. */
profile-499
/pid == $target && self->qn_text && ($$1 == "" || strstr(copyinstr(self->qn_text), $$1) != NULL)/
{
	@query_on_cpu[copyinstr(self->qn_text), ustack(qn_depth)] = count();
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
