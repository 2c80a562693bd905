/* SPDX-License-Identifier: MIT */
/* The doctor's rules about compilations, from the facts of the cache. Total: 1000 ms of one core. */
#include "tests/analysis/doctor/doctor_given.h"

#include "analysis/facts/cache.h"

static struct ts_cache_compilation rows[8];
static struct ts_cache_family families[4];
static struct ts_cache_facts cache;

static void given_compilations(struct given *run)
{
	static const int64_t ms[TS_NR_BUCKETS] = {
		[TS_BUCKET_COMPUTE] = 700, [TS_BUCKET_COMPILATION] = 300
	};

	given_nothing(run);
	given_devices(run, 1);
	given_time(run, ms);
	cache = (struct ts_cache_facts){ .compilations = rows, .families = families };
	run->ctx.facts[ts_id_cache] = &cache;
}

static void given_compilation(const char *module, int64_t start_ms, int64_t ms, bool is_again)
{
	rows[cache.nr_compilations++] =
		(struct ts_cache_compilation){ ts_bytes_of(module), start_ms * MS, ms * MS, -1,
					       is_again };
	cache.nr_compiled++;
	cache.nr_again += is_again;
}

/* A function of which AGAIN of COMPILED compilations were not the first, and cost WAIT_MS. */
static struct ts_cache_family *given_family(const char *stem, int64_t compiled, int64_t again,
					    int64_t wait_ms)
{
	struct ts_cache_family *family = &families[cache.nr_families++];

	*family = (struct ts_cache_family){ .stem = ts_bytes_of(stem),
					    .nr_variants = (size_t)compiled,
					    .nr_compiled = compiled,
					    .compile_ps = 10 * MS,
					    .nr_again = again,
					    .wait_ps = wait_ms * MS,
					    .again_wait_ps = again ? wait_ms * MS : -1,
					    .nr_calls = -1 };
	return family;
}

/* The finding whose title begins with this name; NULL: there is not one. */
static const struct ts_finding *about(const struct ts_result *doctor, const char *name)
{
	for (size_t i = 0; i < doctor->nr_findings; i++)
		if (strcmp(doctor->findings[i].rule, "recompilation") == 0 &&
		    ts_bytes_starts(doctor->findings[i].title, name))
			return &doctor->findings[i];
	return NULL;
}

static void assert_times(const struct ts_result *doctor, const struct ts_finding *finding,
			 const int64_t (*ms)[2], size_t nr)
{
	const struct ts_table *ranges = ts_result_find_table(doctor, "ranges");
	size_t at = 0;

	for (size_t i = 0; i < ranges->nr_rows; i++) {
		if (!ts_bytes_eq(ts_cell_text(ranges, i, "finding"), finding->id))
			continue;
		assert_true(at < nr);
		assert_int_equal(ts_cell(ranges, i, "start_ps").as.i, ms[at][0] * MS);
		assert_int_equal(ts_cell(ranges, i, "end_ps").as.i, ms[at][1] * MS);
		at++;
	}
	assert_int_equal(at, nr);
}

TEST(a_finding_has_the_times_of_its_own_function)
{
	static const int64_t f_ms[][2] = { { 200, 250 }, { 500, 600 } },
			     h_ms[][2] = { { 700, 780 } };
	const struct ts_result *doctor;
	struct given run;

	given_compilations(&run);
	given_compilation("jit_f", 0, 50, false);
	given_compilation("jit_h", 100, 60, false);
	given_compilation("jit_f(22)", 200, 50, true);
	given_compilation("jit_g", 300, 90, false);
	given_compilation("jit_f", 500, 100, true);
	given_compilation("jit_h", 700, 80, true);
	given_family("jit_f", 3, 2, 150);
	given_family("jit_h", 2, 1, 80);
	doctor = when_examined(&run);
	assert_times(doctor, about(doctor, "jit_f was compiled 3 times"), f_ms, 2);
	assert_times(doctor, about(doctor, "jit_h was compiled 2 times"), h_ms, 1);
	assert_null(about(doctor, "jit_g"));
	assert_int_equal(about(doctor, "jit_f")->impact_ps, 150 * MS);
	given_release(&run);
}

TEST(the_first_compilation_in_a_late_step_is_not_a_recompilation)
{
	const struct ts_result *doctor;
	struct given run;

	given_compilations(&run);
	given_step(&run, 10, 0, 300, 0, 0);
	given_step(&run, 11, 300, 700, 0, 300);
	given_compilation("jit_evaluate", 350, 300, false);
	given_family("jit_evaluate", 1, 0, 300);
	doctor = when_examined(&run);
	assert_null(about(doctor, ""));
	assert_non_null(finding_of(doctor, "compilation")); /* its time is told all the same */
	given_release(&run);
}

TEST(the_step_that_waits_is_named)
{
	const struct ts_result *doctor;
	struct given run;

	given_compilations(&run);
	given_step(&run, 10, 0, 300, 0, 0);
	given_step(&run, 11, 300, 300, 0, 0); /* the host compiles ahead of the device */
	given_step(&run, 12, 600, 400, 0, 300);
	given_compilation("jit_f", 350, 500, true);
	given_family("jit_f", 1, 1, 300);
	doctor = when_examined(&run);
	assert_true(
		ts_bytes_has(about(doctor, "jit_f was recompiled; step 12 waited for it")->evidence,
			     "It had an executable already. The devices lose 300 core-ms by it."));
	given_release(&run);
}

TEST(a_static_argument_that_changes_is_told_with_counts_and_calls)
{
	static const unsigned differences[] = { TS_DIFFERS_CODE, TS_DIFFERS_CONSTANT,
						TS_DIFFERS_CODE | TS_DIFFERS_SHAPE };

	for (size_t i = 0; i < TS_NELEM(differences); i++) {
		const struct ts_finding *finding;
		struct ts_cache_family *family;
		struct given run;
		bool is_static = !(differences[i] & TS_DIFFERS_SHAPE);

		given_compilations(&run);
		given_compilation("jit_h", 700, 80, true);
		family = given_family("jit_h", 3, 2, 80);
		family->differences = differences[i];
		family->nr_calls = 5;
		finding = about(when_examined(&run), "jit_h was compiled 3 times");
		assert_int_equal(finding->confidence, TS_LIKELY);
		assert_int_equal(ts_bytes_has(finding->title, "for parameters of the same shapes"),
				 is_static);
		assert_int_equal(ts_bytes_has(finding->evidence, "3 compilations in 5 calls"),
				 is_static);
		assert_int_equal(ts_bytes_has(finding->advice, "closes over"), is_static);
		given_release(&run);
	}
}
