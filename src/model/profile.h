/* SPDX-License-Identifier: MIT */
/*
 * A profile: host > plane > line, the op table, the devices and the compiled modules.
 *
 * A profile holds the small things only; the events stay in the mapped input and are handed out in
 * blocks (model/block.h). A reader (read/) fills a profile, then ts_profile_finish() works out what
 * follows from it, and from then on it is const.
 *
 * Ownership: everything here dies with ts_profile_release(). Byte views look into the inputs, which
 * must live longer, or into profile->arena. Objects name each other by index; TS_NONE stands where
 * there is nothing.
 *
 * Units: times are ps since the run's start (start_unix_ns), int64; sizes are bytes; rates are per
 * second. Unknown numbers are -1 (integers) or NaN (doubles), never 0.
 */
#ifndef TS_MODEL_PROFILE_H
#define TS_MODEL_PROFILE_H

#include "base/arena.h"
#include "base/check.h"
#include "base/map.h"
#include "base/room.h"
#include "base/spans.h"
#include "model/capture_time.h"
#include "model/hlo.h"
#include "model/torch_log.h"

#define TS_UNKNOWN (-1) /* an integer that is not known */

enum ts_plane_kind {
	TS_PLANE_OTHER,
	TS_PLANE_TPU,	     /* one TensorCore, or a megacore: /device:TPU:n */
	TS_PLANE_SPARSECORE, /* /device:TPU:n SparseCore m */
	TS_PLANE_GPU, /* whose lines are streams; other makers' devices, and a CPU where no other device is, too */
	TS_PLANE_HOST,	   /* /host:CPU and its like: threads */
	TS_PLANE_METADATA, /* /host:metadata: HLO protos */
	TS_PLANE_TASK,	   /* Task Environment */
	TS_PLANE_CUSTOM,   /* somebody's /device:CUSTOM: */
	TS_PLANE_OURS,	   /* /device:CUSTOM:TPUsight: an earlier annotation, never analysed */
};

enum ts_line_kind {
	TS_LINE_OTHER,
	TS_LINE_STEPS,	 /* step markers of a device */
	TS_LINE_MODULES, /* one event for each execution of a module */
	TS_LINE_OPS,	 /* what a core does: XLA Ops, or a GPU's stream */
	TS_LINE_ASYNC,	 /* Async XLA Ops: from start to done, may overlap */
	TS_LINE_TRACEME, /* XLA TraceMe: barrier-cores, dependency-wait */
	TS_LINE_THREAD,	 /* a host's thread */
	TS_LINE_DERIVED, /* made by a viewer from other lines: name scopes, source code */
	/* of a SparseCore; they have kinds of their own, as they are not the time of a core */
	TS_LINE_SC_STEPS,
	TS_LINE_SC_MODULES, /* one event for each computation that was offloaded */
	TS_LINE_SC_OPS,
	/* of a device's hardware; neither has slices */
	TS_LINE_SAMPLES,  /* counters over time: an event is a sample, its first stat the value */
	TS_LINE_COUNTERS, /* counters when the capture ends: an event is a counter, at no time */
	TS_LINE_THROTTLE, /* an event for each stretch in which the clock was held back */
	TS_NR_LINE_KINDS
};

/* What an op is, in the terms of time accounting (docs/analyses/time/time.md). */
enum ts_op_kind {
	TS_OP_OTHER,	  /* an event that is not an op: host events, markers */
	TS_OP_COMPUTE,	  /* arithmetic without the matrix unit */
	TS_OP_MATRIX,	  /* holds a convolution or dot, or is a kernel that says so */
	TS_OP_MOVE,	  /* copies, -done waits of copies, data formatting: bytes are moved */
	TS_OP_COLLECTIVE, /* and its -start, -done */
	TS_OP_HOST,	  /* infeed, outfeed, host send/recv; copies whose shape holds S(5) */
	TS_OP_CONTROL,	  /* while, conditional, call, megacore fusion: holds other ops */
	TS_OP_MODULE,	  /* an execution of a module */
	TS_OP_STEP,
};

enum ts_op_async { TS_ASYNC_NONE, TS_ASYNC_START, TS_ASYNC_DONE };

