/* SPDX-License-Identifier: MIT */
/* Figures of a sample and over samples: the ring, the metrics, what sampling costs. By hand. */
#include "tests/test.h"
#include "base/units.h"
#include "live/overhead.h"
#include "result/schema/doctor.def"
#include "result/schema/overview.def"
#include "result/schema/time.def"

static struct ts_ring ring;

static void must_be(double a, double b)
{
	assert_true(fabs(a - b) < 1e-9 * fmax(1, fabs(b)));
}

static void must_be_unknown(double a)
{
	assert_true(isnan(a));
}

static void put(int64_t at_ms, enum ts_metric metric, double value)
{
	struct ts_ring_row *row = ts_ring_add(&ring);

	row->at_ms = at_ms;
	for (size_t i = 0; i < TS_NR_METRICS; i++)
		row->values[i] = NAN;
	row->values[metric] = value;
}

static int empty(void **state)
{
	memset(&ring, 0, sizeof(ring));
	return 0;
}

TEST_WITH(a_ring_keeps_the_newest, empty, NULL)
{
	assert_int_equal(ts_ring_count(&ring), 0);
	for (int i = 0; i < TS_RING + 5; i++)
		put(i, TS_METRIC_MXU, i);
	assert_int_equal(ts_ring_count(&ring), TS_RING);
	must_be(ts_ring_back(&ring, 0)->values[TS_METRIC_MXU], TS_RING + 4);
	must_be(ts_ring_back(&ring, TS_RING - 1)->values[TS_METRIC_MXU], 5);
	must_be(ts_ring_median(&ring, TS_METRIC_MXU, TS_RING), (TS_RING - 1) / 2.0 + 5);
}

TEST_WITH(the_mean_is_over_time_and_of_what_is_recent, empty, NULL)
{
	must_be_unknown(ts_ring_mean(&ring, TS_METRIC_MXU, 0));
	put(100, TS_METRIC_MXU, 1000);
	put(400, TS_METRIC_MXU, 10);
	put(500, TS_METRIC_MXU, NAN);
	must_be_unknown(
		ts_ring_mean(&ring, TS_METRIC_MXU, 0)); /* a fifth of the time is not known */
	put(1400, TS_METRIC_MXU, 20);
	must_be(ts_ring_mean(&ring, TS_METRIC_MXU, 0), (100 * 1000 + 300 * 10 + 900 * 20) / 1300.0);
	must_be(ts_ring_mean(&ring, TS_METRIC_MXU, 300), (100 * 10 + 900 * 20) / 1000.0);
	must_be(ts_ring_mean(&ring, TS_METRIC_MXU, 900), 20);
	must_be_unknown(ts_ring_mean(&ring, TS_METRIC_MXU, 1400));
	must_be_unknown(ts_ring_mean(&ring, TS_METRIC_HBM, 0));
}

TEST_WITH(the_median_is_of_the_last_known_ones, empty, NULL)
{
	static const double values[] = { 1000, 1, 5, NAN, 3, 2 };

	must_be_unknown(ts_ring_median(&ring, TS_METRIC_STEP, 60));
	for (size_t i = 0; i < TS_NELEM(values); i++)
		put((int64_t)i, TS_METRIC_STEP, values[i]);
	must_be(ts_ring_median(&ring, TS_METRIC_STEP, 4), 2.5);
	must_be(ts_ring_median(&ring, TS_METRIC_STEP, 60), 3);
	must_be(ts_ring_median(&ring, TS_METRIC_STEP, 1), 2);
}

/* A step takes 10 ms between samples and 12 ms in a sample; a sample of 100 ms is taken every
 * 500 ms. */
TEST_WITH(what_sampling_costs_is_the_longer_step_times_the_share, empty, NULL)
{
	must_be_unknown(ts_overhead_pct(&ring, 20));
	put(0, TS_METRIC_STEP, 12e9);
	must_be_unknown(ts_overhead_pct(&ring, 20)); /* no step between samples yet */
	put(500, TS_METRIC_STEP_UNSAMPLED, 10e9);
	must_be(ts_overhead_pct(&ring, 20), 4);
	must_be(ts_overhead_pct(&ring, 100), 20);
	for (int i = 0; i < 10; i++)
		put(600 + i, TS_METRIC_STEP, 8e9);
	must_be_unknown(ts_overhead_pct(&ring, 20)); /* faster in samples: not a gain, and not 0 */
}

/* Steps FIRST.. of STEP_MS each, from START_MS after the epoch plus a second. */
struct sample {
	struct ts_look_step steps[8];
	struct ts_look look;
	struct ts_host hosts[2];
	struct ts_op op;
	struct ts_profile profile;
};

