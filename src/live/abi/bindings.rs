// Written by bindgen from libdtrace.h: `SEATRACE_BLESS=1 cargo build --features bindgen`.

pub type dt_file = ::core::ffi::c_void;
pub type dt_walk = ::core::ffi::c_void;
pub type dt_child_hook = ::core::ffi::c_void;
pub type dt_probedata = ::core::ffi::c_void;
pub type dt_workstatus = ::core::ffi::c_int;
pub type dt_open = ::core::option::Option<
    unsafe extern "C" fn(
        version: ::core::ffi::c_int,
        flags: ::core::ffi::c_int,
        errp: *mut ::core::ffi::c_int,
    ) -> *mut dt_handle,
>;
pub type dt_close = ::core::option::Option<unsafe extern "C" fn(arg1: *mut dt_handle)>;
pub type dt_errno = ::core::option::Option<
    unsafe extern "C" fn(arg1: *mut dt_handle) -> ::core::ffi::c_int,
>;
pub type dt_errmsg = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *mut dt_handle,
        error: ::core::ffi::c_int,
    ) -> *const ::core::ffi::c_char,
>;
pub type dt_setopt = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *mut dt_handle,
        name: *const ::core::ffi::c_char,
        value: *const ::core::ffi::c_char,
    ) -> ::core::ffi::c_int,
>;
pub type dt_init_linux = ::core::option::Option<
    unsafe extern "C" fn(arg1: *mut dt_handle) -> ::core::ffi::c_int,
>;
pub type dt_fcompile = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *mut dt_handle,
        arg2: *mut dt_file,
        cflags: ::core::ffi::c_uint,
        argc: ::core::ffi::c_int,
        argv: *const *mut ::core::ffi::c_char,
    ) -> *mut dt_program,
>;
pub type dt_exec = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *mut dt_handle,
        arg2: *mut dt_program,
        arg3: *mut dt_proginfo,
    ) -> ::core::ffi::c_int,
>;
pub type dt_go_classic = ::core::option::Option<
    unsafe extern "C" fn(arg1: *mut dt_handle) -> ::core::ffi::c_int,
>;
pub type dt_go_linux = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *mut dt_handle,
        cflags: ::core::ffi::c_uint,
    ) -> ::core::ffi::c_int,
>;
pub type dt_stop = ::core::option::Option<
    unsafe extern "C" fn(arg1: *mut dt_handle) -> ::core::ffi::c_int,
>;
pub type dt_sleep_classic = ::core::option::Option<
    unsafe extern "C" fn(arg1: *mut dt_handle),
>;
pub type dt_probe_callback = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *const dt_probedata,
        arg2: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int,
>;
pub type dt_record_callback = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *const dt_probedata,
        arg2: *const dt_recdesc,
        arg3: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int,
>;
pub type dt_work = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *mut dt_handle,
        arg2: *mut dt_file,
        arg3: dt_probe_callback,
        arg4: dt_record_callback,
        arg5: *mut ::core::ffi::c_void,
    ) -> dt_workstatus,
>;
pub type dt_aggregate_print = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *mut dt_handle,
        arg2: *mut dt_file,
        arg3: *mut dt_walk,
    ) -> ::core::ffi::c_int,
>;
pub type dt_error_handler = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *const dt_errdata,
        arg2: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int,
>;
pub type dt_drop_handler = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *const dt_dropdata,
        arg2: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int,
>;
pub type dt_process_handler_classic = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *mut dt_process,
        msg: *const ::core::ffi::c_char,
        arg2: *mut ::core::ffi::c_void,
    ),
>;
pub type dt_process_handler_linux = ::core::option::Option<
    unsafe extern "C" fn(
        pid: ::core::ffi::c_int,
        msg: *const ::core::ffi::c_char,
        arg1: *mut ::core::ffi::c_void,
    ),
>;
pub type dt_handle_err = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *mut dt_handle,
        arg2: dt_error_handler,
        arg3: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int,
>;
pub type dt_handle_drop = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *mut dt_handle,
        arg2: dt_drop_handler,
        arg3: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int,
>;
pub type dt_handle_proc_classic = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *mut dt_handle,
        arg2: dt_process_handler_classic,
        arg3: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int,
>;
pub type dt_handle_proc_linux = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *mut dt_handle,
        arg2: dt_process_handler_linux,
        arg3: *mut ::core::ffi::c_void,
    ) -> ::core::ffi::c_int,
>;
pub type dt_proc_create = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *mut dt_handle,
        file: *const ::core::ffi::c_char,
        argv: *const *mut ::core::ffi::c_char,
    ) -> *mut dt_process,
>;
pub type dt_proc_create_freebsd = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *mut dt_handle,
        file: *const ::core::ffi::c_char,
        argv: *const *mut ::core::ffi::c_char,
        arg2: *mut dt_child_hook,
        arg3: *mut ::core::ffi::c_void,
    ) -> *mut dt_process,
