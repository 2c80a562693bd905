/* SPDX-License-Identifier: MIT */
/*
 * A run that is analysed by files has the very report that one machine makes: over the samples of tests/data and the
 * corpus, each file by itself; over runs of several hosts whose clocks began apart; in any order of the files, with
 * steps run again; and what does not belong together is refused.
 */
#include "tests/io/tmpdir.h"

#include "tests/pod/map_hosts.h"
#include "tests/turn.h"

/* Where TS_MAP_SEEDS names a folder, small ones go there as seeds of tests/fuzz/mapped.c. */
#define SMALL 20000
#define DRAWN 200 /* slices */

static void add_section(struct ts_buf *seed, uint32_t field, const struct ts_buf *bytes,
			enum ts_parcel_kind kind, size_t number)
{
	struct ts_buf section = TS_BUF_INIT;
	struct ts_parcel parcel;

	assert_int_equal(ts_parcel_open(&parcel, ts_buf_bytes(bytes), kind, NULL), TS_OK);
	assert_int_equal(ts_parcel_unpack(&parcel, number, &section, NULL), TS_OK);
	ts_pbw_bytes(seed, field, ts_buf_bytes(&section));
	ts_buf_release(&section);
}

static void add_drawn(struct ts_buf *seed, const struct map_run *map)
{
	struct ts_map_input results = map_input(&map->results, "run.results");
	struct ts_buf tail = TS_BUF_INIT, tracks = TS_BUF_INIT, trace = TS_BUF_INIT;
	struct ts_map_drawing drawing = { .tail = &tail, .tracks = &tracks, .trace = &trace };
	struct ts_run run;

	ts_run_init(&run);
	if (ts_map_overlay(&run, &map->files[0].sessions[0], &results, 1, &drawing, NULL) ==
	    TS_OK) {
		add_section(seed, 7, &tracks, TS_PARCEL_TRACKS, 0);
		add_section(seed, 8, &tracks, TS_PARCEL_TRACKS, 1);
		add_section(seed, 9, &trace, TS_PARCEL_TRACE, 0);
	}
	ts_run_release(&run);
	ts_buf_release(&tail);
	ts_buf_release(&tracks);
	ts_buf_release(&trace);
}

static void keep_seed(const struct map_run *map)
{
	const char *folder = getenv("TS_MAP_SEEDS");
	static unsigned nr;
	struct ts_buf seed = TS_BUF_INIT;
	char path[4096];

	if (!folder || map->nr > 2)
		return;
	add_section(&seed, 1, &map->outlines[0], TS_PARCEL_OUTLINE, 0);
	add_section(&seed, 2, &map->outlines[0], TS_PARCEL_OUTLINE, 1);
	add_section(&seed, 3, &map->outline, TS_PARCEL_RUN, 2);
	add_section(&seed, 4, &map->states[0], TS_PARCEL_STATES, 0);
	add_section(&seed, 5, &map->states[0], TS_PARCEL_STATES, 2);
	add_section(&seed, 6, &map->results, TS_PARCEL_RESULTS, 4);
	add_section(&seed, 10, &map->states[0], TS_PARCEL_STATES, 4);
	add_drawn(&seed, map);
	if (map->nr == 2) {
		add_section(&seed, 9, &map->outline, TS_PARCEL_RUN, 4);
		add_section(&seed, 10, &map->outline, TS_PARCEL_RUN, 5);
		add_section(&seed, 11, &map->states[1], TS_PARCEL_STATES, 0);
		add_section(&seed, 12, &map->states[1], TS_PARCEL_STATES, 2);
	}
	snprintf(path, sizeof(path), "%s/%u", folder, nr);
	if (seed.n < SMALL && nr++ < 40)
		make_file(path, ts_buf_bytes(&seed));
	ts_buf_release(&seed);
}

static size_t nr_drawn; /* runs of which the page draws slices */