struct ts_op {
	struct ts_bytes name;	    /* as viewers label it: fusion.12; or the event's name */
	struct ts_bytes text;	    /* the HLO text with layouts, where the profile has it */
	struct ts_bytes category;   /* hlo_category */
	enum ts_opcode category_id; /* the same as a known word */
	struct ts_bytes
		framework_op;	/* tf_op: jit(f)/jit(main)/dot_general, without the last ':' */
	struct ts_bytes source; /* file:line */
	struct ts_bytes source_stack;
	struct ts_bytes shape; /* shape_with_layout */
	uint64_t program_id;   /* of the module; meaningful when has_program */
	uint64_t symbol_id;    /* of the instruction; 0: XProf does not count it as an op */
	bool has_program;
	bool is_remat;	/* by XLA's .remat suffix or jax.checkpoint's scope */
	bool is_traced; /* of a device, in a trace that does not name programs */
	bool is_event;	/* of a trace's host: not an op, whatever its category */
	bool has_variants; /* text, category, shape, source and costs are one of several: events have theirs as stats */
	enum ts_op_kind kind;
	enum ts_op_async async;
	uint32_t partner; /* the -done of a -start and the other way round, or TS_NONE */
	uint32_t module;  /* index into profile->modules */
	uint32_t instr;	  /* index into that module's instrs */
	/* Per execution; TS_UNKNOWN where there is no number. */
	int64_t flops;	     /* normalised to the bf16 peak, as XProf */
	int64_t model_flops; /* as written in the program */
	int64_t bytes_accessed;
	int64_t hbm_read_bytes; /* from memory_access_breakdown */
	int64_t hbm_write_bytes;
	int64_t onchip_bytes; /* VMEM and CMEM, both ways; and each way for itself: */
	int64_t vmem_read_bytes, vmem_write_bytes, cmem_read_bytes, cmem_write_bytes;
};

struct ts_line {
	uint32_t plane;
	int64_t id;
	struct ts_bytes name; /* display_name when there is one */
	struct ts_bytes
		unread; /* "category mtia_insight": what of it no rule takes; empty: it is known */
	enum ts_line_kind kind;
	int64_t start_ps; /* events' offsets count from here */
	int64_t host_ps;  /* the same since its own host's start: finish() adds the host's lag */
	int64_t timestamp_ns; /* the same on the file's own clock; 0: the file does not say */
	struct ts_bytes body; /* the undecoded line, for its reader */
	uint32_t at_reader;   /* its place among the lines when it was read */
	uint64_t nr_events;
	struct ts_span
		usual; /* of a line with events: from when to when some of them are, since .start_ps */
	int64_t thread; /* what the system calls the thread, or its driver the stream; 0: it is not known */
	/* Not slices of its own: points of counters; or (steps, with each device; a CPU's ops) events of another line. */
	bool has_points, repeats;
	bool unsorted; /* found out by the first pass: its reader must sort */
	bool is_plain; /* likewise: nothing of it is damaged, and its events are in order on the timeline */
};

struct ts_plane {
	uint32_t host;
	int64_t id;
	int64_t pid; /* what the system calls the process that it shows; TS_UNKNOWN */
	struct ts_bytes name;
	enum ts_plane_kind kind;
	uint32_t device;      /* index into profile->devices, or TS_NONE */
	uint32_t tensor_core; /* of a SparseCore's plane: the device it works for, or TS_NONE */
	uint32_t first_line, nr_lines;
	uint32_t nr_core_lines;	 /* of them, with events, those of cores; of ts_profile_finish() */
	const void *reader_data; /* of the reader that made it: how to decode its events */
};

/* A core as the profile shows it: one plane (facts: v2, v3 and v7x have two a chip). What the
 * plane said of itself; the chip table fills gaps in a copy (hw/, run/). */
struct ts_device {
	uint32_t host, plane;
	uint32_t ordinal;     /* the n of /device:TPU:n */
	int64_t device_id;    /* as the profiler numbers it over all hosts; TS_UNKNOWN */
	struct ts_bytes name; /* /device:TPU:0 */
	struct ts_bytes
		label; /* the same behind its host, where there are several; of ts_profile_finish() */
	struct ts_bytes kind;	/* device_type_string, or GPU's device name; may be empty */
	struct ts_bytes vendor; /* GPU */
	bool is_gpu;
	bool is_cpu; /* of a host, where no other device is: its lines are threads, whose ops are events of the host's */
	double peak_flops_per_s; /* NaN: the plane does not say */
	double hbm_bytes_per_s;
	double vmem_read_bytes_per_s, vmem_write_bytes_per_s;
	double cmem_read_bytes_per_s, cmem_write_bytes_per_s;
	int64_t hbm_bytes;
	int64_t clock_khz, core_count, cc_major, cc_minor;
	bool has_megacore;
	int64_t local_chip_id; /* cores of one chip share it; TS_UNKNOWN */
	struct ts_bytes
		predicted;	/* the topology for which its times were predicted; empty: it ran */
	struct ts_bytes libtpu; /* of a predicted one: the version that compiled its modules */
};

