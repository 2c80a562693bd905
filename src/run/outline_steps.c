/* SPDX-License-Identifier: MIT */
/*
 * A device's steps: its markers; else the pattern of its modules' executions, the same for all
 * devices. What a GPU's kernels show (run/outline_marks.c) is believed only when every other
 * kernel of the program ran at least once an execution; one is forgiven, at the capture's end.
 */
#include "run/outline_steps.h"

#include "base/check.h"
#include "model/step_pairing.h"
#include "run/outline_ranges.h"
#include "model/step_pattern.h"

static uint64_t step_number(const struct ts_profile *profile, const struct outline_mark *mark,
			    size_t at)
{
	uint64_t number;

	if (mark->number != TS_NO_NUMBER)
		return mark->number;
	return ts_bytes_u64(profile->ops[mark->op].name, &number) ? number : at;
}

/* A mark that has no number is named after its place. */
static enum ts_status make_marked(const struct ts_profile *profile,
				  const struct outline_marks *marks, struct ts_device_steps *steps,
				  struct ts_error *err)
{
	struct outline_marks_walk walk = { .marks = marks };
	struct outline_mark mark;
	enum ts_status st = ts_device_steps_reserve(steps, marks->nr, err);

	while (st == TS_OK && ts_outline_marks_next(&walk, &mark))
		st = ts_device_steps_add(steps, mark.start_ps, mark.end_ps,
					 step_number(profile, &mark, walk.nr - 1), err);
	return st;
}

static bool marks_steps(const struct ts_profile *profile, size_t line)
{
	return profile->lines[line].kind == TS_LINE_STEPS &&
	       profile->planes[profile->lines[line].plane].device != TS_NONE;
}

void ts_outline_marks_spare(const struct ts_profile *profile, struct outline_marks *const *marks)
{
	bool has_steps = false;

	TS_ASSERT(profile && marks);
	if (profile->step_mark.n > 0)
		return;
	for (size_t l = 0; l < profile->nr_lines && !has_steps; l++)
		has_steps = marks[l]->nr > 0 && marks_steps(profile, l);
	for (size_t l = 0; l < profile->nr_lines && has_steps; l++)
		if (!marks_steps(profile, l))
			ts_outline_marks_release(marks[l]);
}

/* A device's steps are those of the first of its lines that has any. */
static enum ts_status find_marked(struct ts_outline_steps *finding, struct ts_steps *steps,
				  struct ts_error *err)
{
	const struct ts_profile *profile = finding->profile;
	enum ts_status st;

	for (uint32_t l = 0; l < profile->nr_lines; l++) {
		uint32_t device = profile->planes[profile->lines[l].plane].device;

		if (!marks_steps(profile, l) || finding->marks[l]->nr == 0 ||
		    finding->lines[device] != TS_NONE)
			continue;
		st = ts_outline_marks_sort(finding->marks[l], err);
		if (st)
			return st;
		finding->lines[device] = l;
		steps->source = TS_STEPS_MARKED;
	}
	return TS_OK;
}

/*
 * Functions without a name of their own, and graphs that all have one name: here variants are
 * different modules.
 */
static bool outline_steps_says_nothing(struct ts_bytes name)
{
	return ts_bytes_starts(name, "SyncTensorsGraph") || ts_bytes_has(name, "lambda") ||
	       ts_bytes_has(name, "unnamed") || name.n == 0;
}

/* .p NULL: no memory. */
static struct ts_bytes outline_steps_module_name(struct ts_profile *profile, const struct ts_op *op)
{
	if (op->kind == TS_OP_MODULE)
		return op->name;
	if (op->module != TS_NONE && profile->modules[op->module].name.n > 0)
		return profile->modules[op->module].name;
	return ts_arena_printf(&profile->arena, "program %llu", (unsigned long long)op->program_id);
}

static enum ts_status add_symbol(struct outline_symbols *symbols, struct ts_bytes name,
				 bool is_named, uint32_t op, struct ts_error *err)
{
	uint32_t at = is_named ? ts_strmap_find(&symbols->by_name, name) : TS_NONE;

	if (at == TS_NONE) {
		if (!ts_grow(&symbols->names, &symbols->cap, symbols->nr + 1,
			     sizeof(*symbols->names)))
			return ts_fail_nomem(err);
		at = (uint32_t)symbols->nr;
		symbols->names[symbols->nr++] = name;
		if (is_named && !ts_strmap_set(&symbols->by_name, name, at))
			return ts_fail_nomem(err);
	}
	symbols->of_op[op] = at;
	return TS_OK;
}

