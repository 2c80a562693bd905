/* SPDX-License-Identifier: MIT */
/*
 * What meets in HBM, and why. VEC is f32[1024,128] in whole tiles: N = 524 288 bytes. A pair's
 * bytes are what the consumer reads and its share of what the producer writes: 2 N when it is the
 * only reader.
 */
#include "tests/test.h"
#include "analysis/analysis.h"
#include "analysis/facts/fusion.h"
#include "analysis/facts/ops.h"
#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "tests/analysis/facts_given.h"
#include "base/units.h"
#include "model/cost.h"
#include "model/op_work.h"
#include "read/hlo.h"
#include "result/schema/fusion.def"
#include "tests/read/corpus.h"
#include "tests/read/hlo_make.h"

#define VEC	"f32[1024,128]{1,0:T(8,128)}"
#define TURNED	"f32[1024,128]{0,1:T(8,128)}"
#define ON_CHIP "f32[1024,128]{1,0:T(8,128)S(1)}"
#define SCALAR	"s32[]{:T(128)}"
#define N	INT64_C(524288)
#define US	TS_PS_PER_US

extern const struct ts_analysis ts_analysis_fusion;

struct given {
	struct make make;
	struct ts_profile profile;
	struct ts_outline outline;
	struct ts_settings settings;
	struct ts_rates rates;
	struct ts_results results;
	struct ts_context ctx;
	const struct ts_result *result;
	struct ts_op_fact times[8];
	struct ts_ops_facts ops;
};

/* HBM of 1 TB/s: a byte takes a picosecond. */
static struct given *given_new(void)
{
	struct given *given = calloc(1, sizeof(*given));

	assert_non_null(given);
	ts_profile_init(&given->profile);
	ts_results_init(&given->results);
	ts_settings_init(&given->settings);
	given->rates = (struct ts_rates){ .peak_flops_per_s = 1e14, .hbm_bytes_per_s = 1e12 };
	given->ctx = (struct ts_context){ .profile = &given->profile,
					  .outline = &given->outline,
					  .settings = &given->settings };
	facts_of_nothing(&given->ctx);
	return given;
}

static void given_free(struct given *given)
{
	ts_buf_release(&given->make.out);
	ts_results_release(&given->results);
	ts_profile_release(&given->profile);
	free(given);
}

static struct ts_hlo_module *given_module(struct given *given, struct ts_bytes proto)
{
	struct ts_hlo_module *module =
		ts_profile_add_module(&given->profile, given->profile.nr_modules + 1);
	struct ts_error err = TS_ERROR_INIT;

	assert_non_null(module);
	if (ts_hlo_read(&given->profile.arena, proto, TS_LIT("a.pb"), module, &err))
		fail_msg("%s", err.text);
	return module;
}

static void run(struct given *given)
{
	struct ts_result *result = TS_ADD(&given->results, fusion);
	struct ts_fusion_facts facts;

	assert_int_equal(ts_analysis_fusion.close(NULL, &given->ctx, &facts, result, NULL), TS_OK);
	given->result = result;
}

/* The facts of ops as that analysis leaves them, by which instructions have times. */
static void given_times(struct given *given)
{
	given->ops.items = given->times;
	given->ctx.facts[ts_id_ops] = &given->ops;
	assert_non_null(ts_profile_add_line(&given->profile));
	assert_non_null(ts_profile_add_device(&given->profile));
	given->ctx.rates = &given->rates;
}

static struct ts_op_fact *given_time(struct given *given, uint32_t module, const char *name,
				     int64_t occurrences, int64_t self_ps)
{
	struct ts_op_fact *fact = &given->times[given->ops.nr++];

	assert_true(given->ops.nr <= TS_NELEM(given->times));
	*fact = (struct ts_op_fact){
		.op = (uint32_t)given->ops.nr - 1,
		.module_index = module,
		.instr = ts_hlo_find(&given->profile.modules[module], ts_bytes_of(name)),
		.occurrences = occurrences,
		.total_ps = self_ps,
		.self_ps = self_ps,
		.flops = NAN,
		.hbm_bytes = NAN,
		.hbm_bytes_per_s = NAN,
	};
	assert_int_not_equal(fact->instr, TS_NONE);
	return fact;
}

