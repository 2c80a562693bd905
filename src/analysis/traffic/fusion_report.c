/* SPDX-License-Identifier: Apache-2.0 */
/* The tables and sums of the fusion view. */
#include "analysis/kit/cells.h"
#include "analysis/kit/source.h"
#include "analysis/kit/table.h"
#include "analysis/traffic/fusion.h"

#define PAIR_COLUMNS(X) \
	X(producer, TS_COMPILED, "from", ts_text(producer->name)) \
	X(consumer, TS_COMPILED, "to", ts_text(consumer->name)) \
	X(module, TS_COMPILED, NULL, ts_text_or_null(pair->module->name)) \
	X(reason, TS_DERIVED, NULL, ts_string_cell(pair->reason->words)) \
	X(bytes, TS_COMPILED, NULL, ts_int(ts_i64_add(pair->read_bytes, pair->write_bytes))) \
	X(impact_ps, TS_MODELLED, TS_KEY("time at stake"), ts_int_or_null(ts_whole(pair->impact_ps))) \
	X(reason_code, TS_DERIVED, TS_KEY("why"), ts_string_cell(pair->reason->code)) \
	X(reason_name, TS_DERIVED, NULL, ts_string_cell(pair->reason->name)) \
	X(producer_source, TS_COMPILED, NULL, ts_text_or_null(ts_instr_source(result, producer))) \
	X(consumer_source, TS_COMPILED, "source", \
	  ts_text_or_null(ts_instr_source(result, consumer))) \
	X(advice, TS_DERIVED, NULL, ts_string_cell(pair->reason->advice)) \
	X(confidence, TS_DERIVED, NULL, \
	  ts_string_cell(ts_confidence_name(pair->reason->confidence))) \
	X(executions, TS_MEASURED, NULL, ts_int_or_null(pair->executions)) \
	X(total_bytes, TS_MODELLED, "bytes", \
	  pair->executions < 0 ? ts_null() : ts_int(pair->total_bytes))

static const struct ts_column pair_columns[] = { PAIR_COLUMNS(TS_COLUMN) };

static void put_pairs(const struct ts_fusion *fusion)
{
	struct ts_result *result = fusion->result;
	struct ts_table *table = ts_result_table(result, "unfused", "Through HBM, not fused",
						 pair_columns, TS_NELEM(pair_columns));

	for (size_t i = 0; i < TS_MIN(fusion->pairs.nr, TS_FUSION_MAX_ROWS); i++) {
		const struct ts_fusion_pair *pair = &fusion->pairs.items[i];
		const struct ts_hlo_instr *producer = &pair->module->instrs[pair->producer];
		const struct ts_hlo_instr *consumer = &pair->module->instrs[pair->consumer];

		TS_CELLS(result, table, PAIR_COLUMNS);
	}
	if (fusion->pairs.nr > TS_FUSION_MAX_ROWS)
		ts_result_note(result, "%zu more pairs have less at stake and are not listed.",
			       fusion->pairs.nr - TS_FUSION_MAX_ROWS);
}

#define KIND_COLUMNS(X) \
	X(kind, TS_COMPILED, "fusions", ts_string_cell(names[i])) \
	X(fusions, TS_COMPILED, "count", ts_int(kind->nr_fusions)) \
	X(ops, TS_COMPILED, "ops inside", ts_int(kind->nr_ops)) \
	X(executions, TS_MEASURED, "times", measured ? ts_int(kind->executions) : ts_null()) \
	X(saved_bytes, TS_MODELLED, "kept out of HBM", ts_int(kind->saved_bytes)) \
	X(time_ps, TS_MEASURED, "time", measured ? ts_int(kind->self_ps) : ts_null())

static const struct ts_column kind_columns[] = { KIND_COLUMNS(TS_COLUMN) };

static void put_kinds(const struct ts_fusion *fusion)
{
	static const char *const names[] = {
		[TS_FUSION_NONE] = "none",     [TS_FUSION_LOOP] = "loop",
		[TS_FUSION_INPUT] = "input",   [TS_FUSION_OUTPUT] = "output",
		[TS_FUSION_CUSTOM] = "custom",
	};
	struct ts_table *table = ts_result_table(fusion->result, "kinds", "Fusions by kind",
						 kind_columns, TS_NELEM(kind_columns));
	bool measured = fusion->measured;

	for (size_t i = 0; i < TS_NELEM(names); i++) {
		const struct ts_fusion_kind_sum *kind = &fusion->kinds[i];

		if (kind->nr_fusions > 0)
			TS_CELLS(fusion->result, table, KIND_COLUMNS);
	}
}

