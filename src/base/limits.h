/* SPDX-License-Identifier: MIT */
/*
 * Limits: what one input may hold at most. Each has its reason here and its row in docs/limits.md;
 * tests/limits/limits_test.py holds the two against one another. A number of bytes, events or ops
 * alone is not a limit: memory and time grow with those in proportion. A limit stands where a small
 * input could ask for more than that: by depth, by sharing, by packing, by tables of tables.
 *
 * What is over a limit is refused with TS_LIMIT, or left out with a finding. Either message ends
 * with TS_OVER(the limit's name), so that a reader of the message finds it here.
 */
#ifndef TS_BASE_LIMITS_H
#define TS_BASE_LIMITS_H

#include <stdint.h>

/* "(over TS_LIMIT_X, docs/limits.md)" */
#define TS_OVER(limit) "(over " #limit ", docs/limits.md)"

/* --- Packed inputs: gzip, tar, zip, xz, zstd, bzip2, lz4 */

/* Unpacked bytes for each packed one. Profiles pack 4 to 30 times, a run of zeros 1000 times. */
#define TS_LIMIT_PACKED_RATIO 64
/* Bytes; what unpacks to less is taken whatever its ratio. */
#define TS_LIMIT_PACKED_FLOOR (UINT64_C(64) << 20)
/* Profiles in one archive: each is a host in memory. The largest pods have 2304 hosts. */
#define TS_LIMIT_ARCHIVE_FILES 4096
/* Bytes of one file in an archive: it is held in memory. */
#define TS_LIMIT_ARCHIVE_ENTRY (UINT64_C(8) << 30)
/* Bytes from a pipe, and half of the machine's memory: what cannot be mapped is held in memory. */
#define TS_LIMIT_STREAM (UINT64_C(8) << 30)

/* Folders below the log directory that are searched: a link may lead in a circle. */
#define TS_LIMIT_FOLDER_DEPTH 64

/* Objects of a store below what is named: each is a file of the scratch folder, and some 200 bytes. */
#define TS_LIMIT_REMOTE_OBJECTS 200000

/* --- Any profile */

/* Planes of one file: devices, hosts. A host has 30; each one takes time in all analyses. */
#define TS_LIMIT_PLANES 4096
/*
 * Devices of a run, beside one for each so many bytes of its files: a device that did something has
 * more, and each takes some 100 KiB in analyses.
 */
#define TS_LIMIT_DEVICES      4096
#define TS_LIMIT_DEVICE_BYTES (128 << 10)
/* Lines of one file: threads, streams, rows of a device; the largest have a few thousand. */
#define TS_LIMIT_LINES 65536

/*
 * Lines of a run times its ops, for each byte of its files, and in any case: analyses keep a few
 * numbers of each op on each line. What is over it are whole lines, the last ones.
 */
#define TS_LIMIT_CELLS_A_BYTE 4
#define TS_LIMIT_CELLS	      (UINT64_C(1) << 24)
/*
 * Bytes that are kept of the name of a plane, line, process, category, module or source file: each
 * row of a table may repeat it.
 */
#define TS_LIMIT_NAME 1024
/* Bytes of a text to which events refer: each of very many events may name the same long text. */
#define TS_LIMIT_SHARED_TEXT 8192
/*
 * Bytes of texts that ops have by reference, for each byte of their plane, and in any case: every op
 * is printed with them. Profiles have less than as many bytes again.
 */
#define TS_LIMIT_SHARED_RATIO 8
#define TS_LIMIT_SHARED_FLOOR (UINT64_C(1) << 20)

/*
 * Ends of arrows that a trace in JSON has of its own, other than of launches: 32 bytes each. A training
 * step of PyTorch has two for each operator with a backward. Further ones are not drawn.
 */
#define TS_LIMIT_TRACE_FLOWS (UINT64_C(1) << 20)

/* Bytes of texts of args that have escapes, each kept once; further ones are shown with theirs. */
#define TS_LIMIT_TRACE_TEXTS (UINT64_C(16) << 20)

/* Points of the counters of one process of a trace in JSON: 16 bytes each in the pftrace's making. */
#define TS_LIMIT_TRACE_POINTS (UINT64_C(1) << 20)

/*
 * Slices of a written trace's rows that are looked through for launch arrows: each end of one takes 40
 * bytes. It is eight times as many as a trace has unless more are asked for.
 */
#define TS_LIMIT_TRACE_LAUNCHES (UINT64_C(1) << 23)

/* --- Compiled modules: HloProto, HloModuleProto */

/* The largest training steps have a tenth of that. */
#define TS_LIMIT_HLO_INSTRS (UINT64_C(1) << 22)
/* Bytes of a module for each instruction beyond the first; compilers write 150. One takes 2 KiB in
 * reports. */