/* The same with what the page draws. */
static void compare_drawn(struct map_run *map, const char *path, bool backwards)
{
	struct ts_buf direct = TS_BUF_INIT, reduced = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;

	assert_int_equal(map_run_direct(map, TS_MAX_TRACK_ITEMS, &direct, &err), TS_OK);
	ts_buf_putc(&direct, '\0');
	direct.n--;
	for (size_t i = map->nr; i-- > 0;)
		if (map_run_tracks(map, i, &err))
			fail_msg("%s: %s", path, err.text);
	if (map_run_report(map, backwards, &reduced, &err))
		fail_msg("%s: %s", path, err.text);
	if (!ts_bytes_eq(ts_buf_bytes(&direct), ts_buf_bytes(&reduced)))
		fail_msg("%s: the page draws something else when it is made by files", path);
	nr_drawn += strstr((const char *)direct.p, "\"slices\"") != NULL;
	ts_buf_release(&direct);
	ts_buf_release(&reduced);
}

/* Both ways; how many bytes the report has. */
static size_t compare(const char *path, bool backwards)
{
	struct ts_buf direct = TS_BUF_INIT, reduced = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct map_run map;
	size_t n;

	map_run_find(&map, path);
	map.options.overlay_budget = DRAWN;
	if (map_run_direct(&map, 0, &direct, &err) == TS_OK) {
		map_all(&map, backwards);
		if (map_run_report(&map, backwards, &reduced, &err))
			fail_msg("%s: %s", path, err.text);
		if (!ts_bytes_eq(ts_buf_bytes(&direct), ts_buf_bytes(&reduced)))
			fail_msg("%s: the report differs when it is made by files", path);
		keep_seed(&map);
		compare_drawn(&map, path, backwards);
	}
	n = direct.n;
	ts_buf_release(&direct);
	ts_buf_release(&reduced);
	map_run_release(&map);
	return n;
}

static bool is_profile(const char *path)
{
	static const char *const endings[] = { ".xplane.pb", ".json.gz", ".trace.json", ".tar.gz" };
	struct ts_bytes bytes = ts_bytes_of(path);

	for (size_t i = 0; i < TS_NELEM(endings); i++)
		if (ts_bytes_ends(bytes, endings[i]))
			return true;
	return ts_bytes_has(bytes, "seeds/xplane/");
}

/* The file in a folder of its own, so that both ways name the run alike. */
static size_t compare_file(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	struct ts_runs runs = TS_RUNS_INIT;
	char to[512];
	size_t n = 0;

	if (ts_bytes_ends(ts_bytes_of(path), ".tar.gz"))
		return compare(path, false);
	if (ts_bytes_has(ts_bytes_of(path), "seeds/xplane/"))
		name = "seed.xplane.pb";
	snprintf(to, sizeof(to), "one/%s", name);
	copy(path, to);
	if (ts_runs_find(&runs, "one", NULL) == TS_OK && runs.nr_sessions == 1)
		n = compare("one", false);
	ts_runs_release(&runs);
	assert_int_equal(remove(to), 0);
	return n;
}

static size_t compare_below(const char *below)
{
	DIR *dir = opendir(below);
	struct dirent *entry;
	char folder[4096], path[8192];
	size_t nr = 0;

	snprintf(folder, sizeof(folder), "%s", below);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		if (!is_profile(path))
			nr += compare_below(path);
		else if (next_has_turn())
			nr += compare_file(path) > 0;
	}
	if (dir)
		closedir(dir);
	return nr;
}

TEST_IN_TMPDIR(each_profile_has_the_report_of_one_machine)
{
	const char *corpus = getenv("TS_CORPUS");

	assert_true(compare_below(source("tests/data")) > 30 / TURN_PARTS_SANITIZED);
	assert_true(nr_drawn > 20 / TURN_PARTS_SANITIZED);
	compare_below(source("tests/fuzz/seeds/xplane"));
	compare_below(corpus ? corpus : source("../shared/corpus"));
}

