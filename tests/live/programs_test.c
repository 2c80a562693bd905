/* SPDX-License-Identifier: MIT */
/* Functions that are compiled again and again: samples are made here, so answers are by hand. */
#include "tests/test.h"
#include "live/programs.h"
#include "result/schema/cache.def"
#include "result/schema/ops.def"
#include "tests/result/named.h"

#include "analysis/settings.h"
#include "analysis/settings_list.h"

#define MAX_ROWS 16

/* A program that a sample has; is_compiled: it was seen being compiled, too. */
struct row {
	const char *module;
	uint64_t id;
	bool is_compiled;
};

struct given {
	struct ts_settings settings;
	struct ts_alerts alerts;
	struct ts_programs programs;
	struct ts_profile profile;
	int64_t now_ms;
	char title[512]; /* the latest alert's title */
	char evidence[512];
	size_t nr_raised;
};

static void note(void *ctx, const struct ts_alert *alert)
{
	struct given *given = ctx;

	assert_string_equal(alert->rule, "recompilation");
	if (!alert->is_active)
		return;
	given->nr_raised++;
	snprintf(given->title, sizeof(given->title), "%.*s", TS_ARG(ts_buf_bytes(&alert->title)));
	snprintf(given->evidence, sizeof(given->evidence), "%.*s",
		 TS_ARG(ts_buf_bytes(&alert->evidence)));
}

/* Nothing is cleared while a test lasts, unless it waits that long. */
static void begin(struct given *given)
{
	memset(given, 0, sizeof(*given));
	ts_settings_init(&given->settings);
	ts_alerts_init(&given->alerts, &given->settings, 0, 0);
	ts_profile_init(&given->profile);
	given->now_ms = 1000;
}

static void end(struct given *given)
{
	ts_alerts_release(&given->alerts);
	ts_programs_release(&given->programs);
	ts_profile_release(&given->profile);
}

static void put_modules(struct ts_results *results, const struct row *rows, size_t nr)
{
	struct ts_result *ops = TS_ADD(results, ops);
	struct ts_table *table = TS_TABLE(ops, ops_modules);

	for (size_t i = 0; i < nr; i++)
		TS_PUT_ROW(ops, table, ops_modules, .name = ts_text(ts_bytes_of(rows[i].module)),
			   .program_id = ts_id(rows[i].id));
}

static void put_compilations(struct ts_results *results, const struct row *rows, size_t nr)
{
	struct ts_result *cache = TS_ADD(results, cache);
	struct ts_table *table = TS_TABLE(cache, cache_compilations);

	for (size_t i = 0; i < nr; i++)
		TS_PUT_ROW(cache, table, cache_compilations,
			   .module = ts_text(ts_bytes_of(rows[i].module)),
			   .outcome = ts_text(rows[i].is_compiled ? TS_LIT("compiled")
								  : TS_LIT("hit")));
}

/* The analysis of variants knows two shapes of each function. */
static void put_families(struct ts_results *results, const struct row *rows, size_t nr)
{
	struct ts_result *cache = result_named(results, "cache");
	struct ts_table *table = TS_TABLE(cache, cache_families);

	for (size_t i = 0; i < nr; i++) {
		struct ts_value *items, shapes = ts_result_list(cache, NULL, 0, 2, &items);

		items[0] = ts_text(TS_LIT("f32[3,4]"));
		items[1] = ts_text(TS_LIT("f32[5,4]"));
		TS_PUT_ROW(cache, table, cache_families,
			   .name = ts_text(ts_module_stem(ts_bytes_of(rows[i].module))),
			   .parameter_shapes = shapes, .differs = ts_text(TS_LIT("shape")));
	}
}

static bool take_with(struct given *given, const struct row *rows, size_t nr, bool has_modules,
		      bool has_shapes)
{
	struct ts_look look = { .steps = NULL };
	struct ts_results results;
	bool unknown;

	ts_results_init(&results);
	put_modules(&results, rows, nr);
	put_compilations(&results, rows, nr);
	if (has_shapes)
		put_families(&results, rows, nr);
	given->now_ms += 600;
	ts_alerts_begin(&given->alerts, given->now_ms);
	assert_int_equal(ts_programs_sample(&given->programs, &given->profile, &results, &look,
					    has_modules, given->now_ms, &unknown, NULL),
			 TS_OK);
	assert_int_equal(ts_programs_judge(&given->programs, &given->alerts, &given->profile,
					   &results, given->now_ms, NULL),
			 TS_OK);
	ts_alerts_end(&given->alerts, true, note, given);
	ts_results_release(&results);
	return unknown;
}

static bool take(struct given *given, const struct row *rows, size_t nr, bool has_modules)
{
	return take_with(given, rows, nr, has_modules, true);
}

