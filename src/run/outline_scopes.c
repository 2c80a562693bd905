/* SPDX-License-Identifier: MIT */
/*
 * Scopes of a host's threads. Nothing in a profile of JAX marks what the user named
 * (jax.profiler.TraceAnnotation makes the same event as the runtime's TraceMe), so a scope is what
 * is left: an event of a thread of Python, with a name that neither the runtime nor the tracer
 * gives, and outside all events of the runtime. A step is a scope with the stat step_num
 * (StepTraceAnnotation), or PyTorch's ProfilerStep#N.
 *
 * Events come in the order of their ends. So a scope waits until it is known what it stands in.
 */
#include "run/outline_scopes.h"

#include "base/check.h"
#include "model/step_mark.h"
#include "model/step_pairing.h"
#include "base/order.h"

#define TORCH_STEP "ProfilerStep#"
#define MAX_OPEN   65536
#define MAX_SPANS  4096 /* of a scope */

static const uint8_t parts_of[] = {
	[TS_HOST_OTHER] = TS_PART_OTHER,	[TS_HOST_INPUT] = TS_PART_INPUT,
	[TS_HOST_TRANSFER] = TS_PART_INPUT,	[TS_HOST_WAIT] = TS_PART_OTHER,
	[TS_HOST_COPY] = TS_PART_OTHER,		[TS_HOST_ENQUEUE] = TS_PART_OTHER,
	[TS_HOST_CALL] = TS_PART_DISPATCH,	[TS_HOST_EXECUTE] = TS_PART_DISPATCH,
	[TS_HOST_TRACE] = TS_PART_TRACE,	[TS_HOST_LOWER] = TS_PART_TRACE,
	[TS_HOST_COMPILE] = TS_PART_COMPILE,	[TS_HOST_BACKEND] = TS_PART_COMPILE,
	[TS_HOST_PASSES] = TS_PART_COMPILE,	[TS_HOST_CODEGEN] = TS_PART_COMPILE,
	[TS_HOST_PIPELINE] = TS_PART_OTHER,	[TS_HOST_EXECUTABLE] = TS_PART_COMPILE,
	[TS_HOST_CACHE_READ] = TS_PART_COMPILE, [TS_HOST_CACHE_WRITE] = TS_PART_COMPILE,
	[TS_HOST_TORCH] = TS_PART_COMPILE,
};

enum ts_status ts_outline_names_init(struct outline_names *names, const struct ts_profile *profile,
				     const uint8_t *activity, struct ts_error *err)
{
	TS_ASSERT(names && profile && activity);
	names->owners = malloc(profile->nr_ops + 1);
	names->parts = malloc(profile->nr_ops + 1);
	names->marks = malloc(profile->nr_ops + 1);
	if (!names->owners || !names->parts || !names->marks)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < profile->nr_ops; i++) {
		names->owners[i] = (uint8_t)ts_host_owner_of_op(&profile->ops[i]);
		names->parts[i] = parts_of[activity[i]];
		names->marks[i] = (uint8_t)ts_step_mark_of(profile, &profile->ops[i]);
	}
	return TS_OK;
}

void ts_outline_names_release(struct outline_names *names)
{
	TS_ASSERT(names);
	free(names->owners);
	free(names->parts);
	free(names->marks);
}

static void outline_scopes_absorb(struct scope_level *level, enum ts_scope_part from,
				  enum ts_scope_part into)
{
	level->part_ps[into] = ts_i64_add(level->part_ps[into], level->part_ps[from]);
	level->part_ps[from] = 0;
}

/*
 * Adds what the event and all inside it did to what its parent did, and gives the sum. Inside an event
 * that has a part, what has none is of that part; and so are calls, which tracing and compiling make.
 */
static enum ts_status outline_scopes_sum_parts(struct outline_scopes *line,
					       const struct ts_block *block, size_t i,
					       enum ts_scope_part part, struct scope_level *all,
					       struct ts_error *err)
{
	size_t depth = block->depth[i];
	size_t cap = line->cap_levels;

	if (!ts_grow(&line->levels, &line->cap_levels, depth + 2, sizeof(*line->levels)))
		return ts_fail_nomem(err);
	memset(line->levels + cap, 0, (line->cap_levels - cap) * sizeof(*line->levels));
	*all = line->levels[depth + 1];
	if (line->nr_levels > depth + 1)
		memset(&line->levels[depth + 1], 0,
		       (line->nr_levels - depth - 1) * sizeof(*line->levels));
	line->nr_levels = depth + 1;
	if (part != TS_PART_OTHER)
		outline_scopes_absorb(all, TS_PART_OTHER, part);
	if (part != TS_PART_OTHER && part != TS_PART_DISPATCH)
		outline_scopes_absorb(all, TS_PART_DISPATCH, part);
	all->part_ps[part] = ts_i64_add(all->part_ps[part], block->self_ps[i]);
	for (size_t p = 0; p < TS_NR_PARTS; p++)
		line->levels[depth].part_ps[p] =
			ts_i64_add(line->levels[depth].part_ps[p], all->part_ps[p]);
	return TS_OK;
}

