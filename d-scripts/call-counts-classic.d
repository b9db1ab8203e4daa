/*
 * call-counts-classic.d - how often a process makes which system call
 *
 * GROUP    system
 * USAGE    dtrace -q -s call-counts-classic.d -p PID
 *
 * NEEDS
 *   providers  syscall
 *   system     macos illumos freebsd
 *   target     yes
 *
 * OPTIONS
 *   --interval TIME  tick-1d         print a cumulative pass that often; 1s..1d
 *
 * FIELDS
 *   thread  text   name of the thread (Linux), of the process (elsewhere)
 *   call    text   name of the system call
 *   value   count  calls
 *
 * OUTPUT
 *   One aggregation, call_counts, of all system calls.
 *
 * OVERHEAD
 *   One probe a call.
 *
 * SEE ALSO
 *   blocked-calls (how long they take), function-counts
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet

uint64_t cc_pass;

BEGIN
{
	printf("# seatrace\t1\n# script\tcall-counts\t1\n");
	printf("# start\t%d\t%Y\n# target\t%d\n", walltimestamp, walltimestamp, $target);
}

syscall:::entry
/pid == $target/
{
	@call_counts[execname, probefunc] = count();
}

tick-1d
{
	cc_pass++;
	printf("# pass\t%d\t%d\tcumulative\n", cc_pass, walltimestamp);
	printf("# aggregation\tcall_counts\tcount\tcount\tthread:text\tcall:text\n");
	printa("%S\t%S\t%@d\n", @call_counts);
	printf("# end\tcall_counts\n");
}

END
{
	printf("# pass\t%d\t%d\tcumulative\n", cc_pass + 1, walltimestamp);
	printf("# aggregation\tcall_counts\tcount\tcount\tthread:text\tcall:text\n");
	printa("%S\t%S\t%@d\n", @call_counts);
	printf("# end\tcall_counts\n");
	printf("# stop\t%d\n", walltimestamp);
}
