/* SPDX-License-Identifier: MIT */
/*
 * What map overlay gives for a file of a run is what annotate on one machine puts behind it, to the byte: over runs of one
 * host and of several, in any order, with maps run again, also on files that are annotated already; the report with what they
 * drew is that of annotate; and what cannot be annotated, or does not belong together, is refused.
 */
#include "tests/io/tmpdir.h"

#include "run/annotate.h"
#include "pod/saved_results.h"
#include "pod/saved_trace.h"
#include "tests/pod/map_hosts.h"
#include "tests/turn.h"

#define BUDGET	  20000
#define MAX_BYTES (4 << 20) /* of a profile: larger ones take too long */

static void reduce(struct map_run *map)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf json = TS_BUF_INIT;

	map_all(map, true);
	if (map_run_report(map, false, &json, &err))
		fail_msg("%s", err.text);
	ts_buf_release(&json);
}

/* The run in hosts/, reduced. */
static void begin(struct map_run *map)
{
	map_run_find(map, "hosts");
	map->options.overlay_budget = BUDGET;
	reduce(map);
}

static enum ts_status map_overlay(struct map_run *map, size_t file, const struct ts_buf *results,
				  struct ts_buf *tail, struct ts_error *err)
{
	struct ts_map_input input = map_input(results, "run.results");
	struct ts_map_drawing drawing = { .tail = tail,
					  .tracks = &map->tracks[file],
					  .trace = &map->traces[file],
					  .kind = map->form };
	struct ts_run run;
	enum ts_status st;

	ts_run_init(&run);
	ts_buf_clear(&map->tracks[file]);
	ts_buf_clear(&map->traces[file]);
	st = ts_map_overlay(&run, &map->files[file].sessions[0], &input, 2, &drawing, err);
	assert_null(drawing.problem);
	ts_run_release(&run);
	return st;
}

static enum ts_status annotate(const struct map_run *map, struct ts_error *err)
{
	const struct ts_annotate_options options = {
		.nr_threads = 2,
		.settings = &map->settings,
		.max_overlay_events = map->options.overlay_budget,
		.traces = { map->form == TS_TRACE_JSON, map->form == TS_TRACE_PFTRACE },
		.has_max_trace_events = map->options.has_max_trace_events,
		.max_trace_events = map->options.max_trace_events,
		.version = "0"
	};
	struct ts_annotation one;
	enum ts_status st;

	ts_annotation_init(&one);
	st = ts_annotate(&one, &map->runs.sessions[0], &options, err);
	ts_annotation_release(&one);
	return st;
}

static void read_whole(struct ts_buf *out, const char *path)
{
	struct ts_input input = TS_INPUT_INIT;

	assert_int_equal(ts_input_open(&input, path, NULL), TS_OK);
	ts_buf_clear(out);
	ts_buf_put(out, input.bytes);
	ts_input_release(&input);
}

/* But for the note of how the files looked (overlay/stand.h), which stands at its end. */
static void compare_report(struct map_run *map)
{
	struct ts_buf wanted = TS_BUF_INIT, json = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	size_t n;

	read_whole(&wanted, "hosts/" TS_REPORT_FILE);
	n = ts_bytes_find(ts_buf_bytes(&wanted), ",\n  \"annotation\": ");
	assert_true(n > 0);
	if (n < wanted.n) {
		wanted.n = n;
		ts_buf_puts(&wanted, "\n}\n");
	}
	if (map_run_report(map, true, &json, &err))
		fail_msg("%s", err.text);
	if (!ts_bytes_eq(ts_buf_bytes(&json), ts_buf_bytes(&wanted)))
		fail_msg("not the report that annotate writes");
	ts_buf_release(&json);
	ts_buf_release(&wanted);
}

static enum ts_status join_traces(const struct map_run *map, bool backwards, const char *path,
				  struct ts_error *err)
{
	struct ts_map_input results = map_input(&map->results, "run.results");
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_map_input inputs[MAP_FILES];
	enum ts_status st;
	struct ts_run run;

	for (size_t i = 0; i < map->nr; i++)
		inputs[backwards ? map->nr - 1 - i : i] =
			map_input(&map->traces[i], map_path_of(map, i));
	ts_run_init(&run);
	assert_int_equal(ts_newfile_open(&file, path, NULL), TS_OK);
	st = ts_reduce_trace(&run, &results, inputs, map->nr, "0", &file, err);
	if (st == TS_OK)
		st = ts_newfile_commit(&file, err);
	ts_newfile_release(&file);
	ts_run_release(&run);
	return st;
}

