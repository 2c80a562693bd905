/* SPDX-License-Identifier: MIT */
/* States, as their analyses describe them. */
#include "run/state.h"

#include "codec/record.h"

#include "base/check.h"

void *ts_state_new(const struct ts_analysis *analysis)
{
	return calloc(1, analysis->state ? analysis->state->size : 1);
}

void ts_state_free(const struct ts_analysis *analysis, void **state)
{
	if (*state && analysis->state)
		ts_record_release(analysis->state, *state);
	free(*state);
	*state = NULL;
}

enum ts_status ts_state_merge(const struct ts_analysis *analysis, void *into, void *from,
			      const struct ts_context *ctx, struct ts_error *err)
{
	if (analysis->merge)
		return analysis->merge(into, from, ctx, err);
	TS_ASSERT(analysis->state);
	return ts_record_merge(analysis->state, into, from, err);
}

void ts_state_save(const struct ts_analysis *analysis, const void *state, struct ts_buf *out)
{
	TS_ASSERT(analysis->state && state);
	ts_record_save(analysis->state, state, out);
}

struct ts_record_limits ts_state_limits(const struct ts_profile *profile)
{
	TS_ASSERT(profile);
	return (struct ts_record_limits){ .nr = { [TS_BY_HOST] = profile->nr_hosts,
						  [TS_BY_PLANE] = profile->nr_planes,
						  [TS_BY_LINE] = profile->nr_lines,
						  [TS_BY_DEVICE] = profile->nr_devices,
						  [TS_BY_OP] = profile->nr_ops,
						  [TS_BY_MODULE] = profile->nr_modules } };
}

enum ts_status ts_state_load(const struct ts_analysis *analysis, void *state, struct ts_bytes bytes,
			     const struct ts_profile *profile, struct ts_arena *arena,
			     struct ts_error *err)
{
	const struct ts_record_limits limits = ts_state_limits(profile);

	TS_ASSERT(analysis->state && state);
	return ts_record_load(analysis->state, state, bytes, &limits, arena, err);
}

enum ts_status ts_state_pass_on(const struct ts_analysis *analysis, void *state,
				const struct ts_state_sink *sink, const struct ts_profile *profile,
				struct ts_arena *arena, struct ts_error *err)
{
	struct ts_buf bytes = TS_BUF_INIT;
	enum ts_status st;

	ts_state_save(analysis, state, &bytes);
	ts_record_release(analysis->state, state);
	if (!bytes.failed)
		sink->put(sink->ctx, analysis, ts_buf_bytes(&bytes));
	st = bytes.failed
		     ? ts_fail_nomem(err)
		     : ts_state_load(analysis, state, ts_buf_bytes(&bytes), profile, arena, err);
	ts_buf_release(&bytes);
	return st ? ts_fail_at(err, st, "%s", analysis->schema->name) : TS_OK;
}
