/* SPDX-License-Identifier: MIT */
/*
 * States of analyses through their saved form: a run whose every state is saved and loaded before it
 * is summed has the same report, byte for byte. Over the samples of tests/data, and over the corpus
 * where it is there.
 */
#include <dirent.h>

#include "tests/test.h"
#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "base/record.h"
#include "run/run.h"
#include "write/report_json.h"

TEST(every_state_says_its_members)
{
	for (size_t i = 0; ts_analyses[i]; i++) {
		const struct ts_analysis *analysis = ts_analyses[i];

		if ((analysis->block || analysis->interleaved) && !analysis->state)
			fail_msg("%s: .state is missing (base/record.h)", analysis->schema->name);
	}
}

TEST(numbers_of_members_are_their_own)
{
	for (size_t i = 0; ts_analyses[i]; i++) {
		const struct ts_record *record = ts_analyses[i]->state;

		for (size_t a = 0; record && a < record->nr_members; a++)
			for (size_t b = 0; b < a; b++)
				if (record->members[a].number > 0 &&
				    record->members[a].number == record->members[b].number)
					fail_msg("%s: %s and %s have one number", record->name,
						 record->members[a].name, record->members[b].name);
	}
}

/* Where TS_STATE_SEEDS names a folder, small states go there as seeds of tests/fuzz/state.c: of each
 * analysis the largest one. */
#define SMALL 4096

static void keep_seed(void *ctx, const struct ts_analysis *analysis, struct ts_bytes saved)
{
	static size_t largest[TS_MAX_ANALYSES];
	const char *folder = getenv("TS_STATE_SEEDS");
	char path[4096];
	size_t id = 0;
	FILE *file;

	while (ts_analyses[id] != analysis)
		id++;
	if (!folder || saved.n > SMALL || saved.n <= largest[id])
		return;
	largest[id] = saved.n;
	snprintf(path, sizeof(path), "%s/%s", folder, analysis->schema->name);
	file = fopen(path, "wb");
	assert_non_null(file);
	fprintf(file, "%s\n", analysis->schema->name);
	fwrite(saved.p, 1, saved.n, file);
	assert_int_equal(fclose(file), 0);
}

static const struct ts_state_sink sink = { NULL, keep_seed };

/* The report of a profile, with all rows of the viewers; empty: it cannot be read. */
static struct ts_buf report_of(struct ts_bytes bytes, const char *path,
			       const struct ts_state_sink *states)
{
	static const struct ts_report form = { .generator = "tpusight",
					       .version = "0",
					       .max_track_items = SIZE_MAX };
	struct ts_run_bytes item = { bytes, ts_bytes_of(path), TS_LIT("host"), NULL };
	struct ts_settings settings;
	struct ts_run_options options = { .nr_threads = 2,
					  .settings = &settings,
					  .overlay_budget = 2000,
					  .interleave = true,
					  .states = states };
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf json = TS_BUF_INIT;
	struct ts_run run;
	enum ts_status st;

	ts_settings_init(&settings);
	ts_run_init(&run);
	st = ts_run_open_bytes(&run, &item, 1, &options, &err);
	if (st == TS_OK) {
		st = ts_run_analyse(&run, &options, &err);
		if (st)
			fail_msg("%s: %s", path, err.text);
		assert_int_equal(ts_report_json(&json, &run.results, &form, &err), TS_OK);
	}
	ts_run_release(&run);
	return json;
}

static bool is_profile(const char *path)
{
	static const char *const endings[] = { ".xplane.pb", ".json.gz", ".trace.json" };
	struct ts_bytes bytes = ts_bytes_of(path);

	for (size_t i = 0; i < TS_NELEM(endings); i++)
		if (ts_bytes_ends(bytes, endings[i]))
			return true;
	return ts_bytes_has(bytes, "seeds/xplane/");
}

static size_t look_at_file(const char *path)
{
	struct ts_input input = TS_INPUT_INIT;
	struct ts_buf plain, again;
	size_t nr = 0;

	if (ts_input_open(&input, path, NULL))
		return 0;
	plain = report_of(input.bytes, path, NULL);
	again = report_of(input.bytes, path, &sink);
	if (!ts_bytes_eq(ts_buf_bytes(&plain), ts_buf_bytes(&again)))
		fail_msg("%s: the report differs when states are saved and loaded", path);
	nr = plain.n > 0;
	ts_buf_release(&plain);
	ts_buf_release(&again);
	ts_input_release(&input);
	return nr;
}

static size_t look_below(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[4096];
	size_t nr = 0;

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		nr += is_profile(path) ? look_at_file(path) : look_below(path);
	}
	if (dir)
		closedir(dir);
	return nr;
}

TEST(reports_do_not_change_when_states_are_saved_and_loaded)
{
	const char *corpus = getenv("TS_CORPUS");

	assert_true(look_below(TS_SRCDIR "/tests/data") > 10);
	look_below(TS_SRCDIR "/tests/fuzz/seeds/xplane");
	look_below(corpus ? corpus : TS_SRCDIR "/../shared/corpus");
}
