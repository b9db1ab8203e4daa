/*
 * query-sort-pid.d - sorts (filesort) by statement: time, count and rows
 *
 * GROUP    queries
 * USAGE    dtrace -q -s query-sort-pid.d -p PID
 *
 * NEEDS
 *   functions  _Z16dispatch_command19enum_server_commandP3THDP*
 *   functions  _Z17general_log_writeP3THD19enum_server_commandPK* _Z18log_slow_statementP3THD
 *   functions  _ZN7sp_head7executeEP3THD* _Z??mysql_sql_stmt_execute*P3THD
 *   functions  _Z8filesortP3THDP5TABLEP8FilesortP*
 *   target     yes
 *
 * OPTIONS
 *   --min TIME     $1    only sorts that took at least this long; 0s
 *   --rows-at N    $2    where the server's Filesort_tracker counts examined rows; 56
 *
 * FIELDS
 *   query      text         text of the client's statement
 *   qs_total   sum ns       time spent sorting
 *   qs_count   count count  sorts
 *   qs_max     max ns       the slowest
 *   qs_rows    sum rows     rows that went in
 *   qs_time    quantize ns  time of all sorts
 *
 * OUTPUT
 *   Four aggregations over the same keys and one distribution. A sort inside a routine counts under the
 *   CALL. The time of a sort holds the reading of the rows that are sorted.
 *   Database and table are not visible to this form. The number of rows is read from the Filesort_tracker
 *   of the server at a byte that MariaDB 11.8 has it at; --rows-at gives another.
 *   Texts are cut at 255 bytes.
 *
 * OVERHEAD
 *   Estimated: three probes a statement and two a sort; only a sort copies texts.
 *
 * SEE ALSO
 *   query-phases, which shows a sort as a part of its statement
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* A key of this size is copied for every sort. */
#pragma D option strsize=256
/* Room for some ten thousand texts; more are told as aggregation drops. */
#pragma D option aggsize=16m

self int64_t qs_start;          /* arrival of the client's statement; 0: none is open */
self int qs_command;            /* 3: sent as text, 23: execution of a prepared statement */
self uint64_t qs_text_at;       /* address of its text in the server */
self int qs_nested;             /* routines that are open */
self int qs_execute;            /* inside EXECUTE */
self int qs_end;                /* it ends with this probe */
self int64_t qs_sort;           /* start of a sort */
self uint64_t qs_tracker;       /* address of its counter of rows, and what it held before */
self uint64_t qs_before;
self int qs_no_tracker;

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-sort\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n",
	    walltimestamp, walltimestamp, $target);
}

/* A command arrives: nothing is open, whatever the last one left. */
pid$target::_Z16dispatch_command19enum_server_commandP3THDP*:entry
/self->qs_start/
{
	self->qs_start = 0;
}

/* The server calls this for each statement, whether or not it keeps a general log. */
pid$target::_Z17general_log_writeP3THD19enum_server_commandPK*:entry
/(arg1 == 3 || arg1 == 23) && self->qs_nested == 0 && !self->qs_execute/
{
	self->qs_start = timestamp;
	self->qs_command = arg1;
	self->qs_text_at = arg2;
}

/* EXECUTE as text logs what it executes too: only its own text and time count. */
pid$target::_Z??mysql_sql_stmt_execute*P3THD:entry
/self->qs_start && self->qs_nested == 0/
{
	self->qs_execute = 1;
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return
/self->qs_execute && self->qs_nested == 0/
{
	self->qs_execute = 0;
	self->qs_command = 23;
	self->qs_end = 1;
}

pid$target::_ZN7sp_head7executeEP3THD*:entry
{
	self->qs_nested++;
}

pid$target::_ZN7sp_head7executeEP3THD*:return
/self->qs_nested/
{
	self->qs_nested--;
}

/* Called at the end, while the text still exists. */
pid$target::_Z18log_slow_statementP3THD:entry
/self->qs_start && self->qs_nested == 0 && !self->qs_execute/
{
	self->qs_end = 1;
}

pid$target::_Z8filesortP3THDP5TABLEP8FilesortP*:entry
/self->qs_start/
{
	self->qs_sort = timestamp;
	self->qs_tracker = arg3 + ($2 ? $2 : 56);
	self->qs_before = arg3 ? *(uint64_t *)copyin(arg3 + ($2 ? $2 : 56), 8) : 0;
	self->qs_no_tracker = arg3 == 0;
}

pid$target::_Z8filesortP3THDP5TABLEP8FilesortP*:return
/self->qs_sort && timestamp - self->qs_sort >= $1/
{
	this->qs_ns = timestamp - self->qs_sort;
	this->qs_rows = self->qs_no_tracker ? 0 : *(uint64_t *)copyin(self->qs_tracker, 8) - self->qs_before;
	this->qs_text = copyinstr(self->qs_text_at);
	@qs_total[this->qs_text] = sum(this->qs_ns);
	@qs_count[this->qs_text] = count();
	@qs_max[this->qs_text] = max(this->qs_ns);
	@qs_rows[this->qs_text] = sum(this->qs_rows);
	@qs_time = quantize(this->qs_ns);
}

pid$target::_Z8filesortP3THDP5TABLEP8FilesortP*:return
{
	self->qs_sort = 0;
	self->qs_tracker = 0;
	self->qs_before = 0;
	self->qs_no_tracker = 0;
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return,
pid$target::_Z18log_slow_statementP3THD:entry
/self->qs_end/
{
	/* Of several statements sent at once the next one starts where this one ends. */
	self->qs_start = self->qs_command == 3 ? timestamp : 0;
	self->qs_end = 0;
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return,
pid$target::_Z18log_slow_statementP3THD:entry
/self->qs_command == 23 && !self->qs_start/
{
	self->qs_command = 0;
	self->qs_text_at = 0;
}

END
{
	printf("# aggregation\tqs_total\tsum\tns\tquery:text\n");
	printa("%S\t%@d\n", @qs_total);
	printf("# end\tqs_total\n");
	printf("# aggregation\tqs_count\tcount\tcount\tquery:text\n");
	printa("%S\t%@d\n", @qs_count);
	printf("# end\tqs_count\n");
	printf("# aggregation\tqs_max\tmax\tns\tquery:text\n");
	printa("%S\t%@d\n", @qs_max);
	printf("# end\tqs_max\n");
	printf("# aggregation\tqs_rows\tsum\trows\tquery:text\n");
	printa("%S\t%@d\n", @qs_rows);
	printf("# end\tqs_rows\n");
	printf("# aggregation\tqs_time\tquantize\tns\n");
	printa("%@d\n", @qs_time);
	printf("# end\tqs_time\n");
	printf("# stop\t%d\n", walltimestamp);
}
