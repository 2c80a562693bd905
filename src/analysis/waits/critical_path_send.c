/* SPDX-License-Identifier: MIT */
/*
 * Who sends what a core receives: who runs the send of that channel. Where the profile has no send, the core on which an op ends
 * a little before the receive does, time and again. Of the ops of other cores that ended last before the end of each of the first
 * executions, one has to be the same in all of them, with a distance that hardly changes beside what was waited; of several the
 * nearest is taken.
 */
#include "analysis/waits/critical_path.h"

#include "base/check.h"

#define LOOKS	    16	/* executions that are held against each core */
#define MIN_LOOKS   3	/* fewer may be chance */
#define MAX_JITTER  0.1 /* of what was waited */

/* The executions of a receive on one core. */
struct receive {
	uint32_t device, op;
	size_t at[LOOKS]; /* moments */
	size_t nr;
};

/* A core's op that may send. */
struct sender {
	uint32_t device, op;
	int64_t least_ps, most_ps; /* from its end to that of the receive */
};

int64_t ts_path_align(const struct ts_path *path, uint32_t device, int64_t t_ps)
{
	const struct ts_collectives_facts *facts = ts_collectives_facts(path->ctx);
	uint32_t host = path->ctx->profile->devices[device].host;

	return facts->clocks ? ts_host_clock_align(&facts->clocks[host], t_ps) : t_ps;
}

uint64_t ts_path_channel(const struct ts_profile *profile, const struct ts_op *op)
{
	static const char word[] = "channel_id=";
	const struct ts_hlo_instr *instr = ts_op_instr(profile, op);
	struct ts_bytes text = op->text;
	uint64_t channel = 0;
	size_t at;

	if (!TS_OPCODE_IN(op->category_id, TS_OPCODE_SEND, TS_OPCODE_RECV_DONE))
		return TS_PATH_NO_ID;
	if (instr && instr->channel_id > 0)
		return (uint64_t)instr->channel_id;
	at = ts_bytes_find(text, word);
	if (at == text.n)
		return TS_PATH_NO_ID;
	for (at += sizeof(word) - 1; at < text.n && text.p[at] >= '0' && text.p[at] <= '9'; at++)
		channel = channel * 10 + (uint64_t)(text.p[at] - '0');
	return channel;
}

/* Of each channel who sends over it: of several it is unknown who sends to whom. */
static enum ts_status critical_path_send_named(struct path_meeting *meeting, struct ts_error *err)
{
	const struct path_state *sum = meeting->path->sum;
	const struct ts_profile *profile = meeting->path->ctx->profile;

	for (uint32_t d = 0; d < sum->nr_cores; d++)
		for (size_t i = 0; i < sum->cores[d].nr; i++) {
			const struct ts_op *op = &profile->ops[sum->cores[d].moments[i].op];
			uint64_t channel;
			uint32_t known;

			if (op->category_id != TS_OPCODE_SEND)
				continue;
			channel = ts_path_channel(profile, op);
			known = ts_map_find(&meeting->senders, channel);
			if (known == d || channel == TS_PATH_NO_ID)
				continue;
			if (!ts_map_set(&meeting->senders, channel,
					known == TS_NONE ? d : TS_PATH_MANY))
				return ts_fail_nomem(err);
		}
	return TS_OK;
}

static bool critical_path_send_is_named(const struct path_meeting *meeting, const struct ts_op *op)
{
	uint64_t channel = ts_path_channel(meeting->path->ctx->profile, op);

	return channel != TS_PATH_NO_ID && ts_map_find(&meeting->senders, channel) < TS_PATH_MANY;
}

/* The last moment of the core that ended by T; SIZE_MAX: none did. */
static size_t critical_path_send_before(const struct ts_path *path, uint32_t device, int64_t t_ps)
{
	const struct path_core *core = &path->sum->cores[device];
	size_t lo = 0, hi = core->nr;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (ts_path_align(path, device, core->moments[mid].end_ps) <= t_ps)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo > 0 ? lo - 1 : SIZE_MAX;
}

static int64_t critical_path_send_end(const struct ts_path *path, uint32_t device, size_t at)
{
	return ts_path_align(path, device, path->sum->cores[device].moments[at].end_ps);
}

