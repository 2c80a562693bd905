/* SPDX-License-Identifier: MIT */
/* thresholds: what the doctor's rules compare with, and how each is set. */
#include "cli/cli.h"

#include "analysis/settings.h"
#include "base/buf.h"
#include "cli/report.h"
#include "result/schema/thresholds.def"
#include "write/report_json.h"

/* A unit may be empty: a number of things. */
#define THRESHOLD_CELLS(X) \
	X(name, ts_text(ts_bytes_of(setting->name))) \
	X(value, ts_real(ts_settings_get(settings, setting))) \
	X(default_, ts_real(setting->value)) \
	X(unit, ts_text_or_null(ts_bytes_of(setting->unit))) \
	X(meaning, ts_text(ts_bytes_of(setting->help)))

static void put_thresholds(struct ts_results *results, const struct ts_settings *settings)
{
	struct ts_result *result = TS_ADD(results, thresholds);
	struct ts_table *table = TS_TABLE(result, thresholds_thresholds);

	for (const struct ts_setting *setting = ts_setting_list; setting->name; setting++)
		TS_CELLS(result, table, thresholds_thresholds, THRESHOLD_CELLS);
	table->text_rows = table->nr_rows;
}

struct thresholds_options {
	struct ts_print_options print;
};

static enum ts_exit run_thresholds(struct ts_cli *cli)
{
	static const struct ts_schema *const schemas[] = { &ts_schema_thresholds, NULL };
	const struct thresholds_options *own = cli->own;
	struct ts_print_options print = own->print;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf out = TS_BUF_INIT;
	struct ts_results results;
	struct ts_report form;
	enum ts_status st;
	bool good;

	ts_results_init(&results);
	put_thresholds(&results, cli->settings);
	print.form.view = schemas[0]->name;
	form = ts_report_form(cli, &print);
	st = print.format && strcmp(print.format, "json") == 0
		     ? ts_report_object(&out, &results, schemas, &form, &err)
		     : ts_emit_report(cli, &print, &results, &out, &err);
	if (st)
		ts_complain(err.text);
	good = st == TS_OK && ts_print_to(cli, print.output, ts_buf_bytes(&out));
	ts_buf_release(&out);
	ts_results_release(&results);
	if (st)
		return ts_exit_of(st);
	return good ? TS_EXIT_DONE : TS_EXIT_SOME;
}

static const char *cmd_thresholds_format_at(const struct ts_command *command, size_t index)
{
	static const char *const formats[] = { "text", "json", "csv", NULL };

	return formats[index];
}

#define OWN struct thresholds_options
static const struct ts_option options[] = {
	TS_OPTION_FORMAT(OWN, print, cmd_thresholds_format_at),
	TS_OPTION_OUTPUT(OWN, print),
	TS_OPTION_JSON(OWN, print),
	TS_OPT_END,
};

const struct ts_command ts_command_thresholds = {
	.name = "thresholds",
	.summary = "List the thresholds of the doctor: value, default, unit, meaning.",
	.arguments = "",
	.help = "A threshold is set with --threshold NAME=VALUE, or in a file that --config "
		"names:\n"
		"{\"thresholds\": {\"idle_high\": 5}, \"input_names\": [\"read_records\", "
		"\"my_*\"]}\n"
		"Here the values are those that a report with the same options would have. The\n"
		"input_names are host events that are input, beside those that are known: each by\n"
		"its name, or by how it begins. \"step_mark\": \"train_step\" names the host "
		"events\n"
		"that are the steps, as --step-mark does.",
	.options = options,
	.own_size = sizeof(OWN),
	.no_paths = true,
	.run = run_thresholds,
};