/* One execution's FLOPs, and the HBM bytes of all of them. */
static void given_work(struct ts_op_fact *fact, int64_t flops, int64_t hbm_bytes)
{
	fact->flops = (double)flops;
	fact->hbm_bytes = (double)hbm_bytes / (double)fact->occurrences;
	fact->hbm_bytes_per_s = (double)hbm_bytes / (double)fact->total_ps * 1e12;
}

static struct ts_value cell(const struct given *given, const char *name, size_t row,
			    const char *column)
{
	const struct ts_table *table = ts_result_find_table(given->result, name);

	assert_non_null(table);
	assert_true(row < table->nr_rows);
	assert_true(ts_table_column(table, column) >= 0);
	return ts_table_cell(table, row, ts_table_column(table, column));
}

static size_t nr_rows(const struct given *given, const char *name)
{
	const struct ts_table *table = ts_result_find_table(given->result, name);

	return table ? table->nr_rows : 0;
}

/* The row of a pair. */
static size_t pair(const struct given *given, const char *producer, const char *consumer)
{
	for (size_t i = 0; i < nr_rows(given, "unfused"); i++)
		if (ts_bytes_is(cell(given, "unfused", i, "producer").as.s, producer) &&
		    ts_bytes_is(cell(given, "unfused", i, "consumer").as.s, consumer))
			return i;
	fail_msg("no pair %s -> %s", producer, consumer);
	return 0;
}

static void assert_pair(const struct given *given, const char *producer, const char *consumer,
			const char *code, int64_t bytes)
{
	size_t row = pair(given, producer, consumer);
	struct ts_bytes found = cell(given, "unfused", row, "reason_code").as.s;

	if (!ts_bytes_is(found, code))
		fail_msg("%s -> %s: %.*s, not %s", producer, consumer, TS_ARG(found), code);
	if (ts_value_int(cell(given, "unfused", row, "bytes")) != bytes)
		fail_msg("%s -> %s: %lld bytes, not %lld", producer, consumer,
			 (long long)ts_value_int(cell(given, "unfused", row, "bytes")),
			 (long long)bytes);
}

static int64_t field(const struct given *given, const char *name)
{
	return ts_value_int(ts_result_get(given->result, name));
}

/* x -> a -> b, and a and b -> c. */
static void make_diamond(struct make *make)
{
	size_t comp = make_comp(make, "main");

	make_param(make, 0, VEC, 10);
	make_op(make, "a", "exponential", VEC, 11, 1, (int64_t[]){ 10 });
	make_op(make, "b", "negate", VEC, 12, 1, (int64_t[]){ 11 });
	make_op(make, "c", "add", VEC, 13, 2, (int64_t[]){ 11, 12 });
	make_end_comp(make, comp, 1, 13);
}

/* a is written once for two readers: each has N read and N/2 written. 5 N in all. */
TEST(test_a_write_is_shared_by_those_who_read_it)
{
	struct given *given = given_new();

	make_diamond(&given->make);
	given_module(given, make_end(&given->make, 1));
	run(given);
	assert_int_equal(nr_rows(given, "unfused"), 3);
	assert_pair(given, "a", "b", "recompute", N + N / 2);
	assert_pair(given, "a", "c", "recompute", N + N / 2);
	assert_pair(given, "b", "c", "unknown", 2 * N);
	assert_int_equal(field(given, "unfused_count"), 3);
	assert_int_equal(field(given, "unfused_bytes"), 5 * N);
	assert_int_equal(field(given, "fused_count"), 0);
	assert_int_equal(ts_result_get(given->result, "unfused_ps").type, TS_VALUE_NULL);
	assert_int_equal(cell(given, "unfused", 0, "impact_ps").type, TS_VALUE_NULL);
	assert_int_equal(cell(given, "unfused", 0, "executions").type, TS_VALUE_NULL);
	given_free(given);
}

/* A module alone whose chip the user named: 5 N bytes at a picosecond each. */
TEST(test_the_named_chip_gives_times_without_a_run)
{
	struct given *given = given_new();

	make_diamond(&given->make);
	given_module(given, make_end(&given->make, 1));
	given->ctx.chip = &given->rates;
	run(given);
	assert_int_equal(field(given, "unfused_ps"), 5 * N);
	assert_int_equal(ts_value_int(cell(given, "unfused", 0, "impact_ps")), 2 * N);
	given_free(given);
}

