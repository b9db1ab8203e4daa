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
 *   functions  thd_wait_begin thd_wait_end thr_multi_lock thr_multi_unlock
 *   functions  _ZN11MDL_context12acquire_lockEP11MDL_request* _ZN11MDL_context27release_transactional_locksE*
 *   functions  _ZN11MDL_context12release_lockEP10MDL_ticket _ZN11MDL_context35set_explicit_duration_for_all_locksE*
 *   functions  _ZN11MDL_context38set_transaction_duration_for_all_locksE*
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
 *   holder        int   thread that holds it; 0: not seen, or not certain
 *   holder_query  text  the statement with which its transaction first locked that table
 *   query         text  text of the waiting statement
 *   lt_time       quantize ns     waits by kind
 *   lt_total      sum ns          and time by kind, database, table and query
 *   lt_count      count count     likewise
 *
 * OUTPUT
 *   One `lock_wait` record a wait, three aggregations at the end. In these, kind `handler` is the time of
 *   the engine's external_lock(), which is not the wait for a lock.
 *   Connection and user are not visible to this form; nor are database and table of kind `handler`.
 *   Texts are cut at 255 bytes. Of a row lock a holder is named only where one other transaction alone has
 *   opened the table for writing; what was locked before the trace began is not seen.
 *
 * OVERHEAD
 *   Estimated: five probes a statement, five for each table and external_lock(); names are copied for each table.
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
self string lt_kind;            /* the same in words, as a key */
self int64_t lt_key;            /* namespace and hash of what was asked for, and 3 bits for a number */
self int64_t lt_context;        /* MDL_context that asks, by address / 16 */
self int64_t lt_holding;        /* what holds it then: that, or the ticket of a user lock, by address / 16 */
self uint64_t lt_request;       /* address of the request */
self int lt_strength;           /* kind of metadata lock: 3 to read, 4 to write, 6 and above shut out others */
self int lt_tables;             /* tables asked for: of several, it is not known which one a table or row lock is of */
self int lt_slot;               /* which holder is written or read: 1 to 4, 5 the owner of a table lock */
self int64_t lt_holder;
self string lt_holder_text;
self int64_t lt_handler;        /* start of external_lock() */
/*
 * By lt_key plus 1 to 4: who holds it, and with which statement. A holder is what holds (lt_holding), the strength, and the
 * count of releases then, in 44, 4 and 16 bits: it holds no more when that count has grown. 5: who has the table lock.
 */
int64_t lt_holders[int64_t];
string lt_texts[int64_t];
int64_t lt_released[int64_t];   /* by lt_holding: transactions ended, user locks given back */
int64_t lt_unlocked[int64_t];   /* by lt_context: table locks given back */
int lt_kept[int64_t];           /* by lt_context: LOCK TABLES keeps locks over transactions */
int64_t lt_number[int64_t];     /* by lt_holding: its thread */

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
 * hash of the names at 36, the namespace at 40, then database NUL table NUL (MariaDB 10.4 and later).
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
	self->lt_request = arg1;
	self->lt_context = arg0 >> 4;
	self->lt_strength = *(int *)copyin(arg1, 4);
	this->lt_key = ((int64_t)self->lt_asked << 35) | ((int64_t)*(uint32_t *)copyin(arg1 + 36, 4) << 3);
	self->lt_tables += this->lt_key != self->lt_key;
	self->lt_key = this->lt_key;
}

/* It is granted (the function returns a bool). The ticket stands at byte 24. */
pid$target::_ZN11MDL_context12acquire_lockEP11MDL_request*:return
/self->lt_granting && (uint8_t)arg1 == 0/
{
	self->lt_holding = self->lt_asked == 8 ? *(int64_t *)copyin(self->lt_request + 24, 8) >> 4 : self->lt_context;
	lt_number[self->lt_holding] = (int64_t)tid;
}

