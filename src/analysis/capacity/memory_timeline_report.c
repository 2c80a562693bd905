/*
 * What the walk found as fields and tables: the fullest device's figures, then a table after the
 * other, of all devices each: GPUs first, the one with the largest peak before the others.
 */
#include "analysis/capacity/memory_timeline.h"

#include "analysis/facts/capacity.h"
#include "base/units.h"

#define ORDER 40 /* among the counters of a device */

static struct ts_bytes name_of(struct ts_result *result, const struct mt_device *device)
{
	static const char *const types[] = {
		/* c10/core/DeviceType.h */
		[0] = "cpu",  [1] = "cuda",  [6] = "hip",
		[9] = "xla",  [12] = "xpu",  [13] = "mps",
		[15] = "hpu", [19] = "mtia", [20] = "privateuseone",
	};
	const char *type = device->type >= 0 && (size_t)device->type < TS_NELEM(types)
				   ? types[device->type]
				   : NULL;

	if (!type)
		return ts_result_text(result, "device type %lld:%lld", (long long)device->type,
				      (long long)device->id);
	if (device->id < 0)
		return ts_bytes_of(type);
	return ts_result_text(result, "%s:%lld", type, (long long)device->id);
}

static bool is_host_memory(const struct mt_device *device)
{
	return device->type == 0;
}

static int by_importance(const void *a, const void *b)
{
	const struct mt_view *x = a, *y = b;

	if (is_host_memory(x->device) != is_host_memory(y->device))
		return is_host_memory(x->device) ? 1 : -1;
	if (x->device->peak_bytes != y->device->peak_bytes)
		return x->device->peak_bytes > y->device->peak_bytes ? -1 : 1;
	if (x->host->host != y->host->host)
		return x->host->host < y->host->host ? -1 : 1;
	return x->device < y->device ? -1 : x->device > y->device;
}

static int64_t capacity_of(const struct mt_view *view)
{
	const struct ts_profile *profile = view->ctx->profile;

	return view->device->device == TS_NONE ? TS_UNKNOWN
					       : profile->devices[view->device->device].hbm_bytes;
}

/* Of the reserved, what is not allocated; NaN unknown. */
static double unused_share(int64_t allocated, int64_t reserved)
{
	return reserved > 0 ? TS_MAX(1 - (double)allocated / (double)reserved, 0) : NAN;
}

static struct ts_value step_cell(uint64_t number)
{
	return number == TS_NO_NUMBER || number > INT64_MAX ? ts_null() : ts_int((int64_t)number);
}

/* --- devices, steps, time */

static const struct ts_column of_devices[] = {
	{ "device", TS_MEASURED, "device" },
	{ "host", TS_MEASURED, NULL },
	{ "peak_bytes", TS_MEASURED, "peak" },
	{ "peak_time_ps", TS_MEASURED, "at" },
	{ "peak_step", TS_MEASURED, "in step" },
	{ "peak_reserved_bytes", TS_MEASURED, "reserved then" },
	{ "fragmentation_pct", TS_MEASURED, "unused of it" },
	{ "mean_fragmentation_pct", TS_MEASURED, NULL },
	{ "max_reserved_bytes", TS_MEASURED, "reserved at most" },
	{ "capacity_bytes", TS_MEASURED, "memory" },
	{ "first_bytes", TS_MEASURED, NULL },
	{ "allocated_bytes", TS_MEASURED, "at the end" },
	{ "reserved_bytes", TS_MEASURED, NULL },
	{ "unknown_bytes", TS_MEASURED, NULL },
	{ "allocations", TS_MEASURED, "allocations" },
	{ "frees", TS_MEASURED, NULL },
	{ "taken_bytes", TS_MEASURED, NULL },
	{ "steps", TS_MEASURED, NULL },
	{ "rising_steps", TS_MEASURED, NULL },
	{ "first_step_heap_bytes", TS_MEASURED, NULL },
	{ "last_step_heap_bytes", TS_MEASURED, NULL },
	{ "out_of_memory", TS_MEASURED, NULL },
	{ "out_of_memory_bytes", TS_MEASURED, NULL },
	{ "out_of_memory_op", TS_MEASURED, NULL },
	{ "out_of_memory_module", TS_MEASURED, NULL },
	{ "out_of_memory_time_ps", TS_MEASURED, NULL },
};

