/*
 * lock-time.d - waits for locks by kind: metadata, user, table and row locks, each with statement and holder
 *
 * GROUP    waits
 * USAGE    dtrace -q -s lock-time.d -p PID
 *
 * NEEDS
 *   probes     mysql query-start query-done query-exec-start query-exec-done
 *   probes     mysql handler-rdlock-start handler-rdlock-done handler-wrlock-start handler-wrlock-done handler-unlock-start handler-unlock-done
 *   functions  thd_wait_begin thd_wait_end thr_multi_lock _ZN11MDL_context12acquire_lockEP11MDL_request*
 *   target     yes
 *
 * OPTIONS
 *   --min TIME     $1    only waits that took at least this long have a line; 0s
 *   --user TEXT    $$2   only waits of this user
 *
 * FIELDS
 *   end           wall  when the wait ended
 *   connection    int   connection that waited
 *   kind          text  metadata: a metadata lock. user: GET_LOCK. table: a table lock of the engine or
 *                       of LOCK TABLES. row: a row lock of the engine. global: a global lock
 *   database      text  database and
 *   table         text  table of the last metadata lock that the statement asked for: of a metadata lock
 *                       the one waited for; of table and row locks the statement's last table. The
 *                       name of a user lock
 *   elapsed       ns    how long it waited
 *   holder        int   connection that was given this lock last; 0: not seen
 *   holder_query  text  its statement then
 *   query         text  text of the waiting statement
 *   lt_time       quantize ns     waits by kind
 *   lt_total      sum ns          and time by kind, database, table and query
 *   lt_count      count count     likewise
 *
 * OUTPUT
 *   One `lock_wait` record a wait, three aggregations at the end. In these, kind `handler` is the time of
 *   the engine's external_lock(), which is not the wait for a lock.
 *   Texts are cut at 255 bytes. The holder is a hint: who locked the table last need not be who kept it.
 *
 * OVERHEAD
 *   Four probes a statement, two for each table and external_lock(); names and text are copied for each table.
 *
 * SEE ALSO
 *   lock-waits for waits inside the server, blocked-calls
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
self int lt_other;              /* open without query-start: a prepared statement or an event's */
self int lt_depth;              /* its executions that are open, itself and those of routines */
self int lt_end;                /* it ends with this probe */
self int64_t lt_connection;
self uint64_t lt_text_at;       /* address of its text in the server */
self uint64_t lt_handler_db;    /* addresses of the names that external_lock() is for */
self uint64_t lt_handler_table;
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
	printf("# record\tlock_wait\tend:wall\tconnection:int\tkind:text\tdatabase:text\ttable:text\telapsed:ns\tholder:int\tholder_query:text\tquery:text\n");
}

/* A statement sent as text. The text is freed before query-done. */
mysql$target:::query-start
/($$2 == "" || (arg3 != 0 && copyinstr(arg3) == $$2))/
{
	self->lt_other = 0;
	self->lt_depth = 0;
	self->lt_start = timestamp;
	self->lt_text_at = arg0;
	self->lt_connection = arg1;
}

/* The execution of a prepared statement, or of an event's: no query-start belongs to it. */
mysql$target:::query-exec-start
/!self->lt_start && arg5 != 0 &&
    ($$2 == "" || (arg3 != 0 && copyinstr(arg3) == $$2))/
{
	self->lt_other = 1;
	self->lt_depth = 0;
	self->lt_start = timestamp;
	self->lt_text_at = arg0;
	self->lt_connection = arg1;
}

mysql$target:::query-exec-start
/self->lt_other/
{
	self->lt_depth++;
}

mysql$target:::query-exec-done
/self->lt_other/
{
	self->lt_depth--;
	self->lt_end = self->lt_depth == 0;
}

mysql$target:::query-done
/self->lt_start && !self->lt_other/
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
/self->lt_granting && (uint8_t)arg1 == 0 && lt_last[self->lt_db, self->lt_table] != self->lt_connection/
{
	lt_before[self->lt_db, self->lt_table] = lt_last[self->lt_db, self->lt_table];
	lt_before_text[self->lt_db, self->lt_table] = lt_last[self->lt_db, self->lt_table] ? lt_last_text[self->lt_db, self->lt_table] : "";
}

