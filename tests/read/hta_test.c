/* SPDX-License-Identifier: MIT */
/*
 * Traces of PyTorch against HolisticTraceAnalysis 0.5.0 (corpus/truth/hta.json): its numbers, made
 * of our reader's events by its rules, which are written down here anew from its documentation and
 * source: hta/common/trace.py (which kernels count: those launched before the last profiler step
 * began), trace_parser.py (times become whole us: starts up, ends down), utils.py (types by name),
 * breakdown_analysis.py and communication_analysis.py.
 */
#include <cjson/cJSON.h>
#include <math.h>

#include "read/stream.h"
#include "tests/run/memory_run.h"
#include "tests/read/corpus.h"
#include "tests/test.h"

#define CHROME memory_run_reader("chrome")

static const struct given {
	const char *file;
	int64_t base_ns; /* its baseTimeNanoseconds */
	bool is_fine;	 /* its times have fractions, so HTA rounds them */
} files[] = {
	{ "hta_trace_diff_control.json.gz", 0, false },
	{ "hta_df_index_resolver.json.gz", 0, false },
	{ "hta_ns_resolution.pt.trace.json.gz", 0, true },
	{ "hta_mi250_minitoy_train_ROCm6_2_kineto.json.gz", INT64_C(1735632360000000000), true },
	{ "tracelens_h100_timesformer.json.gz", INT64_C(1751410836000000000), true },
};

enum type { COMPUTATION, COMMUNICATION, MEMORY, OTHER };

struct kernel {
	double start_us, end_us;
	int64_t correlation;
	uint32_t op;
	enum type type;
};

struct launch {
	double start_us;
	int64_t correlation;
};

struct gathered {
	const struct given *given;
	const struct ts_profile *profile;
	struct kernel *kernels;
	struct launch *launches;
	size_t nr_kernels, cap_kernels, nr_launches, cap_launches;
	double last_step_us;
	size_t nr_steps;
};

static bool has(struct ts_bytes name, const char *part)
{
	return ts_bytes_has(name, part);
}

static enum type type_of(struct ts_bytes name)
{
	if (ts_bytes_starts(name, "nccl") && has(name, "Kernel"))
		return COMMUNICATION;
	if (ts_bytes_starts(name, "Memcpy") || ts_bytes_starts(name, "Memset") ||
	    ts_bytes_starts(name, "dma"))
		return MEMORY;
	return has(name, "Memcpy") || has(name, "Sync") ? OTHER : COMPUTATION;
}

/* As Python reads it: the nearest double of what the file says. */
static double us_of(const struct gathered *gathered, int64_t start_ps)
{
	int64_t ns = gathered->profile->start_unix_ns - gathered->given->base_ns + start_ps / 1000;

	return (double)((long double)ns / 1000);
}

static double up(const struct gathered *gathered, double us)
{
	return gathered->given->is_fine ? ceil(us) : us;
}

static void take_kernel(struct gathered *gathered, const struct ts_block *block, size_t i)
{
	double start_us = us_of(gathered, block->start_ps[i]);
	double end_us = start_us + (double)((long double)(block->dur_ps[i] / 1000) / 1000);
	struct ts_stat stream, correlation = { .number = -1 };

	if (!block->stat(block, i, "stream", &stream) || stream.type != TS_STAT_INT ||
	    stream.number == -1)
		return;
	block->stat(block, i, "correlation", &correlation);
	assert_true(ts_grow(&gathered->kernels, &gathered->cap_kernels, gathered->nr_kernels + 1,
			    sizeof(*gathered->kernels)));
	gathered->kernels[gathered->nr_kernels++] = (struct kernel){
		.start_us = up(gathered, start_us),
		.end_us = gathered->given->is_fine ? floor(end_us) : end_us,
		.correlation = correlation.number,
		.op = block->op[i],
		.type = type_of(block->profile->ops[block->op[i]].name),
	};
}

static void take_host_event(struct gathered *gathered, const struct ts_block *block, size_t i)
{
	struct ts_bytes name = block->profile->ops[block->op[i]].name;
	double start_us = up(gathered, us_of(gathered, block->start_ps[i]));
	struct ts_stat correlation;

	if (ts_bytes_starts(name, "ProfilerStep")) {
		gathered->nr_steps++;
		gathered->last_step_us = fmax(gathered->last_step_us, start_us);
	}
	if (!block->stat(block, i, "correlation", &correlation))
		return;
	assert_true(ts_grow(&gathered->launches, &gathered->cap_launches, gathered->nr_launches + 1,
			    sizeof(*gathered->launches)));
	gathered->launches[gathered->nr_launches++] =
		(struct launch){ start_us, correlation.number };
}

