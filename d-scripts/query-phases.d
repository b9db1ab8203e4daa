/*
 * query-phases.d - where the time of statements goes, by phase, as stacks: database; text; phase
 *
 * GROUP    queries
 * USAGE    dtrace -q -s query-phases.d -p PID
 *
 * NEEDS
 *   probes     mysql query-start query-done query-parse-start query-parse-done query-exec-start query-exec-done
 *   probes     mysql filesort-start filesort-done net-write-start net-write-done
 *   functions  thd_wait_begin thd_wait_end
 *   target     yes
 *
 * OPTIONS
 *   --user TEXT    $$1   only statements of this user
 *   --db TEXT      $$2   only statements in this default database
 *
 * FIELDS
 *   database   text    default database
 *   query      text    text of the client's statement
 *   phase      path    the phases that are open, outermost first
 *   qp_phase   sum ns  time spent in that phase itself, without the phases inside it
 *
 * OUTPUT
 *   One aggregation. Its values for a text add up to the time of the statements with it.
 *   - `parse`, `execute`, `filesort`; `execute;execute`: a statement of a routine or of EXECUTE.
 *   - `network write`: an answer is sent.
 *   - `row lock`, `table lock`, `metadata lock`, `global lock`, `sleep`, `commit wait`, `file sync`,
 *     `other wait`: the server waits and says so (thd_wait_begin).
 *   - `other`: none of these.
 *   A prepared statement's time ends with its execution.
 *   Waiting for the client's next command belongs to no statement. Texts are cut at 255 bytes.
 *
 * OVERHEAD
 *   Estimated: four probes a statement and two a phase; each phase copies its name and the keys.
 *
 * SEE ALSO
 *   query-latency, query-sort, lock-time
 *
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#pragma D option quiet
#pragma D option defaultargs
/* A key of this size is copied for every phase. */
#pragma D option strsize=256
/* Room for some ten thousand texts and phases; more are told as aggregation drops. */
#pragma D option aggsize=32m
#pragma D option dynvarsize=16m

self int64_t qp_start;          /* arrival of the client's statement; 0: none is open */
self int qp_other;              /* open without query-start: a prepared statement or an event's */
self int qp_depth;              /* its executions that are open, itself and those of routines */
self int qp_end;                /* it ends with this probe */
self string qp_text;
self string qp_db;
/* Phases that are open, by depth; depth 0 is the statement itself. */
self int qp_level;
self int qp_push;               /* a phase starts with this probe: qp_name */
self int qp_pop;                /* the innermost phase ends with this probe */
self int qp_waiting;            /* it is a wait that thd_wait_begin announced */
self string qp_name;
self int64_t qp_since[int];     /* start of the phase */
self int64_t qp_inside[int];    /* time of the phases inside it */
self string qp_path[int];

BEGIN
{
	printf("# seatrace\t1\n# script\tquery-phases\t1\n# start\t%d\t%Y\n# target\t%d\n# strsize\t256\n",
	    walltimestamp, walltimestamp, $target);
}

/* A statement sent as text. The text is freed before query-done. */
mysql$target:::query-start
/($$1 == "" || (arg3 != 0 && copyinstr(arg3) == $$1)) && ($$2 == "" || (arg2 != 0 && copyinstr(arg2) == $$2))/
{
	self->qp_other = 0;
	self->qp_depth = 0;
	self->qp_level = 0;
	self->qp_waiting = 0;
	self->qp_inside[0] = 0;
	self->qp_start = timestamp;
	self->qp_text = copyinstr(arg0);
	self->qp_db = arg2 ? copyinstr(arg2) : "";
}

/* The execution of a prepared statement, or of an event's: no query-start belongs to it. */
mysql$target:::query-exec-start
/!self->qp_start && arg5 != 0 &&
    ($$1 == "" || (arg3 != 0 && copyinstr(arg3) == $$1)) && ($$2 == "" || (arg2 != 0 && copyinstr(arg2) == $$2))/
{
	self->qp_other = 1;
	self->qp_depth = 0;
	self->qp_level = 0;
	self->qp_waiting = 0;
	self->qp_inside[0] = 0;
	self->qp_start = timestamp;
	self->qp_text = copyinstr(arg0);
	self->qp_db = arg2 ? copyinstr(arg2) : "";
}

mysql$target:::query-exec-start
/self->qp_other/
{
	self->qp_depth++;
}

