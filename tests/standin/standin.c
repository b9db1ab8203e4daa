/*
 * A stand-in for libdtrace: exercises the binding for systems that are not here, and shows faults that a real library does not
 * show on demand.
 *
 * Built four times: -DMACOS, -DILLUMOS, -DFREEBSD, -DLINUX. The shapes of calls and structures are written down here from facts
 * about the four systems, not taken from src/live/abi: a wrong declaration there shows as a wrong result here.
 *
 * A D program is read as a list of orders, one a line; see `obey`, and `find` for those that are no part of the running. The option
 * `log` names a file that gets a line for each call; the option `slow` a call that takes a second and sees no signal meanwhile. SPDX-License-Identifier: MIT OR Apache-2.0
 */
#define _GNU_SOURCE	/* RUSAGE_THREAD */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define OWN_ERROR 1042

/* Structures that a consumer reads (LP64). */
struct errdata { void *h, *e, *p; int cpu, action, offset, fault; uint64_t addr; const char *msg; };
struct dropdata { void *h; int cpu, kind; uint64_t drops, total; const char *msg; };
struct proginfo { uint8_t a[3], b[3]; uint32_t aggregates, recgens, matches, speculations; };
#if defined(LINUX)
#define NEWLINE ""
#define ABORT 3
struct probedata { void *h; uint32_t stid; void *d, *p; unsigned cpu; char *data; int flow; const char *prefix; int indent; };
struct recdesc { uint16_t action; uint32_t size, offset; uint16_t align; void *format; uint64_t arg; };
typedef void proc_f(int pid, const char *, void *);
#else
#define NEWLINE "\n"
#define ABORT 2
struct probedata {
	void *h, *e, *p; int cpu; char *data; int flow; const char *prefix; int indent;
#if defined(FREEBSD)
	uint64_t timestamp;
#endif
};
struct recdesc { uint16_t action; uint32_t size, offset; uint16_t align, format; uint64_t arg, uarg; };
typedef void proc_f(void *process, const char *, void *);
#endif

typedef int probe_f(const struct probedata *, void *);
typedef int rec_f(const struct probedata *, const struct recdesc *, void *);
typedef int err_f(const struct errdata *, void *);
typedef int drop_f(const struct dropdata *, void *);

struct process { int pid, held; };

/* Lines printed at a rate, for benches/back-pressure, and how long their printing waited. */
struct pace {
	double rate, seconds, began;	/* rate 0: as fast as it goes */
	long printed, waits, switches;
	double longest, longest_wait, waited;	/* seconds */
	const char *next;	/* which `line` of the program comes next */
};

struct handle {
	char *orders, *next;	/* the program, and where it goes on */
	char error[256];
	int number, log, compiled, initialized, stopped;
	err_f *err; void *err_arg;
	drop_f *drop; void *drop_arg;
	proc_f *proc; void *proc_arg;
	char slow[32];
	struct process process;
	struct pace pace;
};

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void note(struct handle *h, const char *call)
{
	if (h->log >= 0)
		dprintf(h->log, "%s\n", call);
	size_t size = strlen(h->slow);
	if (size > 0 && strncmp(call, h->slow, size) == 0) {
		double end = now() + 1;
		while (now() < end)
			usleep(10000);
	}
}

static int fail(struct handle *h, int number, const char *text)
{
	h->number = number;
	snprintf(h->error, sizeof h->error, "%s", text);
	return -1;
}

/* The rest of a line that begins with `order`, wherever it stands in the program. */
static char *find(struct handle *h, const char *order)
{
	static _Thread_local char text[256];
	size_t size = strlen(order);
	for (char *at = h->orders; at != NULL && *at != '\0'; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
		if (strncmp(at, order, size) == 0 && at[size] == ' ') {
			snprintf(text, sizeof text, "%.*s", (int)strcspn(at + size + 1, "\n"), at + size + 1);
			return text;
		}
	}
	return NULL;
}

struct handle *dtrace_open(int version, int flags, int *errp)
{
	if (version != 3 || flags != 0) {
		*errp = EINVAL;
		return NULL;
	}
	struct handle *h = calloc(1, sizeof *h);
	h->log = -1;
	return h;
}

