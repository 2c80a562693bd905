/* SPDX-License-Identifier: MIT */
#include "analysis/doctor/roots.h"

#include "analysis/doctor/doctor.h"
#include "base/check.h"
#include "base/order.h"

#define LATE_FACTOR    1.03 /* an op is late where all its executions together take longer by this */
#define MOST	       0.75 /* of the excess: who has that is to blame */
#define MOST_OF_UNEVEN 0.5
#define LATE_CORES     4 /* one of so many cores may be late, or it is all of them in turns */

struct looking {
	struct ts_doctor *doctor;
	struct ts_map by_op; /* device and op -> late */
	struct ts_late_op *late;
	size_t nr, cap;
	/* The walk, which goes from the end of the run back. */
	struct ts_graph_part
		later; /* the part seen before, which is later in time; .node TS_GRAPH_NONE: none */
	struct ts_hop hops[TS_MAX_CHAIN]; /* since the end of this step, the latest first */
	size_t nr_hops;
	uint32_t first; /* device that is asked for; TS_NONE: none yet */
	int64_t largest_ps;
	struct ts_roots *roots;
};

static uint64_t roots_key(uint32_t device, uint32_t op)
{
	return (uint64_t)device << 32 | op;
}

static uint32_t roots_device(const struct looking *looking, uint32_t node)
{
	const struct ts_path *path = &looking->doctor->run->path;

	return path->device[path->graph.nodes[node].row];
}

/* The late op of a node; NULL: no memory. */
static struct ts_late_op *roots_op_of(struct looking *looking, uint32_t node)
{
	uint32_t device = roots_device(looking, node);
	uint32_t op = looking->doctor->run->path.graph.nodes[node].what;
	uint64_t key = roots_key(device, op);
	uint32_t at = ts_map_find(&looking->by_op, key);

	if (at != TS_NONE)
		return &looking->late[at];
	at = (uint32_t)looking->nr;
	if (!ts_grow(&looking->late, &looking->cap, looking->nr + 1, sizeof(*looking->late)) ||
	    !ts_map_set(&looking->by_op, key, at)) {
		looking->doctor->failed = true;
		return NULL;
	}
	looking->late[looking->nr++] = (struct ts_late_op){ .device = device, .op = op };
	return &looking->late[at];
}

/* Whether a node is an op that others run, too, and how long it takes longer than there. */
static bool roots_excess(const struct looking *looking, uint32_t node, int64_t *excess_ps)
{
	const struct ts_run_replay *run = looking->doctor->run;
	int64_t usual_ps = run->usual_ps[TS_LEVEL_PEERS][node];

	if (run->path.graph.nodes[node].kind != TS_PATH_OP || usual_ps == TS_USUAL_UNKNOWN)
		return false;
	*excess_ps = run->path.graph.nodes[node].own_ps - usual_ps;
	return true;
}

/* What each op takes on each core, and on the others. */
static void roots_compare(struct looking *looking)
{
	const struct ts_run_replay *run = looking->doctor->run;
	int64_t excess_ps;

	for (uint32_t i = 0; i < run->path.graph.nr_nodes; i++) {
		struct ts_late_op *late;

		if (!roots_excess(looking, i, &excess_ps))
			continue;
		late = roots_op_of(looking, i);
		if (!late)
			return;
		late->own_ps += run->path.graph.nodes[i].own_ps;
		late->usual_ps += run->path.graph.nodes[i].own_ps - excess_ps;
		late->nr++;
	}
}

/* The path goes from one core to another: what is later waited for what is earlier. */
static void roots_hop(struct looking *looking, const struct ts_graph_part *part)
{
	const struct ts_path *path = &looking->doctor->run->path;
	uint32_t from, to, waits = looking->later.node;
	struct ts_hop hop;

	if (waits == TS_GRAPH_NONE || path->graph.nodes[waits].kind != TS_PATH_OP)
		return;
	if (path->step[part->node] != path->step[waits])
		looking->nr_hops = 0;
	from = roots_device(looking, part->node);
	to = roots_device(looking, waits);
	hop = (struct ts_hop){ .from = from, .to = to, .op = path->graph.nodes[waits].what };
	if (path->graph.nodes[waits].joins == path->graph.nodes[waits].awaits &&
	    path->graph.nodes[waits].awaits != TS_GRAPH_NONE)
		hop.nr_others = path->graph.nr_members[path->graph.nodes[waits].awaits] - 1;
	if (!looking->later.is_transfer || (from == to && hop.nr_others == 0))
		return;
	memmove(&looking->hops[1], &looking->hops[0],
		(TS_MAX_CHAIN - 1) * sizeof(looking->hops[0]));
	looking->hops[0] = hop;
	looking->nr_hops = TS_MIN(looking->nr_hops + 1, TS_MAX_CHAIN);
}

static void roots_count(void *arg, const struct ts_graph_part *part)
{
	struct looking *looking = arg;
	const struct ts_path *path = &looking->doctor->run->path;
	struct ts_late_op *late;
	int64_t excess_ps;

	if (part->node == TS_GRAPH_NONE || !roots_excess(looking, part->node, &excess_ps))
		return;
	late = roots_op_of(looking, part->node);
	if (late &&
	    (double)path->graph.nodes[part->node].own_ps >
		    LATE_FACTOR * (double)(path->graph.nodes[part->node].own_ps - excess_ps))
		late->path_ps += excess_ps * ts_path_weight(path, path->step[part->node]);
}