/* A sample whose programs are F's 1..NR. */
static void take_nr(struct given *given, const char *module, uint64_t nr)
{
	struct row rows[MAX_ROWS];

	assert_in_range(nr, 1, MAX_ROWS);
	for (uint64_t i = 0; i < nr; i++)
		rows[i] = (struct row){ module, i + 1, false };
	take(given, rows, nr, true);
}

TEST(programs_of_the_first_sample_are_not_new)
{
	struct given given;

	begin(&given);
	for (int i = 0; i < 10; i++)
		take_nr(&given, "jit_train_step", 5);
	assert_int_equal(given.nr_raised, 0);
	end(&given);
}

TEST(a_third_program_is_reported_in_the_sample_that_has_it)
{
	struct given given;

	begin(&given);
	take_nr(&given, "jit_train_step", 2);
	take_nr(&given, "jit_train_step", 3);
	assert_int_equal(given.nr_raised, 1);
	assert_string_equal(given.title, "train_step was recompiled while the job ran");
	assert_string_equal(given.evidence,
			    "jit_train_step has 3 programs, 1 of them made while "
			    "it was watched. They differ in shape: f32[3,4], f32[5,4].");
	end(&given);
}

/* JAX's own function has no meaning to a user: the line that made it has. */
TEST(the_line_of_the_newest_module_is_named)
{
	struct ts_hlo_instr instrs[] = { { .name = TS_LIT("param") },
					 { .name = TS_LIT("broadcast"),
					   .source_file = TS_LIT("train.py"),
					   .source_line = 42 } };
	struct ts_hlo_comp comp = { .root = 1 };
	struct given given;
	struct ts_hlo_module *module;

	begin(&given);
	module = ts_profile_add_module(&given.profile, 1);
	module->name = TS_LIT("jit_broadcast_in_dim.1");
	module->comps = &comp;
	module->nr_comps = 1;
	module->instrs = instrs;
	module->nr_instrs = TS_NELEM(instrs);
	for (uint64_t nr = 1; nr <= 7; nr++)
		take_nr(&given, "jit_broadcast_in_dim", nr);
	assert_int_equal(given.nr_raised, 1);
	assert_non_null(strstr(given.evidence, " Its code is at train.py:42."));
	end(&given);
}

/* A job that was steady for long: the new programs are seen before their modules are asked for. */
TEST(without_shapes_it_is_reported_a_sample_later_and_with_them)
{
	const struct row before[] = { { "jit_f", 1, false } };
	const struct row after[] = { { "jit_f", 1, false },
				     { "jit_f", 2, false },
				     { "jit_f", 3, false } };
	struct given given;

	begin(&given);
	take_with(&given, before, 1, true, false);
	take_with(&given, after, 3, true, false);
	assert_int_equal(given.nr_raised, 0);
	take(&given, after, 3, true); /* nothing new in it, but the shapes */
	assert_int_equal(given.nr_raised, 1);
	assert_non_null(strstr(given.evidence, "f32[3,4], f32[5,4]"));
	take(&given, after, 3, true);
	assert_int_equal(given.nr_raised, 1);
	end(&given);
}

TEST(shapes_that_do_not_come_are_not_waited_for)
{
	const struct row before[] = { { "jit_f", 1, false } };
	const struct row after[] = { { "jit_f", 1, false },
				     { "jit_f", 2, false },
				     { "jit_f", 3, false } };
	struct given given;

	begin(&given);
	take_with(&given, before, 1, true, false);
	take_with(&given, after, 3, true, false);
	take_with(&given, after, 3, true, false);
	assert_int_equal(given.nr_raised, 1);
	end(&given);
}

TEST(a_second_program_is_reported_when_it_was_not_the_first_growth)
{
	const struct row once[] = { { "jit_f", 1, false } };
	const struct row twice[] = { { "jit_f", 1, false }, { "jit_f", 2, false } };
	const struct row again[] = { { "jit_f", 1, false }, { "jit_f", 2, true } };
	struct given given;

	begin(&given);
	take(&given, once, 1, true);
	take(&given, twice, 2, true); /* an evaluation begins, say */
	assert_int_equal(given.nr_raised, 0);
	take(&given, again, 2, true);
	assert_int_equal(given.nr_raised, 1);
	end(&given);
}

TEST(growths_that_are_long_ago_do_not_count)
{
	const struct row twice[] = { { "jit_f", 1, false }, { "jit_f", 2, false } };
	const struct row again[] = { { "jit_f", 1, false }, { "jit_f", 2, true } };
	struct given given;

	begin(&given);
	take(&given, twice, 1, true);
	take(&given, twice, 2, true);
	given.now_ms += 10000;
	take(&given, again, 2, true);
	assert_int_equal(given.nr_raised, 0);
	end(&given);
}

