/* SPDX-License-Identifier: MIT */
/*
 * The rules about PyTorch's allocator, from the facts of memory_timeline: a device that ran out of
 * memory, one that nearly did, memory that is reserved and cannot be used, and calls of the
 * driver's allocator while steps run. (A heap that grows is reported by memory_growth, in
 * capacity.c.)
 *
 * All but the last cost no time by themselves: their impact is unknown, and their own
 * thresholds decide.
 */
#include "analysis/doctor/doctor.h"
#include "analysis/facts/memory_timeline.h"
#include "analysis/settings_list.h"
#include "model/alloc_call.h"

#define MAX_NAMED  3
#define FULL_PCT   98 /* from here on a longer sequence, or a fragment, is an out-of-memory error */
#define UNUSED_PCT 10 /* of the device's memory, reserved and not used: less does not matter */

/* "aten::bmm in Attention_3 (1.76 GiB)" */
static void put_holder(struct ts_doctor *doctor, const struct ts_heap_holder *holder)
{
	struct ts_bytes op = holder->owner.op;

	TS_PUT(doctor, "{name}[ in {name}] ({bytes})",
	       TS_NAME(op.n > 0 ? op : TS_LIT("no operator")), TS_NAME(holder->owner.module),
	       TS_BYTES(holder->nr_bytes));
}

static void put_peak(struct ts_doctor *doctor, const struct ts_heap_device *device)
{
	TS_PUT(doctor, "Its peak is {bytes}[ of {bytes}][, in step {count}].",
	       TS_BYTES(device->peak_bytes),
	       TS_WHEN(device->capacity_bytes >= 0, TS_BYTES(device->capacity_bytes)),
	       TS_COUNT(device->peak_step));
	for (size_t i = 0; i < device->nr_holders && i < MAX_NAMED; i++) {
		ts_put(doctor, i ? ", " : " Held at the peak by ");
		put_holder(doctor, &device->holders[i]);
	}
	ts_put(doctor, device->nr_holders > 0 ? "." : "");
}

static struct ts_finding *torch_memory_report(struct ts_doctor *doctor, const struct ts_rule *rule,
					      const struct ts_heap_device *device)
{
	struct ts_bytes none = { NULL, 0 };

	return ts_doctor_report(doctor, rule, none, device->name, -1);
}

/* --- out_of_memory */

static void report_oom(struct ts_doctor *doctor, const struct ts_rule *rule,
		       const struct ts_heap_device *device)
{
	struct ts_finding *finding = torch_memory_report(doctor, rule, device);

	ts_doctor_lift(doctor, TS_CRITICAL, "the job cannot go on without memory");
	finding->title =
		TS_SENTENCE(doctor, "[{name} ]{name} ran out of memory",
			    TS_NAME(ts_doctor_host(doctor, device->host)), TS_NAME(device->name));
	TS_PUT(doctor, "{bytes} were asked for after {time}[ by {name}][ in {name}]. ",
	       TS_BYTES(device->oom_bytes), TS_TIME(device->oom_ps), TS_NAME(device->oom_owner.op),
	       TS_NAME(device->oom_owner.module));
	put_peak(doctor, device);
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_range(doctor, TS_NONE, device->oom_ps, device->oom_ps);
}

static void check_out_of_memory(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_memory_timeline_facts *torch = ts_memory_timeline_facts(doctor->ctx);

	for (size_t i = 0; i < torch->nr_devices; i++)
		if (torch->devices[i].nr_oom > 0)
			report_oom(doctor, rule, &torch->devices[i]);
}

/* --- device_memory */

static void report_full(struct ts_doctor *doctor, const struct ts_rule *rule,
			const struct ts_heap_device *device, double pct)
{
	struct ts_finding *finding = torch_memory_report(doctor, rule, device);

	ts_doctor_lift(doctor, pct >= FULL_PCT ? TS_CRITICAL : TS_WARNING,
		       "a little more, and the job runs out of memory");
	finding->title = TS_SENTENCE(
		doctor, "[{name} ]{name} has {share} of its memory allocated at the peak",
		TS_NAME(ts_doctor_host(doctor, device->host)), TS_NAME(device->name),
		TS_SHARE(pct / 100));
	put_peak(doctor, device);
	finding->evidence = ts_doctor_text(doctor);
}