/* x -> first -> second, which is the root. */
TEST(test_opcodes_layouts_and_places_give_the_reason)
{
	static const struct {
		const char *first, *shape, *second, *last_shape, *code;
	} rows[] = {
		{ "all-reduce", VEC, "negate", VEC, "collective" },
		{ "negate", VEC, "all-gather-start", VEC, "collective" },
		{ "custom-call", VEC, "negate", VEC, "custom_call" },
		{ "negate", VEC, "sort", VEC, "sort" },
		{ "fft", VEC, "negate", VEC, "whole_op" },
		{ "negate", VEC, "copy", VEC, "copy" },
		{ "negate", VEC, "copy", TURNED, "layout" },
		{ "transpose", VEC, "negate", VEC, "layout" },
		{ "negate", VEC, "copy-start", ON_CHIP, "async" },
		{ "negate", VEC, "outfeed", VEC, "host_transfer" },
		{ "negate", VEC, "copy", "f32[1024,128]{1,0:T(8,128)S(5)}", "host_transfer" },
		{ "dot", VEC, "convolution", VEC, "two_products" },
		{ "negate", VEC, "dot", VEC, "before_product" },
		{ "dot", VEC, "negate", VEC, "after_product" },
		{ "scatter", VEC, "negate", VEC, "gather" },
		{ "reduce", VEC, "negate", VEC, "reduce" },
		{ "dynamic-update-slice", VEC, "negate", VEC, "in_place" },
		{ "negate", VEC, "add", VEC, "unknown" },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct given *given = given_new();
		size_t comp = make_comp(&given->make, "main");

		make_param(&given->make, 0, VEC, 10);
		make_op(&given->make, "first", rows[i].first, rows[i].shape, 11, 1,
			(int64_t[]){ 10 });
		make_op(&given->make, "second", rows[i].second, rows[i].last_shape, 12, 1,
			(int64_t[]){ 11 });
		make_end_comp(&given->make, comp, 1, 12);
		given_module(given, make_end(&given->make, 1));
		run(given);
		assert_int_equal(nr_rows(given, "unfused"), 1);
		assert_pair(given, "first", "second", rows[i].code, 2 * N);
		assert_true(cell(given, "unfused", 0, "reason").as.s.n > 0);
		given_free(given);
	}
}

/* a is given out, so its write stays: fusing saves the read alone. */
TEST(test_what_a_module_gives_out_is_written_anyway)
{
	struct given *given = given_new();
	size_t comp = make_comp(&given->make, "main");

	make_param(&given->make, 0, VEC, 10);
	make_op(&given->make, "a", "negate", VEC, 11, 1, (int64_t[]){ 10 });
	make_op(&given->make, "b", "abs", VEC, 12, 1, (int64_t[]){ 11 });
	make_op(&given->make, "out", "tuple", "(" VEC ", " VEC ")", 13, 2, (int64_t[]){ 11, 12 });
	make_end_comp(&given->make, comp, 1, 13);
	given_module(given, make_end(&given->make, 1));
	run(given);
	assert_int_equal(nr_rows(given, "unfused"), 1);
	assert_pair(given, "a", "b", "output", N);
	given_free(given);
}

/* On the chip, of one element, or of an argument: nothing passes HBM between two ops. */
TEST(test_what_stays_on_chip_is_no_pair)
{
	struct given *given = given_new();
	size_t comp = make_comp(&given->make, "main");

	make_param(&given->make, 0, VEC, 10);
	make_op(&given->make, "a", "negate", ON_CHIP, 11, 1, (int64_t[]){ 10 });
	make_op(&given->make, "s", "reduce", "f32[]{:T(128)}", 12, 1, (int64_t[]){ 11 });
	make_op(&given->make, "b", "add", VEC, 13, 2, (int64_t[]){ 11, 12 });
	make_end_comp(&given->make, comp, 1, 13);
	given_module(given, make_end(&given->make, 1));
	run(given);
	assert_int_equal(nr_rows(given, "unfused"), 0);
	assert_int_equal(field(given, "unfused_count"), 0);
	given_free(given);
}

