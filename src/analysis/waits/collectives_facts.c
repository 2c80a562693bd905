/* SPDX-License-Identifier: MIT */
/* Collectives over all cores: what each took, and who waited for whom. */
#include "analysis/waits/collectives.h"
#include "base/order.h"

#include <inttypes.h>

struct reading {
	const struct collectives_state *sum;
	const struct ts_context *ctx;
	struct ts_arena *arena;
	struct collective_rows *rows;
	struct collective_seen **seen;	  /* scratch: a slot on each device */
	uint32_t *host;			  /* of each device */
	uint32_t *devices;		  /* scratch: those that ran the slot */
	struct ts_collective_core *cores; /* scratch: one a device */
	struct collective_cores all;	  /* the slot, for who looks at its cores */
};

static void collectives_facts_add_core(struct ts_collective_core *to,
				       const struct ts_collective_core *from)
{
	to->nr_matched += from->nr_matched;
	to->nr_last += from->nr_last;
	to->caused_ps = ts_i64_add(to->caused_ps, from->caused_ps);
	to->excess_ps = ts_i64_add(to->excess_ps, from->excess_ps);
	to->lead_ps = ts_i64_add(to->lead_ps, from->lead_ps);
	to->waited_ps = ts_i64_add(to->waited_ps, from->waited_ps);
	if (from->late_excess_ps <= to->late_excess_ps)
		return;
	to->late_score = from->late_score;
	to->late_nr = from->late_nr;
	to->late_excess_ps = from->late_excess_ps;
	to->late_most_ps = from->late_most_ps;
	to->late_since_ps = from->late_since_ps;
}

static void collectives_facts_gather(struct reading *reading, uint32_t slot,
				     struct collective_row *row)
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

bool ts_collective_is_common(const struct collective_op *what, size_t nr_cores)
{
	if (ts_bytes_starts(what->kind, "collective-permute") ||
	    ts_bytes_starts(what->kind, "send") || ts_bytes_starts(what->kind, "recv"))
		return false;
	return what->group_size < 0 || (uint64_t)what->group_size == nr_cores;
}

#define MAX_GROUPS_TEXT 4096 /* bytes; what is longer ends in dots */

static enum ts_status name_groups(const struct reading *reading, struct collective_row *row,
				  size_t nr, struct ts_error *err)
{
	size_t size = (size_t)row->what.group_size;
	struct ts_buf out = TS_BUF_INIT;
	bool failed;

	for (size_t i = 0; i < nr && out.n < MAX_GROUPS_TEXT; i++) {
		ts_buf_puts(&out, i == 0 ? "{" : i % size == 0 ? "},{" : ",");
		ts_buf_printf(&out, "%" PRIu32, reading->devices[i]);
	}
	ts_buf_puts(&out, out.n < MAX_GROUPS_TEXT ? "}" : "...");
	row->groups = ts_arena_copy(reading->arena, ts_buf_bytes(&out));
	failed = out.failed || !row->groups.p;
	ts_buf_release(&out);
	return failed ? ts_fail_nomem(err) : TS_OK;
}

/* Hosts of one part have clocks that can be compared. */
static uint32_t collectives_facts_part_of(const struct reading *reading, uint32_t device)
{
	const struct ts_host_clock *clocks = reading->all.clocks;
	uint32_t host = reading->host[device];

	if (!clocks)
		return 0;
	return clocks[host].reference == TS_NONE ? host : clocks[host].reference;
}

static size_t find_devices(const struct reading *reading)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < reading->sum->nr_devices; i++)
		if (reading->seen[i]->nr > 0)
			reading->devices[nr++] = i;
	return nr;
}

struct placed {
	uint32_t part, device;
};

TS_ORDER(by_part, struct placed, TS_UP(part) TS_UP(device))

/* Sorts the devices by part; *NR_PARTS: how many parts there are. */
static enum ts_status sort_parts(const struct reading *reading, size_t nr, size_t *nr_parts,
				 struct ts_error *err)
{
	struct placed *placed = calloc(nr + 1, sizeof(*placed));