pid$target::_ZN11MDL_context12acquire_lockEP11MDL_request*:return
/self->lt_granting && (uint8_t)arg1 == 0/
{
	lt_last[self->lt_db, self->lt_table] = self->lt_connection;
	lt_last_text[self->lt_db, self->lt_table] = copyinstr(self->lt_text_at);
}

pid$target::_ZN11MDL_context12acquire_lockEP11MDL_request*:return
{
	self->lt_granting = 0;
}

pid$target::thr_multi_lock:return
/self->lt_start && self->lt_space == 2 && (int)arg1 == 0/
{
	lt_owner[self->lt_db, self->lt_table] = self->lt_connection;
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
/self->lt_wait && self->lt_named && self->lt_type == 6 && lt_owner[self->lt_db, self->lt_table] != self->lt_connection/
{
	self->lt_holder = lt_owner[self->lt_db, self->lt_table];
	self->lt_holder_text = lt_owner[self->lt_db, self->lt_table] ? lt_owner_text[self->lt_db, self->lt_table] : "";
}

pid$target::thd_wait_begin:entry
/self->lt_wait && self->lt_named && !self->lt_holder/
{
	self->lt_holder = lt_last[self->lt_db, self->lt_table] == self->lt_connection ? lt_before[self->lt_db, self->lt_table] :
	    lt_last[self->lt_db, self->lt_table];
	self->lt_holder_text = lt_last[self->lt_db, self->lt_table] == self->lt_connection ? lt_before_text[self->lt_db, self->lt_table] :
	    lt_last_text[self->lt_db, self->lt_table];
}

/* Who waits for a table or a row has the metadata lock already, but holds nothing that others wait for: give back. */
pid$target::thd_wait_begin:entry
/self->lt_wait && self->lt_holder && lt_last[self->lt_db, self->lt_table] == self->lt_connection/
{
	lt_last[self->lt_db, self->lt_table] = self->lt_holder;
	lt_last_text[self->lt_db, self->lt_table] = self->lt_holder_text;
}

pid$target::thd_wait_end:entry
/self->lt_wait && timestamp - self->lt_wait >= $1/
{
	printf("lock_wait\t%d\t%d\t%s\t%S\t%S\t%d\t%d\t%S\t%S\n", walltimestamp, self->lt_connection,
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
	lt_last[self->lt_db, self->lt_table] = self->lt_connection;
	lt_last_text[self->lt_db, self->lt_table] = copyinstr(self->lt_text_at);
}

pid$target::thd_wait_end:entry
{
	self->lt_wait = 0;
	self->lt_type = 0;
	self->lt_holder = 0;
	self->lt_holder_text = 0;
}

mysql$target:::handler-rdlock-start,
mysql$target:::handler-wrlock-start,
mysql$target:::handler-unlock-start
/self->lt_start/
{
	self->lt_handler = timestamp;
	self->lt_handler_db = arg0;
	self->lt_handler_table = arg1;
}

mysql$target:::handler-rdlock-done,
mysql$target:::handler-wrlock-done,
mysql$target:::handler-unlock-done
/self->lt_handler/
{
	this->lt_db = self->lt_handler_db ? copyinstr(self->lt_handler_db) : "";
	this->lt_table = self->lt_handler_table ? copyinstr(self->lt_handler_table) : "";
	this->lt_ns = timestamp - self->lt_handler;
	@lt_time["handler"] = quantize(this->lt_ns);
	@lt_total["handler", this->lt_db, this->lt_table, copyinstr(self->lt_text_at)] = sum(this->lt_ns);
	@lt_count["handler", this->lt_db, this->lt_table, copyinstr(self->lt_text_at)] = count();
	self->lt_handler = 0;
	self->lt_handler_db = 0;
	self->lt_handler_table = 0;
}

mysql$target:::query-exec-done,
mysql$target:::query-done
/self->lt_end/
{
	self->lt_start = 0;
	self->lt_other = 0;
	self->lt_depth = 0;
	self->lt_end = 0;
	self->lt_connection = 0;
	self->lt_text_at = 0;
	self->lt_db = 0;
	self->lt_table = 0;
	self->lt_space = 0;
	self->lt_asked = 0;
	self->lt_named = 0;
	self->lt_granting = 0;
	self->lt_wait = 0;
	self->lt_handler = 0;
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