void dtrace_close(struct handle *h)
{
#if defined(LINUX)
	/* The real one keeps hold of a process that was not released. */
	if (h->process.held)
		note(h, "process still held");
#endif
	note(h, "close");
	if (h->log >= 0)
		close(h->log);
	free(h->orders);
	free(h);
}

int dtrace_errno(struct handle *h) { return h->number; }

const char *dtrace_errmsg(struct handle *h, int number)
{
	return h == NULL || number < 1000 ? strerror(number) : h->error;
}

int dtrace_setopt(struct handle *h, const char *name, const char *value)
{
	if (strcmp(name, "log") == 0) {
		h->log = open(value, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
		return 0;
	}
	if (strcmp(name, "slow") == 0) {
		snprintf(h->slow, sizeof h->slow, "%s", value);
		return 0;
	}
	if (strcmp(name, "nosuch") == 0)
		return fail(h, OWN_ERROR, "Invalid option name");
#if defined(LINUX)
	if (strcmp(name, "temporal") == 0 || strcmp(name, "stacksymbols") == 0)
		return fail(h, OWN_ERROR, "Invalid option name");
#endif
	char line[256];
	snprintf(line, sizeof line, "setopt %s%s%s", name, value ? "=" : "", value ? value : "");
	note(h, line);
	return 0;
}

#if defined(LINUX)
int dtrace_init(struct handle *h) { note(h, "init"); h->initialized = 1; return 0; }
#else
void dtrace_sleep(struct handle *h) { note(h, "sleep"); usleep(1000); }
#endif

static struct process *hold(struct handle *h, int pid)
{
	h->process.pid = pid;
	h->process.held = 1;
	return &h->process;
}

#if defined(LINUX)
struct process *dtrace_proc_grab_pid(struct handle *h, int pid, int flags)
#else
struct process *dtrace_proc_grab(struct handle *h, int pid, int flags)
#endif
{
	note(h, flags == 0 ? "grab" : "grab with flags");
	if (pid == 99999) {
		fail(h, OWN_ERROR, "failed to grab pid 99999: No such process");
		return NULL;
	}
	return hold(h, pid);
}

#if defined(FREEBSD)
struct process *dtrace_proc_create(struct handle *h, const char *file, char *const argv[], void *hook, void *arg)
#elif defined(LINUX)
struct process *dtrace_proc_create(struct handle *h, const char *file, char *const argv[], int flags)
#else
struct process *dtrace_proc_create(struct handle *h, const char *file, char *const argv[])
#endif
{
#if defined(FREEBSD)
	if (hook != NULL || arg != NULL)
		note(h, "a hook");
#elif defined(LINUX)
	if (flags != 0)
		note(h, "flags");
#endif
	char line[1024] = "create";
	for (int i = 0; argv[i] != NULL; i++)
		snprintf(line + strlen(line), sizeof line - strlen(line), " [%s]", argv[i]);
	note(h, line);
	if (strcmp(file, "nosuch") == 0) {
		fail(h, ENOENT, "");
		return NULL;
	}
	return hold(h, 4242);
}

void dtrace_proc_continue(struct handle *h, struct process *p) { note(h, p->held ? "continue" : "continue nothing"); }
void dtrace_proc_release(struct handle *h, struct process *p) { note(h, "release"); p->held = 0; }

void *dtrace_program_fcompile(struct handle *h, FILE *fp, unsigned flags, int argc, char *const argv[])
{
	char line[1024];
	snprintf(line, sizeof line, "compile flags=%u", flags);
	for (int i = 0; i < argc; i++)
		snprintf(line + strlen(line), sizeof line - strlen(line), " [%s]", argv[i]);
	note(h, line);
	if (argv[argc] != NULL)
		note(h, "arguments without an end");
#if defined(LINUX)
	if (!h->initialized) {
		fail(h, OWN_ERROR, "not initialized");
		return NULL;
	}
#endif
	free(h->orders);
	h->orders = h->next = calloc(1, 1 << 16);
	fread(h->orders, 1, (1 << 16) - 1, fp);
	char *wrong = find(h, "compile-error");
	if (wrong != NULL) {
		fail(h, 1005, wrong);
		return NULL;
	}
	h->compiled++;
	return h;
}

int dtrace_program_exec(struct handle *h, void *program, struct proginfo *info)
{
	note(h, program == h ? "exec" : "exec of nothing");
	char *wrong = find(h, "exec-error");
	if (wrong != NULL)
		return fail(h, OWN_ERROR, wrong);
	char *matches = find(h, "matches");
	info->matches = matches ? (uint32_t)atoi(matches) : 1;
	return 0;
}

int dtrace_handle_err(struct handle *h, err_f *f, void *arg)
{
	/* Linux 2.0.7 damages its heap if it comes before the first program. */
	note(h, h->compiled ? "handle_err" : "handle_err before compile");
	h->err = f;
	h->err_arg = arg;
	return 0;
}

int dtrace_handle_drop(struct handle *h, drop_f *f, void *arg)
{
	note(h, "handle_drop");
	h->drop = f;
	h->drop_arg = arg;
	return 0;
}

int dtrace_handle_proc(struct handle *h, proc_f *f, void *arg)
{
	note(h, "handle_proc");
	h->proc = f;
	h->proc_arg = arg;
	return 0;
}

#if defined(LINUX)
int dtrace_go(struct handle *h, unsigned flags)
#else
int dtrace_go(struct handle *h)
#endif
{
#if defined(LINUX)
	if (flags != 0)
		note(h, "go with flags");
#endif
	note(h, "go");
	char *wrong = find(h, "go-error");
	return wrong != NULL ? fail(h, OWN_ERROR, wrong) : 0;
}

int dtrace_stop(struct handle *h) { note(h, "stop"); h->stopped = 1; return 0; }

static void say_drop(struct handle *h, int drops)
{
	char msg[128];
	snprintf(msg, sizeof msg, "%d drops on CPU 0" NEWLINE, drops);
	struct dropdata data = { h, 0, 0, (uint64_t)drops, (uint64_t)drops, msg };
	h->drop(&data, h->drop_arg);
}

static void say_error(struct handle *h, const char *text)
{
	char msg[256];
	snprintf(msg, sizeof msg, "%s" NEWLINE, text);
	struct errdata data = { h, NULL, NULL, 0, 0, 0, 1, 0, msg };
	h->err(&data, h->err_arg);
}

static void say_process(struct handle *h, const char *text)
{
#if defined(LINUX)
	h->proc(text == NULL ? -h->process.pid : h->process.pid, text, h->proc_arg);
#else
	h->proc(&h->process, text, h->proc_arg);
#endif
}

static int exit_record(struct handle *h, int status, rec_f *rec, void *arg)
{
	char place[8];	/* a record may stand at any address */
	memcpy(place + 1, &status, sizeof status);
	struct recdesc desc = { .action = 2 };
	struct probedata data = { .h = h, .data = place + 1 };
	int answer = rec(&data, &desc, arg);
	return answer == ABORT || answer < 0 ? -1 : 1;
}

/* How often this thread has waited: a write that took long without that was preempted, by no fault of its reader. */
static long waits(void)
{
#if defined(__linux__)
	struct rusage usage;
	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_nvcsw;
#else
	return 0;
#endif
}

/* Prints the next `line` of the program, in turn. */
static void print_line(struct handle *h, FILE *fp)
{
	struct pace *pace = &h->pace;
	const char *at = pace->next != NULL ? strstr(pace->next, "\nline ") : NULL;
	if (at == NULL)
		at = strstr(h->orders, "\nline ");
	pace->next = at + 6;
	size_t size = strcspn(at + 6, "\n");
	double before = now();
	fwrite(at + 6, 1, size + 1, fp);
	double took = now() - before;
	if (took > pace->longest)
		pace->longest = took;
	if (took > 20e-6) {
		long switches = waits();
		if (switches != pace->switches) {
			pace->waits++;
			pace->waited += took;
			if (took > pace->longest_wait)
				pace->longest_wait = took;
		}
		pace->switches = switches;
	}
	pace->printed++;
}

/* One round: prints what is due, as libdtrace prints what the buffers hold; false once the time is over. */
static int keep_pace(struct handle *h, FILE *fp)
{
	struct pace *pace = &h->pace;
	double elapsed = now() - pace->began;
	int over = elapsed >= pace->seconds;
	long due = pace->rate > 0 ? (long)(pace->rate * (over ? pace->seconds : elapsed)) : pace->printed + 10000;
	pace->switches = waits();
	while (pace->printed < due)
		print_line(h, fp);
	if (!over)
		return 1;
	char line[256];
	snprintf(line, sizeof line, "paced %ld lines in %.3f s; longest write %.3f ms; waited %ld times, %.3f ms in all, longest %.3f ms",
	    pace->printed, now() - pace->began, pace->longest * 1e3, pace->waits, pace->waited * 1e3, pace->longest_wait * 1e3);
	note(h, line);
	pace->seconds = 0;
	return 0;
}

/* Obeys one order. 2: the round is over; 3: go on; else what dtrace_work returns. */
static int obey(struct handle *h, const char *line, FILE *fp, probe_f *probe, rec_f *rec, void *arg)
{
	char order[16] = "";
	sscanf(line, "%15s", order);
	const char *rest = line + strlen(order) + (line[strlen(order)] == ' ');
	struct probedata data = { .h = h };
	if (strcmp(order, "text") == 0) {
		probe(&data, arg);
		fprintf(fp, "%s\n", rest);
		rec(&data, NULL, arg);
	} else if (strcmp(order, "part") == 0) {
		fprintf(fp, "%s", rest);
	} else if (strcmp(order, "burst") == 0) {
		for (int i = 0; i < atoi(rest); i++)
			fprintf(fp, "burst %d of %s, a line of some length to fill the pipe with\n", i, rest);
	} else if (strcmp(order, "pace") == 0) {
		sscanf(rest, "%lf %lf", &h->pace.rate, &h->pace.seconds);
		h->pace.began = now();
		return 2;
	} else if (strcmp(order, "drop") == 0) {
		say_drop(h, atoi(rest));
	} else if (strcmp(order, "error") == 0) {
		say_error(h, rest);
	} else if (strcmp(order, "die") == 0) {
		say_process(h, NULL);
	} else if (strcmp(order, "proc") == 0) {
		say_process(h, rest);
	} else if (strcmp(order, "exit") == 0) {
		return exit_record(h, atoi(rest), rec, arg);
	} else if (strcmp(order, "fail") == 0) {
		return fail(h, OWN_ERROR, rest);
	} else if (strcmp(order, "eintr") == 0) {
		return fail(h, EINTR, "");
	} else if (strcmp(order, "next") == 0) {
		return 2;
	}
	return 3;
}

int dtrace_work(struct handle *h, FILE *fp, probe_f *probe, rec_f *rec, void *arg)
{
	note(h, "work");
	if (h->stopped) {
		char *last = find(h, "end");
		if (last != NULL)
			fprintf(fp, "%s\n", last);
		return 1;
	}
	if (h->pace.seconds > 0 && keep_pace(h, fp)) {
		usleep(h->pace.rate > 0 ? 100000 : 0);
		return 0;
	}
	while (*h->next != '\0') {
		char line[512];
		size_t size = strcspn(h->next, "\n");
		snprintf(line, sizeof line, "%.*s", (int)size, h->next);
		h->next += size + (h->next[size] == '\n');
		int result = obey(h, line, fp, probe, rec, arg);
		if (result != 3)
			return result == 2 ? 0 : result;
	}
	char *each = find(h, "each");
	if (each != NULL)
		fprintf(fp, "%s\n", each);
	usleep(5000);
	return 0;
}

int dtrace_aggregate_print(struct handle *h, FILE *fp, void *walk)
{
	note(h, walk == NULL ? "aggregate_print" : "aggregate_print with a walk");
	char *rows = find(h, "rows");
	if (rows != NULL)
		fprintf(fp, "%s\n", rows);
	char *many = find(h, "many");
	for (int i = 0; many != NULL && i < atoi(many); i++) {
		if (fprintf(fp, "row %d\n", i) < 0)
			return fail(h, EPIPE, "");
	}
	return 0;
}