/* m, e and r in one kernel: m would be written once and read twice, e written and read. */
static size_t make_fused(struct make *make)
{
	size_t comp = make_comp(make, "fused");

	make_param(make, 0, VEC, 100);
	make_op(make, "one", "constant", "f32[]{:T(128)}", 101, 0, NULL);
	make_op(make, "ones", "broadcast", VEC, 102, 1, (int64_t[]){ 101 });
	make_op(make, "m", "multiply", VEC, 103, 2, (int64_t[]){ 100, 102 });
	make_op(make, "e", "exponential", VEC, 104, 1, (int64_t[]){ 103 });
	make_op(make, "r", "add", VEC, 105, 2, (int64_t[]){ 103, 104 });
	ts_pbw_u64(&make->out, 7, 1);
	make_end_comp(make, comp, 7, 105);
	return make_comp(make, "main");
}

/* The fusion holds m, e, r and a broadcast: 4 ops, and neg beside it: 5 ops in 2 kernels. */
TEST(test_what_is_inside_a_fusion_is_kept_out_of_hbm)
{
	struct given *given = given_new();
	size_t comp = make_fused(&given->make);

	make_param(&given->make, 0, VEC, 10);
	make_begin_op(&given->make, "f", "fusion", VEC, 11, 1, (int64_t[]){ 10 });
	ts_pbw_text(&given->make.out, 11, TS_LIT("kLoop"));
	ts_pbw_i64(&given->make.out, 38, 7);
	make_end_op(&given->make);
	make_op(&given->make, "same", "bitcast", VEC, 12, 1, (int64_t[]){ 11 });
	make_op(&given->make, "neg", "negate", VEC, 13, 1, (int64_t[]){ 12 });
	make_end_comp(&given->make, comp, 1, 13);
	given_module(given, make_end(&given->make, 1));
	run(given);
	assert_int_equal(field(given, "fused_count"), 1);
	assert_int_equal(field(given, "saved_bytes"), 5 * N);
	assert_true(ts_value_number(ts_result_get(given->result, "instructions_per_kernel")) ==
		    2.5);
	assert_int_equal(nr_rows(given, "kinds"), 1);
	assert_true(ts_bytes_is(cell(given, "kinds", 0, "kind").as.s, "loop"));
	assert_int_equal(ts_value_int(cell(given, "kinds", 0, "ops")), 4);
	assert_pair(given, "f", "neg", "unknown", 2 * N);
	given_free(given);
}

#define STATE "(" VEC ", " VEC ")"

/* body(acc, w) = (acc + w, w): acc is carried, w is not changed. */
static void make_loop(struct make *make)
{
	size_t comp = make_comp(make, "body");

	make_param(make, 0, STATE, 100);
	make_begin_op(make, "acc", "get-tuple-element", VEC, 101, 1, (int64_t[]){ 100 });
	make_end_op(make);
	make_begin_op(make, "w", "get-tuple-element", VEC, 102, 1, (int64_t[]){ 100 });
	ts_pbw_i64(&make->out, 13, 1);
	make_end_op(make);
	make_op(make, "sum", "add", VEC, 103, 2, (int64_t[]){ 101, 102 });
	make_op(make, "next", "tuple", STATE, 104, 2, (int64_t[]){ 103, 102 });
	make_end_comp(make, comp, 7, 104);
	comp = make_comp(make, "main");
	make_param(make, 0, VEC, 10);
	make_op(make, "weights", "negate", VEC, 11, 1, (int64_t[]){ 10 });
	make_op(make, "init", "tuple", STATE, 12, 2, (int64_t[]){ 10, 11 });
	make_caller(make, "loop", "while", STATE, 13, 1, (int64_t[]){ 12 }, 7);
	make_op(make, "last", "get-tuple-element", VEC, 14, 1, (int64_t[]){ 13 });
	make_op(make, "after", "abs", VEC, 15, 1, (int64_t[]){ 14 });
	make_end_comp(make, comp, 1, 15);
}

/* sum is read by the next trip and after the loop; weights goes in once and is read by sum. */
TEST(test_arrays_are_followed_into_loops_and_out)
{
	struct given *given = given_new();

	make_loop(&given->make);
	given_module(given, make_end(&given->make, 1));
	run(given);
	assert_int_equal(nr_rows(given, "unfused"), 3);
	assert_pair(given, "weights", "sum", "control", 2 * N);
	assert_pair(given, "sum", "sum", "loop_carried", N + N / 2);
	assert_pair(given, "sum", "after", "control", N + N / 2);
	given_free(given);
}

