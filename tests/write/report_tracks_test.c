/* SPDX-License-Identifier: MIT */
/* Tracks in JSON: means by hand, and never more than the budget. */
#include "tests/test.h"
#include "write/report_tracks.h"

static struct ts_track *counter(struct ts_result *result, uint32_t device, size_t nr)
{
	struct ts_track *track = ts_result_track(result, TS_TRACK_COUNTER, "Load (%)", device, 1);

	assert_non_null(track);
	track->unit = "%";
	track->description = "made by hand";
	track->points = ts_arena_alloc(&result->owner->arena, nr * sizeof(*track->points));
	assert_non_null(track->points);
	track->nr_points = nr;
	for (size_t i = 0; i < nr; i++)
		track->points[i] = (struct ts_point){ (int64_t)i * 10, (double)(i % 4) };
	return track;
}

static void assert_tracks(struct ts_results *results, size_t budget, const char *expected)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&out, TS_JSON_COMPACT);

	ts_json_object(&json);
	ts_report_tracks(&json, results, budget);
	assert_false(out.failed);
	ts_json_object_end(&json);
	ts_buf_putc(&out, '\0');
	assert_string_equal((char *)out.p, expected);
	ts_buf_release(&out);
}

#define HEAD                                                                  \
	"{\"tracks\":[{\"name\":\"Load (%)\",\"device_id\":0,\"unit\":\"%\"," \
	"\"description\":\"made by hand\",\"points\":["

TEST(points_within_the_budget_stay_as_they_are)
{
	struct ts_results results;

	ts_results_init(&results);
	counter(ts_results_add(&results, "r", "R"), 0, 3);
	assert_tracks(&results, 32, HEAD "0,0,10,1,20,2]}]}");
	assert_tracks(&results, 0, "{}");
	ts_results_release(&results);
}

/*
 * 64 points of 0 1 2 3 0 1 2 3 ... each held for 10, budget 32: two by two, (0 + 1) / 2 and (2 + 3) / 2. The
 * last point has no time: the last pair is its first alone, 2. With the first held for 30 and not 10: 0.25.
 */
TEST(points_beyond_the_budget_are_means_over_their_time)
{
	struct ts_buf expected = TS_BUF_INIT;
	struct ts_results results;
	struct ts_track *track;

	ts_results_init(&results);
	track = counter(ts_results_add(&results, "r", "R"), 0, 64);
	track->points[0].at_ps = -20;
	ts_buf_puts(&expected, HEAD);
	for (int i = 0; i < 32; i++)
		ts_buf_printf(&expected, "%s%d,%s", i ? "," : "", i ? i * 20 : -20,
			      i == 0	? "0.25"
			      : i == 31 ? "2"
			      : i % 2	? "2.5"
					: "0.5");
	ts_buf_puts(&expected, "]}]}");
	ts_buf_putc(&expected, '\0');
	assert_tracks(&results, 32, (char *)expected.p);
	ts_buf_release(&expected);
	ts_results_release(&results);
}

TEST(what_viewers_alone_draw_is_left_out)
{
	struct ts_results results;

	ts_results_init(&results);
	counter(ts_results_add(&results, "r", "R"), 0, 3)->is_of_viewers = true;
	assert_tracks(&results, 32, "{}");
	ts_results_release(&results);
}

/* Devices in order, whatever the order in which they came; a budget is divided among the tracks. */
TEST(tracks_share_the_budget_in_the_order_of_devices)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&out, TS_JSON_COMPACT);
	struct ts_results results;
	struct ts_result *result;
	size_t nr_numbers = 0;

	ts_results_init(&results);
	result = ts_results_add(&results, "r", "R");
	counter(result, 1, 1000);
	counter(result, 0, 1000);
	ts_json_object(&json);
	ts_report_tracks(&json, &results, 100);
	assert_false(out.failed);
	ts_json_object_end(&json);
	ts_buf_putc(&out, '\0');
	assert_true(strstr((char *)out.p, "\"device_id\":0") <
		    strstr((char *)out.p, "\"device_id\":1"));
	for (char *p = strstr((char *)out.p, "\"points\""); *p; p++)
		nr_numbers += *p == ',';
	assert_true(nr_numbers > 100 && nr_numbers <= 2 * 100 + 8);
	ts_buf_release(&out);
	ts_results_release(&results);
}
