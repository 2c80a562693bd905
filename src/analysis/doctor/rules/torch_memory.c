/*
 * The rules about PyTorch's allocator, from the result "memory_timeline": a device that ran out of
 * memory, one that nearly did, memory that is reserved and cannot be used, and calls of the
 * driver's allocator while steps run. (A heap that grows is told by memory_growth, in
 * rules_capacity.c.)
 *
 * But for the last they cost no time by themselves: their impact is unknown, and their own
 * thresholds decide.
 */
#include "analysis/doctor/doctor.h"
#include "model/alloc_call.h"

#define MAX_NAMED  3
#define FULL_PCT   98 /* from here on a longer sequence, or a fragment, is an out-of-memory error */
#define UNUSED_PCT 10 /* of the device's memory, reserved in vain: less is no matter */

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
static void say_holder(struct ts_doctor *doctor, const struct ts_table *holders, size_t row)
{
	struct ts_bytes op = ts_cell_text(holders, row, "op");
	struct ts_bytes module = ts_cell_text(holders, row, "module");
	char size[TS_UNIT_MAX];

	if (op.n > 0)
		ts_say_name(doctor, op);
	else
		ts_buf_puts(&doctor->text, "no operator");
	if (module.n > 0) {
		ts_buf_puts(&doctor->text, " in ");
		ts_say_name(doctor, module);
	}
	ts_buf_printf(&doctor->text, " (%s)",
		      ts_fmt_bytes(size, ts_cell_number(holders, row, "bytes")));
}

static void say_holders(struct ts_doctor *doctor, const struct ts_table *devices, size_t row)
{
	const struct ts_table *holders = table_of(doctor, "holders");
	size_t nr = 0;

	for (size_t i = 0; holders && i < holders->nr_rows && nr < MAX_NAMED; i++) {
		if (!same_device(devices, row, holders, i))
			continue;
		ts_buf_puts(&doctor->text, nr++ ? ", " : " Held at the peak by ");
		say_holder(doctor, holders, i);
	}
	if (nr > 0)
		ts_buf_putc(&doctor->text, '.');
}