static enum ts_status add_mark(struct scope_marks *marks, const struct scope_mark *mark,
			       struct ts_error *err)
{
	if (!ts_grow(&marks->items, &marks->cap, marks->nr + 1, sizeof(*marks->items)))
		return ts_fail_nomem(err);
	marks->items[marks->nr++] = *mark;
	return TS_OK;
}

static struct ts_scope *scope_of(struct ts_scopes *scopes, struct ts_map *rows, uint32_t op)
{
	uint32_t at = ts_map_find(rows, op);

	if (at != TS_NONE)
		return &scopes->items[at];
	if (!ts_grow(&scopes->items, &scopes->cap, scopes->nr + 1, sizeof(*scopes->items)) ||
	    !ts_map_set(rows, op, (uint32_t)scopes->nr))
		return NULL;
	scopes->items[scopes->nr] =
		(struct ts_scope){ .op = op, .min_ps = INT64_MAX, .spans = { .max = MAX_SPANS } };
	return &scopes->items[scopes->nr++];
}

static enum ts_status add_epoch(struct ts_scopes *scopes, const struct ts_scope *scope,
				const struct scope_mark *mark, struct ts_error *err)
{
	struct ts_epoch epoch = { mark->op, mark->start_ps, mark->end_ps, scope->number };

	if (scopes->nr_epochs == TS_EPOCHS_MAX || !scope->is_epoch)
		return TS_OK;
	if (epoch.number == TS_NO_NUMBER)
		epoch.number = mark->number;
	if (!ts_grow(&scopes->epochs, &scopes->cap_epochs, scopes->nr_epochs + 1,
		     sizeof(*scopes->epochs)))
		return ts_fail_nomem(err);
	scopes->epochs[scopes->nr_epochs++] = epoch;
	return TS_OK;
}

static enum ts_status outline_scopes_keep(struct outline_scopes *line,
					  const struct ts_profile *profile,
					  const struct scope_mark *mark, struct ts_error *err)
{
	bool is_torch_step = ts_bytes_starts(profile->ops[mark->op].name, TORCH_STEP);
	int64_t dur_ps = mark->end_ps - mark->start_ps;
	struct ts_scope *scope;
	enum ts_status st =
		mark->number != TS_NO_NUMBER ? add_mark(&line->steps, mark, err) : TS_OK;
	if (st)
		return st;
	if (is_torch_step) /* each has a name of its own: they are steps */
		return TS_OK;
	scope = scope_of(&line->scopes, &line->rows, mark->op);
	if (!scope || !ts_spans_add(&scope->spans, mark->start_ps, mark->end_ps))
		return ts_fail_nomem(err);
	if (scope->nr == 0) /* a name may be long, and its scope be entered very often */
		scope->is_epoch = ts_scope_is_epoch(profile->ops[mark->op].name, &scope->number);
	scope->parent = scope->nr == 0 || scope->parent == mark->parent ? mark->parent : TS_NONE;
	scope->nr++;
	for (size_t p = 0; p < TS_NR_PARTS; p++)
		scope->part_ps[p] = ts_i64_add(scope->part_ps[p], mark->part_ps[p]);
	scope->total_ps = ts_i64_add(scope->total_ps, dur_ps);
	scope->min_ps = TS_MIN(scope->min_ps, dur_ps);
	scope->max_ps = TS_MAX(scope->max_ps, dur_ps);
	return add_epoch(&line->scopes, scope, mark, err);
}

static enum ts_status outline_scopes_settle(struct outline_scopes *line,
					    const struct ts_profile *profile, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < line->open.nr && st == TS_OK; i++)
		st = outline_scopes_keep(line, profile, &line->open.items[i], err);
	line->open.nr = 0;
	return st;
}

