/* SPDX-License-Identifier: MIT */
/*
 * What the critical path is made of: of the run, of each step, and span by span of some steps. A path is walked over what was recorded,
 * so its parts sum up to the time from a step's start to that of the next one.
 */
#include "analysis/waits/critical_path.h"

#include "analysis/kit/cells.h"
#include "base/check.h"
#include "base/order.h"
#include "result/schema/critical_path.def"

#define MAX_PARTS 64 /* rows */
#define MAX_DRAWN 4 /* steps with spans */
#define MAX_SPANS 512 /* of a step */

enum part_kind {
	PART_OPS,
	PART_COLLECTIVES,
	PART_TRANSFERS,
	PART_HOST,
	PART_INPUT,
	PART_COMPILE,
	PART_LAUNCH,
	PART_IDLE,
	NR_PART_KINDS
};
static const char *const part_names[NR_PART_KINDS] = {
	"op", "collective", "transfer", "host", "input", "compilation", "launch", "idle",
};

/* An op, or what a host did, on one device. */
struct part {
	enum part_kind kind;
	struct ts_bytes name;
	uint32_t device;
	int64_t ps, nr;
};

struct span {
	int64_t start_ps, end_ps, longest_ps;
	uint32_t device;
	enum part_kind kind;
	struct ts_bytes op; /* that has most of it */
};

struct step_path {
	struct ts_run_step of;
	uint32_t row;
	int64_t end_ps;
	int64_t ps[NR_PART_KINDS];
};

struct path_report {
	struct ts_path path;
	struct ts_replay replay;
	struct ts_result *result;
	struct part *parts;
	size_t nr_parts, cap_parts;
	struct ts_map by_part;
	uint64_t *hashes; /* of names */
	size_t nr_hashes, cap_hashes;
	struct ts_map by_name; /* where it stands -> its place in .hashes */
	/* Of the walk at hand. */
	int64_t *ps, weight;
	struct span *spans; /* NULL: they are not asked for */
	size_t nr_spans;
	bool failed;
};

static enum part_kind critical_path_report_kind(const struct ts_op *op)
{
	if (op->kind == TS_OP_COLLECTIVE ||
	    TS_OPCODE_IN(op->category_id, TS_OPCODE_SEND, TS_OPCODE_SEND_DONE, TS_OPCODE_RECV,
			 TS_OPCODE_RECV_DONE))
		return PART_COLLECTIVES;
	return op->kind == TS_OP_HOST || op->async != TS_ASYNC_NONE ? PART_TRANSFERS : PART_OPS;
}

static void critical_path_report_add_span(struct path_report *report, enum part_kind kind,
					  struct ts_bytes name, uint32_t device, int64_t start_ps,
					  int64_t end_ps)
{
	struct span *last = report->nr_spans > 0 ? &report->spans[report->nr_spans - 1] : NULL;

	if (last && last->kind == kind && last->device == device && last->start_ps == end_ps) {
		last->start_ps = start_ps;
		if (end_ps - start_ps <= last->longest_ps)
			return;
		last->longest_ps = end_ps - start_ps;
		last->op = name;
	} else if (report->nr_spans < MAX_SPANS)
		report->spans[report->nr_spans++] =
			(struct span){ start_ps, end_ps, end_ps - start_ps, device, kind, name };
}

/* A name may be long, and very many parts have it: each is hashed once, where it stands. */
static uint64_t critical_path_report_hash(struct path_report *report, struct ts_bytes name)
{
	const uint64_t place[] = { (uint64_t)(uintptr_t)name.p, name.n };
	uint64_t key = ts_hash((struct ts_bytes){ (const uint8_t *)place, sizeof(place) }, 0);
	uint32_t at = ts_map_find(&report->by_name, key);

	if (at != TS_NONE)
		return report->hashes[at];
	at = (uint32_t)report->nr_hashes;
	if (!ts_grow(&report->hashes, &report->cap_hashes, report->nr_hashes + 1,
		     sizeof(*report->hashes)) ||
	    !ts_map_set(&report->by_name, key, at)) {
		report->failed = true;
		return 0;
	}
	report->hashes[report->nr_hashes++] = ts_hash(name, 0);
	return report->hashes[at];
}

