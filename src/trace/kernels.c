/* SPDX-License-Identifier: MIT */
/* An event's stats -> its launch, known by their texts -> numbers that a form can write. */
#include "trace/kernels.h"

#include "base/check.h"
#include "model/kernel_details.h"
#include "model/trace_class.h"

struct launch {
	uint32_t op, kernel; /* the op that has the kernel's own name */
	/* as the profiler wrote it: XLA's in one text, Kineto's in three stats */
	struct ts_bytes details, grid, block;
	int64_t registers;
};

struct ts_trace_kernel {
	struct launch launch;
	bool is_compute, is_told;
	size_t at, n; /* its tail */
};

void ts_trace_kernels_clear(struct ts_trace_kernels *kernels)
{
	TS_ASSERT(kernels);
	kernels->nr = 0;
	ts_map_release(&kernels->numbers);
	ts_buf_clear(&kernels->tails);
}

void ts_trace_kernels_release(struct ts_trace_kernels *kernels)
{
	TS_ASSERT(kernels);
	free(kernels->items);
	ts_map_release(&kernels->numbers);
	ts_buf_release(&kernels->tails);
}

static void read_compiled(const struct ts_block *block, size_t i, struct launch *launch)
{
	struct ts_stat stat;

	if (block->stat(block, i, "kernel_details", &stat) && stat.type == TS_STAT_TEXT)
		launch->details = stat.text;
	if (block->profile->ops[launch->op].has_program &&
	    block->stat(block, i, TS_STAT_KERNEL, &stat))
		launch->kernel = (uint32_t)stat.number;
}

static struct ts_bytes trace_kernels_text_of(const struct ts_stat *stat)
{
	return stat->type == TS_STAT_TEXT ? stat->text : (struct ts_bytes){ NULL, 0 };
}

static void read_traced(const struct ts_block *block, size_t i, struct launch *launch)
{
	static const char *const names[] = { "grid", "block", "registers per thread" };
	struct ts_stat stats[TS_NELEM(names)] = { { .type = TS_STAT_REAL } };

	for (size_t k = 0; k < TS_NELEM(names); k++)
		stats[k].type = TS_STAT_REAL;
	if (block->stats)
		block->stats(block, i, names, TS_NELEM(names), stats);
	else
		for (size_t k = 0; k < TS_NELEM(names); k++)
			block->stat(block, i, names[k], &stats[k]);
	launch->grid = trace_kernels_text_of(&stats[0]);
	launch->block = trace_kernels_text_of(&stats[1]);
	if (stats[2].type == TS_STAT_INT && stats[2].number >= 0)
		launch->registers = stats[2].number;
}

static struct launch launch_of(const struct ts_block *block, size_t i)
{
	struct launch launch = { .op = block->op[i],
				 .kernel = block->op[i],
				 .registers = TS_UNKNOWN };

	if (!block->stat)
		return launch;
	if (block->profile->ops[launch.op].is_traced)
		read_traced(block, i, &launch);
	else
		read_compiled(block, i, &launch);
	return launch;
}

static uint64_t trace_kernels_hash_of(const struct launch *launch)
{
	uint64_t hash = (uint64_t)launch->op << 32 | launch->kernel;

	hash = ts_hash(launch->details, hash ^ (uint64_t)launch->registers);
	return ts_hash(launch->block, ts_hash(launch->grid, hash));
}

static bool trace_kernels_is_same(const struct launch *x, const struct launch *y)
{
	return x->op == y->op && x->kernel == y->kernel && x->registers == y->registers &&
	       ts_bytes_cmp(x->details, y->details) == 0 && ts_bytes_cmp(x->grid, y->grid) == 0 &&
	       ts_bytes_cmp(x->block, y->block) == 0;
}

static bool trace_kernels_is_compute(const struct ts_block *block, uint32_t op)
{
	enum ts_trace_class class =
		ts_trace_class_of(block->profile, block->line, &block->profile->ops[op]);

	return class != TS_TRACE_MEMCPY && class != TS_TRACE_MEMSET;
}

