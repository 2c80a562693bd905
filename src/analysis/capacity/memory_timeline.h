/*
 * The memory timeline's own header: who held memory and when, out of the events that PyTorch's
 * allocators leave in a trace. No other analysis includes it.
 *
 * One walk over a host's events in the order of time (model/merged.h). Of each thread the calls that
 * are open are known, so an allocation gets its owner when it is seen (_owner.c). Of each device the
 * live blocks are known by address; blocks of one owner and size are one kind, and a kind that
 * changed since the last peak is on a list, so a new peak costs what changed since the one before
 * it (_blocks.c). So no second walk is needed, and memory is bounded by live blocks and kinds, never
 * by events: past MT_BLOCKS and MT_KINDS they are counted together.
 */
#ifndef TS_ANALYSIS_MEMORY_TIMELINE_H
#define TS_ANALYSIS_MEMORY_TIMELINE_H

#define TS_NEEDS(X) X(capacity)
#include "analysis/kit/needs.h"

#define MT_BLOCKS  131072 /* live at once, of a host */
#define MT_KINDS   32768  /* of a host */
#define MT_DEVICES 64	  /* of a host */
#define MT_STEPS   4096	  /* rows of steps, of a host */
#define MT_CALLS   64	  /* calls of the driver's allocator that are told apart */
#define MT_DEPTH   1024	  /* open calls of a thread */

/* --- _owner.c: what an op of the trace is, and who is at work on a thread */

enum mt_role {
	MT_NOTHING,
	MT_BLOCK,      /* [memory]: a block was taken or given back */
	MT_OOM,	       /* [OutOfMemory] */
	MT_OPERATOR,   /* aten::linear */
	MT_ALLOCATING, /* aten::empty and its like: they allocate for whoever calls them */
	MT_BACKWARD,   /* autograd::engine::evaluate_function: ... */
	MT_MODULE,     /* nn.Module: Linear_0 */
	MT_SOURCE,     /* train.py(42): step */
	MT_PYTHON,     /* a function of a library */
	MT_ANNOTATION, /* record_function("...") */
	MT_OPTIMIZER,  /* Optimizer.step#Adam.step */
	MT_INPUT,      /* enumerate(DataLoader)#... */
	MT_STEP,       /* ProfilerStep#12 */
	MT_CALL,       /* cudaMalloc, cudaFree: the driver's allocator */
};

enum mt_phase {
	MT_NO_PHASE,
	MT_FORWARD,
	MT_IN_BACKWARD,
	MT_IN_OPTIMIZER,
	MT_IN_INPUT,
	MT_NR_PHASES
};

struct mt_owner {    /* ops of the profile; TS_NONE */
	uint32_t op; /* the innermost operator that does more than allocate, else the innermost */
	uint32_t outer_op;   /* the outermost operator around it */
	uint32_t module;     /* the innermost nn.Module */
	uint32_t annotation; /* the innermost */
	uint32_t source;     /* the innermost Python function that is no library's */
	uint32_t phase;
};

struct mt_open {
	int64_t end_ps;
	struct mt_owner owner; /* of what is allocated while it is the innermost */
};

struct mt_thread {
	struct mt_open *open;
	size_t nr, cap;
};

/* The role of each op of the profile, NR_OPS bytes; NULL: no memory. */
uint8_t *mt_roles(const struct ts_profile *profile);
/* False: no memory. */
bool mt_thread_enter(struct mt_thread *thread, uint32_t op, enum mt_role role, int64_t start_ps,
		     int64_t end_ps);
struct mt_owner mt_thread_owner(struct mt_thread *thread, int64_t at_ps);

/* --- _blocks.c */

struct mt_kind { /* blocks of one owner and size */
	struct mt_owner owner;
	uint32_t device;
	bool dirty;	     /* changed since the peak */
	int64_t block_bytes; /* TS_UNKNOWN: of many sizes (the kind of what is too much) */
	int64_t now_bytes, now_count, peak_bytes, peak_count;
	int64_t total_bytes, count; /* all that were taken */
	int64_t lived_ps, nr_lived; /* of those given back */
	int64_t unfreed_bytes, unfreed_count;
	uint64_t unfreed_steps; /* a bit for each step they were taken in; step 64 has that of 0 */
};

struct mt_block { /* that is alive */
	int64_t nr_bytes, at_ps;
	uint32_t kind, step; /* kind: TS_NONE: free; step: how many had begun */
};

struct mt_event {	      /* [memory] or [OutOfMemory] */
	int64_t at_ps, index; /* index: TS_UNKNOWN where it has none */
	int64_t device_type, device_id, address, nr_bytes, allocated, reserved;
	bool has_address;
	uint32_t line;
	enum mt_role role;
};