static uint64_t critical_path_report_key(struct path_report *report, enum part_kind kind,
					 struct ts_bytes name, uint32_t device)
{
	const uint64_t part[] = { critical_path_report_hash(report, name),
				  (uint64_t)device * NR_PART_KINDS + kind };

	return ts_hash((struct ts_bytes){ (const uint8_t *)part, sizeof(part) }, 0);
}

static void critical_path_report_add(struct path_report *report, enum part_kind kind,
				     struct ts_bytes name, uint32_t device, int64_t start_ps,
				     int64_t end_ps)
{
	uint64_t key;
	uint32_t at;

	if (end_ps <= start_ps)
		return;
	report->ps[kind] += end_ps - start_ps;
	if (report->spans)
		critical_path_report_add_span(report, kind, name, device, start_ps, end_ps);
	key = critical_path_report_key(report, kind, name, device);
	at = ts_map_find(&report->by_part, key);
	if (at == TS_NONE) {
		at = (uint32_t)report->nr_parts;
		if (!ts_room_grow(report->path.graph.rooms, &report->parts, &report->cap_parts,
				  report->nr_parts + 1, sizeof(*report->parts)) ||
		    !ts_map_set(&report->by_part, key, at)) {
			report->failed = true;
			return;
		}
		report->parts[report->nr_parts++] =
			(struct part){ .kind = kind, .name = name, .device = device };
	}
	report->parts[at].ps += (end_ps - start_ps) * report->weight;
	report->parts[at].nr += report->weight;
}

/* What the host's event is called that the gap passed in, by the longest gaps of the run; nothing: it is none of them. */
static struct ts_bytes critical_path_report_witness(const struct path_report *report, uint32_t node)
{
	const struct ts_context *ctx = report->path.ctx;
	struct ts_time_gap gap = ts_path_time_gap(&report->path, node);

	return ts_gap_witness_of(ts_gaps_facts(ctx), ts_time_facts(ctx), &gap).event;
}

/* What a thread did, or its host while a core had no op; nothing: it is not known. */
static struct ts_bytes critical_path_report_event(const struct path_report *report, uint32_t node)
{
	uint8_t kind = report->path.graph.nodes[node].kind;
	uint32_t op = TS_NONE;

	if (kind == TS_PATH_GAP)
		return critical_path_report_witness(report, node);
	if (kind == TS_PATH_THREAD)
		op = ts_path_stream_moment(&report->path, node)->op;
	return op == TS_NONE ? (struct ts_bytes){ NULL, 0 }
			     : report->path.ctx->profile->ops[op].name;
}

/* Time without an op: what the host did, as far as that is known. */
static void critical_path_report_add_gap(struct path_report *report,
					 const struct ts_graph_part *part)
{
	static const enum part_kind kinds[TS_NR_PAUSES] = {
		[TS_BUCKET_COMPILATION - TS_FIRST_PAUSE] = PART_COMPILE,
		[TS_BUCKET_INPUT - TS_FIRST_PAUSE] = PART_INPUT,
		[TS_BUCKET_LAUNCH - TS_FIRST_PAUSE] = PART_LAUNCH,
		[TS_BUCKET_IDLE - TS_FIRST_PAUSE] = PART_IDLE,
	};
	uint32_t device = report->path.device[report->path.graph.nodes[part->node].row];
	struct ts_bytes event = critical_path_report_event(report, part->node);
	struct ts_path_gap gap =
		ts_path_gap_of(&report->path, part->node, part->start_ps, part->end_ps);
	int64_t at_ps = part->start_ps;

	for (int i = 0; i < TS_NR_PAUSES; i++) {
		bool is_rest = kinds[i] == PART_IDLE;
		int64_t end_ps = is_rest ? part->end_ps : at_ps + gap.ps[i];

		critical_path_report_add(report, is_rest && event.n > 0 ? PART_HOST : kinds[i],
					 event, device, at_ps, end_ps);
		at_ps = end_ps;
	}
}

