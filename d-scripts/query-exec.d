/*
 * query-exec.d - kinds of execution, and what the query cache answers
 *
 * GROUP    queries
 * USAGE    dtrace -q -s query-exec.d -p PID
 *
 * NEEDS
 *   probes     mysql query-exec-start query-exec-done query-cache-hit query-cache-miss
 *   target     yes
 *
 * FIELDS
 *   kind      text            direct, prepared, cursor or routine (in a routine, trigger or event)
 *   database  text            default database
 *   qe_time   quantize ns     time of executions of each kind
 *   qe_total  sum ns          and kind and database: their time together
 *   qe_count  count count     how many
 *   qe_failed sum count       of them, those that failed
 *   outcome   text            hit or miss
 *   qe_cache  count count     statements that the query cache answered, and that it did not
 *
 * OUTPUT
 *   Five aggregations. The time of a CALL holds that of the statements in it.
 *
 * OVERHEAD
 *   Estimated: two probes for each execution, one for each look into the query cache.
 *
 * SEE ALSO
 *   query-time, statement-time
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
/* Keys of this size are copied. */
#pragma D option strsize=256

self int qe_level;              /* executions that are open: routines nest */
self int64_t qe_since[int];
self int qe_kind[int];
self uint64_t qe_db_at[int];    /* addresses of the names of their databases in the server */

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-exec\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n",
	    walltimestamp, walltimestamp, $target);
}

mysql$target:::query-exec-start
{
	self->qe_level++;
	self->qe_since[self->qe_level] = timestamp;
	self->qe_kind[self->qe_level] = arg5;
	self->qe_db_at[self->qe_level] = arg2;
}

mysql$target:::query-exec-done
/self->qe_level > 0/
{
	this->qe_name = self->qe_kind[self->qe_level] == 0 ? "direct" : self->qe_kind[self->qe_level] == 1 ? "prepared" :
	    self->qe_kind[self->qe_level] == 2 ? "cursor" : "routine";
	this->qe_ns = timestamp - self->qe_since[self->qe_level];
	this->qe_db = self->qe_db_at[self->qe_level] ? copyinstr(self->qe_db_at[self->qe_level]) : "";
	@qe_time[this->qe_name] = quantize(this->qe_ns);
	@qe_total[this->qe_name, this->qe_db] = sum(this->qe_ns);
	@qe_count[this->qe_name, this->qe_db] = count();
	@qe_failed[this->qe_name, this->qe_db] = sum(arg0 != 0);
	self->qe_since[self->qe_level] = 0;
	self->qe_kind[self->qe_level] = 0;
	self->qe_db_at[self->qe_level] = 0;
	self->qe_level--;
}

mysql$target:::query-cache-hit
{
	@qe_cache["hit"] = count();
}

mysql$target:::query-cache-miss
{
	@qe_cache["miss"] = count();
}

END
{
	printf("# aggregation\tqe_time\tquantize\tns\tkind:text\n");
	printa("%S\t%@d\n", @qe_time);
	printf("# end\tqe_time\n");
	printf("# aggregation\tqe_total\tsum\tns\tkind:text\tdatabase:text\n");
	printa("%S\t%S\t%@d\n", @qe_total);
	printf("# end\tqe_total\n");
	printf("# aggregation\tqe_count\tcount\tcount\tkind:text\tdatabase:text\n");
	printa("%S\t%S\t%@d\n", @qe_count);
	printf("# end\tqe_count\n");
	printf("# aggregation\tqe_failed\tsum\tcount\tkind:text\tdatabase:text\n");
	printa("%S\t%S\t%@d\n", @qe_failed);
	printf("# end\tqe_failed\n");
	printf("# aggregation\tqe_cache\tcount\tcount\toutcome:text\n");
	printa("%S\t%@d\n", @qe_cache);
	printf("# end\tqe_cache\n");
	printf("# stop\t%d\n", walltimestamp);
}
