/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the saved state of an analysis, whose name is the first line. What loads is saved and
 * loaded again, with the same bytes; where the table of members says the sum, it is summed, too.
 */
#include "analysis/analysis.h"
#include "codec/record.h"
#include "tests/fuzz/mutate/mutator.h"

#define NR 64 /* hosts, lines, ops and so on that a state may speak of */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(titled)

static const struct ts_analysis *named(struct ts_bytes name)
{
	for (size_t i = 0; ts_analyses[i]; i++)
		if (ts_analyses[i]->state && ts_bytes_is(name, ts_analyses[i]->schema->name))
			return ts_analyses[i];
	return NULL;
}

static bool load(const struct ts_record *record, void *state, struct ts_bytes bytes,
		 struct ts_arena *arena)
{
	struct ts_record_limits limits;
	struct ts_error err = TS_ERROR_INIT;

	for (size_t i = 0; i < TS_NR_BY; i++)
		limits.nr[i] = NR;
	return ts_record_load(record, state, bytes, &limits, arena, &err) == TS_OK;
}

/* A state that loaded must load again from its own bytes, and save the same ones. */
static void save_and_load(const struct ts_record *record, void *state, struct ts_arena *arena)
{
	struct ts_buf once = TS_BUF_INIT, twice = TS_BUF_INIT;
	void *again = calloc(1, record->size);

	ts_record_save(record, state, &once);
	if (again && !once.failed && !arena->failed) {
		if (!load(record, again, ts_buf_bytes(&once), arena))
			abort();
		ts_record_save(record, again, &twice);
		if (!ts_bytes_eq(ts_buf_bytes(&once), ts_buf_bytes(&twice)))
			abort();
		ts_record_release(record, again);
	}
	free(again);
	ts_buf_release(&once);
	ts_buf_release(&twice);
}

static void sum(const struct ts_record *record, void *state)
{
	void *into = calloc(1, record->size);

	if (into && ts_record_merge(record, into, state, NULL) == TS_OK)
		(void)ts_record_merge(record, into, state, NULL);
	if (into)
		ts_record_release(record, into);
	free(into);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const uint8_t *end = n ? memchr(data, '\n', n) : NULL;
	const struct ts_analysis *analysis;
	struct ts_arena arena = TS_ARENA_INIT;
	void *state;

	if (!end)
		return 0;
	analysis = named((struct ts_bytes){ data, (size_t)(end - data) });
	state = analysis ? calloc(1, analysis->state->size) : NULL;
	if (!state)
		return 0;
	if (load(analysis->state, state, (struct ts_bytes){ end + 1, n - (size_t)(end + 1 - data) },
		 &arena)) {
		save_and_load(analysis->state, state, &arena);
		if (!analysis->merge)
			sum(analysis->state, state);
	}
	ts_record_release(analysis->state, state);
	free(state);
	ts_arena_release(&arena);
	return 0;
}
