/*
 * lock-time-pid.d - waits for locks by kind: metadata, user, table and row locks, each with statement and holder
 *
 * GROUP    waits
 * USAGE    dtrace -q -s lock-time-pid.d -p PID
 *
 * NEEDS
 *   functions  _Z16dispatch_command19enum_server_commandP3THDP*
 *   functions  _Z17general_log_writeP3THD19enum_server_commandPK* _Z18log_slow_statementP3THD
 *   functions  _ZN7sp_head7executeEP3THD* _Z??mysql_sql_stmt_execute*P3THD
 *   functions  _ZN7handler16ha_external_lockEP3THDi
 *   functions  thd_wait_begin thd_wait_end thr_multi_lock _ZN11MDL_context12acquire_lockEP11MDL_request*
 *   target     yes
 *
 * OPTIONS
 *   --min TIME     $1    only waits that took at least this long have a line; 0s
 *
 * FIELDS
 *   end           wall  when the wait ended
 *   thread        int   the server's thread that waited
 *   kind          text  metadata: a metadata lock. user: GET_LOCK. table: a table lock of the engine or
 *                       of LOCK TABLES. row: a row lock of the engine. global: a global lock
 *   database      text  database and
 *   table         text  table of the last metadata lock that the statement asked for: of a metadata lock
 *                       the one waited for; of table and row locks the statement's last table. The
 *                       name of a user lock
 *   elapsed       ns    how long it waited
 *   holder        int   thread that was given this lock last; 0: not seen
 *   holder_query  text  its statement then
 *   query         text  text of the waiting statement
 *   lt_time       quantize ns     waits by kind
 *   lt_total      sum ns          and time by kind, database, table and query
 *   lt_count      count count     likewise
 *
 * OUTPUT
 *   One `lock_wait` record a wait, three aggregations at the end. In these, kind `handler` is the time of
 *   the engine's external_lock(), which is not the wait for a lock.
 *   Connection and user are not visible to this form; nor are database and table of kind `handler`.
 *   Texts are cut at 255 bytes. The holder is a hint: who locked the table last need not be who kept it.
 *
 * OVERHEAD
 *   Three probes a statement, two for each table and external_lock(); names and text are copied for each table.
 *
 * SEE ALSO
 *   lock-waits-pid for waits inside the server, blocked-calls
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* Texts of this size are copied for every table that is opened. */
#pragma D option strsize=256
#pragma D option switchrate=10hz
/* Names and last statements of the tables seen. */
#pragma D option dynvarsize=16m
#pragma D option aggsize=16m

self int64_t lt_start;          /* arrival of the client's statement; 0: none is open */
self int lt_command;            /* 3: sent as text, 23: execution of a prepared statement */
self uint64_t lt_text_at;       /* address of its text in the server */
self int lt_nested;             /* routines that are open */
self int lt_execute;            /* inside EXECUTE */
self int lt_end;                /* it ends with this probe */
self string lt_db;              /* names of the last metadata lock asked for */
self string lt_table;
self int lt_space;              /* their namespace: 2 table, 8 user lock; 0: none asked for yet */
self int lt_asked;              /* namespace of the last request, also 0: the lock of BACKUP and FLUSH TABLES WITH READ LOCK */
self int lt_named;              /* the names belong to the wait */
self int lt_granting;           /* acquire_lock runs */
self int64_t lt_wait;           /* start of a wait */
self int lt_type;               /* what for, as thd_wait_begin says: 3 row, 4 global, 5 metadata, 6 table, 7 user lock */
self int64_t lt_holder;
self string lt_holder_text;
self int64_t lt_handler;        /* start of external_lock() */
/* By database and table: who locked it last, who before, and their statements. */
int64_t lt_last[string, string];
int64_t lt_before[string, string];
string lt_last_text[string, string];
string lt_before_text[string, string];
/* And who was given the lock of the table itself last. */
int64_t lt_owner[string, string];
string lt_owner_text[string, string];

BEGIN
{
	printf("# seatrace\t1\n# script\tlock-time\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n",
	    walltimestamp, walltimestamp, $target);
	printf("# record\tlock_wait\tend:wall\tthread:int\tkind:text\tdatabase:text\ttable:text\telapsed:ns\tholder:int\tholder_query:text\tquery:text\n");
}

/* A command arrives: nothing is open, whatever the last one left. */
pid$target::_Z16dispatch_command19enum_server_commandP3THDP*:entry
/self->lt_start/
{
	self->lt_start = 0;
}

/* The server calls this for each statement, whether or not it keeps a general log. */
pid$target::_Z17general_log_writeP3THD19enum_server_commandPK*:entry
/(arg1 == 3 || arg1 == 23) && self->lt_nested == 0 && !self->lt_execute/
{
	self->lt_start = timestamp;
	self->lt_command = arg1;
	self->lt_text_at = arg2;
}