/* A JSON trace is searched for each stat: there, only PyTorch's steps are known. */
uint64_t ts_outline_step_number(const struct ts_block *block, size_t i,
				const struct outline_names *names)
{
	struct ts_bytes name = block->profile->ops[block->op[i]].name;
	struct ts_stat stat;
	uint64_t number;

	if (ts_step_mark_is_sure((enum ts_step_mark)names->marks[block->op[i]]))
		return TS_STEP_BY_PLACE;
	if (ts_bytes_starts(name, TORCH_STEP))
		return ts_bytes_u64(ts_bytes_cut(name, strlen(TORCH_STEP), name.n), &number)
			       ? number
			       : TS_NO_NUMBER;
	if (block->stats || !block->stat(block, i, "step_num", &stat) ||
	    stat.type == TS_STAT_TEXT || stat.number < 0)
		return TS_NO_NUMBER;
	return (uint64_t)stat.number;
}

/* What is open and inside of the mark gets it as its parent. What is inside of one of these has a parent, and is stepped
 * over: however deep marks are, each is met once. */
static void adopt(const struct scope_marks *open, struct scope_mark *mark)
{
	size_t first = open->nr;

	while (first > 0 && open->items[first - 1].start_ps >= mark->start_ps) {
		struct scope_mark *inner = &open->items[first - 1];

		if (inner->parent == TS_NONE)
			inner->parent = mark->op;
		first -= 1 + inner->nr_inside;
	}
	mark->nr_inside = open->nr - first;
}

static enum ts_status take_user(struct outline_scopes *line, const struct ts_block *block, size_t i,
				const struct scope_level *did, const struct outline_names *names,
				struct ts_error *err)
{
	struct scope_mark mark = { .op = block->op[i],
				   .parent = TS_NONE,
				   .start_ps = block->start_ps[i],
				   .end_ps = ts_i64_add(block->start_ps[i], block->dur_ps[i]),
				   .number = ts_outline_step_number(block, i, names) };

	memcpy(mark.part_ps, did->part_ps, sizeof(mark.part_ps));
	adopt(&line->open, &mark);
	line->is_python |= mark.number != TS_NO_NUMBER;
	return add_mark(&line->open, &mark, err);
}

static enum ts_status outline_scopes_take_event(struct outline_scopes *line,
						const struct ts_block *block, size_t i,
						const struct outline_names *names,
						struct ts_error *err)
{
	enum ts_host_owner owner = (enum ts_host_owner)names->owners[block->op[i]];
	struct scope_level did;
	enum ts_status st = outline_scopes_sum_parts(
		line, block, i, (enum ts_scope_part)names->parts[block->op[i]], &did, err);

	if (st)
		return st;
	if (owner != TS_HOST_OF_TRACER) {
		/* frames of the tracer last from the capture's set-up to its end */
		line->first_ps = TS_MIN(line->first_ps, block->start_ps[i]);
		line->last_ps =
			TS_MAX(line->last_ps, ts_i64_add(block->start_ps[i], block->dur_ps[i]));
	}
	if (owner == TS_HOST_OF_USER)
		return take_user(line, block, i, &did, names, err);
	if (owner == TS_HOST_OF_RUNTIME) {
		while (line->open.nr > 0 &&
		       line->open.items[line->open.nr - 1].start_ps >= block->start_ps[i])
			line->open.nr--;
		line->is_python |= !line->is_python &&
				   ts_host_function(block->profile->ops[block->op[i]].name).n > 0;
	} else {
		line->is_python = true;
	}
	return TS_OK;
}

enum ts_status ts_outline_scopes_block(struct outline_scopes *line, const struct ts_block *block,
				       const struct outline_names *names, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	TS_ASSERT_HOT(line && block && names);
	if (!line->is_seen) {
		line->is_seen = true;
		line->first_ps = INT64_MAX;
		line->last_ps = INT64_MIN;
		line->is_python = ts_bytes_has(block->line->name, "python");
	}
	for (size_t i = 0; i < block->nr_events && st == TS_OK; i++) {
		st = outline_scopes_take_event(line, block, i, names, err);
		if (st == TS_OK && (block->depth[i] == 0 || line->open.nr > MAX_OPEN))
			st = outline_scopes_settle(line, block->profile, err);
	}
	return st;
}

enum ts_status ts_outline_scopes_end(struct outline_scopes *line, const struct ts_profile *profile,
				     struct ts_error *err)
{
	TS_ASSERT(line && profile);
	return outline_scopes_settle(line, profile, err);
}

void ts_outline_scopes_release(struct outline_scopes *line)
{
	TS_ASSERT(line);
	free(line->open.items);
	free(line->steps.items);
	free(line->levels);
	ts_scopes_release(&line->scopes);
	ts_map_release(&line->rows);
	memset(line, 0, sizeof(*line));
}