static void compare_trace(const struct map_run *map)
{
	struct ts_buf wanted = TS_BUF_INIT, joined = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;

	if (join_traces(map, true, "joined", &err))
		fail_msg("%s", err.text);
	read_whole(&joined, "joined");
	read_whole(&wanted,
		   map->form == TS_TRACE_JSON ? "hosts/" TS_TRACE_FILE : "hosts/" TS_PFTRACE_FILE);
	if (!ts_bytes_eq(ts_buf_bytes(&joined), ts_buf_bytes(&wanted)))
		fail_msg("not the trace that annotate writes");
	ts_buf_release(&joined);
	ts_buf_release(&wanted);
}

/* How many events a trace has, and its form. */
struct traced {
	enum ts_trace_kind form;
	bool is_bounded;
	uint64_t max_events;
};

/* Maps all files of hosts/, annotates them, and compares; then maps them again. The bytes of all tails. */
static size_t compare_tails(size_t budget, const struct traced *traced)
{
	struct ts_buf wanted[MAP_FILES] = { TS_BUF_INIT }, tail = TS_BUF_INIT, now = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct map_run map;
	size_t nr_bytes = 0;

	map_run_find(&map, "hosts");
	map.options.overlay_budget = budget;
	map.options.has_max_trace_events = traced->is_bounded;
	map.options.max_trace_events = traced->max_events;
	map.form = traced->form;
	reduce(&map);
	for (size_t i = map.nr; i-- > 0;) {
		read_whole(&wanted[i], map_path_of(&map, i));
		nr_bytes -= wanted[i].n;
		if (map_overlay(&map, i, &map.results, &wanted[i], &err))
			fail_msg("%s", err.text);
		nr_bytes += wanted[i].n;
	}
	if (annotate(&map, &err))
		fail_msg("%s", err.text);
	compare_report(&map);
	compare_trace(&map);
	for (size_t i = 0; i < map.nr; i++) {
		read_whole(&now, map_path_of(&map, i));
		if (!ts_bytes_eq(ts_buf_bytes(&now), ts_buf_bytes(&wanted[i])))
			fail_msg("%s: not what annotate makes of it", map_path_of(&map, i));
		assert_int_equal(map_overlay(&map, i, &map.results, &tail, &err), TS_OK);
		assert_true(tail.n <= now.n &&
			    ts_bytes_eq(ts_bytes_cut(ts_buf_bytes(&now), now.n - tail.n, now.n),
					ts_buf_bytes(&tail)));
		ts_buf_clear(&tail);
		ts_buf_release(&wanted[i]);
	}
	compare_trace(&map); /* of files that are annotated already */
	ts_buf_release(&now);
	ts_buf_release(&tail);
	map_run_release(&map);
	return nr_bytes;
}

static void empty_hosts(void)
{
	DIR *dir = opendir("hosts");
	struct dirent *entry;
	char path[512];

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.') {
			snprintf(path, sizeof(path), "hosts/%s", entry->d_name);
			assert_int_equal(remove(path), 0);
		}
	if (dir)
		closedir(dir);
}

TEST_IN_TMPDIR(planted_runs_get_the_overlay_of_one_machine)
{
	static const struct traced traced[] = {
		{ .form = TS_TRACE_JSON },
		{ .form = TS_TRACE_PFTRACE },
		{ .form = TS_TRACE_JSON, .is_bounded = true, .max_events = 700 }
	};
	DIR *dir = opendir(source("tests/data/planted"));
	struct dirent *entry;
	char path[4096];
	size_t nr = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir))) {
		if (!ts_bytes_ends(ts_bytes_of(entry->d_name), ".tar.gz"))
			continue;
		snprintf(path, sizeof(path), "tests/data/planted/%s", entry->d_name);
		unpack_hosts(source(path));
		assert_true(compare_tails(BUDGET, &traced[nr++ % 3]) > 0);
		empty_hosts();
	}
	closedir(dir);
	assert_true(nr > 10);
}

/* Would it be annotated, if it were asked for? */
static bool is_annotated(const char *path)
{
	const struct ts_annotate_options options = {
		.nr_threads = 1, .dry_run = true, .version = "0", .max_overlay_events = BUDGET
	};
	struct ts_annotate_options own = options;
	struct ts_settings settings;
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_annotation one;
	bool is = false;

	ts_settings_init(&settings);
	own.settings = &settings;
	ts_annotation_init(&one);
	if (ts_runs_find(&runs, path, NULL) == TS_OK && runs.nr_sessions == 1)
		is = ts_annotate(&one, &runs.sessions[0], &own, NULL) == TS_OK;
	ts_annotation_release(&one);
	ts_runs_release(&runs);
	return is;
}

