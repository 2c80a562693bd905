/* SPDX-License-Identifier: MIT */
/* A profile and results made by hand, for the tests of overlay/: tracks of labels and args that no
 * analysis makes, so no profile's bytes would (tests/analysis/given.h). */
#ifndef TESTS_OVERLAY_SAMPLE_H
#define TESTS_OVERLAY_SAMPLE_H

#include "codec/pbw.h"
#include "model/profile.h"
#include "result/schema/time.def"

struct sample {
	struct ts_profile profile;
	struct ts_results results;
	struct ts_buf lines[8]; /* native bodies */
	size_t nr_lines;
};

static inline void sample_init(struct sample *s)
{
	*s = (struct sample){ .nr_lines = 0 };
	ts_profile_init(&s->profile);
	ts_results_init(&s->results);
}

static inline void sample_release(struct sample *s)
{
	ts_profile_release(&s->profile);
	ts_results_release(&s->results);
	for (size_t i = 0; i < s->nr_lines; i++)
		ts_buf_release(&s->lines[i]);
}

static inline struct ts_host *sample_host(struct sample *s, const char *name)
{
	struct ts_host *host = ts_profile_add_host(&s->profile);

	host->name = ts_bytes_of(name);
	host->first_plane = (uint32_t)s->profile.nr_planes;
	return host;
}

/* A plane of the last host. */
static inline struct ts_plane *sample_plane(struct sample *s, const char *name, int64_t id)
{
	struct ts_plane *plane = ts_profile_add_plane(&s->profile);

	plane->host = (uint32_t)s->profile.nr_hosts - 1;
	plane->name = ts_bytes_of(name);
	plane->id = id;
	plane->device = TS_NONE;
	plane->first_line = (uint32_t)s->profile.nr_lines;
	s->profile.hosts[plane->host].nr_planes++;
	return plane;
}

static inline uint32_t sample_device(struct sample *s, const char *name, int64_t id)
{
	struct ts_plane *plane = sample_plane(s, name, id);
	struct ts_device *device = ts_profile_add_device(&s->profile);

	plane->device = (uint32_t)s->profile.nr_devices - 1;
	device->name = plane->name;
	device->host = plane->host;
	device->plane = (uint32_t)s->profile.nr_planes - 1;
	return plane->device;
}

/* A line of the last plane: at TIMESTAMP_NS in the file, at START_PS on the run's timeline. */
static inline void sample_line(struct sample *s, int64_t timestamp_ns, int64_t start_ps)
{
	struct ts_line *line = ts_profile_add_line(&s->profile);
	struct ts_buf *body = &s->lines[s->nr_lines++];

	ts_pbw_u64(body, 1, 7);
	ts_pbw_text(body, 2, TS_LIT("XLA Ops"));
	if (timestamp_ns)
		ts_pbw_i64(body, 3, timestamp_ns);
	ts_pbw_end(body, ts_pbw_begin(body, 4));
	line->plane = (uint32_t)s->profile.nr_planes - 1;
	line->kind = TS_LINE_OPS;
	line->nr_events = 1;
	line->timestamp_ns = timestamp_ns;
	line->start_ps = start_ps;
	line->body = ts_buf_bytes(body);
	s->profile.planes[line->plane].nr_lines++;
}

static const struct ts_arg sample_args[] = {
	{ "evidence", { TS_VALUE_TEXT, .as.s = { (const uint8_t *)"82 % waits", 10 } } },
	{ "flow", { TS_VALUE_TEXT, .as.s = { (const uint8_t *)"f", 1 } } },
	{ "program_id", { TS_VALUE_TEXT, .as.s = { (const uint8_t *)"9646411105960254074", 19 } } },
	{ "empty", { TS_VALUE_TEXT, .as.s = { NULL, 0 } } },
	{ "nothing", { TS_VALUE_NULL } },
	{ "title", { TS_VALUE_TEXT, .as.s = { (const uint8_t *)"memory \xff wait", 13 } } },
	{ "rank", { TS_VALUE_INT, .as.i = 3 } },
	{ "time_lost_ns", { TS_VALUE_INT, .as.i = 2310000 } },
	{ "impact_ns", { TS_VALUE_INT, .as.i = 0 } },
	{ "impact_pct", { TS_VALUE_REAL, .as.r = 12.345678 } },
	{ "logical_bytes", { TS_VALUE_INT, .as.i = 3 << 20 } },
};
static const struct ts_label sample_labels[] = {
	{ { (const uint8_t *)"compute", 7 }, NULL, 0 },
	{ { (const uint8_t *)"memory \xff wait", 13 }, sample_args, TS_NELEM(sample_args) },
};

static inline struct ts_result *sample_result(struct sample *s)
{
	return s->results.nr ? s->results.items[0] : TS_ADD(&s->results, time);
}

static inline void sample_slices(struct sample *s, uint32_t device, const char *name, int order,
				 struct ts_slice *slices, size_t nr)
{
	struct ts_track *track =
		ts_result_track(sample_result(s), TS_TRACK_SLICES, name, device, order);

	track->labels = sample_labels;
	track->nr_labels = 2;
	track->slices = slices;
	track->nr_slices = nr;
}

static inline void sample_counter(struct sample *s, uint32_t device, const char *name,
				  const char *unit, struct ts_point *points, size_t nr)
{
	struct ts_track *track =
		ts_result_track(sample_result(s), TS_TRACK_COUNTER, name, device, 0);

	track->unit = unit;
	track->points = points;
	track->nr_points = nr;
}

#endif