/* A slice of eight rows reads 4096 bytes of what is there. */
TEST(test_a_slice_reads_what_it_takes)
{
	struct given *given = given_new();
	size_t comp = make_comp(&given->make, "main");

	make_param(&given->make, 0, VEC, 10);
	make_param(&given->make, 1, SCALAR, 11);
	make_op(&given->make, "a", "negate", VEC, 12, 1, (int64_t[]){ 10 });
	make_op(&given->make, "part", "dynamic-slice", "f32[8,128]{1,0:T(8,128)}", 13, 3,
		(int64_t[]){ 12, 11, 11 });
	make_end_comp(&given->make, comp, 1, 13);
	given_module(given, make_end(&given->make, 1));
	run(given);
	assert_int_equal(nr_rows(given, "unfused"), 1);
	assert_pair(given, "a", "part", "unknown", N + 4096);
	given_free(given);
}

/*
 * Ten executions. a and c have time enough for all that they write and read: 10 N bytes, 5.24 us, a
 * pair and direction, half of it for a write with two readers. b has 2 us for the 5.24 us that it
 * reads and the 5.24 us that it writes: each of its pairs gets half of its time.
 */
TEST(test_time_is_never_more_than_the_ops_took)
{
	struct given *given = given_new();
	int64_t read = 10 * N, share = 10 * N / 2;

	make_diamond(&given->make);
	given_module(given, make_end(&given->make, 1));
	given_times(given);
	given_time(given, 0, "a", 10, 100 * US);
	given_time(given, 0, "b", 10, 2 * US);
	given_time(given, 0, "c", 10, 100 * US);
	run(given);
	assert_int_equal(ts_value_int(cell(given, "unfused", pair(given, "a", "c"), "impact_ps")),
			 read + share);
	assert_int_equal(ts_value_int(cell(given, "unfused", pair(given, "a", "b"), "impact_ps")),
			 US + share);
	assert_int_equal(ts_value_int(cell(given, "unfused", pair(given, "b", "c"), "impact_ps")),
			 read + US);
	assert_int_equal(field(given, "unfused_ps"), 2 * read + 2 * share + 2 * US);
	assert_int_equal(ts_value_int(cell(given, "unfused", 0, "executions")), 10);
	assert_int_equal(field(given, "unfused_bytes"), 50 * N);
	given_free(given);
}

/*
 * At 100 TFLOP/s, 10 us of FLOPs. a has 12 us of bytes: 2 us of them, and of the 5.24 us that it
 * writes, could go. c has 8 us of bytes, which move while it computes: nothing. b computes nothing.
 */
TEST(test_bytes_that_move_behind_flops_cost_no_time)
{
	struct given *given = given_new();
	const int64_t flops = 100000000, read = 10 * N;

	make_diamond(&given->make);
	given_module(given, make_end(&given->make, 1));
	given_times(given);
	given_work(given_time(given, 0, "a", 10, 100 * US), flops, 12 * US);
	given_time(given, 0, "b", 10, 100 * US);
	given_work(given_time(given, 0, "c", 10, 100 * US), flops, 8 * US);
	run(given);
	assert_int_equal(ts_value_int(cell(given, "unfused", pair(given, "a", "c"), "impact_ps")),
			 US);
	assert_int_equal(ts_value_int(cell(given, "unfused", pair(given, "a", "b"), "impact_ps")),
			 read + US);
	assert_int_equal(ts_value_int(cell(given, "unfused", pair(given, "b", "c"), "impact_ps")),
			 read);
	given_free(given);
}

TEST(test_an_unknown_rate_leaves_the_time_unknown)
{
	struct given *given = given_new();

	make_diamond(&given->make);
	given_module(given, make_end(&given->make, 1));
	given_times(given);
	given->rates.hbm_bytes_per_s = NAN;
	given_time(given, 0, "a", 10, US);
	given_time(given, 0, "b", 10, US);
	run(given);
	assert_int_equal(nr_rows(given, "unfused"), 1); /* c did not run */
	assert_int_equal(cell(given, "unfused", 0, "impact_ps").type, TS_VALUE_NULL);
	assert_int_equal(ts_result_get(given->result, "unfused_ps").type, TS_VALUE_NULL);
	assert_int_equal(field(given, "unfused_bytes"), 15 * N);
	given_free(given);
}

