/* SPDX-License-Identifier: MIT */
/*
 * A Perfetto trace in one of its forms, behind one table of functions: what is written, on which
 * rows and in which order is the caller's affair (trace/trace.h), a form is bytes alone.
 *
 *	form->open(out, &head);
 *	form->process(out, &process);			for each
 *	form->row(out, &row);				for each row: then, as often as needed
 *		form->lane(out, &lane);
 *		form->op_tail(out, &tail, &lane, &op);
 *		form->op_slice(out, &lane, &slice);	in the order of starts, parents first
 *		form->end(out, &lane, end_ns, apart);	for each slice, innermost first
 *	form->close(out);
 *
 * A row's bytes depend on the row alone, and rows follow each other in any order; so they are made
 * apart, on threads. Times go in as whole nanoseconds, and what the importer reads back is the same
 * nanosecond. Names and texts may be any bytes; a form makes them what it may hold. Failure of
 * memory is the buffer's.
 */
#ifndef TS_TRACE_PERFETTO_PERFETTO_H
#define TS_TRACE_PERFETTO_PERFETTO_H

#include "base/buf.h"
#include "base/units.h"
#include "model/block.h"
#include "result/result.h"

/* Something known of the run. */
struct ts_perfetto_fact {
	const char *key;
	struct ts_bytes text; /* .n 0: it is a number */
	int64_t number;
};

/* A GPU, whose kernels are written a second time where the form has something of its own for them. */
struct ts_perfetto_gpu {
	uint32_t number;		     /* among those of its machine, from 0 */
	uint32_t pid, machine;		     /* of its process */
	struct ts_bytes name, vendor, model; /* the latter may be empty */
};

/* What was launched on it, as often as it was. */
struct ts_perfetto_kernel {
	uint32_t op;		    /* what its slices are of */
	struct ts_bytes name;	    /* its own: its slices may have that of a program's op */
	bool is_compute;	    /* else it copies or fills */
	uint32_t grid[3], block[3]; /* 0: unknown */
	int64_t registers, static_shared, dynamic_shared; /* bytes; TS_UNKNOWN */
};

/* A host, as Perfetto keeps hosts apart, in one file and in files that are opened together. Ids have 29
 * to 32 bits, so that all take the same room. */
#define TS_MACHINE_MIN (UINT32_C(1) << 28)

struct ts_perfetto_machine {
	uint32_t id;
	struct ts_bytes name;
};

struct ts_perfetto_head {
	const char *version;
	const char *source; /* the file that it was made from; NULL: it was made from several */
	const char *native_file; /* where the profiler's own trace was put; NULL: it had none */
	int64_t start_unix_ns;	 /* of the run; TS_UNKNOWN */
	int64_t shift_ns;	 /* added to every time of the run, so that none is negative */
	uint64_t events_total, events_written; /* of the profile, without our own tracks */
	uint64_t own_events;
	const struct ts_perfetto_fact *facts;
	size_t nr_facts;
	const struct ts_perfetto_gpu *gpus;
	size_t nr_gpus;
	const struct ts_perfetto_machine *machines; /* all that rows name; the first is the run's */
	size_t nr_machines;
};

struct ts_perfetto_process {
	uint32_t pid, order;
	struct ts_bytes name;
	uint32_t machine;			/* the id; 0: the head's first */
	bool has_tracks;			/* of ours */
	bool has_lines;				/* of the profile, other than threads' */
	uint64_t events_total, events_left_out; /* of its lines */
};

/* A line of the profile, or a track of ours. */
struct ts_perfetto_row {
	uint32_t number;   /* in the file, from 0 */
	uint32_t pid, tid; /* each tid stands once in a file, whatever its pid */
	uint32_t order;	   /* within the process */
	uint32_t machine;  /* as of the process */
	int64_t thread;	   /* what the host's system calls the line's thread; 0: it is not known */
	struct ts_bytes name;
	const struct ts_track *track;	   /* of ours; NULL: a line */
	bool is_native;			   /* the track is not ours, but a counter of the profile */
	const char *about;		   /* what the line has; NULL: nothing is to be said */
	const struct ts_perfetto_gpu *gpu; /* whose stream it is; else NULL */
	int64_t *last_ns; /* 0 when the row begins; the form's, which may count times from it */
	struct ts_perfetto_seen *seen; /* empty when the row begins; the form's */
};

