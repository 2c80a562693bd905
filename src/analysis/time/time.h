/* SPDX-License-Identifier: MIT */
/*
 * The time analysis' own header: what one device's moments were spent on. Shared by time.c (the
 * pass), time_state.c (its members), time_spread.c (a span of time to a bucket), time_steps.c (the ops of slow steps),
 * time_run.c and time_packed.c (the buckets of steps),
 * time_facts.c and time_outliers.c (what other analyses read), time_report.c, time_verdict.c and
 * time_slow.c (the result) only.
 */
#ifndef TS_ANALYSIS_TIME_H
#define TS_ANALYSIS_TIME_H

#include "analysis/facts/gaps.h"
#include "analysis/facts/time.h"

#define TS_NEEDS(X)
#define TS_SHOWS(X) X(time) X(gaps)
#include "analysis/kit/needs.h"
#include "analysis/kit/run_steps.h"
#include "analysis/kit/split.h"
#include "base/buf.h"
#include "base/check.h"

#define TIME_GAPS     256 /* longest gaps kept of a device */
#define TIME_STEP_OPS 3	  /* ops kept of a slow step */

struct time_gap {
	int64_t start_ps, dur_ps;
	enum ts_bucket cause;
};

/* An op that took more time in a step than in others. */
struct time_step_op {
	uint32_t op;
	int64_t in_step_ps; /* 0: there is none */
	int64_t excess_ps;
};

/* What a device did in a slow step of the run. */
struct time_slow {
	int64_t ps[TS_NR_BUCKETS];
	struct time_step_op ops[TIME_STEP_OPS];
	bool is_there; /* the device has that step */
	int64_t from_ps, until_ps;
};

/*
 * Steps: each bucket of each step is needed for medians alone. So a core packs them one after the other
 * (time_packed.c), and keeps of the slow steps what explains them; when its line is summed its steps are
 * added to those of the run. A GPU's buckets are known when all its streams are: its steps are an array
 * then, until they are added.
 */
struct time_device {
	bool seen;			 /* some line of it had events */
	int64_t first_ps, last_ps;	 /* hull of its events */
	int64_t op_first_ps, op_last_ps; /* hull of its ops; op_first > op_last: none */
	int64_t total_ps[TS_NR_BUCKETS];
	int64_t on_duty_ps;  /* XProf's busy: ops that are not waiting for the host */
	size_t nr_steps;     /* of the device, in the outline */
	struct ts_buf steps; /* those before .open_step */
	uint64_t open_step;
	int64_t open_ps[TS_NR_BUCKETS]; /* of this one */
	bool is_open;			/* steps are being packed */
	bool is_added;			/* they are part of the run's */
	int64_t (*step_ps)
		[TS_NR_BUCKETS]; /* of a GPU, while its streams are laid over one another */
	int64_t median_ps[TS_NR_BUCKETS]; /* of its steps, where some step of the run is slow */
	struct time_slow *slow;		  /* one a slow step of the run */
	size_t nr_slow;
	size_t step_hint, compile_hint, input_hint, launch_hint;
	uint32_t near_step; /* that the last span lay in, TS_NONE: none, and how far that goes */
	int64_t near_from_ps, near_until_ps;
	int64_t cut_ps; /* up to here every moment has its bucket */
	struct time_gap gaps[TIME_GAPS];
	size_t nr_gaps;
	struct ts_spans gpu[TS_NR_BUCKETS]; /* of a GPU, whose streams overlap */
	struct ts_slices slices;
};

struct time_class {
	bool known, on_duty;
	struct ts_split split;
	int64_t total_ps, in_step_ps; /* in all steps, and in the one that runs */
};

/* By op. */
struct time_ops {
	struct ts_time_op *items;
	size_t nr;
};

/* What the streams of a GPU were busy with. */
struct time_streams {
	struct ts_spans_sum busy[TS_NR_BUCKETS];
};

struct time_state {
	/* of a line */
	uint32_t device_index;
	bool is_core, is_gpu;
	struct time_class *classes; /* of each op, worked out when it is first met */
	size_t nr_classes;
	struct time_ops ops; /* of a line and of the sum */
	struct time_device device;
	uint32_t step; /* of the device, that its ops are in; TS_NONE: none */
	uint32_t slow; /* place of that step among the slow ones; TS_NONE: it is not one */
	int64_t step_until_ps, nr_ended;
	size_t ops_hint, nr_touched;
	uint32_t *touched; /* ops that ran in the step; NULL: any of them may have */
	/* of the sum */
	struct ts_buf steps; /* of the run, row by row, over all devices */
	struct time_device *devices;
	struct time_streams **streams; /* of each GPU that had some, until close */
	size_t nr_devices, nr_streams;
};