static void check_device_memory(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_memory_timeline_facts *torch = ts_memory_timeline_facts(doctor->ctx);

	for (size_t i = 0; i < torch->nr_devices; i++) {
		const struct ts_heap_device *device = &torch->devices[i];
		double pct = 100 * (double)device->peak_bytes / (double)device->capacity_bytes;

		if (device->capacity_bytes >= 0 && device->nr_oom == 0 &&
		    pct > doctor->ctx->settings->peak_memory_high)
			report_full(doctor, rule, device, pct);
	}
}

/* --- fragmentation */

static void report_unused(struct ts_doctor *doctor, const struct ts_rule *rule,
			  const struct ts_heap_device *device)
{
	int64_t allocated = device->peak_bytes, reserved = device->peak_reserved;
	double reserved_pct = 100 * (double)reserved / (double)device->capacity_bytes;
	bool is_short = reserved_pct > doctor->ctx->settings->peak_memory_high;
	struct ts_finding *finding = torch_memory_report(doctor, rule, device);

	if (is_short)
		ts_doctor_lift(doctor, TS_WARNING, "hardly any memory is left to reserve");
	finding->title = TS_SENTENCE(
		doctor, "{bytes} reserved on [{name} ]{name} are not in use at the peak",
		TS_BYTES(reserved - allocated), TS_NAME(ts_doctor_host(doctor, device->host)),
		TS_NAME(device->name));
	finding->evidence = TS_SENTENCE(
		doctor,
		"PyTorch's allocator has {bytes} reserved and {bytes} given out where most is in "
		"use: {share} of it is unused; over the whole capture {pct}. These are blocks too "
		"small or too scattered for what is asked for, or what a higher peak before the "
		"capture left behind.",
		TS_BYTES(reserved), TS_BYTES(allocated),
		TS_SHARE(1 - (double)allocated / (double)reserved),
		TS_PCT(100 * device->unused_share));
}

static void check_fragmentation(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_memory_timeline_facts *torch = ts_memory_timeline_facts(doctor->ctx);

	for (size_t i = 0; i < torch->nr_devices; i++) {
		const struct ts_heap_device *device = &torch->devices[i];
		double unused_bytes = (double)(device->peak_reserved - device->peak_bytes);

		if (device->capacity_bytes >= 0 &&
		    100 * ts_heap_unused_at_peak(device) >
			    doctor->ctx->settings->fragmentation_high &&
		    100 * unused_bytes > UNUSED_PCT * (double)device->capacity_bytes)
			report_unused(doctor, rule, device);
	}
}

/* --- allocator_calls */

/* A call that waits for the device, in the steps after the first one. */
static bool is_churn(const struct ts_heap_call *call)
{
	return call->in_steps > 0 && ts_alloc_call_of(call->name) == TS_ALLOC_BLOCKING;
}

struct churn {
	int64_t count, total_ps, start_ps, end_ps;
};

static struct churn churn_of(const struct ts_memory_timeline_facts *torch)
{
	struct churn churn = { 0, 0, INT64_MAX, INT64_MIN };

	for (size_t i = 0; i < torch->nr_calls; i++) {
		const struct ts_heap_call *call = &torch->calls[i];

		if (!is_churn(call))
			continue;
		churn.count = ts_i64_add(churn.count, call->in_steps);
		churn.total_ps = ts_i64_add(churn.total_ps, call->in_steps_ps);
		churn.start_ps = TS_MIN(churn.start_ps, call->in_steps_start_ps);
		churn.end_ps = TS_MAX(churn.end_ps, call->in_steps_end_ps);
	}
	return churn;
}

static void torch_memory_put_calls(struct ts_doctor *doctor,
				   const struct ts_memory_timeline_facts *torch)
{
	size_t nr = 0;

	for (size_t i = 0; i < torch->nr_calls && nr < MAX_NAMED; i++)
		if (is_churn(&torch->calls[i]))
			TS_PUT(doctor, "{text}{name} {count} times ({time})",
			       TS_STRING(nr++ ? ", " : ""), TS_NAME(torch->calls[i].name),
			       TS_COUNT(torch->calls[i].in_steps),
			       TS_TIME(torch->calls[i].in_steps_ps));
}

static void check_allocator_calls(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_memory_timeline_facts *torch = ts_memory_timeline_facts(doctor->ctx);
	struct churn churn = churn_of(torch);
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
	torch_memory_put_calls(doctor, torch);
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
	.classes = TS_CLASS(TS_BUCKET_IDLE),
	.ceiling = "the time of these calls, where the device is idle",
};
