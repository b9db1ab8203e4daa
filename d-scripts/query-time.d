/*
 * query-time.d - one line for each statement that ends
 *
 * GROUP    queries
 * USAGE    dtrace -q -s query-time.d -p PID
 *
 * NEEDS
 *   probes     mysql query-start query-done query-exec-start query-exec-done query-parse-done query-cache-hit
 *   target     yes
 *
 * OPTIONS
 *   --min TIME     $1    only statements that took at least this long; 0s
 *   --user TEXT    $$2   only statements of this user
 *   --db TEXT      $$3   only statements in this default database
 *
 * FIELDS
 *   end         wall  when it ended
 *   connection  int   connection id of the server
 *   user        text  user that the server matched
 *   host        text  host or address of the client
 *   database    text  default database
 *   status      int   0: success, 1: error
 *   elapsed     ns    from arrival to end
 *   kind        text  direct: sent as text. prepared: execution of a prepared statement.
 *                     routine: inside a stored routine, trigger or event
 *   query       text  its text, cut at strsize - 1 bytes
 *
 * OUTPUT
 *   One `query` record a statement. A statement inside a routine has a line of its own before the line
 *   of the CALL, whose time holds it. EXECUTE as text is one direct line. With --min a text is copied
 *   only once the statement has been slow; one that turned slow while its last packet was sent has an
 *   empty text. A prepared statement's time ends before its last packet is sent.
 *
 * OVERHEAD
 *   Estimated: four to six probes a statement, and a copy of its text. With --min no text of a fast
 *   statement is copied.
 *
 * SEE ALSO
 *   query-latency, query-phases, statement-time; query-time-pid.d for servers without static probes
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* A text of this size is copied for every statement: wider would cost all of them. */
#pragma D option strsize=1024
/* Records are read ten times a second, so that lines appear at once and buffers do not fill. */
#pragma D option switchrate=10hz
#pragma D option bufsize=16m
/* Texts wait in thread-local variables for the end of their statement. */
#pragma D option dynvarsize=16m

self int64_t qt_start;          /* arrival of the client's statement; 0: none is open */
self int qt_other;              /* open without query-start: a prepared statement or an event's */
self int qt_have;               /* its text has been copied */
self int qt_depth;              /* executions open, the client's and those inside routines */
self int64_t qt_connection;
self uint64_t qt_text_at;       /* addresses of its text, user, host and database in the server */
self uint64_t qt_user_at;
self uint64_t qt_host_at;
self uint64_t qt_db_at;
self string qt_text;
self string qt_user;
self string qt_host;
self string qt_db;
/* Executions that have a line of their own, by depth: start, address of the text, exec_type. */
self int64_t qt_inner_start[int];
self uint64_t qt_inner_text[int];
self int qt_inner_kind[int];

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-time\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t1024\n",
	    walltimestamp, walltimestamp, $target);
	printf("# record\tquery\tend:wall\tconnection:int\tuser:text\thost:text\tdatabase:text\tstatus:int\telapsed:ns\tkind:text\tquery:text\n");
}

/* The client's statement: sent as text. The text is freed before query-done. */
mysql$target:::query-start
/($$2 == "" || (arg3 != 0 && copyinstr(arg3) == $$2)) && ($$3 == "" || (arg2 != 0 && copyinstr(arg2) == $$3))/
{
	self->qt_start = timestamp;
	self->qt_other = 0;
	self->qt_have = 0;
	self->qt_depth = 0;
	self->qt_connection = arg1;
	self->qt_text_at = arg0;
	self->qt_db_at = arg2;
	self->qt_user_at = arg3;
	self->qt_host_at = arg4;
}

mysql$target:::query-start
/self->qt_start && $1 == 0/
{
	self->qt_have = 1;
	self->qt_text = copyinstr(arg0);
	self->qt_user = arg3 ? copyinstr(arg3) : "";
	self->qt_host = arg4 ? copyinstr(arg4) : "";
	self->qt_db = arg2 ? copyinstr(arg2) : "";
}