static void critical_path_report_take(void *arg, const struct ts_graph_part *part)
{
	struct path_report *report = arg;
	const struct ts_graph_node *node;
	const struct ts_op *op;

	if (part->node == TS_GRAPH_NONE) {
		report->ps[PART_IDLE] += part->end_ps - part->start_ps;
		return;
	}
	node = &report->path.graph.nodes[part->node];
	if (ts_path_is_gap(&report->path, part->node))
		critical_path_report_add_gap(report, part);
	if (node->kind != TS_PATH_OP)
		return;
	op = &report->path.ctx->profile->ops[node->what];
	critical_path_report_add(report, critical_path_report_kind(op), op->name,
				 report->path.device[node->row], part->start_ps, part->end_ps);
}

/* On which row the path of what ends at END_PS begins: where something ran last. */
static uint32_t critical_path_report_last_row(const struct path_report *report, int64_t end_ps)
{
	uint32_t best = TS_GRAPH_NONE;
	int64_t best_ps = INT64_MIN;

	for (uint32_t row = 0; row < report->path.graph.nr_rows; row++) {
		uint32_t node = ts_replay_node_at(&report->replay, row, end_ps);
		int64_t ps = end_ps;

		if (node == TS_GRAPH_NONE)
			continue;
		if (report->path.graph.nodes[node].kind != TS_PATH_OP)
			ps = report->path.graph.nodes[node].start_ps;
		if (ps > best_ps) {
			best_ps = ps;
			best = row;
		}
	}
	return best;
}

static void critical_path_report_walk(struct path_report *report, int64_t start_ps, int64_t end_ps)
{
	uint32_t row = critical_path_report_last_row(report, end_ps);

	if (row != TS_GRAPH_NONE)
		ts_replay_path_within(&report->replay, row, start_ps, end_ps,
				      critical_path_report_take, report);
}

static struct ts_value critical_path_report_device_name(const struct path_report *report,
							uint32_t device)
{
	return ts_text(report->path.ctx->profile->devices[device].name);
}

static struct ts_value critical_path_report_host_name(const struct path_report *report,
						      uint32_t device)
{
	const struct ts_profile *profile = report->path.ctx->profile;

	return ts_text_or_null(profile->hosts[profile->devices[device].host].name);
}

#define SPAN_ITEMS(X) \
	X(row, ts_text(report->path.ctx->profile->devices[span->device].label)) \
	X(device_id, ts_int(span->device)) \
	X(start_ps, ts_int(span->start_ps)) \
	X(dur_ps, ts_int(span->end_ps - span->start_ps)) \
	X(kind, ts_text(ts_bytes_of(part_names[span->kind]))) \
	X(op, ts_text_or_null(span->op))

/* In the order of time; the walk found them from the end back. */
static struct ts_value critical_path_report_span_list(struct path_report *report)
{
	struct ts_value list;
	struct ts_critical_path_span_row *row;

	if (!report->spans)
		return ts_null();
	list = TS_ITEMS(report->result, critical_path_span, report->nr_spans);
	row = TS_ITEM_ROWS(list, critical_path_span);
	for (size_t i = 0; row && i < report->nr_spans; i++) {
		const struct span *span = &report->spans[report->nr_spans - 1 - i];

		TS_ITEM_CELLS(&row[i], critical_path_span, SPAN_ITEMS);
	}
	return list;
}

#define STEP_CELLS(X) \
	X(step, ts_int((int64_t)step->of.number)) \
	X(start_ps, ts_int(step->of.start_ps)) \
	X(duration_ps, ts_int(step->end_ps - step->of.start_ps)) \
	X(ops_ps, ts_int(step->ps[PART_OPS])) \
	X(collectives_ps, ts_int(step->ps[PART_COLLECTIVES])) \
	X(transfers_ps, ts_int(step->ps[PART_TRANSFERS])) \
	X(host_ps, ts_int(step->ps[PART_HOST])) \
	X(input_ps, ts_int(step->ps[PART_INPUT])) \
	X(compile_ps, ts_int(step->ps[PART_COMPILE])) \
	X(launch_ps, ts_int(step->ps[PART_LAUNCH])) \
	X(idle_ps, ts_int(step->ps[PART_IDLE])) \
	X(spans, critical_path_report_span_list(report))