/* A text of a map, found by where it lies: the texts of most events are a few in one place. */
struct ts_perfetto_near {
	const struct ts_strmap *map; /* NULL: empty */
	struct ts_bytes text;
	uint32_t number;
};

#define TS_PERFETTO_NEAR 64

/* What slices of a row referred to so far: a form may write it once. Texts as long as the profile. */
struct ts_perfetto_seen {
	struct ts_strmap names, categories, texts, frames;
	struct ts_strmap stacks[3]; /* by enum stack_kind of pb_stack.c */
	struct ts_map ids;	    /* that stand as text */
	uint32_t nr_texts;	    /* of .texts and .ids */
	struct ts_buf scratch;
	struct ts_perfetto_near near[TS_PERFETTO_NEAR];
};

void ts_perfetto_seen_release(struct ts_perfetto_seen *seen); /* empty again */

/* What every event of a lane has in common, as the form writes it. */
struct ts_perfetto_text {
	uint8_t n;
	char p[55];
};

/* Slices of a row that overlap without nesting lie on lanes of their own, from 0. */
struct ts_perfetto_lane {
	const struct ts_perfetto_row *row;
	uint32_t number;
	struct ts_perfetto_text packet, event; /* set by form->lane() */
};

enum ts_perfetto_arrow { TS_ARROW_NONE, TS_ARROW_BEGINS, TS_ARROW_ENDS };

/* What the numbers of a track's arrows become: no row has arrows of its own of that number. */
#define TS_PERFETTO_END_IDS (UINT64_C(0x1fffff) << 32)

enum ts_perfetto_arg_type { TS_ARG_TEXT, TS_ARG_COUNT, TS_ARG_ID, TS_ARG_REAL };

/* A stat of an event, as an arg of its slice. */
struct ts_perfetto_stat {
	struct ts_bytes name;
	enum ts_perfetto_arg_type type; /* how it is shown: an id is a number, and stands as text */
	struct ts_stat value;
};

#define TS_PERFETTO_ENDS_MAX 256 /* of a slice of a track: of arrows, as many as there are listed gaps */

struct ts_perfetto_slice {
	int64_t start_ns, dur_ns;
	struct ts_bytes tail; /* what is the same each time the op or label is drawn */
	int64_t own_ns;	      /* self time of an op; time that is really the label's */
	uint32_t nr_events;   /* of a label */
	const struct ts_perfetto_stat *stats; /* of the event itself, each name once */
	size_t nr_stats;
	struct ts_bytes category; /* where its op has several; else empty: the tail has it */
	bool has_stack;		  /* own_ns is its weight */
	enum ts_perfetto_arrow arrow,
		launch; /* of an async pair; of a launch and what it launched */
	uint64_t arrow_id, launch_id;
	/* One of 0 ns that ran before it stands at the same ns of its lane: JSON, whose importer puts
	 * the longer of two first, writes its begin and its end apart. */
	bool is_apart;
	struct ts_bytes kernel;		 /* of kernel_tail(), of a stream; empty: not known */
	const struct ts_track_end *ends; /* of a label: ends of arrows */
	size_t nr_ends;			 /* TS_PERFETTO_ENDS_MAX at most */
	uint64_t stage_id; /* of what runs on the stream; of what the slice launched there; 0 */
};

#define TS_MARK_MAX 64 /* bytes of a mark at most */
/* An op whose slice comes next. */
struct ts_perfetto_op {
	const struct ts_profile *profile;
	uint32_t index;
	bool is_first;	/* of the row */
	bool has_stack; /* a call stack, which its slices share */
};

