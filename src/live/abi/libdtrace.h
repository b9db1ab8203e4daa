/*
 * libdtrace.h - what bindgen reads: opaque types, structs.h and calls.h. SPDX-License-Identifier: MIT OR Apache-2.0
 */
struct dt_handle;
struct dt_program;
struct dt_process;
typedef void dt_file;		/* FILE of the C library */
typedef void dt_walk;		/* a walk function: always NULL here */
typedef void dt_child_hook;	/* a function: always NULL here */
typedef void dt_probedata;	/* one of the two layouts in structs.h */
typedef int dt_workstatus;

#include "structs.h"
#include "calls.h"
