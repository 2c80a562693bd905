/* Utilization of modules, of steps and of cores. */
#include "analysis/matrix/systolic.h"

struct module_sum {
	uint64_t program_id;
	struct ts_bytes name;
	double flops; /* of the ops whose FLOPs are known */
	bool has_flops, has_matrix;
	int64_t executions, run_ps; /* as the profile's module events say */
	int64_t ops_ps;		    /* self time of its ops: where there are no such events */
	double peak;
};

struct step_sum {
	uint64_t number;
	double flops, capacity; /* FLOPs that were possible; NaN unknown */
	int64_t time_ps;
	bool seen;
};

struct sums {
	void *items;
	size_t nr, cap;
	struct ts_map by_key;
};

/* The element of this key, made when it is new; NULL: no memory. */
static void *element(struct sums *sums, uint64_t key, size_t size, bool *is_new)
{
	uint32_t at = ts_map_find(&sums->by_key, key);

	*is_new = at == TS_NONE;
	if (*is_new) {
		if (!ts_grow(&sums->items, &sums->cap, sums->nr + 1, size) ||
		    !ts_map_set(&sums->by_key, key, (uint32_t)sums->nr))
			return NULL;
		at = (uint32_t)sums->nr++;
	}
	return (uint8_t *)sums->items + at * size;
}

static void sums_release(struct sums *sums)
{
	free(sums->items);
	ts_map_release(&sums->by_key);
}

static struct ts_bytes module_name(const struct ts_profile *profile, const struct ts_op *op)
{
	uint32_t module = ts_profile_module_of(profile, op->program_id);

	if (module != TS_NONE && profile->modules[module].name.n > 0)
		return profile->modules[module].name;
	if (op->kind == TS_OP_MODULE) /* jit_f(1234567) */
		return ts_bytes_cut(op->name, 0, ts_bytes_find(op->name, "("));
	return (struct ts_bytes){ NULL, 0 };
}

static bool add_to_module(struct sums *sums, const struct ts_systolic *state,
			  const struct ts_context *ctx, uint32_t index)
{
	const struct ts_op *op = &ctx->profile->ops[index];
	const struct ts_tally_row *row = &state->tally.rows[index];
	const struct ts_rates *rates = ts_systolic_rates(ctx, row->device);
	double flops = ts_systolic_total(state, ctx, index);
	struct module_sum *sum;
	bool is_new;

	sum = element(sums, op->program_id, sizeof(*sum), &is_new);
	if (!sum)
		return false;
	if (is_new)
		*sum = (struct module_sum){ .program_id = op->program_id,
					    .peak = rates ? rates->peak_flops_per_s : NAN };
	if (sum->name.n == 0)
		sum->name = module_name(ctx->profile, op);
	if (op->kind == TS_OP_MODULE) {
		sum->executions = ts_i64_add(sum->executions, row->occurrences);
		sum->run_ps = ts_i64_add(sum->run_ps, row->total_ps);
		return true;
	}
	sum->ops_ps = ts_i64_add(sum->ops_ps, row->self_ps);
	if (op->kind == TS_OP_CONTROL || isnan(flops))
		return true;
	sum->has_flops = true;
	sum->has_matrix |=
		flops > 0 && (op->kind == TS_OP_MATRIX || ts_bytes_is(op->category, "custom-call"));
	sum->flops += flops;
	return true;
}

static int64_t module_time(const struct module_sum *sum)
{
	return sum->run_ps > 0 ? sum->run_ps : sum->ops_ps;
}

static int by_time(const void *a, const void *b)
{
	const struct module_sum *x = a, *y = b;
	int64_t s = module_time(x), t = module_time(y);

	if (s != t)
		return s > t ? -1 : 1;
	return (x->program_id > y->program_id) - (x->program_id < y->program_id);
}

static struct ts_value whole(double value)
{
	return isfinite(value) && fabs(value) < 9e18 ? ts_int(llround(value)) : ts_real(value);
}

static void put_module(struct ts_value *cells, const struct module_sum *sum)
{
	int64_t time_ps = module_time(sum);

	cells[0] = ts_text_or_null(sum->name);
	cells[1] = ts_id(sum->program_id);
	cells[2] = sum->executions > 0 ? ts_int(sum->executions) : ts_null();
	cells[3] = sum->has_flops ? whole(sum->flops) : ts_null();
	cells[4] = ts_int(time_ps);
	if (sum->has_matrix && time_ps > 0)
		cells[5] = ts_share_pct(sum->flops / ((double)time_ps * 1e-12 * sum->peak));
}

static bool put_modules(const struct ts_systolic *state, const struct ts_context *ctx,
			struct ts_result *result)
{
	static const struct ts_column columns[] = {
		{ "module", TS_MEASURED, "module" },
		{ "program_id", TS_MEASURED, NULL },
		{ "executions", TS_MEASURED, "times" },
		{ "flops", TS_MODELLED, NULL },
		{ "time_ps", TS_MEASURED, "time" },
		{ "mxu_utilization_pct", TS_MODELLED, "MXU" },
	};
	struct ts_table *table = ts_result_table(result, "modules", "Matrix units by module",
						 columns, TS_NELEM(columns));
	struct sums sums = { NULL, 0, 0, { NULL, 0, 0 } };
	const struct module_sum *items;
	struct ts_value *cells;
	bool good = true;