static enum ts_status take_block(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	bool host = block->line->kind == TS_LINE_THREAD;

	for (size_t i = 0; i < block->nr_events; i++)
		if (host)
			take_host_event(ctx, block, i);
		else
			take_kernel(ctx, block, i);
	return TS_OK;
}

static void gather(struct gathered *gathered)
{
	struct ts_sink sink = { gathered, TS_COL_STATS, take_block };
	struct ts_error err = TS_ERROR_INIT;

	for (uint32_t l = 0; l < gathered->profile->nr_lines; l++) {
		enum ts_line_kind kind = gathered->profile->lines[l].kind;

		if (kind == TS_LINE_OPS || kind == TS_LINE_THREAD)
			assert_int_equal(ts_stream_line(gathered->profile, l, &sink, &err), TS_OK);
	}
}

/* Kernels that a launch before the last step does not ask for are none of HTA's. */
static void drop_last_step(struct gathered *gathered)
{
	struct ts_map launched = { NULL, 0, 0 };
	size_t nr = 0;

	for (size_t i = 0; i < gathered->nr_launches; i++)
		if (gathered->launches[i].start_us < gathered->last_step_us)
			assert_true(ts_map_set(&launched,
					       (uint64_t)gathered->launches[i].correlation, 1));
	for (size_t i = 0; gathered->nr_steps > 1 && i < gathered->nr_kernels; i++)
		if (ts_map_find(&launched, (uint64_t)gathered->kernels[i].correlation) != TS_NONE)
			gathered->kernels[nr++] = gathered->kernels[i];
	if (gathered->nr_steps > 1)
		gathered->nr_kernels = nr;
	ts_map_release(&launched);
}

static int by_start(const void *a, const void *b)
{
	const struct kernel *x = a, *y = b;

	return (x->start_us > y->start_us) - (x->start_us < y->start_us);
}

struct merged {
	double *start_us, *end_us;
	size_t nr;
	double total_us;
};

/* Of the kernels whose types are in MASK, in the order of starts: what overlaps is one. */
static struct merged merge(const struct gathered *gathered, unsigned mask)
{
	struct merged merged = { calloc(gathered->nr_kernels + 1, sizeof(double)),
				 calloc(gathered->nr_kernels + 1, sizeof(double)), 0, 0 };

	assert_true(merged.start_us && merged.end_us);
	for (size_t i = 0; i < gathered->nr_kernels; i++) {
		const struct kernel *kernel = &gathered->kernels[i];

		if (!(mask >> kernel->type & 1))
			continue;
		if (merged.nr == 0 || kernel->start_us > merged.end_us[merged.nr - 1]) {
			merged.start_us[merged.nr] = kernel->start_us;
			merged.end_us[merged.nr++] = kernel->end_us;
		}
		merged.end_us[merged.nr - 1] = fmax(merged.end_us[merged.nr - 1], kernel->end_us);
	}
	for (size_t i = 0; i < merged.nr; i++)
		merged.total_us += merged.end_us[i] - merged.start_us[i];
	return merged;
}

static double common(const struct merged *a, const struct merged *b)
{
	double us = 0;

	for (size_t i = 0, k = 0; i < a->nr && k < b->nr;) {
		us += fmax(0,
			   fmin(a->end_us[i], b->end_us[k]) - fmax(a->start_us[i], b->start_us[k]));
		if (a->end_us[i] < b->end_us[k])
			i++;
		else
			k++;
	}
	return us;
}

static double number(const cJSON *object, const char *name)
{
	const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);

	assert_non_null(found);
	return found->valuedouble;
}

static void assert_near(const char *file, const char *what, double got, double wanted,
			double tolerance)
{
	if (!(fabs(got - wanted) <= tolerance))
		fail_msg("%s: %s is %.4f, HTA says %.4f", file, what, got, wanted);
}

static void release(struct merged *merged)
{
	free(merged->start_us);
	free(merged->end_us);
}

