/*
 * file-opens.d - one line for each file that a process opens or fails to open
 *
 * GROUP    files
 * USAGE    dtrace -q -s file-opens.d -p PID
 *
 * NEEDS
 *   providers  syscall
 *   target     yes
 *
 * OPTIONS
 *   --failed all|failed  $$1         failed: only those that failed; all
 *
 * FIELDS
 *   end      wall   when the call returned
 *   thread   int    id of the thread
 *   error    int    0 for success, else errno
 *   fd       int    the descriptor; -1 where it failed
 *   elapsed  ns     from entry to return
 *   file     text   the path as it was given; last
 *
 * OUTPUT
 *   One `open` record a call of open or openat, or of their kin.
 *
 * OVERHEAD
 *   Estimated: two probes and a line a call.
 *
 * SEE ALSO
 *   file-latency, call-counts
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* Paths are longer than the default of 256. */
#pragma D option strsize=1024
/* Lines appear at once. */
#pragma D option switchrate=10hz

self uint64_t fo_start;
self uint64_t fo_path;

BEGIN
{
	printf("# seatrace\t1\n# script\tfile-opens\t1\n");
	printf("# start\t%d\t%Y\n# target\t%d\n# strsize\t1024\n# record\topen\tend:wall\tthread:int\terror:int\tfd:int\telapsed:ns\tfile:text\n", walltimestamp, walltimestamp, $target);
}

/* Not each system has each of these, nor each processor: so a glob, and the names in the predicate. */
syscall::open*:entry
/pid == $target && (probefunc == "open" || probefunc == "open64" || probefunc == "open_nocancel")/
{
	self->fo_start = timestamp;
	self->fo_path = arg0;
}

syscall::open*:entry
/pid == $target && (probefunc == "openat" || probefunc == "openat2" || probefunc == "openat64" ||
    probefunc == "openat_nocancel")/
{
	self->fo_start = timestamp;
	self->fo_path = arg1;
}

syscall::open*:return
/self->fo_start && ($$1 != "failed" || errno != 0)/
{
	printf("open\t%d\t%d\t%d\t%d\t%d\t%S\n", walltimestamp, (int64_t)tid, errno,
	    errno == 0 ? (int)arg1 : -1, timestamp - self->fo_start, copyinstr(self->fo_path));
}

syscall::open*:return
/self->fo_start/
{
	self->fo_start = 0;
	self->fo_path = 0;
}

END
{
	printf("# stop\t%d\n", walltimestamp);
}
