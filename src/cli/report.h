/* SPDX-License-Identifier: MIT */
/* What report, hlo and the profiling suite share: their options, and the report in the wanted form. */
#ifndef TS_CLI_REPORT_H
#define TS_CLI_REPORT_H

#include "cli/cli.h"
#include "model/sharding.h"
#include "write/output.h"

/* What commands that print a report are asked for. */
struct ts_print_options {
	const char *format;    /* NULL: text */
	const char *output;    /* a file; NULL or "-": the console */
	struct ts_report form; /* what options say of it; ts_report_form() adds the rest */
	bool tracks;
	bool all; /* every row of a view; of a whole report every view, where a screen was enough */
	uint64_t max_ops, max_steps; /* that tables list (run/run.h) */
};

/* Rows for the table of a command whose struct TYPE has a struct ts_print_options, MEMBER. */
#define TS_OPTION_FORMAT(type, member, names) \
	TS_OPT_NAME(type, member.format, "format", 'f', "FORMAT", names, true, "%s")
#define TS_OPTION_OUTPUT(type, member) \
	TS_OPT_TEXT(type, member.output, "output", 'o', "FILE", "write to FILE, not to the console", \
		    .place = TS_PLACE_WRITTEN)

#define TS_OPTION_JSON(type, member) \
	TS_OPT_PRESET(type, member.format, "json", "the same as --format json", "json")

/* Which rows of tables, and in which order. */
#define TS_OPTION_ROWS(type, member)                                                         \
	TS_OPT_COUNT(type, member.form.top, "top", 0, "N", 1, TS_OPTION_ANY, "a number of rows", \
		     .help = "N rows of a table (text: default 10)"),                          \
		TS_OPT_TEXT(type, member.form.sort, "sort", 0, "COLUMN",                        \
			    "rows in the order of COLUMN, its heading or its name in JSON: largest "  \
			    "first")
#define TS_OPTION_ALL(type, member, text) TS_OPT_FLAG(type, member.all, "all", 0, text)

/* Why collectives are in the modules: what XLA dumped of its partitioner, and the user's names of the axes. */
struct ts_dump_options {
	const char *folder, *mesh; /* NULL: not given */
};
#define TS_OPTION_XLA_DUMP(type, member)                                                      \
	TS_OPT_TEXT(type, member.folder, "xla-dump", 0, "FOLDER",                             \
		    "what XLA dumped of the partitioner: why each collective is there",          \
			    .place = TS_PLACE_READ),      \
		TS_OPT_CALL(type, member.mesh, "mesh", "AXES", ts_set_mesh,                   \
			    "the axes of its shardings: data=2,model=4")
enum ts_status ts_set_mesh(void *mesh, const char *value, struct ts_error *err);
/* .nr 0: none was given. */
struct ts_mesh ts_mesh_given(const struct ts_dump_options *options);

/* Every output (write/list.h) by its name, for TS_OPTION_FORMAT. */
const char *ts_format_at(const struct ts_command *command, size_t index);

/* Every view, for --view; results that have none of their own are drawn in the viewers only. */
const char *ts_view_at(const struct ts_command *command, size_t index);
/* Whether a screen is enough of a whole report; false: it has said what is wrong with the options. */
bool ts_report_settle(struct ts_print_options *print);

struct ts_report ts_report_form(const struct ts_cli *cli, const struct ts_print_options *print);
/* TS_USAGE: rows are chosen where the format has all of them. */
enum ts_status ts_check_rows(const struct ts_print_options *print, struct ts_error *err);
enum ts_status ts_emit_report(const struct ts_cli *cli, const struct ts_print_options *print,
			      const struct ts_results *results, struct ts_buf *out,
			      struct ts_error *err);

/* How a command reads the sessions below its paths, and what it prints of each. */
struct ts_door {
	enum ts_status (*emit)(const struct ts_cli *cli, const struct ts_print_options *print,
			       const struct ts_results *results, struct ts_buf *out,
			       struct ts_error *err);
	size_t tree_rows; /* these are as in struct ts_run_options (run/run.h) */
	bool interleave, no_python;
	const char *const *torch_logs;
	size_t nr_torch_logs;
	struct ts_dump_options dump;
};
/* Prints the report of a run that MAKE opens and analyses, as if a session was read. */
struct ts_run;
typedef enum ts_status ts_report_make(struct ts_run *run, void *ctx, struct ts_error *err);
enum ts_exit ts_report_run(const struct ts_cli *cli, const struct ts_print_options *print,
			   ts_report_make *make, void *ctx);
enum ts_exit ts_report_sessions(const struct ts_cli *cli, const struct ts_print_options *print,
				const struct ts_door *door);

#endif