	*nr_parts = nr > 0;
	if (!placed)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < nr; i++)
		placed[i] =
			(struct placed){ collectives_facts_part_of(reading, reading->devices[i]),
					 reading->devices[i] };
	TS_SORT(placed, nr, by_part);
	for (size_t i = 0; i < nr; i++) {
		reading->devices[i] = placed[i].device;
		*nr_parts += i > 0 && placed[i].part != placed[i - 1].part;
	}
	free(placed);
	return TS_OK;
}

/* The groups of one part; *FOUND: they are known, and stand side by side in DEVICES. */
static enum ts_status match_part(const struct reading *reading, uint32_t *devices, size_t nr,
				 struct collective_row *row, bool *found, struct ts_error *err)
{
	enum ts_status st =
		ts_collective_groups(&reading->all, devices, nr, row->what.group_size, found, err);
	size_t size = (size_t)row->what.group_size;

	for (size_t i = 0; !st && *found && i < nr; i += size)
		st = ts_collective_match(&reading->all, &devices[i], size, &row->skew, err);
	return st;
}

/* The first NR devices meet, SIZE at a time. */
static enum ts_status collectives_facts_meet(const struct reading *reading,
					     struct collective_row *row, size_t nr, size_t size,
					     struct ts_error *err)
{
	uint32_t *members = ts_arena_array(reading->arena, nr + 1, sizeof(*members));

	if (!members)
		return ts_fail_nomem(err);
	memcpy(members, reading->devices, nr * sizeof(*members));
	row->members = members;
	row->nr_members = nr;
	row->group_size = size;
	return TS_OK;
}

/* Groups lie within parts as far as that can be told. */
static enum ts_status match_parts(const struct reading *reading, size_t nr,
				  struct collective_row *row, struct ts_error *err)
{
	size_t nr_told = 0, end;

	for (size_t i = 0; i < nr; i = end) {
		uint32_t part = collectives_facts_part_of(reading, reading->devices[i]);
		enum ts_status st;
		bool found;

		for (end = i + 1; end < nr; end++)
			if (collectives_facts_part_of(reading, reading->devices[end]) != part)
				break;
		st = match_part(reading, &reading->devices[i], end - i, row, &found, err);
		if (st)
			return st;
		if (!found)
			continue;
		memmove(&reading->devices[nr_told], &reading->devices[i],
			(end - i) * sizeof(*reading->devices));
		nr_told += end - i;
	}
	row->is_unmatched = nr_told < nr;
	if (nr_told > 0) {
		enum ts_status st = collectives_facts_meet(reading, row, nr_told,
							   (size_t)row->what.group_size, err);

		return st ? st : name_groups(reading, row, nr_told, err);
	}
	return TS_OK;
}

/* Who waits for whom: all for all, or group by group where the groups are known. */
static enum ts_status collectives_facts_match(const struct reading *reading,
					      struct collective_row *row, struct ts_error *err)
{
	size_t nr = find_devices(reading), nr_parts;
	enum ts_status st;

	if (row->nr_cores < 2)
		return TS_OK;
	st = sort_parts(reading, nr, &nr_parts, err);
	if (st)
		return st;
	if (!ts_collective_is_common(&row->what, row->nr_cores))
		st = match_parts(reading, nr, row, err);
	else if (nr_parts == 1) {
		st = collectives_facts_meet(reading, row, nr, nr, err);
		if (!st)
			st = ts_collective_match(&reading->all, reading->devices, nr, &row->skew,
						 err);
	}
	row->is_unaligned = nr_parts > 1 && row->skew.nr_matched == 0;
	row->is_unmatched &= !row->is_unaligned;
	return st;
}

static int64_t collectives_facts_times(int64_t sum, double ratio)
{
	double product = (double)sum * ratio;

	return product < (double)INT64_MAX ? (int64_t)(product + 0.5) : INT64_MAX;
}