static size_t compare_below(const char *below)
{
	DIR *dir = opendir(below);
	struct dirent *entry;
	char folder[4096], path[8192];
	struct stat st;
	size_t nr = 0;

	snprintf(folder, sizeof(folder), "%s", below);
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] == '.' || stat(path, &st) != 0)
			continue;
		if (S_ISDIR(st.st_mode))
			nr += compare_below(path);
		if (S_ISDIR(st.st_mode) || st.st_size > MAX_BYTES ||
		    !(strstr(folder, "/seeds/xplane") ||
		      ts_bytes_ends(ts_bytes_of(path), TS_XPLANE_SUFFIX)))
			continue;
		if (!next_has_turn())
			continue;
		copy(path, "hosts/h" TS_XPLANE_SUFFIX);
		if (is_annotated("hosts")) {
			compare_tails(BUDGET, &(struct traced){ .form = nr++ % 2 ? TS_TRACE_PFTRACE
										 : TS_TRACE_JSON });
		}
		empty_hosts();
	}
	if (dir)
		closedir(dir);
	return nr;
}

TEST_IN_TMPDIR(profiles_get_it)
{
	const char *corpus = getenv("TS_CORPUS");

	assert_true(compare_below(source("tests/data")) > 5 / TURN_PARTS_SANITIZED);
	assert_true(compare_below(source("tests/fuzz/seeds/xplane")) > 10 / TURN_PARTS_SANITIZED);
	compare_below(corpus ? corpus : source("../shared/corpus"));
}

TEST_IN_TMPDIR(hosts_that_began_apart_get_it)
{
	make_hosts(4);
	assert_true(compare_tails(BUDGET, &(struct traced){ .form = TS_TRACE_PFTRACE }) > 0);
	empty_hosts();
	make_hosts(2);
	assert_true(compare_tails(900, &(struct traced){ .is_bounded = true, .max_events = 5000 }) >
		    0);
	empty_hosts();
	make_hosts(3);
	assert_int_equal(compare_tails(0, &(struct traced){ .is_bounded = true, .max_events = 2 }),
			 0);
}

static void expect_refusal(struct map_run *map, size_t file, const struct ts_buf *results,
			   const char *words)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf tail = TS_BUF_INIT;

	assert_int_not_equal(map_overlay(map, file, results, &tail, &err), TS_OK);
	expect_words(&err, words);
	assert_int_equal(tail.n, 0);
	ts_buf_release(&tail);
}

TEST_IN_TMPDIR(what_does_not_belong_together_is_refused)
{
	struct map_run map;

	make_hosts(2);
	begin(&map);
	expect_refusal(&map, 0, &map.outline,
		       "it is the outline of a run, not the results of a run");
	make_file("hosts/host00.xplane.pb", TS_LIT("something else"));
	expect_refusal(&map, 0, &map.results, "not a file of the run of run.results");
	map_run_release(&map);
}

/* The states of one file, and the tracks of the other, in the parcel of this one. */
static void swap_tracks(struct ts_buf *tracks, uint64_t run, uint32_t file)
{
	struct ts_buf states = TS_BUF_INIT, drawn = TS_BUF_INIT;
	struct ts_parcel parcel;

	assert_int_equal(ts_parcel_open(&parcel, ts_buf_bytes(tracks), TS_PARCEL_TRACKS, NULL),
			 TS_OK);
	assert_int_equal(ts_parcel_unpack(&parcel, 0, &states, NULL), TS_OK);
	assert_int_equal(ts_parcel_unpack(&parcel, 1, &drawn, NULL), TS_OK);
	run = run ? run : parcel.head.run;
	ts_buf_release(tracks);
	ts_parcel_begin(tracks, TS_PARCEL_TRACKS,
			&(struct ts_parcel_head){ .run = run, .file = file });
	assert_int_equal(ts_parcel_put(tracks, ts_buf_bytes(&states), NULL), TS_OK);
	assert_int_equal(ts_parcel_put(tracks, ts_buf_bytes(&drawn), NULL), TS_OK);
	ts_parcel_end(tracks);
	ts_buf_release(&states);
	ts_buf_release(&drawn);
}

