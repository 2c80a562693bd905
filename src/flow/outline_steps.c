/*
 * A device's steps: its markers; else the pattern of its modules' executions, the same for all
 * devices. A GPU's executions are read off its kernels: one begins where another program's kernel
 * stands, or where the kernel that began it comes again. That is believed only when every other
 * kernel of the program ran at least once an execution; one is forgiven, at the capture's end.
 */
#include "flow/outline_steps.h"

#include "base/check.h"
#include "model/step_pattern.h"

/*
 * A stream with more changes of program than this does not run executions one after the other: its
 * programs take turns, and steps cannot be read off that.
 */
#define MAX_GPU_EXECUTIONS 1000000

static bool add_mark(struct outline_marks *marks, const struct ts_block *block, size_t i)
{
	if (!ts_grow(&marks->items, &marks->cap, marks->nr + 1, sizeof(*marks->items)))
		return false;
	marks->items[marks->nr++] = (struct outline_mark){
		.start_ps = block->start_ps[i],
		.end_ps = ts_i64_add(block->start_ps[i], block->dur_ps[i]),
		.number = block->number ? block->number[i] : TS_NO_NUMBER,
		.op = block->op[i],
	};
	return true;
}

static bool add_kernel(struct outline_marks *marks, const struct ts_block *block, size_t i)
{
	const struct ts_op *op = &block->profile->ops[block->op[i]];
	struct outline_mark *open = marks->nr > 0 ? &marks->items[marks->nr - 1] : NULL;

	if (!op->has_program || marks->is_wild)
		return true;
	marks->kernels[block->op[i]]++;
	if (open && open->op != block->op[i] &&
	    block->profile->ops[open->op].program_id == op->program_id) {
		open->end_ps =
			TS_MAX(open->end_ps, ts_i64_add(block->start_ps[i], block->dur_ps[i]));
		return true;
	}
	marks->is_wild = marks->nr >= MAX_GPU_EXECUTIONS;
	return add_mark(marks, block, i);
}

bool ts_outline_marks_block(struct outline_marks *marks, const struct ts_block *block)
{
	bool is_gpu = block->line->kind == TS_LINE_OPS, good = true;

	TS_ASSERT_HOT(marks && block);
	if (is_gpu && !marks->kernels) {
		marks->kernels = calloc(block->profile->nr_ops + 1, sizeof(*marks->kernels));
		good = marks->kernels != NULL;
	}
	for (size_t i = 0; i < block->nr_events && good; i++)
		if (block->depth[i] == 0) /* a marker inside another says nothing new */
			good = is_gpu ? add_kernel(marks, block, i) : add_mark(marks, block, i);
	return good;
}

void ts_outline_marks_release(struct outline_marks *marks)
{
	TS_ASSERT(marks);
	free(marks->items);
	free(marks->kernels);
	memset(marks, 0, sizeof(*marks));
}

static uint64_t step_number(const struct ts_profile *profile, const struct outline_mark *mark,
			    size_t at)
{
	uint64_t number;

	if (mark->number != TS_NO_NUMBER)
		return mark->number;
	return ts_bytes_u64(profile->ops[mark->op].name, &number) ? number : at;
}