/* The number of what OP is an execution of. */
static enum ts_status symbol_of(struct outline_symbols *symbols, struct ts_profile *profile,
				uint32_t op, uint32_t *symbol, struct ts_error *err)
{
	enum ts_status st;

	if (symbols->of_op[op] == TS_NONE) {
		struct ts_bytes name = outline_steps_module_name(profile, &profile->ops[op]);
		bool is_named = !outline_steps_says_nothing(name);

		if (!name.p)
			return ts_fail_nomem(err);
		st = add_symbol(symbols, is_named ? ts_module_stem(name) : name, is_named, op, err);
		if (st)
			return st;
	}
	*symbol = symbols->of_op[op];
	return TS_OK;
}

static enum ts_status open_symbols(struct outline_symbols *symbols,
				   const struct ts_profile *profile, struct ts_error *err)
{
	symbols->of_op = malloc((profile->nr_ops + 1) * sizeof(*symbols->of_op));
	for (size_t i = 0; symbols->of_op && i < profile->nr_ops; i++)
		symbols->of_op[i] = TS_NONE;
	return symbols->of_op ? TS_OK : ts_fail_nomem(err);
}

/* Executions by program. */
static enum ts_status outline_steps_count_runs(const struct ts_profile *profile,
					       const struct outline_marks *marks,
					       struct ts_map *runs, struct ts_error *err)
{
	struct outline_marks_walk walk = { .marks = marks };
	struct outline_mark mark;

