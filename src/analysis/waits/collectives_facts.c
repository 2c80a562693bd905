/* Collectives over all cores: what each took, and who waited for whom. */
#include "analysis/waits/collectives.h"

#include <inttypes.h>

struct reading {
	const struct collectives_state *sum;
	const struct ts_context *ctx;
	struct ts_arena *arena;
	struct collective_rows *rows;
	struct collective_seen **seen; /* scratch: a slot on each device */
	struct collective_seen **some; /* scratch: those of a group */
	uint32_t *group;	       /* scratch: of each device, the first of its group */
	bool failed;
};

static void add_core(struct ts_collective_core *to, const struct ts_collective_core *from)
{
	to->nr_matched += from->nr_matched;
	to->nr_last += from->nr_last;
	to->caused_ps = ts_i64_add(to->caused_ps, from->caused_ps);
	to->excess_ps = ts_i64_add(to->excess_ps, from->excess_ps);
	to->waited_ps = ts_i64_add(to->waited_ps, from->waited_ps);
}

static void gather(struct reading *reading, uint32_t slot, struct collective_row *row)
{
	const struct collectives_state *sum = reading->sum;

	for (uint32_t i = 0; i < sum->nr_devices; i++) {
		struct collective_seen *seen = &sum->seen[i * sum->slots.nr + slot];

		reading->seen[i] = seen;
		if (seen->async.occurrences == 0 && seen->async.exposed_ps == 0)
			continue;
		if (row->nr_cores++ == 0)
			row->device = i;
		ts_async_merge(&row->sum, &seen->async);
	}
}

/* Whether each core that ran it waits for each other. */
static bool is_common(const struct collective_row *row)
{
	if (ts_bytes_starts(row->what.kind, "collective-permute") ||
	    ts_bytes_starts(row->what.kind, "send") || ts_bytes_starts(row->what.kind, "recv"))
		return false;
	return row->what.group_size < 0 || (uint64_t)row->what.group_size == row->nr_cores;
}

/* One group matched within itself; the others' cores stand aside. */
static void match_group(struct reading *reading, uint32_t first, struct collective_row *row)
{
	static struct collective_seen absent; /* never written: it took no part */
	size_t nr = reading->sum->nr_devices;

	for (size_t i = 0; i < nr; i++)
		reading->some[i] = reading->group[i] == first ? reading->seen[i] : &absent;
	ts_collective_match(reading->some, nr, reading->sum->is_cut, &row->skew);
}

static void put_groups(struct reading *reading, struct collective_row *row)
{
	size_t nr = reading->sum->nr_devices;
	struct ts_buf out = TS_BUF_INIT;

	for (uint32_t first = 0; first < nr; first++) {
		if (reading->group[first] != first)
			continue;
		ts_buf_puts(&out, out.n ? ",{" : "{");
		for (uint32_t i = first; i < nr; i++)
			if (reading->group[i] == first)
				ts_buf_printf(&out, i == first ? "%" PRIu32 : ",%" PRIu32, i);
		ts_buf_putc(&out, '}');
	}
	row->groups = ts_arena_copy(reading->arena, ts_buf_bytes(&out));
	reading->failed |= out.failed || !row->groups.p;
	ts_buf_release(&out);
}

/* Who waits for whom: all for all, or group by group where the groups are known. */
static void match(struct reading *reading, struct collective_row *row)
{
	size_t nr = reading->sum->nr_devices;
	enum collective_grouped found;

	row->is_unmatched = row->nr_cores > 1 && !is_common(row);
	if (!row->is_unmatched) {
		ts_collective_match(reading->seen, nr, reading->sum->is_cut, &row->skew);
		return;
	}
	found = reading->sum->is_cut ? COLLECTIVE_UNGROUPED
				     : ts_collective_groups(reading->seen, nr, row->what.group_size,
							    reading->group);
	reading->failed |= found == COLLECTIVE_NOMEM;
	if (found != COLLECTIVE_GROUPED)
		return;
	row->is_unmatched = false;
	for (uint32_t i = 0; i < nr; i++)
		if (reading->group[i] == i)
			match_group(reading, i, row);
	put_groups(reading, row);
}

