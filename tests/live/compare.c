/*
 * Sizes, offsets and signatures of src/live/abi against libdtrace2-dev: it compiles if they agree. SPDX-License-Identifier: MIT OR Apache-2.0
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <dtrace.h>

#include "structs.h"

#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(theirs), #ours)
#define SAME_PLACE(ours, field, theirs, real) \
	_Static_assert(offsetof(struct ours, field) == offsetof(theirs, real), #ours "." #field); \
	_Static_assert(sizeof(((struct ours *)0)->field) == sizeof(((theirs *)0)->real), #ours "." #field)

SAME_SIZE(dt_errdata, dtrace_errdata_t);
SAME_PLACE(dt_errdata, handle, dtrace_errdata_t, dteda_handle);
SAME_PLACE(dt_errdata, cpu, dtrace_errdata_t, dteda_cpu);
SAME_PLACE(dt_errdata, action, dtrace_errdata_t, dteda_action);
SAME_PLACE(dt_errdata, fault, dtrace_errdata_t, dteda_fault);
SAME_PLACE(dt_errdata, addr, dtrace_errdata_t, dteda_addr);
SAME_PLACE(dt_errdata, msg, dtrace_errdata_t, dteda_msg);
SAME_SIZE(dt_dropdata, dtrace_dropdata_t);
SAME_PLACE(dt_dropdata, cpu, dtrace_dropdata_t, dtdda_cpu);
SAME_PLACE(dt_dropdata, kind, dtrace_dropdata_t, dtdda_kind);
SAME_PLACE(dt_dropdata, drops, dtrace_dropdata_t, dtdda_drops);
SAME_PLACE(dt_dropdata, total, dtrace_dropdata_t, dtdda_total);
SAME_PLACE(dt_dropdata, msg, dtrace_dropdata_t, dtdda_msg);
SAME_SIZE(dt_proginfo, dtrace_proginfo_t);
SAME_PLACE(dt_proginfo, matches, dtrace_proginfo_t, dpi_matches);
SAME_PLACE(dt_recdesc, action, dtrace_recdesc_t, dtrd_action);
SAME_PLACE(dt_probedata_linux, handle, dtrace_probedata_t, dtpda_handle);
SAME_PLACE(dt_probedata_linux, cpu, dtrace_probedata_t, dtpda_cpu);
SAME_PLACE(dt_probedata_linux, data, dtrace_probedata_t, dtpda_data);

/* For the signatures our names stand for the real types. */
#define dt_handle dtrace_hdl
#define dt_program dtrace_prog
#define dt_process dtrace_proc
#define dt_errdata dtrace_errdata
#define dt_dropdata dtrace_dropdata
#define dt_proginfo dtrace_proginfo
#define dt_recdesc dtrace_recdesc
typedef FILE dt_file;
typedef dtrace_probedata_t dt_probedata;
typedef dtrace_workstatus_t dt_workstatus;
typedef dtrace_aggregate_walk_f dt_walk;
typedef void dt_child_hook(void *);

#include "calls.h"

#define SAME_CALL(ours, theirs) _Static_assert(__builtin_types_compatible_p(ours, __typeof__(&theirs)), #theirs)

SAME_CALL(dt_open, dtrace_open);
SAME_CALL(dt_close, dtrace_close);
SAME_CALL(dt_errno, dtrace_errno);
SAME_CALL(dt_errmsg, dtrace_errmsg);
SAME_CALL(dt_setopt, dtrace_setopt);
SAME_CALL(dt_init_linux, dtrace_init);
SAME_CALL(dt_fcompile, dtrace_program_fcompile);
SAME_CALL(dt_exec, dtrace_program_exec);
SAME_CALL(dt_go_linux, dtrace_go);
SAME_CALL(dt_stop, dtrace_stop);
SAME_CALL(dt_work, dtrace_work);
SAME_CALL(dt_aggregate_print, dtrace_aggregate_print);
SAME_CALL(dt_handle_err, dtrace_handle_err);
SAME_CALL(dt_handle_drop, dtrace_handle_drop);
SAME_CALL(dt_handle_proc_linux, dtrace_handle_proc);
SAME_CALL(dt_proc_create_linux, dtrace_proc_create);
SAME_CALL(dt_proc_grab, dtrace_proc_grab_pid);
SAME_CALL(dt_proc_continue, dtrace_proc_continue);
SAME_CALL(dt_proc_release, dtrace_proc_release);
