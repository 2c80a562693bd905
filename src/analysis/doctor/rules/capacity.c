/* SPDX-License-Identifier: MIT */
/*
 * The rules about room in device memory: a program that nearly fills it and arguments whose memory
 * the results could take, from the facts of capacity; a heap that gains with every step, from those of
 * allocators and of memory_timeline.
 *
 * They cost no time by themselves: their impact is unknown, and their own thresholds decide.
 */
#include "analysis/doctor/doctor.h"
#include "analysis/facts/allocators.h"
#include "analysis/facts/capacity.h"
#include "analysis/facts/memory_timeline.h"
#include "analysis/settings_list.h"

#define MAX_NAMED 3
#define MIN_STEPS 5   /* a heap needs so many before it is said to grow: the first few fill caches */
#define RISING	  0.9 /* of the steps must end with more than the one before */
#define FULL_PCT  98  /* from here on a longer sequence, or a fragment, is an out-of-memory error */

/* "w.1 (f32[8,128]{1,0}, 4.0 KiB, argument w)", the largest first. */
static void rules_capacity_put_buffers(struct ts_doctor *doctor,
				       const struct ts_capacity_program *program)
{
	for (size_t i = 0; i < program->nr_buffers && i < MAX_NAMED; i++) {
		const struct ts_peak_buffer *buffer = &program->buffers[i];

		TS_PUT(doctor, "{text}{name} ({text} {name}, {bytes}[, {name}])",
		       TS_STRING(i ? ", " : " Largest at that moment: "), TS_NAME(buffer->op),
		       TS_STRING(ts_buffer_kind_name(buffer->kind)), TS_NAME(buffer->shape),
		       TS_BYTES(buffer->nr_bytes), TS_NAME(buffer->framework_op));
	}
	ts_put(doctor, program->nr_buffers > 0 ? "." : "");
}

static void report_capacity(struct ts_doctor *doctor, const struct ts_rule *rule,
			    const struct ts_capacity_program *top, double pct)
{
	struct ts_bytes module = top->module->name, op = top->peak_op;
	struct ts_finding *finding = ts_doctor_report(doctor, rule, module, op, -1);

	ts_doctor_lift(doctor, pct >= FULL_PCT ? TS_CRITICAL : TS_WARNING,
		       "a little more, and the job runs out of memory");
	finding->title = TS_SENTENCE(doctor, "{name} needs {share} of the device's memory",
				     TS_NAME(module), TS_SHARE(pct / 100));
	TS_PUT(doctor, "Its peak is {bytes} of {bytes}, at op {name}: ", TS_BYTES(top->peak_bytes),
	       TS_BYTES(ts_capacity_facts(doctor->ctx)->hbm_bytes), TS_NAME(op));
	TS_PUT(doctor,
	       "{bytes} of arguments, {bytes} of results ({bytes} of them in donated arguments), "
	       "{bytes} of temporaries.",
	       TS_BYTES(top->argument_bytes), TS_BYTES(top->output_bytes),
	       TS_BYTES(top->alias_bytes), TS_BYTES(top->temp_bytes));
	rules_capacity_put_buffers(doctor, top);
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_where_one(doctor, finding, ts_doctor_fact(doctor, module, op));
}

static void check_hbm_capacity(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_capacity_facts *capacity = ts_capacity_facts(doctor->ctx);
	double pct = 100 * ts_capacity_peak_share(capacity);

	if (pct > doctor->ctx->settings->peak_memory_high)
		report_capacity(doctor, rule, ts_capacity_top(capacity), pct);
}

/* The program whose arguments could save most, or NULL. */
static const struct ts_capacity_program *most_donated(const struct ts_capacity_facts *capacity)
{
	const struct ts_capacity_program *most = NULL;

	for (size_t i = 0; i < capacity->nr_programs; i++)
		if (capacity->programs[i].nr_donations > 0 &&
		    (!most || capacity->programs[i].donation_bytes > most->donation_bytes))
			most = &capacity->programs[i];
	return most;
}

static void rules_capacity_put_pairs(struct ts_doctor *doctor,
				     const struct ts_capacity_program *program)
{
	for (size_t i = 0; i < program->nr_donations && i < MAX_NAMED; i++) {
		const struct ts_donation *pair = &program->donations[i];

		TS_PUT(doctor, "{text}argument {count}[ ({name})] for result {count}, {bytes}",
		       TS_STRING(i ? ", " : " First "), TS_COUNT(pair->parameter),
		       TS_NAME(pair->framework_op), TS_COUNT(pair->output),
		       TS_BYTES(pair->nr_bytes));
	}
	ts_put(doctor, ".");
}

static void check_donation(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_capacity_facts *capacity = ts_capacity_facts(doctor->ctx);
	const struct ts_capacity_program *program = most_donated(capacity);
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding;
	double share;

	if (!program || capacity->hbm_bytes <= 0)
		return;
	share = (double)program->donation_bytes / (double)capacity->hbm_bytes;
	if (!(100 * share > doctor->ctx->settings->donation_high))
		return;
	finding = ts_doctor_report(doctor, rule, program->module->name, none, -1);
	finding->title = TS_SENTENCE(
		doctor, "{bytes} of device memory can be saved by donating arguments of {name}",
		TS_BYTES(program->donation_bytes), TS_NAME(program->module->name));
	TS_PUT(doctor,
	       "Arguments and results of the same shape stand side by side, up to {share} of the "
	       "device's memory.",
	       TS_SHARE(share));
	rules_capacity_put_pairs(doctor, program);
	finding->evidence = ts_doctor_text(doctor);
}

