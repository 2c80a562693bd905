/*
 * The rules about PyTorch's allocator, from the result "memory_timeline": a device that ran out of
 * memory, one that nearly did, memory that is reserved and cannot be used, and calls of the
 * driver's allocator while steps run. (A heap that grows is reported by memory_growth, in
 * capacity.c.)
 *
 * All but the last cost no time by themselves: their impact is unknown, and their own
 * thresholds decide.
 */
#include "analysis/doctor/doctor.h"
#include "model/alloc_call.h"

#define MAX_NAMED  3
#define FULL_PCT   98 /* from here on a longer sequence, or a fragment, is an out-of-memory error */
#define UNUSED_PCT 10 /* of the device's memory, reserved and not used: less does not matter */

static const struct ts_result *timeline_of(const struct ts_doctor *doctor)
{
	return ts_results_find(doctor->ctx->results, "memory_timeline");
}

static const struct ts_table *table_of(const struct ts_doctor *doctor, const char *name)
{
	const struct ts_result *result = timeline_of(doctor);

	return result ? ts_result_find_table(result, name) : NULL;
}

static bool same_device(const struct ts_table *a, size_t i, const struct ts_table *b, size_t j)
{
	return ts_bytes_eq(ts_cell_text(a, i, "device"), ts_cell_text(b, j, "device")) &&
	       ts_bytes_eq(ts_cell_text(a, i, "host"), ts_cell_text(b, j, "host"));
}

/* "aten::bmm in Attention_3 (1.76 GiB)" */
static void put_holder(struct ts_doctor *doctor, const struct ts_table *holders, size_t row)
{
	struct ts_bytes op = ts_cell_text(holders, row, "op");

	TS_PUT(doctor, "{name}[ in {name}] ({bytes})",
	       TS_NAME(op.n > 0 ? op : TS_LIT("no operator")),
	       TS_NAME(ts_cell_text(holders, row, "module")),
	       TS_BYTES(ts_cell_number(holders, row, "bytes")));
}

static void put_holders(struct ts_doctor *doctor, const struct ts_table *devices, size_t row)
{
	const struct ts_table *holders = table_of(doctor, "holders");
	size_t nr = 0;

	for (size_t i = 0; holders && i < holders->nr_rows && nr < MAX_NAMED; i++) {
		if (!same_device(devices, row, holders, i))
			continue;
		ts_put(doctor, nr++ ? ", " : " Held at the peak by ");
		put_holder(doctor, holders, i);
	}
	ts_put(doctor, nr > 0 ? "." : "");
}

static void put_peak(struct ts_doctor *doctor, const struct ts_table *devices, size_t row)
{
	TS_PUT(doctor, "Its peak is {bytes}[ of {bytes}][, in step {count}].",
	       TS_BYTES(ts_cell_number(devices, row, "peak_bytes")),
	       TS_BYTES(ts_cell_number(devices, row, "capacity_bytes")),
	       TS_COUNT(ts_cell_int(devices, row, "peak_step")));
	put_holders(doctor, devices, row);
}

static struct ts_finding *report(struct ts_doctor *doctor, const struct ts_rule *rule,
				 const struct ts_table *devices, size_t row)
{
	struct ts_bytes none = { NULL, 0 };

	return ts_doctor_report(doctor, rule, none, ts_cell_text(devices, row, "device"), -1);
}

/* --- out_of_memory */

static void report_oom(struct ts_doctor *doctor, const struct ts_rule *rule,
		       const struct ts_table *devices, size_t row)
{
	struct ts_finding *finding = report(doctor, rule, devices, row);
	int64_t at_ps = ts_cell_int(devices, row, "out_of_memory_time_ps");

	finding->severity = TS_CRITICAL;
	finding->title = TS_SENTENCE(doctor, "{name} ran out of memory",
				     TS_NAME(ts_cell_text(devices, row, "device")));
	TS_PUT(doctor, "{bytes} were asked for after {time}[ by {name}][ in {name}]. ",
	       TS_BYTES(ts_cell_number(devices, row, "out_of_memory_bytes")), TS_TIME(at_ps),
	       TS_NAME(ts_cell_text(devices, row, "out_of_memory_op")),
	       TS_NAME(ts_cell_text(devices, row, "out_of_memory_module")));
	put_peak(doctor, devices, row);
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_range(doctor, TS_NONE, at_ps, at_ps);
}