/* Whether the op that ended last on DEVICE is the same in all executions, at a like distance. */
static bool critical_path_send_fits(const struct ts_path *path, const struct receive *receive,
				    uint32_t device, struct sender *sender)
{
	const struct path_core *core = &path->sum->cores[device];
	int64_t waited_ps = 0;

	*sender = (struct sender){ device, TS_NONE, INT64_MAX, 0 };
	for (size_t i = 0; i < receive->nr; i++) {
		const struct path_moment *moment =
			&path->sum->cores[receive->device].moments[receive->at[i]];
		int64_t end_ps = critical_path_send_end(path, receive->device, receive->at[i]);
		size_t before = critical_path_send_before(path, device, end_ps);
		int64_t lag_ps;

		if (before == SIZE_MAX ||
		    (sender->op != TS_NONE && sender->op != core->moments[before].op))
			return false;
		sender->op = core->moments[before].op;
		lag_ps = end_ps - critical_path_send_end(path, device, before);
		sender->least_ps = TS_MIN(sender->least_ps, lag_ps);
		sender->most_ps = TS_MAX(sender->most_ps, lag_ps);
		waited_ps = TS_MAX(waited_ps, moment->end_ps - moment->start_ps);
	}
	return (double)(sender->most_ps - sender->least_ps) <= MAX_JITTER * (double)waited_ps;
}

static bool critical_path_send_find(const struct ts_path *path, const struct receive *receive,
				    struct sender *best)
{
	bool found = false;

	for (uint32_t d = 0; d < path->sum->nr_cores; d++) {
		struct sender sender = { .most_ps = INT64_MAX };

		if (d == receive->device || path->sum->cores[d].nr == 0 ||
		    !critical_path_send_fits(path, receive, d, &sender))
			continue;
		if (!found || sender.most_ps < best->most_ps)
			*best = sender;
		found = true;
	}
	return found;
}

/* Each execution of the receive awaits the end of the sender's op that ended last before it. */
static enum ts_status critical_path_send_join(struct path_meeting *meeting,
					      const struct receive *receive,
					      const struct sender *sender, struct ts_error *err)
{
	struct ts_path *path = meeting->path;
	const struct path_core *core = &path->sum->cores[receive->device];
	const struct path_core *from = &path->sum->cores[sender->device];

	for (size_t i = receive->at[0]; i < core->nr; i++) {
		size_t before;
		uint32_t at;

		if (core->moments[i].op != receive->op)
			continue;
		before = critical_path_send_before(
			path, sender->device, critical_path_send_end(path, receive->device, i));
		if (before == SIZE_MAX || from->moments[before].op != sender->op)
			continue;
		at = ts_map_find(&meeting->sent, ts_path_place(sender->device, before));
		if (at == TS_NONE)
			at = ts_graph_add_meeting(&path->graph);
		if (!ts_map_set(&meeting->sent, ts_path_place(sender->device, before), at) ||
		    !ts_map_set(&meeting->received, ts_path_place(receive->device, i), at))
			return ts_fail_nomem(err);
	}
	return TS_OK;
}

struct receives {
	struct receive *items;
	size_t nr, cap;
};

/* That of the op; a new one where there is none. NULL: no memory. */
static struct receive *critical_path_send_of(struct receives *receives, uint32_t device,
					     uint32_t op)
{
	for (size_t i = 0; i < receives->nr; i++)
		if (receives->items[i].op == op)
			return &receives->items[i];
	if (!ts_grow(&receives->items, &receives->cap, receives->nr + 1, sizeof(*receives->items)))
		return NULL;
	receives->items[receives->nr] = (struct receive){ .device = device, .op = op };
	return &receives->items[receives->nr++];
}

/* The first executions of each receive of the core whose sender the profile does not name. */
static enum ts_status critical_path_send_receives(const struct path_meeting *meeting,
						  uint32_t device, struct receives *receives,
						  struct ts_error *err)
{
	const struct path_core *core = &meeting->path->sum->cores[device];
	const struct ts_profile *profile = meeting->path->ctx->profile;

	for (size_t i = 0; i < core->nr; i++) {
		const struct ts_op *op = &profile->ops[core->moments[i].op];
		struct receive *receive;

		if (op->category_id != TS_OPCODE_RECV_DONE || op->kind == TS_OP_HOST ||
		    critical_path_send_is_named(meeting, op))
			continue;
		receive = critical_path_send_of(receives, device, core->moments[i].op);
		if (!receive)
			return ts_fail_nomem(err);
		if (receive->nr < LOOKS)
			receive->at[receive->nr++] = i;
	}
	return TS_OK;
}

enum ts_status ts_path_find_senders(struct path_meeting *meeting, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	if (!meeting->path->sum)
		return TS_OK; /* streams of GPUs */
	st = critical_path_send_named(meeting, err);
	for (uint32_t d = 0; d < meeting->path->sum->nr_cores && st == TS_OK; d++) {
		struct receives receives = { .nr = 0 };
		struct sender sender = { .op = TS_NONE };

		st = critical_path_send_receives(meeting, d, &receives, err);
		for (size_t i = 0; i < receives.nr && st == TS_OK; i++)
			if (receives.items[i].nr >= MIN_LOOKS &&
			    critical_path_send_find(meeting->path, &receives.items[i], &sender))
				st = critical_path_send_join(meeting, &receives.items[i], &sender,
							     err);
		free(receives.items);
	}
	return st;
}