/* An allocator, and where its heap stands at the ends of steps. */
struct heap {
	struct ts_bytes name;
	uint32_t host;
	const struct ts_heap_growth *growth;
	int64_t capacity_bytes; /* -1: unknown */
};

static bool grows(const struct heap *heap, double high_pct)
{
	const struct ts_heap_growth *is = heap->growth;

	return heap->capacity_bytes > 0 && is->nr_steps >= MIN_STEPS &&
	       (double)is->nr_rising >= RISING * (double)(is->nr_steps - 1) &&
	       100 * (double)(is->last_bytes - is->first_bytes) >
		       high_pct * (double)heap->capacity_bytes;
}

/* COUNT blocks of NR_BYTES each. NR counts what is put. Blocks without an op say nothing. */
static void rules_capacity_put_blocks(struct ts_doctor *doctor, const char *what,
				      struct ts_bytes op, int64_t count, int64_t nr_bytes,
				      size_t *nr)
{
	if (op.n == 0 || *nr >= MAX_NAMED)
		return;
	TS_PUT(doctor, "{text}{name} ({count} x {bytes})", TS_STRING((*nr)++ ? ", " : what),
	       TS_NAME(op), TS_COUNT(count), TS_BYTES(nr_bytes));
}

/* The finding, without the blocks at the end of its evidence. */
static struct ts_finding *report_growth(struct ts_doctor *doctor, const struct ts_rule *rule,
					const struct heap *heap)
{
	const struct ts_heap_growth *is = heap->growth;
	struct ts_bytes none = { NULL, 0 };
	double per_step = (double)(is->last_bytes - is->first_bytes) / (double)(is->nr_steps - 1);
	struct ts_finding *finding = ts_doctor_report(doctor, rule, none, heap->name, -1);

	ts_doctor_lift(doctor, TS_WARNING, "growth without end is an out-of-memory error");
	if (is->nr_rising == is->nr_steps - 1)
		finding->confidence = TS_LIKELY;
	finding->title =
		TS_SENTENCE(doctor, "Device memory grows by {bytes} a step", TS_BYTES(per_step));
	TS_PUT(doctor,
	       "[{name} ]{name} holds {bytes} after the first of {count} steps and {bytes} after "
	       "the last, "
	       "of {bytes}; {count} of them end with more than the one before.",
	       TS_NAME(ts_doctor_host(doctor, heap->host)), TS_NAME(heap->name),
	       TS_BYTES(is->first_bytes), TS_COUNT(is->nr_steps), TS_BYTES(is->last_bytes),
	       TS_BYTES(heap->capacity_bytes), TS_COUNT(is->nr_rising));
	return finding;
}

/* With the blocks that were alive at its peak. */
static void check_allocator(struct ts_doctor *doctor, const struct ts_rule *rule,
			    const struct ts_allocator *of)
{
	struct heap heap = { of->name, of->host, &of->growth, of->capacity_bytes };
	struct ts_finding *finding;
	size_t nr = 0;

	if (!grows(&heap, doctor->ctx->settings->memory_growth_high))
		return;
	finding = report_growth(doctor, rule, &heap);
	for (size_t i = 0; i < of->nr_blocks; i++)
		rules_capacity_put_blocks(doctor, " Largest blocks at its peak: ", of->blocks[i].op,
					  of->blocks[i].count, of->blocks[i].nr_bytes, &nr);
	ts_put(doctor, nr > 0 ? "." : "");
	finding->evidence = ts_doctor_text(doctor);
}

/* With the blocks that outlived their steps. */
static void check_torch(struct ts_doctor *doctor, const struct ts_rule *rule,
			const struct ts_heap_device *device)
{
	struct heap heap = { device->name, device->host, &device->growth, device->capacity_bytes };
	struct ts_finding *finding;
	size_t nr = 0;

	if (!grows(&heap, doctor->ctx->settings->memory_growth_high))
		return;
	finding = report_growth(doctor, rule, &heap);
	for (size_t i = 0; i < device->nr_unfreed; i++) {
		const struct ts_heap_blocks *kept = &device->unfreed[i];

		rules_capacity_put_blocks(
			doctor, " Kept from the steps: ", kept->owner.op, kept->unfreed_count,
			kept->unfreed_bytes / TS_MAX(kept->unfreed_count, 1), &nr);
	}
	ts_put(doctor, nr > 0 ? "." : "");
	finding->evidence = ts_doctor_text(doctor);
}

static void check_memory_growth(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_allocators_facts *allocators = ts_allocators_facts(doctor->ctx);
	const struct ts_memory_timeline_facts *torch = ts_memory_timeline_facts(doctor->ctx);

	for (size_t i = 0; i < allocators->nr; i++)
		check_allocator(doctor, rule, &allocators->items[i]);
	for (size_t i = 0; i < torch->nr_devices; i++)
		check_torch(doctor, rule, &torch->devices[i]);
}

const struct ts_rule ts_rule_memory_growth = {
	.name = "memory_growth",
	.confidence = TS_POSSIBLE,
	.keep = true,
	.check = check_memory_growth,
};
const struct ts_rule ts_rule_hbm_capacity = {
	.name = "hbm_capacity",
	.confidence = TS_LIKELY,
	.keep = true,
	.check = check_hbm_capacity,
};
const struct ts_rule ts_rule_donation = {
	.name = "donation",
	.confidence = TS_POSSIBLE,
	.keep = true,
	.check = check_donation,
};