/* The last places where the text of a slow statement still exists: after its execution, a syntax error, a cached result. */
mysql$target:::query-exec-done
/self->qt_depth == 1 && self->qt_start && !self->qt_have && timestamp - self->qt_start >= $1/
{
	self->qt_have = 1;
	self->qt_text = copyinstr(self->qt_text_at);
	self->qt_user = self->qt_user_at ? copyinstr(self->qt_user_at) : "";
	self->qt_host = self->qt_host_at ? copyinstr(self->qt_host_at) : "";
	self->qt_db = self->qt_db_at ? copyinstr(self->qt_db_at) : "";
}

mysql$target:::query-parse-done,
mysql$target:::query-cache-hit
/self->qt_depth == 0 && self->qt_start && !self->qt_have && timestamp - self->qt_start >= $1/
{
	self->qt_have = 1;
	self->qt_text = copyinstr(self->qt_text_at);
	self->qt_user = self->qt_user_at ? copyinstr(self->qt_user_at) : "";
	self->qt_host = self->qt_host_at ? copyinstr(self->qt_host_at) : "";
	self->qt_db = self->qt_db_at ? copyinstr(self->qt_db_at) : "";
}

/* An execution that no query-start announced: a prepared statement of the client, or an event's statement. */
mysql$target:::query-exec-start
/!self->qt_start && self->qt_depth == 0 && arg5 != 0 &&
    ($$2 == "" || (arg3 != 0 && copyinstr(arg3) == $$2)) && ($$3 == "" || (arg2 != 0 && copyinstr(arg2) == $$3))/
{
	self->qt_other = 1;
	self->qt_connection = arg1;
	self->qt_db_at = arg2;
	self->qt_user_at = arg3;
	self->qt_host_at = arg4;
}

mysql$target:::query-exec-start
/self->qt_start || self->qt_other/
{
	self->qt_depth++;
	/* EXECUTE as text (1 inside a direct statement) is told by its direct line. */
	self->qt_inner_start[self->qt_depth] = arg5 == 3 || (arg5 != 0 && self->qt_depth == 1) ? timestamp : 0;
	self->qt_inner_text[self->qt_depth] = arg0;
	self->qt_inner_kind[self->qt_depth] = arg5;
}

mysql$target:::query-exec-done
/self->qt_depth && self->qt_inner_start[self->qt_depth] &&
    timestamp - self->qt_inner_start[self->qt_depth] >= $1/
{
	printf("query\t%d\t%d\t%S\t%S\t%S\t%d\t%d\t%s\t%S\n", walltimestamp, self->qt_connection,
	    self->qt_user_at ? copyinstr(self->qt_user_at) : "", self->qt_host_at ? copyinstr(self->qt_host_at) : "",
	    self->qt_db_at ? copyinstr(self->qt_db_at) : "", arg0 != 0,
	    timestamp - self->qt_inner_start[self->qt_depth],
	    self->qt_inner_kind[self->qt_depth] == 3 ? "routine" : "prepared",
	    copyinstr(self->qt_inner_text[self->qt_depth]));
}

mysql$target:::query-exec-done
/self->qt_depth/
{
	self->qt_inner_start[self->qt_depth] = 0;
	self->qt_inner_text[self->qt_depth] = 0;
	self->qt_inner_kind[self->qt_depth] = 0;
	self->qt_depth--;
}

mysql$target:::query-exec-done
/self->qt_depth == 0 && self->qt_other/
{
	self->qt_other = 0;
	self->qt_connection = 0;
	self->qt_user_at = 0;
	self->qt_host_at = 0;
	self->qt_db_at = 0;
}

mysql$target:::query-done
/self->qt_start && timestamp - self->qt_start >= $1/
{
	printf("query\t%d\t%d\t%S\t%S\t%S\t%d\t%d\tdirect\t%S\n", walltimestamp, self->qt_connection,
	    self->qt_have ? self->qt_user : "", self->qt_have ? self->qt_host : "", self->qt_have ? self->qt_db : "",
	    arg0 != 0, timestamp - self->qt_start, self->qt_have ? self->qt_text : "");
}

mysql$target:::query-done
/self->qt_start/
{
	self->qt_start = 0;
	self->qt_have = 0;
	self->qt_depth = 0;
	self->qt_connection = 0;
	self->qt_text_at = 0;
	self->qt_user_at = 0;
	self->qt_host_at = 0;
	self->qt_db_at = 0;
	self->qt_text = 0;
	self->qt_user = 0;
	self->qt_host = 0;
	self->qt_db = 0;
}

END
{
	printf("# stop\t%d\n", walltimestamp);
}
