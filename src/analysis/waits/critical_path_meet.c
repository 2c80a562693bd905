/* SPDX-License-Identifier: MIT */
/*
 * What goes between cores: the cores of a collective's group meet at it, a receive meets its send, a -done its -start. The k-th
 * execution of an op in a step of the run is that of the others in the same step.
 */
#include "analysis/waits/critical_path.h"

#include "base/check.h"
#include "base/units.h"
#include "model/async.h"

#define NO_GROUP (TS_NONE - 1)

enum ts_status ts_path_meeting_open(struct path_meeting *meeting, struct ts_path *path,
				    struct ts_error *err)
{
	const struct ts_rooms *rooms = path->ctx->profile->rooms;
	size_t nr_ops = path->ctx->profile->nr_ops + 1;

	*meeting = (struct path_meeting){ .path = path };
	meeting->group = ts_room_array(rooms, nr_ops, sizeof(*meeting->group));
	meeting->count = ts_room_array(rooms, nr_ops, sizeof(*meeting->count));
	meeting->count_row = ts_room_array(rooms, nr_ops, sizeof(*meeting->count_row));
	meeting->open = ts_room_array(rooms, nr_ops, sizeof(*meeting->open));
	if (!meeting->group || !meeting->count || !meeting->count_row || !meeting->open)
		return ts_fail_nomem(err);
	return ts_path_find_senders(meeting, err);
}

void ts_path_meeting_close(struct path_meeting *meeting)
{
	ts_map_release(&meeting->met);
	ts_map_release(&meeting->senders);
	ts_map_release(&meeting->sent);
	ts_map_release(&meeting->received);
	ts_room_free(meeting->group);
	ts_room_free(meeting->count);
	ts_room_free(meeting->count_row);
	ts_room_free(meeting->open);
}

void ts_path_meeting_core(struct path_meeting *meeting, uint32_t device)
{
	size_t nr_ops = meeting->path->ctx->profile->nr_ops;

	meeting->device = device;
	memset(meeting->group, 0xff, nr_ops * sizeof(*meeting->group));
	memset(meeting->count, 0, nr_ops * sizeof(*meeting->count));
	memset(meeting->count_row, 0xff, nr_ops * sizeof(*meeting->count_row));
	memset(meeting->open, 0xff, nr_ops * sizeof(*meeting->open));
}

/* The number of this execution of the op in its step, on this core. */
static uint32_t critical_path_meet_number(struct path_meeting *meeting, uint32_t op, uint32_t row)
{
	if (meeting->count_row[op] != row)
		meeting->count[op] = 0;
	meeting->count_row[op] = row;
	return meeting->count[op]++;
}

struct met {
	uint64_t kind, of, group, row, number;
};

/* The meeting of what is met; the first one to ask makes it. TS_NONE: no memory. */
static uint32_t critical_path_meet_at(struct path_meeting *meeting, const struct met *met)
{
	uint64_t key = ts_hash((struct ts_bytes){ (const uint8_t *)met, sizeof(*met) }, 0);
	uint32_t at = ts_map_find(&meeting->met, key);

	if (at != TS_NONE)
		return at;
	at = ts_graph_add_meeting(&meeting->path->graph);
	return ts_map_set(&meeting->met, key, at) ? at : TS_NONE;
}

/* Which of the groups of a collective the core is in; NO_GROUP: it is not known. */
static uint32_t critical_path_meet_find_group(const struct path_meeting *meeting, uint32_t op)
{
	const struct ts_collective *of =
		ts_collective_of(ts_collectives_facts(meeting->path->ctx), op);

	for (size_t i = 0; of && i < of->nr_members; i++)
		if (of->members[i] == meeting->device)
			return (uint32_t)(i / of->group_size);
	return NO_GROUP;
}

/* The same, looked for at the first execution alone. */
static uint32_t critical_path_meet_group(struct path_meeting *meeting, uint32_t op)
{
	if (meeting->group[op] == TS_NONE)
		meeting->group[op] = critical_path_meet_find_group(meeting, op);
	return meeting->group[op];
}

enum ts_status ts_path_meet_collective(struct path_meeting *meeting,
				       const struct path_moment *moment, uint32_t *found,
				       struct ts_error *err)
{
	struct met met = { .kind = TS_OP_COLLECTIVE,
			   .of = moment->op,
			   .group = critical_path_meet_group(meeting, moment->op),
			   .row = moment->row };

	*found = TS_GRAPH_NONE;
	if (met.group == NO_GROUP)
		return TS_OK;
	met.number = critical_path_meet_number(meeting, moment->op, moment->row);
	*found = critical_path_meet_at(meeting, &met);
	return *found == TS_NONE ? ts_fail_nomem(err) : TS_OK;
}