/* Packed buckets of one step: at the end of OUT, or from the front of IN; where IN ends, of all steps 0. */
void ts_time_pack(struct ts_buf *out, const int64_t ps[TS_NR_BUCKETS]);
void ts_time_unpack(struct ts_bytes *in, int64_t ps[TS_NR_BUCKETS]);
/* A step of the facts, behind LAST. */
enum ts_status ts_time_pack_step(struct ts_buf *out, const struct ts_time_step *last,
				 const struct ts_time_step *step, struct ts_error *err);

/* Gives [start, end) of the device to a bucket, step by step. */
void ts_time_spread_any(const struct ts_context *ctx, uint32_t device_index,
			struct time_device *device, int64_t start_ps, int64_t end_ps,
			enum ts_bucket bucket);
/* The same: nearly all lie in the step that the one before lay in, and are given right here. */
static TS_INLINE void ts_time_spread(const struct ts_context *ctx, uint32_t device_index,
				     struct time_device *device, int64_t start_ps, int64_t end_ps,
				     enum ts_bucket bucket)
{
	TS_ASSERT_HOT(bucket < TS_NR_BUCKETS && start_ps <= end_ps);
	if (!device->is_open || device->near_step != device->open_step ||
	    start_ps < device->near_from_ps || end_ps > device->near_until_ps) {
		ts_time_spread_any(ctx, device_index, device, start_ps, end_ps, bucket);
		return;
	}
	device->total_ps[bucket] += end_ps - start_ps;
	device->open_ps[bucket] += end_ps - start_ps;
}

/* Gives a gap to compilation, input, launch and idle, by what the hosts did. Gives the one that has most of it. */
enum ts_bucket ts_time_spread_gap(const struct ts_context *ctx, uint32_t device_index,
				  struct time_device *device, int64_t start_ps, int64_t end_ps);

/* Gives a time at the edge of the device's ops to its steps alone: how far it goes outside of them is known when
 * all devices are. */
void ts_time_spread_edge(const struct ts_context *ctx, uint32_t device_index,
			 struct time_device *device, int64_t start_ps, int64_t end_ps);

/* time_state.c */
extern const struct ts_record ts_time_record, ts_time_ops_record;

/* time_steps.c */
enum ts_status ts_time_steps_open(struct time_state *state, const struct ts_context *ctx,
				  struct ts_error *err);
/* Begins the step that START_PS lies in, or the time up to the next one. */
void ts_time_steps_begin(struct time_state *state, const struct ts_context *ctx, int64_t start_ps);
/* What an op has of the step that it begins in. */
static TS_INLINE void ts_time_steps_add(struct time_state *state, const struct ts_context *ctx,
					uint32_t op, int64_t start_ps, int64_t dur_ps)
{
	struct time_class *class = &state->classes[op];

	TS_ASSERT_HOT(op < state->nr_classes);
	if (start_ps >= state->step_until_ps)
		ts_time_steps_begin(state, ctx, start_ps);
	if (state->step == TS_NONE || dur_ps <= 0)
		return;
	if (class->in_step_ps == 0)
		state->touched[state->nr_touched++] = op;
	class->in_step_ps = ts_i64_add(class->in_step_ps, dur_ps);
	class->total_ps = ts_i64_add(class->total_ps, dur_ps);
}
void ts_time_steps_finish(struct time_state *state);
void ts_time_steps_merge(struct time_device *into, struct time_device *from);

/* time_run.c */
enum ts_status ts_time_slow_open(struct time_device *device, const struct ts_context *ctx,
				 struct ts_error *err);
void ts_time_add_to_step(const struct ts_context *ctx, uint32_t device_index,
			 struct time_device *device, uint32_t step, int bucket, int64_t ps);
/* The next step, all of it. */
void ts_time_put_step(const struct ts_context *ctx, uint32_t device_index,
		      struct time_device *device, const int64_t ps[TS_NR_BUCKETS]);
/* Adds all of a device's steps to those of the run. */
enum ts_status ts_time_add_steps(struct time_state *sum, const struct ts_context *ctx,
				 uint32_t index, struct time_device *device, struct ts_error *err);

/* time_facts.c: lays the streams of GPUs over one another, and fills FACTS. */
enum ts_status ts_time_make_facts(struct time_state *sum, const struct ts_context *ctx,
				  struct ts_arena *arena, struct ts_time_facts *facts,
				  struct ts_error *err);

/* time_outliers.c: the slow steps into FACTS, which has the steps. */
enum ts_status ts_time_outliers(const struct time_state *sum, const struct ts_context *ctx,
				struct ts_arena *arena, struct ts_time_facts *facts,
				struct ts_error *err);

/* time_verdict.c */
enum ts_status ts_time_put_verdict(const struct ts_context *ctx, struct ts_result *result,
				   struct ts_error *err);

/* time_report.c, when the analysis gaps is closed too */
enum ts_status ts_time_report(void *state, const struct ts_context *ctx, struct ts_result *result,
			      struct ts_error *err);

/* time_slow.c */
void ts_time_put_slow(const struct ts_context *ctx, struct ts_result *result);

#endif
