/*
 * The profiling suite: commands that print one part of the analysis of a trace or an xplane, each a
 * row. A row says which results the command shows: as text one view after the other, as JSON one
 * object (write/report_json.h, ts_report_object()), as HTML the page, opened there; and what it can
 * write beside these.
 */
#ifndef TS_CLI_SUITE_H
#define TS_CLI_SUITE_H

#include "cli/report.h"

struct ts_suite {
	const char *name;		    /* of the command */
	const char *results[6];		    /* names, the main one first */
	const struct ts_output *outputs[4]; /* beside ts_outputs, or instead of one of them */
	const char *file_format;	    /* one more, which the command itself writes; or NULL */
	int64_t min_duration_ps;	    /* without --min-duration-us */
	size_t tree_rows;		    /* flow/run.h */
};

extern const struct ts_option ts_suite_options[]; /* of commands that have none of their own */
/* The rows for -o, --format and --json, for commands that have. */
#define TS_SUITE_OPTIONS                                                               \
	{ "output", 'o', "FILE", "write to FILE, not to the console", ts_set_output }, \
		{ "format", 'f', "FORMAT", "text (default), json, html or csv",        \
		  ts_set_suite_format },                                               \
	{                                                                              \
		"json", 0, NULL, "the same as --format json", ts_set_json              \
	}
enum ts_status ts_set_suite_format(struct ts_cli *cli, const char *value, struct ts_error *err);
enum ts_status ts_set_json(struct ts_cli *cli, const char *value, struct ts_error *err);
/* --min-duration-us */
enum ts_status ts_set_min_duration(struct ts_cli *cli, const char *value, struct ts_error *err);

enum ts_exit ts_suite_run(struct ts_cli *cli);

#endif
