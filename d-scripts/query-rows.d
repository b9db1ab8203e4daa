/*
 * query-rows.d - rows inserted, updated, deleted and read, by table and statement
 *
 * GROUP    queries
 * USAGE    dtrace -q -s query-rows.d -p PID
 *
 * NEEDS
 *   probes     mysql query-start query-done query-exec-start query-exec-done
 *   probes     mysql insert-row-start insert-row-done
 *   probes     mysql update-row-start update-row-done
 *   probes     mysql delete-row-start delete-row-done
 *   probes     mysql read-row-start read-row-done
 *   probes     mysql index-read-row-start index-read-row-done
 *   target     yes
 *
 * FIELDS
 *   operation  text         insert update delete read index-read
 *   database   text         database and
 *   table      text         table of the row
 *   query      text         text of the client's statement
 *   qr_rows    sum rows     rows for which the engine reported success
 *   qr_calls   count count  calls of the engine; the one that finds no more row is a call too
 *   qr_total   sum ns       time in these calls
 *
 * OUTPUT
 *   Three aggregations over the same keys. Rows of a routine count under the CALL. Texts are cut at 255
 *   bytes.
 *
 * OVERHEAD
 *   Estimated: two probes and four copied keys for every row that is read or written: for minutes, not for
 *   hours.
 *
 * SEE ALSO
 *   statement-time, which counts rows by statement and costs little
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
/* Keys of this size are copied for every row. */
#pragma D option strsize=256
/* Room for some ten thousand texts; more are told as aggregation drops. */
#pragma D option aggsize=16m

self int64_t qr_start;          /* arrival of the client's statement; 0: none is open */
self int qr_other;              /* open without query-start: a prepared statement or an event's */
self int qr_depth;              /* its executions that are open, itself and those of routines */
self int qr_end;                /* it ends with this probe */
self uint64_t qr_text_at;       /* address of the statement's text in the server */
self int64_t qr_row;            /* start of a call for a row */
self uint64_t qr_db_at;         /* addresses of the names of its database and table */
self uint64_t qr_table_at;

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-rows\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n",
	    walltimestamp, walltimestamp, $target);
}

/* A statement sent as text. The text is freed before query-done. */
mysql$target:::query-start
{
	self->qr_other = 0;
	self->qr_depth = 0;
	self->qr_start = timestamp;
	self->qr_text_at = arg0;
}

/* The execution of a prepared statement, or of an event's: no query-start belongs to it. */
mysql$target:::query-exec-start
/!self->qr_start && arg5 != 0/
{
	self->qr_other = 1;
	self->qr_depth = 0;
	self->qr_start = timestamp;
	self->qr_text_at = arg0;
}

mysql$target:::query-exec-start
/self->qr_other/
{
	self->qr_depth++;
}

mysql$target:::query-exec-done
/self->qr_other/
{
	self->qr_depth--;
	self->qr_end = self->qr_depth == 0;
}

mysql$target:::query-done
/self->qr_start && !self->qr_other/
{
	self->qr_end = 1;
}

mysql$target:::insert-row-start
/self->qr_start/
{
	self->qr_row = timestamp;
	self->qr_db_at = arg0;
	self->qr_table_at = arg1;
}

mysql$target:::insert-row-done
/self->qr_row/
{
	this->qr_ns = timestamp - self->qr_row;
	this->qr_db = self->qr_db_at ? copyinstr(self->qr_db_at) : "";
	this->qr_table = self->qr_table_at ? copyinstr(self->qr_table_at) : "";
	this->qr_text = copyinstr(self->qr_text_at);
	@qr_rows["insert", this->qr_db, this->qr_table, this->qr_text] = sum(arg0 == 0);
	@qr_calls["insert", this->qr_db, this->qr_table, this->qr_text] = count();
	@qr_total["insert", this->qr_db, this->qr_table, this->qr_text] = sum(this->qr_ns);
	self->qr_row = 0;
}

mysql$target:::update-row-start
/self->qr_start/
{
	self->qr_row = timestamp;
	self->qr_db_at = arg0;
	self->qr_table_at = arg1;
}

