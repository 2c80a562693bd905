/* SPDX-License-Identifier: MIT */
/* Which ops a check is about, and where they come from in the source. */
#include "analysis/doctor/doctor.h"

#include "base/check.h"

#define MAX_HOPS 4 /* from a copy to a neighbour that knows its source line */

/* Among the largest of the selection, which stay in the order of their time. */
static void select_keep(struct ts_selection *sel, const struct ts_op_fact *fact, int64_t ps)
{
	size_t at = sel->nr, tail;

	while (at > 0 && sel->item_ps[at - 1] < ps)
		at--;
	if (at == TS_MAX_WHERE)
		return;
	sel->nr = TS_MIN(sel->nr + 1, TS_MAX_WHERE);
	tail = sel->nr - 1 - at;
	memmove(&sel->items[at + 1], &sel->items[at], tail * sizeof(sel->items[0]));
	memmove(&sel->item_ps[at + 1], &sel->item_ps[at], tail * sizeof(sel->item_ps[0]));
	sel->items[at] = fact;
	sel->item_ps[at] = ps;
}

void ts_selection_add(struct ts_selection *sel, const struct ts_op_fact *fact, int64_t ps)
{
	select_keep(sel, fact, ps);
	sel->nr_all++;
	sel->exclusive_ps = ts_i64_add(sel->exclusive_ps, ps);
	sel->occurrences = ts_i64_add(sel->occurrences, TS_MAX(fact->occurrences, 0));
}

static void select_take(struct ts_selection *sel, const struct ts_doctor *doctor,
			const struct ts_op_fact *fact, int64_t ps)
{
	double least_ps = ts_fact_work(doctor, fact).least_ps;

	ts_selection_add(sel, fact, ps);
	if (!isnan(least_ps))
		sel->least_ps += least_ps;
}

struct ts_selection ts_doctor_select(const struct ts_doctor *doctor, ts_fact_match *match,
				     const void *arg)
{
	struct ts_selection sel = { .match = match, .arg = arg };

	TS_ASSERT(match);
	for (size_t i = 0; i < doctor->nr_facts; i++)
		if (match(doctor, &doctor->facts[i], arg))
			select_take(&sel, doctor, &doctor->facts[i],
				    TS_MAX(doctor->facts[i].exclusive_ps, 0));
	return sel;
}

static bool has_time_in(const struct ts_doctor *doctor, const struct ts_op_fact *fact,
			const void *arg)
{
	return ts_op_fact_in(fact, *(const enum ts_bucket *)arg) > 0;
}

/* Each stands for itself: what a selection's .arg points at. */
static const enum ts_bucket buckets[TS_NR_BUCKETS] = {
	TS_BUCKET_COMPUTE,	 TS_BUCKET_BELOW_ROOFLINE, TS_BUCKET_MEMORY_WAIT,
	TS_BUCKET_COMMUNICATION, TS_BUCKET_HOST_TRANSFER,  TS_BUCKET_REMATERIALIZATION,
	TS_BUCKET_UNEXPLAINED,	 TS_BUCKET_COMPILATION,	   TS_BUCKET_INPUT,
	TS_BUCKET_LAUNCH,	 TS_BUCKET_IDLE,
};

struct ts_selection ts_doctor_select_in(const struct ts_doctor *doctor, enum ts_bucket bucket,
					ts_fact_match *match, const void *arg)
{
	struct ts_selection sel = { .match = match ? match : has_time_in,
				    .arg = match ? arg : &buckets[bucket] };

	TS_ASSERT(bucket < TS_NR_BUCKETS);
	for (size_t i = 0; i < doctor->nr_facts; i++) {
		int64_t ps = ts_op_fact_in(&doctor->facts[i], bucket);

		if (ps > 0 && (!match || match(doctor, &doctor->facts[i], arg)))
			select_take(&sel, doctor, &doctor->facts[i], ps);
	}
	return sel;
}

