/*
 * query-phases-pid.d - where the time of statements goes, by phase, as stacks: text; phase
 *
 * GROUP    queries
 * USAGE    dtrace -q -s query-phases-pid.d -p PID
 *
 * NEEDS
 *   functions  _Z16dispatch_command19enum_server_commandP3THDP*
 *   functions  _Z17general_log_writeP3THD19enum_server_commandPK* _Z18log_slow_statementP3THD
 *   functions  _ZN7sp_head7executeEP3THD* _Z??mysql_sql_stmt_execute*P3THD
 *   functions  _Z9parse_sqlP3THDP12Parser_state* _Z21mysql_execute_commandP3THD* _Z8filesortP3THDP5TABLEP8FilesortP* net_real_write
 *   functions  thd_wait_begin thd_wait_end
 *   target     yes
 *
 * FIELDS
 *   query      text    text of the client's statement
 *   phase      path    the phases that are open, outermost first
 *   qp_phase   sum ns  time spent in that phase itself, without the phases inside it
 *
 * OUTPUT
 *   One aggregation. Its values for a text add up to the time of the statements with it.
 *   - `parse`, `execute`, `filesort`; `execute;execute`: a statement of a routine or of EXECUTE.
 *   - `network write`: an answer is sent.
 *   - `row lock`, `table lock`, `metadata lock`, `global lock`, `sleep`, `commit wait`, `file sync`,
 *     `other wait`: the server waits and says so (thd_wait_begin).
 *   - `other`: none of these.
 *   A prepared statement's time ends before its last packet is sent.
 *   Waiting for the client's next command belongs to no statement. Texts are cut at 255 bytes.
 *
 * OVERHEAD
 *   Estimated: three probes a statement and two a phase, of which one is a return probe.
 *
 * SEE ALSO
 *   query-latency, query-sort, lock-time
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* A key of this size is copied for every phase. */
#pragma D option strsize=256
/* Room for some ten thousand texts and phases; more are told as aggregation drops. */
#pragma D option aggsize=32m
#pragma D option dynvarsize=16m

self int64_t qp_start;          /* arrival of the client's statement; 0: none is open */
self int qp_command;            /* 3: sent as text, 23: execution of a prepared statement */
self uint64_t qp_text_at;       /* address of its text in the server */
self int qp_nested;             /* routines that are open */
self int qp_execute;            /* inside EXECUTE */
self int qp_end;                /* it ends with this probe */
/* Phases that are open, by depth; depth 0 is the statement itself. */
self int qp_level;
self int qp_push;               /* a phase starts with this probe: qp_name */
self int qp_pop;                /* the innermost phase ends with this probe */
self int qp_waiting;            /* it is a wait that thd_wait_begin announced */
self string qp_name;
self int64_t qp_since[int];     /* start of the phase */
self int64_t qp_inside[int];    /* time of the phases inside it */
self string qp_path[int];

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-phases\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n",
	    walltimestamp, walltimestamp, $target);
}

/* A command arrives: nothing is open, whatever the last one left. */
pid$target::_Z16dispatch_command19enum_server_commandP3THDP*:entry
/self->qp_start/
{
	self->qp_start = 0;
}

/* The server calls this for each statement, whether or not it keeps a general log. */
pid$target::_Z17general_log_writeP3THD19enum_server_commandPK*:entry
/(arg1 == 3 || arg1 == 23) && self->qp_nested == 0 && !self->qp_execute/
{
	self->qp_start = timestamp;
	self->qp_command = arg1;
	self->qp_text_at = arg2;
	self->qp_level = 0;
	self->qp_waiting = 0;
	self->qp_inside[0] = 0;
}