static void say_peak(struct ts_doctor *doctor, const struct ts_table *devices, size_t row)
{
	double room = ts_cell_number(devices, row, "capacity_bytes");
	int64_t step = ts_cell_int(devices, row, "peak_step");
	char a[TS_UNIT_MAX], b[TS_UNIT_MAX];

	ts_buf_printf(&doctor->text, "Its peak is %s",
		      ts_fmt_bytes(a, ts_cell_number(devices, row, "peak_bytes")));
	if (isfinite(room))
		ts_buf_printf(&doctor->text, " of %s", ts_fmt_bytes(b, room));
	if (step >= 0)
		ts_buf_printf(&doctor->text, ", in step %" PRId64, step);
	ts_buf_putc(&doctor->text, '.');
	say_holders(doctor, devices, row);
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
	struct ts_bytes op = ts_cell_text(devices, row, "out_of_memory_op");
	struct ts_bytes module = ts_cell_text(devices, row, "out_of_memory_module");
	char size[TS_UNIT_MAX], at[TS_UNIT_MAX];

	if (!finding)
		return;
	finding->severity = TS_CRITICAL;
	ts_say_name(doctor, ts_cell_text(devices, row, "device"));
	ts_buf_puts(&doctor->text, " ran out of memory");
	finding->title = ts_doctor_text(doctor);
	ts_buf_printf(&doctor->text, "%s were asked for after %s",
		      ts_fmt_bytes(size, ts_cell_number(devices, row, "out_of_memory_bytes")),
		      ts_fmt_ps(at, ts_cell_int(devices, row, "out_of_memory_time_ps")));
	if (op.n > 0) {
		ts_buf_puts(&doctor->text, " by ");
		ts_say_name(doctor, op);
	}
	if (module.n > 0) {
		ts_buf_puts(&doctor->text, " in ");
		ts_say_name(doctor, module);
	}
	ts_buf_puts(&doctor->text, ". ");
	say_peak(doctor, devices, row);
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_range(doctor, TS_NONE, ts_cell_int(devices, row, "out_of_memory_time_ps"),
			ts_cell_int(devices, row, "out_of_memory_time_ps"));
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
	char share[TS_UNIT_MAX];

	if (!finding)
		return;
	finding->severity = pct >= FULL_PCT ? TS_CRITICAL : TS_WARNING;
	ts_say_name(doctor, ts_cell_text(devices, row, "device"));
	ts_buf_printf(&doctor->text, " has %s of its memory allocated at the peak",
		      ts_fmt_share(share, pct / 100));
	finding->title = ts_doctor_text(doctor);
	say_peak(doctor, devices, row);
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
	char a[TS_UNIT_MAX], b[TS_UNIT_MAX], c[TS_UNIT_MAX], share[TS_UNIT_MAX];

	if (!finding)
		return;
	finding->severity = is_short ? TS_WARNING : TS_INFO;
	ts_buf_printf(&doctor->text, "%s reserved on ",
		      ts_fmt_bytes(a, is->reserved - is->allocated));
	ts_say_name(doctor, ts_cell_text(devices, row, "device"));
	ts_buf_puts(&doctor->text, " are not in use at the peak");
	finding->title = ts_doctor_text(doctor);
	ts_buf_printf(
		&doctor->text,
		"PyTorch's allocator has %s reserved and %s given out where most is in use: %s "
		"of it is unused; over the whole capture %s.",
		ts_fmt_bytes(b, is->reserved), ts_fmt_bytes(c, is->allocated),
		ts_fmt_share(share, 1 - is->allocated / is->reserved),
		ts_fmt_pct(a, ts_cell_number(devices, row, "mean_fragmentation_pct")));
	ts_buf_puts(&doctor->text,
		    " These are blocks too small or too scattered for what is asked for, or what a "
		    "higher peak before the capture left behind.");
	finding->evidence = ts_doctor_text(doctor);
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

static void say_calls(struct ts_doctor *doctor, const struct ts_table *calls)
{
	size_t nr = 0;
	char time[TS_UNIT_MAX];

	for (size_t i = 0; i < calls->nr_rows && nr < MAX_NAMED; i++) {
		int64_t count = ts_cell_int(calls, i, "in_steps_count");

		if (count <= 0 ||
		    ts_alloc_call_of(ts_cell_text(calls, i, "call")) != TS_ALLOC_BLOCKING)
			continue;
		ts_buf_puts(&doctor->text, nr++ ? ", " : "");
		ts_say_name(doctor, ts_cell_text(calls, i, "call"));
		ts_buf_printf(&doctor->text, " %" PRId64 " times (%s)", count,
			      ts_fmt_ps(time, ts_cell_int(calls, i, "in_steps_time_ps")));
	}
}

static void check_allocator_calls(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *calls = table_of(doctor, "allocator_calls");
	struct churn churn = churn_of(calls);
	int64_t idle_ps = doctor->bucket_ps[TS_BUCKET_IDLE], impact_ps;
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding;
	char time[TS_UNIT_MAX];

	/* A core loses what it idles meanwhile, no more. */
	impact_ps = idle_ps < 0 ? churn.total_ps : TS_MIN(churn.total_ps, idle_ps);
	if (!(100 * ts_doctor_share(doctor, impact_ps) >
	      doctor->ctx->settings->allocator_calls_high))
		return;
	finding = ts_doctor_report(doctor, rule, none, none, impact_ps);
	if (!finding)
		return;
	ts_buf_printf(&doctor->text,
		      "Memory is taken from the driver %" PRId64
		      " times while steps run, %s in all",
		      churn.count, ts_fmt_ps(time, churn.total_ps));
	finding->title = ts_doctor_text(doctor);
	ts_buf_puts(&doctor->text, "From the second step of the capture on: ");
	say_calls(doctor, calls);
	ts_buf_puts(&doctor->text,
		    ". PyTorch keeps what it once took: calls in later steps mean that no block "
		    "fitted, or that all had to be given back and taken anew.");
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
