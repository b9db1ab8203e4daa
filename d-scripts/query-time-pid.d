/*
 * query-time-pid.d - one line for each statement that ends
 *
 * GROUP    queries
 * USAGE    dtrace -q -s query-time-pid.d -p PID
 *
 * NEEDS
 *   functions  _Z17general_log_writeP3THD19enum_server_commandPK* _Z18log_slow_statementP3THD _ZN16Diagnostics_area16set_error_statusEjPK*
 *   functions  _ZN7sp_head7executeEP3THD* _ZN13sp_instr_stmt9exec_coreEP3THDP* _Z??mysql_sql_stmt_execute*P3THD
 *   target     yes
 *
 * OPTIONS
 *   --min TIME     $1    only statements that took at least this long; 0s
 *
 * FIELDS
 *   end         wall   when it ended
 *   thread      int    the server's thread that ran it; the connection, user and database are not visible here
 *   status      int    0: success, else the server's error number
 *   elapsed     ns     from the log entry that the server makes on its arrival, to its end
 *   kind        text   direct: sent as text. prepared: execution of a prepared statement.
 *                      routine: inside a stored routine, trigger or event
 *   length      bytes  length of its whole text
 *   query       text   its text, cut at strsize - 1 bytes
 *
 * OUTPUT
 *   One `query` record a statement. A statement inside a routine has a line of its own before the line
 *   of the CALL, whose time holds it. EXECUTE as text is one direct line. Of several statements sent at
 *   once each has a line with a time of its own and the text of all. A prepared statement's time ends
 *   before its last packet is sent.
 *
 * OVERHEAD
 *   Estimated: two probes a statement, no return probe; only the text of a statement that is printed is
 *   copied.
 *
 * SEE ALSO
 *   query-time.d for servers with static probes; query-latency-pid.d, query-phases-pid.d
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* Each record takes this much of the buffer: wider texts would fill it sooner. */
#pragma D option strsize=1024
/* Records are read ten times a second, so that lines appear at once and buffers do not fill. */
#pragma D option switchrate=10hz
#pragma D option bufsize=16m

self int64_t qt_start;          /* arrival of the client's statement; 0: none is open */
self int qt_command;            /* 3: sent as text, 23: execution of a prepared statement */
self int qt_error;
self uint64_t qt_text_at;       /* address and length of its text in the server */
self uint64_t qt_length;
self int qt_nested;             /* routines that are open */
self int qt_execute;            /* inside EXECUTE, whose own calls of the log functions say nothing new */
/* Statements of routines by depth: start, and address and length of the text. */
self int64_t qt_inner_start[int];
self uint64_t qt_inner_text[int];
self uint64_t qt_inner_length[int];

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-time\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t1024\n",
	    walltimestamp, walltimestamp, $target);
	printf("# record\tquery\tend:wall\tthread:int\tstatus:int\telapsed:ns\tkind:text\tlength:bytes\tquery:text\n");
}

/*
 * The server calls this for each statement, whether or not it keeps a general log: COM_QUERY with the
 * text sent, COM_STMT_EXECUTE with the text of the prepared statement.
 */
pid$target::_Z17general_log_writeP3THD19enum_server_commandPK*:entry
/(arg1 == 3 || arg1 == 23) && self->qt_nested == 0 && !self->qt_execute/
{
	self->qt_start = timestamp;
	self->qt_command = arg1;
	self->qt_text_at = arg2;
	self->qt_length = arg3;
	self->qt_error = 0;
}

pid$target::_Z17general_log_writeP3THD19enum_server_commandPK*:entry
/arg1 == 3 && self->qt_nested/
{
	self->qt_inner_text[self->qt_nested] = arg2;
	self->qt_inner_length[self->qt_nested] = arg3;
}

pid$target::_ZN16Diagnostics_area16set_error_statusEjPK*:entry
{
	self->qt_error = (int)arg1;
}

/* Called while the text still exists. Of a statement that sends several, each comes here: the next one starts where this one ends. */
pid$target::_Z18log_slow_statementP3THD:entry
/self->qt_start && self->qt_command == 3 && self->qt_nested == 0 && !self->qt_execute && timestamp - self->qt_start >= $1/
{
	printf("query\t%d\t%d\t%d\t%d\tdirect\t%d\t%S\n", walltimestamp, (int64_t)tid, self->qt_error,
	    timestamp - self->qt_start, self->qt_length, copyinstr(self->qt_text_at));
}

pid$target::_Z18log_slow_statementP3THD:entry
/self->qt_start && self->qt_command == 23 && self->qt_nested == 0 && !self->qt_execute && timestamp - self->qt_start >= $1/
{
	printf("query\t%d\t%d\t%d\t%d\tprepared\t%d\t%S\n", walltimestamp, (int64_t)tid, self->qt_error,
	    timestamp - self->qt_start, self->qt_length, copyinstr(self->qt_text_at));
}

pid$target::_Z18log_slow_statementP3THD:entry
/self->qt_nested == 0 && !self->qt_execute/
{
	self->qt_start = self->qt_command == 3 ? timestamp : 0;
	self->qt_error = 0;
}

pid$target::_Z18log_slow_statementP3THD:entry
/self->qt_nested == 0 && self->qt_command == 23/
{
	self->qt_command = 0;
	self->qt_text_at = 0;
	self->qt_length = 0;
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:entry
/self->qt_start && self->qt_nested == 0/
{
	self->qt_execute = 1;
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return
/self->qt_execute && self->qt_nested == 0 && timestamp - self->qt_start >= $1/
{
	printf("query\t%d\t%d\t%d\t%d\tdirect\t%d\t%S\n", walltimestamp, (int64_t)tid, self->qt_error,
	    timestamp - self->qt_start, self->qt_length, copyinstr(self->qt_text_at));
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return
/self->qt_execute && self->qt_nested == 0/
{
	self->qt_execute = 0;
	self->qt_start = 0;
}

pid$target::_ZN7sp_head7executeEP3THD*:entry
{
	self->qt_nested++;
}

pid$target::_ZN13sp_instr_stmt9exec_coreEP3THDP*:entry
{
	self->qt_inner_start[self->qt_nested] = timestamp;
}

pid$target::_ZN13sp_instr_stmt9exec_coreEP3THDP*:return
/self->qt_nested && self->qt_inner_start[self->qt_nested] && self->qt_inner_text[self->qt_nested] &&
    timestamp - self->qt_inner_start[self->qt_nested] >= $1/
{
	printf("query\t%d\t%d\t%d\t%d\troutine\t%d\t%S\n", walltimestamp, (int64_t)tid, self->qt_error,
	    timestamp - self->qt_inner_start[self->qt_nested], self->qt_inner_length[self->qt_nested],
	    copyinstr(self->qt_inner_text[self->qt_nested]));
}

pid$target::_ZN13sp_instr_stmt9exec_coreEP3THDP*:return
{
	self->qt_inner_start[self->qt_nested] = 0;
	self->qt_inner_text[self->qt_nested] = 0;
	self->qt_inner_length[self->qt_nested] = 0;
}

pid$target::_ZN7sp_head7executeEP3THD*:return
/self->qt_nested/
{
	self->qt_nested--;
}

END
{
	printf("# stop\t%d\n", walltimestamp);
}