static void put_oom(const struct mt_view *view, struct ts_value *cells)
{
	const struct mt_device *device = view->device;

	cells[0] = ts_int((int64_t)device->nr_oom);
	if (device->nr_oom == 0)
		return;
	cells[1] = ts_int(device->oom_bytes);
	cells[2] = mt_op_cell(view, device->oom_owner.op);
	cells[3] = mt_module_cell(view, device->oom_owner.module);
	cells[4] = ts_int(device->oom_ps);
}

static void put_device_growth(const struct mt_device *device, struct ts_value *cells)
{
	if (device->nr_steps < 2)
		return;
	cells[0] = ts_int(device->nr_steps);
	cells[1] = ts_int(device->nr_rising);
	cells[2] = ts_int(device->first_step_bytes);
	cells[3] = ts_int(device->last_step_bytes);
}

static bool put_device(struct ts_result *result, struct ts_table *table, const struct mt_view *view)
{
	const struct mt_device *device = view->device;
	struct ts_value *cells = ts_table_row(result, table);

	if (!cells)
		return false;
	cells[0] = ts_text(view->name);
	cells[1] = mt_host_cell(view);
	cells[2] = ts_int(device->peak_bytes);
	cells[3] = ts_int(device->peak_ps);
	cells[4] = step_cell(device->peak_step);
	cells[5] = ts_int_or_null(device->peak_reserved);
	cells[6] = ts_share_pct(unused_share(device->peak_bytes, device->peak_reserved));
	if (device->known_ps > 0)
		cells[7] = ts_share_pct(device->unused_ps / device->known_ps);
	cells[8] = ts_int_or_null(device->most_reserved);
	cells[9] = ts_int_or_null(capacity_of(view));
	cells[10] = device->has_totals ? ts_int(device->first_bytes) : ts_null();
	cells[11] = ts_int(device->allocated);
	cells[12] = ts_int_or_null(device->reserved);
	cells[13] = ts_int(device->peak_untracked);
	cells[14] = ts_int((int64_t)device->nr_taken);
	cells[15] = ts_int((int64_t)device->nr_given);
	cells[16] = ts_int(device->taken_bytes);
	put_device_growth(device, &cells[17]);
	put_oom(view, &cells[21]);
	return true;
}

static const struct ts_column of_steps[] = {
	{ "device", TS_MEASURED, "device" },
	{ "host", TS_MEASURED, NULL },
	{ "step", TS_MEASURED, "step" },
	{ "peak_bytes", TS_MEASURED, "peak" },
	{ "end_bytes", TS_MEASURED, "at its end" },
	{ "reserved_bytes", TS_MEASURED, "reserved" },
	{ "taken_bytes", TS_MEASURED, "taken in all" },
	{ "allocations", TS_MEASURED, "allocations" },
};

static bool put_steps(struct ts_result *result, struct ts_table *table, const struct mt_view *view)
{
	for (size_t i = 0; i < view->host->nr_rows; i++) {
		const struct mt_step_row *row = &view->host->rows[i];
		struct ts_value *cells;

		if (&view->host->devices[row->device] != view->device)
			continue;
		cells = ts_table_row(result, table);
		if (!cells)
			return false;
		cells[0] = ts_text(view->name);
		cells[1] = mt_host_cell(view);
		cells[2] = step_cell(row->number);
		cells[3] = ts_int(row->peak_bytes);
		cells[4] = ts_int(row->end_bytes);
		if (row->reserved_bytes > 0)
			cells[5] = ts_int(row->reserved_bytes);
		cells[6] = ts_int(row->taken_bytes);
		cells[7] = ts_int(row->count);
	}
	return true;
}

static const struct ts_column of_timeline[] = {
	{ "time_ps", TS_MEASURED, NULL },	 { "allocated_bytes", TS_MEASURED, NULL },
	{ "reserved_bytes", TS_MEASURED, NULL }, { "device", TS_MEASURED, NULL },
	{ "host", TS_MEASURED, NULL },
};

static bool put_moment(struct ts_result *result, struct ts_table *table, const struct mt_view *view,
		       int64_t at_ps, const int64_t levels[2])
{
	struct ts_value *cells = ts_table_row(result, table);

	if (!cells)
		return false;
	cells[0] = ts_int(at_ps);
	cells[1] = ts_int(levels[0]);
	cells[2] = ts_int_or_null(levels[1]);
	cells[3] = ts_text(view->name);
	cells[4] = mt_host_cell(view);
	return true;
}

