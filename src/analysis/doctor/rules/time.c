/*
 * Rules about where the core time goes: collectives that nothing hides, nothing running at all,
 * recomputation, one op that dominates, and very many tiny ones.
 */
#include "analysis/doctor/doctor.h"

#define MAX_CAUSES 8

/* The part all bucket rules have: is it above its limit, and which ops is it made of? */
static struct ts_finding *report_bucket(struct ts_doctor *doctor, const struct ts_rule *rule,
					enum ts_bucket bucket, double limit_pct, const char *words)
{
	double share = ts_doctor_bucket_share(doctor, bucket);
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding;
	char text[TS_UNIT_MAX];

	if (!(share * 100 > limit_pct))
		return NULL;
	finding = ts_doctor_report(doctor, rule, none, none, doctor->bucket_ps[bucket]);
	if (!finding)
		return NULL;
	ts_buf_printf(&doctor->text, "%s of core time %s", ts_fmt_share(text, share), words);
	finding->title = ts_doctor_text(doctor);
	return finding;
}

static void say_of_total(struct ts_doctor *doctor, int64_t ps)
{
	char part[TS_UNIT_MAX], total[TS_UNIT_MAX];

	ts_buf_printf(&doctor->text, "%s of %s core time", ts_fmt_ps(part, ps),
		      ts_fmt_ps(total, doctor->total_ps));
}

static void add_ops(struct ts_doctor *doctor, struct ts_finding *finding, enum ts_bucket bucket)
{
	struct ts_selection ops = ts_doctor_select(doctor, ts_match_bucket, &bucket);

	say_of_total(doctor, doctor->bucket_ps[bucket]);
	if (ops.nr > 0) {
		ts_say_executions(doctor, ops.occurrences);
		ts_buf_puts(&doctor->text, ", most in ");
		ts_say_ops(doctor, &ops, 4);
	}
	ts_buf_putc(&doctor->text, '.');
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_where(doctor, finding, &ops);
}

static void check_exposed_collectives(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct ts_finding *finding = report_bucket(doctor, rule, TS_BUCKET_COMMUNICATION,
						   doctor->ctx->settings->communication_high,
						   "waits in collectives that no compute hides");

	if (!finding)
		return;
	add_ops(doctor, finding, TS_BUCKET_COMMUNICATION);
	ts_buf_put(&doctor->text, finding->evidence);
	ts_say_coverable(doctor);
	finding->evidence = ts_doctor_text(doctor);
}

#define MIN_OF_REMAT 0.05 /* of the time in recomputation: less is not worth keeping by itself */
#define MAX_KEPT     2

static bool is_better(const struct ts_table *ops, size_t x, size_t y)
{
	return ts_cell_number(ops, x, "ms_per_kept_mb") > ts_cell_number(ops, y, "ms_per_kept_mb");
}

/* The ops that give most time for the memory they take. */
static size_t cheapest_to_keep(const struct ts_table *ops, double least_ps, size_t best[MAX_KEPT])
{
	size_t nr = 0;

	for (size_t i = 0; i < ops->nr_rows; i++) {
		size_t at = nr;

		if (!(ts_cell_number(ops, i, "time_ps") >= least_ps) ||
		    !(ts_cell_number(ops, i, "ms_per_kept_mb") > 0))
			continue;
		while (at > 0 && is_better(ops, i, best[at - 1]))
			at--;
		if (at == MAX_KEPT)
			continue;
		nr = TS_MIN(nr + 1, MAX_KEPT);
		memmove(&best[at + 1], &best[at], (nr - 1 - at) * sizeof(*best));
		best[at] = i;
	}
	return nr;
}

static void say_kept(struct ts_doctor *doctor, const struct ts_table *ops, size_t row)
{
	struct ts_bytes original = ts_cell_text(ops, row, "original");
	struct ts_bytes source = ts_cell_text(ops, row, "source");
	char time[TS_UNIT_MAX], bytes[TS_UNIT_MAX];

	ts_say_name(doctor, ts_cell_text(ops, row, "name"));
	ts_buf_printf(&doctor->text, " (%s for %s",
		      ts_fmt_ps(time, ts_cell_int(ops, row, "time_ps")),
		      ts_fmt_bytes(bytes, ts_cell_number(ops, row, "kept_bytes")));
	if (original.n > 0) {
		ts_buf_puts(&doctor->text, "; it repeats ");
		ts_say_name(doctor, original);
	}
	if (source.n > 0) {
		ts_buf_puts(&doctor->text, " at ");
		ts_say_name(doctor, source);
	}
	ts_buf_putc(&doctor->text, ')');
}

