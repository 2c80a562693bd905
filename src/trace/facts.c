/* SPDX-License-Identifier: MIT */
/* By the names of the report: `run.devices[].chip`, `overview.step_count`. */
#include "trace/facts.h"

#include "base/check.h"
#include "write/summary.h"

static const struct {
	const char *key;
	size_t field;	/* of the result "overview" */
	bool has_texts; /* of a list: its different texts are told; else how many rows */
	size_t column;
} sources[TS_TRACE_FACTS] = {
	{ "chip", TS_FIELD_AT(overview, run.devices), true, TS_COLUMN_AT(overview_device, chip) },
	{ "device_count", TS_FIELD_AT(overview, run.devices), false, 0 },
	{ "hosts", TS_FIELD_AT(overview, run.hosts), true, TS_COLUMN_AT(overview_host, name) },
	{ "step_count", TS_FIELD_AT(overview, overview.step_count), false, 0 },
	{ "health_score", TS_FIELD_AT(overview, overview.health_score), false, 0 },
	{ "duration_ps", TS_FIELD_AT(overview, run.duration_ps), false, 0 },
};

const char *ts_trace_fact_key(struct ts_bytes name)
{
	for (size_t i = 0; i < TS_TRACE_FACTS; i++)
		if (ts_bytes_is(name, sources[i].key))
			return sources[i].key;
	return NULL;
}

/* "TPU v5e, TPU v6e": each that is not the one before it. */
static enum ts_status trace_facts_join(const struct ts_list *list, size_t column,
				       struct ts_arena *arena, struct ts_bytes *all,
				       struct ts_error *err)
{
	struct ts_buf names = TS_BUF_INIT;
	struct ts_bytes last = { NULL, 0 };
	enum ts_status st;

	for (size_t i = 0; i < list->nr; i++) {
		struct ts_bytes name = ts_value_text(list->items[i * list->nr_columns + column]);

		if (name.n == 0 || ts_bytes_eq(name, last))
			continue;
		ts_buf_puts(&names, names.n ? ", " : "");
		ts_buf_put(&names, name);
		last = name;
	}
	*all = ts_arena_copy(arena, ts_buf_bytes(&names));
	st = !names.failed && (names.n == 0 || all->p) ? TS_OK : ts_fail_nomem(err);
	ts_buf_release(&names);
	return st;
}

enum ts_status ts_trace_facts(const struct ts_results *results, struct ts_arena *arena,
			      struct ts_perfetto_fact facts[TS_TRACE_FACTS], size_t *nr,
			      struct ts_error *err)
{
	const struct ts_result *overview = TS_FIND(results, overview);
	enum ts_status st = TS_OK;

	TS_ASSERT(results && arena && facts && nr);
	*nr = 0;
	for (size_t i = 0; i < TS_TRACE_FACTS && st == TS_OK; i++) {
		struct ts_value value = TS_GET_AT(overview, overview, sources[i].field);
		struct ts_perfetto_fact fact = { .key = sources[i].key, .number = -1 };

		if (value.type == TS_VALUE_LIST && sources[i].has_texts)
			st = trace_facts_join(value.as.list, sources[i].column, arena, &fact.text,
					      err);
		else if (value.type == TS_VALUE_LIST)
			fact.number = (int64_t)value.as.list->nr;
		else
			fact.number = ts_value_int(value);
		if (fact.text.n > 0 || fact.number >= 0)
			facts[(*nr)++] = fact;
	}
	return st;
}