TEST_IN_TMPDIR(hosts_of_an_archive_have_it_as_files_of_their_own)
{
	assert_true(unpack_hosts(source("tests/data/planted/two_hosts.tar.gz")) >= 2);
	assert_true(compare("hosts", false) > 0);
	assert_true(compare("hosts", true) > 0);
}

TEST_IN_TMPDIR(hosts_that_began_apart_have_it_in_any_order)
{
	make_hosts(5);
	copy(source("tests/data/memory_profile.prof"), "hosts/memory_profile.prof");
	assert_true(compare("hosts", false) > 0);
	assert_true(compare("hosts", true) > 0);
}

TEST_IN_TMPDIR(many_hosts_have_it)
{
	make_hosts(64 / TURN_PARTS_SANITIZED);
	assert_true(compare("hosts", true) > 0);
}

TEST_IN_TMPDIR(a_damaged_host_is_left_out_or_read_in_part_as_on_one_machine)
{
	struct ts_input input = TS_INPUT_INIT;

	make_hosts(3);
	make_file("hosts/host05.xplane.pb", TS_LIT("this is not a profile"));
	assert_int_equal(ts_input_open(&input, source(SAMPLE), NULL), TS_OK);
	make_file("hosts/host06.xplane.pb", ts_bytes_cut(input.bytes, 0, input.bytes.n / 2));
	ts_input_release(&input);
	assert_true(compare("hosts", false) > 0);
}

TEST_IN_TMPDIR(steps_that_run_again_give_the_same_bytes)
{
	struct ts_buf outline = TS_BUF_INIT, states = TS_BUF_INIT;
	struct map_run map;

	make_hosts(2);
	map_run_find(&map, "hosts");
	map_all(&map, false);
	ts_buf_put(&outline, ts_buf_bytes(&map.outline));
	ts_buf_put(&states, ts_buf_bytes(&map.states[1]));
	map_all(&map, true);
	assert_true(ts_bytes_eq(ts_buf_bytes(&outline), ts_buf_bytes(&map.outline)));
	assert_true(ts_bytes_eq(ts_buf_bytes(&states), ts_buf_bytes(&map.states[1])));
	ts_buf_release(&outline);
	ts_buf_release(&states);
	map_run_release(&map);
}

/* A parcel whose bytes were changed on purpose, the hash with them. */
static void seal(struct ts_buf *parcel)
{
	parcel->n -= 9;
	ts_parcel_end(parcel);
}

/* The last section: the steps of the last host. */
static void damage_last_section(struct ts_buf *parcel)
{
	parcel->p[parcel->n - 9 - 8] ^= 1; /* in the check sum of a gzip member */
	seal(parcel);
}

static void change_version(struct ts_buf *parcel)
{
	for (size_t i = 0; i + strlen(PACKAGE_VERSION) < parcel->n; i++)
		if (memcmp(parcel->p + i, PACKAGE_VERSION, strlen(PACKAGE_VERSION)) == 0) {
			parcel->p[i] = 'x';
			break;
		}
	seal(parcel);
}