/* What recomputation saves, and what would be cheapest to keep. */
static void say_remat(struct ts_doctor *doctor)
{
	const struct ts_result *remat = ts_results_find(doctor->ctx->results, "remat");
	const struct ts_table *ops = remat ? ts_result_find_table(remat, "ops") : NULL;
	double time_ps = ts_value_number(ts_result_get(remat, "time_ps"));
	double saved = ts_value_number(ts_result_get(remat, "saved_bytes"));
	char bytes[TS_UNIT_MAX];
	size_t best[MAX_KEPT], nr;

	if (!ops || !(saved > 0))
		return;
	ts_buf_printf(&doctor->text, " It saves about %s of memory on each core.",
		      ts_fmt_bytes(bytes, saved));
	nr = cheapest_to_keep(ops, MIN_OF_REMAT * time_ps, best);
	for (size_t i = 0; i < nr; i++) {
		ts_buf_puts(&doctor->text, i > 0 ? ", then " : " Cheapest to keep: ");
		say_kept(doctor, ops, best[i]);
	}
	ts_buf_puts(&doctor->text, nr > 0 ? "." : "");
}

static void check_rematerialization(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct ts_finding *finding =
		report_bucket(doctor, rule, TS_BUCKET_REMATERIALIZATION,
			      doctor->ctx->settings->rematerialization_high,
			      "computes again what was thrown away to save memory");

	if (!finding)
		return;
	add_ops(doctor, finding, TS_BUCKET_REMATERIALIZATION);
	ts_buf_put(&doctor->text, finding->evidence);
	say_remat(doctor);
	finding->evidence = ts_doctor_text(doctor);
}

struct gap {
	int64_t start_ps, duration_ps;
	uint32_t device; /* TS_NONE: unknown */
};

/* Gaps under a compilation or the input pipeline belong to the findings about those. */
static bool is_idle_gap(struct ts_bytes cause)
{
	return !ts_bytes_is(cause, ts_bucket_name(TS_BUCKET_COMPILATION)) &&
	       !ts_bytes_is(cause, ts_bucket_name(TS_BUCKET_INPUT));
}

static int longest_first(const void *a, const void *b)
{
	const struct gap *x = a, *y = b;

	if (x->duration_ps != y->duration_ps)
		return x->duration_ps < y->duration_ps ? 1 : -1;
	if (x->start_ps != y->start_ps)
		return x->start_ps > y->start_ps ? 1 : -1;
	return (x->device > y->device) - (x->device < y->device);
}

static size_t read_gaps(struct ts_doctor *doctor, const struct ts_table *table, struct gap **gaps)
{
	size_t nr = 0;

	*gaps = table ? ts_arena_array(&doctor->scratch, table->nr_rows, sizeof(**gaps)) : NULL;
	if (!*gaps) {
		doctor->failed |= table != NULL;
		return 0;
	}
	for (size_t i = 0; i < table->nr_rows; i++) {
		struct gap *gap = &(*gaps)[nr];

		if (!is_idle_gap(ts_cell_text(table, i, "cause")))
			continue;
		gap->start_ps = ts_cell_int(table, i, "start_ps");
		gap->duration_ps = ts_cell_int(table, i, "duration_ps");
		gap->device = (uint32_t)ts_cell_int(table, i, "device_id"); /* -1: TS_NONE */
		nr++;
	}
	if (nr > 0)
		qsort(*gaps, nr, sizeof(**gaps), longest_first);
	return nr;
}

struct cause {
	struct ts_bytes name;
	int64_t time_ps;
};

static void add_cause(struct cause *causes, size_t *nr, struct ts_bytes name, int64_t time_ps)
{
	for (size_t i = 0; i < *nr; i++) {
		if (!ts_bytes_eq(causes[i].name, name))
			continue;
		causes[i].time_ps = ts_i64_add(causes[i].time_ps, time_ps);
		return;
	}
	if (*nr < MAX_CAUSES)
		causes[(*nr)++] = (struct cause){ name, time_ps };
}

