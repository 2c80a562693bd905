/* SPDX-License-Identifier: MIT */
/*
 * A session analysed twice: as one machine does it, and by files with map and reduce. For tests of pod/map.h; all in
 * memory, but for the session's own files.
 */
#ifndef TS_TESTS_POD_MAP_RUN_H
#define TS_TESTS_POD_MAP_RUN_H

#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "pod/map.h"
#include "run/annotate.h"
#include "io/rundir.h"
#include "write/report_json.h"

#define MAP_FILES 80

/* The parcels of a session's files. */
struct map_run {
	struct ts_runs runs;		 /* of the session */
	struct ts_runs files[MAP_FILES]; /* a search for each file by itself: what a map is given */
	size_t nr;
	struct ts_buf outlines[MAP_FILES], outline, states[MAP_FILES], results;
	struct ts_buf tracks[MAP_FILES]; /* empty: none are given to the report */
	struct ts_buf traces[MAP_FILES];
	enum ts_trace_kind form; /* of them */
	struct ts_settings settings;
	struct ts_map_options options;
};

static inline struct ts_map_input map_input(const struct ts_buf *buf, const char *path)
{
	return (struct ts_map_input){ ts_buf_bytes(buf), path };
}

static inline const char *map_path_of(const struct map_run *map, size_t file)
{
	return map->files[file].sessions[0].files[0].path;
}

static inline void map_run_find(struct map_run *map, const char *path)
{
	const struct ts_session *session;

	memset(map, 0, sizeof(*map));
	ts_settings_init(&map->settings);
	map->options.settings = &map->settings;
	assert_int_equal(ts_runs_find(&map->runs, path, NULL), TS_OK);
	session = &map->runs.sessions[0];
	assert_true(session->nr_files + session->nr_extras <= MAP_FILES);
	for (size_t i = 0; i < session->nr_files; i++)
		assert_int_equal(ts_runs_find(&map->files[map->nr++], session->files[i].path, NULL),
				 TS_OK);
	for (size_t i = 0; i < session->nr_extras; i++)
		assert_int_equal(
			ts_runs_find(&map->files[map->nr++], session->extras[i].path, NULL), TS_OK);
}

/* The outline of a file; false: the file is not there, or the like. */
static inline bool map_run_outline(struct map_run *map, size_t file)
{
	const char *problem;
	struct ts_run run;
	enum ts_status st;

	ts_run_init(&run);
	ts_buf_release(&map->outlines[file]);
	st = ts_map_outline(&run, &map->files[file].sessions[0], &map->settings, 2,
			    &map->outlines[file], &problem, NULL);
	ts_run_release(&run);
	return st == TS_OK;
}

static inline enum ts_status map_run_join(struct map_run *map, bool backwards, struct ts_error *err)
{
	struct ts_map_input inputs[MAP_FILES];

	for (size_t i = 0; i < map->nr; i++)
		inputs[backwards ? map->nr - 1 - i : i] =
			map_input(&map->outlines[i], map_path_of(map, i));
	ts_buf_release(&map->outline);
	return ts_reduce_outline(inputs, map->nr, &map->options, &map->outline, err);
}

static inline enum ts_status map_run_pass(struct map_run *map, size_t file, struct ts_error *err)
{
	struct ts_map_input outline = map_input(&map->outline, "run.outline");
	struct ts_run run;
	enum ts_status st;

	ts_run_init(&run);
	ts_buf_release(&map->states[file]);
	st = ts_map_pass(&run, &map->files[file].sessions[0], &outline, 2, &map->states[file], err);
	ts_run_release(&run);
	return st;
}

static const struct ts_report map_form = { .generator = "tpusight",
					   .version = "0",
					   .pretty = true,
					   .max_track_items = TS_MAX_TRACK_ITEMS };

static inline enum ts_status map_run_report(struct map_run *map, bool backwards,
					    struct ts_buf *json, struct ts_error *err)
{
	struct ts_map_input outline = map_input(&map->outline, "run.outline");
	struct ts_map_input inputs[2 * MAP_FILES];
	size_t nr = map->nr;
	struct ts_run run;
	enum ts_status st;

	for (size_t i = 0; i < map->nr; i++) {
		const char *path = map_path_of(map, i);

		inputs[backwards ? map->nr - 1 - i : i] = map_input(&map->states[i], path);
		if (map->tracks[i].n > 0)
			inputs[nr++] = map_input(&map->tracks[i], path);
	}
	ts_run_init(&run);
	ts_buf_release(&map->results);
	st = ts_reduce_report(&run, &outline, inputs, nr, &map->results, err);
	if (st == TS_OK)
		st = ts_report_json(json, &run.results, &map_form, err);
	ts_run_release(&run);
	return st;
}

/* What the page draws of a file, to go into the report. */
static inline enum ts_status map_run_tracks(struct map_run *map, size_t file, struct ts_error *err)
{
	struct ts_map_input results = map_input(&map->results, "run.results");
	struct ts_run run;
	enum ts_status st;

	ts_run_init(&run);
	ts_buf_release(&map->tracks[file]);
	st = ts_map_tracks(&run, &map->files[file].sessions[0], &results, 2, &map->tracks[file],
			   err);
	ts_run_release(&run);
	return st;
}

/* As one machine does it, with so many TRACK_ITEMS. */
static inline enum ts_status map_run_direct(const struct map_run *map, size_t track_items,
					    struct ts_buf *json, struct ts_error *err)
{
	struct ts_run_options options = { .nr_threads = 2,
					  .settings = &map->settings,
					  .track_items = track_items };
	struct ts_run run;
	enum ts_status st;

	ts_run_init(&run);
	st = ts_run_open(&run, &map->runs.sessions[0], &options, err);
	if (st == TS_OK)
		st = ts_run_analyse(&run, &options, err);
	if (st == TS_OK)
		st = ts_report_json(json, &run.results, &map_form, err);
	ts_run_release(&run);
	return st;
}

static inline void map_run_release(struct map_run *map)
{
	for (size_t i = 0; i < map->nr; i++) {
		ts_runs_release(&map->files[i]);
		ts_buf_release(&map->outlines[i]);
		ts_buf_release(&map->states[i]);
		ts_buf_release(&map->tracks[i]);
		ts_buf_release(&map->traces[i]);
	}
	ts_buf_release(&map->outline);
	ts_buf_release(&map->results);
	ts_runs_release(&map->runs);
}

#endif
