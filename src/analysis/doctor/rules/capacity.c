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
static void say_buffers(struct ts_doctor *doctor, const struct ts_table *buffers,
			struct ts_bytes module)
{
	size_t nr = 0;

	for (size_t i = 0; buffers && i < buffers->nr_rows && nr < MAX_NAMED; i++) {
		struct ts_bytes from = ts_cell_text(buffers, i, "framework_op");
		char size[TS_UNIT_MAX];

		if (!ts_bytes_eq(ts_cell_text(buffers, i, "module"), module))
			continue;
		ts_buf_puts(&doctor->text, nr++ ? ", " : " Largest at that moment: ");
		ts_say_name(doctor, ts_cell_text(buffers, i, "op"));
		ts_buf_puts(&doctor->text, " (");
		ts_say_name(doctor, ts_cell_text(buffers, i, "kind"));
		ts_buf_putc(&doctor->text, ' ');
		ts_say_name(doctor, ts_cell_text(buffers, i, "shape"));
		ts_buf_printf(&doctor->text, ", %s",
			      ts_fmt_bytes(size, ts_cell_number(buffers, i, "bytes")));
		if (from.n > 0) {
			ts_buf_puts(&doctor->text, ", ");
			ts_say_name(doctor, from);
		}
		ts_buf_putc(&doctor->text, ')');
	}
	if (nr > 0)
		ts_buf_putc(&doctor->text, '.');
}

