/*
 * The rules about room in device memory: a program that nearly fills it and arguments whose memory
 * the results could take, from the result "capacity"; a heap that gains with every step, from the
 * results "allocators" and "memory_timeline".
 *
 * They cost no time by themselves: their impact is unknown, and their own thresholds decide.
 */
#include "analysis/doctor/doctor.h"

#define MAX_NAMED 3
#define MIN_STEPS 5   /* before it is said that a heap grows: the first few fill caches */
#define RISING	  0.9 /* of the steps must end with more than the one before */
#define FULL_PCT  98  /* from here on a longer sequence, or a fragment, is an out-of-memory error */

static const struct ts_result *capacity_of(const struct ts_doctor *doctor)
{
	return ts_results_find(doctor->ctx->results, "capacity");
}

/* "w.1 (f32[8,128]{1,0}, 4.0 KiB, argument w)" of the rows of MODULE, largest first. */
static void put_buffers(struct ts_doctor *doctor, const struct ts_table *buffers,
			struct ts_bytes module)
{
	size_t nr = 0;

	for (size_t i = 0; buffers && i < buffers->nr_rows && nr < MAX_NAMED; i++) {
		if (!ts_bytes_eq(ts_cell_text(buffers, i, "module"), module))
			continue;
		TS_PUT(doctor, "{text}{name} ({name} {name}, {bytes}[, {name}])",
		       TS_STRING(nr++ ? ", " : " Largest at that moment: "),
		       TS_NAME(ts_cell_text(buffers, i, "op")),
		       TS_NAME(ts_cell_text(buffers, i, "kind")),
		       TS_NAME(ts_cell_text(buffers, i, "shape")),
		       TS_BYTES(ts_cell_number(buffers, i, "bytes")),
		       TS_NAME(ts_cell_text(buffers, i, "framework_op")));
	}
	ts_put(doctor, nr > 0 ? "." : "");
}

static void put_parts(struct ts_doctor *doctor, const struct ts_result *capacity)
{
	TS_PUT(doctor,
	       "{bytes} of arguments, {bytes} of results ({bytes} of them in donated arguments), "
	       "{bytes} of temporaries.",
	       TS_BYTES(ts_value_number(ts_result_get(capacity, "argument_bytes"))),
	       TS_BYTES(ts_value_number(ts_result_get(capacity, "output_bytes"))),
	       TS_BYTES(ts_value_number(ts_result_get(capacity, "alias_bytes"))),
	       TS_BYTES(ts_value_number(ts_result_get(capacity, "temp_bytes"))));
}

static struct ts_bytes text_of(const struct ts_result *result, const char *field)
{
	struct ts_value value = ts_result_get(result, field);

	return value.type == TS_VALUE_TEXT ? value.as.s : (struct ts_bytes){ NULL, 0 };
}

static void check_hbm_capacity(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_result *capacity = capacity_of(doctor);
	double pct = ts_value_number(ts_result_get(capacity, "peak_pct"));
	struct ts_bytes module = text_of(capacity, "peak_module");
	struct ts_bytes op = text_of(capacity, "peak_op");
	struct ts_finding *finding;

	if (!(pct > doctor->ctx->settings->peak_memory_high))
		return;
	finding = ts_doctor_report(doctor, rule, module, op, -1);
	finding->severity = pct >= FULL_PCT ? TS_CRITICAL : TS_WARNING;
	finding->title = TS_SENTENCE(doctor, "{name} needs {share} of the device's memory",
				     TS_NAME(module), TS_SHARE(pct / 100));
	TS_PUT(doctor, "Its peak is {bytes} of {bytes}, at op {name}: ",
	       TS_BYTES(ts_value_number(ts_result_get(capacity, "peak_bytes"))),
	       TS_BYTES(ts_value_number(ts_result_get(capacity, "hbm_bytes"))), TS_NAME(op));
	put_parts(doctor, capacity);
	put_buffers(doctor, ts_result_find_table(capacity, "buffers"), module);
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_where_one(doctor, finding, ts_doctor_fact(doctor, module, op));
}

/* The module whose arguments could save most, and how much. */
static int64_t most_donated(const struct ts_table *pairs, struct ts_bytes *module)
{
	int64_t most = 0, sum = 0;

	for (size_t i = 0; i < pairs->nr_rows; i++) { /* rows of a module follow each other */
		struct ts_bytes of = ts_cell_text(pairs, i, "module");

		if (i > 0 && !ts_bytes_eq(of, ts_cell_text(pairs, i - 1, "module")))
			sum = 0;
		sum = ts_i64_add(sum, TS_MAX(ts_cell_int(pairs, i, "bytes"), 0));
		if (sum > most) {
			most = sum;
			*module = of;
		}
	}
	return most;
}

static void put_pairs(struct ts_doctor *doctor, const struct ts_table *pairs,
		      struct ts_bytes module)
{
	size_t nr = 0;

	for (size_t i = 0; i < pairs->nr_rows && nr < MAX_NAMED; i++) {
		if (!ts_bytes_eq(ts_cell_text(pairs, i, "module"), module))
			continue;
		TS_PUT(doctor, "{text}argument {count}[ ({name})] for result {count}, {bytes}",
		       TS_STRING(nr++ ? ", " : " First "),
		       TS_COUNT(ts_cell_int(pairs, i, "parameter")),
		       TS_NAME(ts_cell_text(pairs, i, "framework_op")),
		       TS_COUNT(ts_cell_int(pairs, i, "output")),
		       TS_BYTES(ts_cell_number(pairs, i, "bytes")));
	}
	ts_put(doctor, ".");
}

static void check_donation(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_result *capacity = capacity_of(doctor);
	const struct ts_table *pairs =
		capacity ? ts_result_find_table(capacity, "donations") : NULL;
	double room = ts_value_number(ts_result_get(capacity, "hbm_bytes"));
	struct ts_bytes module = { NULL, 0 }, none = { NULL, 0 };
	int64_t saved = pairs ? most_donated(pairs, &module) : 0;
	struct ts_finding *finding;

	if (!(100 * (double)saved / room > doctor->ctx->settings->donation_high))
		return;
	finding = ts_doctor_report(doctor, rule, module, none, -1);
	finding->title = TS_SENTENCE(
		doctor, "{bytes} of device memory can be saved by donating arguments of {name}",
		TS_BYTES(saved), TS_NAME(module));
	TS_PUT(doctor,
	       "Arguments and results of the same shape stand side by side, up to {share} of the "
	       "device's memory.",
	       TS_SHARE((double)saved / room));
	put_pairs(doctor, pairs, module);
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
