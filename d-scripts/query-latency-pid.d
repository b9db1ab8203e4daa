/*
 * query-latency-pid.d - how long statements take: distribution, count and total by database, user, command or text
 *
 * GROUP    queries
 * USAGE    dtrace -q -s query-latency-pid.d -p PID
 *
 * NEEDS
 *   functions  _Z17general_log_writeP3THD19enum_server_commandPK* _Z18log_slow_statementP3THD
 *   functions  _ZN7sp_head7executeEP3THD* _Z??mysql_sql_stmt_execute*P3THD
 *   target     yes
 *
 * OPTIONS
 *   --min TIME            $1    only statements that took at least this long; 0s
 *   --by command|query    $$2   what to tell apart; command
 *
 * FIELDS
 *   ql_time   quantize ns     time of the statements of each key
 *   ql_total  sum ns          their time together
 *   ql_count  count count     how many
 *   ql_max    max ns          the slowest
 *
 *   key       text            what --by says: first word of the text (- for none), text
 *
 * OUTPUT
 *   Four aggregations over the same key. A statement inside a routine counts as part of the CALL.
 *   User and database are not visible to this form. Of several statements sent at once each counts under
 *   the text of all. A prepared statement's time ends before its last packet is sent.
 *   Texts are cut at 255 bytes: longer ones that begin alike share a row.
 *
 * OVERHEAD
 *   Estimated: two probes a statement, no return probe; one key is copied for each.
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
self int ql_command;            /* 3: sent as text, 23: execution of a prepared statement */
self uint64_t ql_text_at;       /* address of its text in the server */
self int ql_nested;             /* routines that are open */
self int ql_execute;            /* inside EXECUTE */
self int ql_end;                /* it ends with this probe */

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-latency\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n",
	    walltimestamp, walltimestamp, $target);
}

/* The server calls this for each statement, whether or not it keeps a general log. */
pid$target::_Z17general_log_writeP3THD19enum_server_commandPK*:entry
/(arg1 == 3 || arg1 == 23) && self->ql_nested == 0 && !self->ql_execute/
{
	self->ql_start = timestamp;
	self->ql_command = arg1;
	self->ql_text_at = arg2;
}

/* EXECUTE as text logs what it executes too: only its own text and time count. */
pid$target::_Z??mysql_sql_stmt_execute*P3THD:entry
/self->ql_start && self->ql_nested == 0/
{
	self->ql_execute = 1;
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return
/self->ql_execute && self->ql_nested == 0/
{
	self->ql_execute = 0;
	self->ql_command = 23;
	self->ql_end = 1;
}

pid$target::_ZN7sp_head7executeEP3THD*:entry
{
	self->ql_nested++;
}

pid$target::_ZN7sp_head7executeEP3THD*:return
/self->ql_nested/
{
	self->ql_nested--;
}

/* Called at the end, while the text still exists. */
pid$target::_Z18log_slow_statementP3THD:entry
/self->ql_start && self->ql_nested == 0 && !self->ql_execute/
{
	self->ql_end = 1;
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return,
pid$target::_Z18log_slow_statementP3THD:entry
/self->ql_end && timestamp - self->ql_start >= $1/
{
	this->ql_key = $$2 == "query" ? copyinstr(self->ql_text_at) : strtok(strjoin(copyinstr(self->ql_text_at), " -"), " \t\n(;");
	@ql_time[this->ql_key] = quantize(timestamp - self->ql_start);
	@ql_total[this->ql_key] = sum(timestamp - self->ql_start);
	@ql_count[this->ql_key] = count();
	@ql_max[this->ql_key] = max(timestamp - self->ql_start);
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return,
pid$target::_Z18log_slow_statementP3THD:entry
/self->ql_end/
{
	/* Of several statements sent at once the next one starts where this one ends. */
	self->ql_start = self->ql_command == 3 ? timestamp : 0;
	self->ql_end = 0;
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return,
pid$target::_Z18log_slow_statementP3THD:entry
/self->ql_command == 23 && !self->ql_start/
{
	self->ql_command = 0;
	self->ql_text_at = 0;
}

END
{
	printf("# aggregation\tql_time\tquantize\tns\t%s:text\n",
	    $$2 == "query" ? "query" : "command");
	printa("%S\t%@d\n", @ql_time);
	printf("# end\tql_time\n");
	printf("# aggregation\tql_total\tsum\tns\t%s:text\n",
	    $$2 == "query" ? "query" : "command");
	printa("%S\t%@d\n", @ql_total);
	printf("# end\tql_total\n");
	printf("# aggregation\tql_count\tcount\tcount\t%s:text\n",
	    $$2 == "query" ? "query" : "command");
	printa("%S\t%@d\n", @ql_count);
	printf("# end\tql_count\n");
	printf("# aggregation\tql_max\tmax\tns\t%s:text\n",
	    $$2 == "query" ? "query" : "command");
	printa("%S\t%@d\n", @ql_max);
	printf("# end\tql_max\n");
	printf("# stop\t%d\n", walltimestamp);
}