static void say_parts(struct ts_doctor *doctor, const struct ts_result *capacity)
{
	char args[TS_UNIT_MAX], outs[TS_UNIT_MAX], temps[TS_UNIT_MAX], shared[TS_UNIT_MAX];

	ts_buf_printf(
		&doctor->text,
		"%s of arguments, %s of results (%s of them in donated arguments), "
		"%s of temporaries.",
		ts_fmt_bytes(args, ts_value_number(ts_result_get(capacity, "argument_bytes"))),
		ts_fmt_bytes(outs, ts_value_number(ts_result_get(capacity, "output_bytes"))),
		ts_fmt_bytes(shared, ts_value_number(ts_result_get(capacity, "alias_bytes"))),
		ts_fmt_bytes(temps, ts_value_number(ts_result_get(capacity, "temp_bytes"))));
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
	char share[TS_UNIT_MAX], peak[TS_UNIT_MAX], room[TS_UNIT_MAX];
	struct ts_finding *finding;
	struct ts_selection where;

	if (!(pct > doctor->ctx->settings->peak_memory_high))
		return;
	finding = ts_doctor_report(doctor, rule, module, op, -1);
	if (!finding)
		return;
	finding->severity = pct >= FULL_PCT ? TS_CRITICAL : TS_WARNING;
	ts_say_name(doctor, module);
	ts_buf_printf(&doctor->text, " needs %s of the device's memory",
		      ts_fmt_share(share, pct / 100));
	finding->title = ts_doctor_text(doctor);
	ts_buf_printf(&doctor->text, "Its peak is %s of %s, at op ",
		      ts_fmt_bytes(peak, ts_value_number(ts_result_get(capacity, "peak_bytes"))),
		      ts_fmt_bytes(room, ts_value_number(ts_result_get(capacity, "hbm_bytes"))));
	ts_say_name(doctor, op);
	ts_buf_puts(&doctor->text, ": ");
	say_parts(doctor, capacity);
	say_buffers(doctor, ts_result_find_table(capacity, "buffers"), module);
	finding->evidence = ts_doctor_text(doctor);
	ts_select_one(&where, ts_doctor_fact(doctor, module, op));
	ts_doctor_where(doctor, finding, &where);
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

static void say_pairs(struct ts_doctor *doctor, const struct ts_table *pairs,
		      struct ts_bytes module)
{
	size_t nr = 0;

	for (size_t i = 0; i < pairs->nr_rows && nr < MAX_NAMED; i++) {
		struct ts_bytes name = ts_cell_text(pairs, i, "framework_op");
		char size[TS_UNIT_MAX];

		if (!ts_bytes_eq(ts_cell_text(pairs, i, "module"), module))
			continue;
		ts_buf_printf(&doctor->text, "%sargument %" PRId64, nr++ ? ", " : " First ",
			      ts_cell_int(pairs, i, "parameter"));
		if (name.n > 0) {
			ts_buf_puts(&doctor->text, " (");
			ts_say_name(doctor, name);
			ts_buf_putc(&doctor->text, ')');
		}
		ts_buf_printf(&doctor->text, " for result %" PRId64 ", %s",
			      ts_cell_int(pairs, i, "output"),
			      ts_fmt_bytes(size, ts_cell_number(pairs, i, "bytes")));
	}
	ts_buf_putc(&doctor->text, '.');
}

static void check_donation(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_result *capacity = capacity_of(doctor);
	const struct ts_table *pairs =
		capacity ? ts_result_find_table(capacity, "donations") : NULL;
	double room = ts_value_number(ts_result_get(capacity, "hbm_bytes"));
	struct ts_bytes module = { NULL, 0 }, none = { NULL, 0 };
	int64_t saved = pairs ? most_donated(pairs, &module) : 0;
	char size[TS_UNIT_MAX], share[TS_UNIT_MAX];
	struct ts_finding *finding;

	if (!(100 * (double)saved / room > doctor->ctx->settings->donation_high))
		return;
	finding = ts_doctor_report(doctor, rule, module, none, -1);
	if (!finding)
		return;
	ts_buf_printf(&doctor->text, "%s of device memory can be saved by donating arguments of ",
		      ts_fmt_bytes(size, (double)saved));
	ts_say_name(doctor, module);
	finding->title = ts_doctor_text(doctor);
	ts_buf_printf(&doctor->text,
		      "Arguments and results of the same shape stand side by side, up to %s of the "
		      "device's memory.",
		      ts_fmt_share(share, (double)saved / room));
	say_pairs(doctor, pairs, module);
	finding->evidence = ts_doctor_text(doctor);
}

/* Where it is told, and whether a trace of PyTorch tells it. */
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
static void say_blocks(struct ts_doctor *doctor, const struct heaps *heaps,
		       const struct ts_result *result, struct ts_bytes allocator)
{
	const struct ts_table *blocks = ts_result_find_table(result, heaps->blocks);
	const char *what =
		heaps->is_torch ? " Kept from the steps: " : " Largest blocks at its peak: ";
	size_t nr = 0;

	for (size_t i = 0; blocks && i < blocks->nr_rows && nr < MAX_NAMED; i++) {
		struct ts_bytes op = ts_cell_text(blocks, i, heaps->op);
		char size[TS_UNIT_MAX];

		if (!ts_bytes_eq(ts_cell_text(blocks, i, heaps->name), allocator) || op.n == 0)
			continue;
		ts_buf_puts(&doctor->text, nr++ ? ", " : what);
		ts_say_name(doctor, op);
		ts_buf_printf(&doctor->text, " (%" PRId64 " x %s)", ts_cell_int(blocks, i, "count"),
			      ts_fmt_bytes(size, ts_cell_number(blocks, i, "bytes")));
	}
	if (nr > 0)
		ts_buf_putc(&doctor->text, '.');
}

static void report_growth(struct ts_doctor *doctor, const struct ts_rule *rule,
			  const struct heaps *heaps, const struct ts_result *result,
			  const struct growing *is)
{
	struct ts_bytes name = ts_cell_text(is->table, is->row, heaps->name), none = { NULL, 0 };
	double per_step = (double)(is->last - is->first) / (double)(is->nr_steps - 1);
	struct ts_finding *finding = ts_doctor_report(doctor, rule, none, name, -1);
	char a[TS_UNIT_MAX], b[TS_UNIT_MAX], c[TS_UNIT_MAX];

	if (!finding)
		return;
	finding->severity = TS_WARNING;
	if (is->nr_rising == is->nr_steps - 1)
		finding->confidence = TS_LIKELY;
	ts_buf_printf(&doctor->text, "Device memory grows by %s a step", ts_fmt_bytes(a, per_step));
	finding->title = ts_doctor_text(doctor);
	ts_say_name(doctor, name);
	ts_buf_printf(
		&doctor->text,
		" holds %s after the first of %" PRId64 " steps and %s after the last, of %s; "
		"%" PRId64 " of them end with more than the one before.",
		ts_fmt_bytes(a, (double)is->first), is->nr_steps, ts_fmt_bytes(b, (double)is->last),
		ts_fmt_bytes(c, is->capacity), is->nr_rising);
	say_blocks(doctor, heaps, result, name);
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
