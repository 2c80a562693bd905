/* SPDX-License-Identifier: MIT */
/* Steps of map and reduce. */
#include "cli/steps.h"

#include "base/check.h"

static enum ts_status not_a_step(const struct ts_cli *cli, const char *const *steps,
				 struct ts_error *err)
{
	struct ts_buf names = TS_BUF_INIT;
	enum ts_status st;

	for (size_t i = 0; steps[i]; i++)
		ts_buf_printf(&names, "%s%s", i == 0 ? "" : steps[i + 1] ? ", " : " or ", steps[i]);
	st = names.failed ? ts_fail_nomem(err)
			  : ts_fail(err, TS_USAGE, "%s is not a step of %s (%.*s)", cli->paths[0],
				    cli->entry->name, TS_ARG(ts_buf_bytes(&names)));
	ts_buf_release(&names);
	return st;
}

enum ts_status ts_step_take(struct ts_cli *cli, const char *const *steps, size_t *step,
			    struct ts_error *err)
{
	TS_ASSERT(cli && cli->nr_paths > 0 && steps && step);
	for (*step = 0; steps[*step]; ++*step)
		if (strcmp(cli->paths[0], steps[*step]) == 0)
			break;
	if (!steps[*step])
		return not_a_step(cli, steps, err);
	memmove(cli->paths, cli->paths + 1, --cli->nr_paths * sizeof(*cli->paths));
	return TS_OK;
}

enum ts_status ts_step_take_line(struct ts_cli *cli, const char *list, size_t index,
				 struct ts_error *err)
{
	struct ts_input input = TS_INPUT_INIT;
	struct ts_bytes rest, line = { NULL, 0 };
	enum ts_status st = ts_note_input(cli, list, err);
	size_t nr = 0;

	TS_ASSERT(cli && list);
	if (st == TS_OK)
		st = ts_input_open(&input, list, err);
	if (st)
		return st;
	for (rest = input.bytes; rest.n > 0; nr++) {
		size_t n = ts_bytes_find(rest, "\n");

		if (nr == index)
			line = ts_bytes_cut(rest, 0, n);
		rest = ts_bytes_cut(rest, n + 1, rest.n);
	}
	if (line.n > 0 && line.p[line.n - 1] == '\r')
		line.n--;
	if (line.n == 0)
		st = ts_fail(err, TS_USAGE,
			     "--index %zu: %s ends before that line (the first one is 0)", index,
			     list);
	if (st == TS_OK) {
		line = ts_arena_copy(&cli->sources->arena, line);
		if (!line.p)
			st = ts_fail_nomem(err);
		else
			cli->paths[cli->nr_paths++] = (char *)(uintptr_t)line.p;
	}
	ts_input_release(&input);
	return st;
}

enum ts_status ts_step_input(const struct ts_cli *cli, const char *path, struct ts_input *input,
			     struct ts_map_input *opened, struct ts_error *err)
{
	enum ts_status st = ts_note_input(cli, path, err);

	TS_ASSERT(input && opened);
	if (st == TS_OK)
		st = ts_input_open(input, path, err);
	*opened = (struct ts_map_input){ input->bytes, path };
	return st;
}

enum ts_status ts_step_no_output(struct ts_error *err)
{
	return ts_fail(err, TS_USAGE, "say where to (-o FILE)");
}
