/* SPDX-License-Identifier: MIT */
/*
 * DCN: collectives between slices, as libtpu's Megascale traces them. A plane of a host has an event for each execution of a
 * collective on each of its devices, and one for each of its actions; on the TPUs stand the ops that wait. Names and stats:
 * xprof/convert/megascale_perfetto (github.com/openxla/xprof).
 *
 * Which collective a send or recv is of follows from the time alone. A profile without the plane is not looked at.
 */
#include <math.h>

#include "analysis/analysis.h"
#include "base/order.h"
#include "base/record.h"
#include "base/units.h"
#include "model/plane_kind.h"
#include "result/schema/dcn.def"

#define MAX_EVENTS (1 << 18)   /* of a kind, a line: what comes behind them is left out */
#define NEAR_PS	   TS_PS_PER_US /* by so much an op may begin before its execution */

/* An execution of a collective on a device, as the plane has it. */
struct dcn_run {
	uint32_t host;
	uint64_t id; /* of the device, in the plane's own numbers */
	struct ts_bytes key, name;
	int64_t start_ps, end_ps;
	/* of the sum */
	uint32_t device;
	int64_t stall_ps, first_ps, last_ps; /* of its ops; .first_ps INT64_MAX: there are none */
	int64_t nr_bytes;
};

/* What a device received for an execution. */
struct dcn_receive {
	uint32_t host;
	uint64_t id;
	struct ts_bytes key;
	int64_t nr_bytes;
	double latency_us; /* -1: it is not said */
};

/* A send, recv or the wait for one. */
struct dcn_wait {
	uint32_t device;
	int64_t start_ps, dur_ps;
};

struct dcn_state {
	struct dcn_run *runs;
	size_t nr_runs, cap_runs;
	struct dcn_receive *receives;
	size_t nr_receives, cap_receives;
	struct dcn_wait *waits;
	size_t nr_waits, cap_waits;
	int64_t nr_over;
};

