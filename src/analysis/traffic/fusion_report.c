/* SPDX-License-Identifier: MIT */
/* The tables and sums of the fusion view. */
#include "analysis/kit/cells.h"
#include "analysis/kit/source.h"
#include "analysis/traffic/fusion.h"
#include "result/schema/fusion.def"

#define PAIR_CELLS(X) \
	X(producer, ts_text(producer->name)) \
	X(consumer, ts_text(consumer->name)) \
	X(module, ts_text_or_null(pair->module->name)) \
	X(reason, ts_string_cell(pair->reason->words)) \
	X(bytes, ts_int(ts_i64_add(pair->read_bytes, pair->write_bytes))) \
	X(impact_ps, ts_int_or_null(ts_whole(pair->impact_ps))) \
	X(reason_code, ts_string_cell(pair->reason->code)) \
	X(reason_name, ts_string_cell(pair->reason->name)) \
	X(producer_source, ts_text_or_null(ts_instr_source(result, producer))) \
	X(consumer_source, ts_text_or_null(ts_instr_source(result, consumer))) \
	X(advice, ts_string_cell(pair->reason->advice)) \
	X(confidence, ts_string_cell(ts_confidence_name(pair->reason->confidence))) \
	X(executions, ts_int_or_null(pair->executions)) \
	X(total_bytes, pair->executions < 0 ? ts_null() : ts_int(pair->total_bytes))

static void fusion_report_put_pairs(const struct ts_fusion *fusion)
{
	struct ts_result *result = fusion->result;
	struct ts_table *table = TS_TABLE(result, fusion_unfused);

	for (size_t i = 0; i < TS_MIN(fusion->pairs.nr, TS_FUSION_MAX_ROWS); i++) {
		const struct ts_fusion_pair *pair = &fusion->pairs.items[i];
		const struct ts_hlo_instr *producer = &pair->module->instrs[pair->producer];
		const struct ts_hlo_instr *consumer = &pair->module->instrs[pair->consumer];

		TS_CELLS(result, table, fusion_unfused, PAIR_CELLS);
	}
	if (fusion->pairs.nr > TS_FUSION_MAX_ROWS)
		ts_result_note(result, "%zu more pairs have less at stake and are not listed.",
			       fusion->pairs.nr - TS_FUSION_MAX_ROWS);
}

#define KIND_CELLS(X) \
	X(kind, ts_string_cell(names[i])) \
	X(fusions, ts_int(kind->nr_fusions)) \
	X(ops, ts_int(kind->nr_ops)) \
	X(executions, measured ? ts_int(kind->executions) : ts_null()) \
	X(saved_bytes, ts_int(kind->saved_bytes)) \
	X(time_ps, measured ? ts_int(kind->self_ps) : ts_null())

static void fusion_report_put_kinds(const struct ts_fusion *fusion)
{
	static const char *const names[] = {
		[TS_FUSION_NONE] = "none",     [TS_FUSION_LOOP] = "loop",
		[TS_FUSION_INPUT] = "input",   [TS_FUSION_OUTPUT] = "output",
		[TS_FUSION_CUSTOM] = "custom",
	};
	struct ts_table *table = TS_TABLE(fusion->result, fusion_kinds);
	bool measured = fusion->measured;

	for (size_t i = 0; i < TS_NELEM(names); i++) {
		const struct ts_fusion_kind_sum *kind = &fusion->kinds[i];

		if (kind->nr_fusions > 0)
			TS_CELLS(fusion->result, table, fusion_kinds, KIND_CELLS);
	}
}

#define CHAIN_CELLS(X) \
	X(module, ts_text_or_null(chain->module->name)) \
	X(first, ts_text(first->name)) \
	X(last, ts_text(last->name)) \
	X(ops, ts_int(chain->nr_ops)) \
	X(executions, ts_int(chain->executions)) \
	X(time_ps, ts_int(chain->time_ps)) \
	X(mean_ps, ts_int(chain->time_ps / chain->occurrences)) \
	X(first_source, ts_text_or_null(ts_instr_source(result, first))) \
	X(last_source, ts_text_or_null(ts_instr_source(result, last)))

static void put_chains(const struct ts_fusion *fusion)
{
	struct ts_result *result = fusion->result;
	struct ts_table *table;

	if (!fusion->measured)
		return;
	table = TS_TABLE(result, fusion_chains);
	for (size_t i = 0; i < TS_MIN(fusion->chains.nr, TS_FUSION_MAX_ROWS); i++) {
		const struct ts_fusion_chain *chain = &fusion->chains.items[i];
		const struct ts_hlo_instr *first = &chain->module->instrs[chain->first];
		const struct ts_hlo_instr *last = &chain->module->instrs[chain->last];

		TS_CELLS(result, table, fusion_chains, CHAIN_CELLS);
	}
}

/* Over all modules. */
struct sums {
	int64_t nr_fusions, saved_bytes, unfused_bytes;
	double unfused_ps, per_kernel; /* NaN: unknown */
};

static struct sums fusion_report_sum_up(const struct ts_fusion *fusion)
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
	X(fused_count, ts_int(sums.nr_fusions)) \
	X(unfused_count, ts_int((int64_t)fusion->pairs.nr)) \
	X(instructions_per_kernel, ts_real(sums.per_kernel)) \
	X(saved_bytes, ts_int(sums.saved_bytes)) \
	X(unfused_bytes, ts_int(sums.unfused_bytes)) \
	X(unfused_ps, ts_int_or_null(ts_whole(sums.unfused_ps)))

#define PUT_FIELD(name, value)   TS_SET(fusion->result, fusion, name, value);
#define PUT_UNKNOWN(name, value) TS_SET(fusion->result, fusion, name, ts_null())->label = NULL;

static void fusion_report_put_fields(const struct ts_fusion *fusion)
{
	struct sums sums = fusion_report_sum_up(fusion);

	FIELDS(PUT_FIELD)
}

void ts_fusion_report(const struct ts_fusion *fusion)
{
	TS_ASSERT(fusion->result);
	if (fusion->nr_modules == 0) {
		FIELDS(PUT_UNKNOWN)
		return;
	}
	fusion_report_put_fields(fusion);
	fusion_report_put_pairs(fusion);
	fusion_report_put_kinds(fusion);
	put_chains(fusion);
	if (fusion->pairs.nr > 0)
		ts_result_note(fusion->result,
			       "A compiled module does not say why ops were not fused: "
			       "reasons are inferred from users, opcodes and layouts.");
	if (!fusion->measured)
		ts_result_note(fusion->result,
			       "Without a run each op counts once, those of a loop too.");
}
