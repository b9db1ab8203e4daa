/*
 * file-latency-freebsd.d - time of reads, writes and syncs, by file
 *
 * GROUP    files
 * USAGE    dtrace -q -s file-latency-freebsd.d -p PID
 *
 * NEEDS
 *   providers  syscall
 *   system     freebsd
 *   target     yes
 *
 * OPTIONS
 *   --min TIME       $1              only calls that took at least this long; 0s
 *   --interval TIME  tick-1d         print a cumulative pass that often; 1s..1d
 *
 * FIELDS
 *   call   text   name of the system call
 *   file   text   number of the descriptor, as `fd 12`: see `procstat files PID`
 *   value         fl_time: ns, sum. fl_bytes: bytes read or written, sum. file_latency: ns, distribution
 *
 * OUTPUT
 *   Three aggregations with the same keys. Calls that failed are left out.
 *
 * OVERHEAD
 *   Estimated: two probes a call, one name looked up for each that is kept.
 *
 * SEE ALSO
 *   file-opens, io-latency (the disk itself), blocked-calls (who called)
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* A start time for each thread that is in a call. */
#pragma D option dynvarsize=4m

self uint64_t fl_start;
self int fl_fd;
uint64_t fl_pass;

BEGIN
{
	printf("# seatrace\t1\n# script\tfile-latency\t1\n");
	printf("# start\t%d\t%Y\n# target\t%d\n", walltimestamp, walltimestamp, $target);
}

syscall::read:entry, syscall::readv:entry, syscall::pread:entry, syscall::preadv:entry, syscall::write:entry,
syscall::writev:entry, syscall::pwrite:entry, syscall::pwritev:entry, syscall::fsync:entry,
syscall::fdatasync:entry
/pid == $target/
{
	self->fl_start = timestamp;
	self->fl_fd = arg0;
}

syscall::read:return, syscall::readv:return, syscall::pread:return, syscall::preadv:return,
syscall::write:return, syscall::writev:return, syscall::pwrite:return, syscall::pwritev:return,
syscall::fsync:return, syscall::fdatasync:return
/self->fl_start && timestamp - self->fl_start >= $1 && (int64_t)arg1 >= 0/
{
	this->fl_name = strjoin("fd ", lltostr(self->fl_fd));
	@fl_time[probefunc, this->fl_name] = sum(timestamp - self->fl_start);
	@fl_bytes[probefunc, this->fl_name] = sum(strstr(probefunc, "sync") == NULL ? arg1 : 0);
	@file_latency[probefunc, this->fl_name] = quantize(timestamp - self->fl_start);
}

syscall::read:return, syscall::readv:return, syscall::pread:return, syscall::preadv:return,
syscall::write:return, syscall::writev:return, syscall::pwrite:return, syscall::pwritev:return,
syscall::fsync:return, syscall::fdatasync:return
/self->fl_start/
{
	self->fl_start = 0;
	self->fl_fd = 0;
}

tick-1d
{
	fl_pass++;
	printf("# pass\t%d\t%d\tcumulative\n", fl_pass, walltimestamp);
	printf("# aggregation\tfl_time\tsum\tns\tcall:text\tfile:text\n");
	printa("%S\t%S\t%@d\n", @fl_time);
	printf("# end\tfl_time\n");
	printf("# aggregation\tfl_bytes\tsum\tbytes\tcall:text\tfile:text\n");
	printa("%S\t%S\t%@d\n", @fl_bytes);
	printf("# end\tfl_bytes\n");
	printf("# aggregation\tfile_latency\tquantize\tns\tcall:text\tfile:text\n");
	printa("%S\t%S\t%@d\n", @file_latency);
	printf("# end\tfile_latency\n");
}

END
{
	printf("# pass\t%d\t%d\tcumulative\n", fl_pass + 1, walltimestamp);
	printf("# aggregation\tfl_time\tsum\tns\tcall:text\tfile:text\n");
	printa("%S\t%S\t%@d\n", @fl_time);
	printf("# end\tfl_time\n");
	printf("# aggregation\tfl_bytes\tsum\tbytes\tcall:text\tfile:text\n");
	printa("%S\t%S\t%@d\n", @fl_bytes);
	printf("# end\tfl_bytes\n");
	printf("# aggregation\tfile_latency\tquantize\tns\tcall:text\tfile:text\n");
	printa("%S\t%S\t%@d\n", @file_latency);
	printf("# end\tfile_latency\n");
	printf("# stop\t%d\n", walltimestamp);
}
