/* SPDX-License-Identifier: MIT */
/* Findings out of a report's text. */
#include "serve/places.h"

#include "base/check.h"
#include "codec/jtok.h"
#include "result/view.h"
#include "result/schema/doctor.def"

struct reading {
	struct ts_places *places;
	size_t first; /* of this finding */
	struct ts_bytes id, title;
};

static enum ts_status serve_places_take_text(struct ts_places *places, struct ts_bytes token,
					     struct ts_bytes *text, struct ts_error *err)
{
	*text = ts_jtok_unescape(&places->arena, ts_jtok_text(token));
	return text->p ? TS_OK : ts_fail_nomem(err);
}

/* That of the finding on this device; NULL: no memory, or there are too many. */
static struct ts_picture_finding *on_device(struct reading *reading, uint32_t device)
{
	struct ts_places *places = reading->places;
	struct ts_picture_finding *found;

	for (size_t i = reading->first; i < places->nr; i++)
		if (places->items[i].device == device)
			return &places->items[i];
	if (!ts_grow(&places->items, &places->cap, places->nr + 1, sizeof(*places->items)))
		return NULL;
	found = &places->items[places->nr++];
	*found = (struct ts_picture_finding){ reading->id, reading->title, device, { .nr = 0 } };
	return found;
}

static enum ts_status take_range(struct reading *reading, struct ts_bytes range,
				 struct ts_error *err)
{
	int64_t start_ps, end_ps, device = TS_NONE;
	struct ts_picture_finding *finding;

	if (!ts_bytes_i64(ts_jtok_at(range, ts_when_columns[TS_WHEN_start_ps]), &start_ps) ||
	    !ts_bytes_i64(ts_jtok_at(range, ts_when_columns[TS_WHEN_end_ps]), &end_ps) ||
	    start_ps >= end_ps)
		return TS_OK;
	(void)ts_bytes_i64(ts_jtok_at(range, ts_when_columns[TS_WHEN_device]), &device);
	if (device < 0 || device > TS_NONE)
		return TS_OK;
	finding = on_device(reading, (uint32_t)device);
	return finding && ts_spans_add(&finding->places, start_ps, end_ps) ? TS_OK
									   : ts_fail_nomem(err);
}

static enum ts_status take_finding(struct ts_places *places, struct ts_bytes finding,
				   struct ts_error *err)
{
	struct reading reading = { places, places->nr, { NULL, 0 }, { NULL, 0 } };
	struct ts_jtok ranges = ts_jtok_enter(ts_jtok_at(finding, "time_ranges"));
	enum ts_status st;

	st = serve_places_take_text(places, ts_jtok_at(finding, ts_finding_columns[TS_FINDING_id]),
				    &reading.id, err);
	if (st)
		return st;
	st = serve_places_take_text(places,
				    ts_jtok_at(finding, ts_finding_columns[TS_FINDING_title]),
				    &reading.title, err);
	while (places->nr < TS_PLACES_MAX && st == TS_OK && ts_jtok_element(&ranges))
		st = take_range(&reading, ranges.value, err);
	return st;
}

enum ts_status ts_places_read(struct ts_places *places, struct ts_bytes report,
			      struct ts_error *err)
{
	struct ts_jtok findings =
		ts_jtok_enter(ts_jtok_at(ts_jtok_at(report, TS_RESULT_NAME(doctor)), "findings"));
	enum ts_status st = TS_OK;

	TS_ASSERT(places && places->nr == 0);
	while (places->nr < TS_PLACES_MAX && st == TS_OK && ts_jtok_element(&findings))
		st = take_finding(places, findings.value, err);
	return st;
}

void ts_places_release(struct ts_places *places)
{
	TS_ASSERT(places);
	for (size_t i = 0; i < places->nr; i++)
		ts_spans_release(&places->items[i].places);
	free(places->items);
	ts_arena_release(&places->arena);
	*places = (struct ts_places){ .nr = 0 };
}