static enum ts_status sum_scope(struct ts_scope *into, const struct ts_scope *from,
				struct ts_error *err)
{
	if (!into || !ts_spans_union(&into->spans, &from->spans))
		return ts_fail_nomem(err);
	into->parent = into->nr == 0 || into->parent == from->parent ? from->parent : TS_NONE;
	into->nr += from->nr;
	for (size_t p = 0; p < TS_NR_PARTS; p++)
		into->part_ps[p] = ts_i64_add(into->part_ps[p], from->part_ps[p]);
	into->total_ps = ts_i64_add(into->total_ps, from->total_ps);
	into->min_ps = TS_MIN(into->min_ps, from->min_ps);
	into->max_ps = TS_MAX(into->max_ps, from->max_ps);
	return TS_OK;
}

static enum ts_status sum_epochs(struct ts_scopes *into, const struct ts_scopes *from,
				 struct ts_error *err)
{
	size_t nr = TS_MIN(from->nr_epochs, TS_EPOCHS_MAX - into->nr_epochs);

	if (!ts_grow(&into->epochs, &into->cap_epochs, into->nr_epochs + nr + 1,
		     sizeof(*into->epochs)))
		return ts_fail_nomem(err);
	if (nr > 0)
		memcpy(into->epochs + into->nr_epochs, from->epochs, nr * sizeof(*from->epochs));
	into->nr_epochs += nr;
	return TS_OK;
}

TS_ORDER(outline_scopes_by_start, struct ts_epoch, TS_UP(start_ps))

static enum ts_status sum_scopes(size_t nr_lines, struct outline_scopes *const *lines,
				 struct ts_scopes *sum, struct ts_error *err)
{
	struct ts_map rows = { .nr = 0 };
	enum ts_status st = TS_OK;

	for (size_t l = 0; l < nr_lines && st == TS_OK; l++) {
		const struct ts_scopes *from = &lines[l]->scopes;

		for (size_t i = 0; i < from->nr && st == TS_OK && lines[l]->is_python; i++)
			st = sum_scope(scope_of(sum, &rows, from->items[i].op), &from->items[i],
				       err);
		if (st == TS_OK && lines[l]->is_python)
			st = sum_epochs(sum, from, err);
	}
	if (sum->nr_epochs > 0)
		qsort(sum->epochs, sum->nr_epochs, sizeof(*sum->epochs), outline_scopes_by_start);
	ts_map_release(&rows);
	return st;
}

/* Steps of one name: PyTorch's have many and are one series. */
static struct ts_bytes outline_scopes_series_of(const struct ts_profile *profile, uint32_t op)
{
	struct ts_bytes name = profile->ops[op].name;

	if (ts_bytes_starts(name, TORCH_STEP))
		return TS_LIT("ProfilerStep");
	return ts_step_mark_is_sure(ts_step_mark_of(profile, &profile->ops[op]))
		       ? ts_step_mark_series(profile, &profile->ops[op])
		       : name;
}

struct series {
	struct ts_bytes name; /* .p NULL: there is none */
	size_t nr;
	bool is_epoch, is_named;
};

/* The series of one line, in the order of their first marks. */
struct line_series {
	struct series *items;
	size_t nr, cap;
	struct ts_strmap by_name;
	struct ts_map by_op; /* names may be long, and very many marks have the same one */
};

static void line_series_release(struct line_series *line)
{
	free(line->items);
	ts_strmap_release(&line->by_name);
	ts_map_release(&line->by_op);
}

static bool line_series_add(struct line_series *line, const struct ts_profile *profile, uint32_t op)
{
	struct series series = { .name = outline_scopes_series_of(profile, op) };
	uint32_t at = ts_strmap_find(&line->by_name, series.name);
	uint64_t number;

	if (at == TS_NONE) {
		at = (uint32_t)line->nr;
		series.is_named = ts_step_mark_of(profile, &profile->ops[op]) == TS_MARK_NAMED;
		series.is_epoch = ts_scope_is_epoch(series.name, &number);
		if (!ts_grow(&line->items, &line->cap, line->nr + 1, sizeof(*line->items)) ||
		    !ts_strmap_set(&line->by_name, series.name, at))
			return false;
		line->items[line->nr++] = series;
	}
	return ts_map_set(&line->by_op, op, at);
}

static enum ts_status line_series_count(struct line_series *line, const struct ts_profile *profile,
					const struct scope_marks *marks, struct ts_error *err)
{
	for (size_t i = 0; i < marks->nr; i++) {
		uint32_t op = marks->items[i].op, at = ts_map_find(&line->by_op, op);

		if (at == TS_NONE && !line_series_add(line, profile, op))
			return ts_fail_nomem(err);
		if (at == TS_NONE)
			at = ts_map_find(&line->by_op, op);
		line->items[at].nr++;
	}
	return TS_OK;
}

