/* SPDX-License-Identifier: MIT */
/* Rows of operators by name and shapes, and the paths of operators around a launch. Both are bounded. */
#include "analysis/gpu/operators.h"

#include "base/check.h"

/* *KEY is moved on where other rows have the same hash. TS_NONE: there is not such a row. */
static uint32_t operators_rows_find_row(const struct operators_state *state,
					const struct operator_row *wanted, uint64_t *key)
{
	uint32_t at;

	*key = ts_hash(wanted->shapes, (uint64_t)wanted->op << 1 | wanted->is_others);
	while ((at = ts_map_find(&state->row_ids, *key)) != TS_NONE) {
		if (state->rows[at].op == wanted->op &&
		    state->rows[at].is_others == wanted->is_others &&
		    ts_bytes_eq(state->rows[at].shapes, wanted->shapes))
			return at;
		(*key)++;
	}
	return TS_NONE;
}

enum ts_status ts_operators_row(struct operators_state *state, const struct operator_row *fresh,
				uint32_t *at, struct ts_error *err)
{
	struct operator_row row = *fresh;
	uint64_t key;

	*at = operators_rows_find_row(state, &row, &key);
	if (*at == TS_NONE && state->nr_rows >= OPERATORS_ROWS) {
		row.is_others = true;
		row.shapes = (struct ts_bytes){ NULL, 0 };
		*at = operators_rows_find_row(state, &row, &key);
	}
	if (*at != TS_NONE)
		return TS_OK;
	*at = (uint32_t)state->nr_rows;
	if (!ts_grow(&state->rows, &state->cap_rows, state->nr_rows + 1, sizeof(row)) ||
	    !ts_map_set(&state->row_ids, key, *at))
		return ts_fail_nomem(err);
	state->rows[state->nr_rows++] = row;
	return TS_OK;
}

enum ts_status ts_operators_path(struct operators_state *state, uint32_t outer, uint32_t row,
				 uint32_t *at, struct ts_error *err)
{
	uint64_t key = (uint64_t)outer << 32 | row;

	*at = ts_map_find(&state->path_ids, key);
	if (*at == TS_NONE && outer != TS_NONE && state->nr_paths >= OPERATORS_PATHS)
		return ts_operators_path(state, TS_NONE, row, at, err);
	if (*at != TS_NONE)
		return TS_OK;
	*at = (uint32_t)state->nr_paths;
	if (!ts_grow(&state->paths, &state->cap_paths, state->nr_paths + 1,
		     sizeof(*state->paths)) ||
	    !ts_map_set(&state->path_ids, key, *at))
		return ts_fail_nomem(err);
	state->paths[state->nr_paths++] = (struct operator_path){ outer, row };
	return TS_OK;
}

/* KERNEL TS_NONE: several. */
static void note_kernel(struct operator_row *row, uint32_t kernel)
{
	row->has_several |= kernel == TS_NONE || (row->kernel != TS_NONE && row->kernel != kernel);
	row->kernel = row->has_several ? TS_NONE : kernel;
}

static void note_category(struct operator_row *row, uint8_t category)
{
	row->has_categories |= row->category != OPERATORS_NO_CATEGORY && row->category != category;
	row->category = category;
}

void ts_operators_add_kernel(struct operators_state *state, uint32_t path, uint32_t kernel,
			     uint8_t category, int64_t dur_ps)
{
	struct operator_row *row;

	TS_ASSERT_HOT(path < state->nr_paths);
	row = &state->rows[state->paths[path].row];
	row->self_gpu_ps = ts_i64_add(row->self_gpu_ps, dur_ps);
	row->nr_own++;
	note_kernel(row, kernel);
	note_category(row, category);
	for (; path != TS_NONE; path = state->paths[path].outer) {
		row = &state->rows[state->paths[path].row];
		row->gpu_ps = ts_i64_add(row->gpu_ps, dur_ps);
		row->nr_kernels++;
	}
}

void ts_operators_add_row(struct operator_row *into, const struct operator_row *from)
{
	into->calls = ts_i64_add(into->calls, from->calls);
	into->nr_kernels = ts_i64_add(into->nr_kernels, from->nr_kernels);
	into->nr_own = ts_i64_add(into->nr_own, from->nr_own);
	into->cpu_ps = ts_i64_add(into->cpu_ps, from->cpu_ps);
	into->self_cpu_ps = ts_i64_add(into->self_cpu_ps, from->self_cpu_ps);
	into->gpu_ps = ts_i64_add(into->gpu_ps, from->gpu_ps);
	into->self_gpu_ps = ts_i64_add(into->self_gpu_ps, from->self_gpu_ps);
	if (from->kernel != TS_NONE || from->has_several)
		note_kernel(into, from->kernel);
	if (from->category != OPERATORS_NO_CATEGORY)
		note_category(into, from->category);
	into->has_categories |= from->has_categories;
	if (from->nr_counted > 0)
		into->type = into->nr_counted == 0 || into->type == from->type ? from->type
									       : TS_ATEN_MIXED;
	into->bytes += from->bytes;
	into->nr_sized = ts_i64_add(into->nr_sized, from->nr_sized);
	into->least_s += from->least_s;
	into->flops += from->flops;
	into->flops_dense += from->flops_dense;
	into->nr_counted = ts_i64_add(into->nr_counted, from->nr_counted);
}