/* The steps of the run that are kept and ran, each up to the start of the next one. The caller frees them. */
static struct step_path *critical_path_report_find_steps(const struct path_report *report,
							 size_t *nr, struct ts_error *err)
{
	const struct ts_steps *all = &report->path.ctx->outline->steps;
	struct step_path *steps = calloc(all->nr_steps + 1, sizeof(*steps));
	struct step_path *before = NULL;
	struct ts_steps_walk walk;
	struct ts_run_step step;

	*nr = 0;
	if (!steps || ts_steps_walk_open(&walk, all, err)) {
		free(steps);
		ts_fail_nomem(err);
		return NULL;
	}
	while (ts_steps_walk_next(&walk, &step)) {
		if (step.cores == 0)
			continue;
		if (before)
			before->end_ps = TS_MAX(step.start_ps, before->of.start_ps);
		before = NULL;
		if (step.start_ps >= report->path.until_ps ||
		    !ts_path_keeps(report->path.ctx, report->path.level, walk.row - 1))
			continue;
		before = &steps[(*nr)++];
		*before =
			(struct step_path){ .of = step,
					    .row = walk.row - 1,
					    .end_ps = step.start_ps + ts_run_step_duration(&step) };
	}
	ts_steps_walk_close(&walk);
	return steps;
}

/* The step that a page draws as the usual one is the nearest to the mean (picture/picture_steps.c). */
static size_t critical_path_report_nearest(const struct step_path *steps, size_t nr, int64_t to_ps,
					   const bool *chosen)
{
	size_t best = nr;
	int64_t best_ps = INT64_MAX;

	for (size_t i = 0; i < nr; i++) {
		int64_t ps = ts_i64_sub(ts_run_step_duration(&steps[i].of), to_ps);

		ps = ps < 0 ? -ps : ps;
		if (!chosen[i] && ps < best_ps) {
			best_ps = ps;
			best = i;
		}
	}
	return best;
}

static int64_t critical_path_report_mean(const struct step_path *steps, size_t nr)
{
	int64_t sum_ps = 0;

	for (size_t i = 0; i < nr; i++)
		sum_ps = ts_i64_add(sum_ps, ts_run_step_duration(&steps[i].of));
	return sum_ps / (int64_t)TS_MAX(nr, 1);
}

/* Which of the steps have spans: that nearest to the mean, that of median length, and the longest ones. NULL: no memory. */
static bool *critical_path_report_choose(const struct path_report *report,
					 const struct step_path *steps, size_t nr)
{
	bool *chosen = calloc(nr + 1, sizeof(*chosen));

	for (int i = 0; chosen && i < MAX_DRAWN; i++) {
		int64_t to_ps = i == 0	 ? critical_path_report_mean(steps, nr)
				: i == 1 ? report->path.ctx->steps->median_ps
					 : INT64_MAX;

		chosen[critical_path_report_nearest(steps, nr, to_ps, chosen)] = true;
	}
	return chosen;
}

static enum ts_status critical_path_report_put_steps(struct path_report *report,
						     struct step_path *steps, size_t nr,
						     struct ts_error *err)
{
	struct ts_table *table = TS_TABLE(report->result, critical_path_steps);
	struct span *spans = calloc(MAX_SPANS, sizeof(*spans));
	bool *chosen = critical_path_report_choose(report, steps, nr);
	bool good = spans && chosen;

	for (size_t i = 0; good && i < nr; i++) {
		struct step_path *step = &steps[i];

		report->ps = step->ps;
		report->weight = ts_path_weight(&report->path, step->row);
		report->nr_spans = 0;
		report->spans = chosen[i] ? spans : NULL;
		critical_path_report_walk(report, step->of.start_ps, step->end_ps);
		TS_CELLS(report->result, table, critical_path_steps, STEP_CELLS);
	}
	report->spans = NULL;
	free(spans);
	free(chosen);
	return good ? TS_OK : ts_fail_nomem(err);
}

TS_ORDER(critical_path_report_longest_first, struct part,
	 TS_DOWN(ps) TS_UP(kind) TS_UP(name) TS_UP(device))

