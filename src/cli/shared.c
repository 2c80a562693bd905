/* SPDX-License-Identifier: MIT */
/* The options that all commands have. */
#include "cli/cli.h"

#include <math.h>

#include "base/check.h"
#include "cli/config.h"
#include "io/input.h"

static enum ts_status set_threshold(void *member, const char *value, struct ts_error *err)
{
	struct ts_settings *const *settings = member;
	const char *equal = strchr(value, '=');
	struct ts_bytes name = ts_bytes_of(value);
	char *end;
	double number;

	if (!equal)
		return ts_fail(err, TS_USAGE, "%s is not NAME=VALUE", value);
	name.n = (size_t)(equal - value);
	number = strtod(equal + 1, &end);
	if (end == equal + 1 || *end || !isfinite(number))
		return ts_fail(err, TS_USAGE, "%s: the value is not a number", value);
	return ts_threshold_set(*settings, name, number, err);
}

static enum ts_status set_config(void *member, const char *value, struct ts_error *err)
{
	struct ts_cli *cli = (void *)((char *)member - offsetof(struct ts_cli, settings));
	struct ts_input input = TS_INPUT_INIT;
	enum ts_status st = ts_input_open(&input, value, err);

	if (st)
		return st;
	st = ts_note_input(cli, value, err);
	if (st == TS_OK)
		st = ts_config_apply(input.bytes, cli->settings, &cli->arena, err);
	ts_input_release(&input);
	return st ? ts_fail_at(err, st, "%s", value) : TS_OK;
}

static enum ts_status set_step_mark(void *member, const char *value, struct ts_error *err)
{
	struct ts_cli *cli = (void *)((char *)member - offsetof(struct ts_cli, settings));

	return ts_step_mark_set(cli->settings, value, &cli->arena, err);
}

static const char *const color_names[] = { "auto", "always", "never", NULL };

#define SHARED struct ts_cli
const struct ts_option ts_shared_options[] = {
	TS_OPT_COUNT(SHARED, nr_threads, "threads", 'j', "N", 1, 256, "a number of threads",
		     .help = "use N threads (default: one a processor)"),
	TS_OPT_COUNT(SHARED, nr_jobs, "jobs", 0, "N", 1, 64, "a number of reads",
		     .help = "N reads of a bucket at once (default: as its store likes)"),
	TS_OPT_FLAG(SHARED, quiet, "quiet", 'q', "print errors only"),
	TS_OPT_FLAG(SHARED, verbose, "verbose", 'v', "print more"),
	TS_OPT_CHOICE(SHARED, color, enum ts_color, "color", "WHEN", color_names, true, "%s"),
	TS_OPT_FLAG(SHARED, join_sessions, "join-sessions", 0,
		    "sessions that several hosts began together are one run"),
	TS_OPT_CALL(SHARED, settings, "threshold", "NAME=VALUE", set_threshold,
		    "set a threshold of the doctor (repeatable)"),
	TS_OPT_CALL(SHARED, settings, "config", "FILE", set_config,
		    "read thresholds, and what is input, from a JSON file"),
	TS_OPT_CALL(SHARED, settings, "step-mark", "NAME", set_step_mark,
		    "host events of this name (NAME* begin so) are the steps"),
	{ .name = "version", .kind = TS_OPTION_VERSION, .help = "print the version and end" },
	{ .name = "licenses",
	  .kind = TS_OPTION_LICENSES,
	  .help = "print the licence, and the notices of what others made, and end",
	  .is_of_program = true },
	{ .name = "help",
	  .letter = 'h',
	  .kind = TS_OPTION_HELP,
	  .help = "print this help and end" },
	TS_OPT_END,
};

bool ts_option_is_shared(const struct ts_option *option)
{
	TS_ASSERT(option);
	for (const struct ts_option *shared = ts_shared_options; shared->name; shared++)
		if (shared == option)
			return true;
	return false;
}