mysql$target:::update-row-done
/self->qr_row/
{
	this->qr_ns = timestamp - self->qr_row;
	this->qr_db = self->qr_db_at ? copyinstr(self->qr_db_at) : "";
	this->qr_table = self->qr_table_at ? copyinstr(self->qr_table_at) : "";
	this->qr_text = copyinstr(self->qr_text_at);
	@qr_rows["update", this->qr_db, this->qr_table, this->qr_text] = sum(arg0 == 0);
	@qr_calls["update", this->qr_db, this->qr_table, this->qr_text] = count();
	@qr_total["update", this->qr_db, this->qr_table, this->qr_text] = sum(this->qr_ns);
	self->qr_row = 0;
}

mysql$target:::delete-row-start
/self->qr_start/
{
	self->qr_row = timestamp;
	self->qr_db_at = arg0;
	self->qr_table_at = arg1;
}

mysql$target:::delete-row-done
/self->qr_row/
{
	this->qr_ns = timestamp - self->qr_row;
	this->qr_db = self->qr_db_at ? copyinstr(self->qr_db_at) : "";
	this->qr_table = self->qr_table_at ? copyinstr(self->qr_table_at) : "";
	this->qr_text = copyinstr(self->qr_text_at);
	@qr_rows["delete", this->qr_db, this->qr_table, this->qr_text] = sum(arg0 == 0);
	@qr_calls["delete", this->qr_db, this->qr_table, this->qr_text] = count();
	@qr_total["delete", this->qr_db, this->qr_table, this->qr_text] = sum(this->qr_ns);
	self->qr_row = 0;
}

mysql$target:::read-row-start
/self->qr_start/
{
	self->qr_row = timestamp;
	self->qr_db_at = arg0;
	self->qr_table_at = arg1;
}

mysql$target:::read-row-done
/self->qr_row/
{
	this->qr_ns = timestamp - self->qr_row;
	this->qr_db = self->qr_db_at ? copyinstr(self->qr_db_at) : "";
	this->qr_table = self->qr_table_at ? copyinstr(self->qr_table_at) : "";
	this->qr_text = copyinstr(self->qr_text_at);
	@qr_rows["read", this->qr_db, this->qr_table, this->qr_text] = sum(arg0 == 0);
	@qr_calls["read", this->qr_db, this->qr_table, this->qr_text] = count();
	@qr_total["read", this->qr_db, this->qr_table, this->qr_text] = sum(this->qr_ns);
	self->qr_row = 0;
}

mysql$target:::index-read-row-start
/self->qr_start/
{
	self->qr_row = timestamp;
	self->qr_db_at = arg0;
	self->qr_table_at = arg1;
}

mysql$target:::index-read-row-done
/self->qr_row/
{
	this->qr_ns = timestamp - self->qr_row;
	this->qr_db = self->qr_db_at ? copyinstr(self->qr_db_at) : "";
	this->qr_table = self->qr_table_at ? copyinstr(self->qr_table_at) : "";
	this->qr_text = copyinstr(self->qr_text_at);
	@qr_rows["index-read", this->qr_db, this->qr_table, this->qr_text] = sum(arg0 == 0);
	@qr_calls["index-read", this->qr_db, this->qr_table, this->qr_text] = count();
	@qr_total["index-read", this->qr_db, this->qr_table, this->qr_text] = sum(this->qr_ns);
	self->qr_row = 0;
}

mysql$target:::query-exec-done,
mysql$target:::query-done
/self->qr_end/
{
	self->qr_start = 0;
	self->qr_other = 0;
	self->qr_depth = 0;
	self->qr_end = 0;
	self->qr_text_at = 0;
	self->qr_row = 0;
	self->qr_db_at = 0;
	self->qr_table_at = 0;
}

END
{
	printf("# aggregation\tqr_rows\tsum\trows\toperation:text\tdatabase:text\ttable:text\tquery:text\n");
	printa("%S\t%S\t%S\t%S\t%@d\n", @qr_rows);
	printf("# end\tqr_rows\n");
	printf("# aggregation\tqr_calls\tcount\tcount\toperation:text\tdatabase:text\ttable:text\tquery:text\n");
	printa("%S\t%S\t%S\t%S\t%@d\n", @qr_calls);
	printf("# end\tqr_calls\n");
	printf("# aggregation\tqr_total\tsum\tns\toperation:text\tdatabase:text\ttable:text\tquery:text\n");
	printa("%S\t%S\t%S\t%S\t%@d\n", @qr_total);
	printf("# end\tqr_total\n");
	printf("# stop\t%d\n", walltimestamp);
}
