/*
 * statement-time-pid.d - execution by command: time, count, errors and rows
 *
 * GROUP    queries
 * USAGE    dtrace -q -s statement-time-pid.d -p PID
 *
 * NEEDS
 *   functions  _Z16dispatch_command19enum_server_commandP3THDP*
 *   functions  _Z17general_log_writeP3THD19enum_server_commandPK* _Z18log_slow_statementP3THD
 *   functions  _ZN7sp_head7executeEP3THD* _Z??mysql_sql_stmt_execute*P3THD
 *   functions  _Z21mysql_execute_commandP3THD* _ZN16Diagnostics_area13set_ok_statusEyyPK* _ZN16Diagnostics_area16set_error_statusEjPK*
 *   target     yes
 *
 * OPTIONS
 *   --min TIME     $1    only executions that took at least this long; 0s
 *
 * FIELDS
 *   command     text            first word of the client's text
 *   st_time     quantize ns     time of the executions
 *   st_total    sum ns          their time together
 *   st_count    count count     how many
 *   st_failed   sum count       of them, those that failed
 *   st_changed  sum rows        rows inserted, changed or deleted, as the server tells its client
 *
 * OUTPUT
 *   Five aggregations by command. Only what a client sends counts: a statement inside a routine is part
 *   of the CALL. The time is that of execution, without parsing and the last packet.
 *
 * OVERHEAD
 *   Estimated: seven probes a statement, of which one is a return probe.
 *
 * SEE ALSO
 *   query-latency for the whole time of statements, query-rows for the rows of tables
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
#pragma D option strsize=256

self int64_t st_start;          /* arrival of the client's statement; 0: none is open */
self int st_command;            /* 3: sent as text, 23: execution of a prepared statement */
self uint64_t st_text_at;       /* address of its text in the server */
self int st_nested;             /* routines that are open */
self int st_execute;            /* inside EXECUTE */
self int st_end;                /* it ends with this probe */
self int st_level;              /* executions that are open: routines and EXECUTE nest */
self int64_t st_since;
self int st_error;
self uint64_t st_affected;

BEGIN
{
	printf("# seatrace\t1\n# script\tstatement-time\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n",
	    walltimestamp, walltimestamp, $target);
}

/* A command arrives: nothing is open, whatever the last one left. */
pid$target::_Z16dispatch_command19enum_server_commandP3THDP*:entry
/self->st_start/
{
	self->st_start = 0;
}

pid$target::_Z16dispatch_command19enum_server_commandP3THDP*:entry
/self->st_level/
{
	self->st_level = 0;
	self->st_since = 0;
}

/* The server calls this for each statement, whether or not it keeps a general log. */
pid$target::_Z17general_log_writeP3THD19enum_server_commandPK*:entry
/(arg1 == 3 || arg1 == 23) && self->st_nested == 0 && !self->st_execute/
{
	self->st_start = timestamp;
	self->st_command = arg1;
	self->st_text_at = arg2;
}

/* EXECUTE as text logs what it executes too: only its own text and time count. */
pid$target::_Z??mysql_sql_stmt_execute*P3THD:entry
/self->st_start && self->st_nested == 0/
{
	self->st_execute = 1;
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return
/self->st_execute && self->st_nested == 0/
{
	self->st_execute = 0;
	self->st_command = 23;
	self->st_end = 1;
}

pid$target::_ZN7sp_head7executeEP3THD*:entry
{
	self->st_nested++;
}

pid$target::_ZN7sp_head7executeEP3THD*:return
/self->st_nested/
{
	self->st_nested--;
}

/* Called at the end, while the text still exists. */
pid$target::_Z18log_slow_statementP3THD:entry
/self->st_start && self->st_nested == 0 && !self->st_execute/
{
	self->st_end = 1;
}

pid$target::_Z21mysql_execute_commandP3THD*:entry
/self->st_start/
{
	self->st_level++;
}

pid$target::_Z21mysql_execute_commandP3THD*:entry
/self->st_start && self->st_level == 1/
{
	self->st_since = timestamp;
	self->st_error = 0;
	self->st_affected = 0;
}

/* The server notes the end of a statement: with how many rows, or which error. */
pid$target::_ZN16Diagnostics_area13set_ok_statusEyyPK*:entry
/self->st_level/
{
	self->st_affected = arg1;
}

pid$target::_ZN16Diagnostics_area16set_error_statusEjPK*:entry
/self->st_level/
{
	self->st_error = (int)arg1;
}

pid$target::_Z21mysql_execute_commandP3THD*:return
/self->st_level == 1 && self->st_since && timestamp - self->st_since >= $1/
{
	this->st_command = strtok(strjoin(copyinstr(self->st_text_at), " -"), " \t\n(;");
	@st_time[this->st_command] = quantize(timestamp - self->st_since);
	@st_total[this->st_command] = sum(timestamp - self->st_since);
	@st_count[this->st_command] = count();
	@st_failed[this->st_command] = sum(self->st_error != 0);
	@st_changed[this->st_command] = sum(self->st_error ? 0 : self->st_affected);
}

pid$target::_Z21mysql_execute_commandP3THD*:return
/self->st_level > 0/
{
	self->st_level--;
	self->st_since = self->st_level ? self->st_since : 0;
}

pid$target::_Z21mysql_execute_commandP3THD*:return
/self->st_level == 0 && self->st_command == 23/
{
	self->st_command = 0;
	self->st_text_at = 0;
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return,
pid$target::_Z18log_slow_statementP3THD:entry
/self->st_end/
{
	/* Of several statements sent at once the next one starts where this one ends. */
	self->st_start = self->st_command == 3 ? timestamp : 0;
	self->st_end = 0;
}

END
{
	printf("# aggregation\tst_time\tquantize\tns\tcommand:text\n");
	printa("%S\t%@d\n", @st_time);
	printf("# end\tst_time\n");
	printf("# aggregation\tst_total\tsum\tns\tcommand:text\n");
	printa("%S\t%@d\n", @st_total);
	printf("# end\tst_total\n");
	printf("# aggregation\tst_count\tcount\tcount\tcommand:text\n");
	printa("%S\t%@d\n", @st_count);
	printf("# end\tst_count\n");
	printf("# aggregation\tst_failed\tsum\tcount\tcommand:text\n");
	printa("%S\t%@d\n", @st_failed);
	printf("# end\tst_failed\n");
	printf("# aggregation\tst_changed\tsum\trows\tcommand:text\n");
	printa("%S\t%@d\n", @st_changed);
	printf("# end\tst_changed\n");
	printf("# stop\t%d\n", walltimestamp);
}
