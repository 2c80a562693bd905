/* SPDX-License-Identifier: MIT */
/* schema: what results have, of their declarations. */
#include "cli/cli.h"

#include "base/check.h"
#include "write/schema.h"

struct schema_options {
	const char *format; /* NULL: the first */
	const char *output;
};

static const char *cmd_schema_format_at(const struct ts_command *command, size_t index)
{
	return ts_schema_formats[index].name;
}

static const struct ts_schema_format *find_format(const char *name)
{
	const struct ts_schema_format *format = ts_schema_formats;

	while (name && strcmp(format->name, name) != 0)
		format++; /* the option has one of these names */
	return format;
}

/* Without --format the name of the file says it. */
static enum ts_status prepare(struct ts_cli *cli, struct ts_error *err)
{
	struct schema_options *own = cli->own;

	cli->has_no_format = true;
	for (size_t i = 0; own->output && !own->format && ts_schema_formats[i].name; i++)
		if (ts_bytes_ends(ts_bytes_of(own->output), ts_schema_formats[i].ending))
			own->format = ts_schema_formats[i].name;
	return TS_OK;
}

static enum ts_exit run_schema(struct ts_cli *cli)
{
	const struct schema_options *own = cli->own;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf out = TS_BUF_INIT;
	bool good;

	find_format(own->format)->put(&out);
	if (out.failed) {
		ts_fail_nomem(&err);
		ts_complain(err.text);
	}
	good = !out.failed && ts_print_to(cli, own->output, ts_buf_bytes(&out));
	ts_buf_release(&out);
	return good ? TS_EXIT_DONE : TS_EXIT_SOME;
}

#define OWN struct schema_options
static const struct ts_option options[] = {
	TS_OPT_NAME(OWN, format, "format", 'f', "FORMAT", cmd_schema_format_at, true, "%s"),
	TS_OPT_TEXT(OWN, output, "output", 'o', "FILE", "write to FILE, not to the console",
		    .place = TS_PLACE_WRITTEN),
	TS_OPT_END,
};

const struct ts_command ts_command_schema = {
	.name = "schema",
	.summary =
		"Print what a report has: each field, table and column, its type and its meaning.",
	.arguments = "",
	.help = "json-schema is a JSON Schema (draft 2020-12) of what report --format json prints, "
		"with\n"
		"the results of compare, explain and thresholds below $defs. markdown is the "
		"glossary:\n"
		"every label, the names that bear it, its meaning, formula and unit. tables are "
		"those of\n"
		"docs/analyses: where each number comes from and when it is wrong. typescript "
		"and python\n"
		"are types of the results, as the page and the Python package have them.",
	.options = options,
	.own_size = sizeof(OWN),
	.no_paths = true,
	.prepare = prepare,
	.run = run_schema,
};