TEST_IN_TMPDIR(tracks_are_of_all_files_and_of_their_own)
{
	struct ts_buf tail = TS_BUF_INIT, first = TS_BUF_INIT;
	struct map_run map;

	make_hosts(2);
	begin(&map);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(map_overlay(&map, i, &map.results, &tail, NULL), TS_OK);
	first = map.tracks[0];
	map.tracks[0] = (struct ts_buf)TS_BUF_INIT;
	expect_no_report(&map, "the tracks of hosts/host00.xplane.pb are missing");
	map.tracks[0] = first;
	swap_tracks(&map.tracks[1], 0, 0);
	expect_no_report(&map, "are states of one file");
	swap_tracks(&map.tracks[0], 0, 1);
	expect_no_report(&map, "a track in it is not of its host");
	swap_tracks(&map.tracks[0], 77, 0);
	expect_no_report(&map, "were made with another outline");
	ts_buf_release(&tail);
	map_run_release(&map);
}

static void expect_no_trace(const struct map_run *map, const char *words)
{
	struct ts_error err = TS_ERROR_INIT;

	assert_int_not_equal(join_traces(map, false, "none", &err), TS_OK);
	expect_words(&err, words);
	assert_int_not_equal(access("none", F_OK), 0);
}

static void draw_all(struct map_run *map)
{
	struct ts_buf tail = TS_BUF_INIT;

	for (size_t i = 0; i < map->nr; i++)
		assert_int_equal(map_overlay(map, i, &map->results, &tail, NULL), TS_OK);
	ts_buf_release(&tail);
}

/* The rows and processes of one file, in the parcel of another. */
static void give_trace(struct ts_buf *to, const struct ts_buf *from, uint32_t file)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_saved_trace saved = { .results = 0 };
	struct ts_parcel_head head;
	struct ts_parcel parcel;
	struct ts_bytes rows;

	assert_int_equal(ts_parcel_open(&parcel, ts_buf_bytes(from), TS_PARCEL_TRACE, NULL), TS_OK);
	assert_int_equal(ts_saved_trace_load(&parcel, &arena, &saved, &rows, NULL), TS_OK);
	head = (struct ts_parcel_head){ .run = parcel.head.run, .file = file };
	ts_buf_clear(to);
	assert_int_equal(ts_saved_trace_put(to, &saved, rows, &head, NULL), TS_OK);
	ts_saved_trace_release(&saved);
	ts_arena_release(&arena);
}

TEST_IN_TMPDIR(traces_are_of_all_files_and_of_one_run)
{
	struct ts_buf first = TS_BUF_INIT, tail = TS_BUF_INIT;
	struct map_run map;

	make_hosts(2);
	begin(&map);
	draw_all(&map);
	map.nr = 1;
	expect_no_trace(&map, "the trace of hosts/host01.xplane.pb is missing");
	map.nr = 2;
	first = map.traces[0];
	map.traces[0] = map.tracks[0];
	expect_no_trace(&map, "it is the tracks of a file, not the trace of a file");
	map.traces[0] = (struct ts_buf)TS_BUF_INIT;
	ts_buf_put(&map.traces[0], ts_buf_bytes(&map.traces[1]));
	expect_no_trace(&map, "are of one file");
	ts_buf_release(&map.tracks[0]);
	give_trace(&map.traces[0], &map.traces[1], 0);
	expect_no_trace(&map, "a process in it is not of its host");
	ts_buf_release(&map.traces[0]);
	map.traces[0] = first;
	map.form = TS_TRACE_PFTRACE;
	assert_int_equal(map_overlay(&map, 1, &map.results, &tail, NULL), TS_OK);
	expect_no_trace(&map, "this trace has another form than the others");
	ts_buf_release(&map.tracks[1]);
	map.settings.idle_high *= 2; /* another run, by its thresholds */
	reduce(&map);
	expect_no_trace(&map, "is not of a file of the run of run.results");
	ts_buf_release(&tail);
	map_run_release(&map);
}