static void fill(struct sample *sample, uint64_t first, size_t nr, int64_t start_ms,
		 int64_t step_ms)
{
	memset(sample, 0, sizeof(*sample));
	for (size_t i = 0; i < nr; i++)
		sample->steps[i] =
			(struct ts_look_step){ .number = first + i,
					       .start_ps = (int64_t)i * step_ms * TS_PS_PER_MS,
					       .end_ps =
						       ((int64_t)i * step_ms + 1) * TS_PS_PER_MS };
	sample->hosts[0].name = TS_LIT("host0:9012");
	sample->hosts[1].name = TS_LIT("host1:9012");
	sample->op.name = TS_LIT("train");
	sample->profile.hosts = sample->hosts;
	sample->profile.ops = &sample->op;
	sample->look.steps = sample->steps;
	sample->look.nr_steps = nr;
	sample->profile.start_unix_ns = (1000 + start_ms) * 1000000;
	sample->profile.capture_ps = 100 * TS_PS_PER_MS;
}

/* Whatever the results say of a host's mark. */
TEST(steps_with_numbers_are_from_start_to_start)
{
	struct ts_overhead overhead = { .first_ms = 0 };
	double values[TS_NR_METRICS];
	struct sample sample;

	ts_metrics_read(values, NULL);
	values[TS_METRIC_STEP] = 1e9;
	fill(&sample, 10, 5, 0, 20);
	assert_int_equal(
		ts_overhead_sample(&overhead, &sample.look, &sample.profile, 50, 160, values, NULL),
		TS_OK);
	must_be(values[TS_METRIC_STEP], 20e9);
	fill(&sample, 15, 1, 100, 20);
	values[TS_METRIC_STEP] = 1e9;
	assert_int_equal(ts_overhead_sample(&overhead, &sample.look, &sample.profile, 150, 260,
					    values, NULL),
			 TS_OK);
	must_be_unknown(values[TS_METRIC_STEP]); /* one start is not a step */
}

static void take(struct ts_overhead *overhead, const struct sample *sample, int64_t start_ms,
		 int64_t end_ms, double values[TS_NR_METRICS])
{
	ts_metrics_read(values, NULL);
	assert_int_equal(ts_overhead_sample(overhead, sample ? &sample->look : NULL,
					    sample ? &sample->profile : NULL, start_ms, end_ms,
					    values, NULL),
			 TS_OK);
}

TEST(steps_are_matched_by_their_numbers)
{
	struct ts_overhead overhead = { .first_ms = 0 };
	double values[TS_NR_METRICS];
	struct sample sample;

	fill(&sample, 10, 5, 0, 20);
	take(&overhead, &sample, 50, 160, values);
	must_be(values[TS_METRIC_STEP], 20e9);
	must_be(values[TS_METRIC_STEP_MARKED],
		1e9); /* the call returned, and the job did something else */
	must_be_unknown(values[TS_METRIC_STEP_UNSAMPLED]); /* nothing to count from */
	must_be(values[TS_METRIC_SAMPLED], 100 / 110.0 * 100);
	/* step 14 began at 80 ms, step 54 at 800: 40 steps of 18 ms */
	fill(&sample, 54, 5, 800, 20);
	take(&overhead, &sample, 800, 910, values);
	must_be(values[TS_METRIC_STEP_UNSAMPLED], 18e9);
	must_be(values[TS_METRIC_SAMPLED], 200 / 860.0 * 100);
}

/* One step of five waits for a compilation: the others say what a step takes. */
TEST(the_step_of_a_sample_is_the_median)
{
	struct ts_overhead overhead = { .first_ms = 0 };
	double values[TS_NR_METRICS];
	struct sample sample;

	fill(&sample, 10, 5, 0, 20);
	for (size_t i = 3; i < 5; i++)
		sample.steps[i].start_ps += 300 * TS_PS_PER_MS;
	sample.steps[4].number++; /* and step 14 was not seen: 20 ms are two steps */
	take(&overhead, &sample, 50, 460, values);
	must_be(values[TS_METRIC_STEP], 20e9); /* of 20, 20, 320 and 10 */
}

TEST_WITH(a_cost_that_is_negative_is_too_small_to_measure, empty, NULL)
{
	put(500, TS_METRIC_STEP, 2.36e9);
	put(500, TS_METRIC_STEP_UNSAMPLED, 3.79e9);
	must_be_unknown(ts_overhead_pct(&ring, 10));
}

TEST(a_job_that_began_again_counts_from_its_own_steps)
{
	struct ts_overhead overhead = { .first_ms = 0 };
	double values[TS_NR_METRICS];
	struct sample sample;

	fill(&sample, 1000, 2, 0, 20);
	take(&overhead, &sample, 50, 160, values);
	fill(&sample, 3, 2, 800, 20);
	take(&overhead, &sample, 800, 910, values);
	must_be_unknown(values[TS_METRIC_STEP_UNSAMPLED]);
	fill(&sample, 13, 2, 1020, 20); /* step 4 began at 820 */
	take(&overhead, &sample, 1020, 1130, values);
	must_be(values[TS_METRIC_STEP_UNSAMPLED], 200e9 / 9);
}

/* Its clock may differ, and its numbers in a job that is not one. */
TEST(steps_of_another_host_are_not_counted_from)
{
	struct ts_overhead overhead = { .first_ms = 0 };
	double values[TS_NR_METRICS];
	struct sample sample;

	fill(&sample, 10, 5, 0, 20);
	take(&overhead, &sample, 50, 160, values);
	fill(&sample, 54, 5, 800, 20);
	for (size_t i = 0; i < 5; i++)
		sample.steps[i].host = 1;
	take(&overhead, &sample, 800, 910, values);
	must_be(values[TS_METRIC_STEP], 20e9);
	must_be_unknown(values[TS_METRIC_STEP_UNSAMPLED]);
}