enum ts_status ts_trace_kernels_see(struct ts_trace_kernels *kernels, const struct ts_block *block,
				    size_t i, uint32_t *number, struct ts_error *err)
{
	struct launch launch = launch_of(block, i);
	uint64_t hash = trace_kernels_hash_of(&launch);
	uint32_t at = ts_map_find(&kernels->numbers, hash);

	TS_ASSERT_HOT(number);
	*number = 0;
	if (at != TS_NONE && trace_kernels_is_same(&kernels->items[at].launch, &launch)) {
		*number = at + 1;
		return TS_OK;
	}
	if (kernels->nr == TS_TRACE_KERNELS)
		return TS_OK;
	if (!ts_grow(&kernels->items, &kernels->cap, kernels->nr + 1, sizeof(*kernels->items)) ||
	    !ts_map_set(&kernels->numbers, hash, (uint32_t)kernels->nr))
		return ts_fail_nomem(err);
	kernels->items[kernels->nr++] = (struct ts_trace_kernel){
		.launch = launch,
		.is_compute = trace_kernels_is_compute(block, launch.op),
	};
	*number = (uint32_t)kernels->nr;
	return TS_OK;
}

/* "16,1,1" or "[16, 1, 1]"; what is not there is 0. */
static void read_dimensions(struct ts_bytes text, uint32_t dimensions[3])
{
	size_t at = 0;

	for (size_t k = 0; k < 3; k++) {
		uint64_t value = 0;

		while (at < text.n && (text.p[at] < '0' || text.p[at] > '9'))
			at++;
		for (; at < text.n && text.p[at] >= '0' && text.p[at] <= '9'; at++)
			value = TS_MIN(value * 10 + (uint64_t)(text.p[at] - '0'), UINT32_MAX);
		dimensions[k] = (uint32_t)value;
	}
}

static struct ts_perfetto_kernel trace_kernels_shown(const struct ts_trace_kernel *kernel,
						     const struct ts_profile *profile)
{
	const struct launch *launch = &kernel->launch;
	struct ts_bytes details = launch->details;
	struct ts_perfetto_kernel shown = {
		.name = profile->ops[launch->kernel].name,
		.op = launch->op,
		.is_compute = kernel->is_compute,
		.registers = launch->registers,
		.static_shared = ts_kernel_detail_number(details, "static_shared"),
		.dynamic_shared = ts_kernel_detail_number(details, "dynamic_shared"),
	};

	if (details.n == 0) {
		read_dimensions(launch->grid, shown.grid);
		read_dimensions(launch->block, shown.block);
		return shown;
	}
	read_dimensions(ts_kernel_detail(details, "grid"), shown.grid);
	read_dimensions(ts_kernel_detail(details, "block"), shown.block);
	shown.registers = ts_kernel_detail_number(details, "regs");
	if (shown.static_shared < 0)
		shown.static_shared =
			ts_kernel_detail_number(details, "group_mem"); /* AMD's word */
	return shown;
}

struct ts_bytes ts_trace_kernels_tail(struct ts_trace_kernels *kernels, uint32_t number,
				      const struct ts_perfetto_form *form,
				      const struct ts_perfetto_lane *lane,
				      const struct ts_profile *profile, struct ts_buf *out)
{
	struct ts_trace_kernel *kernel = &kernels->items[number - 1];
	struct ts_perfetto_kernel told;

	TS_ASSERT_HOT(number > 0 && number <= kernels->nr);
	if (!kernel->is_told) {
		told = trace_kernels_shown(kernel, profile);
		kernel->at = kernels->tails.n;
		form->kernel_tail(out, &kernels->tails, lane, &told, number);
		kernel->n = kernels->tails.n - kernel->at;
		kernel->is_told = true;
	}
	return ts_bytes_cut(ts_buf_bytes(&kernels->tails), kernel->at, kernel->n);
}