void ts_best_add(struct ts_best *best, size_t row, int64_t impact)
{
	size_t at = best->nr;

	TS_ASSERT(best->nr <= TS_MAX_BEST);
	while (at > 0 && best->impact[at - 1] < impact)
		at--;
	if (at == TS_MAX_BEST)
		return;
	if (best->nr < TS_MAX_BEST)
		best->nr++;
	for (size_t i = best->nr - 1; i > at; i--) {
		best->row[i] = best->row[i - 1];
		best->impact[i] = best->impact[i - 1];
	}
	best->row[at] = row;
	best->impact[at] = impact;
}

int64_t ts_to_ps(double ps)
{
	return isnan(ps) ? -1 : (int64_t)fmin(fmax(ps, 0), 9e18);
}

bool ts_doctor_no_device(const struct ts_doctor *doctor)
{
	return doctor->ctx->profile->nr_devices == 0 && doctor->ctx->profile->nr_planes > 0;
}

double ts_doctor_share(const struct ts_doctor *doctor, int64_t ps)
{
	if (doctor->total_ps <= 0 || ps < 0)
		return NAN;
	return fmin((double)ps / (double)doctor->total_ps, 1);
}

double ts_doctor_bucket_share(const struct ts_doctor *doctor, enum ts_bucket bucket)
{
	TS_ASSERT(bucket < TS_NR_BUCKETS);
	return ts_doctor_share(doctor, doctor->bucket_ps[bucket]);
}

static bool has_source(const struct ts_hlo_instr *instr)
{
	return instr->source_file.n > 0 || (instr->nr_frames > 0 && instr->frames[0].file.n > 0);
}

/* A user with a source line, or the first user, or TS_NONE. */
static uint32_t user_of(const struct ts_hlo_module *module, uint32_t at)
{
	const struct ts_hlo_instr *instr = &module->instrs[at];

	for (uint32_t i = 0; i < instr->nr_users; i++)
		if (has_source(&module->instrs[instr->users[i]]))
			return instr->users[i];
	return instr->nr_users > 0 ? instr->users[0] : TS_NONE;
}

static uint32_t producer_of(const struct ts_hlo_module *module, uint32_t at)
{
	const struct ts_hlo_instr *instr = &module->instrs[at];

	return instr->nr_operands > 0 && instr->operands[0] < module->nr_instrs ? instr->operands[0]
										: TS_NONE;
}

static const struct ts_hlo_instr *select_walk(const struct ts_hlo_module *module, uint32_t at,
					      uint32_t (*next)(const struct ts_hlo_module *module,
							       uint32_t at))
{
	for (int hop = 0; hop < MAX_HOPS; hop++) {
		at = next(module, at);
		if (at == TS_NONE)
			return NULL;
		if (has_source(&module->instrs[at]))
			return &module->instrs[at];
	}
	return NULL;
}

static struct ts_bytes print_source(struct ts_doctor *doctor, const struct ts_hlo_instr *instr)
{
	bool own = instr->source_file.n > 0;
	struct ts_bytes file = own ? instr->source_file : instr->frames[0].file;
	int32_t line = own ? instr->source_line : instr->frames[0].line;
	struct ts_buf buf = TS_BUF_INIT;
	struct ts_bytes text;

	ts_buf_put(&buf, file);
	if (line > 0)
		ts_buf_printf(&buf, ":%d", (int)line);
	text = ts_arena_copy(&doctor->result->owner->arena, ts_buf_bytes(&buf));
	if (buf.failed || !text.p)
		doctor->failed = true;
	ts_buf_release(&buf);
	return text;
}

struct ts_bytes ts_fact_source(struct ts_doctor *doctor, const struct ts_op_fact *fact)
{
	const struct ts_op *op = ts_fact_op(doctor, fact);
	const struct ts_hlo_module *module;
	const struct ts_hlo_instr *found;

	if (fact->source.n > 0)
		return fact->source;
	if (!op || op->source.n > 0)
		return op ? op->source : fact->source;
	if (op->module >= doctor->ctx->profile->nr_modules)
		return fact->source;
	module = &doctor->ctx->profile->modules[op->module];
	if (op->instr >= module->nr_instrs)
		return fact->source;
	found = has_source(&module->instrs[op->instr]) ? &module->instrs[op->instr]
						       : select_walk(module, op->instr, user_of);
	if (!found)
		found = select_walk(module, op->instr, producer_of);
	return found ? print_source(doctor, found) : fact->source;
}
