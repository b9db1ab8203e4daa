/*
 * calls.h - the functions of libdtrace that seatrace calls, as types of pointers to them.
 *
 * Types, not declarations: the library is loaded at run time. A name without a suffix has one shape on all four systems;
 * `_classic` is that of macOS, illumos and FreeBSD, `_linux` that of Oracle's DTrace 2.x.
 * tests/live/compare.c compares these with libdtrace2-dev. SPDX-License-Identifier: MIT OR Apache-2.0
 */
#ifndef SEATRACE_ABI_CALLS_H
#define SEATRACE_ABI_CALLS_H

typedef struct dt_handle *(*dt_open)(int version, int flags, int *errp);
typedef void (*dt_close)(struct dt_handle *);
typedef int (*dt_errno)(struct dt_handle *);
typedef const char *(*dt_errmsg)(struct dt_handle *, int error);
typedef int (*dt_setopt)(struct dt_handle *, const char *name, const char *value);
typedef int (*dt_init_linux)(struct dt_handle *);

typedef struct dt_program *(*dt_fcompile)(struct dt_handle *, dt_file *, unsigned int cflags, int argc,
    char *const argv[]);
typedef int (*dt_exec)(struct dt_handle *, struct dt_program *, struct dt_proginfo *);
typedef int (*dt_go_classic)(struct dt_handle *);
typedef int (*dt_go_linux)(struct dt_handle *, unsigned int cflags);
typedef int (*dt_stop)(struct dt_handle *);
typedef void (*dt_sleep_classic)(struct dt_handle *);

typedef int (*dt_probe_callback)(const dt_probedata *, void *);
typedef int (*dt_record_callback)(const dt_probedata *, const struct dt_recdesc *, void *);
typedef dt_workstatus (*dt_work)(struct dt_handle *, dt_file *, dt_probe_callback, dt_record_callback, void *);
typedef int (*dt_aggregate_print)(struct dt_handle *, dt_file *, dt_walk *);

typedef int (*dt_error_handler)(const struct dt_errdata *, void *);
typedef int (*dt_drop_handler)(const struct dt_dropdata *, void *);
typedef void (*dt_process_handler_classic)(struct dt_process *, const char *msg, void *);
typedef void (*dt_process_handler_linux)(int pid, const char *msg, void *);
typedef int (*dt_handle_err)(struct dt_handle *, dt_error_handler, void *);
typedef int (*dt_handle_drop)(struct dt_handle *, dt_drop_handler, void *);
typedef int (*dt_handle_proc_classic)(struct dt_handle *, dt_process_handler_classic, void *);
typedef int (*dt_handle_proc_linux)(struct dt_handle *, dt_process_handler_linux, void *);

/* macOS and illumos take three arguments, FreeBSD a hook for the child before it starts, Linux flags. */
typedef struct dt_process *(*dt_proc_create)(struct dt_handle *, const char *file, char *const argv[]);
typedef struct dt_process *(*dt_proc_create_freebsd)(struct dt_handle *, const char *file, char *const argv[],
    dt_child_hook *, void *);
typedef struct dt_process *(*dt_proc_create_linux)(struct dt_handle *, const char *file, char *const argv[], int flags);
/* `dtrace_proc_grab`, on Linux `dtrace_proc_grab_pid`. */
typedef struct dt_process *(*dt_proc_grab)(struct dt_handle *, int pid, int flags);
typedef void (*dt_proc_continue)(struct dt_handle *, struct dt_process *);
typedef void (*dt_proc_release)(struct dt_handle *, struct dt_process *);

#endif