	for (uint32_t i = 0; i < state->tally.nr && good; i++)
		if (state->tally.rows[i].occurrences > 0 && ctx->profile->ops[i].has_program)
			good = add_to_module(&sums, state, ctx, i);
	if (good && sums.nr > 1)
		qsort(sums.items, sums.nr, sizeof(*items), by_time);
	items = sums.items;
	for (size_t i = 0; i < sums.nr && good && table; i++) {
		cells = ts_table_row(result, table);
		if (cells)
			put_module(cells, &items[i]);
	}
	sums_release(&sums);
	return good;
}

static void add_steps(struct step_sum *sums, const struct ts_context *ctx, uint32_t device,
		      const struct ts_systolic_core *core)
{
	const struct ts_device_steps *steps = &ctx->outline->steps.devices[device];
	const struct ts_rates *rates = ts_systolic_rates(ctx, device);
	double peak = rates ? rates->peak_flops_per_s : NAN;

	for (size_t i = 0; i < TS_MIN(steps->nr, core->nr_steps); i++) {
		int64_t time_ps = steps->items[i].end_ps - steps->items[i].start_ps;
		struct step_sum *sum = &sums[steps->items[i].row];

		if (!sum->seen)
			sum->number = steps->items[i].number;
		sum->seen = true;
		sum->flops += core->step_flops[i];
		sum->time_ps = ts_i64_add(sum->time_ps, time_ps);
		sum->capacity += (double)time_ps * 1e-12 * peak;
	}
}

static bool put_steps(const struct ts_systolic *state, const struct ts_context *ctx,
		      struct ts_result *result, bool has_matrix)
{
	static const struct ts_column columns[] = {
		{ "step", TS_MEASURED, "step" },
		{ "flops", TS_MODELLED, NULL },
		{ "time_ps", TS_MEASURED, "time on all cores" },
		{ "mxu_utilization_pct", TS_MODELLED, "MXU" },
	};
	struct ts_table *table = ts_result_table(result, "steps", "Matrix units by step", columns,
						 TS_NELEM(columns));
	size_t nr = ctx->outline ? ctx->outline->steps.nr_steps : 0;
	struct step_sum *sums = calloc(nr + 1, sizeof(*sums));

	if (!sums)
		return false;
	for (uint32_t i = 0; i < state->nr_cores; i++)
		if (state->cores[i].nr_steps > 0 && state->cores[i].seen)
			add_steps(sums, ctx, i, &state->cores[i]);
	for (size_t i = 0; i < nr && table; i++) {
		struct ts_value *cells = sums[i].seen ? ts_table_row(result, table) : NULL;

		if (!cells)
			continue;
		cells[0] = ts_int((int64_t)sums[i].number);
		cells[1] = whole(sums[i].flops);
		cells[2] = ts_int(sums[i].time_ps);
		if (has_matrix && sums[i].capacity > 0)
			cells[3] = ts_share_pct(sums[i].flops / sums[i].capacity);
	}
	free(sums);
	return true;
}

static void put_devices(const struct ts_systolic *state, const struct ts_context *ctx,
			struct ts_result *result, int64_t wall_ps, bool has_matrix)
{
	static const struct ts_column columns[] = {
		{ "device", TS_MEASURED, "device" },
		{ "host", TS_MEASURED, NULL },
		{ "flops", TS_MODELLED, NULL },
		{ "mxu_utilization_pct", TS_MODELLED, "MXU" },
		{ "mxu_measured_pct", TS_MEASURED, "by counters of its host" },
	};
	struct ts_table *table = ts_result_table(result, "devices", "Matrix units by core", columns,
						 TS_NELEM(columns));

	for (uint32_t i = 0; i < state->nr_cores && table; i++) {
		const struct ts_device *device = &ctx->profile->devices[i];
		const struct ts_rates *rates = ts_systolic_rates(ctx, i);
		struct ts_value *cells = state->cores[i].seen ? ts_table_row(result, table) : NULL;
		double flops = state->cores[i].flops;

		if (!cells)
			continue;
		cells[0] = ts_text(device->name);
		cells[1] = ts_text(ctx->profile->hosts[device->host].name);
		cells[2] = whole(flops);
		if (has_matrix && rates && wall_ps > 0)
			cells[3] = ts_share_pct(
				flops / ((double)wall_ps * 1e-12 * rates->peak_flops_per_s));
		cells[4] = ts_real(ctx->profile->hosts[device->host].mxu_utilization_pct);
	}
}

enum ts_status ts_systolic_sums(const struct ts_systolic *state, const struct ts_context *ctx,
				struct ts_result *result, int64_t wall_ps, bool has_matrix,
				struct ts_error *err)
{
	if (!put_modules(state, ctx, result) || !put_steps(state, ctx, result, has_matrix))
		return ts_fail_nomem(err);
	put_devices(state, ctx, result, wall_ps, has_matrix);
	return TS_OK;
}
