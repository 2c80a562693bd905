/*
 * A Perfetto trace in one of its forms, behind one table of functions: what is written, on which
 * rows and in which order is the caller's affair (flow/trace.h), a form is bytes alone.
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
#ifndef TS_WRITE_PERFETTO_H
#define TS_WRITE_PERFETTO_H

#include "base/buf.h"
#include "base/units.h"
#include "model/block.h"
#include "result/result.h"

struct ts_perfetto_head {
	const char *version;
	const char *native_file; /* where the profiler's own trace was put; NULL: it had none */
	int64_t start_unix_ns;	 /* of the run; TS_UNKNOWN */
	int64_t shift_ns;	 /* added to every time of the run, so that none is negative */
	uint64_t events_total, events_written; /* of the profile, without our own tracks */
	uint64_t own_events;
};

struct ts_perfetto_process {
	uint32_t pid, order;
	struct ts_bytes name;
	bool has_tracks;			/* of ours */
	bool has_lines;				/* of the profile, other than threads' */
	uint64_t events_total, events_left_out; /* of its lines */
};

/* A line of the profile, or a track of ours. */
struct ts_perfetto_row {
	uint32_t number;   /* in the file, from 0 */
	uint32_t pid, tid; /* each tid stands once in a file, whatever its pid */
	uint32_t order;	   /* within the process */
	int64_t thread;	   /* what the host's system calls the line's thread; 0: it is not known */
	struct ts_bytes name;
	const struct ts_track *track; /* of ours; NULL: a line */
	int64_t *last_ns; /* 0 when the row begins; the form's, which may count times from it */
	struct ts_perfetto_seen *seen; /* empty when the row begins; the form's */
};

/* What slices of a row referred to so far: a form may write it once. Texts as long as the profile. */
struct ts_perfetto_seen {
	struct ts_strmap names, categories, texts, frames;
	struct ts_strmap stacks[3]; /* by enum stack_kind of pb_stack.c */
	struct ts_map ids;	    /* that stand as text */
	uint32_t nr_texts;	    /* of .texts and .ids */
	struct ts_buf scratch;
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

enum ts_perfetto_arg_type { TS_ARG_TEXT, TS_ARG_COUNT, TS_ARG_ID, TS_ARG_REAL };

/* A stat of an event, as an arg of its slice. */
struct ts_perfetto_stat {
	struct ts_bytes name;
	enum ts_perfetto_arg_type type; /* how it is shown: an id is a number, and stands as text */
	struct ts_stat value;
};

struct ts_perfetto_slice {
	int64_t start_ns, dur_ns;
	struct ts_bytes tail; /* what is the same each time the op or label is drawn */
	int64_t own_ns;	      /* self time of an op; time that is really the label's */
	uint32_t nr_events;   /* of a label */
	const struct ts_perfetto_stat *stats; /* of the event itself, each name once */
	size_t nr_stats;
	enum ts_perfetto_arrow arrow,
		launch; /* of an async pair; of a launch and what it launched */
	uint64_t arrow_id, launch_id;
	/* One of 0 ns that ran before it stands at the same ns of its lane: JSON, whose importer puts
	 * the longer of two first, writes its begin and its end apart. */
	bool is_apart;
};

/* An op whose slice comes next. */
struct ts_perfetto_op {
	const struct ts_profile *profile;
	uint32_t index;
	bool is_first;	/* of the row */
	bool has_stack; /* a call stack, which its slices share */
};

struct ts_perfetto_form {
	const char *name;
	const char *mark;   /* a file of this form that is ours begins so, unpacked */
	uint32_t max_lanes; /* of a row */
	void (*open)(struct ts_buf *out, const struct ts_perfetto_head *head);
	void (*close)(struct ts_buf *out);
	void (*process)(struct ts_buf *out, const struct ts_perfetto_process *process);
	void (*row)(struct ts_buf *out, const struct ts_perfetto_row *row);
	void (*lane)(struct ts_buf *out, struct ts_perfetto_lane *lane);
	/* Puts what a slice of the op needs before it to OUT, and its tail to TAIL. In JSON only the
	 * op's first slice of the row has its long args. */
	void (*op_tail)(struct ts_buf *out, struct ts_buf *tail,
			const struct ts_perfetto_lane *lane, const struct ts_perfetto_op *op);
	void (*op_slice)(struct ts_buf *out, const struct ts_perfetto_lane *lane,
			 const struct ts_perfetto_slice *slice);
	/* Likewise of label NUMBER of the row's track, each of them once. */
	void (*label_tail)(struct ts_buf *out, struct ts_buf *tail,
			   const struct ts_perfetto_lane *lane, uint32_t number);
	void (*label_slice)(struct ts_buf *out, const struct ts_perfetto_lane *lane,
			    const struct ts_perfetto_slice *slice);
	/* IS_APART: as the slice that ends has it. */
	void (*end)(struct ts_buf *out, const struct ts_perfetto_lane *lane, int64_t end_ns,
		    bool is_apart);
	/* A point of the row's counter. A value that is not a number is not written. */
	void (*counter)(struct ts_buf *out, const struct ts_perfetto_row *row, int64_t at_ns,
			double value);
};

extern const struct ts_perfetto_form ts_perfetto_json; /* perfetto_json.c */
extern const struct ts_perfetto_form ts_perfetto_pb;   /* perfetto_pb.c */

/* What forms share: the args of an op, in the order in which they stand. */

enum ts_perfetto_key {
	TS_KEY_OP_ID, /* the op's number in the file, the same in every row */
	TS_KEY_TF_OP,
	TS_KEY_SOURCE,
	TS_KEY_FLOPS,
	TS_KEY_BYTES_ACCESSED,
	TS_KEY_HLO_MODULE,
	TS_KEY_PROGRAM_ID,
	/* long ones */
	TS_KEY_LONG_NAME,
	TS_KEY_SHAPE,
	TS_KEY_SOURCE_STACK,
	TS_KEY_MODEL_FLOPS, /* where they are not the FLOPs */
	/* on an op's first slice of a row alone */
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

extern const char *const ts_perfetto_keys[TS_NR_KEYS];
extern const char *const ts_perfetto_event_keys[TS_NR_KEYS]; /* of a stat that says otherwise */
extern const char ts_perfetto_note[];			     /* what is in the file, a sentence */

/* Fills ARGS with those that are known, LONG ones only where asked for; gives back how many. */
size_t ts_perfetto_args(const struct ts_perfetto_op *op, bool with_long,
			struct ts_perfetto_arg args[TS_NR_KEYS]);

#define TS_ID_MAX 32 /* bytes of an id as text, its end among them */
/* A stat that is shown as text though it is a number. */
struct ts_bytes ts_perfetto_id(const struct ts_stat *stat, char text[TS_ID_MAX]);
/* At most 4096 bytes, cut where a character ends: a cut alone never makes bad UTF-8. */
struct ts_bytes ts_perfetto_cut(struct ts_bytes text);
/* "HBM bandwidth (GB/s)" is "HBM bandwidth" and "(GB/s)"; the unit is empty where none stands. */
void ts_perfetto_unit(const struct ts_track *track, struct ts_bytes *name, struct ts_bytes *unit);

#endif