/* A level that does not change is said once. */
static bool is_said(const struct mt_device *device, size_t i)
{
	return i > 0 && device->levels.high[i] == device->levels.high[i - 1] &&
	       device->levels_reserved.high[i] == device->levels_reserved.high[i - 1];
}

static bool put_timeline(struct ts_result *result, struct ts_table *table,
			 const struct mt_view *view)
{
	const struct mt_device *device = view->device;
	const int64_t last[] = { device->allocated, device->reserved };

	for (size_t i = 0; i < device->levels.nr; i++) {
		const int64_t levels[] = { device->levels.high[i],
					   device->levels_reserved.high[i] };

		if (!is_said(device, i) &&
		    !put_moment(result, table, view, ts_levels_time(&device->levels, i), levels))
			return false;
	}
	return put_moment(result, table, view, device->last_ps, last);
}

/* --- calls of the driver's allocator */

static const struct ts_column of_calls[] = {
	{ "call", TS_MEASURED, "call" },
	{ "host", TS_MEASURED, NULL },
	{ "count", TS_MEASURED, "times" },
	{ "total_time_ps", TS_MEASURED, "time" },
	{ "max_time_ps", TS_MEASURED, "longest" },
	{ "in_steps_count", TS_MEASURED, "after the first step" },
	{ "in_steps_time_ps", TS_MEASURED, NULL },
	{ "in_steps_start_ps", TS_MEASURED, NULL },
	{ "in_steps_end_ps", TS_MEASURED, NULL },
};

static bool put_calls(const struct ts_context *ctx, const struct mt_host *hosts, size_t nr,
		      struct ts_result *result)
{
	struct ts_table *table =
		ts_result_table(result, "allocator_calls", "Calls of the driver's allocator",
				of_calls, TS_NELEM(of_calls));

	for (size_t h = 0; table && h < nr; h++)
		for (size_t i = 0; i < hosts[h].nr_calls; i++) {
			const struct mt_call *call = &hosts[h].calls[i];
			struct ts_value *cells = ts_table_row(result, table);

			if (!cells)
				return false;
			cells[0] = ts_text(ctx->profile->ops[call->op].name);
			cells[1] = ts_text_or_null(ctx->profile->hosts[hosts[h].host].name);
			cells[2] = ts_int(call->count);
			cells[3] = ts_int(call->total_ps);
			cells[4] = ts_int(call->max_ps);
			cells[5] = ts_int(call->in_steps);
			cells[6] = ts_int(call->in_steps_ps);
			if (call->in_steps > 0) {
				cells[7] = ts_int(call->first_ps);
				cells[8] = ts_int(call->last_ps);
			}
		}
	return table != NULL;
}

/* --- counters in the viewers */

static double gib_of(int64_t bytes)
{
	return (double)TS_MAX(bytes, 0) / (double)(INT64_C(1) << 30);
}

static bool put_counter(struct ts_result *result, const struct ts_levels *levels,
			const struct mt_device *of, const char *name, const char *description,
			int order)
{
	uint32_t device = of->device;
	int64_t last_ps = of->last_ps;
	struct ts_track *track =
		ts_result_track(result, TS_TRACK_COUNTER, name, device, ORDER + order);
	struct ts_point *points =
		ts_arena_array(&result->owner->arena, levels->nr + 1, sizeof(*points));

	if (!track || !points)
		return false;
	track->unit = "GiB";
	track->description = description;
	track->points = points;
	for (size_t i = 0; i < levels->nr; i++)
		if (i == 0 || levels->high[i] != levels->high[i - 1])
			points[track->nr_points++] = (struct ts_point){ ts_levels_time(levels, i),
									gib_of(levels->high[i]) };
	if (levels->now != levels->high[levels->nr - 1])
		points[track->nr_points++] =
			(struct ts_point){ TS_MAX(last_ps, points[track->nr_points - 1].at_ps),
					   gib_of(levels->now) };
	return true;
}

