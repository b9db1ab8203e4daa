/*
 * report.d - everything for one report: statements, their phases, stacks on and off the CPU
 *
 * GROUP    queries
 * USAGE    dtrace -q -s report.d -s query-time.d -s query-phases.d -s on-cpu.d -s off-cpu.d -p PID
 *
 * NEEDS
 *   scripts    query-time query-phases on-cpu off-cpu|blocked-calls
 *   target     yes
 *
 * FIELDS
 *   those of the scripts that it runs
 *
 * OUTPUT
 *   The headings, records and aggregations of those scripts in one dump. This program itself only gives
 *   it a name.
 *
 * OVERHEAD
 *   Estimated: the sum of the four.
 *
 * SEE ALSO
 *   query-time, query-phases, on-cpu, off-cpu
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet

BEGIN
{
	printf("# seatrace\t1\n# script\treport\t1\n");
	printf("# start\t%d\t%Y\n# target\t%d\n", walltimestamp, walltimestamp, $target);
}

END
{
	printf("# stop\t%d\n", walltimestamp);
}
