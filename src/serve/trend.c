/* SPDX-License-Identifier: MIT */
/* How runs went over time: their cards in the order of time, and what a gate says of each. */
#include "serve/trend.h"

#include "base/check.h"
#include "compare/gate.h"

#include <math.h>

#define TREND_MAX    512 /* runs in one answer */
#define DEFAULT_GATE "step_time_ms.median > baseline * 1.05"
#define PS_PER_MS    1e9

struct trend {
	const struct ts_listed *items[TREND_MAX]; /* the newest first */
	size_t nr;
	size_t nr_older; /* of the program, for which there was no room */
};

static bool trend_is_in(const char *list, const char *id)
{
	size_t n = strlen(id);

	for (; *list; list += strcspn(list, ","), list += *list == ',')
		if (strcspn(list, ",") == n && strncmp(list, id, n) == 0)
			return true;
	return false;
}

static size_t nr_of(const char *list)
{
	size_t nr = list[0] != '\0';

	for (; *list; list++)
		nr += *list == ',';
	return nr;
}

/* Who names runs wants those; of a program the newest are enough. */
static enum ts_status trend_choose(struct trend *trend, const struct ts_listed_runs *runs,
				   const char *ids, const char *program, struct ts_error *err)
{
	for (size_t i = 0; i < runs->nr; i++) {
		const struct ts_listed *listed = &runs->items[i];

		if (ids ? !trend_is_in(ids, listed->id)
			: strcmp(listed->card.program, program) != 0)
			continue;
		if (trend->nr < TREND_MAX)
			trend->items[trend->nr++] = listed;
		else
			trend->nr_older++;
	}
	if (ids && trend->nr_older > 0)
		return ts_fail(err, TS_USAGE, "more than %d runs (name fewer)", TREND_MAX);
	if (ids && trend->nr < nr_of(ids))
		return ts_fail(
			err, TS_NOTFOUND,
			"a run of runs= is not there, or is named twice (/api/runs lists them)");
	return TS_OK;
}

/* What a card knows, by the names that gates of `tpusight compare` have. */
static bool figure_of(const struct ts_card *card, struct ts_bytes path, double *value)
{
	const struct {
		const char *name;
		double value;
	} figures[] = {
		{ "step_time_ms.median", (double)card->step_median_ps / PS_PER_MS },
		{ "step_time_ms.p90", (double)card->step_p90_ps / PS_PER_MS },
		{ "wall_ms", (double)card->wall_ps / PS_PER_MS },
		{ "health_score", card->health_score },
	};

	for (size_t i = 0; i < TS_NELEM(figures); i++) {
		if (!ts_bytes_is(path, figures[i].name))
			continue;
		*value = figures[i].value >= 0 ? figures[i].value : NAN;
		return true;
	}
	for (enum ts_bucket b = 0; b < TS_NR_BUCKETS; b++) {
		char name[64];

		snprintf(name, sizeof(name), "buckets.%s_pct", ts_bucket_name(b));
		if (!ts_bytes_is(path, name))
			continue;
		*value = card->total_ps > 0 && card->bucket_ps[b] >= 0
				 ? 100.0 * (double)card->bucket_ps[b] / (double)card->total_ps
				 : NAN;
		return true;
	}
	return false;
}

static enum ts_status read_gate(const struct ts_request *request, struct ts_gate *gate,
				struct ts_error *err)
{
	const char *text = request->argument(request, "gate");
	struct ts_card any;
	size_t at;
	double value;

	ts_card_init(&any);
	if (ts_gate_parse(text && text[0] ? text : DEFAULT_GATE, gate, &at, err))
		return TS_USAGE;
	if (!figure_of(&any, gate->path, &value))
		return ts_fail(err, TS_USAGE,
			       "gate=: a list knows step_time_ms.median, step_time_ms.p90, "
			       "wall_ms, health_score and buckets.NAME_pct");
	return TS_OK;
}

static void trend_put_verdict(struct ts_json *json, const struct ts_gate *gate, double value,
			      double baseline)
{
	struct ts_gate_verdict verdict = ts_gate_judge(gate, true, value, baseline);

	ts_json_key(json, "gate");
	ts_json_object(json);
	ts_json_put_text(json, "state", ts_gate_state_name(verdict.state));
	ts_json_put_double(json, "value", verdict.value);
	ts_json_put_double(json, "limit", verdict.limit);
	ts_json_object_end(json);
}

/* The baseline is the first run of which the figure is known; it is not judged by itself. */
static void trend_put_points(struct ts_json *json, const struct trend *trend,
			     const struct ts_gate *gate)
{
	double baseline = NAN;

	ts_json_key(json, "runs");
	ts_json_array(json);
	for (size_t i = trend->nr; i-- > 0;) {
		const struct ts_listed *listed = trend->items[i];
		double value = NAN;

		(void)figure_of(&listed->card, gate->path, &value);
		ts_json_object(json);
		ts_listed_put(json, listed);
		if (gate->of_baseline && isnan(baseline)) {
			ts_json_key(json, "gate");
			ts_json_null(json);
			baseline = value;
		} else {
			trend_put_verdict(json, gate, value, baseline);
		}
		ts_json_object_end(json);
	}
	ts_json_array_end(json);
}

enum ts_status ts_trend_put(struct ts_json *json, const struct ts_listed_runs *runs,
			    const struct ts_request *request, struct ts_error *err)
{
	const char *ids = request->argument(request, "runs");
	const char *program = request->argument(request, "program");
	struct trend trend = { .nr = 0 };
	struct ts_gate gate;
	enum ts_status st;

	TS_ASSERT(json && runs && request);
	ids = ids && ids[0] ? ids : NULL;
	program = program && program[0] ? program : NULL;
	if (!ids == !program)
		return ts_fail(err, TS_USAGE, "which runs? (runs=ID,ID or program=NAME)");
	st = read_gate(request, &gate, err);
	if (st == TS_OK)
		st = trend_choose(&trend, runs, ids, program, err);
	if (st)
		return st;
	ts_json_object(json);
	ts_json_put_string(json, "gate", gate.text);
	ts_json_put_bool(json, "is_known", runs->is_known);
	ts_json_put_i64(json, "older_count", (int64_t)trend.nr_older);
	trend_put_points(json, &trend, &gate);
	ts_json_object_end(json);
	return TS_OK;
}
