/* SPDX-License-Identifier: MIT */
/* What cores wait for that runs beside them: collectives and copies within the device, and which
 * compute could cover them. From facts/async.h. */
#include "analysis/doctor/doctor.h"

#include "analysis/facts/async.h"
#include "analysis/facts/sparsecore.h"

/* What SparseCores do is not a copy; another rule is about it. */
static bool is_offload(const struct ts_doctor *doctor, const struct ts_async_op *op)
{
	const struct ts_sparsecore_facts *facts = ts_sparsecore_facts(doctor->ctx);

	for (size_t i = 0; i < facts->nr_offloads; i++)
		if (facts->offloads[i].op == op->op)
			return true;
	return false;
}

struct ts_waits ts_waits_find(const struct ts_doctor *doctor, bool collectives)
{
	const struct ts_async_facts *facts = ts_async_facts(doctor->ctx);
	struct ts_waits waits = { .coverable_ps = -1 };

	for (size_t i = 0; i < facts->nr; i++) {
		const struct ts_async_op *op = &facts->items[i];

		if (op->is_collective != collectives || op->is_host || op->exposed_ps <= 0 ||
		    is_offload(doctor, op))
			continue;
		if (waits.nr < TS_MAX_WAITS)
			waits.items[waits.nr++] = op;
		waits.nr_all++;
		waits.exposed_ps = ts_i64_add(waits.exposed_ps, op->exposed_ps);
		waits.hidden_ps = ts_i64_add(waits.hidden_ps, op->hidden_ps);
		if (op->coverable_ps < 0)
			continue;
		waits.coverable_ps = ts_i64_add(TS_MAX(waits.coverable_ps, 0), op->coverable_ps);
		waits.judged_ps = ts_i64_add(waits.judged_ps, op->exposed_ps);
	}
	return waits;
}

/* "copy-start.2 (88.0 core-s, 47 % hidden; fusion.3 could run meanwhile)" */
static void put_wait(struct ts_doctor *doctor, const struct ts_async_op *op)
{
	TS_PUT(doctor, "{name} ({core}, {share} hidden[; {name} could run meanwhile])",
	       TS_NAME(op->name), TS_CORE(op->exposed_ps),
	       TS_SHARE((double)op->hidden_ps / (double)op->interval_ps), TS_NAME(op->could_hide));
}

void ts_put_waits(struct ts_doctor *doctor, const struct ts_waits *waits)
{
	for (size_t i = 0; i < waits->nr; i++) {
		ts_put(doctor, i > 0 ? ", " : "");
		put_wait(doctor, waits->items[i]);
	}
	TS_PUT(doctor, "[ and {count} more].",
	       TS_WHEN(waits->nr_all > waits->nr, TS_COUNT(waits->nr_all - waits->nr)));
}

void ts_put_coverable(struct ts_doctor *doctor)
{
	struct ts_waits waits = ts_waits_find(doctor, true);

	if (waits.coverable_ps < 0)
		return;
	TS_PUT(doctor,
	       " By the compiled schedule, compute that does not depend on them could cover {core} "
	       "of it at most: ",
	       TS_CORE(waits.coverable_ps));
	ts_put_waits(doctor, &waits);
}