struct mt_step_row {
	uint64_t number;
	uint32_t device;
	int64_t peak_bytes, end_bytes, reserved_bytes, taken_bytes, count;
};

struct mt_device {
	int64_t type, id;
	uint32_t device; /* of the profile, or TS_NONE */
	struct ts_map by_address;
	uint32_t *dirty;
	size_t nr_dirty, cap_dirty;
	bool has_totals;	     /* the events say what is allocated in all */
	int64_t allocated, reserved; /* now; reserved TS_UNKNOWN: nobody says */
	int64_t first_bytes;	     /* before the first event */
	int64_t tracked;	     /* in live blocks whose allocation was seen */
	int64_t first_ps, last_ps, peak_ps, peak_bytes, peak_reserved, peak_untracked,
		most_reserved;
	uint64_t peak_step; /* TS_NO_NUMBER: in none */
	uint64_t nr_taken, nr_given, nr_unseen, nr_gaps, nr_oom;
	int64_t taken_bytes, oom_bytes, oom_ps;
	struct mt_owner oom_owner;
	double unused_ps, known_ps; /* share of the reserved that is not allocated, over time */
	struct ts_levels levels, levels_reserved;
	/* of the step that runs */
	struct mt_step_row step;
	int64_t first_step_bytes, last_step_bytes, nr_steps, nr_rising;
};

struct mt_call {
	uint32_t op;
	int64_t count, total_ps, max_ps;
	int64_t in_steps, in_steps_ps; /* of the second step on: what a warm-up needs is over */
	int64_t first_ps, last_ps;     /* from the first of those to the end of the last */
};

struct mt_host {
	uint32_t host;
	const struct ts_profile *profile;
	uint8_t *roles;
	struct mt_thread *threads; /* one a line of the profile */
	uint32_t *thread_of;	   /* of each line: the line of its thread */
	struct mt_kind *kinds;	   /* the first: those that are too many */
	struct ts_map kind_ids;
	struct mt_block *blocks;
	uint32_t *free_blocks;
	size_t nr_kinds, cap_kinds, nr_blocks, cap_blocks, nr_free_blocks, cap_free_blocks;
	uint64_t nr_untracked; /* blocks that were too many */
	struct mt_device *devices;
	size_t nr_devices, cap_devices;
	uint64_t nr_lost_devices; /* events */
	struct mt_call calls[MT_CALLS];
	size_t nr_calls;
	/* steps */
	uint32_t step_line; /* TS_NONE: none was seen */
	uint64_t step_number;
	int64_t step_end_ps;
	bool in_step;
	uint32_t nr_steps; /* begun */
	struct mt_step_row *rows;
	size_t nr_rows, cap_rows;
	uint64_t nr_lost_rows;
	/* events of one moment, put in order before they are taken */
	struct mt_event *waiting;
	size_t nr_waiting, cap_waiting;
};

/* In the order of time. All give false when memory is out. */
bool mt_take_event(struct mt_host *host, const struct mt_event *event);
bool mt_step_begin(struct mt_host *host, uint64_t number, int64_t end_ps);
bool mt_step_until(struct mt_host *host, int64_t at_ps); /* ends the step if it is over at AT */
bool mt_finish(struct mt_host *host); /* after the last event: the blocks that are left */
void mt_blocks_release(struct mt_host *host);

/* --- _holders.c and _rows.c */

struct mt_view { /* of one device */
	const struct ts_context *ctx;
	const struct mt_host *host;
	const struct mt_device *device;
	struct ts_bytes name;
	const struct mt_kind **kinds;
	size_t nr_kinds;
};

struct mt_sheet { /* a table with rows of every device */
	const char *name, *title;
	const struct ts_column *columns;
	size_t nr_columns;
	bool (*put)(struct ts_result *result, struct ts_table *table, const struct mt_view *view);
};
#define MT_SHEET(name, title, put) { #name, title, of_##name, TS_NELEM(of_##name), put }

struct ts_value mt_host_cell(const struct mt_view *view);
struct ts_value mt_op_cell(const struct mt_view *view, uint32_t op);
struct ts_value mt_module_cell(const struct mt_view *view, uint32_t op);

/* Who held what: .put reorders the view's kinds. */
enum { MT_HOLDER_SHEETS = 5 };
extern const struct mt_sheet mt_holder_sheets[MT_HOLDER_SHEETS];

bool mt_report(const struct ts_context *ctx, struct mt_host *hosts, size_t nr,
	       struct ts_result *result);

#endif
