/*
 * query-time-pid-mysql.d - one line for each statement that ends
 *
 * GROUP    queries
 * USAGE    dtrace -q -s query-time-pid-mysql.d -p PID
 *
 * NEEDS
 *   functions  _Z16dispatch_commandP3THDPK8COM_DATA19enum_server_command _ZN16Diagnostics_area16set_error_statusEjPK*
 *   target     yes
 *
 * OPTIONS
 *   --min TIME     $1    only statements that took at least this long; 0s
 *
 * FIELDS
 *   end         wall   when it ended
 *   thread      int    the server's thread that ran it; the connection, user and database are not visible here
 *   status      int    0: success, else the server's error number
 *   elapsed     ns     from its arrival to its end
 *   kind        text   direct: sent as text
 *   length      bytes  length of its whole text
 *   query       text   its text, cut at strsize - 1 bytes
 *
 * OUTPUT
 *   One `query` record for each statement sent as text; executions of prepared statements are not seen.
 *   Several statements sent at once are one line. For MySQL 8 and 9; tried on a program that has the same
 *   function, not on a server.
 *
 * OVERHEAD
 *   Estimated: two probes a command, of which one is a return probe, and a copy of the text of each
 *   statement.
 *
 * SEE ALSO
 *   query-time.d for servers with static probes, query-time-pid.d for MariaDB
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

self int64_t qt_start;          /* arrival of the statement; 0: none is open */
self int qt_error;
self uint64_t qt_length;
self string qt_text;

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-time\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t1024\n",
	    walltimestamp, walltimestamp, $target);
	printf("# record\tquery\tend:wall\tthread:int\tstatus:int\telapsed:ns\tkind:text\tlength:bytes\tquery:text\n");
}

/* COM_DATA begins with the address of the text and its length. The text is overwritten by the answer. */
pid$target::_Z16dispatch_commandP3THDPK8COM_DATA19enum_server_command:entry
/(int)arg2 == 3/
{
	self->qt_start = timestamp;
	self->qt_text = copyinstr(*(uint64_t *)copyin(arg1, 8));
	self->qt_length = *(uint32_t *)copyin(arg1 + 8, 4);
	self->qt_error = 0;
}

pid$target::_ZN16Diagnostics_area16set_error_statusEjPK*:entry
/self->qt_start/
{
	self->qt_error = (int)arg1;
}

pid$target::_Z16dispatch_commandP3THDPK8COM_DATA19enum_server_command:return
/self->qt_start && timestamp - self->qt_start >= $1/
{
	printf("query\t%d\t%d\t%d\t%d\tdirect\t%d\t%S\n", walltimestamp, (int64_t)tid, self->qt_error,
	    timestamp - self->qt_start, self->qt_length, self->qt_text);
}

pid$target::_Z16dispatch_commandP3THDPK8COM_DATA19enum_server_command:return
/self->qt_start/
{
	self->qt_start = 0;
	self->qt_error = 0;
	self->qt_length = 0;
	self->qt_text = 0;
}

END
{
	printf("# stop\t%d\n", walltimestamp);
}