static void read_slot(struct reading *reading, uint32_t slot)
{
	struct collective_row *row = &reading->rows->items[reading->rows->nr];
	size_t nr_devices = reading->sum->nr_devices;

	*row = (struct collective_row){ .op = reading->sum->slots.op[slot] };
	gather(reading, slot, row);
	if (row->nr_cores == 0)
		return;
	row->what =
		ts_collective_op_of(reading->ctx->profile, &reading->ctx->profile->ops[row->op]);
	row->skew.cores = &reading->rows->cores[reading->rows->nr * nr_devices];
	match(reading, row);
	for (size_t i = 0; i < nr_devices; i++)
		add_core(&reading->rows->all[i], &row->skew.cores[i]);
	reading->rows->nr++;
}

static int by_exposed(const void *a, const void *b)
{
	const struct collective_row *x = a, *y = b;

	if (x->sum.exposed_ps != y->sum.exposed_ps)
		return x->sum.exposed_ps > y->sum.exposed_ps ? -1 : 1;
	return (x->op > y->op) - (x->op < y->op);
}

/* Of one execution, in seconds: what its bytes take over one link. */
static double link_seconds(const struct collective_row *row, const struct ts_rates *rates)
{
	if (row->what.bytes <= 0)
		return NAN;
	return (double)row->what.bytes * row->what.bus_factor / rates->link_bytes_per_s;
}

static struct ts_collective fact_of(const struct ts_context *ctx, const struct collective_row *row)
{
	const struct ts_profile *profile = ctx->profile;
	const struct ts_op *op = &profile->ops[row->op];

	return (struct ts_collective){
		.op = row->op,
		.name = op->name,
		.module = op->module == TS_NONE ? (struct ts_bytes){ NULL, 0 }
						: profile->modules[op->module].name,
		.occurrences = row->sum.occurrences,
		.total_ps = row->sum.interval_ps,
		.exposed_ps = op->is_traced ? -1 : row->sum.exposed_ps,
		.link_s = link_seconds(row, &ctx->rates[row->device]),
		.nr_matched = row->skew.nr_matched,
		.wait_ps = row->skew.nr_matched > 0 ? row->skew.wait_ps : -1,
	};
}

static bool make_facts(const struct reading *reading, struct ts_collectives_facts *facts)
{
	const struct collective_rows *rows = reading->rows;
	size_t nr_devices = reading->sum->nr_devices;
	struct ts_collective *items = ts_arena_array(reading->arena, rows->nr + 1, sizeof(*items));
	struct ts_collective_core *cores =
		ts_arena_array(reading->arena, nr_devices + 1, sizeof(*cores));

	if (!items || !cores)
		return false;
	for (size_t i = 0; i < rows->nr; i++)
		items[i] = fact_of(reading->ctx, &rows->items[i]);
	for (uint32_t i = 0; i < nr_devices; i++) {
		if (rows->all[i].nr_matched == 0)
			continue;
		cores[facts->nr_cores] = rows->all[i];
		cores[facts->nr_cores++].device = i;
	}
	facts->items = items;
	facts->nr = rows->nr;
	facts->cores = cores;
	return true;
}

bool ts_collectives_read(const struct collectives_state *sum, const struct ts_context *ctx,
			 struct ts_arena *arena, struct collective_rows *rows,
			 struct ts_collectives_facts *facts)
{
	size_t nr_slots = sum->slots.nr, nr_devices = sum->nr_devices;
	struct reading reading = {
		.sum = sum,
		.ctx = ctx,
		.arena = arena,
		.rows = rows,
		.seen = calloc(nr_devices + 1, sizeof(struct collective_seen *)),
		.some = calloc(nr_devices + 1, sizeof(struct collective_seen *)),
		.group = calloc(nr_devices + 1, sizeof(*reading.group)),
	};

	TS_ASSERT(sum->nr_seen == nr_slots * nr_devices && facts && !rows->items);
	rows->items = calloc(nr_slots + 1, sizeof(*rows->items));
	rows->all = calloc(nr_devices + 1, sizeof(*rows->all));
	rows->cores = calloc(nr_slots * nr_devices + 1, sizeof(*rows->cores));
	reading.failed = !reading.seen || !reading.some || !reading.group || !rows->items ||
			 !rows->all || !rows->cores;
	for (uint32_t i = 0; !reading.failed && i < nr_slots; i++)
		read_slot(&reading, i);
	if (rows->nr > 1)
		qsort(rows->items, rows->nr, sizeof(*rows->items), by_exposed);
	reading.failed = reading.failed || !make_facts(&reading, facts);
	free(reading.seen);
	free(reading.some);
	free(reading.group);
	return !reading.failed;
}

void ts_collectives_release_rows(struct collective_rows *rows)
{
	free(rows->items);
	free(rows->all);
	free(rows->cores);
}