TEST(a_cache_hit_is_not_a_compilation)
{
	const struct row rows[] = { { "jit_f", 1, false }, { "jit_f", 2, false } };
	struct given given;

	begin(&given);
	for (int i = 0; i < 10; i++)
		take(&given, rows, 2, true);
	assert_int_equal(given.nr_raised, 0);
	end(&given);
}

TEST(the_frameworks_own_functions_must_go_on_growing)
{
	static const char *const names[] = { "jit_add", "jit__normal", "jit_convert_element_type" };

	for (size_t i = 0; i < TS_NELEM(names); i++) {
		struct given given;

		begin(&given);
		for (uint64_t nr = 1; nr <= 6; nr++)
			take_nr(&given, names[i], nr);
		assert_int_equal(given.nr_raised, 0); /* five growths */
		take_nr(&given, names[i], 7);
		assert_int_equal(given.nr_raised, 1);
		end(&given);
	}
}

TEST(of_two_functions_the_one_with_more_programs_is_named)
{
	const struct row before[] = { { "jit_f", 1, false },
				      { "jit_f", 2, false },
				      { "jit_g", 3, false },
				      { "jit_g", 4, false },
				      { "jit_g", 5, false } };
	const struct row after[] = { { "jit_f", 1, false }, { "jit_f", 2, false },
				     { "jit_g", 3, false }, { "jit_g", 4, false },
				     { "jit_g", 5, false }, { "jit_f", 6, false },
				     { "jit_g", 7, false } };
	struct given given;

	begin(&given);
	take(&given, before, TS_NELEM(before), true);
	take(&given, after, TS_NELEM(after), true);
	assert_string_equal(given.title, "g was recompiled while the job ran");
	end(&given);
}

TEST(names_with_a_number_or_an_id_are_one_function)
{
	const struct row before[] = { { "jit_f", 1, false }, { "jit_f.1", 2, false } };
	const struct row after[] = { { "jit_f", 1, false },
				     { "jit_f.1", 2, false },
				     { "jit_f(3)", 3, false } };
	struct given given;

	begin(&given);
	take(&given, before, 2, true);
	take(&given, after, 3, true);
	assert_int_equal(given.nr_raised, 1);
	end(&given);
}

/* The modules of a server that came back are asked for in its second sample: nothing of them is
 * new. */
TEST(a_sample_without_modules_makes_nothing_new)
{
	struct given given;

	begin(&given);
	take(&given, NULL, 0, false);
	take_nr(&given, "jit_train_step", 5);
	assert_int_equal(given.nr_raised, 0);
	take_nr(&given, "jit_train_step", 6);
	assert_int_equal(given.nr_raised, 1);
	end(&given);
}

TEST(another_process_begins_anew)
{
	struct given given;

	begin(&given);
	take_nr(&given, "jit_train_step", 2);
	ts_programs_reset(&given.programs);
	take_nr(&given, "jit_train_step", 9);
	take_nr(&given, "jit_train_step", 9);
	assert_int_equal(given.nr_raised, 0);
	end(&given);
}

/* A program that ran and has no module: the next sample asks for modules. */
TEST(what_ran_without_a_module_is_asked_for)
{
	struct ts_look_program program = { 77, TS_LIT("jit_new"), 0 };
	struct ts_look look = { .programs = &program, .nr_programs = 1 };
	struct ts_results results;
	struct given given;
	bool unknown;

	begin(&given);
	assert_false(take(&given, NULL, 0, true));
	ts_results_init(&results);
	assert_int_equal(ts_programs_sample(&given.programs, &given.profile, &results, &look, true,
					    5000, &unknown, NULL),
			 TS_OK);
	assert_true(unknown);
	ts_results_release(&results);
	end(&given);
}

TEST(any_number_of_functions_is_bounded)
{
	struct given given;

	begin(&given);
	for (uint64_t i = 0; i < 70000; i += MAX_ROWS) {
		char names[MAX_ROWS][300];
		struct row rows[MAX_ROWS];

		for (uint64_t k = 0; k < MAX_ROWS; k++) {
			memset(names[k], 'x', 299);
			snprintf(names[k], 16, "jit_%llu", (unsigned long long)(i + k));
			names[k][strlen(names[k])] = '_';
			names[k][299] = '\0';
			rows[k] = (struct row){ names[k], i + k, true };
		}
		take(&given, rows, MAX_ROWS, true);
		assert_in_range(given.programs.known.nr, 1, 66000);
		assert_in_range(given.programs.nr, 1, TS_MAX_FUNCTIONS);
	}
	end(&given);
}