static void compare_times(const struct gathered *gathered, const cJSON *truth)
{
	const cJSON *times = cJSON_GetArrayItem(
		cJSON_GetObjectItemCaseSensitive(truth, "temporal_breakdown"), 0);
	const cJSON *overlap =
		cJSON_GetArrayItem(cJSON_GetObjectItemCaseSensitive(truth, "comm_comp_overlap"), 0);
	struct merged all = merge(gathered, 15), computing = merge(gathered, 1 << COMPUTATION);
	struct merged talking = merge(gathered, 1 << COMMUNICATION);
	const char *file = gathered->given->file;
	double span_us, idle, compute;

	assert_non_null(times);
	assert_true(all.nr > 0);
	span_us = all.end_us[all.nr - 1] - all.start_us[0];
	idle = 100 * (span_us - all.total_us) / span_us;
	compute = 100 * computing.total_us / span_us;
	/* HTA prints two digits. */
	assert_near(file, "idle", idle, number(times, "idle_time_pctg"), 0.0100001);
	assert_near(file, "compute", compute, number(times, "compute_time_pctg"), 0.0100001);
	assert_near(file, "the rest", 100 - idle - compute, number(times, "non_compute_time_pctg"),
		    0.0100001);
	assert_near(file, "time from first to last", span_us, number(times, "kernel_time(us)"), 1);
	assert_near(file, "time of computation", computing.total_us,
		    number(times, "compute_time(us)"), 1);
	if (number(overlap, "comp_comm_overlap_pctg") >= 0 && talking.nr > 0)
		assert_near(file, "overlap", 100 * common(&talking, &computing) / talking.total_us,
			    number(overlap, "comp_comm_overlap_pctg"), 0.0100001);
	release(&all);
	release(&computing);
	release(&talking);
}

/* Truth has the first 120 characters of a name. */
static bool has_sum(const struct gathered *gathered, const double *sums, const char *name,
		    double sum_us)
{
	for (size_t op = 0; op < gathered->profile->nr_ops; op++)
		if (sums[op] > 0 && ts_bytes_starts(gathered->profile->ops[op].name, name) &&
		    fabs(sums[op] - sum_us) < 0.5)
			return true;
	return false;
}

static void compare_kernels(const struct gathered *gathered, const cJSON *truth)
{
	double *sums = calloc(gathered->profile->nr_ops + 1, sizeof(*sums));
	const cJSON *row;
	size_t nr = 0;

	assert_non_null(sums);
	for (size_t i = 0; i < gathered->nr_kernels; i++)
		sums[gathered->kernels[i].op] +=
			gathered->kernels[i].end_us - gathered->kernels[i].start_us;
	cJSON_ArrayForEach(row, cJSON_GetObjectItemCaseSensitive(truth, "top_kernels"))
	{
		const char *name = cJSON_GetObjectItemCaseSensitive(row, "name")->valuestring;

		if (strcmp(name, "others") == 0)
			continue;
		if (!has_sum(gathered, sums, name, number(row, "sum (us)")))
			fail_msg("%s: no kernel %s takes %.0f us in all", gathered->given->file,
				 name, number(row, "sum (us)"));
		nr++;
	}
	assert_true(nr >= 8);
	free(sums);
}

static void compare_file(const struct given *given, struct ts_bytes bytes, const cJSON *truth)
{
	struct gathered gathered = { .given = given };
	struct ts_error err = TS_ERROR_INIT;
	struct memory_run mem;

	memory_run_init(&mem);
	assert_int_equal(memory_run_add_as(&mem, CHROME, bytes, given->file, &err), TS_OK);
	assert_int_equal(ts_profile_finish(&mem.run.profile, &err), TS_OK);
	gathered.profile = &mem.run.profile;
	gather(&gathered);
	drop_last_step(&gathered);
	qsort(gathered.kernels, gathered.nr_kernels, sizeof(*gathered.kernels), by_start);
	compare_times(&gathered, cJSON_GetObjectItemCaseSensitive(truth, given->file));
	compare_kernels(&gathered, cJSON_GetObjectItemCaseSensitive(truth, given->file));
	free(gathered.kernels);
	free(gathered.launches);
	memory_run_release(&mem);
}

/* NaN is Python's, no JSON: what has no value is below any. */
static cJSON *parse_truth(struct ts_arena *arena, struct ts_bytes text)
{
	struct ts_bytes copy = ts_arena_copy(arena, text);
	char *p = (char *)(uintptr_t)copy.p, *nan;

	assert_non_null(p);
	while ((nan = strstr(p, "NaN")) != NULL)
		memcpy(nan, "-99", 3);
	return cJSON_Parse(p);
}

TEST(events_give_the_numbers_of_hta)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_bytes text = corpus_file(&arena, "truth/hta.json");
	cJSON *truth;

	if (!text.p) {
		print_message("no corpus here (TS_CORPUS): skipped\n");
		ts_arena_release(&arena);
		skip();
	}
	truth = parse_truth(&arena, text);
	assert_non_null(truth);
	for (size_t i = 0; i < TS_NELEM(files); i++) {
		struct ts_bytes path = ts_arena_printf(&arena, "kineto/%s", files[i].file);
		struct ts_bytes bytes = corpus_file(&arena, (const char *)path.p);

		assert_non_null(bytes.p);
		compare_file(&files[i], bytes, truth);
	}
	cJSON_Delete(truth);
	ts_arena_release(&arena);
}