TEST_IN_TMPDIR(what_does_not_belong_together_is_refused)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf other = TS_BUF_INIT;
	struct map_run map;

	make_hosts(2);
	map_run_find(&map, "hosts");
	map_all(&map, false);
	swap(&map.states[0], &other);
	expect_no_report(&map, "it is not the states of a file");
	ts_buf_put(&map.states[0], ts_buf_bytes(&map.states[1]));
	expect_no_report(&map, "are states of one file");
	ts_buf_clear(&map.states[0]);
	ts_buf_put(&map.states[0], ts_buf_bytes(&map.outline));
	expect_no_report(&map, "it is the outline of a run, not the states of a file");
	ts_buf_clear(&map.states[0]);
	ts_buf_put(&map.states[0], ts_buf_bytes(&other));
	change_version(&map.states[0]);
	expect_no_report(&map, "it was written by TPUsight x");
	swap(&map.states[0], &other);
	map.settings.idle_high *= 2; /* another run, by its thresholds */
	assert_int_equal(map_run_join(&map, false, NULL), TS_OK);
	expect_no_report(&map, "were made with another outline than run.outline");
	map.nr = 1;
	assert_int_equal(map_run_pass(&map, 0, NULL), TS_OK);
	expect_no_report(&map, "the states of 1 of 2 files are missing");
	map.nr = 2;
	make_file("hosts/host00.xplane.pb", TS_LIT("something else"));
	assert_int_not_equal(map_run_pass(&map, 0, &err), TS_OK);
	assert_non_null(strstr(err.text, "not a file of the run"));
	ts_buf_release(&other);
	map_run_release(&map);
}

/* They are known when the outlines of files are made; a run has the same in all of them. */
TEST_IN_TMPDIR(names_of_input_are_those_of_one_machine)
{
	struct ts_buf direct = TS_BUF_INIT, reduced = TS_BUF_INIT, plain = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct map_run map;

	make_hosts(2);
	map_run_find(&map, "hosts");
	assert_int_equal(map_run_direct(&map, 0, &plain, NULL), TS_OK);
	map.settings.input_names = TS_LIT("np.asarray*\n");
	assert_int_equal(map_run_direct(&map, 0, &direct, NULL), TS_OK);
	assert_false(ts_bytes_eq(ts_buf_bytes(&plain), ts_buf_bytes(&direct)));
	map_all(&map, false);
	assert_int_equal(map_run_report(&map, false, &reduced, NULL), TS_OK);
	assert_true(ts_bytes_eq(ts_buf_bytes(&direct), ts_buf_bytes(&reduced)));
	map.settings.input_names = TS_LIT("else\n");
	assert_int_equal(map_run_join(&map, false, &err), TS_USAGE);
	assert_non_null(strstr(err.text, "the outlines were made with other \"input_names\""));
	assert_true(map_run_outline(&map, 1));
	assert_int_equal(map_run_join(&map, false, &err), TS_UNSUPPORTED);
	assert_non_null(strstr(err.text, "are not those of the other files"));
	ts_buf_release(&direct);
	ts_buf_release(&reduced);
	ts_buf_release(&plain);
	map_run_release(&map);
}

/* Else a map of 2,048 hosts would hold what 2,048 hosts have. */
TEST_IN_TMPDIR(a_map_looks_at_the_steps_of_its_own_host_alone)
{
	struct ts_buf states = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct map_run map;

	make_hosts(3);
	map_run_find(&map, "hosts");
	map_all(&map, false);
	ts_buf_put(&states, ts_buf_bytes(&map.states[0]));
	damage_last_section(&map.outline);
	assert_int_equal(map_run_pass(&map, 0, &err), TS_OK);
	assert_true(ts_bytes_eq(ts_buf_bytes(&states), ts_buf_bytes(&map.states[0])));
	expect_no_report(&map, "run.outline: ");
	assert_int_equal(map_run_pass(&map, 2, &err), TS_FORMAT);
	assert_non_null(strstr(err.text, "run.outline: "));
	ts_buf_release(&states);
	map_run_release(&map);
}

TEST_IN_TMPDIR(damaged_files_of_a_step_are_refused)
{
	struct map_run map;

	make_hosts(1);
	map_run_find(&map, "hosts");
	map_all(&map, false);
	expect_damage(&map.outlines[0], TS_PARCEL_OUTLINE);
	expect_damage(&map.outline, TS_PARCEL_RUN);
	expect_damage(&map.states[0], TS_PARCEL_STATES);
	map_run_release(&map);
}

/* Before the first test leaves the folder. */
static int know_sources(void **state)
{
	source("");
	return 0;
}

TEST_GROUP(know_sources, NULL)