struct ts_perfetto_form {
	const char *name;
	const char *mark;	/* a file of this form that is ours begins so, unpacked */
	const char *older_mark; /* or so, where an earlier release wrote it; NULL: all are alike */
	bool names_machines;	/* a process needs no host in its name */
	uint32_t max_lanes;	/* of a row */
	const char *
		separator; /* what every event begins with, but the file's first one; may be empty */
	void (*open)(struct ts_buf *out, const struct ts_perfetto_head *head);
	void (*close)(struct ts_buf *out);
	void (*process)(struct ts_buf *out, const struct ts_perfetto_process *process);
	void (*row)(struct ts_buf *out, const struct ts_perfetto_row *row);
	void (*lane)(struct ts_buf *out, struct ts_perfetto_lane *lane);
	/* Puts what a slice of the op needs before it to OUT, and its tail to TAIL. Only the op's
	 * first slice of the row has its long args; op_id leads there. */
	void (*op_tail)(struct ts_buf *out, struct ts_buf *tail,
			const struct ts_perfetto_lane *lane, const struct ts_perfetto_op *op);
	void (*op_slice)(struct ts_buf *out, const struct ts_perfetto_lane *lane,
			 const struct ts_perfetto_slice *slice);
	/* Likewise of launch NUMBER of a GPU's row, each of them once. NULL: the form has none of it. */
	void (*kernel_tail)(struct ts_buf *out, struct ts_buf *tail,
			    const struct ts_perfetto_lane *lane,
			    const struct ts_perfetto_kernel *kernel, uint32_t number);
	/* Likewise of label NUMBER of the row's track, each of them once. */
	void (*label_tail)(struct ts_buf *out, struct ts_buf *tail,
			   const struct ts_perfetto_lane *lane, uint32_t number);
	void (*label_slice)(struct ts_buf *out, const struct ts_perfetto_lane *lane,
			    const struct ts_perfetto_slice *slice);
	/* IS_APART: as the slice that ends has it. */
	void (*end)(struct ts_buf *out, const struct ts_perfetto_lane *lane, int64_t end_ns,
		    bool is_apart);
	/* What an importer makes of a time, where that is not the ns; NULL: it always is. */
	int64_t (*imported)(int64_t ns);
	/* A point of the row's counter. A value that is not a number is not written. */
	void (*counter)(struct ts_buf *out, const struct ts_perfetto_row *row, int64_t at_ns,
			double value);
};

extern const struct ts_perfetto_form ts_perfetto_json; /* json.c */
extern const struct ts_perfetto_form ts_perfetto_pb;   /* pb.c */

/* What forms share: the args of an op, in the order in which they stand. */

enum ts_perfetto_key {
	TS_KEY_OP_ID, /* the op's number in the file, the same in every row */
	TS_KEY_TF_OP,
	TS_KEY_SOURCE,
	TS_KEY_FLOPS,
	TS_KEY_BYTES_ACCESSED,
	TS_KEY_HLO_MODULE,
	TS_KEY_PROGRAM_ID,
	/* on an op's first slice of a row alone */
	TS_KEY_LONG_NAME,
	TS_KEY_SHAPE,
	TS_KEY_SOURCE_STACK,
	TS_KEY_MODEL_FLOPS, /* where they are not the FLOPs */
	TS_KEY_HBM_READ,
	TS_KEY_HBM_WRITE,
	TS_KEY_VMEM_READ,
	TS_KEY_VMEM_WRITE,
	TS_KEY_CMEM_READ,
	TS_KEY_CMEM_WRITE,
	TS_NR_KEYS
};

struct ts_perfetto_arg {
	enum ts_perfetto_key key;
	enum ts_perfetto_arg_type type;
	struct ts_bytes text; /* cut to what a viewer can show */
	uint64_t number;
};

/* The id of a host: of its name, its rank and the start of its profile, so that it is the same each time the
 * profile is annotated, and another one for another host or session. */
uint32_t ts_perfetto_machine_id(const struct ts_host *host);
/* "rank 3" of a rank, else the host's name. Without bytes: no memory, or the host has no name. */
struct ts_bytes ts_perfetto_machine_name(const struct ts_host *host, struct ts_arena *arena);

extern const char *const ts_perfetto_keys[TS_NR_KEYS];
extern const char *const ts_perfetto_event_keys[TS_NR_KEYS]; /* of a stat that says otherwise */
extern const char ts_perfetto_note[];			     /* what is in the file, a sentence */

/* Fills ARGS with those that are known, all of them for an op's first slice of a row; gives back how
 * many. */
size_t ts_perfetto_args(const struct ts_perfetto_op *op, struct ts_perfetto_arg args[TS_NR_KEYS]);

#define TS_ID_MAX 32 /* bytes of an id as text, its end among them */
/* A stat that is shown as text though it is a number. */
struct ts_bytes ts_perfetto_id(const struct ts_stat *stat, char text[TS_ID_MAX]);
/* At most 4096 bytes, cut where a character ends: a cut alone never makes bad UTF-8. */
struct ts_bytes ts_perfetto_cut(struct ts_bytes text);
/* "HBM bandwidth (GB/s)" is "HBM bandwidth" and "(GB/s)"; the unit is empty where none stands. */
void ts_perfetto_unit(const struct ts_track *track, struct ts_bytes *name, struct ts_bytes *unit);

#endif