static int by_start(const void *a, const void *b)
{
	const struct outline_mark *x = a, *y = b;

	if (x->start_ps != y->start_ps)
		return x->start_ps < y->start_ps ? -1 : 1;
	if (x->end_ps != y->end_ps)
		return x->end_ps < y->end_ps ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

static void sort_marks(struct outline_marks *marks)
{
	if (marks->nr > 0)
		qsort(marks->items, marks->nr, sizeof(*marks->items), by_start);
}

static bool add_marked(const struct ts_profile *profile, const struct outline_marks *marks,
		       struct ts_device_steps *steps)
{
	for (size_t i = 0; i < marks->nr; i++)
		if (!ts_device_steps_add(steps, marks->items[i].start_ps, marks->items[i].end_ps,
					 step_number(profile, &marks->items[i], i)))
			return false;
	return true;
}

/* A device's steps are those of the first of its lines that has any. */
static bool marked_steps(const struct ts_profile *profile, struct outline_marks *const *marks,
			 struct ts_steps *steps)
{
	for (size_t l = 0; l < profile->nr_lines; l++) {
		const struct ts_line *line = &profile->lines[l];
		uint32_t device = profile->planes[line->plane].device;

		if (line->kind != TS_LINE_STEPS || device == TS_NONE || marks[l]->nr == 0 ||
		    steps->devices[device].nr > 0)
			continue;
		sort_marks(marks[l]);
		if (!add_marked(profile, marks[l], &steps->devices[device]))
			return false;
		steps->source = TS_STEPS_MARKED;
	}
	return true;
}

/* Modules by number: variants of one name have one. */
struct symbols {
	uint32_t *of_op; /* TS_NONE: not asked yet */
	struct ts_bytes *names;
	size_t nr, cap;
	struct ts_strmap by_name;
};

/*
 * Functions without a name of their own, and graphs that all have one name: here variants are
 * different modules.
 */
static bool says_nothing(struct ts_bytes name)
{
	return ts_bytes_starts(name, "SyncTensorsGraph") || ts_bytes_has(name, "lambda") ||
	       ts_bytes_has(name, "unnamed") || name.n == 0;
}

/* .p NULL: no memory. */
static struct ts_bytes module_name(struct ts_profile *profile, const struct ts_op *op)
{
	if (op->kind == TS_OP_MODULE)
		return op->name;
	if (op->module != TS_NONE && profile->modules[op->module].name.n > 0)
		return profile->modules[op->module].name;
	return ts_arena_printf(&profile->arena, "program %llu", (unsigned long long)op->program_id);
}

static bool add_symbol(struct symbols *symbols, struct ts_bytes name, bool is_named, uint32_t op)
{
	uint32_t at = is_named ? ts_strmap_find(&symbols->by_name, name) : TS_NONE;

	if (at == TS_NONE) {
		if (!ts_grow(&symbols->names, &symbols->cap, symbols->nr + 1,
			     sizeof(*symbols->names)))
			return false;
		at = (uint32_t)symbols->nr;
		symbols->names[symbols->nr++] = name;
		if (is_named && !ts_strmap_set(&symbols->by_name, name, at))
			return false;
	}
	symbols->of_op[op] = at;
	return true;
}

/* The number of what OP is an execution of. */
static bool symbol_of(struct symbols *symbols, struct ts_profile *profile, uint32_t op,
		      uint32_t *symbol)
{
	if (symbols->of_op[op] == TS_NONE) {
		struct ts_bytes name = module_name(profile, &profile->ops[op]);
		bool is_named = !says_nothing(name);

		if (!name.p ||
		    !add_symbol(symbols, is_named ? ts_module_stem(name) : name, is_named, op))
			return false;
	}
	*symbol = symbols->of_op[op];
	return true;
}

static bool open_symbols(struct symbols *symbols, const struct ts_profile *profile)
{
	symbols->of_op = malloc((profile->nr_ops + 1) * sizeof(*symbols->of_op));
	for (size_t i = 0; symbols->of_op && i < profile->nr_ops; i++)
		symbols->of_op[i] = TS_NONE;
	return symbols->of_op != NULL;
}

static void release_symbols(struct symbols *symbols)
{
	free(symbols->of_op);
	free(symbols->names);
	ts_strmap_release(&symbols->by_name);
}

/* What ran on a device, in the order of time. */
struct history {
	struct ts_execution *items;
	size_t nr;
	int64_t time_ps;
};

/* Executions by program. False: no memory. */
static bool count_runs(const struct ts_profile *profile, const struct outline_marks *marks,
		       struct ts_map *runs)
{
	for (size_t i = 0; i < marks->nr; i++) {
		uint64_t program_id = profile->ops[marks->items[i].op].program_id;
		uint32_t nr = ts_map_find(runs, program_id);

		if (!ts_map_set(runs, program_id, nr == TS_NONE ? 1 : nr + 1))
			return false;
	}
	return true;
}

/* Did each kernel of each program run at least once an execution, but for one? */
static bool kernels_agree(const struct ts_profile *profile, struct outline_marks *marks)
{
	struct ts_map runs = { .nr = 0 };
	bool good = count_runs(profile, marks, &runs);

	for (uint32_t op = 0; good && op < profile->nr_ops && !marks->is_wild; op++) {
		uint32_t nr =
			marks->kernels[op] ? ts_map_find(&runs, profile->ops[op].program_id) : 0;

		marks->is_wild = marks->kernels[op] > 0 && marks->kernels[op] + 1 < nr;
	}
	ts_map_release(&runs);
	return good;
}

static int64_t busy_ps(const struct outline_marks *marks)
{
	int64_t sum_ps = 0;

	for (size_t i = 0; i < marks->nr; i++)
		sum_ps = ts_i64_add(sum_ps,
				    ts_i64_sub(marks->items[i].end_ps, marks->items[i].start_ps));
	return sum_ps;
}

/* The device's line of modules, or a GPU's busiest stream; NULL: there are no executions. */
static struct outline_marks *telling_line(const struct ts_profile *profile,
					  struct outline_marks *const *marks,
					  const struct ts_plane *plane)
{
	struct outline_marks *best = NULL;

	for (uint32_t i = 0; i < plane->nr_lines; i++) {
		const struct ts_line *line = &profile->lines[plane->first_line + i];
		struct outline_marks *found = marks[plane->first_line + i];

		if (found->nr == 0 || line->kind == TS_LINE_STEPS)
			continue;
		sort_marks(found);
		if (line->kind == TS_LINE_MODULES)
			return found;
		if (!best || busy_ps(found) > busy_ps(best))
			best = found;
	}
	return best;
}

static bool make_history(struct ts_profile *profile, struct outline_marks *marks,
			 struct symbols *symbols, struct history *history)
{
	if (marks && marks->kernels && !kernels_agree(profile, marks))
		return false;
	if (!marks || marks->is_wild)
		return true;
	history->items = malloc((marks->nr + 1) * sizeof(*history->items));
	if (!history->items)
		return false;
	history->nr = marks->nr;
	history->time_ps = busy_ps(marks);
	for (size_t i = 0; i < marks->nr; i++) {
		history->items[i].start_ps = marks->items[i].start_ps;
		history->items[i].end_ps = marks->items[i].end_ps;
		if (!symbol_of(symbols, profile, marks->items[i].op, &history->items[i].symbol))
			return false;
	}
	return true;
}

static bool make_histories(struct ts_profile *profile, struct outline_marks *const *marks,
			   struct symbols *symbols, struct history *histories)
{
	for (size_t d = 0; d < profile->nr_devices; d++) {
		const struct ts_plane *plane = &profile->planes[profile->devices[d].plane];

		if (!make_history(profile, telling_line(profile, marks, plane), symbols,
				  &histories[d]))
			return false;
	}
	return true;
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

/* Of the patterns that devices have, the one that holds most time of its device. */
static bool find_pattern(const struct history *histories, size_t nr_devices,
			 const struct symbols *symbols, struct ts_step_pattern *pattern)
{
	struct ts_step_pattern found;
	int64_t best_ps = 0;

	pattern->nr = 0;
	for (size_t d = 0; d < nr_devices; d++) {
		if (histories[d].time_ps <= best_ps) /* it cannot hold more */
			continue;
		if (!ts_step_pattern_find(histories[d].items, histories[d].nr, symbols->names,
					  symbols->nr, &found))
			return false;
		if (found.nr == 0 || pattern_ps(&found, &histories[d]) <= best_ps)
			continue;
		best_ps = pattern_ps(&found, &histories[d]);
		*pattern = found;
	}
	return true;
}

static bool apply_pattern(const struct history *histories, const struct symbols *symbols,
			  const struct ts_step_pattern *pattern, struct ts_steps *steps)
{
	for (size_t d = 0; d < steps->nr_devices; d++)
		if (histories[d].items &&
		    !ts_step_pattern_apply(pattern, histories[d].items, histories[d].nr,
					   symbols->names, &steps->devices[d]))
			return false;
	ts_step_pattern_text(pattern, symbols->names, steps->made_of, sizeof(steps->made_of));
	steps->source = pattern->nr > 0 ? TS_STEPS_INFERRED : TS_STEPS_NONE;
	return true;
}

static bool inferred_steps(struct ts_profile *profile, struct outline_marks *const *marks,
			   struct ts_steps *steps)
{
	struct symbols symbols = { .nr = 0 };
	struct history *histories = calloc(profile->nr_devices + 1, sizeof(*histories));
	struct ts_step_pattern pattern;
	bool good = histories && open_symbols(&symbols, profile) &&
		    make_histories(profile, marks, &symbols, histories) &&
		    find_pattern(histories, profile->nr_devices, &symbols, &pattern) &&
		    apply_pattern(histories, &symbols, &pattern, steps);

	for (size_t d = 0; histories && d < profile->nr_devices; d++)
		free(histories[d].items);
	free(histories);
	release_symbols(&symbols);
	return good;
}

bool ts_outline_steps_find(struct ts_profile *profile, struct outline_marks *const *marks,
			   struct ts_steps *steps)
{
	TS_ASSERT(profile && marks && steps);
	steps->devices = calloc(profile->nr_devices + 1, sizeof(*steps->devices));
	steps->nr_devices = steps->devices ? profile->nr_devices : 0;
	return steps->devices && marked_steps(profile, marks, steps) &&
	       (steps->source == TS_STEPS_MARKED || inferred_steps(profile, marks, steps)) &&
	       ts_steps_pair(steps);
}
