/* SPDX-License-Identifier: MIT */
/* Findings with times, out of a report's text. */
#include "tests/test.h"
#include "serve/places.h"

static struct ts_places read_text(const char *text)
{
	struct ts_places places = { .nr = 0 };

	assert_int_equal(ts_places_read(&places, ts_bytes_of(text), NULL), TS_OK);
	return places;
}

TEST(a_finding_has_a_row_for_each_device_that_it_names)
{
	struct ts_places places =
		read_text("{\"doctor\": {\"health_score\": 50, \"findings\": ["
			  "{\"id\": \"idle\", \"title\": \"It \\\"waits\\\"\", \"time_ranges\": ["
			  " {\"device\": 1, \"start_ps\": 50, \"end_ps\": 60, \"example\": true},"
			  " {\"device\": null, \"start_ps\": 5, \"end_ps\": 9, \"example\": false},"
			  " {\"device\": 1, \"start_ps\": 10, \"end_ps\": 20, \"example\": true}]},"
			  "{\"id\": \"padding\", \"title\": \"t\", \"time_ranges\": []}]}}");

	assert_int_equal(places.nr, 2);
	assert_true(ts_bytes_is(places.items[0].id, "idle"));
	assert_true(ts_bytes_is(places.items[0].title, "It \"waits\""));
	assert_int_equal(places.items[0].device, 1);
	assert_int_equal(places.items[0].places.nr, 2);
	assert_int_equal(places.items[0].places.items[0].start_ps, 10);
	assert_int_equal(places.items[0].places.items[1].end_ps, 60);
	assert_int_equal(places.items[1].device, TS_NONE);
	ts_places_release(&places);
	assert_int_equal(places.nr, 0);
}

TEST(what_is_not_a_time_is_left_out)
{
	static const char *const ranges[] = {
		"{}",
		"[]",
		"3",
		"{\"start_ps\": 1}",
		"{\"start_ps\": \"1\", \"end_ps\": 2}",
		"{\"start_ps\": 2, \"end_ps\": 2}",
		"{\"device\": -1, \"start_ps\": 1, \"end_ps\": 2}",
		"{\"device\":4294967296,\"start_ps\":1,\"end_ps\":2}"
	};

	for (size_t i = 0; i < TS_NELEM(ranges); i++) {
		struct ts_buf text = TS_BUF_INIT;
		struct ts_places places;

		ts_buf_printf(&text, "{\"doctor\":{\"findings\":[{\"time_ranges\":[%s]}]}}",
			      ranges[i]);
		ts_buf_putc(&text, '\0');
		places = read_text((const char *)text.p);
		assert_int_equal(places.nr, 0);
		ts_places_release(&places);
		ts_buf_release(&text);
	}
}

TEST(any_other_text_has_no_findings)
{
	static const char *const texts[] = { "", "{", "[]", "{\"doctor\": null}",
					     "{\"doctor\": {\"findings\": {}}}" };

	for (size_t i = 0; i < TS_NELEM(texts); i++) {
		struct ts_places places = read_text(texts[i]);

		assert_int_equal(places.nr, 0);
		ts_places_release(&places);
	}
}

TEST(places_are_bounded)
{
	struct ts_buf text = TS_BUF_INIT;
	struct ts_places places = { .nr = 0 };

	ts_buf_puts(&text, "{\"doctor\":{\"findings\":[");
	for (int i = 0; i < 2 * TS_PLACES_MAX; i++)
		ts_buf_printf(&text,
			      "%s{\"id\":\"a\",\"title\":\"b\",\"time_ranges\":[{\"device\":%d,"
			      "\"start_ps\":1,\"end_ps\":2}]}",
			      i ? "," : "", i);
	ts_buf_puts(&text, "]}}");
	assert_int_equal(ts_places_read(&places, ts_buf_bytes(&text), NULL), TS_OK);
	assert_int_equal(places.nr, TS_PLACES_MAX);
	ts_places_release(&places);
	ts_buf_release(&text);
}