/* Its own place, else the first one whose holder holds no more, else the last. */
pid$target::_ZN11MDL_context12acquire_lockEP11MDL_request*:return
/self->lt_holding/
{
	this->lt_a = lt_holders[self->lt_key + 1];
	this->lt_b = lt_holders[self->lt_key + 2];
	this->lt_c = lt_holders[self->lt_key + 3];
	this->lt_d = lt_holders[self->lt_key + 4];
	this->lt_a_holds = this->lt_a != 0 && (lt_released[this->lt_a >> 20] & 0xffff) == (this->lt_a & 0xffff);
	this->lt_b_holds = this->lt_b != 0 && (lt_released[this->lt_b >> 20] & 0xffff) == (this->lt_b & 0xffff);
	this->lt_c_holds = this->lt_c != 0 && (lt_released[this->lt_c >> 20] & 0xffff) == (this->lt_c & 0xffff);
	this->lt_d_holds = this->lt_d != 0 && (lt_released[this->lt_d >> 20] & 0xffff) == (this->lt_d & 0xffff);
	self->lt_slot = (this->lt_a >> 20) == self->lt_holding ? 1 : (this->lt_b >> 20) == self->lt_holding ? 2 :
	    (this->lt_c >> 20) == self->lt_holding ? 3 : (this->lt_d >> 20) == self->lt_holding ? 4 :
	    !this->lt_a_holds ? 1 : !this->lt_b_holds ? 2 : !this->lt_c_holds ? 3 : 4;
	this->lt_was = lt_holders[self->lt_key + self->lt_slot];
	this->lt_is = (self->lt_holding << 20) | (self->lt_strength << 16) | (lt_released[self->lt_holding] & 0xffff);
	/* What its transaction has locked already, and as strongly, stays. */
	self->lt_slot = (this->lt_was >> 20) == self->lt_holding && (this->lt_was & 0xffff) == (this->lt_is & 0xffff) &&
	    this->lt_was >= this->lt_is ? 0 : self->lt_slot;
	self->lt_holding = this->lt_is;
}

pid$target::_ZN11MDL_context12acquire_lockEP11MDL_request*:return
/self->lt_holding && self->lt_slot/
{
	lt_holders[self->lt_key + self->lt_slot] = self->lt_holding;
	lt_texts[self->lt_key + self->lt_slot] = copyinstr(self->lt_text_at);
}

pid$target::_ZN11MDL_context12acquire_lockEP11MDL_request*:return
{
	self->lt_granting = 0;
	self->lt_holding = 0;
	self->lt_slot = 0;
	self->lt_request = 0;
}

/* The end of a transaction gives its metadata locks back, but for those of LOCK TABLES. */
pid$target::_ZN11MDL_context35set_explicit_duration_for_all_locksE*:entry
{
	lt_kept[arg0 >> 4] = 1;
}

pid$target::_ZN11MDL_context38set_transaction_duration_for_all_locksE*:entry
{
	lt_kept[arg0 >> 4] = 0;
}

pid$target::_ZN11MDL_context27release_transactional_locksE*:entry
/!lt_kept[arg0 >> 4]/
{
	lt_released[arg0 >> 4]++;
	lt_unlocked[arg0 >> 4]++;
	self->lt_tables = 0;
	self->lt_key = 0;
}

/* Of single locks those of GET_LOCK count, which are known by their ticket. */
pid$target::_ZN11MDL_context12release_lockEP10MDL_ticket:entry
/lt_number[arg1 >> 4]/
{
	lt_released[arg1 >> 4]++;
}

/* The lock of the table itself: who has it keeps the place. */
pid$target::thr_multi_lock:return
/self->lt_start && self->lt_space == 2 && self->lt_tables == 1 && (int)arg1 == 0/
{
	this->lt_a = lt_holders[self->lt_key + 5];
	self->lt_slot = this->lt_a != 0 && (lt_unlocked[this->lt_a >> 20] & 0xffff) == (this->lt_a & 0xffff) ? 0 : 5;
}

pid$target::thr_multi_lock:return
/self->lt_slot == 5/
{
	lt_holders[self->lt_key + 5] = (self->lt_context << 20) | (lt_unlocked[self->lt_context] & 0xffff);
	lt_texts[self->lt_key + 5] = copyinstr(self->lt_text_at);
	lt_number[self->lt_context] = (int64_t)tid;
	self->lt_slot = 0;
}

pid$target::thr_multi_unlock:entry
/self->lt_context/
{
	lt_unlocked[self->lt_context]++;
}

pid$target::thd_wait_begin:entry
/self->lt_start && (int)arg1 >= 3 && (int)arg1 <= 7/
{
	self->lt_wait = timestamp;
	self->lt_type = (int)arg1 != 5 ? (int)arg1 : self->lt_asked == 8 ? 7 : self->lt_asked == 0 ? 4 : 5;
	self->lt_named = (int)arg1 == 5 ? self->lt_asked != 0 && self->lt_asked == self->lt_space : self->lt_space == 2;
	self->lt_kind = self->lt_type == 3 ? "row" : self->lt_type == 4 ? "global" : self->lt_type == 5 ? "metadata" :
	    self->lt_type == 6 ? "table" : "user";
	self->lt_holder = 0;
	self->lt_slot = 0;
}

/*
 * A metadata or user lock: who has one that shuts this one out (6 and above do, and 5, which is to alter, another 5).
 * A row lock: who alone has the table to write.
 */
