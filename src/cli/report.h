/* What report, hlo and the profiling suite share: their options, and the report in the wanted form. */
#ifndef TS_CLI_REPORT_H
#define TS_CLI_REPORT_H

#include "cli/cli.h"

enum ts_status ts_set_format(struct ts_cli *cli, const char *value, struct ts_error *err);
enum ts_status ts_set_output(struct ts_cli *cli, const char *value, struct ts_error *err);
enum ts_status ts_set_view(struct ts_cli *cli, const char *value, struct ts_error *err);
enum ts_status ts_emit_report(const struct ts_cli *cli, const struct ts_results *results,
			      struct ts_buf *out, struct ts_error *err);

struct ts_report ts_report_form(const struct ts_cli *cli); /* as the options say */

/* A command that says something of each session below its paths. */
struct ts_door {
	enum ts_status (*emit)(const struct ts_cli *cli, const struct ts_results *results,
			       struct ts_buf *out, struct ts_error *err);
	size_t tree_rows; /* flow/run.h */
	bool merge;	  /* events of all lines as one, whatever the profile (flow/run.h) */
};
enum ts_exit ts_report_sessions(struct ts_cli *cli, const struct ts_door *door);

#endif