#define TS_MAX_MESSAGES 20
struct ts_host {
	struct ts_bytes name; /* of the file, less .xplane.pb */
	struct ts_bytes file;
	struct ts_bytes stands_for; /* of a trace: the host's empty xplane; else empty */
	struct ts_bytes
		meant; /* what says that it was to run on another device than a CPU: "JAX_PLATFORMS=tpu"; empty: nothing */
	struct ts_bytes libtpu; /* the version that recorded it, where it says so */
	struct ts_bytes
		not_strict; /* of a trace, where it was asked for (read/reader.h): "byte N: ..." */
	size_t file_bytes;  /* less our own annotation */
	int64_t start_unix_ns; /* profiler start; TS_UNKNOWN */
	int64_t stop_unix_ns;
	double mxu_utilization_pct; /* from the host plane's counters; NaN */
	double hbm_utilization_pct;
	/* Errors and warnings of the profiler itself: the first TS_MAX_MESSAGES of each. */
	struct ts_bytes *errors, *warnings;
	size_t nr_errors, nr_warnings; /* all of them */
	int64_t rank, world_size;      /* of a distributed job; TS_UNKNOWN */
	int64_t trace_start_ns;	     /* of a trace: its start as its own events count; TS_UNKNOWN */
	int64_t trace_ps;	     /* of a trace: from its first event to its last; TS_UNKNOWN */
	struct ts_capture_time time; /* what its events may take up */
	uint32_t first_plane, nr_planes;
	size_t nr_core_lines; /* lines of its cores, with events or without; of ts_profile_finish() */
	uint32_t reader;      /* the index of its reader in read/'s list */
	void *reader_data;    /* of that reader, freed by .reader_release */
	void (*reader_release)(void *data);
};

/* What could not be read: becomes a finding. */
struct ts_damage {
	struct ts_bytes file;
	uint64_t offset;
	struct ts_bytes cause;
	bool minor;	/* one thing was left out (a module); the file itself is whole */
	bool of_module; /* of the module of this program, which another file may have whole */
	uint64_t
		nr_events; /* whose times cannot be (enum ts_fault); 0: it is damage of another kind */
	uint64_t program_id;
};

/*
 * The holders of device memory, from a memory profile: what one stack of calls allocated on a
 * device.
 */
struct ts_frame {
	struct ts_bytes function, file; /* empty: unknown */
	int64_t line;
};

struct ts_site {
	struct ts_bytes file;	      /* the memory profile */
	struct ts_bytes kind, device; /* "buffer", "executable"; "TPU_0(...)"; empty: unknown */
	int64_t nr_bytes, nr_objects;
	uint32_t first_frame, nr_frames; /* in profile->stacked, the innermost first */
};

struct ts_launched;
struct ts_profile {
	struct ts_arena arena;
	const struct ts_rooms
		*rooms; /* where large arrays lie, those of the analyses too; NULL: in memory */
	struct ts_bytes logdir, run, session; /* as TensorBoard names them; empty: not from a run */
	struct ts_bytes
		input_names; /* of host events that are input, as ts_host_is_named() reads them */
	struct ts_bytes
		step_mark; /* of the host events that mark steps, likewise; empty: as they are known */
	int64_t start_unix_ns; /* earliest start of a host: time 0; TS_UNKNOWN */
	int64_t capture_ps;    /* profiler start to stop, or TS_UNKNOWN */
	const struct ts_span
		*part; /* no event outside of it is handed over (model/part.h); NULL: all are */
	struct ts_host *hosts;
	struct ts_plane *planes;
	struct ts_line *lines;
	struct ts_device *devices;
	struct ts_op *ops; /* these and .op_slots are rooms (base/room.h) */
	struct ts_hlo_module *modules;
	struct ts_damage *damage;
	struct ts_site *sites; /* of memory profiles */
	struct ts_frame *frames;
	uint32_t *stacked; /* indices of frames, the sites' stacks one after the other */
	struct ts_torch_log torch_log; /* of PyTorch's compiler */
	struct ts_launched *
		launched; /* what kernels have to do (model/launched.h); NULL: it was not found out */
	size_t nr_hosts, nr_planes, nr_lines, nr_devices, nr_ops, nr_modules, nr_damage;
	size_t nr_sites, nr_frames, nr_stacked;
	/* for the readers */
	size_t cap_hosts, cap_planes, cap_lines, cap_devices, cap_ops, cap_modules, cap_damage;
	size_t cap_sites, cap_frames, cap_stacked;
	struct ts_map program_modules; /* program id -> module */
	uint32_t *op_slots;	       /* by the hash of an op's identity: the op, or TS_NONE */
	size_t cap_op_slots;	       /* a power of two */
	uint64_t op_seed;	       /* of that hash */
};

void ts_profile_init(struct ts_profile *profile);
void ts_profile_release(struct ts_profile *profile);

/* For readers: a new element at the end, its unknowns set; NULL when memory is out. The pointer is
 * good until the next add of the same kind. */
