/* SPDX-License-Identifier: MIT */
/*
 * The memory timeline's own header: who held memory and when, out of the events that PyTorch's
 * allocators leave in a trace. No other analysis includes it.
 *
 * One walk over a host's events in the order of time (model/interleaved.h). Of each thread the calls that
 * are open are known, so an allocation gets its owner when it is seen (_owner.c). Of each device the
 * live blocks are known by address; blocks of one owner and size are one kind, and a kind that
 * changed since the last peak is on a list, so a new peak costs what changed since the one before
 * it (_blocks.c). So no second walk is needed, and memory is bounded by live blocks and kinds, never
 * by events: past MAX_LIVE_BLOCKS and MAX_KINDS they are counted together. What the walk found becomes
 * facts (_facts.c, _holders.c), and the report is a view of those and of the facts of allocators
 * (_report.c).
 */
#ifndef TS_ANALYSIS_MEMORY_TIMELINE_H
#define TS_ANALYSIS_MEMORY_TIMELINE_H

#define TS_NEEDS(X) X(capacity)
#define TS_SHOWS(X) X(memory_timeline) X(allocators)
#include "analysis/facts/memory_timeline.h"
#include "analysis/kit/needs.h"

#define MAX_LIVE_BLOCKS  131072 /* live at once, of a host */
#define MAX_KINDS   32768  /* of a host */
#define MAX_DEVICES 64	  /* of a host */
#define MAX_STEP_ROWS   4096	  /* rows of steps, of a host */
#define MAX_CALLS   64	  /* names of calls of the driver's allocator */
#define MAX_DEPTH   1024	  /* open calls of a thread */

/* --- _owner.c: what an op of the trace is, and who is at work on a thread */

enum heap_role {
	ROLE_NOTHING,
	ROLE_BLOCK,	 /* [memory]: a block was taken or given back */
	ROLE_OOM,	 /* [OutOfMemory] */
	ROLE_OPERATOR,	 /* aten::linear */
	ROLE_ALLOCATING, /* aten::empty and its like: they allocate for their caller */
	ROLE_BACKWARD,	 /* autograd::engine::evaluate_function: ... */
	ROLE_MODULE,	 /* nn.Module: Linear_0 */
	ROLE_SOURCE,	 /* train.py(42): step */
	ROLE_PYTHON,	 /* a function of a library */
	ROLE_ANNOTATION, /* record_function("...") */
	ROLE_OPTIMIZER,	 /* Optimizer.step#Adam.step */
	ROLE_INPUT,	 /* enumerate(DataLoader)#... */
	ROLE_STEP,	 /* ProfilerStep#12 */
	ROLE_CALL,	 /* cudaMalloc, cudaFree: the driver's allocator */
};

enum heap_phase {
	PHASE_NONE,
	PHASE_FORWARD,
	PHASE_BACKWARD,
	PHASE_OPTIMIZER,
	PHASE_INPUT,
	NR_PHASES
};

struct heap_owner {  /* ops of the profile; TS_NONE */
	uint32_t op; /* the innermost operator that does more than allocate, else the innermost */
	uint32_t outer_op;   /* the outermost operator around it */
	uint32_t module;     /* the innermost nn.Module */
	uint32_t annotation; /* the innermost */
	uint32_t source;     /* the innermost Python function outside of libraries */
	uint32_t phase;
};

struct heap_open {
	int64_t end_ps;
	struct heap_owner owner; /* of what is allocated while it is the innermost */
};

struct heap_thread {
	struct heap_open *open;
	size_t nr, cap;
};

/* The role of each op of the profile, NR_OPS bytes; NULL: no memory. */
uint8_t *ts_heap_roles(const struct ts_profile *profile);
enum ts_status ts_heap_thread_enter(struct heap_thread *thread, uint32_t op, enum heap_role role,
				    int64_t start_ps, int64_t end_ps, struct ts_error *err);
struct heap_owner ts_heap_thread_owner(struct heap_thread *thread, int64_t at_ps);

/* --- _blocks.c */

struct heap_kind { /* blocks of one owner and size */
	struct heap_owner owner;
	uint32_t device;
	bool dirty;	     /* changed since the peak */
	int64_t block_bytes; /* TS_UNKNOWN: of many sizes (the kind of what is too much) */
	int64_t now_bytes, now_count, peak_bytes, peak_count;
	int64_t total_bytes, count; /* all that were taken */
	int64_t lived_ps, nr_lived; /* of those given back */
	int64_t unfreed_bytes, unfreed_count;
	uint64_t unfreed_steps; /* a bit for each step they were taken in; step 64 has that of 0 */
};

struct heap_block { /* that is alive */
	int64_t nr_bytes, at_ps;
	uint32_t kind, step; /* kind: TS_NONE: free; step: how many had begun */
};

