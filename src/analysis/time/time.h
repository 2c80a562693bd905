/*
 * The time analysis' own header: what one device's moments were spent on. Shared by time.c (the
 * pass), time_state.c (its members), time_spread.c (a span of time to a bucket), time_steps.c (the ops of each step),
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
#include "analysis/kit/split.h"

#define TIME_GAPS     256 /* longest gaps kept of a device */
#define TIME_STEP_OPS 3	  /* ops kept of a step */

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

struct time_device {
	bool seen;			 /* some line of it had events */
	int64_t first_ps, last_ps;	 /* hull of its events */
	int64_t op_first_ps, op_last_ps; /* hull of its ops; op_first > op_last: none */
	int64_t total_ps[TS_NR_BUCKETS];
	int64_t on_duty_ps;		   /* XProf's busy: ops that are not waiting for the host */
	int64_t (*step_ps)[TS_NR_BUCKETS]; /* one a step of the device */
	size_t nr_steps;
	struct time_step_op (*step_ops)[TIME_STEP_OPS]; /* likewise; 0 of them: nothing ran */
	size_t nr_step_ops;
	size_t step_hint, compile_hint, input_hint;
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

struct time_state {
	/* of a line */
	uint32_t device_index;
	bool is_core, is_gpu;
	struct time_class *classes; /* of each op, worked out when it is first met */
	size_t nr_classes;
	struct time_ops ops; /* of a line and of the sum */
	struct time_device device;
	uint32_t step; /* of the device, that its ops are in; TS_NONE: none */
	int64_t step_until_ps, nr_ended;
	size_t ops_hint, nr_touched;
	uint32_t *touched; /* ops that ran in the step; NULL: any of them may have */
	/* of the sum */
	struct time_device *devices;
	struct ts_spans_sum (*streams)[TS_NR_BUCKETS]; /* of each GPU, until close */
	size_t nr_devices, nr_streams;
};

/* Gives [start, end) of the device to a bucket, step by step. */
void ts_time_spread(const struct ts_context *ctx, uint32_t device_index, struct time_device *device,
		    int64_t start_ps, int64_t end_ps, enum ts_bucket bucket);
/* Gives a gap to compilation, input and idle, by what the hosts did. Gives the one that has most of it. */
enum ts_bucket ts_time_spread_gap(const struct ts_context *ctx, uint32_t device_index,
				  struct time_device *device, int64_t start_ps, int64_t end_ps);

/* time_state.c */
extern const struct ts_record ts_time_record, ts_time_ops_record;

/* time_steps.c. False: no memory. */
bool ts_time_steps_open(struct time_state *state, const struct ts_context *ctx);
void ts_time_steps_add(struct time_state *state, const struct ts_context *ctx, uint32_t op,
		       int64_t start_ps, int64_t dur_ps);
void ts_time_steps_finish(struct time_state *state);
void ts_time_steps_merge(struct time_device *into, struct time_device *from);

/* time_facts.c: lays the streams of GPUs over one another, and fills FACTS. */
enum ts_status ts_time_make_facts(struct time_state *sum, const struct ts_context *ctx,
				  struct ts_arena *arena, struct ts_time_facts *facts,
				  struct ts_error *err);

/* time_outliers.c: the slow steps into FACTS. STEPS by row; those without cores did not run. */
enum ts_status ts_time_outliers(const struct time_state *sum, const struct ts_context *ctx,
				const struct ts_time_step *steps, struct ts_arena *arena,
				struct ts_time_facts *facts, struct ts_error *err);

/* time_verdict.c: false: no memory */
bool ts_time_put_verdict(const struct ts_context *ctx, struct ts_result *result);

/* time_report.c, when the analysis gaps is closed too */
enum ts_status ts_time_report(void *state, const struct ts_context *ctx, struct ts_result *result,
			      struct ts_error *err);

/* time_slow.c */
void ts_time_put_slow(const struct ts_context *ctx, struct ts_result *result);

#endif