struct ts_host *ts_profile_add_host(struct ts_profile *profile);
struct ts_plane *ts_profile_add_plane(struct ts_profile *profile);
struct ts_line *ts_profile_add_line(struct ts_profile *profile);
struct ts_device *ts_profile_add_device(struct ts_profile *profile);
/* False: TS_LIMIT_DEVICES is met, as far as the files of the run go. */
bool ts_profile_takes_device(const struct ts_profile *profile);
struct ts_hlo_module *ts_profile_add_module(struct ts_profile *profile, uint64_t program_id);
/* Copies of *SITE and *FRAME at the end, and a frame more in the last stack. */
enum ts_status ts_profile_add_site(struct ts_profile *profile, const struct ts_site *site,
				   struct ts_error *err);
enum ts_status ts_profile_add_frame(struct ts_profile *profile, const struct ts_frame *frame,
				    struct ts_error *err);
enum ts_status ts_profile_stack_frame(struct ts_profile *profile, uint32_t frame,
				      struct ts_error *err);
/* Damage that the user should know about. */
bool ts_profile_is_damaged(const struct ts_profile *profile);
/* All was read, whatever times events have. */
bool ts_profile_is_whole(const struct ts_profile *profile);
/* Notes damage, the same once; keeps the first hundred and does not count the others. What finds no memory is
 * noted in the arena. */
void ts_profile_add_damage(struct ts_profile *profile, struct ts_bytes file, uint64_t offset,
			   const char *cause, bool minor);
/* The same of what has more to say; the cause is copied. */
void ts_profile_note_damage(struct ts_profile *profile, const struct ts_damage *damage);
/*
 * The op with this identity, made from DRAFT if it is new: ops of one program and name are one op
 * whatever plane or host they ran on; ops without a program differ by kind and name. TS_NONE: no
 * memory.
 */
uint32_t ts_profile_intern_op(struct ts_profile *profile, const struct ts_op *draft);
/* The one without a program of that kind and name; TS_NONE: there is none. */
uint32_t ts_profile_find_op(const struct ts_profile *profile, enum ts_op_kind kind,
			    struct ts_bytes name);
void ts_op_init(struct ts_op *op); /* all unknown */

/*
 * Works out kinds, partners and instruction links of ops, once all readers are done. May be called
 * again after more was read.
 */
enum ts_status ts_profile_finish(struct ts_profile *profile, struct ts_error *err);

/* The .nr_core_lines of hosts and planes: who asks of each line how many others there are must not count them each time. Of finish();
 * once more by who took lines away. */
void ts_profile_count_lines(struct ts_profile *profile);

uint32_t ts_profile_module_of(const struct ts_profile *profile, uint64_t program_id);
static inline const struct ts_hlo_instr *ts_op_instr(const struct ts_profile *profile,
						     const struct ts_op *op)
{
	if (op->module == TS_NONE || op->instr == TS_NONE)
		return NULL;
	TS_ASSERT_HOT(op->module < profile->nr_modules);
	TS_ASSERT_HOT(op->instr < profile->modules[op->module].nr_instrs);
	return &profile->modules[op->module].instrs[op->instr];
}
const struct ts_device *ts_line_device(const struct ts_profile *profile,
				       const struct ts_line *line);

/*
 * The lines of a host, in the order of the profile; *LINE is TS_NONE at first. False: there are no more. Who asks host by host must
 * not look at the lines of all hosts each time.
 */
bool ts_host_next_line(const struct ts_profile *profile, uint32_t host, uint32_t *line);

/* How much later than the run the host began. */
int64_t ts_host_lag_ps(const struct ts_profile *profile, const struct ts_host *host);

/* True for lines that say what a device's core did: the ones that time is counted on. */
bool ts_line_is_core(const struct ts_profile *profile, const struct ts_line *line);

/* Do its lines run side by side, each at work for itself? */
static inline bool ts_device_has_streams(const struct ts_device *device)
{
	return device->is_gpu || device->is_cpu;
}

/* What ran, ran on CPUs: no other device is there. */
static inline bool ts_profile_is_of_cpus(const struct ts_profile *profile)
{
	return profile->nr_devices > 0 && profile->devices[0].is_cpu;
}

/* The topology for which a profile was predicted (run/predict.h); empty: it was measured. */
static inline struct ts_bytes ts_profile_predicted(const struct ts_profile *profile)
{
	return profile->nr_devices > 0 ? profile->devices[0].predicted
				       : (struct ts_bytes){ NULL, 0 };
}

/* XLA's and JAX's signs of recomputation in an op's name, text or framework scope. */
bool ts_op_looks_remat(struct ts_bytes name, struct ts_bytes text, struct ts_bytes framework_op);

/* Without a thread of a host in the profile it is unknown what hosts did: compilations, input, calls. */
static inline bool ts_profile_has_threads(const struct ts_profile *profile)
{
	for (size_t i = 0; i < profile->nr_lines; i++)
		if (profile->lines[i].kind == TS_LINE_THREAD)
			return true;
	return false;
}

#endif
