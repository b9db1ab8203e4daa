/*
 * statement-time.d - execution by command: time, count, errors and rows
 *
 * GROUP    queries
 * USAGE    dtrace -q -s statement-time.d -p PID
 *
 * NEEDS
 *   probes     mysql select-start select-done
 *   probes     mysql insert-start insert-done
 *   probes     mysql insert-select-start insert-select-done
 *   probes     mysql update-start update-done
 *   probes     mysql multi-update-start multi-update-done
 *   probes     mysql delete-start delete-done
 *   probes     mysql multi-delete-start multi-delete-done
 *   target     yes
 *
 * OPTIONS
 *   --min TIME     $1    only executions that took at least this long; 0s
 *
 * FIELDS
 *   command     text            select insert insert-select update multi-update delete multi-delete
 *   st_time     quantize ns     time of the executions
 *   st_total    sum ns          their time together
 *   st_count    count count     how many
 *   st_failed   sum count       of them, those that failed
 *   st_matched  sum rows        select: rows found; update and multi-update: rows matched
 *   st_changed  sum rows        rows inserted, changed or deleted
 *
 * OUTPUT
 *   Six aggregations by command. A statement inside a routine counts by itself, CALL does not appear;
 *   nor does any other command. The time is that of execution, without parsing and the last packet.
 *
 * OVERHEAD
 *   Estimated: two probes for each execution of these commands; nothing is copied.
 *
 * SEE ALSO
 *   query-latency for the whole time of statements, query-rows for the rows of tables
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs

self int st_level;              /* statements that are open: functions and triggers nest */
self int64_t st_since[int];

BEGIN
{
	printf("# seatrace\t1\n# script\tstatement-time\t1\n# start\t%d\t%Y\n# target\t%d\n",
	    walltimestamp, walltimestamp, $target);
}

mysql$target:::select-start,
mysql$target:::insert-start,
mysql$target:::insert-select-start,
mysql$target:::update-start,
mysql$target:::multi-update-start,
mysql$target:::delete-start,
mysql$target:::multi-delete-start
{
	self->st_level++;
	self->st_since[self->st_level] = timestamp;
}

mysql$target:::select-done
/self->st_level > 0 && timestamp - self->st_since[self->st_level] >= $1/
{
	@st_time["select"] = quantize(timestamp - self->st_since[self->st_level]);
	@st_total["select"] = sum(timestamp - self->st_since[self->st_level]);
	@st_count["select"] = count();
	@st_failed["select"] = sum(arg0 != 0);
	@st_matched["select"] = sum(arg1);
	@st_changed["select"] = sum(0);
}

mysql$target:::insert-done
/self->st_level > 0 && timestamp - self->st_since[self->st_level] >= $1/
{
	@st_time["insert"] = quantize(timestamp - self->st_since[self->st_level]);
	@st_total["insert"] = sum(timestamp - self->st_since[self->st_level]);
	@st_count["insert"] = count();
	@st_failed["insert"] = sum(arg0 != 0);
	@st_matched["insert"] = sum(0);
	@st_changed["insert"] = sum(arg1);
}

mysql$target:::insert-select-done
/self->st_level > 0 && timestamp - self->st_since[self->st_level] >= $1/
{
	@st_time["insert-select"] = quantize(timestamp - self->st_since[self->st_level]);
	@st_total["insert-select"] = sum(timestamp - self->st_since[self->st_level]);
	@st_count["insert-select"] = count();
	@st_failed["insert-select"] = sum(arg0 != 0);
	@st_matched["insert-select"] = sum(0);
	@st_changed["insert-select"] = sum(arg1);
}

mysql$target:::update-done
/self->st_level > 0 && timestamp - self->st_since[self->st_level] >= $1/
{
	@st_time["update"] = quantize(timestamp - self->st_since[self->st_level]);
	@st_total["update"] = sum(timestamp - self->st_since[self->st_level]);
	@st_count["update"] = count();
	@st_failed["update"] = sum(arg0 != 0);
	@st_matched["update"] = sum(arg1);
	@st_changed["update"] = sum(arg2);
}

mysql$target:::multi-update-done
/self->st_level > 0 && timestamp - self->st_since[self->st_level] >= $1/
{
	@st_time["multi-update"] = quantize(timestamp - self->st_since[self->st_level]);
	@st_total["multi-update"] = sum(timestamp - self->st_since[self->st_level]);
	@st_count["multi-update"] = count();
	@st_failed["multi-update"] = sum(arg0 != 0);
	@st_matched["multi-update"] = sum(arg1);
	@st_changed["multi-update"] = sum(arg2);
}

mysql$target:::delete-done
/self->st_level > 0 && timestamp - self->st_since[self->st_level] >= $1/
{
	@st_time["delete"] = quantize(timestamp - self->st_since[self->st_level]);
	@st_total["delete"] = sum(timestamp - self->st_since[self->st_level]);
	@st_count["delete"] = count();
	@st_failed["delete"] = sum(arg0 != 0);
	@st_matched["delete"] = sum(0);
	@st_changed["delete"] = sum(arg1);
}

mysql$target:::multi-delete-done
/self->st_level > 0 && timestamp - self->st_since[self->st_level] >= $1/
{
	@st_time["multi-delete"] = quantize(timestamp - self->st_since[self->st_level]);
	@st_total["multi-delete"] = sum(timestamp - self->st_since[self->st_level]);
	@st_count["multi-delete"] = count();
	@st_failed["multi-delete"] = sum(arg0 != 0);
	@st_matched["multi-delete"] = sum(0);
	@st_changed["multi-delete"] = sum(arg1);
}

mysql$target:::select-done,
mysql$target:::insert-done,
mysql$target:::insert-select-done,
mysql$target:::update-done,
mysql$target:::multi-update-done,
mysql$target:::delete-done,
mysql$target:::multi-delete-done
/self->st_level > 0/
{
	self->st_since[self->st_level] = 0;
	self->st_level--;
}

END
{
	printf("# aggregation\tst_time\tquantize\tns\tcommand:text\n");
	printa("%S\t%@d\n", @st_time);
	printf("# end\tst_time\n");
	printf("# aggregation\tst_total\tsum\tns\tcommand:text\n");
	printa("%S\t%@d\n", @st_total);
	printf("# end\tst_total\n");
	printf("# aggregation\tst_count\tcount\tcount\tcommand:text\n");
	printa("%S\t%@d\n", @st_count);
	printf("# end\tst_count\n");
	printf("# aggregation\tst_failed\tsum\tcount\tcommand:text\n");
	printa("%S\t%@d\n", @st_failed);
	printf("# end\tst_failed\n");
	printf("# aggregation\tst_matched\tsum\trows\tcommand:text\n");
	printa("%S\t%@d\n", @st_matched);
	printf("# end\tst_matched\n");
	printf("# aggregation\tst_changed\tsum\trows\tcommand:text\n");
	printa("%S\t%@d\n", @st_changed);
	printf("# end\tst_changed\n");
	printf("# stop\t%d\n", walltimestamp);
}
