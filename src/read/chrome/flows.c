/* SPDX-License-Identifier: MIT */
/* Flow events, kept by the place of the slice they belong to. */
#include "base/check.h"
#include "read/chrome/chrome.h"

/* libkineto/src/output_json.cpp, now and before: of launches. */
static bool is_of_launches(struct ts_bytes category)
{
	return ts_bytes_is(category, "ac2g") || ts_bytes_is(category, "async_cpu_to_gpu");
}

/* A number for each that is met, in their order: hashes differ each time a file is read. */
static enum ts_status number_id(struct chrome_file *file, const struct chrome_event *event,
				uint64_t *id, struct ts_error *err)
{
	struct chrome_flows *flows = &file->flows;
	uint64_t category = ts_hash(ts_jtok_text(event->category), file->names.seed);
	uint64_t key = ts_hash(ts_jtok_text(event->id), category);
	uint32_t known = ts_map_find(&flows->ids, key);

	*id = known == TS_NONE ? flows->nr_ids : known;
	if (known == TS_NONE && !ts_map_set(&flows->ids, key, (uint32_t)flows->nr_ids++))
		return ts_fail_nomem(err);
	return TS_OK;
}

/* Of writers, the slice stands right before its flow events, and begins when they are. */
static const struct chrome_track *flows_slice_of(struct chrome_names *names,
						 const struct chrome_event *event, int64_t at_ps)
{
	uint32_t process = ts_chrome_process_of(names, ts_jtok_text(event->pid)), at;
	const struct chrome_track *track;

	if (process == TS_NONE)
		return NULL;
	at = ts_chrome_track_of(names, process, ts_jtok_text(event->tid), CHROME_HOST, CHROME_MAIN);
	if (at >= names->nr_tracks)
		return NULL;
	track = &names->tracks[at];
	return track->nr_events > 0 && track->slice_ps == at_ps ? track : NULL;
}

enum ts_status ts_chrome_flow_take(struct chrome_file *file, const struct chrome_event *event,
				   int64_t at_ps, struct ts_error *err)
{
	struct chrome_flows *flows = &file->flows;
	const struct chrome_track *slice;
	struct ts_flow flow = { .ends = event->phase == 'f' };
	enum ts_status st;

	TS_ASSERT_HOT(file && event);
	if (is_of_launches(ts_jtok_text(event->category)) || flows->nr >= TS_LIMIT_TRACE_FLOWS)
		return TS_OK;
	slice = flows_slice_of(&file->names, event, at_ps);
	if (!slice || ts_map_find(&flows->places, slice->slice_at) != TS_NONE)
		return TS_OK;
	st = number_id(file, event, &flow.id, err);
	if (st)
		return st;
	if (!ts_grow(&flows->items, &flows->cap, flows->nr + 1, sizeof(flow)) ||
	    !ts_map_set(&flows->places, slice->slice_at, (uint32_t)flows->nr))
		return ts_fail_nomem(err);
	flows->items[flows->nr++] = flow;
	return TS_OK;
}

void ts_chrome_flows_release(struct chrome_flows *flows)
{
	TS_ASSERT(flows);
	ts_map_release(&flows->places);
	ts_map_release(&flows->ids);
	free(flows->items);
}
