/*
 * query-net.d - what statements send, and how long the server waits for clients
 *
 * GROUP    queries
 * USAGE    dtrace -q -s query-net.d -p PID
 *
 * NEEDS
 *   probes     mysql query-start query-done query-exec-start query-exec-done net-read-start net-read-done
 *   probes     mysql net-write-start net-write-done
 *   target     yes
 *
 * FIELDS
 *   direction    text         read (from a client) or write (to it)
 *   qn_time      quantize ns  time of the calls; of read most is the wait for the client's next command
 *   qn_bytes     sum bytes    bytes
 *   qn_calls     count count  calls
 *   query        text         text of the client's statement
 *   qn_sent      sum bytes    bytes that it sent
 *   qn_send_time sum ns       and time that it took
 *
 * OUTPUT
 *   Five aggregations. What is sent for a prepared statement after its execution, and for commands that
 *   are no statements, stands in the first three alone. Texts are cut at 255 bytes.
 *
 * OVERHEAD
 *   Four probes a statement and two for each packet; each packet sent copies the text.
 *
 * SEE ALSO
 *   query-phases
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
/* Keys of this size are copied. */
#pragma D option strsize=256
/* Room for some ten thousand texts; more are told as aggregation drops. */
#pragma D option aggsize=16m

self int64_t qn_start;          /* arrival of the client's statement; 0: none is open */
self int qn_other;              /* open without query-start: a prepared statement or an event's */
self int qn_depth;              /* its executions that are open, itself and those of routines */
self int qn_end;                /* it ends with this probe */
self uint64_t qn_text_at;       /* address of the statement's text in the server */
self int64_t qn_read;           /* start of a call */
self int64_t qn_write;
self uint64_t qn_size;

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-net\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n",
	    walltimestamp, walltimestamp, $target);
}

/* A statement sent as text. The text is freed before query-done. */
mysql$target:::query-start
{
	self->qn_other = 0;
	self->qn_depth = 0;
	self->qn_start = timestamp;
	self->qn_text_at = arg0;
}

/* The execution of a prepared statement, or of an event's: no query-start belongs to it. */
mysql$target:::query-exec-start
/!self->qn_start && arg5 != 0/
{
	self->qn_other = 1;
	self->qn_depth = 0;
	self->qn_start = timestamp;
	self->qn_text_at = arg0;
}

mysql$target:::query-exec-start
/self->qn_other/
{
	self->qn_depth++;
}

mysql$target:::query-exec-done
/self->qn_other/
{
	self->qn_depth--;
	self->qn_end = self->qn_depth == 0;
}

mysql$target:::query-done
/self->qn_start && !self->qn_other/
{
	self->qn_end = 1;
}

mysql$target:::net-read-start
{
	self->qn_read = timestamp;
}

mysql$target:::net-read-done
/self->qn_read/
{
	@qn_time["read"] = quantize(timestamp - self->qn_read);
	@qn_bytes["read"] = sum(arg1);
	@qn_calls["read"] = count();
	self->qn_read = 0;
}

mysql$target:::net-write-start
{
	self->qn_write = timestamp;
	self->qn_size = arg0;
}

mysql$target:::net-write-done
/self->qn_write/
{
	@qn_time["write"] = quantize(timestamp - self->qn_write);
	@qn_bytes["write"] = sum(self->qn_size);
	@qn_calls["write"] = count();
}

mysql$target:::net-write-done
/self->qn_write && self->qn_start/
{
	this->qn_text = copyinstr(self->qn_text_at);
	@qn_sent[this->qn_text] = sum(self->qn_size);
	@qn_send_time[this->qn_text] = sum(timestamp - self->qn_write);
}

mysql$target:::net-write-done
{
	self->qn_write = 0;
	self->qn_size = 0;
}

mysql$target:::query-exec-done,
mysql$target:::query-done
/self->qn_end/
{
	self->qn_start = 0;
	self->qn_other = 0;
	self->qn_depth = 0;
	self->qn_end = 0;
	self->qn_text_at = 0;
}

END
{
	printf("# aggregation\tqn_time\tquantize\tns\tdirection:text\n");
	printa("%S\t%@d\n", @qn_time);
	printf("# end\tqn_time\n");
	printf("# aggregation\tqn_bytes\tsum\tbytes\tdirection:text\n");
	printa("%S\t%@d\n", @qn_bytes);
	printf("# end\tqn_bytes\n");
	printf("# aggregation\tqn_calls\tcount\tcount\tdirection:text\n");
	printa("%S\t%@d\n", @qn_calls);
	printf("# end\tqn_calls\n");
	printf("# aggregation\tqn_sent\tsum\tbytes\tquery:text\n");
	printa("%S\t%@d\n", @qn_sent);
	printf("# end\tqn_sent\n");
	printf("# aggregation\tqn_send_time\tsum\tns\tquery:text\n");
	printa("%S\t%@d\n", @qn_send_time);
	printf("# end\tqn_send_time\n");
	printf("# stop\t%d\n", walltimestamp);
}