/* Steps are what is marked most often; epochs are steps only where nothing else is marked. */
static bool is_better(const struct series *series, const struct series *best)
{
	if (best->name.p && series->is_named != best->is_named)
		return series->is_named;
	if (!best->name.p || series->is_epoch != best->is_epoch)
		return !best->name.p || best->is_epoch;
	return series->nr > best->nr;
}

static enum ts_status find_series(const struct ts_profile *profile,
				  struct outline_scopes *const *lines, struct series *best,
				  struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t l = 0; l < profile->nr_lines && st == TS_OK; l++) {
		struct line_series line = { .nr = 0 };

		st = line_series_count(&line, profile, &lines[l]->steps, err);
		for (size_t i = 0; i < line.nr && st == TS_OK; i++)
			if (!(best->name.p && ts_bytes_eq(best->name, line.items[i].name)) &&
			    is_better(&line.items[i], best))
				*best = line.items[i];
		line_series_release(&line);
	}
	return st;
}

static size_t count_series(const struct ts_profile *profile, const struct scope_marks *marks,
			   struct ts_bytes name)
{
	size_t nr = 0;

	for (size_t i = 0; i < marks->nr; i++)
		nr += ts_bytes_eq(outline_scopes_series_of(profile, marks->items[i].op), name);
	return nr;
}

TS_ORDER(outline_scopes_by_time, struct scope_mark, TS_UP(start_ps) TS_UP(end_ps))

static enum ts_status outline_scopes_add_steps(const struct ts_profile *profile,
					       const struct scope_marks *marks,
					       struct ts_bytes name, struct ts_device_steps *steps,
					       struct ts_error *err)
{
	int64_t end_ps = INT64_MIN;
	enum ts_status st = TS_OK;

	if (marks->nr > 0)
		qsort(marks->items, marks->nr, sizeof(*marks->items), outline_scopes_by_time);
	for (size_t i = 0; i < marks->nr && st == TS_OK; i++) {
		const struct scope_mark *mark = &marks->items[i];

		if (!ts_bytes_eq(outline_scopes_series_of(profile, mark->op), name) ||
		    mark->end_ps <= end_ps)
			continue; /* a mark inside another says nothing new */
		end_ps = mark->end_ps;
		st = ts_device_steps_add(
			steps, mark->start_ps, end_ps,
			mark->number == TS_STEP_BY_PLACE ? steps->nr : mark->number, err);
	}
	return st;
}

/* A host's steps are those of its thread that marked most. */
static enum ts_status outline_scopes_find_steps(const struct ts_profile *profile,
						struct outline_scopes *const *lines,
						struct ts_steps *steps, struct ts_error *err)
{
	struct series series = { .nr = 0 };
	enum ts_status st = find_series(profile, lines, &series, err);

	if (st)
		return st;
	steps->devices = calloc(profile->nr_hosts + 1, sizeof(*steps->devices));
	if (!steps->devices)
		return ts_fail_nomem(err);
	steps->nr_devices = profile->nr_hosts;
	for (uint32_t host = 0; series.nr > 0 && host < profile->nr_hosts; host++) {
		const struct scope_marks *best = NULL;
		size_t nr, most = 0;

		for (uint32_t l = TS_NONE; ts_host_next_line(profile, host, &l);) {
			if (lines[l]->steps.nr <= most)
				continue;
			nr = count_series(profile, &lines[l]->steps, series.name);
			best = nr > most ? &lines[l]->steps : best;
			most = TS_MAX(most, nr);
		}
		st = best ? outline_scopes_add_steps(profile, best, series.name,
						     &steps->devices[host], err)
			  : TS_OK;
		if (st)
			return st;
	}
	if (series.nr > 0)
		steps->source = TS_STEPS_MARKED;
	snprintf(steps->made_of, sizeof(steps->made_of), "%.*s", TS_ARG(series.name));
	return ts_steps_pair(steps, err);
}

enum ts_status ts_outline_scopes_find(const struct ts_profile *profile,
				      struct outline_scopes *const *lines,
				      struct ts_outline *outline, struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(profile && lines && outline);
	outline->host_first_ps = INT64_MAX;
	outline->host_last_ps = INT64_MIN;
	for (size_t l = 0; l < profile->nr_lines; l++)
		if (lines[l]->is_seen) {
			outline->host_first_ps = TS_MIN(outline->host_first_ps, lines[l]->first_ps);
			outline->host_last_ps = TS_MAX(outline->host_last_ps, lines[l]->last_ps);
		}
	st = sum_scopes(profile->nr_lines, lines, &outline->scopes, err);
	if (st)
		return st;
	return outline_scopes_find_steps(profile, lines, &outline->host_steps, err);
}
