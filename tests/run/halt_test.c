/* SPDX-License-Identifier: MIT */
/* Analyses end soon after nobody wants them any more, and say so. */
#include "tests/test.h"

#include <stdatomic.h>

#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "run/run.h"

static const char sample[] =
	"/tests/data/sample/train_step_simulated/plugins/profile/2026_01_01_00_00_00/"
	"simulated-host.xplane.pb";

struct patience {
	atomic_int nr_asked;
	int limit;
};

static bool is_over(void *ctx)
{
	struct patience *patience = ctx;

	return atomic_fetch_add(&patience->nr_asked, 1) >= patience->limit;
}

static enum ts_status analyse(struct patience *patience)
{
	const struct ts_halt halt = { is_over, patience };
	const char *top = getenv("srcdir");
	struct ts_settings settings;
	struct ts_run_options options = { .nr_threads = 1, .settings = &settings, .halt = &halt };
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_run run;
	char path[4096];
	enum ts_status st;

	snprintf(path, sizeof(path), "%s%s", top ? top : ".", sample);
	ts_settings_init(&settings);
	assert_int_equal(ts_runs_find(&runs, path, &err), TS_OK);
	ts_run_init(&run);
	assert_int_equal(ts_run_open(&run, &runs.sessions[0], &options, &err), TS_OK);
	st = ts_run_analyse(&run, &options, &err);
	ts_run_release(&run);
	ts_runs_release(&runs);
	return st;
}

TEST(what_is_wanted_is_made)
{
	struct patience patience = { .limit = INT32_MAX };

	assert_int_equal(analyse(&patience), TS_OK);
	assert_true(atomic_load(&patience.nr_asked) > 3);
}

TEST(what_nobody_waits_for_ends_with_the_next_block)
{
	struct patience patience = { .limit = 2 };

	assert_int_equal(analyse(&patience), TS_HALTED);
	assert_int_equal(atomic_load(&patience.nr_asked), 3);
}