#define TS_SELF struct dcn_run
static TS_RECORD(run, TS_INDEX_KNOWN(1, host, TS_BY_HOST, TS_BY_HAND), TS_NUMBER(2, id, TS_BY_HAND),
		 TS_TEXT(3, key), TS_TEXT(4, name), TS_NUMBER(5, start_ps, TS_BY_HAND),
		 TS_NUMBER(6, end_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct dcn_receive
static TS_RECORD(receive, TS_INDEX_KNOWN(1, host, TS_BY_HOST, TS_BY_HAND),
		 TS_NUMBER(2, id, TS_BY_HAND), TS_TEXT(3, key), TS_NUMBER(4, nr_bytes, TS_BY_HAND),
		 TS_NUMBER(5, latency_us, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct dcn_wait
static TS_RECORD(wait, TS_INDEX_KNOWN(1, device, TS_BY_DEVICE, TS_BY_HAND),
		 TS_NUMBER(2, start_ps, TS_BY_HAND), TS_NUMBER(3, dur_ps, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct dcn_state
static TS_RECORD(dcn, TS_LIST(1, runs, run_record, TS_APPEND),
		 TS_LIST(2, receives, receive_record, TS_APPEND),
		 TS_LIST(3, waits, wait_record, TS_APPEND), TS_NUMBER(4, nr_over, TS_ADD));
#undef TS_SELF

static bool is_megascale(const struct ts_plane *plane)
{
	return plane->kind == TS_PLANE_CUSTOM && ts_bytes_starts(plane->name, TS_MEGASCALE_PLANE);
}

static bool dcn_applies(const struct ts_context *ctx)
{
	for (size_t i = 0; i < ctx->profile->nr_planes; i++)
		if (is_megascale(&ctx->profile->planes[i]))
			return true;
	return false;
}

static bool dcn_wants(const struct ts_context *ctx, const struct ts_line *line)
{
	const struct ts_plane *plane = &ctx->profile->planes[line->plane];

	return is_megascale(plane) ||
	       (plane->kind == TS_PLANE_TPU && ts_line_is_core(ctx->profile, line));
}

/* "device_0_gid_all-reduce.5_1$l0^i0": the device's number, and all-reduce.5. */
static bool dcn_parse(struct ts_bytes key, uint64_t *id, struct ts_bytes *name)
{
	size_t gid = ts_bytes_find(key, "_gid_"), end;
	size_t device = strlen("device_"), begin = gid + strlen("_gid_");

	if (!ts_bytes_starts(key, "device_") || gid >= key.n ||
	    !ts_bytes_u64(ts_bytes_cut(key, device, gid - device), id))
		return false;
	end = TS_MIN(ts_bytes_find(key, "$"), key.n);
	for (size_t at = end; at > begin; at--)
		if (key.p[at - 1] == '_') {
			end = at - 1;
			break;
		}
	*name = end > begin ? ts_bytes_cut(key, begin, end - begin) : (struct ts_bytes){ NULL, 0 };
	return name->n > 0;
}

static struct ts_stat dcn_stat(const struct ts_block *block, size_t i, const char *name)
{
	struct ts_stat stat = { .type = TS_STAT_INT, .number = TS_UNKNOWN };

	if (block->stat)
		block->stat(block, i, name, &stat);
	return stat;
}

/* "s1->0d|$c0=4194304": all chunks, but for those that a device sends to itself. */
static int64_t received_bytes(struct ts_bytes text)
{
	int64_t sum = 0;
	uint64_t from = 0, to = 0, size;

	for (size_t at = 0; at < text.n; at++) {
		struct ts_bytes rest = ts_bytes_cut(text, at, text.n);
		size_t n = 1;

		while (n < rest.n && rest.p[n] >= '0' && rest.p[n] <= '9')
			n++;
		if (rest.p[0] == 's')
			ts_bytes_u64(ts_bytes_cut(rest, 1, n - 1), &from);
		else if (rest.p[0] == '>')
			ts_bytes_u64(ts_bytes_cut(rest, 1, n - 1), &to);
		else if (rest.p[0] == '=' && from != to &&
			 ts_bytes_u64(ts_bytes_cut(rest, 1, n - 1), &size) && size < INT64_MAX)
			sum = ts_i64_add(sum, (int64_t)size);
	}
	return sum;
}

static enum ts_status add_receive(struct dcn_state *state, const struct ts_block *block, size_t i,
				  const struct dcn_run *run, struct ts_error *err)
{
	struct ts_stat latency = dcn_stat(block, i, "network_transport_latency_us");
	struct ts_stat sizes = dcn_stat(block, i, "buffer_sizes");

	if (!ts_grow(&state->receives, &state->cap_receives, state->nr_receives + 1,
		     sizeof(*state->receives)))
		return ts_fail_nomem(err);
	state->receives[state->nr_receives++] = (struct dcn_receive){
		.host = run->host,
		.id = run->id,
		.key = run->key,
		.nr_bytes = sizes.type == TS_STAT_TEXT ? received_bytes(sizes.text) : 0,
		.latency_us = latency.type == TS_STAT_REAL   ? latency.real
			      : latency.type == TS_STAT_TEXT ? -1
							     : (double)latency.number,
	};
	return TS_OK;
}

static enum ts_status add_runs(struct dcn_state *state, const struct ts_block *block,
			       struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < block->nr_events && st == TS_OK; i++) {
		struct ts_bytes event = block->profile->ops[block->op[i]].name;
		struct dcn_run run = { .host = block->profile->planes[block->line->plane].host,
				       .key = dcn_stat(block, i, "graph_key").text,
				       .start_ps = block->start_ps[i],
				       .end_ps = ts_i64_add(block->start_ps[i], block->dur_ps[i]) };

		if (!dcn_parse(run.key, &run.id, &run.name))
			continue;
		if (TS_MAX(state->nr_runs, state->nr_receives) >= MAX_EVENTS) {
			state->nr_over++;
		} else if (ts_bytes_is(event, "NetworkReceive END")) {
			st = add_receive(state, block, i, &run, err);
		} else if (ts_bytes_starts(event, "device_")) {
			if (!ts_grow(&state->runs, &state->cap_runs, state->nr_runs + 1,
				     sizeof(*state->runs)))
				return ts_fail_nomem(err);
			state->runs[state->nr_runs++] = run;
		}
	}
	return st;
}

static bool is_wait(const struct ts_op *op)
{
	return ts_bytes_is(op->category, "send") || ts_bytes_is(op->category, "recv") ||
	       ts_bytes_is(op->category, "send-done") || ts_bytes_is(op->category, "recv-done");
}

static enum ts_status add_waits(struct dcn_state *state, const struct ts_block *block,
				struct ts_error *err)
{
	for (size_t i = 0; i < block->nr_events; i++) {
		if (!is_wait(&block->profile->ops[block->op[i]]))
			continue;
		state->nr_over += state->nr_waits == MAX_EVENTS;
		if (state->nr_waits == MAX_EVENTS)
			continue;
		if (!ts_grow(&state->waits, &state->cap_waits, state->nr_waits + 1,
			     sizeof(*state->waits)))
			return ts_fail_nomem(err);
		state->waits[state->nr_waits++] =
			(struct dcn_wait){ block->profile->planes[block->line->plane].device,
					   block->start_ps[i], block->dur_ps[i] };
	}
	return TS_OK;
}

static enum ts_status dcn_block(void *arg, const struct ts_context *ctx,
				const struct ts_block *block, struct ts_error *err)
{
	return is_megascale(&ctx->profile->planes[block->line->plane]) ? add_runs(arg, block, err)
								       : add_waits(arg, block, err);
}

/* --- the sum */

TS_ORDER(by_id, struct dcn_run, TS_UP(host) TS_UP(id))
TS_ORDER(by_time, struct dcn_run, TS_UP(device) TS_UP(start_ps))
TS_ORDER(by_key, struct dcn_receive, TS_UP(host) TS_UP(id) TS_UP(key))

/* The Nth TPU of a host; TS_NONE: it has fewer. */
static uint32_t nth_device(const struct ts_profile *profile, uint32_t host, size_t n)
{
	for (uint32_t i = 0; i < profile->nr_devices; i++)
		if (profile->devices[i].host == host &&
		    profile->planes[profile->devices[i].plane].kind == TS_PLANE_TPU && n-- == 0)
			return i;
	return TS_NONE;
}

/* Runs are by host and id: the Nth id of a host is its Nth TPU. Those of none go. */
static void give_devices(struct dcn_state *sum, const struct ts_profile *profile)
{
	size_t nr = 0, n = 0;

	TS_SORT(sum->runs, sum->nr_runs, by_id);
	for (size_t i = 0; i < sum->nr_runs; i++) {
		struct dcn_run run = sum->runs[i];

		if (i > 0 && run.host != sum->runs[i - 1].host)
			n = 0;
		else if (i > 0 && run.id != sum->runs[i - 1].id)
			n++;
		sum->runs[i].device = nth_device(profile, run.host, n);
		sum->runs[i].stall_ps = 0;
		sum->runs[i].first_ps = INT64_MAX;
		sum->runs[i].last_ps = INT64_MIN;
		sum->runs[i].nr_bytes = 0;
	}
	for (size_t i = 0; i < sum->nr_runs; i++)
		if (sum->runs[i].device != TS_NONE)
			sum->runs[nr++] = sum->runs[i];
	sum->nr_runs = nr;
	TS_SORT(sum->runs, sum->nr_runs, by_time);
}

/* The execution on the device that began last before the time and goes on; NULL: there is none. */
static struct dcn_run *run_at(struct dcn_state *sum, uint32_t device, int64_t at_ps)
{
	size_t from = 0, to = sum->nr_runs;
	struct dcn_run *run;

	at_ps = ts_i64_add(at_ps, NEAR_PS);
	while (from < to) { /* the first behind it */
		size_t middle = from + (to - from) / 2;

		run = &sum->runs[middle];
		if (run->device < device || (run->device == device && run->start_ps <= at_ps))
			from = middle + 1;
		else
			to = middle;
	}
	run = from > 0 ? &sum->runs[from - 1] : NULL;
	return run && run->device == device && run->end_ps >= ts_i64_sub(at_ps, 2 * NEAR_PS) ? run
											     : NULL;
}

static void give_waits(struct dcn_state *sum)
{
	for (size_t i = 0; i < sum->nr_waits; i++) {
		const struct dcn_wait *wait = &sum->waits[i];
		struct dcn_run *run = run_at(sum, wait->device, wait->start_ps);

		if (!run)
			continue;
		run->stall_ps = ts_i64_add(run->stall_ps, wait->dur_ps);
		run->first_ps = TS_MIN(run->first_ps, wait->start_ps);
		run->last_ps = TS_MAX(run->last_ps, ts_i64_add(wait->start_ps, wait->dur_ps));
	}
}

/* --- rows */

struct dcn_row {
	uint32_t device;
	struct ts_bytes name;
	int64_t nr, stall_ps, observed_ps, nr_observed, nr_bytes;
	double latency_us, most_us; /* NaN: unknown */
};

TS_ORDER(by_name, struct dcn_run, TS_UP(device) TS_UP(name) TS_UP(start_ps))
TS_ORDER(longest_first, struct dcn_row, TS_DOWN(stall_ps) TS_UP(device) TS_UP(name))

/* Bytes of a run's receives; their latencies behind the *NR that are there. */
static int64_t receives_of(const struct dcn_state *sum, const struct dcn_run *run,
			   double *latencies, size_t *nr)
{
	const struct dcn_receive key = { .host = run->host, .id = run->id, .key = run->key };
	size_t from = 0, to = sum->nr_receives;
	int64_t nr_bytes = 0;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (by_key(&sum->receives[middle], &key) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	for (; from < sum->nr_receives && by_key(&sum->receives[from], &key) == 0; from++) {
		nr_bytes = ts_i64_add(nr_bytes, sum->receives[from].nr_bytes);
		if (sum->receives[from].latency_us >= 0 && *nr < sum->nr_receives)
			latencies[(*nr)++] = sum->receives[from].latency_us;
	}
	return nr_bytes;
}

/* The runs [FROM, UNTIL) of one collective on one device. LATENCIES: room for all receives. */
static struct dcn_row dcn_row_of(const struct dcn_state *sum, size_t from, size_t until,
				 double *latencies)
{
	struct dcn_row row = { .device = sum->runs[from].device,
			       .name = sum->runs[from].name,
			       .latency_us = NAN,
			       .most_us = NAN };
	size_t nr = 0;

	for (size_t i = from; i < until; i++) {
		const struct dcn_run *run = &sum->runs[i];

		row.nr++;
		row.stall_ps = ts_i64_add(row.stall_ps, run->stall_ps);
		row.nr_bytes = ts_i64_add(row.nr_bytes, receives_of(sum, run, latencies, &nr));
		if (run->first_ps > run->last_ps)
			continue;
		row.observed_ps = ts_i64_add(row.observed_ps, run->last_ps - run->first_ps);
		row.nr_observed++;
	}
	TS_SORT(latencies, nr, ts_double_order);
	if (nr > 0) {
		row.latency_us = (latencies[nr / 2] + latencies[(nr - 1) / 2]) / 2;
		row.most_us = latencies[nr - 1];
	}
	return row;
}

#define DCN_CELLS(X) \
	X(host, ts_int(device->host)) \
	X(device, ts_int(device->device_id >= 0 ? device->device_id : (int64_t)device->ordinal)) \
	X(name, ts_text(row->name)) \
	X(occurrences, ts_int(row->nr)) \
	X(stall_ps, row->nr_observed > 0 ? ts_int(row->stall_ps) : ts_null()) \
	X(observed_ps, \
	  row->nr_observed > 0 ? ts_int(row->observed_ps / row->nr_observed) : ts_null()) \
	X(bytes, row->nr_bytes > 0 ? ts_int(row->nr_bytes / row->nr) : ts_null()) \
	X(network_latency_us, ts_real(row->latency_us)) \
	X(network_latency_max_us, ts_real(row->most_us))

static enum ts_status dcn_put(struct dcn_state *sum, const struct ts_context *ctx,
			      struct ts_result *result, struct ts_error *err)
{
	struct ts_table *table = TS_TABLE(result, dcn_dcn);
	struct dcn_row *rows = calloc(sum->nr_runs + 1, sizeof(*rows));
	double *latencies = calloc(sum->nr_receives + 1, sizeof(*latencies));
	size_t nr = 0;

	TS_SORT(sum->runs, sum->nr_runs, by_name);
	TS_SORT(sum->receives, sum->nr_receives, by_key);
	for (size_t from = 0, until; rows && latencies && from < sum->nr_runs; from = until) {
		for (until = from; until < sum->nr_runs &&
				   sum->runs[until].device == sum->runs[from].device &&
				   ts_bytes_eq(sum->runs[until].name, sum->runs[from].name);)
			until++;
		rows[nr++] = dcn_row_of(sum, from, until, latencies);
	}
	if (rows)
		TS_SORT(rows, nr, longest_first);
	for (size_t i = 0; i < nr; i++) {
		const struct dcn_row *row = &rows[i];
		const struct ts_device *device = &ctx->profile->devices[row->device];

		TS_CELLS(result, table, dcn_dcn, DCN_CELLS);
	}
	if (sum->nr_over > 0)
		ts_result_note(result, "%lld events of transfers between slices are left out",
			       (long long)sum->nr_over);
	free(latencies);
	if (!rows || !latencies) {
		free(rows);
		return ts_fail_nomem(err);
	}
	free(rows);
	return TS_OK;
}

static enum ts_status dcn_close(void *arg, const struct ts_context *ctx, void *facts,
				struct ts_result *result, struct ts_error *err)
{
	struct dcn_state *sum = arg;

	if (sum->nr_runs == 0)
		return TS_OK;
	give_devices(sum, ctx->profile);
	give_waits(sum);
	return dcn_put(sum, ctx, result, err);
}

const struct ts_analysis ts_analysis_dcn = {
	.schema = &ts_schema_dcn,
	.pass = TS_PASS_FIRST,
	.columns = TS_COL_STATS,
	.state = &dcn_record,
	.applies = dcn_applies,
	.wants = dcn_wants,
	.block = dcn_block,
	.close = dcn_close,
};