static void scale_core(struct ts_collective_core *core, double ratio)
{
	core->nr_matched = collectives_facts_times(core->nr_matched, ratio);
	core->nr_last = collectives_facts_times(core->nr_last, ratio);
	core->caused_ps = collectives_facts_times(core->caused_ps, ratio);
	core->excess_ps = collectives_facts_times(core->excess_ps, ratio);
	core->lead_ps = collectives_facts_times(core->lead_ps, ratio);
	core->waited_ps = collectives_facts_times(core->waited_ps, ratio);
}

/* Where some executions are kept they stand for the others. */
static void scale(struct reading *reading, struct collective_row *row)
{
	struct collective_skew *skew = &row->skew;
	const struct collective_seen *seen = reading->seen[row->device];
	double ratio;

	row->is_thinned = seen->level > 0;
	if (!row->is_thinned || skew->nr_matched == 0 || seen->nr == 0)
		return;
	ratio = (double)seen->nr_all / (double)seen->nr;
	skew->nr_matched = collectives_facts_times(skew->nr_matched, ratio);
	skew->sum_ps = collectives_facts_times(skew->sum_ps, ratio);
	skew->wait_ps = collectives_facts_times(skew->wait_ps, ratio);
	for (size_t i = 0; i < reading->sum->nr_devices; i++)
		scale_core(&reading->cores[i], ratio);
}

/* Who came last most often; and what each core waited goes to what it waited in all. */
static void add_cores(struct reading *reading, struct collective_row *row)
{
	size_t nr = reading->sum->nr_devices;
	uint32_t late = ts_collective_straggler(reading->cores, nr);

	row->late.device = TS_NONE;
	if (late != TS_NONE) {
		row->late = reading->cores[late];
		row->late.device = late;
	}
	for (size_t i = 0; i < nr; i++)
		collectives_facts_add_core(&reading->rows->all[i], &reading->cores[i]);
	memset(reading->cores, 0, nr * sizeof(*reading->cores));
	row->skew.cores = NULL;
}

static enum ts_status read_slot(struct reading *reading, uint32_t slot, struct ts_error *err)
{
	struct collective_row *row = &reading->rows->items[reading->rows->nr];
	enum ts_status st;

	*row = (struct collective_row){ .op = reading->sum->slots.op[slot] };
	collectives_facts_gather(reading, slot, row);
	if (row->nr_cores == 0)
		return TS_OK;
	row->what =
		ts_collective_op_of(reading->ctx->profile, &reading->ctx->profile->ops[row->op]);
	row->skew.cores = reading->cores;
	st = collectives_facts_match(reading, row, err);
	if (st)
		return st;
	scale(reading, row);
	add_cores(reading, row);
	reading->rows->nr++;
	return TS_OK;
}

TS_ORDER(collectives_facts_by_exposed, struct collective_row, TS_DOWN(sum.exposed_ps) TS_UP(op))

/* Of one execution, in seconds: what its bytes take over one link. */
static double link_seconds(const struct collective_row *row, const struct ts_rates *rates)
{
	if (row->what.bytes <= 0)
		return NAN;
	return (double)row->what.bytes * row->what.bus_factor / rates->link_bytes_per_s;
}

static struct ts_collective collectives_facts_fact_of(const struct ts_context *ctx,
						      const struct collective_row *row)
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
		.members = row->members,
		.nr_members = row->nr_members,
		.group_size = row->group_size,
		.nr_devices = row->what.nr_devices,
	};
}

#define LEAST_STRETCH 6	  /* executions in which a core came last, less the others: fewer may be chance */
#define LEAST_LATE    0.5 /* of the stretch: then it came last in three of four */
#define MOST_OF_ONE   0.5 /* of the excess in the stretch: a core that was late once is not late since then */

/* Back to the clock of its own host, whose steps they are. */
static int64_t since_step(const struct reading *reading, const struct ts_collective_core *core,
			  uint32_t device)
{
	const struct ts_host_clock *clocks = reading->all.clocks;
	int64_t offset_ps = clocks ? clocks[reading->host[device]].offset_ps : 0;

	if (core->late_score < LEAST_STRETCH ||
	    (double)core->late_score < LEAST_LATE * (double)core->late_nr ||
	    (double)core->late_most_ps > MOST_OF_ONE * (double)core->late_excess_ps)
		return -1;
	return ts_steps_number_at(&reading->ctx->outline->steps, device,
				  ts_i64_add(core->late_since_ps, offset_ps));
}