struct heap_event {	      /* [memory] or [OutOfMemory] */
	int64_t at_ps, index; /* index: TS_UNKNOWN where it has none */
	int64_t device_type, device_id, address, nr_bytes, allocated, reserved;
	bool has_address;
	uint32_t line;
	enum heap_role role;
};

struct heap_step {
	uint64_t number;
	uint32_t device;
	int64_t peak_bytes, end_bytes, reserved_bytes, taken_bytes, count;
};

struct heap_device {
	int64_t type, id;
	uint32_t device; /* of the profile, or TS_NONE */
	struct ts_map by_address;
	uint32_t *dirty;
	size_t nr_dirty, cap_dirty;
	bool has_totals;	     /* the events say what is allocated in all */
	int64_t allocated, reserved; /* now; reserved TS_UNKNOWN: it is not said */
	int64_t first_bytes;	     /* before the first event */
	int64_t tracked;	     /* in live blocks whose allocation was seen */
	int64_t first_ps, last_ps, peak_ps, peak_bytes, peak_reserved, peak_untracked,
		most_reserved;
	uint64_t peak_step; /* TS_NO_NUMBER: in none */
	uint64_t nr_taken, nr_given, nr_unseen, nr_gaps, nr_oom;
	int64_t taken_bytes, oom_bytes, oom_ps;
	struct heap_owner oom_owner;
	double unused_ps, known_ps; /* share of the reserved that is not allocated, over time */
	struct ts_levels levels, levels_reserved;
	/* of the step that runs */
	struct heap_step step;
	int64_t first_step_bytes, last_step_bytes, nr_steps, nr_rising;
};

struct heap_call {
	uint32_t op;
	int64_t count, total_ps, max_ps;
	int64_t in_steps, in_steps_ps; /* of the second step on: what a warm-up needs is over */
	int64_t first_ps, last_ps;     /* from the first of those to the end of the last */
};

struct heap_host {
	uint32_t host;
	const struct ts_profile *profile;
	bool has_events;	     /* of allocators: else there is nothing to look for */
	uint8_t *roles;		     /* of each op, during the walk */
	struct heap_thread *threads; /* one a line of the profile */
	size_t nr_threads;
	uint32_t *thread_of;	 /* of each line: the line of its thread; during the walk */
	struct heap_kind *kinds; /* the first: those that are too many */
	struct ts_map kind_ids;
	struct heap_block *blocks;
	uint32_t *free_blocks;
	size_t nr_kinds, cap_kinds, nr_blocks, cap_blocks, nr_free_blocks, cap_free_blocks;
	uint64_t nr_untracked; /* blocks that were too many */
	struct heap_device *devices;
	size_t nr_devices, cap_devices;
	uint64_t nr_lost_devices; /* events */
	struct heap_call calls[MAX_CALLS];
	size_t nr_calls;
	/* steps */
	uint32_t step_line; /* TS_NONE: none was seen */
	uint64_t step_number;
	int64_t step_end_ps;
	bool in_step;
	uint32_t nr_steps; /* begun */
	struct heap_step *rows;
	size_t nr_rows, cap_rows;
	uint64_t nr_lost_rows;
	/* events of one moment, put in order before they are taken */
	struct heap_event *waiting;
	size_t nr_waiting, cap_waiting;
};

struct timeline_state {
	struct heap_host *hosts; /* of a line: one */
	size_t nr, cap;
};
extern const struct ts_record ts_memory_timeline_record; /* _state.c */

/* In the order of time. */
enum ts_status ts_heap_take_event(struct heap_host *host, const struct heap_event *event,
				  struct ts_error *err);
enum ts_status ts_heap_step_begin(struct heap_host *host, uint64_t number, int64_t end_ps,
				  struct ts_error *err);
/* Ends the step if it is over at AT. */
enum ts_status ts_heap_step_until(struct heap_host *host, int64_t at_ps, struct ts_error *err);
/* After the last event: the blocks that are left. */
enum ts_status ts_heap_finish(struct heap_host *host, struct ts_error *err);

/* --- _facts.c, with _holders.c */

struct heap_view { /* a device whose facts are made */
	const struct ts_context *ctx;
	const struct heap_host *host;
	const struct heap_device *device;
	struct ts_result *result; /* whose arena the facts are in */
};

/* The names of an owner. */
struct ts_heap_owner ts_heap_owner_names(const struct ts_profile *profile,
					 const struct heap_owner *owner);
/* Who held what: the lists of TO. */
enum ts_status ts_heap_list_holders(const struct heap_view *view, struct ts_heap_device *to,
				    struct ts_error *err);
/* HOSTS are finished. */
enum ts_status ts_heap_make_facts(const struct ts_context *ctx, const struct heap_host *hosts,
				  size_t nr, struct ts_result *result,
				  struct ts_memory_timeline_facts *facts, struct ts_error *err);

/* --- _report.c */
enum ts_status ts_heap_report(const struct ts_context *ctx, struct ts_result *result,
			      struct ts_error *err);

#endif