/* What heads say, cut anywhere, is refused or is something that can be said. */
TEST_IN_TMPDIR(traces_that_are_cut_are_refused)
{
	struct ts_buf told = TS_BUF_INIT, cut = TS_BUF_INIT;
	struct ts_parcel parcel;
	struct ts_bytes rows;
	struct map_run map;
	size_t nr_refused = 0;

	make_hosts(1);
	begin(&map);
	draw_all(&map);
	for (size_t n = 0; n < map.traces[0].n; n += n < 300 ? 1 : map.traces[0].n / 100 + 1)
		assert_int_equal(ts_parcel_open(&parcel,
						ts_bytes_cut(ts_buf_bytes(&map.traces[0]), 0, n),
						TS_PARCEL_TRACE, NULL),
				 TS_FORMAT);
	assert_int_equal(
		ts_parcel_open(&parcel, ts_buf_bytes(&map.traces[0]), TS_PARCEL_TRACE, NULL),
		TS_OK);
	assert_int_equal(ts_parcel_unpack(&parcel, 0, &told, NULL), TS_OK);
	assert_int_equal(ts_parcel_plain(&parcel, 1, &rows, NULL), TS_OK);
	for (size_t n = 0; n < told.n; n++) {
		struct ts_error err = TS_ERROR_INIT;

		ts_buf_clear(&cut);
		ts_parcel_begin(&cut, TS_PARCEL_TRACE, &parcel.head);
		assert_int_equal(ts_parcel_put(&cut, ts_bytes_cut(ts_buf_bytes(&told), 0, n), NULL),
				 TS_OK);
		ts_parcel_put_plain(&cut, rows);
		ts_parcel_end(&cut);
		swap(&cut, &map.traces[0]);
		nr_refused += join_traces(&map, false, "cut", &err) != TS_OK;
		swap(&cut, &map.traces[0]);
	}
	assert_true(nr_refused > told.n / 2);
	ts_buf_release(&told);
	ts_buf_release(&cut);
	map_run_release(&map);
}

TEST_IN_TMPDIR(nothing_of_a_damaged_run_is_annotated)
{
	struct ts_input input = TS_INPUT_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct map_run map;

	make_hosts(2);
	assert_int_equal(ts_input_open(&input, source(SAMPLE), NULL), TS_OK);
	make_file("hosts/host06.xplane.pb", ts_bytes_cut(input.bytes, 0, input.bytes.n / 2));
	ts_input_release(&input);
	begin(&map);
	expect_refusal(&map, 0, &map.results, "a file of its run is damaged");
	assert_int_not_equal(annotate(&map, &err), TS_OK);
	map_run_release(&map);
}

TEST_IN_TMPDIR(a_trace_has_no_place_for_an_overlay)
{
	struct map_run map;

	copy(source("tests/data/hand_made.pt.trace.json"), "hosts/a.pt.trace.json");
	begin(&map);
	expect_refusal(&map, 0, &map.results, "an overlay is only put behind an xplane");
	map_run_release(&map);
}

TEST_IN_TMPDIR(damaged_results_are_refused)
{
	struct map_run map;

	make_hosts(1);
	map_run_find(&map, "hosts");
	reduce(&map);
	expect_damage(&map.results, TS_PARCEL_RESULTS);
	map_run_release(&map);
}

/* Of the facts inside, too, each truncation is refused or is facts that can be used. */
TEST_IN_TMPDIR(facts_that_are_cut_are_refused)
{
	const void *facts[TS_MAX_ANALYSES] = { NULL };
	struct ts_buf section = TS_BUF_INIT;
	struct ts_parcel parcel;
	struct map_run map;
	size_t nr_refused = 0;

	make_hosts(1);
	map_run_find(&map, "hosts");
	reduce(&map);
	assert_int_equal(
		ts_parcel_open(&parcel, ts_buf_bytes(&map.results), TS_PARCEL_RESULTS, NULL),
		TS_OK);
	assert_int_equal(ts_parcel_unpack(&parcel, 4, &section, NULL), TS_OK);
	for (size_t n = 0; n < section.n; n += n < 2000 ? 1 : 17) {
		struct ts_profile profile;
		struct ts_saved_known known = { .is_damaged = false };

		ts_profile_init(&profile);
		profile.nr_ops = UINT32_MAX - 1;
		profile.nr_devices = UINT32_MAX - 1;
		profile.nr_hosts = 1;
		nr_refused += ts_saved_load_results(ts_bytes_cut(ts_buf_bytes(&section), 0, n),
						    &profile, facts, &known, NULL) != TS_OK;
		ts_saved_known_release(&known);
		profile.nr_ops = profile.nr_devices = profile.nr_hosts = 0;
		ts_profile_release(&profile);
	}
	assert_true(nr_refused > 100);
	ts_buf_release(&section);
	map_run_release(&map);
}

/* Before the first test leaves the folder. */
static int know_sources(void **state)
{
	source("");
	return 0;
}

TEST_GROUP(know_sources, NULL)
