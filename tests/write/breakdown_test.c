/* SPDX-License-Identifier: MIT */
/* The breakdown: its form, and that what is shown adds up. */
#include "tests/test.h"
#include "base/units.h"
#include "write/breakdown.h"

#include "sample.h"

static const char golden[] = "  Total Time: 125.32 ms\n"
			     "  Compute            85.20 ms   68.0%\n"
			     "  Memory Wait        25.50 ms   20.3%\n"
			     "  Compilation        10.12 ms    8.1%\n"
			     "  Rematerialization   4.50 ms    3.6%\n"
			     "  Bottleneck: Your workload is compute-bound (good for TPU!)\n";

static void assert_text(struct ts_buf *out, const char *expected)
{
	ts_buf_putc(out, '\0');
	assert_false(out->failed);
	assert_string_equal((char *)out->p, expected);
	ts_buf_release(out);
}

TEST(block_has_the_form_it_was_asked_for_in)
{
	static const struct ts_breakdown_row rows[] = {
		{ "Compute", 85200 * TS_PS_PER_US },
		{ "Memory Wait", 25500 * TS_PS_PER_US },
		{ "Idle", 0 },
		{ "Compilation", 10120 * TS_PS_PER_US },
		{ "Rematerialization", 4500 * TS_PS_PER_US },
	};
	struct ts_buf out = TS_BUF_INIT;

	ts_breakdown_text(&out, rows, TS_NELEM(rows), 125320 * TS_PS_PER_US,
			  "Your workload is compute-bound (good for TPU!)", 0);
	assert_text(&out, golden);
}

TEST(result_of_the_time_analysis_is_sorted_by_time)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	sample_make(&results); /* names remat before compilation */
	assert_true(ts_breakdown_of_time(&out, ts_results_find(&results, "time"), 0));
	assert_text(&out, golden);
	ts_results_release(&results);
}

TEST(without_a_total_there_is_no_block)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;

	sample_make(&results);
	assert_false(ts_breakdown_of_time(&out, ts_results_find(&results, "doctor"), 0));
	assert_false(ts_breakdown_of_time(&out, NULL, 0));
	assert_int_equal(out.n, 0);
	ts_results_release(&results);
}

TEST(unit_follows_the_total)
{
	static const struct {
		int64_t ps;
		const char *total, *row;
	} cases[] = {
		{ 100 * TS_PS_PER_S, "Total Time: 100.00 s\n",
		  "  Compute           100.00 s  100.0%\n" },
		{ 99999 * TS_PS_PER_MS, "Total Time: 99999.00 ms\n",
		  "  Compute           99999.00 ms  100.0%\n" },
		{ 100 * TS_PS_PER_US, "Total Time: 0.10 ms\n",
		  "  Compute             0.10 ms  100.0%\n" },
		{ 99 * TS_PS_PER_US, "Total Time: 99.00 \u00b5s\n",
		  "  Compute            99.00 \u00b5s  100.0%\n" },
		{ 4321000 * TS_PS_PER_S, "Total Time: 4321000.00 s\n",
		  "  Compute           4321000.00 s  100.0%\n" },
	};

	for (size_t i = 0; i < TS_NELEM(cases); i++) {
		const struct ts_breakdown_row row = { "Compute", cases[i].ps };
		struct ts_buf out = TS_BUF_INIT;

		ts_breakdown_text(&out, &row, 1, row.ps, NULL, 0);
		ts_buf_putc(&out, '\0');
		if (!strstr((char *)out.p, cases[i].total) || !strstr((char *)out.p, cases[i].row))
			fail_msg("no \"%s\" in\n%s", cases[i].row, (char *)out.p);
		assert_null(strstr((char *)out.p, "Bottleneck"));
		ts_buf_release(&out);
	}
}

/* Reads the shown figures back: hundredths of the unit and tenths of a percent. */
static void add_up(const char *text, long long *total, long long *rows, long long *tenths)
{
	long long whole, part;
	char *at = strstr(text, "Total Time:");

	assert_int_equal(sscanf(at, "Total Time: %lld.%lld", &whole, &part), 2);
	*total = whole * 100 + part;
	*rows = *tenths = 0;
	for (at = strchr(at, '\n') + 1; *at == ' '; at = strchr(at, '\n') + 1) {
		long long share, tenth;
		char label[32], unit[8];

		assert_int_equal(sscanf(at, " %31s %lld.%lld %7s %lld.%lld%%", label, &whole, &part,
					unit, &share, &tenth),
				 6);
		*rows += whole * 100 + part;
		*tenths += share * 10 + tenth;
	}
}

TEST(shown_rows_add_up_whatever_they_are)
{
	static const char *const labels[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	uint64_t seed = 3;

	for (int round = 0; round < 20000; round++) {
		struct ts_breakdown_row rows[8];
		struct ts_buf out = TS_BUF_INIT;
		long long total, sum, tenths;
		int64_t total_ps = 0;

		for (size_t i = 0; i < 8; i++) {
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			rows[i].label = labels[i];
			rows[i].ps = (int64_t)(seed >> (4 + (seed >> 20) % 60));
			total_ps += rows[i].ps;
		}
		if (total_ps == 0)
			continue;
		ts_breakdown_text(&out, rows, 8, total_ps, NULL, 0);
		ts_buf_putc(&out, '\0');
		add_up((char *)out.p, &total, &sum, &tenths);
		assert_int_equal(sum, total);
		assert_int_equal(tenths, 1000);
		ts_buf_release(&out);
	}
}