/* A send, or the end of a receive. */
static enum ts_status critical_path_meet_channel_op(struct path_meeting *meeting,
						    const struct path_moment *moment,
						    uint64_t channel, struct ts_graph_node *node,
						    struct ts_error *err)
{
	const struct ts_op *op = &meeting->path->ctx->profile->ops[moment->op];
	struct met met = { .kind = TS_OP_STEP, .of = channel, .row = moment->row };
	uint32_t sender = ts_map_find(&meeting->senders, channel), at;

	if (sender >= TS_PATH_MANY)
		return TS_OK;
	met.number = critical_path_meet_number(meeting, moment->op, moment->row);
	at = critical_path_meet_at(meeting, &met);
	if (at == TS_NONE)
		return ts_fail_nomem(err);
	if (op->category_id == TS_OPCODE_SEND)
		node->joins = at;
	else {
		node->awaits = at;
		node->own_ps = PATH_DONE_PS;
	}
	return TS_OK;
}

/* The first half of an asynchronous op: what the second one will await. */
static enum ts_status critical_path_meet_start(struct path_meeting *meeting,
					       const struct path_moment *moment,
					       struct ts_graph_node *node, struct ts_error *err)
{
	const struct ts_op *op = &meeting->path->ctx->profile->ops[moment->op];
	enum ts_status st = TS_OK;

	node->joins = TS_GRAPH_NONE;
	if (op->kind == TS_OP_COLLECTIVE)
		st = ts_path_meet_collective(meeting, moment, &node->joins, err);
	if (st == TS_OK && node->joins == TS_GRAPH_NONE)
		node->joins = ts_graph_add_meeting(&meeting->path->graph);
	meeting->open[op->partner] = node->joins;
	return st;
}

/* What a transfer takes at the pace of what carries it, should all of it be hidden; unknown is nothing. */
static int64_t critical_path_meet_transfer(const struct path_meeting *meeting,
					   const struct ts_op *done)
{
	const struct ts_context *ctx = meeting->path->ctx;
	const struct ts_hlo_instr *instr = ts_op_instr(ctx->profile, done);
	const struct ts_rates *rates = &ctx->rates[meeting->device];
	const struct ts_collective *of = ts_collective_of(ts_collectives_facts(ctx), done->partner);
	double per_s = done->kind == TS_OP_HOST ? rates->host_bytes_per_s : rates->hbm_bytes_per_s;
	double seconds = instr ? (double)ts_shape_bytes(&instr->shape) / per_s : 0;

	if (of)
		seconds = of->link_s;
	return isfinite(seconds) && seconds > 0 ? (int64_t)fmin(seconds * 1e12, 1e18) : 0;
}

static enum ts_status critical_path_meet_op(struct path_meeting *meeting,
					    const struct path_moment *moment,
					    struct ts_graph_node *node, struct ts_error *err)
{
	const struct ts_profile *profile = meeting->path->ctx->profile;
	const struct ts_op *op = &profile->ops[moment->op];
	uint64_t channel = ts_path_channel(profile, op);
	enum ts_status st = TS_OK;

	if (channel != TS_PATH_NO_ID)
		return critical_path_meet_channel_op(meeting, moment, channel, node, err);
	if (op->partner != TS_NONE && op->async == TS_ASYNC_START)
		return critical_path_meet_start(meeting, moment, node, err);
	if (op->partner != TS_NONE && op->async == TS_ASYNC_DONE) {
		node->awaits = meeting->open[moment->op];
		node->own_ps = PATH_DONE_PS;
		node->lag_ps = critical_path_meet_transfer(meeting, op);
		meeting->open[moment->op] = TS_GRAPH_NONE;
	} else if (op->kind == TS_OP_COLLECTIVE) {
		st = ts_path_meet_collective(meeting, moment, &node->joins, err);
		node->awaits = node->joins;
	}
	return st;
}

enum ts_status ts_path_meet(struct path_meeting *meeting, size_t at, struct ts_graph_node *node,
			    struct ts_error *err)
{
	const struct path_core *core = &meeting->path->sum->cores[meeting->device];
	uint64_t place = ts_path_place(meeting->device, at);
	uint32_t received = ts_map_find(&meeting->received, place);

	node->ends = ts_map_find(&meeting->sent, place);
	if (received == TS_NONE)
		return critical_path_meet_op(meeting, &core->moments[at], node, err);
	node->awaits = received;
	node->is_inferred = true;
	node->own_ps = PATH_DONE_PS;
	return TS_OK;
}
