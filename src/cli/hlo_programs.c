/* SPDX-License-Identifier: MIT */
/*
 * What tpusight-before is told: --hlo [--topology=SLICE] KIND:PATH... -- OPTION..., the options as they were given. So all
 * of them mean the same for all programs.
 */
#include "cli/hlo_programs.h"

#include <sys/stat.h>

#include "base/buf.h"
#include "base/check.h"
#include "cli/external.h"
#include "io/input.h"
#include "read/hlo.h"

struct kind {
	const char *name; /* for the other program */
	const char *what; /* for people */
	bool is_compiled;
};

static const struct kind kinds[] = {
	[TS_HLO_STABLEHLO] = { "mlir", "StableHLO", false },
	[TS_HLO_EXPORT] = { "export", "a program that jax.export wrote", false },
	[TS_HLO_TEXT] = { "text", "a module as text", true },
};
static const struct kind folder = { "folder", "a folder", true };

/* NULL: hlo reads the path, or says what is wrong with it. */
static const struct kind *hlo_programs_kind_of(const char *path)
{
	struct ts_input input = TS_INPUT_INIT;
	enum ts_hlo_program program = TS_HLO_COMPILED;
	struct stat st;

	if (stat(path, &st) != 0)
		return NULL;
	if (S_ISDIR(st.st_mode))
		return &folder;
	if (!S_ISREG(st.st_mode))
		return NULL;
	if (ts_input_open(&input, path, NULL) == TS_OK)
		program = ts_hlo_program_of(input.bytes);
	ts_input_release(&input);
	return program == TS_HLO_COMPILED ? NULL : &kinds[program];
}

static bool needs_slice(const struct kind *kind, const char *path, const char *slice)
{
	struct ts_error err = TS_ERROR_INIT;

	if (kind->is_compiled || strchr(slice, ':'))
		return false;
	ts_fail(&err, TS_USAGE,
		"%s: is %s, which is compiled first (name the slice of chips: --topology v5e:2x2, "
		"for instance)",
		path, kind->what);
	ts_complain(err.text);
	return true;
}

/* A word that is not a path and not the -- before them. */
static bool is_option(const struct ts_cli *cli, const char *word)
{
	for (size_t i = 0; i < cli->nr_paths; i++)
		if (cli->paths[i] == word)
			return false;
	return strcmp(word, "--") != 0;
}

/* Words for the other program, in a row; they are of this process until it has become that. */
struct words {
	char **items;
	size_t nr, cap;
	struct ts_arena arena;
};

static enum ts_status add_word(struct words *words, const char *word, struct ts_error *err)
{
	if (!word || !ts_grow(&words->items, &words->cap, words->nr + 2, sizeof(*words->items)))
		return ts_fail_nomem(err);
	words->items[words->nr++] = (char *)(uintptr_t)word; /* execv() does not write there */
	words->items[words->nr] = NULL;
	return TS_OK;
}

static enum ts_status add_two(struct words *words, const char *first, const char *second,
			      struct ts_error *err)
{
	struct ts_bytes text = ts_arena_printf(&words->arena, "%s%s%c", first, second, '\0');

	return add_word(words, (const char *)text.p, err);
}

/* A path that hlo reads itself goes with the options. */
static enum ts_status hlo_programs_add_all(struct words *words, const struct ts_cli *cli,
					   const struct kind **found, const char *slice,
					   struct ts_error *err)
{
	enum ts_status st = add_word(words, "", err);

	if (st == TS_OK)
		st = add_word(words, "--hlo", err);
	if (st == TS_OK && slice[0])
		st = add_two(words, "--topology=", slice, err);
	for (size_t i = 0; i < cli->nr_paths && st == TS_OK; i++)
		if (found[i])
			st = add_two(words,
				     (const char *)ts_arena_printf(&words->arena, "%s:%c",
								   found[i]->name, '\0')
					     .p,
				     cli->paths[i], err);
	if (st == TS_OK)
		st = add_word(words, "--", err);
	for (size_t i = 1; cli->argv[i] && st == TS_OK; i++)
		if (is_option(cli, cli->argv[i]))
			st = add_word(words, cli->argv[i], err);
	for (size_t i = 0; i < cli->nr_paths && st == TS_OK; i++)
		if (!found[i])
			st = add_word(words, cli->paths[i], err);
	return st;
}

/* It comes back only where the other program is not there. */
static enum ts_exit hlo_programs_become(const struct ts_cli *cli, const struct kind **found,
					const char *slice)
{
	struct words words = { .arena = TS_ARENA_INIT };
	struct ts_error err = TS_ERROR_INIT;
	enum ts_exit code = TS_EXIT_NOTHING;

	if (hlo_programs_add_all(&words, cli, found, slice, &err) == TS_OK)
		code = ts_external_run(ts_external_find("before"), words.items);
	else
		ts_complain(err.text);
	free(words.items);
	ts_arena_release(&words.arena);
	return code;
}

bool ts_hlo_programs_hand_over(const struct ts_cli *cli, const char *slice, enum ts_exit *code)
{
	const struct kind **found = calloc(cli->nr_paths + 1, sizeof(*found));
	size_t nr = 0;
	bool is_refused = false;

	TS_ASSERT(cli && slice && code);
	for (size_t i = 0; found && i < cli->nr_paths; i++) {
		found[i] = hlo_programs_kind_of(cli->paths[i]);
		nr += found[i] != NULL;
		is_refused =
			is_refused || (found[i] && needs_slice(found[i], cli->paths[i], slice));
	}
	if (nr > 0)
		*code = is_refused ? TS_EXIT_USAGE : hlo_programs_become(cli, found, slice);
	free(found);
	return nr > 0;
}