#define PART_CELLS(X) \
	X(kind, ts_text(ts_bytes_of(part_names[part->kind]))) \
	X(name, ts_text_or_null(part->name)) \
	X(device, critical_path_report_device_name(report, part->device)) \
	X(host, critical_path_report_host_name(report, part->device)) \
	X(device_id, ts_int(part->device)) \
	X(path_ps, ts_int(part->ps)) \
	X(path_pct, ts_part_pct(part->ps, total_ps)) \
	X(count, ts_int(part->nr))

static void critical_path_report_put_parts(struct path_report *report, int64_t total_ps)
{
	struct ts_table *table = TS_TABLE(report->result, critical_path_parts);

	TS_SORT(report->parts, report->nr_parts, critical_path_report_longest_first);
	for (size_t i = 0; i < TS_MIN(report->nr_parts, MAX_PARTS); i++) {
		const struct part *part = &report->parts[i];

		TS_CELLS(report->result, table, critical_path_parts, PART_CELLS);
	}
}

static void critical_path_report_put_run(struct path_report *report, const int64_t *ps)
{
	struct ts_result *result = report->result;
	int64_t total_ps = 0;

	for (int i = 0; i < NR_PART_KINDS; i++)
		total_ps += ps[i];
	TS_SET(result, critical_path, run.total_ps, ts_int(total_ps));
	TS_SET(result, critical_path, run.until_ps,
	       report->path.until_ps < INT64_MAX ? ts_int(report->path.until_ps) : ts_null());
	TS_SET(result, critical_path, run.ops_ps, ts_int(ps[PART_OPS]));
	TS_SET(result, critical_path, run.collectives_ps, ts_int(ps[PART_COLLECTIVES]));
	TS_SET(result, critical_path, run.transfers_ps, ts_int(ps[PART_TRANSFERS]));
	TS_SET(result, critical_path, run.host_ps, ts_int(ps[PART_HOST]));
	TS_SET(result, critical_path, run.input_ps, ts_int(ps[PART_INPUT]));
	TS_SET(result, critical_path, run.compile_ps, ts_int(ps[PART_COMPILE]));
	TS_SET(result, critical_path, run.launch_ps, ts_int(ps[PART_LAUNCH]));
	TS_SET(result, critical_path, run.idle_ps, ts_int(ps[PART_IDLE]));
	critical_path_report_put_parts(report, total_ps);
}

static enum ts_status critical_path_report_put(struct path_report *report, struct ts_error *err)
{
	int64_t ps[NR_PART_KINDS] = { 0 };
	struct step_path *steps;
	enum ts_status st;
	size_t nr;

	ts_replay_run(&report->replay);
	steps = critical_path_report_find_steps(report, &nr, err);
	if (!steps)
		return TS_NOMEM;
	st = critical_path_report_put_steps(report, steps, nr, err);
	if (report->path.level == 0) { /* all of the run, also between steps */
		report->nr_parts = 0;
		ts_map_release(&report->by_part);
		report->ps = ps;
		report->weight = 1;
		ts_replay_path(&report->replay, critical_path_report_take, report);
	}
	for (size_t i = 0; report->path.level > 0 && i < nr; i++)
		for (int k = 0; k < NR_PART_KINDS; k++)
			ps[k] += steps[i].ps[k] * ts_path_weight(&report->path, steps[i].row);
	free(steps);
	if (st == TS_OK && report->failed)
		st = ts_fail_nomem(err);
	if (st == TS_OK)
		critical_path_report_put_run(report, ps);
	return st;
}

enum ts_status ts_path_report(void *state, const struct ts_context *ctx, struct ts_result *result,
			      struct ts_error *err)
{
	struct path_report report = { .result = result };
	const struct path_state *sum = state;
	enum ts_status st = ts_path_make(&report.path, sum, ctx, SIZE_MAX, err);

	if (st == TS_OK)
		st = ts_replay_open(&report.replay, &report.path.graph, err);
	if (st == TS_OK && report.path.graph.nr_nodes > 0)
		st = critical_path_report_put(&report, err);
	ts_replay_close(&report.replay);
	ts_path_release(&report.path);
	ts_map_release(&report.by_part);
	ts_map_release(&report.by_name);
	free(report.hashes);
	ts_room_free(report.parts);
	return st;
}