static bool put_counters(struct ts_result *result, const struct mt_view *view)
{
	const struct mt_device *device = view->device;

	if (view->ctx->overlay_budget == 0 || device->device == TS_NONE)
		return true;
	return put_counter(
		       result, &device->levels, device, "Allocated memory (GiB)",
		       "what PyTorch's allocator has given out, the most of each stretch of time",
		       0) &&
	       (device->most_reserved < 0 ||
		put_counter(result, &device->levels_reserved, device, "Reserved memory (GiB)",
			    "what PyTorch's allocator has taken from the device", 1));
}

/* --- all of it */

static const struct mt_sheet first_sheets[] = {
	MT_SHEET(devices, "Devices", put_device),
};
static const struct mt_sheet last_sheets[] = {
	MT_SHEET(steps, "Steps", put_steps),
	MT_SHEET(timeline, NULL, put_timeline),
};

static void put_mb(struct ts_result *result, const char *mb, const char *bytes, int64_t value,
		   enum ts_origin origin, const char *label)
{
	ts_result_field(result, mb, value < 0 ? ts_null() : ts_real((double)value / (1 << 20)),
			origin, NULL);
	ts_result_field(result, bytes, ts_int_or_null(value), origin, label);
}

static void put_fields(struct ts_result *result, const struct mt_view *view)
{
	const struct mt_device *device = view->device;

	ts_result_field(result, "source", ts_text(TS_LIT("allocator events of the trace")),
			TS_MEASURED, NULL);
	ts_result_field(result, "device", ts_text(view->name), TS_MEASURED, "device");
	put_mb(result, "peak_memory_mb", "peak_bytes", device->peak_bytes, TS_MEASURED, "peak");
	put_mb(result, "allocated_memory_mb", "allocated_bytes", device->allocated, TS_MEASURED,
	       "allocated at the end");
	put_mb(result, "reserved_memory_mb", "reserved_bytes", device->reserved, TS_MEASURED,
	       "reserved at the end");
	ts_result_field(result, "peak_time_ps", ts_int(device->peak_ps), TS_MEASURED, "peak at");
	ts_result_field(result, "peak_step", step_cell(device->peak_step), TS_MEASURED,
			"peak in step");
	ts_result_field(result, "fragmentation_pct",
			ts_share_pct(unused_share(device->peak_bytes, device->peak_reserved)),
			TS_MEASURED, "reserved and unused at the peak");
}

/* Of a trace whose host ran PyTorch's operators: another run of it could tell. */
static bool could_tell(const struct ts_profile *profile)
{
	for (size_t i = 0; i < profile->nr_ops; i++)
		if (profile->ops[i].is_event && (ts_bytes_is(profile->ops[i].category, "cpu_op") ||
						 ts_bytes_is(profile->ops[i].category, "Operator")))
			return true;
	return false;
}

/* A profile without allocator events: what its modules need, when it has any. */
static void put_modelled(const struct ts_context *ctx, struct ts_result *result)
{
	const struct ts_capacity_program *top = ts_capacity_top(ts_capacity_facts(ctx));
	int64_t peak = top ? top->peak_bytes : TS_UNKNOWN;
	int64_t reserved = top ? top->reserved_bytes : TS_UNKNOWN;

	ts_result_field(result, "source",
			peak < 0 ? ts_null() : ts_text(TS_LIT("compiled modules")), TS_MODELLED,
			NULL);
	ts_result_field(result, "device", ts_null(), TS_MODELLED, NULL);
	put_mb(result, "peak_memory_mb", "peak_bytes", peak, TS_MODELLED,
	       "peak of the largest program");
	put_mb(result, "allocated_memory_mb", "allocated_bytes", TS_UNKNOWN, TS_MODELLED, NULL);
	put_mb(result, "reserved_memory_mb", "reserved_bytes", reserved, TS_MODELLED,
	       "reserved for it");
	if (could_tell(ctx->profile))
		ts_result_note(result, "The trace has no events of PyTorch's allocators: "
				       "profile(..., profile_memory=True) writes them.");
}

