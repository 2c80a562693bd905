/* SPDX-License-Identifier: MIT */
/*
 * The profiling suite: commands that print one part of the analysis of a trace or an xplane, each a
 * struct. It says which results the command shows: as text one view after the other, as JSON one
 * object (write/report_json.h, ts_report_object()), as HTML the page, opened there; and what it can
 * write beside these.
 */
#ifndef TS_CLI_SUITE_H
#define TS_CLI_SUITE_H

#include "base/units.h"
#include "result/schema.h"
#include "cli/report.h"

struct ts_suite {
	const struct ts_schema *results[6]; /* the main one first */
	const struct ts_output *outputs[4]; /* beside ts_outputs, or instead of one of them */
	const char *file_format;	    /* one more, which the command itself writes; or NULL */
	size_t tree_rows;		    /* run/run.h */
};

/* The options of a command that has none of its own: a struct ts_print_options. */
extern const struct ts_option ts_suite_options[];
/* The rows for -o, --format and --json, for commands that have. */
#define TS_SUITE_OPTIONS(type, member)                                         \
	TS_SUITE_OUTPUT(type, member), TS_OPTION_ROWS(type, member), \
		TS_OPTION_ALL(type, member, "every row")
#define TS_SUITE_OUTPUT(type, member)                                                      \
	TS_OPTION_OUTPUT(type, member), TS_OPTION_FORMAT(type, member, ts_suite_format_at), \
		TS_OPTION_JSON(type, member)
const char *ts_suite_format_at(const struct ts_command *command, size_t index);
#define TS_MIN_DURATION(type, member, text)                                                \
	TS_OPT_DECIMAL(type, member.form.min_duration_ps, "min-duration-us", "N", 0, 1e12, \
		       (double)TS_PS_PER_US, "a number of microseconds", text)

/* Of a command of the suite whose options begin with a struct ts_print_options. */
enum ts_exit ts_suite_run(struct ts_cli *cli);
/* The same, for a command that reads sessions in a way of its own: .emit and .merge are set here. */
enum ts_exit ts_suite_report(const struct ts_cli *cli, const struct ts_print_options *print,
			     struct ts_door door);

#endif