#define CHAIN_COLUMNS(X) \
	X(module, TS_COMPILED, NULL, ts_text_or_null(chain->module->name)) \
	X(first, TS_COMPILED, "first", ts_text(first->name)) \
	X(last, TS_COMPILED, "last", ts_text(last->name)) \
	X(ops, TS_COMPILED, "tiny ops", ts_int(chain->nr_ops)) \
	X(executions, TS_MEASURED, "times", ts_int(chain->executions)) \
	X(time_ps, TS_MEASURED, "time", ts_int(chain->time_ps)) \
	X(mean_ps, TS_MEASURED, "an op", ts_int(chain->time_ps / chain->occurrences)) \
	X(first_source, TS_COMPILED, "source", ts_text_or_null(ts_instr_source(result, first))) \
	X(last_source, TS_COMPILED, NULL, ts_text_or_null(ts_instr_source(result, last)))

static const struct ts_column chain_columns[] = { CHAIN_COLUMNS(TS_COLUMN) };

static void put_chains(const struct ts_fusion *fusion)
{
	struct ts_result *result = fusion->result;
	struct ts_table *table;

	if (!fusion->measured)
		return;
	table = ts_result_table(result, "chains", "Tiny ops in series", chain_columns,
				TS_NELEM(chain_columns));
	for (size_t i = 0; i < TS_MIN(fusion->chains.nr, TS_FUSION_MAX_ROWS); i++) {
		const struct ts_fusion_chain *chain = &fusion->chains.items[i];
		const struct ts_hlo_instr *first = &chain->module->instrs[chain->first];
		const struct ts_hlo_instr *last = &chain->module->instrs[chain->last];

		TS_CELLS(result, table, CHAIN_COLUMNS);
	}
}

/* Over all modules. */
struct sums {
	int64_t nr_fusions, saved_bytes, unfused_bytes;
	double unfused_ps, per_kernel; /* NaN: unknown */
};

static struct sums sum_up(const struct ts_fusion *fusion)
{
	struct sums sums = { .per_kernel = NAN };

	if (fusion->nr_after > 0)
		sums.per_kernel = (double)fusion->nr_before / (double)fusion->nr_after;
	for (size_t i = 0; i < TS_NELEM(fusion->kinds); i++) {
		sums.nr_fusions += fusion->kinds[i].nr_fusions;
		sums.saved_bytes = ts_i64_add(sums.saved_bytes, fusion->kinds[i].saved_bytes);
	}
	for (size_t i = 0; i < fusion->pairs.nr; i++) {
		sums.unfused_ps += fusion->pairs.items[i].impact_ps;
		sums.unfused_bytes =
			ts_i64_add(sums.unfused_bytes, fusion->pairs.items[i].total_bytes);
	}
	return sums;
}

/* Without a module of something that ran all fields are null, and have no label. */
#define FIELDS(X) \
	X(fused_count, TS_COMPILED, "fusions", ts_int(sums.nr_fusions)) \
	X(unfused_count, TS_COMPILED, "pairs of ops that meet in HBM", \
	  ts_int((int64_t)fusion->pairs.nr)) \
	X(instructions_per_kernel, TS_COMPILED, "instructions a kernel", \
	  ts_real(sums.per_kernel)) \
	X(saved_bytes, TS_MODELLED, "bytes kept out of HBM", ts_int(sums.saved_bytes)) \
	X(unfused_bytes, TS_MODELLED, "bytes that pass through HBM between ops", \
	  ts_int(sums.unfused_bytes)) \
	X(unfused_ps, TS_MODELLED, "time of that at most", \
	  ts_int_or_null(ts_whole(sums.unfused_ps)))

#define PUT_FIELD(name, origin, label, value) \
	ts_result_field(fusion->result, #name, value, origin, label);
#define PUT_UNKNOWN(name, origin, label, value) \
	ts_result_field(fusion->result, #name, ts_null(), TS_COMPILED, NULL);

static void put_fields(const struct ts_fusion *fusion)
{
	struct sums sums = sum_up(fusion);

	FIELDS(PUT_FIELD)
}

void ts_fusion_report(const struct ts_fusion *fusion)
{
	TS_ASSERT(fusion->result);
	if (fusion->nr_modules == 0) {
		FIELDS(PUT_UNKNOWN)
		return;
	}
	put_fields(fusion);
	put_pairs(fusion);
	put_kinds(fusion);
	put_chains(fusion);
	if (fusion->pairs.nr > 0)
		ts_result_note(fusion->result,
			       "A compiled module does not say why ops were not fused: "
			       "reasons are inferred from users, opcodes and layouts.");
	if (!fusion->measured)
		ts_result_note(fusion->result,
			       "Without a run each op counts once, those of a loop too.");
}