static void put_notes(struct ts_result *result, const struct mt_view *views, size_t nr)
{
	uint64_t nr_gaps = 0, nr_unseen = 0, nr_untracked = 0, nr_rows = 0, nr_lost = 0;
	bool has_totals = true;

	for (size_t i = 0; i < nr; i++) {
		nr_gaps += views[i].device->nr_gaps;
		nr_unseen += views[i].device->nr_unseen;
		has_totals &= views[i].device->has_totals;
		if (i > 0 && views[i].host == views[i - 1].host)
			continue;
		nr_untracked += views[i].host->nr_untracked;
		nr_rows += views[i].host->nr_lost_rows;
		nr_lost += views[i].host->nr_lost_devices;
	}
	if (!has_totals)
		ts_result_note(result, "The events do not say what is allocated in all (PyTorch "
				       "before 1.10): counted from 0 where the capture begins.");
	if (nr_unseen > 0)
		ts_result_note(result,
			       "%llu blocks were given back that were taken before the "
			       "capture.",
			       (unsigned long long)nr_unseen);
	if (nr_gaps > 0)
		ts_result_note(result,
			       "%llu times the totals moved without an event: other threads, which "
			       "the profiler did not follow, took or gave back memory.",
			       (unsigned long long)nr_gaps);
	if (nr_untracked > 0)
		ts_result_note(result,
			       "%llu blocks were too many to be followed: they count as "
			       "allocated before the capture.",
			       (unsigned long long)nr_untracked);
	if (nr_rows + nr_lost > 0)
		ts_result_note(result,
			       "%llu rows of steps, and the events of %llu blocks on further "
			       "devices, were left out.",
			       (unsigned long long)nr_rows, (unsigned long long)nr_lost);
}

static bool put_sheet(struct ts_result *result, const struct mt_sheet *sheet,
		      const struct mt_view *views, size_t nr)
{
	struct ts_table *table = ts_result_table(result, sheet->name, sheet->title, sheet->columns,
						 sheet->nr_columns);
	bool good = table != NULL;

	for (size_t i = 0; i < nr && good; i++)
		good = sheet->put(result, table, &views[i]);
	return good;
}

static bool put_sheets(struct ts_result *result, const struct mt_sheet *sheets, size_t nr_sheets,
		       const struct mt_view *views, size_t nr)
{
	bool good = true;

	for (size_t i = 0; i < nr_sheets && good; i++)
		good = put_sheet(result, &sheets[i], views, nr);
	return good;
}

static bool put_all(const struct ts_context *ctx, struct mt_host *hosts, size_t nr_hosts,
		    struct ts_result *result, const struct mt_view *views, size_t nr)
{
	bool good;

	put_fields(result, &views[0]);
	good = put_sheets(result, first_sheets, TS_NELEM(first_sheets), views, nr) &&
	       put_sheets(result, mt_holder_sheets, MT_HOLDER_SHEETS, views, nr) &&
	       put_sheets(result, last_sheets, TS_NELEM(last_sheets), views, nr) &&
	       put_calls(ctx, hosts, nr_hosts, result);
	for (size_t i = 0; i < nr && good; i++)
		good = put_counters(result, &views[i]);
	put_notes(result, views, nr);
	return good;
}

static bool make_view(const struct ts_context *ctx, const struct mt_host *host, size_t device,
		      struct ts_result *result, struct mt_view *view)
{
	*view = (struct mt_view){ .ctx = ctx, .host = host, .device = &host->devices[device] };
	view->name = name_of(result, view->device);
	view->kinds = calloc(host->nr_kinds + 1, sizeof(const struct mt_kind *));
	for (size_t i = 0; view->kinds && i < host->nr_kinds; i++)
		if (host->kinds[i].device == device)
			view->kinds[view->nr_kinds++] = &host->kinds[i];
	return view->kinds != NULL;
}

bool mt_report(const struct ts_context *ctx, struct mt_host *hosts, size_t nr_hosts,
	       struct ts_result *result)
{
	struct mt_view *views;
	size_t nr = 0, most = 0;
	bool good = true;

	for (size_t h = 0; h < nr_hosts; h++)
		most += hosts[h].nr_devices;
	if (most == 0) {
		put_modelled(ctx, result);
		return true;
	}
	views = calloc(most, sizeof(*views));
	if (!views)
		return false;
	for (size_t h = 0; h < nr_hosts; h++)
		for (size_t d = 0; d < hosts[h].nr_devices && good; d++)
			good = make_view(ctx, &hosts[h], d, result, &views[nr++]);
	if (good && nr > 1)
		qsort(views, nr, sizeof(*views), by_importance);
	good = good && put_all(ctx, hosts, nr_hosts, result, views, nr);
	for (size_t i = 0; i < nr; i++)
		free(views[i].kinds);
	free(views);
	return good;
}