/* Hops up to the first one at which all wait. */
static size_t roots_chain(const struct looking *looking)
{
	for (size_t i = 0; i < looking->nr_hops; i++)
		if (looking->hops[i].nr_others > 0)
			return i + 1;
	return looking->nr_hops;
}

/* The chain behind the largest excess of the first core. */
static void roots_follow(void *arg, const struct ts_graph_part *part)
{
	struct looking *looking = arg;
	int64_t excess_ps;

	if (part->node == TS_GRAPH_NONE)
		return;
	roots_hop(looking, part);
	looking->later = *part;
	if (roots_device(looking, part->node) != looking->first ||
	    !roots_excess(looking, part->node, &excess_ps) || excess_ps <= looking->largest_ps)
		return;
	looking->largest_ps = excess_ps;
	memcpy(looking->roots->hops, looking->hops, sizeof(looking->hops));
	looking->roots->nr_hops = roots_chain(looking);
}

static bool roots_is_late(const struct ts_late_op *late)
{
	return late->path_ps > 0 && (double)late->own_ps > LATE_FACTOR * (double)late->usual_ps;
}

struct sum { /* of a device, or of an op */
	uint32_t of;
	int64_t ps;
};
TS_ORDER(roots_largest_first, struct sum, TS_DOWN(ps) TS_UP(of))
TS_ORDER(roots_by_path, struct ts_late_op, TS_DOWN(path_ps) TS_UP(device) TS_UP(op))

/* The few cores that have most of the excess. */
static void roots_blame(struct looking *looking, struct sum *sums)
{
	struct ts_roots *roots = looking->roots;
	size_t nr = looking->doctor->ctx->profile->nr_devices;
	size_t most = TS_MIN(TS_MAX(looking->doctor->run->path.graph.nr_rows / LATE_CORES, 1),
			     TS_MAX_LATE);
	int64_t has_ps = 0;

	for (size_t i = 0; i < nr; i++)
		sums[i] = (struct sum){ (uint32_t)i, 0 };
	for (size_t i = 0; i < looking->nr; i++)
		if (roots_is_late(&looking->late[i]))
			sums[looking->late[i].device].ps += looking->late[i].path_ps;
	TS_SORT(sums, nr, roots_largest_first);
	for (size_t i = 0; i < TS_MIN(most, nr) && sums[i].ps > 0; i++) {
		roots->devices[i] = sums[i].of;
		has_ps += sums[i].ps;
		if ((double)has_ps >= MOST * (double)roots->excess_ps) {
			roots->nr_devices = i + 1;
			return;
		}
	}
}

/* The op that is long on one core now and on another then. */
static void roots_find_uneven(struct looking *looking)
{
	struct ts_roots *roots = looking->roots;
	int64_t most_ps = 0;

	for (size_t i = 0; i < looking->nr; i++) {
		int64_t ps = 0;

		for (size_t k = i; k < looking->nr && looking->late[i].path_ps > 0; k++)
			if (looking->late[k].op == looking->late[i].op)
				ps += looking->late[k].path_ps;
		if (ps > most_ps) {
			most_ps = ps;
			roots->uneven = looking->late[i].op;
		}
	}
	if ((double)most_ps < MOST_OF_UNEVEN * (double)roots->excess_ps)
		roots->uneven = TS_NONE;
}

static void roots_find(struct looking *looking)
{
	struct ts_doctor *doctor = looking->doctor;
	size_t nr_devices = doctor->ctx->profile->nr_devices;
	struct sum *sums = ts_arena_array(&doctor->scratch, nr_devices + 1, sizeof(*sums));

	doctor->failed |= !sums;
	if (!sums)
		return;
	roots_compare(looking);
	ts_replay_path(&doctor->run->replay, roots_count, looking);
	for (size_t i = 0; i < looking->nr; i++)
		looking->roots->excess_ps += looking->late[i].path_ps;
	if (looking->roots->excess_ps == 0)
		return;
	roots_blame(looking, sums);
	TS_SORT(looking->late, looking->nr, roots_by_path);
	if (looking->roots->nr_devices == 0) {
		roots_find_uneven(looking);
		return;
	}
	looking->first = looking->roots->devices[0];
	ts_replay_path(&doctor->run->replay, roots_follow, looking);
	if (looking->roots->nr_hops == 0) /* no core waits for it */
		looking->roots->nr_devices = 0;
}

const struct ts_roots *ts_doctor_roots(struct ts_doctor *doctor)
{
	struct ts_roots *roots = ts_arena_array(&doctor->scratch, 1, sizeof(*roots));
	struct looking looking = {
		.doctor = doctor, .first = TS_NONE, .later.node = TS_GRAPH_NONE, .roots = roots
	};
	struct ts_late_op *kept;

	doctor->failed |= !roots;
	if (!roots)
		return NULL;
	roots->uneven = TS_NONE;
	if (!doctor->run->is_known || doctor->run->path.graph.nr_rows < 2 ||
	    doctor->ctx->profile->nr_devices < 2) /* lanes of one are not compared */
		return roots;
	roots_find(&looking);
	while (roots->nr_ops < looking.nr && looking.late[roots->nr_ops].path_ps > 0)
		roots->nr_ops++;
	kept = ts_arena_array(&doctor->scratch, roots->nr_ops + 1, sizeof(*kept));
	doctor->failed |= !kept;
	if (kept && roots->nr_ops > 0)
		memcpy(kept, looking.late, roots->nr_ops * sizeof(*kept));
	roots->ops = kept;
	ts_map_release(&looking.by_op);
	free(looking.late);
	return roots;
}
