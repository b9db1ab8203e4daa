/*
 * structs.h - the structures of libdtrace that seatrace reads, for macOS, illumos, FreeBSD and Linux (LP64).
 *
 * Our own declarations. The four systems agree on everything here but the structure that a consume callback gets: only
 * its data pointer is read, and only its place is declared, once for each of the two layouts. A test compares
 * this file with the headers of libdtrace2-dev (tests/live/compare.c). SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef SEATRACE_ABI_STRUCTS_H
#define SEATRACE_ABI_STRUCTS_H

/* What the handlers get. `msg` ends in a newline on macOS, illumos and FreeBSD, and has none on Linux. */
struct dt_errdata {
	struct dt_handle *handle;
	void *edesc;
	void *pdesc;
	int cpu;
	int action;
	int offset;
	int fault;
	unsigned long long addr;
	const char *msg;
};

struct dt_dropdata {
	struct dt_handle *handle;
	int cpu;
	int kind;
	unsigned long long drops;
	unsigned long long total;
	const char *msg;
};

/* What enabling a program tells: `matches` is the number of probes. */
struct dt_proginfo {
	unsigned char descattr[3];
	unsigned char stmtattr[3];
	unsigned int aggregates;
	unsigned int recgens;
	unsigned int matches;
	unsigned int speculations;
};

/* The beginning of a record description: the action's code is all that is read. */
struct dt_recdesc {
	unsigned short action;
};

/* The beginning of a firing, as macOS, illumos and FreeBSD have it ... */
struct dt_probedata_classic {
	struct dt_handle *handle;
	void *edesc;
	void *pdesc;
	int cpu;
	char *data;
};

/* ... and as Linux has it. */
struct dt_probedata_linux {
	struct dt_handle *handle;
	unsigned int stid;
	void *ddesc;
	void *pdesc;
	unsigned int cpu;
	char *data;
};

#endif