static enum ts_status collectives_facts_make_facts(const struct reading *reading,
						   struct ts_collectives_facts *facts,
						   struct ts_error *err)
{
	const struct collective_rows *rows = reading->rows;
	size_t nr_devices = reading->sum->nr_devices;
	struct ts_collective *items = ts_arena_array(reading->arena, rows->nr + 1, sizeof(*items));
	struct ts_collective_core *cores =
		ts_arena_array(reading->arena, nr_devices + 1, sizeof(*cores));

	size_t nr_ops = reading->ctx->profile->nr_ops;
	uint32_t *of_op = ts_arena_array(reading->arena, nr_ops + 1, sizeof(*of_op));

	if (!items || !cores || !of_op)
		return ts_fail_nomem(err);
	memset(of_op, 0xff, (nr_ops + 1) * sizeof(*of_op)); /* TS_NONE */
	for (size_t i = 0; i < rows->nr; i++) {
		items[i] = collectives_facts_fact_of(reading->ctx, &rows->items[i]);
		of_op[items[i].op] = (uint32_t)i;
	}
	for (uint32_t i = 0; i < nr_devices; i++) {
		if (rows->all[i].nr_matched == 0)
			continue;
		cores[facts->nr_cores] = rows->all[i];
		cores[facts->nr_cores].since_step = since_step(reading, &rows->all[i], i);
		cores[facts->nr_cores++].device = i;
	}
	facts->items = items;
	facts->of_op = of_op;
	facts->nr = rows->nr;
	facts->cores = cores;
	return TS_OK;
}

static enum ts_status collectives_facts_open_reading(struct reading *reading,
						     const struct ts_collectives_facts *facts,
						     struct ts_error *err)
{
	const struct ts_profile *profile = reading->ctx->profile;
	size_t nr_slots = reading->sum->slots.nr, nr_devices = reading->sum->nr_devices;

	reading->seen = calloc(nr_devices + 1, sizeof(struct collective_seen *));
	reading->host = calloc(nr_devices + 1, sizeof(*reading->host));
	reading->devices = calloc(nr_devices + 1, sizeof(*reading->devices));
	reading->cores = calloc(nr_devices + 1, sizeof(*reading->cores));
	reading->rows->items = calloc(nr_slots + 1, sizeof(*reading->rows->items));
	reading->rows->all = calloc(nr_devices + 1, sizeof(*reading->rows->all));
	for (size_t i = 0; reading->host && i < nr_devices; i++)
		reading->host[i] = profile->devices[i].host;
	reading->all = (struct collective_cores){ reading->seen, reading->host, facts->clocks,
						  nr_devices };
	return reading->seen && reading->host && reading->devices && reading->cores &&
			       reading->rows->items && reading->rows->all
		       ? TS_OK
		       : ts_fail_nomem(err);
}

enum ts_status ts_collectives_read(const struct collectives_state *sum,
				   const struct ts_context *ctx, struct ts_arena *arena,
				   struct collective_rows *rows, struct ts_collectives_facts *facts,
				   struct ts_error *err)
{
	struct reading reading = { .sum = sum, .ctx = ctx, .arena = arena, .rows = rows };
	enum ts_status st;

	TS_ASSERT(sum->nr_seen == sum->slots.nr * sum->nr_devices && facts && !rows->items);
	st = collectives_facts_open_reading(&reading, facts, err);
	for (uint32_t i = 0; !st && i < sum->slots.nr; i++)
		st = read_slot(&reading, i, err);
	if (st)
		goto done;
	TS_SORT(rows->items, rows->nr, collectives_facts_by_exposed);
	st = collectives_facts_make_facts(&reading, facts, err);
done:
	free(reading.seen);
	free(reading.host);
	free(reading.devices);
	free(reading.cores);
	return st;
}

void ts_collectives_release_rows(struct collective_rows *rows)
{
	free(rows->items);
	free(rows->all);
}
