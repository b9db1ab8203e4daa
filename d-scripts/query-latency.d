/*
 * query-latency.d - how long statements take: distribution, count and total by database, user, command or text
 *
 * GROUP    queries
 * USAGE    dtrace -q -s query-latency.d -p PID
 *
 * NEEDS
 *   probes     mysql query-start query-done query-exec-start query-exec-done
 *   target     yes
 *
 * OPTIONS
 *   --min TIME                                $1    only statements that took at least this long; 0s
 *   --by database|user|host|command|query     $$2   what to tell apart; database
 *   --user TEXT                               $$3   only statements of this user
 *   --db TEXT                                 $$4   only statements in this default database
 *
 * FIELDS
 *   ql_time   quantize ns     time of the statements of each key
 *   ql_total  sum ns          their time together
 *   ql_count  count count     how many
 *   ql_max    max ns          the slowest
 *
 *   key       text            what --by says: default database, user, host, first word of the text (- for none), text
 *
 * OUTPUT
 *   Four aggregations over the same key. A statement inside a routine counts as part of the CALL.
 *   Texts are cut at 255 bytes: longer ones that begin alike share a row.
 *
 * OVERHEAD
 *   Estimated: four probes a statement; one key is copied for each.
 *
 * SEE ALSO
 *   query-time for each statement, query-phases for where the time goes
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* A key of this size is copied for every statement. */
#pragma D option strsize=256
/* Room for some ten thousand texts; more are told as aggregation drops. */
#pragma D option aggsize=16m
#pragma D option dynvarsize=16m

self int64_t ql_start;          /* arrival of the client's statement; 0: none is open */
self int ql_other;              /* open without query-start: a prepared statement or an event's */
self int ql_depth;              /* its executions that are open, itself and those of routines */
self int ql_end;                /* it ends with this probe */
self string ql_key;             /* what it is counted under */

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-latency\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n",
	    walltimestamp, walltimestamp, $target);
}

/* A statement sent as text. The text is freed before query-done. */
mysql$target:::query-start
/($$3 == "" || (arg3 != 0 && copyinstr(arg3) == $$3)) && ($$4 == "" || (arg2 != 0 && copyinstr(arg2) == $$4))/
{
	self->ql_other = 0;
	self->ql_depth = 0;
	self->ql_start = timestamp;
	self->ql_key = $$2 == "user" ? (arg3 ? copyinstr(arg3) : "") : $$2 == "host" ? (arg4 ? copyinstr(arg4) : "") :
	    $$2 == "query" ? copyinstr(arg0) : $$2 == "command" ? strtok(strjoin(copyinstr(arg0), " -"), " \t\n(;") :
	    arg2 ? copyinstr(arg2) : "";
}

/* The execution of a prepared statement, or of an event's: no query-start belongs to it. */
mysql$target:::query-exec-start
/!self->ql_start && arg5 != 0 &&
    ($$3 == "" || (arg3 != 0 && copyinstr(arg3) == $$3)) && ($$4 == "" || (arg2 != 0 && copyinstr(arg2) == $$4))/
{
	self->ql_other = 1;
	self->ql_depth = 0;
	self->ql_start = timestamp;
	self->ql_key = $$2 == "user" ? (arg3 ? copyinstr(arg3) : "") : $$2 == "host" ? (arg4 ? copyinstr(arg4) : "") :
	    $$2 == "query" ? copyinstr(arg0) : $$2 == "command" ? strtok(strjoin(copyinstr(arg0), " -"), " \t\n(;") :
	    arg2 ? copyinstr(arg2) : "";
}

mysql$target:::query-exec-start
/self->ql_other/
{
	self->ql_depth++;
}

mysql$target:::query-exec-done
/self->ql_other/
{
	self->ql_depth--;
	self->ql_end = self->ql_depth == 0;
}

mysql$target:::query-done
/self->ql_start && !self->ql_other/
{
	self->ql_end = 1;
}

mysql$target:::query-exec-done,
mysql$target:::query-done
/self->ql_end && timestamp - self->ql_start >= $1/
{
	@ql_time[self->ql_key] = quantize(timestamp - self->ql_start);
	@ql_total[self->ql_key] = sum(timestamp - self->ql_start);
	@ql_count[self->ql_key] = count();
	@ql_max[self->ql_key] = max(timestamp - self->ql_start);
}

mysql$target:::query-exec-done,
mysql$target:::query-done
/self->ql_end/
{
	self->ql_start = 0;
	self->ql_other = 0;
	self->ql_depth = 0;
	self->ql_end = 0;
	self->ql_key = 0;
}

END
{
	printf("# aggregation\tql_time\tquantize\tns\t%s:text\n",
	    $$2 == "user" ? "user" : $$2 == "host" ? "host" : $$2 == "query" ? "query" : $$2 == "command" ? "command" : "database");
	printa("%S\t%@d\n", @ql_time);
	printf("# end\tql_time\n");
	printf("# aggregation\tql_total\tsum\tns\t%s:text\n",
	    $$2 == "user" ? "user" : $$2 == "host" ? "host" : $$2 == "query" ? "query" : $$2 == "command" ? "command" : "database");
	printa("%S\t%@d\n", @ql_total);
	printf("# end\tql_total\n");
	printf("# aggregation\tql_count\tcount\tcount\t%s:text\n",
	    $$2 == "user" ? "user" : $$2 == "host" ? "host" : $$2 == "query" ? "query" : $$2 == "command" ? "command" : "database");
	printa("%S\t%@d\n", @ql_count);
	printf("# end\tql_count\n");
	printf("# aggregation\tql_max\tmax\tns\t%s:text\n",
	    $$2 == "user" ? "user" : $$2 == "host" ? "host" : $$2 == "query" ? "query" : $$2 == "command" ? "command" : "database");
	printa("%S\t%@d\n", @ql_max);
	printf("# end\tql_max\n");
	printf("# stop\t%d\n", walltimestamp);
}