#define TS_LIMIT_HLO_INSTR_BYTES 32
#define TS_LIMIT_HLO_INSTR_FLOOR 4096
/* Parts of tuples count. */
#define TS_LIMIT_HLO_SHAPES (UINT64_C(1) << 23)
/* Tuples in tuples: protobuf-c unpacks them by recursion. Compilers write three or four. */
#define TS_LIMIT_HLO_SHAPE_DEPTH 64
/* Dimensions of an array whose layout is kept; XLA has six. */
#define TS_LIMIT_HLO_RANK 64
/* Computations that call one another: analyses follow calls by recursion. */
#define TS_LIMIT_HLO_CALL_DEPTH 64
/*
 * Instructions and parts of operands that a walk through all calls meets, for each instruction of the
 * module, and those that it may meet in any case. Computations that call the next one twice double
 * the walk at every level; compilers share only reducers of a few ops.
 */
#define TS_LIMIT_HLO_WALK_RATIO 256
#define TS_LIMIT_HLO_WALK_FLOOR (UINT64_C(1) << 22)
/* Frames of one stack of source lines: a chain of parents may run in a circle. JAX writes ten. */
#define TS_LIMIT_HLO_STACK 64
/* Frames of all stacks of a module: each chain of parents is written out. */
#define TS_LIMIT_HLO_FRAMES (1u << 22)
/* Bytes of one backend_config: as JSON in memory it takes 60 times as much. */
#define TS_LIMIT_HLO_CONFIG (16u << 20)
/* Buffers, heaps, their events: for each part of a shape, which is taken and freed a few times. */
#define TS_LIMIT_HLO_BUFFERS_A_SHAPE 4
/* Bytes of input_output_alias for each part of a shape. */
#define TS_LIMIT_HLO_ALIAS_BYTES 64

/* Messages in messages of a module that redact copies: shardings hold shardings. */
#define TS_LIMIT_REDACT_DEPTH 32

/* --- Traces in JSON */

/* Threads and streams, also of trim: a record of an event names its track in 16 bits. */
#define TS_LIMIT_TRACE_TRACKS 65536
/* Entries of deviceProperties; the largest jobs write eight a file. */
#define TS_LIMIT_TRACE_DEVICES 1024
/* Events of one thread that have begun (B) and not ended (E); Python's stacks end at 1000. */
#define TS_LIMIT_TRACE_OPEN 4096
/* Objects in objects of args that redact looks into; what is deeper is hashed as one text. */
#define TS_LIMIT_JSON_DEPTH 64

/* --- Events */

/* Events inside one another; what is deeper counts as its parent's. */
#define TS_LIMIT_NEST_DEPTH 1024
/* Stats of one event that its slice in a Perfetto trace shows; profilers write a dozen. */
#define TS_LIMIT_EVENT_STATS 256

/* --- States that were saved: maps of a run */

/* Records in records; ours have four at most. */
#define TS_LIMIT_RECORD_DEPTH 16
/* Ops that the findings of a run name in all, and their times: each is held against the others. */
#define TS_LIMIT_FINDING_PLACES 8192
#define TS_LIMIT_FINDING_TIMES	8192
/* Events of one host. */
#define TS_LIMIT_HOST_EVENTS (UINT64_C(1) << 48)

/* --- Memory profiles: pprof */

/* Bytes of the unpacked text; JAX writes a few hundred KiB. */
#define TS_LIMIT_PPROF_BYTES (UINT64_C(128) << 20)
/* Samples. */
#define TS_LIMIT_PPROF_SAMPLES (1u << 20)
/* Entries of each table: strings, functions, locations, frames of locations. */
#define TS_LIMIT_PPROF_ENTRIES (1u << 22)
/* Bytes of a name or path that are kept. */
#define TS_LIMIT_PPROF_NAME 1024
/* Frames of one stack that are kept, the innermost. */
#define TS_LIMIT_PPROF_STACK 512
/* Frames of all stacks: samples share locations, and each stack is written out. */
#define TS_LIMIT_PPROF_STACKED (1u << 24)

/* --- Logs of PyTorch's compiler */

/* Logs of one folder; jobs of more ranks do not write these. */
#define TS_LIMIT_TORCH_LOGS 4096
/* Rows of a kind (graph breaks, recompilations, compilations) that are kept; others are counted. */
#define TS_LIMIT_TORCH_ROWS 65536
/* Bytes of one text that are kept. */
#define TS_LIMIT_TORCH_TEXT 8192
/* Bytes of what follows one record that are looked at. */
#define TS_LIMIT_TORCH_PAYLOAD (64 * 1024)

#endif