TEST(steps_without_numbers_are_unknown)
{
	struct ts_overhead overhead = { .first_ms = 0 };
	double values[TS_NR_METRICS];
	struct sample sample;

	take(&overhead, NULL, 50, 160, values); /* no host answered */
	must_be(values[TS_METRIC_SAMPLED], 0);
	must_be_unknown(values[TS_METRIC_STEP]);
	fill(&sample, 0, 0, 0, 0); /* and a job without steps */
	take(&overhead, &sample, 660, 770, values);
	must_be(values[TS_METRIC_SAMPLED], 100 / 720.0 * 100);
	must_be_unknown(values[TS_METRIC_STEP]);
	must_be_unknown(values[TS_METRIC_STEP_UNSAMPLED]);
}

TEST_WITH(the_end_has_the_figures_of_the_whole_time, empty, NULL)
{
	struct ts_overhead overhead = { .first_ms = 0 };
	double values[TS_NR_METRICS];
	struct sample sample;

	ts_overhead_end(&overhead, &ring, 1000, values); /* nothing was sampled */
	must_be_unknown(values[TS_METRIC_SAMPLED]);
	fill(&sample, 10, 5, 0, 20);
	take(&overhead, &sample, 1000, 1110, values);
	put(1110, TS_METRIC_STEP, 22e9);
	put(1700, TS_METRIC_STEP_UNSAMPLED, 20e9);
	ts_overhead_end(&overhead, &ring, 2000, values);
	must_be(values[TS_METRIC_SAMPLED], 10);
	must_be(values[TS_METRIC_STEP], 22e9);
	must_be(values[TS_METRIC_STEP_UNSAMPLED], 20e9);
	must_be(values[TS_METRIC_COST], 1);
	must_be_unknown(values[TS_METRIC_MXU]);
}

TEST(figures_are_the_results_and_buckets_are_shares)
{
	double values[TS_NR_METRICS];
	struct ts_results results;
	struct ts_result *result;

	ts_results_init(&results);
	result = TS_ADD(&results, overview);
	TS_SET(result, overview, overview.mxu_utilization_pct, ts_real(41.5));
	TS_SET(result, overview, overview.step_time_ps.median, ts_int(5000000000));
	result = TS_ADD(&results, time);
	TS_SET(result, time, buckets.idle_ps, ts_int(25));
	TS_SET(result, time, buckets.input_ps, ts_int(0));
	TS_SET(result, time, total_ps, ts_int(200));
	TS_SET(TS_ADD(&results, doctor), doctor, health_score, ts_int(77));
	ts_metrics_read(values, &results);
	must_be(values[TS_METRIC_MXU], 41.5);
	must_be(values[TS_METRIC_STEP], 5e9);
	must_be(values[TS_METRIC_IDLE], 12.5);
	must_be(values[TS_METRIC_INPUT], 0);
	must_be(values[TS_METRIC_HEALTH], 77);
	must_be_unknown(values[TS_METRIC_HBM]);
	must_be_unknown(values[TS_METRIC_COMMUNICATION]);
	must_be_unknown(values[TS_METRIC_COMPILING]);
	ts_results_release(&results);
	ts_metrics_read(values, NULL);
	for (size_t i = 0; i < TS_NR_METRICS; i++)
		must_be_unknown(values[i]);
}

TEST(a_run_without_core_time_has_no_shares)
{
	double values[TS_NR_METRICS];
	struct ts_results results;
	struct ts_result *result;

	ts_results_init(&results);
	result = TS_ADD(&results, time);
	TS_SET(result, time, buckets.idle_ps, ts_int(0));
	TS_SET(result, time, total_ps, ts_int(0));
	ts_metrics_read(values, &results);
	must_be_unknown(values[TS_METRIC_IDLE]);
	ts_results_release(&results);
}

TEST(figures_are_written_with_their_units)
{
	static const struct {
		enum ts_metric metric;
		double value;
		const char *text;
	} rows[] = { { TS_METRIC_MXU, 41.27, "41.3 %" },
		     { TS_METRIC_MXU, 0, "0.0 %" },
		     { TS_METRIC_MXU, NAN, "-" },
		     { TS_METRIC_HEALTH, 77.4, "77" },
		     { TS_METRIC_STEP, 2.5e9, "2.50 ms" },
		     { TS_METRIC_COMPILATION, 0, "0 ms" },
		     { TS_METRIC_COMPILATION, 5000, "5.00 s" },
		     { TS_METRIC_COST, INFINITY, "-" } };
	char text[TS_UNIT_MAX];

	for (size_t i = 0; i < TS_NELEM(rows); i++)
		assert_string_equal(
			ts_metric_text(text, sizeof(text), rows[i].metric, rows[i].value),
			rows[i].text);
	for (size_t i = 0; i < TS_NR_METRICS; i++)
		assert_true(ts_metric_rows[i].name && ts_metric_rows[i].label);
}