static void check_out_of_memory(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *devices = table_of(doctor, "devices");

	for (size_t i = 0; devices && i < devices->nr_rows; i++)
		if (ts_cell_int(devices, i, "out_of_memory") > 0)
			report_oom(doctor, rule, devices, i);
}

/* --- device_memory */

static void report_full(struct ts_doctor *doctor, const struct ts_rule *rule,
			const struct ts_table *devices, size_t row, double pct)
{
	struct ts_finding *finding = report(doctor, rule, devices, row);

	finding->severity = pct >= FULL_PCT ? TS_CRITICAL : TS_WARNING;
	finding->title =
		TS_SENTENCE(doctor, "{name} has {share} of its memory allocated at the peak",
			    TS_NAME(ts_cell_text(devices, row, "device")), TS_SHARE(pct / 100));
	put_peak(doctor, devices, row);
	finding->evidence = ts_doctor_text(doctor);
}

static void check_device_memory(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *devices = table_of(doctor, "devices");

	for (size_t i = 0; devices && i < devices->nr_rows; i++) {
		double pct = 100 * ts_cell_number(devices, i, "peak_bytes") /
			     ts_cell_number(devices, i, "capacity_bytes");

		if (pct > doctor->ctx->settings->peak_memory_high &&
		    !(ts_cell_int(devices, i, "out_of_memory") > 0))
			report_full(doctor, rule, devices, i, pct);
	}
}

/* --- fragmentation */

struct unused {
	double allocated, reserved, room; /* bytes; NaN unknown */
};

static struct unused unused_of(const struct ts_table *devices, size_t row)
{
	return (struct unused){
		.allocated = ts_cell_number(devices, row, "peak_bytes"),
		.reserved = ts_cell_number(devices, row, "peak_reserved_bytes"),
		.room = ts_cell_number(devices, row, "capacity_bytes"),
	};
}

static void report_unused(struct ts_doctor *doctor, const struct ts_rule *rule,
			  const struct ts_table *devices, size_t row, const struct unused *is)
{
	struct ts_finding *finding = report(doctor, rule, devices, row);
	bool is_short = 100 * is->reserved / is->room > doctor->ctx->settings->peak_memory_high;

	finding->severity = is_short ? TS_WARNING : TS_INFO;
	finding->title =
		TS_SENTENCE(doctor, "{bytes} reserved on {name} are not in use at the peak",
			    TS_BYTES(is->reserved - is->allocated),
			    TS_NAME(ts_cell_text(devices, row, "device")));
	finding->evidence = TS_SENTENCE(
		doctor,
		"PyTorch's allocator has {bytes} reserved and {bytes} given out where most is in "
		"use: {share} of it is unused; over the whole capture {pct}. These are blocks too "
		"small or too scattered for what is asked for, or what a higher peak before the "
		"capture left behind.",
		TS_BYTES(is->reserved), TS_BYTES(is->allocated),
		TS_SHARE(1 - is->allocated / is->reserved),
		TS_PCT(ts_cell_number(devices, row, "mean_fragmentation_pct")));
}

static void check_fragmentation(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *devices = table_of(doctor, "devices");

	for (size_t i = 0; devices && i < devices->nr_rows; i++) {
		struct unused is = unused_of(devices, i);

		if (100 * (1 - is.allocated / is.reserved) >
			    doctor->ctx->settings->fragmentation_high &&
		    100 * (is.reserved - is.allocated) > UNUSED_PCT * is.room)
			report_unused(doctor, rule, devices, i, &is);
	}
}