mysql$target:::query-exec-done
/self->qp_other/
{
	self->qp_depth--;
	self->qp_end = self->qp_depth == 0;
}

mysql$target:::query-done
/self->qp_start && !self->qp_other/
{
	self->qp_end = 1;
}

mysql$target:::query-parse-start
/self->qp_start/
{
	self->qp_push = 1;
	self->qp_name = "parse";
}

mysql$target:::query-exec-start
/self->qp_start/
{
	self->qp_push = 1;
	self->qp_name = "execute";
}

mysql$target:::filesort-start
/self->qp_start/
{
	self->qp_push = 1;
	self->qp_name = "filesort";
}

mysql$target:::net-write-start
/self->qp_start/
{
	self->qp_push = 1;
	self->qp_name = "network write";
}

pid$target::thd_wait_begin:entry
/self->qp_start && !self->qp_waiting && (int)arg1 != 11/
{
	self->qp_push = 1;
	self->qp_name = (int)arg1 == 1 ? "sleep" : (int)arg1 == 3 ? "row lock" : (int)arg1 == 4 ? "global lock" :
	    (int)arg1 == 5 ? "metadata lock" : (int)arg1 == 6 ? "table lock" : (int)arg1 == 9 ? "commit wait" :
	    (int)arg1 == 10 ? "file sync" : "other wait";
}

pid$target::thd_wait_begin:entry
/self->qp_start && (int)arg1 != 11/
{
	self->qp_waiting = 1;
}

pid$target::thd_wait_end:entry
/self->qp_waiting/
{
	self->qp_waiting = 0;
	self->qp_pop = 1;
}

mysql$target:::query-parse-start,
mysql$target:::query-exec-start,
mysql$target:::filesort-start,
mysql$target:::net-write-start,
pid$target::thd_wait_begin:entry
/self->qp_push/
{
	self->qp_push = 0;
	self->qp_level++;
	self->qp_since[self->qp_level] = timestamp;
	self->qp_inside[self->qp_level] = 0;
	self->qp_path[self->qp_level] = self->qp_level == 1 ? self->qp_name :
	    strjoin(self->qp_path[self->qp_level - 1], strjoin(";", self->qp_name));
}

mysql$target:::query-parse-done,
mysql$target:::filesort-done,
mysql$target:::net-write-done,
mysql$target:::query-exec-done
/self->qp_level > 0/
{
	self->qp_pop = 1;
}

mysql$target:::query-parse-done,
mysql$target:::filesort-done,
mysql$target:::net-write-done,
mysql$target:::query-exec-done,
pid$target::thd_wait_end:entry
/self->qp_pop && self->qp_level > 0/
{
	this->qp_ns = timestamp - self->qp_since[self->qp_level];
	@qp_phase[self->qp_db, self->qp_text, self->qp_path[self->qp_level]] = sum(this->qp_ns - self->qp_inside[self->qp_level]);
	self->qp_since[self->qp_level] = 0;
	self->qp_inside[self->qp_level] = 0;
	self->qp_path[self->qp_level] = 0;
	self->qp_level--;
	self->qp_inside[self->qp_level] += this->qp_ns;
}

mysql$target:::query-parse-done,
mysql$target:::filesort-done,
mysql$target:::net-write-done,
mysql$target:::query-exec-done,
pid$target::thd_wait_end:entry
{
	self->qp_pop = 0;
}

mysql$target:::query-exec-done,
mysql$target:::query-done
/self->qp_end/
{
	@qp_phase[self->qp_db, self->qp_text, "other"] = sum(timestamp - self->qp_start - self->qp_inside[0]);
}

mysql$target:::query-exec-done,
mysql$target:::query-done
/self->qp_end/
{
	self->qp_start = 0;
	self->qp_other = 0;
	self->qp_depth = 0;
	self->qp_end = 0;
	self->qp_level = 0;
	self->qp_inside[1] = 0;
	self->qp_waiting = 0;
	self->qp_name = 0;
	self->qp_inside[0] = 0;
	self->qp_text = 0;
	self->qp_db = 0;
}

END
{
	printf("# aggregation\tqp_phase\tsum\tns\tdatabase:text\tquery:text\tphase:path\n");
	printa("%S\t%S\t%S\t%@d\n", @qp_phase);
	printf("# end\tqp_phase\n");
	printf("# stop\t%d\n", walltimestamp);
}
