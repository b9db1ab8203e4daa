//! Live traces: libdtrace, and the system's dtrace(1) as a second source. Everything unsafe of the program is here.
#![allow(unsafe_code)]
