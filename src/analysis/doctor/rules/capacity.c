/*
 * The rules about room in device memory: a program that nearly fills it and arguments whose memory
 * the results could take, from the facts of capacity; a heap that gains with every step, from those of
 * allocators and of memory_timeline.
 *
 * They cost no time by themselves: their impact is unknown, and their own thresholds decide.
 */
#include "analysis/doctor/doctor.h"
#include "analysis/facts/capacity.h"

#define MAX_NAMED 3
#define MIN_STEPS 5   /* before it is said that a heap grows: the first few fill caches */
#define RISING	  0.9 /* of the steps must end with more than the one before */
#define FULL_PCT  98  /* from here on a longer sequence, or a fragment, is an out-of-memory error */

/* "w.1 (f32[8,128]{1,0}, 4.0 KiB, argument w)", the largest first. */
static void put_buffers(struct ts_doctor *doctor, const struct ts_capacity_program *program)
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

static void put_parts(struct ts_doctor *doctor, const struct ts_capacity_program *program)
{
	TS_PUT(doctor,
	       "{bytes} of arguments, {bytes} of results ({bytes} of them in donated arguments), "
	       "{bytes} of temporaries.",
	       TS_BYTES(program->argument_bytes), TS_BYTES(program->output_bytes),
	       TS_BYTES(program->alias_bytes), TS_BYTES(program->temp_bytes));
}

static void report_capacity(struct ts_doctor *doctor, const struct ts_rule *rule,
			    const struct ts_capacity_program *top, double pct)
{
	struct ts_bytes module = top->module->name, op = top->peak_op;
	struct ts_finding *finding = ts_doctor_report(doctor, rule, module, op, -1);

	finding->severity = pct >= FULL_PCT ? TS_CRITICAL : TS_WARNING;
	finding->title = TS_SENTENCE(doctor, "{name} needs {share} of the device's memory",
				     TS_NAME(module), TS_SHARE(pct / 100));
	TS_PUT(doctor, "Its peak is {bytes} of {bytes}, at op {name}: ", TS_BYTES(top->peak_bytes),
	       TS_BYTES(ts_capacity_facts(doctor->ctx)->hbm_bytes), TS_NAME(op));
	put_parts(doctor, top);
	put_buffers(doctor, top);
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

static void put_pairs(struct ts_doctor *doctor, const struct ts_capacity_program *program)
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
	put_pairs(doctor, program);
	finding->evidence = ts_doctor_text(doctor);
}

/* Where a heap is found in the results, and whether a trace of PyTorch wrote it. */
struct heaps {
	const char *result, *table, *name, *blocks, *op;
	bool is_torch;
};

/* Of an allocator, and what can be said of its steps. */
struct growing {
	const struct ts_table *table;
	size_t row;
	int64_t first, last, nr_steps, nr_rising;
	double capacity;
};

static struct growing growing_at(const struct ts_table *table, size_t row)
{
	return (struct growing){
		.table = table,
		.row = row,
		.first = ts_cell_int(table, row, "first_step_heap_bytes"),
		.last = ts_cell_int(table, row, "last_step_heap_bytes"),
		.nr_steps = ts_cell_int(table, row, "steps"),
		.nr_rising = ts_cell_int(table, row, "rising_steps"),
		.capacity = ts_cell_number(table, row, "capacity_bytes"),
	};
}

static bool grows(const struct growing *is, double high_pct)
{
	return is->nr_steps >= MIN_STEPS &&
	       (double)is->nr_rising >= RISING * (double)(is->nr_steps - 1) &&
	       100 * (double)(is->last - is->first) > high_pct * is->capacity;
}

/* Its blocks that were alive at the peak, or that outlived their steps; the largest first. */
static void put_blocks(struct ts_doctor *doctor, const struct heaps *heaps,
		       const struct ts_result *result, struct ts_bytes allocator)
{
	const struct ts_table *blocks = ts_result_find_table(result, heaps->blocks);
	const char *what =
		heaps->is_torch ? " Kept from the steps: " : " Largest blocks at its peak: ";
	size_t nr = 0;

	for (size_t i = 0; blocks && i < blocks->nr_rows && nr < MAX_NAMED; i++) {
		struct ts_bytes op = ts_cell_text(blocks, i, heaps->op);

		if (!ts_bytes_eq(ts_cell_text(blocks, i, heaps->name), allocator) || op.n == 0)
			continue;
		TS_PUT(doctor, "{text}{name} ({count} x {bytes})", TS_STRING(nr++ ? ", " : what),
		       TS_NAME(op), TS_COUNT(ts_cell_int(blocks, i, "count")),
		       TS_BYTES(ts_cell_number(blocks, i, "bytes")));
	}
	ts_put(doctor, nr > 0 ? "." : "");
}

static void report_growth(struct ts_doctor *doctor, const struct ts_rule *rule,
			  const struct heaps *heaps, const struct ts_result *result,
			  const struct growing *is)
{
	struct ts_bytes name = ts_cell_text(is->table, is->row, heaps->name), none = { NULL, 0 };
	double per_step = (double)(is->last - is->first) / (double)(is->nr_steps - 1);
	struct ts_finding *finding = ts_doctor_report(doctor, rule, none, name, -1);

	finding->severity = TS_WARNING;
	if (is->nr_rising == is->nr_steps - 1)
		finding->confidence = TS_LIKELY;
	finding->title =
		TS_SENTENCE(doctor, "Device memory grows by {bytes} a step", TS_BYTES(per_step));
	TS_PUT(doctor,
	       "{name} holds {bytes} after the first of {count} steps and {bytes} after the last, "
	       "of "
	       "{bytes}; {count} of them end with more than the one before.",
	       TS_NAME(name), TS_BYTES(is->first), TS_COUNT(is->nr_steps), TS_BYTES(is->last),
	       TS_BYTES(is->capacity), TS_COUNT(is->nr_rising));
	put_blocks(doctor, heaps, result, name);
	finding->evidence = ts_doctor_text(doctor);
}

static void check_heaps(struct ts_doctor *doctor, const struct ts_rule *rule,
			const struct heaps *heaps)
{
	const struct ts_result *result = ts_results_find(doctor->ctx->results, heaps->result);
	const struct ts_table *table = result ? ts_result_find_table(result, heaps->table) : NULL;

	for (size_t i = 0; table && i < table->nr_rows; i++) {
		struct growing is = growing_at(table, i);

		if (grows(&is, doctor->ctx->settings->memory_growth_high))
			report_growth(doctor, rule, heaps, result, &is);
	}
}

static void check_memory_growth(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	static const struct heaps all[] = {
		{ "allocators", "allocators", "allocator", "allocations", "framework_op", false },
		{ "memory_timeline", "devices", "device", "unfreed", "op", true },
	};

	for (size_t i = 0; i < TS_NELEM(all); i++)
		check_heaps(doctor, rule, &all[i]);
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