static int costliest_first(const void *a, const void *b)
{
	const struct cause *x = a, *y = b;

	if (x->time_ps != y->time_ps)
		return x->time_ps < y->time_ps ? 1 : -1;
	return ts_bytes_cmp(x->name, y->name);
}

static void say_causes(struct ts_doctor *doctor, const struct ts_table *table)
{
	struct cause causes[MAX_CAUSES];
	char time[TS_UNIT_MAX];
	size_t nr = 0;

	for (size_t i = 0; table && i < table->nr_rows; i++) {
		struct ts_bytes name = ts_cell_text(table, i, "cause");

		if (name.n > 0 && is_idle_gap(name) &&
		    !ts_bytes_is(name, ts_bucket_name(TS_BUCKET_IDLE)))
			add_cause(causes, &nr, name, ts_cell_int(table, i, "duration_ps"));
	}
	if (nr == 0)
		return;
	qsort(causes, nr, sizeof(*causes), costliest_first);
	ts_buf_puts(&doctor->text, " By cause: ");
	for (size_t i = 0; i < TS_MIN(nr, 3); i++) {
		ts_buf_puts(&doctor->text, i > 0 ? ", " : "");
		ts_say_name(doctor, causes[i].name);
		ts_buf_printf(&doctor->text, " (%s)", ts_fmt_ps(time, causes[i].time_ps));
	}
	ts_buf_putc(&doctor->text, '.');
}

static void say_longest(struct ts_doctor *doctor, const struct gap *gap, size_t nr)
{
	char length[TS_UNIT_MAX], at[TS_UNIT_MAX];

	ts_buf_printf(&doctor->text,
		      nr > 1 ? "; the longest gap lasts %s, at %s" : "; the gap lasts %s, at %s",
		      ts_fmt_ps(length, gap->duration_ps), ts_fmt_ps(at, gap->start_ps));
	if (gap->device != TS_NONE) {
		ts_buf_puts(&doctor->text, " on ");
		ts_say_name(doctor, doctor->ctx->profile->devices[gap->device].name);
	}
}

static void check_idle(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_table *table = ts_result_find_table(doctor->time, "idle_gaps");
	struct ts_finding *finding =
		report_bucket(doctor, rule, TS_BUCKET_IDLE, doctor->ctx->settings->idle_high,
			      "has nothing to run");
	struct gap *gaps;
	size_t nr;

	if (!finding)
		return;
	nr = read_gaps(doctor, table, &gaps);
	say_of_total(doctor, doctor->bucket_ps[TS_BUCKET_IDLE]);
	if (nr > 0)
		say_longest(doctor, &gaps[0], nr);
	ts_buf_putc(&doctor->text, '.');
	say_causes(doctor, table);
	ts_say_host_events(doctor, TS_BUCKET_IDLE);
	ts_say_per_step(doctor, TS_BUCKET_IDLE);
	ts_say_launches(doctor);
	finding->evidence = ts_doctor_text(doctor);
	for (size_t i = 0; i < TS_MIN(nr, TS_MAX_RANGES); i++)
		if (gaps[i].device != TS_NONE)
			ts_doctor_range(doctor, gaps[i].device, gaps[i].start_ps,
					ts_i64_add(gaps[i].start_ps, gaps[i].duration_ps));
}

/* Waits have rules of their own; this is for an op that works. */
static const struct ts_op_fact *largest_work(const struct ts_doctor *doctor)
{
	for (size_t i = 0; i < doctor->nr_facts; i++)
		if (doctor->facts[i].bucket == TS_BUCKET_COMPUTE ||
		    doctor->facts[i].bucket == TS_BUCKET_MEMORY_WAIT)
			return &doctor->facts[i];
	return NULL;
}