/* --- allocator_calls */

struct churn {
	int64_t count, total_ps, start_ps, end_ps;
};

static struct churn churn_of(const struct ts_table *calls)
{
	struct churn churn = { 0, 0, INT64_MAX, INT64_MIN };

	for (size_t i = 0; calls && i < calls->nr_rows; i++) {
		int64_t count = ts_cell_int(calls, i, "in_steps_count");

		if (count <= 0 ||
		    ts_alloc_call_of(ts_cell_text(calls, i, "call")) != TS_ALLOC_BLOCKING)
			continue;
		churn.count = ts_i64_add(churn.count, count);
		churn.total_ps =
			ts_i64_add(churn.total_ps, ts_cell_int(calls, i, "in_steps_time_ps"));
		churn.start_ps = TS_MIN(churn.start_ps, ts_cell_int(calls, i, "in_steps_start_ps"));
		churn.end_ps = TS_MAX(churn.end_ps, ts_cell_int(calls, i, "in_steps_end_ps"));
	}
	return churn;
}

static void put_calls(struct ts_doctor *doctor, const struct ts_table *calls)
{
	size_t nr = 0;

	for (size_t i = 0; i < calls->nr_rows && nr < MAX_NAMED; i++) {
		int64_t count = ts_cell_int(calls, i, "in_steps_count");

		if (count <= 0 ||
		    ts_alloc_call_of(ts_cell_text(calls, i, "call")) != TS_ALLOC_BLOCKING)
			continue;
		TS_PUT(doctor, "{text}{name} {count} times ({time})", TS_STRING(nr++ ? ", " : ""),
		       TS_NAME(ts_cell_text(calls, i, "call")), TS_COUNT(count),
		       TS_TIME(ts_cell_int(calls, i, "in_steps_time_ps")));
	}
}

static void check_allocator_calls(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *calls = table_of(doctor, "allocator_calls");
	struct churn churn = churn_of(calls);
	int64_t idle_ps = doctor->bucket_ps[TS_BUCKET_IDLE], impact_ps;
	struct ts_finding *finding;

	/* A core loses what it idles meanwhile, no more. */
	impact_ps = idle_ps < 0 ? churn.total_ps : TS_MIN(churn.total_ps, idle_ps);
	if (!(100 * ts_doctor_share(doctor, impact_ps) >
	      doctor->ctx->settings->allocator_calls_high))
		return;
	finding = ts_doctor_report_run(doctor, rule, impact_ps);
	finding->title = TS_SENTENCE(
		doctor,
		"Memory is taken from the driver {count} times while steps run, {time} in all",
		TS_COUNT(churn.count), TS_TIME(churn.total_ps));
	ts_put(doctor, "From the second step of the capture on: ");
	put_calls(doctor, calls);
	ts_put(doctor,
	       ". PyTorch keeps what it once took: calls in later steps mean that no block fitted, "
	       "or that all had to be given back and taken anew.");
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_range(doctor, TS_NONE, churn.start_ps, churn.end_ps);
}

const struct ts_rule ts_rule_out_of_memory = {
	.name = "out_of_memory",
	.confidence = TS_CERTAIN,
	.keep = true,
	.check = check_out_of_memory,
};
const struct ts_rule ts_rule_device_memory = {
	.name = "device_memory",
	.confidence = TS_CERTAIN,
	.keep = true,
	.check = check_device_memory,
};
const struct ts_rule ts_rule_fragmentation = {
	.name = "fragmentation",
	.confidence = TS_POSSIBLE,
	.keep = true,
	.check = check_fragmentation,
};
const struct ts_rule ts_rule_allocator_calls = {
	.name = "allocator_calls",
	.confidence = TS_LIKELY,
	.check = check_allocator_calls,
	.ceiling = "the time of these calls, where the device is idle",
};
