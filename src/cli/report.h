/* What report and hlo share: their options, and the report in the wanted form. */
#ifndef TS_CLI_REPORT_H
#define TS_CLI_REPORT_H

#include "cli/cli.h"

enum ts_status ts_set_format(struct ts_cli *cli, const char *value, struct ts_error *err);
enum ts_status ts_set_output(struct ts_cli *cli, const char *value, struct ts_error *err);
enum ts_status ts_set_view(struct ts_cli *cli, const char *value, struct ts_error *err);
enum ts_status ts_emit_report(const struct ts_cli *cli, const struct ts_results *results,
			      struct ts_buf *out, struct ts_error *err);

#endif