TEST(test_only_modules_that_ran_count)
{
	struct given *given = given_new();

	make_diamond(&given->make);
	given_module(given, make_end(&given->make, 1));
	given_module(given, ts_buf_bytes(&given->make.out));
	given_times(given);
	given_time(given, 1, "a", 1, 100 * US);
	given_time(given, 1, "b", 1, 100 * US);
	given_time(given, 1, "c", 1, 100 * US);
	run(given);
	assert_int_equal(field(given, "unfused_count"), 3);
	assert_int_equal(field(given, "unfused_bytes"), 5 * N);
	given_free(given);
}

TEST(test_a_capture_where_nothing_ran_says_nothing)
{
	struct given *given = given_new();

	make_diamond(&given->make);
	given_module(given, make_end(&given->make, 1));
	given_times(given);
	run(given);
	assert_int_equal(ts_result_get(given->result, "fused_count").type, TS_VALUE_NULL);
	assert_int_equal(given->result->nr_tables, 0);
	given_free(given);
}

/* Six ops, the fourth of them long: three are no chain, and neither are two. Then all are tiny. */
static void check_series(int64_t fourth_ps, size_t nr, int64_t time_ps)
{
	static const char *const names[] = { "o1", "o2", "o3", "o4", "o5", "o6" };
	struct given *given = given_new();
	size_t comp = make_comp(&given->make, "main");

	make_param(&given->make, 0, VEC, 10);
	for (int64_t i = 0; i < 6; i++)
		make_op(&given->make, names[i], "negate", VEC, 11 + i, 1, (int64_t[]){ 10 + i });
	make_end_comp(&given->make, comp, 1, 16);
	given_module(given, make_end(&given->make, 1))->is_scheduled = true;
	given_times(given);
	for (size_t i = 0; i < TS_NELEM(names); i++)
		given_time(given, 0, names[i], 10, i == 3 ? 10 * fourth_ps : 10 * US);
	run(given);
	assert_int_equal(nr_rows(given, "chains"), nr);
	if (nr > 0) {
		assert_true(ts_bytes_is(cell(given, "chains", 0, "first").as.s, "o1"));
		assert_true(ts_bytes_is(cell(given, "chains", 0, "last").as.s, "o6"));
		assert_int_equal(ts_value_int(cell(given, "chains", 0, "ops")), 6);
		assert_int_equal(ts_value_int(cell(given, "chains", 0, "time_ps")), time_ps);
		assert_int_equal(ts_value_int(cell(given, "chains", 0, "mean_ps")), time_ps / 60);
	}
	given_free(given);
}

TEST(test_tiny_ops_in_series_are_one_group)
{
	check_series(US, 1, 60 * US);
	check_series(2 * US, 0, 0); /* small_op_time: not below it */
}

/* Every op once: what passes between them is never more than what all of them move. */
static void check_bounds(struct given *given, const char *file)
{
	const struct ts_hlo_module *module = &given->profile.modules[0];
	bool *inner = ts_hlo_inner_comps(module);
	int64_t moved = 0, bytes = 0;

	assert_non_null(inner);
	for (uint32_t i = 0; i < module->nr_instrs; i++)
		if (!inner[module->instrs[i].computation])
			moved = ts_i64_add(moved, ts_hlo_cost(module, i).hbm_bytes);
	free(inner);
	for (size_t i = 0; i < nr_rows(given, "unfused"); i++)
		bytes = ts_i64_add(bytes, ts_value_int(cell(given, "unfused", i, "bytes")));
	if (bytes > moved)
		fail_msg("%s: %lld bytes between ops, %lld in all", file, (long long)bytes,
			 (long long)moved);
	assert_true(field(given, "saved_bytes") >= 0);
}

TEST(test_modules_of_libtpu_stay_in_bounds)
{
	static const char *const names[] = { "attn",   "conv", "dp",	"embed", "f32mm",
					     "int8mm", "mlp",  "remat", "scan",	 "tp" };

	for (size_t i = 0; i < 2 * TS_NELEM(names); i++) {
		struct given *given = given_new();
		struct ts_bytes file;
		char path[128];

		snprintf(path, sizeof(path), "hlo/%s_%s.hlo_proto.pb", i % 2 ? "v5e" : "v6e",
			 names[i / 2]);
		file = corpus_file(&given->profile.arena, path);
		if (!file.p) {
			given_free(given);
			print_message("no corpus here\n");
			skip();
		}
		given_module(given, file);
		run(given);
		check_bounds(given, path);
		given_free(given);
	}
}