	while (ts_outline_marks_next(&walk, &mark)) {
		uint64_t program_id = profile->ops[mark.op].program_id;
		uint32_t nr = ts_map_find(runs, program_id);

		if (!ts_map_set(runs, program_id, nr == TS_NONE ? 1 : nr + 1))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

/* Did each kernel of each program run at least once an execution, but for one? */
static enum ts_status kernels_agree(const struct ts_profile *profile, struct outline_marks *marks,
				    struct ts_error *err)
{
	struct ts_map runs = { .nr = 0 };
	enum ts_status st = outline_steps_count_runs(profile, marks, &runs, err);

	for (uint32_t op = 0; st == TS_OK && op < profile->nr_ops && !marks->is_wild; op++) {
		uint32_t nr =
			marks->kernels[op] ? ts_map_find(&runs, profile->ops[op].program_id) : 0;

		marks->is_wild = marks->kernels[op] > 0 && marks->kernels[op] + 1 < nr;
	}
	ts_map_release(&runs);
	return st;
}

static int64_t outline_steps_busy_ps(const struct outline_marks *marks)
{
	struct outline_marks_walk walk = { .marks = marks };
	struct outline_mark mark;
	int64_t sum_ps = 0;

	while (ts_outline_marks_next(&walk, &mark))
		sum_ps = ts_i64_add(sum_ps, ts_i64_sub(mark.end_ps, mark.start_ps));
	return sum_ps;
}

/* The device's line of modules, or a GPU's busiest stream; TS_NONE: there are no executions. */
static enum ts_status telling_line(const struct ts_outline_steps *finding,
				   const struct ts_plane *plane, uint32_t *telling,
				   struct ts_error *err)
{
	int64_t best_ps = 0;
	enum ts_status st;

	*telling = TS_NONE;
	for (uint32_t l = plane->first_line; l < plane->first_line + plane->nr_lines; l++) {
		const struct ts_line *line = &finding->profile->lines[l];
		struct outline_marks *found = finding->marks[l];
		int64_t ps;

		if (found->nr == 0 || line->kind == TS_LINE_STEPS || line->kind == TS_LINE_THREAD)
			continue;
		st = ts_outline_marks_sort(found, err);
		if (st)
			return st;
		ps = outline_steps_busy_ps(found);
		if (line->kind == TS_LINE_MODULES || *telling == TS_NONE || ps > best_ps) {
			*telling = l;
			best_ps = ps;
		}
		if (line->kind == TS_LINE_MODULES)
			break;
	}
	return TS_OK;
}

/* A GPU's execution may begin with any of its program's kernels. */
static uint32_t program_of(const struct ts_profile *profile, uint32_t op)
{
	uint64_t id = profile->ops[op].program_id;

	return profile->ops[op].kind == TS_OP_MODULE ? op : (uint32_t)(id ^ id >> 32);
}

/* What ran on a device, in the order of time. */
struct history {
	struct ts_execution *items;
	size_t nr;
};

/* The caller frees what it has, in any case. */
static enum ts_status make_history(struct ts_outline_steps *finding,
				   const struct outline_marks *marks, struct history *history,
				   struct ts_error *err)
{
	struct outline_marks_walk walk = { .marks = marks };
	struct outline_mark mark;
	enum ts_status st;

	history->items = malloc((marks->nr + 1) * sizeof(*history->items));
	history->nr = 0;
	while (history->items && ts_outline_marks_next(&walk, &mark)) {
		struct ts_execution *item = &history->items[history->nr++];

		*item = (struct ts_execution){ mark.start_ps, mark.end_ps, 0,
					       program_of(finding->profile, mark.op) };
		st = symbol_of(&finding->symbols, finding->profile, mark.op, &item->symbol, err);
		if (st)
			return st;
	}
	return history->items ? TS_OK : ts_fail_nomem(err);
}

static int64_t pattern_ps(const struct ts_step_pattern *pattern, const struct history *history)
{
	int64_t sum_ps = 0;

	for (size_t i = 0; i < history->nr; i++)
		for (size_t s = 0; s < pattern->nr; s++)
			if (history->items[i].symbol == pattern->symbols[s]) {
				sum_ps = ts_i64_add(sum_ps, history->items[i].end_ps -
								    history->items[i].start_ps);
				break;
			}
	return sum_ps;
}

/* Of the patterns that devices have, the one that holds most time of its device: is it this one's? */
static enum ts_status try_pattern(struct ts_outline_steps *finding,
				  const struct outline_marks *marks, int64_t *best_ps,
				  struct ts_error *err)
{
	struct history history = { .nr = 0 };
	struct ts_step_pattern found;
	enum ts_status st = make_history(finding, marks, &history, err);

	if (st == TS_OK && outline_steps_busy_ps(marks) > *best_ps) { /* else it cannot hold more */
		st = ts_step_pattern_find(history.items, history.nr, finding->symbols.names,
					  finding->symbols.nr, &found, err);
		if (st == TS_OK && found.nr > 0 && pattern_ps(&found, &history) > *best_ps) {
			*best_ps = pattern_ps(&found, &history);
			finding->pattern = found;
		}
	}
	free(history.items);
	return st;
}

static enum ts_status find_pattern(struct ts_outline_steps *finding, struct ts_steps *steps,
				   struct ts_error *err)
{
	struct ts_profile *profile = finding->profile;
	int64_t best_ps = 0;
	enum ts_status st;

	for (size_t d = 0; d < profile->nr_devices; d++) {
		struct outline_marks *marks;
		uint32_t line;

		st = telling_line(finding, &profile->planes[profile->devices[d].plane], &line, err);
		if (st)
			return st;
		if (line == TS_NONE)
			continue;
		marks = finding->marks[line];
		st = marks->kernels ? kernels_agree(profile, marks, err) : TS_OK;
		if (st)
			return st;
		if (marks->is_wild)
			continue;
		finding->lines[d] = line;
		st = try_pattern(finding, marks, &best_ps, err);
		if (st)
			return st;
	}
	ts_step_pattern_text(&finding->pattern, finding->symbols.names, steps->made_of,
			     sizeof(steps->made_of));
	steps->source = finding->pattern.nr > 0 ? TS_STEPS_INFERRED : TS_STEPS_NONE;
	return TS_OK;
}

static enum ts_status make_inferred(struct ts_outline_steps *finding,
				    const struct outline_marks *marks, struct ts_steps *all,
				    struct ts_device_steps *steps, struct ts_error *err)
{
	struct history history = { .nr = 0 };
	enum ts_status st = make_history(finding, marks, &history, err);

	if (st == TS_OK)
		st = ts_step_pattern_apply(&finding->pattern, history.items, history.nr,
					   finding->symbols.names, all, steps, err);
	free(history.items);
	return st;
}

static enum ts_status open_steps(struct ts_outline_steps *finding, struct ts_steps *steps,
				 struct ts_error *err)
{
	const struct ts_profile *profile = finding->profile;

	steps->devices = calloc(profile->nr_devices + 1, sizeof(*steps->devices));
	finding->lines = malloc((profile->nr_devices + 1) * sizeof(*finding->lines));
	if (!steps->devices || !finding->lines)
		return ts_fail_nomem(err);
	steps->nr_devices = profile->nr_devices;
	for (size_t d = 0; d < steps->nr_devices; d++) {
		steps->devices[d].host = profile->devices[d].host;
		finding->lines[d] = TS_NONE;
	}
	return TS_OK;
}

static bool is_named(const struct ts_outline_steps *finding)
{
	return finding->ranges.mark == TS_MARK_NAMED;
}

/* What the user named is not there: steps are found as if nothing had been named. */
static void forget_ranges(struct ts_outline_steps *finding, struct ts_steps *steps)
{
	free(finding->ranges.of_op);
	memset(&finding->ranges, 0, sizeof(finding->ranges));
	steps->source = TS_STEPS_NONE;
	steps->is_range = false;
	steps->made_of[0] = '\0';
	for (size_t d = 0; d < steps->nr_devices; d++)
		finding->lines[d] = TS_NONE;
}

enum ts_status ts_outline_steps_open(struct ts_outline_steps *finding, struct ts_profile *profile,
				     struct outline_marks *const *marks, struct ts_steps *steps,
				     struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(finding && profile && marks && steps);
	*finding = (struct ts_outline_steps){ .profile = profile, .marks = marks };
	st = open_steps(finding, steps, err);
	if (st)
		return st;
	if (profile->step_mark.n > 0)
		st = ts_outline_ranges_find(finding, steps, err);
	if (st == TS_OK && !is_named(finding)) {
		forget_ranges(finding, steps);
		st = find_marked(finding, steps, err);
	}
	if (st == TS_OK && steps->source == TS_STEPS_NONE)
		st = ts_outline_ranges_find(finding, steps, err);
	if (st || steps->source != TS_STEPS_NONE)
		return st;
	st = open_symbols(&finding->symbols, profile, err);
	return st ? st : find_pattern(finding, steps, err);
}

enum ts_status ts_outline_steps_make(struct ts_outline_steps *finding, uint32_t device,
				     struct ts_steps *steps, struct ts_error *err)
{
	uint32_t line = finding->lines[device];
	struct ts_device_steps *of = &steps->devices[device];

	TS_ASSERT(of->nr == 0);
	if (line == TS_NONE)
		return TS_OK;
	if (steps->is_range)
		return ts_outline_ranges_make(finding, line, steps, of, err);
	return steps->source == TS_STEPS_MARKED
		       ? make_marked(finding->profile, finding->marks[line], of, err)
		       : make_inferred(finding, finding->marks[line], steps, of, err);
}

void ts_outline_steps_close(struct ts_outline_steps *finding)
{
	TS_ASSERT(finding);
	free(finding->lines);
	free(finding->ranges.of_op);
	free(finding->symbols.of_op);
	free(finding->symbols.names);
	ts_strmap_release(&finding->symbols.by_name);
	memset(finding, 0, sizeof(*finding));
}

enum ts_status ts_outline_steps_find(struct ts_profile *profile, struct outline_marks *const *marks,
				     struct ts_steps *steps, struct ts_error *err)
{
	struct ts_outline_steps finding;
	enum ts_status st = ts_outline_steps_open(&finding, profile, marks, steps, err);

	for (uint32_t d = 0; st == TS_OK && d < steps->nr_devices; d++) {
		st = ts_outline_steps_make(&finding, d, steps, err);
		if (finding.lines[d] != TS_NONE && !steps->is_range)
			ts_outline_marks_release(marks[finding.lines[d]]);
	}
	for (size_t l = 0; steps->is_range && l < profile->nr_lines; l++)
		ts_outline_marks_release(marks[l]); /* devices of a host share its thread's */
	ts_outline_steps_close(&finding);
	if (st)
		return st;
	return ts_steps_pair(steps, err);
}
