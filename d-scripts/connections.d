/*
 * connections.d - connections that end: who, from where, how long
 *
 * GROUP    server
 * USAGE    dtrace -q -s connections.d -p PID
 *
 * NEEDS
 *   probes     mysql connection-start connection-done
 *   target     yes
 *
 * FIELDS
 *   end         wall         when it ended
 *   connection  int          its id
 *   user        text         user and
 *   host        text         host or address, as given at its start
 *   status      int          0: ended in order
 *   elapsed     ns           how long it lasted
 *   cn_started  count count  connections that began, by user and host
 *   cn_time     quantize ns  how long connections lasted, by user
 *
 * OUTPUT
 *   One `connection` record for each connection that begins and ends inside the trace, two aggregations
 *   at the end.
 *
 * OVERHEAD
 *   Estimated: two probes a connection.
 *
 * SEE ALSO
 *   query-net for the time in which clients are silent
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
/* Keys of this size are copied. */
#pragma D option strsize=256
/* Users and hosts wait in variables for the end of their connection. */
#pragma D option dynvarsize=16m
#pragma D option switchrate=10hz

/* By connection id, since another thread may end it. The second key is always 0. */
int64_t cn_since[int, int];
string cn_user[int, int];
string cn_host[int, int];

BEGIN
{
	printf("# seatrace\t1\n# script\tconnections\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n",
	    walltimestamp, walltimestamp, $target);
	printf("# record\tconnection\tend:wall\tconnection:int\tuser:text\thost:text\tstatus:int\telapsed:ns\n");
}

mysql$target:::connection-start
{
	cn_since[(int)arg0, 0] = timestamp;
	cn_user[(int)arg0, 0] = arg1 ? copyinstr(arg1) : "";
	cn_host[(int)arg0, 0] = arg2 ? copyinstr(arg2) : "";
	@cn_started[cn_user[(int)arg0, 0], cn_host[(int)arg0, 0]] = count();
}

mysql$target:::connection-done
/cn_since[(int)arg1, 0]/
{
	printf("connection\t%d\t%d\t%S\t%S\t%d\t%d\n", walltimestamp, (int64_t)arg1, cn_user[(int)arg1, 0],
	    cn_host[(int)arg1, 0], (int)arg0, timestamp - cn_since[(int)arg1, 0]);
	@cn_time[cn_user[(int)arg1, 0]] = quantize(timestamp - cn_since[(int)arg1, 0]);
	cn_since[(int)arg1, 0] = 0;
	cn_user[(int)arg1, 0] = 0;
	cn_host[(int)arg1, 0] = 0;
}

END
{
	printf("# aggregation\tcn_started\tcount\tcount\tuser:text\thost:text\n");
	printa("%S\t%S\t%@d\n", @cn_started);
	printf("# end\tcn_started\n");
	printf("# aggregation\tcn_time\tquantize\tns\tuser:text\n");
	printa("%S\t%@d\n", @cn_time);
	printf("# end\tcn_time\n");
	printf("# stop\t%d\n", walltimestamp);
}
