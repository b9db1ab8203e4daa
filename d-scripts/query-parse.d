/*
 * query-parse.d - time spent parsing, by text
 *
 * GROUP    queries
 * USAGE    dtrace -q -s query-parse.d -p PID
 *
 * NEEDS
 *   probes     mysql query-parse-start query-parse-done
 *   target     yes
 *
 * OPTIONS
 *   --min TIME     $1    only those that took at least this long; 0s
 *
 * FIELDS
 *   query      text         the text that was parsed
 *   qpa_time   quantize ns  time of all of them
 *   qpa_total  sum ns       time by text
 *   qpa_count  count count  how often
 *   qpa_failed sum count    how often it was wrong
 *
 * OUTPUT
 *   Four aggregations. Texts are cut at 255 bytes: longer ones that begin alike share a row.
 *
 * OVERHEAD
 *   Estimated: two probes and one copied text for each statement that is parsed.
 *
 * SEE ALSO
 *   query-phases, which shows parsing as a part of the statement
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* Keys of this size are copied. */
#pragma D option strsize=256
/* Room for some ten thousand texts; more are told as aggregation drops. */
#pragma D option aggsize=16m

self int64_t qpa_since;
self uint64_t qpa_text_at;      /* address of the text in the server */

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-parse\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n",
	    walltimestamp, walltimestamp, $target);
}

mysql$target:::query-parse-start
{
	self->qpa_since = timestamp;
	self->qpa_text_at = arg0;
}

mysql$target:::query-parse-done
/self->qpa_since && timestamp - self->qpa_since >= $1/
{
	this->qpa_ns = timestamp - self->qpa_since;
	this->qpa_text = copyinstr(self->qpa_text_at);
	@qpa_time = quantize(this->qpa_ns);
	@qpa_total[this->qpa_text] = sum(this->qpa_ns);
	@qpa_count[this->qpa_text] = count();
	@qpa_failed[this->qpa_text] = sum(arg0 != 0);
}

mysql$target:::query-parse-done
{
	self->qpa_since = 0;
	self->qpa_text_at = 0;
}

END
{
	printf("# aggregation\tqpa_time\tquantize\tns\n");
	printa("%@d\n", @qpa_time);
	printf("# end\tqpa_time\n");
	printf("# aggregation\tqpa_total\tsum\tns\tquery:text\n");
	printa("%S\t%@d\n", @qpa_total);
	printf("# end\tqpa_total\n");
	printf("# aggregation\tqpa_count\tcount\tcount\tquery:text\n");
	printa("%S\t%@d\n", @qpa_count);
	printf("# end\tqpa_count\n");
	printf("# aggregation\tqpa_failed\tsum\tcount\tquery:text\n");
	printa("%S\t%@d\n", @qpa_failed);
	printf("# end\tqpa_failed\n");
	printf("# stop\t%d\n", walltimestamp);
}