pid$target::thd_wait_begin:entry
/self->lt_wait && self->lt_named && self->lt_type != 6 && (self->lt_type != 3 || self->lt_tables == 1)/
{
	this->lt_a = lt_holders[self->lt_key + 1];
	this->lt_b = lt_holders[self->lt_key + 2];
	this->lt_c = lt_holders[self->lt_key + 3];
	this->lt_d = lt_holders[self->lt_key + 4];
	this->lt_a_blocks = this->lt_a != 0 && (lt_released[this->lt_a >> 20] & 0xffff) == (this->lt_a & 0xffff) &&
	    (this->lt_a >> 20) != self->lt_context &&
	    (self->lt_type == 3 ? ((this->lt_a >> 16) & 15) >= 4 : self->lt_strength >= 6 || ((this->lt_a >> 16) & 15) >= 6 ||
	    (self->lt_strength == 5 && ((this->lt_a >> 16) & 15) == 5));
	this->lt_b_blocks = this->lt_b != 0 && (lt_released[this->lt_b >> 20] & 0xffff) == (this->lt_b & 0xffff) &&
	    (this->lt_b >> 20) != self->lt_context &&
	    (self->lt_type == 3 ? ((this->lt_b >> 16) & 15) >= 4 : self->lt_strength >= 6 || ((this->lt_b >> 16) & 15) >= 6 ||
	    (self->lt_strength == 5 && ((this->lt_b >> 16) & 15) == 5));
	this->lt_c_blocks = this->lt_c != 0 && (lt_released[this->lt_c >> 20] & 0xffff) == (this->lt_c & 0xffff) &&
	    (this->lt_c >> 20) != self->lt_context &&
	    (self->lt_type == 3 ? ((this->lt_c >> 16) & 15) >= 4 : self->lt_strength >= 6 || ((this->lt_c >> 16) & 15) >= 6 ||
	    (self->lt_strength == 5 && ((this->lt_c >> 16) & 15) == 5));
	this->lt_d_blocks = this->lt_d != 0 && (lt_released[this->lt_d >> 20] & 0xffff) == (this->lt_d & 0xffff) &&
	    (this->lt_d >> 20) != self->lt_context &&
	    (self->lt_type == 3 ? ((this->lt_d >> 16) & 15) >= 4 : self->lt_strength >= 6 || ((this->lt_d >> 16) & 15) >= 6 ||
	    (self->lt_strength == 5 && ((this->lt_d >> 16) & 15) == 5));
	this->lt_sum = (int)this->lt_a_blocks + (int)this->lt_b_blocks + (int)this->lt_c_blocks + (int)this->lt_d_blocks;
	self->lt_slot = self->lt_type == 3 && this->lt_sum != 1 ? 0 : this->lt_a_blocks ? 1 : this->lt_b_blocks ? 2 :
	    this->lt_c_blocks ? 3 : this->lt_d_blocks ? 4 : 0;
}

pid$target::thd_wait_begin:entry
/self->lt_wait && self->lt_named && self->lt_type == 6 && self->lt_tables == 1/
{
	this->lt_a = lt_holders[self->lt_key + 5];
	self->lt_slot = this->lt_a != 0 && (lt_unlocked[this->lt_a >> 20] & 0xffff) == (this->lt_a & 0xffff) &&
	    (this->lt_a >> 20) != self->lt_context ? 5 : 0;
}

pid$target::thd_wait_begin:entry
/self->lt_slot/
{
	self->lt_holder = lt_number[lt_holders[self->lt_key + self->lt_slot] >> 20];
	self->lt_holder_text = lt_texts[self->lt_key + self->lt_slot];
}

pid$target::thd_wait_end:entry
/self->lt_wait && timestamp - self->lt_wait >= $1/
{
	printf("lock_wait\t%d\t%d\t%s\t%S\t%S\t%d\t%d\t%S\t%S\n", walltimestamp, (int64_t)tid,
	    self->lt_type == 3 ? "row" : self->lt_type == 4 ? "global" : self->lt_type == 5 ? "metadata" :
	    self->lt_type == 6 ? "table" : "user",
	    self->lt_named ? self->lt_db : "", self->lt_named ? self->lt_table : "",
	    timestamp - self->lt_wait, self->lt_holder, self->lt_holder ? self->lt_holder_text : "", copyinstr(self->lt_text_at));
}

pid$target::thd_wait_end:entry
/self->lt_wait/
{
	this->lt_ns = timestamp - self->lt_wait;
	@lt_time[self->lt_kind] = quantize(this->lt_ns);
	@lt_total[self->lt_kind, self->lt_named ? self->lt_db : "", self->lt_named ? self->lt_table : "", copyinstr(self->lt_text_at)] = sum(this->lt_ns);
	@lt_count[self->lt_kind, self->lt_named ? self->lt_db : "", self->lt_named ? self->lt_table : "", copyinstr(self->lt_text_at)] = count();
}

pid$target::thd_wait_end:entry
{
	self->lt_wait = 0;
	self->lt_type = 0;
	self->lt_kind = 0;
	self->lt_slot = 0;
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
	self->lt_strength = 0;
	self->lt_tables = 0;
	self->lt_key = 0;
	self->lt_context = 0;
	self->lt_wait = 0;
	self->lt_slot = 0;
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