/* EXECUTE as text logs what it executes too: only its own text and time count. */
pid$target::_Z??mysql_sql_stmt_execute*P3THD:entry
/self->qp_start && self->qp_nested == 0/
{
	self->qp_execute = 1;
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return
/self->qp_execute && self->qp_nested == 0/
{
	self->qp_execute = 0;
	self->qp_command = 23;
	self->qp_end = 1;
}

pid$target::_ZN7sp_head7executeEP3THD*:entry
{
	self->qp_nested++;
}

pid$target::_ZN7sp_head7executeEP3THD*:return
/self->qp_nested/
{
	self->qp_nested--;
}

/* Called at the end, while the text still exists. */
pid$target::_Z18log_slow_statementP3THD:entry
/self->qp_start && self->qp_nested == 0 && !self->qp_execute/
{
	self->qp_end = 1;
}

pid$target::_Z9parse_sqlP3THDP12Parser_state*:entry
/self->qp_start/
{
	self->qp_push = 1;
	self->qp_name = "parse";
}

pid$target::_Z21mysql_execute_commandP3THD*:entry
/self->qp_start/
{
	self->qp_push = 1;
	self->qp_name = "execute";
}

pid$target::_Z8filesortP3THDP5TABLEP8FilesortP*:entry
/self->qp_start/
{
	self->qp_push = 1;
	self->qp_name = "filesort";
}

pid$target::net_real_write:entry
/self->qp_start/
{
	self->qp_push = 1;
	self->qp_name = "network write";
}

pid$target::thd_wait_begin:entry
/self->qp_start && !self->qp_waiting && (int)arg1 != 11/
{
	self->qp_push = 1;
	self->qp_name = (int)arg1 == 1 ? "sleep" : (int)arg1 == 3 ? "row lock" : (int)arg1 == 4 ? "global lock" :
	    (int)arg1 == 5 ? "metadata lock" : (int)arg1 == 6 ? "table lock" : (int)arg1 == 9 ? "commit wait" :
	    (int)arg1 == 10 ? "file sync" : "other wait";
}

pid$target::thd_wait_begin:entry
/self->qp_start && (int)arg1 != 11/
{
	self->qp_waiting = 1;
}

pid$target::thd_wait_end:entry
/self->qp_waiting/
{
	self->qp_waiting = 0;
	self->qp_pop = 1;
}

pid$target::_Z9parse_sqlP3THDP12Parser_state*:entry,
pid$target::_Z21mysql_execute_commandP3THD*:entry,
pid$target::_Z8filesortP3THDP5TABLEP8FilesortP*:entry,
pid$target::net_real_write:entry,
pid$target::thd_wait_begin:entry
/self->qp_push/
{
	self->qp_push = 0;
	self->qp_level++;
	self->qp_since[self->qp_level] = timestamp;
	self->qp_inside[self->qp_level] = 0;
	self->qp_path[self->qp_level] = self->qp_level == 1 ? self->qp_name :
	    strjoin(self->qp_path[self->qp_level - 1], strjoin(";", self->qp_name));
}

pid$target::_Z9parse_sqlP3THDP12Parser_state*:return,
pid$target::_Z21mysql_execute_commandP3THD*:return,
pid$target::_Z8filesortP3THDP5TABLEP8FilesortP*:return,
pid$target::net_real_write:return
/self->qp_level > 0/
{
	self->qp_pop = 1;
}

pid$target::_Z9parse_sqlP3THDP12Parser_state*:return,
pid$target::_Z21mysql_execute_commandP3THD*:return,
pid$target::_Z8filesortP3THDP5TABLEP8FilesortP*:return,
pid$target::net_real_write:return,
pid$target::thd_wait_end:entry
/self->qp_pop && self->qp_level > 0/
{
	this->qp_ns = timestamp - self->qp_since[self->qp_level];
	@qp_phase[copyinstr(self->qp_text_at), self->qp_path[self->qp_level]] = sum(this->qp_ns - self->qp_inside[self->qp_level]);
	self->qp_since[self->qp_level] = 0;
	self->qp_inside[self->qp_level] = 0;
	self->qp_path[self->qp_level] = 0;
	self->qp_level--;
	self->qp_inside[self->qp_level] += this->qp_ns;
}

pid$target::_Z9parse_sqlP3THDP12Parser_state*:return,
pid$target::_Z21mysql_execute_commandP3THD*:return,
pid$target::_Z8filesortP3THDP5TABLEP8FilesortP*:return,
pid$target::net_real_write:return,
pid$target::thd_wait_end:entry
{
	self->qp_pop = 0;
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return,
pid$target::_Z18log_slow_statementP3THD:entry
/self->qp_end/
{
	/* EXECUTE ends while it is still being executed. */
	@qp_phase[copyinstr(self->qp_text_at), self->qp_level > 0 ? self->qp_path[1] : "other"] = sum(timestamp - self->qp_start - self->qp_inside[0] -
	    (self->qp_level > 0 ? self->qp_inside[1] : 0));
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return,
pid$target::_Z18log_slow_statementP3THD:entry
/self->qp_end/
{
	/* Of several statements sent at once the next one starts where this one ends. */
	self->qp_start = self->qp_command == 3 ? timestamp : 0;
	self->qp_end = 0;
	self->qp_level = 0;
	self->qp_inside[1] = 0;
	self->qp_waiting = 0;
	self->qp_name = 0;
	self->qp_inside[0] = 0;
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return,
pid$target::_Z18log_slow_statementP3THD:entry
/self->qp_command == 23 && !self->qp_start/
{
	self->qp_command = 0;
	self->qp_text_at = 0;
}

END
{
	printf("# aggregation\tqp_phase\tsum\tns\tquery:text\tphase:path\n");
	printa("%S\t%S\t%@d\n", @qp_phase);
	printf("# end\tqp_phase\n");
	printf("# stop\t%d\n", walltimestamp);
}
