/*
 * query-sort.d - sorts (filesort) by statement and table: time, count and rows
 *
 * GROUP    queries
 * USAGE    dtrace -q -s query-sort.d -p PID
 *
 * NEEDS
 *   probes     mysql filesort-start filesort-done query-start query-done query-exec-start query-exec-done
 *   target     yes
 *
 * OPTIONS
 *   --min TIME     $1    only sorts that took at least this long; 0s
 *
 * FIELDS
 *   database   text         database and
 *   table      text         table that was sorted, as the probe names them
 *   query      text         text of the client's statement
 *   qs_total   sum ns       time spent sorting
 *   qs_count   count count  sorts
 *   qs_max     max ns       the slowest
 *   qs_rows    sum rows     rows that came out
 *   qs_time    quantize ns  time of all sorts
 *
 * OUTPUT
 *   Four aggregations over the same keys and one distribution. A sort inside a routine counts under the
 *   CALL. The time of a sort holds the reading of the rows that are sorted.
 *   Texts are cut at 255 bytes.
 *
 * OVERHEAD
 *   Estimated: four probes a statement and two a sort; only a sort copies texts.
 *
 * SEE ALSO
 *   query-phases, which shows a sort as a part of its statement
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* A key of this size is copied for every sort. */
#pragma D option strsize=256
/* Room for some ten thousand texts; more are told as aggregation drops. */
#pragma D option aggsize=16m

self int64_t qs_start;          /* arrival of the client's statement; 0: none is open */
self int qs_other;              /* open without query-start: a prepared statement or an event's */
self int qs_depth;              /* its executions that are open, itself and those of routines */
self int qs_end;                /* it ends with this probe */
self uint64_t qs_text_at;       /* address of the statement's text in the server */
self int64_t qs_sort;           /* start of a sort */
self uint64_t qs_db_at;         /* addresses of the names of its database and table */
self uint64_t qs_table_at;

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-sort\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n",
	    walltimestamp, walltimestamp, $target);
}

/* A statement sent as text. The text is freed before query-done. */
mysql$target:::query-start
{
	self->qs_other = 0;
	self->qs_depth = 0;
	self->qs_start = timestamp;
	self->qs_text_at = arg0;
}

/* The execution of a prepared statement, or of an event's: no query-start belongs to it. */
mysql$target:::query-exec-start
/!self->qs_start && arg5 != 0/
{
	self->qs_other = 1;
	self->qs_depth = 0;
	self->qs_start = timestamp;
	self->qs_text_at = arg0;
}

mysql$target:::query-exec-start
/self->qs_other/
{
	self->qs_depth++;
}

mysql$target:::query-exec-done
/self->qs_other/
{
	self->qs_depth--;
	self->qs_end = self->qs_depth == 0;
}

mysql$target:::query-done
/self->qs_start && !self->qs_other/
{
	self->qs_end = 1;
}

mysql$target:::filesort-start
/self->qs_start/
{
	self->qs_sort = timestamp;
	self->qs_db_at = arg0;
	self->qs_table_at = arg1;
}

mysql$target:::filesort-done
/self->qs_sort && timestamp - self->qs_sort >= $1/
{
	this->qs_ns = timestamp - self->qs_sort;
	this->qs_db = self->qs_db_at ? copyinstr(self->qs_db_at) : "";
	this->qs_table = self->qs_table_at ? copyinstr(self->qs_table_at) : "";
	this->qs_text = copyinstr(self->qs_text_at);
	@qs_total[this->qs_db, this->qs_table, this->qs_text] = sum(this->qs_ns);
	@qs_count[this->qs_db, this->qs_table, this->qs_text] = count();
	@qs_max[this->qs_db, this->qs_table, this->qs_text] = max(this->qs_ns);
	@qs_rows[this->qs_db, this->qs_table, this->qs_text] = sum(arg1);
	@qs_time = quantize(this->qs_ns);
}

mysql$target:::filesort-done
{
	self->qs_sort = 0;
	self->qs_db_at = 0;
	self->qs_table_at = 0;
}

mysql$target:::query-exec-done,
mysql$target:::query-done
/self->qs_end/
{
	self->qs_start = 0;
	self->qs_other = 0;
	self->qs_depth = 0;
	self->qs_end = 0;
	self->qs_text_at = 0;
	self->qs_sort = 0;
}

END
{
	printf("# aggregation\tqs_total\tsum\tns\tdatabase:text\ttable:text\tquery:text\n");
	printa("%S\t%S\t%S\t%@d\n", @qs_total);
	printf("# end\tqs_total\n");
	printf("# aggregation\tqs_count\tcount\tcount\tdatabase:text\ttable:text\tquery:text\n");
	printa("%S\t%S\t%S\t%@d\n", @qs_count);
	printf("# end\tqs_count\n");
	printf("# aggregation\tqs_max\tmax\tns\tdatabase:text\ttable:text\tquery:text\n");
	printa("%S\t%S\t%S\t%@d\n", @qs_max);
	printf("# end\tqs_max\n");
	printf("# aggregation\tqs_rows\tsum\trows\tdatabase:text\ttable:text\tquery:text\n");
	printa("%S\t%S\t%S\t%@d\n", @qs_rows);
	printf("# end\tqs_rows\n");
	printf("# aggregation\tqs_time\tquantize\tns\n");
	printa("%@d\n", @qs_time);
	printf("# end\tqs_time\n");
	printf("# stop\t%d\n", walltimestamp);
}
