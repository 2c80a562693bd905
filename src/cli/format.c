/* SPDX-License-Identifier: MIT */
/* Which format a file is written in. */
#include "cli/format.h"

#include <ctype.h>
#include <strings.h>

#include "base/check.h"
#include "cli/cli.h"
#include "cli/suite.h"

static const struct ts_option *format_find_row(const struct ts_command *command, const char *name)
{
	for (const struct ts_option *row = command->options; row->name; row++)
		if (strcmp(row->name, name) == 0 && row->size == sizeof(const char *))
			return row;
	return NULL;
}

static bool format_ends_in(const char *path, const char *extension)
{
	size_t n = strlen(path), m = strlen(extension);

	return n > m && path[n - m - 1] == '.' && strcasecmp(path + n - m, extension) == 0;
}

/* The output that a file of this name is expected to be; NULL: the name does not say. */
static const struct ts_output *output_of(const char *path)
{
	for (size_t i = 0; ts_outputs[i]; i++)
		if (format_ends_in(path, ts_outputs[i]->extension))
			return ts_outputs[i];
	return NULL;
}

/* "x.json" of x.json.gz; false: the name does not end so, or more than PLAIN can hold. */
static bool format_is_packed(const char *path, char plain[256])
{
	size_t n = strlen(path);

	if (!format_ends_in(path, "gz") || n - 3 >= 256)
		return false;
	memcpy(plain, path, n - 3);
	plain[n - 3] = '\0';
	return output_of(plain) != NULL;
}

static bool has_format(const struct ts_option *row, const struct ts_command *command,
		       const char *format)
{
	const char *name;

	for (size_t i = 0; (name = ts_option_name(row, command, i)); i++)
		if (strcmp(name, format) == 0)
			return true;
	return false;
}

/* The ending of a path, as "docx" of report.docx; NULL: its name has none, as those of folders, devices and dates. */
static const char *format_ending_of(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	if (!dot || dot == name || !isalpha((unsigned char)dot[1]))
		return NULL;
	for (const char *c = dot + 1; *c; c++)
		if (!isalnum((unsigned char)*c))
			return NULL;
	return dot + 1;
}

/* Do files of the format end so? A suite's own formats have endings of their own. */
static bool is_written_as(const struct ts_command *command, const char *format,
			  const struct ts_output *expected)
{
	const struct ts_suite *suite = command->suite;

	if (strcmp(format, expected->name) == 0)
		return true;
	if (!suite || ts_output_find(format))
		return false;
	/* chrome and speedscope are JSON, folded stacks are text */
	return strcmp(expected->name, "json") == 0 || strcmp(expected->name, "text") == 0;
}

static enum ts_status format_refuse(const struct ts_option *row, const struct ts_command *command,
				    const char *path, const char *format, struct ts_error *err)
{
	struct ts_buf names = TS_BUF_INIT;
	const char *name;

	for (size_t i = 0; (name = ts_option_name(row, command, i)); i++)
		ts_buf_printf(&names, "%s%s", i ? ", " : "", name);
	ts_fail(err, TS_USAGE, "-o %s: %s does not write %s (it writes %.*s)", path, command->name,
		format, TS_ARG(ts_buf_bytes(&names)));
	ts_buf_release(&names);
	return TS_USAGE;
}

/* The name says nothing about the format, and neither does --format: which endings do. */
static enum ts_status refuse_ending(const struct ts_option *row, const struct ts_command *command,
				    const char *path, const char *ending, struct ts_error *err)
{
	struct ts_buf names = TS_BUF_INIT;

	for (size_t i = 0; ts_outputs[i]; i++)
		if (has_format(row, command, ts_outputs[i]->name))
			ts_buf_printf(&names, "%s.%s", names.n ? ", " : "",
				      ts_outputs[i]->extension);
	ts_fail(err, TS_USAGE,
		"-o %s: .%s does not say which format is meant (end the name in %.*s, or give "
		"--format)",
		path, ending, TS_ARG(ts_buf_bytes(&names)));
	ts_buf_release(&names);
	return TS_USAGE;
}

static enum ts_status format_choose(const struct ts_option *row, const struct ts_command *command,
				    const char *path, const char **format, struct ts_error *err)
{
	const struct ts_output *expected = output_of(path);
	char plain[256];

	if (format_is_packed(path, plain) &&
	    !(*format && command->suite && !ts_output_find(*format)))
		return ts_fail(err, TS_USAGE, "-o %s: it is not packed here (write %s)", path,
			       plain);
	if (!expected && !*format && format_ending_of(path))
		return refuse_ending(row, command, path, format_ending_of(path), err);
	if (!expected)
		return TS_OK;
	if (*format)
		return is_written_as(command, *format, expected)
			       ? TS_OK
			       : ts_fail(err, TS_USAGE,
					 "-o %s: the name says %s and the format is %s (change "
					 "one)",
					 path, expected->name, *format);
	if (!has_format(row, command, expected->name))
		return format_refuse(row, command, path, expected->name, err);
	*format = expected->name;
	return TS_OK;
}

const char *ts_output_path(const struct ts_cli *cli)
{
	const struct ts_option *row = format_find_row(cli->entry, "output");
	const char *path = NULL;

	TS_ASSERT(cli);
	if (row)
		memcpy(&path, (const char *)cli->own + row->offset, sizeof(path));
	return path;
}

enum ts_status ts_format_settle(struct ts_cli *cli, const struct ts_command *command,
				struct ts_error *err)
{
	const struct ts_option *format_row, *output_row;
	const char *format, *path;
	enum ts_status st;

	TS_ASSERT(cli && cli->own && command);
	format_row = format_find_row(command, "format");
	output_row = format_find_row(command, "output");
	if (!format_row || !output_row || cli->has_no_format)
		return TS_OK;
	memcpy(&format, (char *)cli->own + format_row->offset, sizeof(format));
	memcpy(&path, (char *)cli->own + output_row->offset, sizeof(path));
	if (!path || strcmp(path, "-") == 0)
		return TS_OK;
	st = format_choose(format_row, command, path, &format, err);
	memcpy((char *)cli->own + format_row->offset, &format, sizeof(format));
	return st;
}