>;
pub type dt_proc_create_linux = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *mut dt_handle,
        file: *const ::core::ffi::c_char,
        argv: *const *mut ::core::ffi::c_char,
        flags: ::core::ffi::c_int,
    ) -> *mut dt_process,
>;
pub type dt_proc_grab = ::core::option::Option<
    unsafe extern "C" fn(
        arg1: *mut dt_handle,
        pid: ::core::ffi::c_int,
        flags: ::core::ffi::c_int,
    ) -> *mut dt_process,
>;
pub type dt_proc_continue = ::core::option::Option<
    unsafe extern "C" fn(arg1: *mut dt_handle, arg2: *mut dt_process),
>;
pub type dt_proc_release = ::core::option::Option<
    unsafe extern "C" fn(arg1: *mut dt_handle, arg2: *mut dt_process),
>;
#[repr(C)]
#[derive(Debug)]
pub struct dt_handle {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct dt_program {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug)]
pub struct dt_process {
    _unused: [u8; 0],
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct dt_errdata {
    pub handle: *mut dt_handle,
    pub edesc: *mut ::core::ffi::c_void,
    pub pdesc: *mut ::core::ffi::c_void,
    pub cpu: ::core::ffi::c_int,
    pub action: ::core::ffi::c_int,
    pub offset: ::core::ffi::c_int,
    pub fault: ::core::ffi::c_int,
    pub addr: ::core::ffi::c_ulonglong,
    pub msg: *const ::core::ffi::c_char,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct dt_dropdata {
    pub handle: *mut dt_handle,
    pub cpu: ::core::ffi::c_int,
    pub kind: ::core::ffi::c_int,
    pub drops: ::core::ffi::c_ulonglong,
    pub total: ::core::ffi::c_ulonglong,
    pub msg: *const ::core::ffi::c_char,
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct dt_proginfo {
    pub descattr: [::core::ffi::c_uchar; 3usize],
    pub stmtattr: [::core::ffi::c_uchar; 3usize],
    pub aggregates: ::core::ffi::c_uint,
    pub recgens: ::core::ffi::c_uint,
    pub matches: ::core::ffi::c_uint,
    pub speculations: ::core::ffi::c_uint,
}
#[repr(C)]
#[derive(Debug, Default, Copy, Clone)]
pub struct dt_recdesc {
    pub action: ::core::ffi::c_ushort,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct dt_probedata_classic {
    pub handle: *mut dt_handle,
    pub edesc: *mut ::core::ffi::c_void,
    pub pdesc: *mut ::core::ffi::c_void,
    pub cpu: ::core::ffi::c_int,
    pub data: *mut ::core::ffi::c_char,
}
#[repr(C)]
#[derive(Debug, Copy, Clone)]
pub struct dt_probedata_linux {
    pub handle: *mut dt_handle,
    pub stid: ::core::ffi::c_uint,
    pub ddesc: *mut ::core::ffi::c_void,
    pub pdesc: *mut ::core::ffi::c_void,
    pub cpu: ::core::ffi::c_uint,
    pub data: *mut ::core::ffi::c_char,
}
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dt_errdata"][::core::mem::size_of::<dt_errdata>() - 56usize];
    ["Alignment of dt_errdata"][::core::mem::align_of::<dt_errdata>() - 8usize];
    [
        "Offset of field: dt_errdata::handle",
    ][::core::mem::offset_of!(dt_errdata, handle) - 0usize];
    [
        "Offset of field: dt_errdata::edesc",
    ][::core::mem::offset_of!(dt_errdata, edesc) - 8usize];
    [
        "Offset of field: dt_errdata::pdesc",
    ][::core::mem::offset_of!(dt_errdata, pdesc) - 16usize];
    [
        "Offset of field: dt_errdata::cpu",
    ][::core::mem::offset_of!(dt_errdata, cpu) - 24usize];
    [
        "Offset of field: dt_errdata::action",
    ][::core::mem::offset_of!(dt_errdata, action) - 28usize];
    [
        "Offset of field: dt_errdata::offset",
    ][::core::mem::offset_of!(dt_errdata, offset) - 32usize];
    [
        "Offset of field: dt_errdata::fault",
    ][::core::mem::offset_of!(dt_errdata, fault) - 36usize];
    [
        "Offset of field: dt_errdata::addr",
    ][::core::mem::offset_of!(dt_errdata, addr) - 40usize];
    [
        "Offset of field: dt_errdata::msg",
    ][::core::mem::offset_of!(dt_errdata, msg) - 48usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dt_dropdata"][::core::mem::size_of::<dt_dropdata>() - 40usize];
    ["Alignment of dt_dropdata"][::core::mem::align_of::<dt_dropdata>() - 8usize];
    [
        "Offset of field: dt_dropdata::handle",
    ][::core::mem::offset_of!(dt_dropdata, handle) - 0usize];
    [
        "Offset of field: dt_dropdata::cpu",
    ][::core::mem::offset_of!(dt_dropdata, cpu) - 8usize];
    [
        "Offset of field: dt_dropdata::kind",
    ][::core::mem::offset_of!(dt_dropdata, kind) - 12usize];
    [
        "Offset of field: dt_dropdata::drops",
    ][::core::mem::offset_of!(dt_dropdata, drops) - 16usize];
    [
        "Offset of field: dt_dropdata::total",
    ][::core::mem::offset_of!(dt_dropdata, total) - 24usize];
    [
        "Offset of field: dt_dropdata::msg",
    ][::core::mem::offset_of!(dt_dropdata, msg) - 32usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dt_proginfo"][::core::mem::size_of::<dt_proginfo>() - 24usize];
    ["Alignment of dt_proginfo"][::core::mem::align_of::<dt_proginfo>() - 4usize];
    [
        "Offset of field: dt_proginfo::descattr",
    ][::core::mem::offset_of!(dt_proginfo, descattr) - 0usize];
    [
        "Offset of field: dt_proginfo::stmtattr",
    ][::core::mem::offset_of!(dt_proginfo, stmtattr) - 3usize];
    [
        "Offset of field: dt_proginfo::aggregates",
    ][::core::mem::offset_of!(dt_proginfo, aggregates) - 8usize];
    [
        "Offset of field: dt_proginfo::recgens",
    ][::core::mem::offset_of!(dt_proginfo, recgens) - 12usize];
    [
        "Offset of field: dt_proginfo::matches",
    ][::core::mem::offset_of!(dt_proginfo, matches) - 16usize];
    [
        "Offset of field: dt_proginfo::speculations",
    ][::core::mem::offset_of!(dt_proginfo, speculations) - 20usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    ["Size of dt_recdesc"][::core::mem::size_of::<dt_recdesc>() - 2usize];
    ["Alignment of dt_recdesc"][::core::mem::align_of::<dt_recdesc>() - 2usize];
    [
        "Offset of field: dt_recdesc::action",
    ][::core::mem::offset_of!(dt_recdesc, action) - 0usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of dt_probedata_classic",
    ][::core::mem::size_of::<dt_probedata_classic>() - 40usize];
    [
        "Alignment of dt_probedata_classic",
    ][::core::mem::align_of::<dt_probedata_classic>() - 8usize];
    [
        "Offset of field: dt_probedata_classic::handle",
    ][::core::mem::offset_of!(dt_probedata_classic, handle) - 0usize];
    [
        "Offset of field: dt_probedata_classic::edesc",
    ][::core::mem::offset_of!(dt_probedata_classic, edesc) - 8usize];
    [
        "Offset of field: dt_probedata_classic::pdesc",
    ][::core::mem::offset_of!(dt_probedata_classic, pdesc) - 16usize];
    [
        "Offset of field: dt_probedata_classic::cpu",
    ][::core::mem::offset_of!(dt_probedata_classic, cpu) - 24usize];
    [
        "Offset of field: dt_probedata_classic::data",
    ][::core::mem::offset_of!(dt_probedata_classic, data) - 32usize];
};
#[allow(clippy::unnecessary_operation, clippy::identity_op)]
const _: () = {
    [
        "Size of dt_probedata_linux",
    ][::core::mem::size_of::<dt_probedata_linux>() - 48usize];
    [
        "Alignment of dt_probedata_linux",
    ][::core::mem::align_of::<dt_probedata_linux>() - 8usize];
    [
        "Offset of field: dt_probedata_linux::handle",
    ][::core::mem::offset_of!(dt_probedata_linux, handle) - 0usize];
    [
        "Offset of field: dt_probedata_linux::stid",
    ][::core::mem::offset_of!(dt_probedata_linux, stid) - 8usize];
    [
        "Offset of field: dt_probedata_linux::ddesc",
    ][::core::mem::offset_of!(dt_probedata_linux, ddesc) - 16usize];
    [
        "Offset of field: dt_probedata_linux::pdesc",
    ][::core::mem::offset_of!(dt_probedata_linux, pdesc) - 24usize];
    [
        "Offset of field: dt_probedata_linux::cpu",
    ][::core::mem::offset_of!(dt_probedata_linux, cpu) - 32usize];
    [
        "Offset of field: dt_probedata_linux::data",
    ][::core::mem::offset_of!(dt_probedata_linux, data) - 40usize];
};
impl Default for dt_errdata {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl Default for dt_dropdata {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl Default for dt_probedata_classic {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
impl Default for dt_probedata_linux {
    fn default() -> Self {
        let mut s = ::core::mem::MaybeUninit::<Self>::uninit();
        unsafe {
            ::core::ptr::write_bytes(s.as_mut_ptr(), 0, 1);
            s.assume_init()
        }
    }
}
