/*
 * call-counts-illumos.d - how often a process makes which system call
 *
 * GROUP    system
 * USAGE    dtrace -q -s call-counts-illumos.d -p PID
 *
 * NEEDS
 *   providers  syscall
 *   system     illumos
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
 *   One aggregation, call_counts, of the calls that a database server makes; others are not seen.
 *
 * OVERHEAD
 *   Estimated: one probe a call.
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

syscall::read:entry, syscall::readv:entry, syscall::pread:entry, syscall::preadv:entry, syscall::write:entry,
syscall::writev:entry, syscall::pwrite:entry, syscall::pwritev:entry, syscall::fdsync:entry,
syscall::pollsys:entry, syscall::portfs:entry, syscall::lwp_park:entry, syscall::lwp_mutex_timedlock:entry,
syscall::nanosleep:entry, syscall::recv:entry, syscall::recvfrom:entry, syscall::recvmsg:entry,
syscall::send:entry, syscall::sendto:entry, syscall::sendmsg:entry, syscall::accept:entry,
syscall::connect:entry, syscall::fcntl:entry, syscall::waitsys:entry, syscall::openat:entry,
syscall::close:entry, syscall::lseek:entry, syscall::fstatat:entry, syscall::mmap:entry,
syscall::munmap:entry, syscall::memcntl:entry, syscall::so_socket:entry, syscall::setsockopt:entry,
syscall::ioctl:entry, syscall::unlinkat:entry, syscall::renameat:entry, syscall::yield:entry,
syscall::lwp_create:entry
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
