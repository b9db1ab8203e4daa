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
 *   nt_time      quantize ns  time of the calls; of read most is the wait for the client's next command
 *   nt_bytes     sum bytes    bytes
 *   nt_calls     count count  calls
 *   query        text         text of the client's statement
 *   nt_sent      sum bytes    bytes that it sent
 *   nt_send_time sum ns       and time that it took
 *
 * OUTPUT
 *   Five aggregations. What is sent for a prepared statement after its execution, and for commands that
 *   are no statements, stands in the first three alone. Texts are cut at 255 bytes.
 *
 * OVERHEAD
 *   Estimated: four probes a statement and two for each packet; each packet sent copies the text.
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

self int64_t nt_start;          /* arrival of the client's statement; 0: none is open */
self int nt_other;              /* open without query-start: a prepared statement or an event's */
self int nt_depth;              /* its executions that are open, itself and those of routines */
self int nt_end;                /* it ends with this probe */
self uint64_t nt_text_at;       /* address of the statement's text in the server */
self int64_t nt_read;           /* start of a call */
self int64_t nt_write;
self uint64_t nt_size;

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-net\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n",
	    walltimestamp, walltimestamp, $target);
}

/* A statement sent as text. The text is freed before query-done. */
mysql$target:::query-start
{
	self->nt_other = 0;
	self->nt_depth = 0;
	self->nt_start = timestamp;
	self->nt_text_at = arg0;
}

/* The execution of a prepared statement, or of an event's: no query-start belongs to it. */
mysql$target:::query-exec-start
/!self->nt_start && arg5 != 0/
{
	self->nt_other = 1;
	self->nt_depth = 0;
	self->nt_start = timestamp;
	self->nt_text_at = arg0;
}

mysql$target:::query-exec-start
/self->nt_other/
{
	self->nt_depth++;
}

mysql$target:::query-exec-done
/self->nt_other/
{
	self->nt_depth--;
	self->nt_end = self->nt_depth == 0;
}

mysql$target:::query-done
/self->nt_start && !self->nt_other/
{
	self->nt_end = 1;
}

mysql$target:::net-read-start
{
	self->nt_read = timestamp;
}

mysql$target:::net-read-done
/self->nt_read/
{
	@nt_time["read"] = quantize(timestamp - self->nt_read);
	@nt_bytes["read"] = sum(arg1);
	@nt_calls["read"] = count();
	self->nt_read = 0;
}

mysql$target:::net-write-start
{
	self->nt_write = timestamp;
	self->nt_size = arg0;
}

mysql$target:::net-write-done
/self->nt_write/
{
	@nt_time["write"] = quantize(timestamp - self->nt_write);
	@nt_bytes["write"] = sum(self->nt_size);
	@nt_calls["write"] = count();
}

mysql$target:::net-write-done
/self->nt_write && self->nt_start/
{
	this->nt_text = copyinstr(self->nt_text_at);
	@nt_sent[this->nt_text] = sum(self->nt_size);
	@nt_send_time[this->nt_text] = sum(timestamp - self->nt_write);
}

mysql$target:::net-write-done
{
	self->nt_write = 0;
	self->nt_size = 0;
}

mysql$target:::query-exec-done,
mysql$target:::query-done
/self->nt_end/
{
	self->nt_start = 0;
	self->nt_other = 0;
	self->nt_depth = 0;
	self->nt_end = 0;
	self->nt_text_at = 0;
}

END
{
	printf("# aggregation\tnt_time\tquantize\tns\tdirection:text\n");
	printa("%S\t%@d\n", @nt_time);
	printf("# end\tnt_time\n");
	printf("# aggregation\tnt_bytes\tsum\tbytes\tdirection:text\n");
	printa("%S\t%@d\n", @nt_bytes);
	printf("# end\tnt_bytes\n");
	printf("# aggregation\tnt_calls\tcount\tcount\tdirection:text\n");
	printa("%S\t%@d\n", @nt_calls);
	printf("# end\tnt_calls\n");
	printf("# aggregation\tnt_sent\tsum\tbytes\tquery:text\n");
	printa("%S\t%@d\n", @nt_sent);
	printf("# end\tnt_sent\n");
	printf("# aggregation\tnt_send_time\tsum\tns\tquery:text\n");
	printa("%S\t%@d\n", @nt_send_time);
	printf("# end\tnt_send_time\n");
	printf("# stop\t%d\n", walltimestamp);
}