/* EXECUTE as text logs what it executes too: only its own text and time count. */
pid$target::_Z??mysql_sql_stmt_execute*P3THD:entry
/self->lt_start && self->lt_nested == 0/
{
	self->lt_execute = 1;
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return
/self->lt_execute && self->lt_nested == 0/
{
	self->lt_execute = 0;
	self->lt_command = 23;
	self->lt_end = 1;
}

pid$target::_ZN7sp_head7executeEP3THD*:entry
{
	self->lt_nested++;
}

pid$target::_ZN7sp_head7executeEP3THD*:return
/self->lt_nested/
{
	self->lt_nested--;
}

/* Called at the end, while the text still exists. */
pid$target::_Z18log_slow_statementP3THD:entry
/self->lt_start && self->lt_nested == 0 && !self->lt_execute/
{
	self->lt_end = 1;
}

/*
 * A metadata lock is asked for: MDL_request holds the length of the database's name at byte 34, the
 * namespace at 40, then database NUL table NUL (MariaDB 10.4 and later).
 */
pid$target::_ZN11MDL_context12acquire_lockEP11MDL_request*:entry
/self->lt_start/
{
	self->lt_asked = *(uint8_t *)copyin(arg1 + 40, 1);
	self->lt_granting = self->lt_asked == 2 || self->lt_asked == 8;
}

pid$target::_ZN11MDL_context12acquire_lockEP11MDL_request*:entry
/self->lt_granting/
{
	self->lt_space = self->lt_asked;
	self->lt_db = copyinstr(arg1 + 41);
	self->lt_table = copyinstr(arg1 + 42 + *(uint16_t *)copyin(arg1 + 34, 2));
}

/* It is granted (the function returns a bool): whoever had it last becomes the one before. */
pid$target::_ZN11MDL_context12acquire_lockEP11MDL_request*:return
/self->lt_granting && (uint8_t)arg1 == 0 && lt_last[self->lt_db, self->lt_table] != (int64_t)tid/
{
	lt_before[self->lt_db, self->lt_table] = lt_last[self->lt_db, self->lt_table];
	lt_before_text[self->lt_db, self->lt_table] = lt_last[self->lt_db, self->lt_table] ? lt_last_text[self->lt_db, self->lt_table] : "";
}

pid$target::_ZN11MDL_context12acquire_lockEP11MDL_request*:return
/self->lt_granting && (uint8_t)arg1 == 0/
{
	lt_last[self->lt_db, self->lt_table] = (int64_t)tid;
	lt_last_text[self->lt_db, self->lt_table] = copyinstr(self->lt_text_at);
}

pid$target::_ZN11MDL_context12acquire_lockEP11MDL_request*:return
{
	self->lt_granting = 0;
}

pid$target::thr_multi_lock:return
/self->lt_start && self->lt_space == 2 && (int)arg1 == 0/
{
	lt_owner[self->lt_db, self->lt_table] = (int64_t)tid;
	lt_owner_text[self->lt_db, self->lt_table] = copyinstr(self->lt_text_at);
}

pid$target::thd_wait_begin:entry
/self->lt_start && (int)arg1 >= 3 && (int)arg1 <= 7/
{
	self->lt_wait = timestamp;
	self->lt_type = (int)arg1 != 5 ? (int)arg1 : self->lt_asked == 8 ? 7 : self->lt_asked == 0 ? 4 : 5;
	self->lt_named = (int)arg1 == 5 ? self->lt_asked != 0 && self->lt_asked == self->lt_space : self->lt_space == 2;
	self->lt_holder = 0;
}

pid$target::thd_wait_begin:entry
/self->lt_wait && self->lt_named && self->lt_type == 6 && lt_owner[self->lt_db, self->lt_table] != (int64_t)tid/
{
	self->lt_holder = lt_owner[self->lt_db, self->lt_table];
	self->lt_holder_text = lt_owner[self->lt_db, self->lt_table] ? lt_owner_text[self->lt_db, self->lt_table] : "";
}

pid$target::thd_wait_begin:entry
/self->lt_wait && self->lt_named && !self->lt_holder/
{
	self->lt_holder = lt_last[self->lt_db, self->lt_table] == (int64_t)tid ? lt_before[self->lt_db, self->lt_table] :
	    lt_last[self->lt_db, self->lt_table];
	self->lt_holder_text = lt_last[self->lt_db, self->lt_table] == (int64_t)tid ? lt_before_text[self->lt_db, self->lt_table] :
	    lt_last_text[self->lt_db, self->lt_table];
}

/* Who waits for a table or a row has the metadata lock already, but holds nothing that others wait for: give back. */
pid$target::thd_wait_begin:entry
/self->lt_wait && self->lt_holder && lt_last[self->lt_db, self->lt_table] == (int64_t)tid/
{
	lt_last[self->lt_db, self->lt_table] = self->lt_holder;
	lt_last_text[self->lt_db, self->lt_table] = self->lt_holder_text;
}

pid$target::thd_wait_end:entry
/self->lt_wait && timestamp - self->lt_wait >= $1/
{
	printf("lock_wait\t%d\t%d\t%s\t%S\t%S\t%d\t%d\t%S\t%S\n", walltimestamp, (int64_t)tid,
	    self->lt_type == 3 ? "row" : self->lt_type == 4 ? "global" : self->lt_type == 5 ? "metadata" :
	    self->lt_type == 6 ? "table" : "user",
	    self->lt_named ? self->lt_db : "", self->lt_named ? self->lt_table : "",
	    timestamp - self->lt_wait, self->lt_holder,
	    self->lt_holder ? self->lt_holder_text : "", copyinstr(self->lt_text_at));
}

pid$target::thd_wait_end:entry
/self->lt_wait/
{
	this->lt_kind = self->lt_type == 3 ? "row" : self->lt_type == 4 ? "global" : self->lt_type == 5 ? "metadata" :
	    self->lt_type == 6 ? "table" : "user";
	this->lt_ns = timestamp - self->lt_wait;
	@lt_time[this->lt_kind] = quantize(this->lt_ns);
	@lt_total[this->lt_kind, self->lt_named ? self->lt_db : "", self->lt_named ? self->lt_table : "", copyinstr(self->lt_text_at)] = sum(this->lt_ns);
	@lt_count[this->lt_kind, self->lt_named ? self->lt_db : "", self->lt_named ? self->lt_table : "", copyinstr(self->lt_text_at)] = count();
}

/* It has the table or the rows now. */
pid$target::thd_wait_end:entry
/self->lt_wait && self->lt_named && self->lt_type != 5 && self->lt_type != 7/
{
	lt_before[self->lt_db, self->lt_table] = self->lt_holder;
	lt_before_text[self->lt_db, self->lt_table] = self->lt_holder ? self->lt_holder_text : "";
	lt_last[self->lt_db, self->lt_table] = (int64_t)tid;
	lt_last_text[self->lt_db, self->lt_table] = copyinstr(self->lt_text_at);
}

pid$target::thd_wait_end:entry
{
	self->lt_wait = 0;
	self->lt_type = 0;
	self->lt_holder = 0;
	self->lt_holder_text = 0;
}

pid$target::_ZN7handler16ha_external_lockEP3THDi:entry
/self->lt_start/
{
	self->lt_handler = timestamp;
}

pid$target::_ZN7handler16ha_external_lockEP3THDi:return
/self->lt_handler/
{
	this->lt_ns = timestamp - self->lt_handler;
	@lt_time["handler"] = quantize(this->lt_ns);
	@lt_total["handler", "", "", copyinstr(self->lt_text_at)] = sum(this->lt_ns);
	@lt_count["handler", "", "", copyinstr(self->lt_text_at)] = count();
	self->lt_handler = 0;
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return,
pid$target::_Z18log_slow_statementP3THD:entry
/self->lt_end/
{
	/* Of several statements sent at once the next one starts where this one ends. */
	self->lt_start = self->lt_command == 3 ? timestamp : 0;
	self->lt_end = 0;
	self->lt_db = 0;
	self->lt_table = 0;
	self->lt_space = 0;
	self->lt_asked = 0;
	self->lt_named = 0;
	self->lt_granting = 0;
	self->lt_wait = 0;
	self->lt_handler = 0;
}

pid$target::_Z??mysql_sql_stmt_execute*P3THD:return,
pid$target::_Z18log_slow_statementP3THD:entry
/self->lt_command == 23 && !self->lt_start/
{
	self->lt_command = 0;
	self->lt_text_at = 0;
}

END
{
	printf("# aggregation\tlt_time\tquantize\tns\tkind:text\n");
	printa("%S\t%@d\n", @lt_time);
	printf("# end\tlt_time\n");
	printf("# aggregation\tlt_total\tsum\tns\tkind:text\tdatabase:text\ttable:text\tquery:text\n");
	printa("%S\t%S\t%S\t%S\t%@d\n", @lt_total);
	printf("# end\tlt_total\n");
	printf("# aggregation\tlt_count\tcount\tcount\tkind:text\tdatabase:text\ttable:text\tquery:text\n");
	printa("%S\t%S\t%S\t%S\t%@d\n", @lt_count);
	printf("# end\tlt_count\n");
	printf("# stop\t%d\n", walltimestamp);
}
