/*
 * lock-waits.d - time in waits for mutexes, condition variables and read-write locks, by user stack
 *
 * GROUP    waits
 * USAGE    dtrace -q -s lock-waits.d -p PID
 *
 * NEEDS
 *   target     yes
 *
 * OPTIONS
 *   --min TIME       $1              only waits that took at least this long; 10us
 *   --depth N        lw_depth=64     frames kept of a stack; 1..127
 *   --interval TIME  tick-1d         print a cumulative pass that often; 1s..1d
 *
 * FIELDS
 *   thread  text    name of the thread (Linux), of the process (elsewhere)
 *   kind    text    mutex, condition or rwlock
 *   stack   frames  who waited
 *   value   ns      sum of the waits that began and ended inside the trace
 *
 * OUTPUT
 *   One aggregation, lock_waits. A lock that was free at once is not a wait: 10 us are the least, unless
 *   --min says otherwise. A wait for a condition holds the wait for its mutex.
 *
 * OVERHEAD
 *   Estimated: two probes a call of these functions, also where the lock is free: measure before you leave
 *   it running on a busy server. --min saves the stacks, not the probes.
 *
 * SEE ALSO
 *   off-cpu (all waits, but stacks cut where libc has no frame pointers), lock-time, blocked-calls
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* Thousands of stacks: the default of 4 MB a CPU loses rows on a busy server. */
#pragma D option aggsize=16m
/* A start time for each thread that waits. */
#pragma D option dynvarsize=4m

enum { lw_depth=64 };

self uint64_t lw_mutex;         /* when it called, for each kind; 0: it has not */
self uint64_t lw_condition;
self uint64_t lw_rwlock;
uint64_t lw_min;
uint64_t lw_pass;

BEGIN
{
	printf("# seatrace\t1\n# script\tlock-waits\t1\n");
	printf("# start\t%d\t%Y\n# target\t%d\n", walltimestamp, walltimestamp, $target);
}

BEGIN
{
	lw_min = $1 ? $1 : 10000;
}

/* lib*: libc, libpthread, libthr, libsystem_pthread. Some systems wait for a condition's mutex by the same function. */
pid$target:lib*:pthread_mutex_lock:entry
/!self->lw_condition/
{
	self->lw_mutex = timestamp;
}

pid$target:lib*:pthread_mutex_lock:return
/self->lw_mutex && timestamp - self->lw_mutex >= lw_min/
{
	@lock_waits[execname, "mutex", ustack(lw_depth)] = sum(timestamp - self->lw_mutex);
}

pid$target:lib*:pthread_mutex_lock:return
/self->lw_mutex/
{
	self->lw_mutex = 0;
}

/*
 * By name where there are two versions of a function (glibc), of which a glob finds the wrong one. [cd]*: clockwait, where
 * there is one; destroy, which is everywhere, so that the glob always finds something.
 */
pid$target:lib*:pthread_cond_wait:entry,
pid$target:lib*:pthread_cond_timedwait:entry,
pid$target:lib*:pthread_cond_[cd]*:entry
/!self->lw_condition/
{
	self->lw_condition = timestamp;
}

pid$target:lib*:pthread_cond_wait:return,
pid$target:lib*:pthread_cond_timedwait:return,
pid$target:lib*:pthread_cond_[cd]*:return
/self->lw_condition && timestamp - self->lw_condition >= lw_min/
{
	@lock_waits[execname, "condition", ustack(lw_depth)] = sum(timestamp - self->lw_condition);
}

pid$target:lib*:pthread_cond_wait:return,
pid$target:lib*:pthread_cond_timedwait:return,
pid$target:lib*:pthread_cond_[cd]*:return
/self->lw_condition/
{
	self->lw_condition = 0;
}

pid$target:lib*:pthread_rwlock_*rdlock:entry,
pid$target:lib*:pthread_rwlock_*wrlock:entry
/!self->lw_rwlock/
{
	self->lw_rwlock = timestamp;
}

pid$target:lib*:pthread_rwlock_*rdlock:return,
pid$target:lib*:pthread_rwlock_*wrlock:return
/self->lw_rwlock && timestamp - self->lw_rwlock >= lw_min/
{
	@lock_waits[execname, "rwlock", ustack(lw_depth)] = sum(timestamp - self->lw_rwlock);
}

pid$target:lib*:pthread_rwlock_*rdlock:return,
pid$target:lib*:pthread_rwlock_*wrlock:return
/self->lw_rwlock/
{
	self->lw_rwlock = 0;
}

tick-1d
{
	lw_pass++;
	printf("# pass\t%d\t%d\tcumulative\n", lw_pass, walltimestamp);
	printf("# aggregation\tlock_waits\tsum\tns\tthread:text\tkind:text\tstack:frames/%d\n", lw_depth);
	printa("%S\t%S\t%k%@d\n", @lock_waits);
	printf("# end\tlock_waits\n");
}

END
{
	printf("# pass\t%d\t%d\tcumulative\n", lw_pass + 1, walltimestamp);
	printf("# aggregation\tlock_waits\tsum\tns\tthread:text\tkind:text\tstack:frames/%d\n", lw_depth);
	printa("%S\t%S\t%k%@d\n", @lock_waits);
	printf("# end\tlock_waits\n");
	printf("# stop\t%d\n", walltimestamp);
}