static void check_dominant_op(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	const struct ts_op_fact *fact = largest_work(doctor);
	double least = fact && !isnan(fact->least_ps) ? fact->least_ps : 0;
	char share[TS_UNIT_MAX], time[TS_UNIT_MAX], roof[TS_UNIT_MAX];
	struct ts_finding *finding;
	struct ts_selection ops;

	if (!fact || !(ts_doctor_share(doctor, fact->exclusive_ps) * 100 >
		       doctor->ctx->settings->dominant_op_high))
		return;
	finding = ts_doctor_report(doctor, rule, fact->module, fact->name,
				   ts_to_ps((double)fact->exclusive_ps - least));
	if (!finding)
		return;
	ts_say_name(doctor, fact->name);
	ts_buf_printf(&doctor->text, " alone takes %s of core time",
		      ts_fmt_share(share, ts_doctor_share(doctor, fact->exclusive_ps)));
	finding->title = ts_doctor_text(doctor);
	ts_buf_puts(&doctor->text, ts_fmt_ps(time, fact->exclusive_ps));
	ts_say_executions(doctor, TS_MAX(fact->occurrences, 0));
	if (least > 0)
		ts_buf_printf(&doctor->text, "; by the roofline it needs %s",
			      ts_fmt_ps(roof, ts_to_ps(least)));
	ts_buf_putc(&doctor->text, '.');
	finding->evidence = ts_doctor_text(doctor);
	ts_select_one(&ops, fact);
	ts_doctor_where(doctor, finding, &ops);
}

static bool match_small(const struct ts_doctor *doctor, const struct ts_op_fact *fact,
			const void *arg)
{
	double limit_ps = doctor->ctx->settings->small_op_time * (double)TS_PS_PER_US;

	(void)arg;
	if (fact->occurrences <= 0 || fact->exclusive_ps <= 0)
		return false;
	if (fact->bucket != TS_BUCKET_COMPUTE && fact->bucket != TS_BUCKET_MEMORY_WAIT)
		return false;
	return (double)fact->exclusive_ps / (double)fact->occurrences < limit_ps;
}

static void check_small_ops(struct ts_doctor *doctor, const struct ts_rule *rule)
{
	struct ts_selection ops = ts_doctor_select(doctor, match_small, NULL);
	double share = ts_doctor_share(doctor, ops.exclusive_ps);
	char text[TS_UNIT_MAX], mean[TS_UNIT_MAX];
	struct ts_bytes none = { NULL, 0 };
	struct ts_finding *finding;

	if (!(share * 100 > doctor->ctx->settings->small_ops_high) || ops.occurrences <= 0)
		return;
	finding = ts_doctor_report(doctor, rule, none, none, ops.exclusive_ps);
	if (!finding)
		return;
	ts_buf_printf(&doctor->text, "%s of core time is in very many tiny ops",
		      ts_fmt_share(text, share));
	finding->title = ts_doctor_text(doctor);
	ts_buf_printf(
		&doctor->text, "%zu ops run %" PRId64 " times, %s each on average; most time in ",
		ops.nr_all, ops.occurrences, ts_fmt_ps(mean, ops.exclusive_ps / ops.occurrences));
	ts_say_ops(doctor, &ops, 3);
	ts_buf_putc(&doctor->text, '.');
	finding->evidence = ts_doctor_text(doctor);
	ts_doctor_where(doctor, finding, &ops);
}

const struct ts_rule ts_rule_exposed_collectives = {
	.name = "exposed_collectives",
	.confidence = TS_LIKELY,
	.check = check_exposed_collectives,
	.ceiling = "the core time of collectives that nothing hides; what waits for a slower core "
		   "is in it",
};
const struct ts_rule ts_rule_rematerialization = {
	.name = "rematerialization",
	.confidence = TS_LIKELY,
	.check = check_rematerialization,
	.ceiling = "the core time of what is computed again",
};
const struct ts_rule ts_rule_idle = {
	.name = "idle",
	.confidence = TS_LIKELY,
	.check = check_idle,
	.ceiling = "the core time with nothing to run and no cause that another finding tells",
};
const struct ts_rule ts_rule_dominant_op = {
	.name = "dominant_op",
	.confidence = TS_POSSIBLE,
	.check = check_dominant_op,
	.ceiling = "the op's core time less what it needs by the roofline",
};
const struct ts_rule ts_rule_small_ops = {
	.name = "small_ops",
	.confidence = TS_POSSIBLE,
	.check = check_small_ops,
	.ceiling = "the core time of these ops; the work in them stays",
};
