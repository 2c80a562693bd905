/* SPDX-License-Identifier: MIT */
/* The tables of the programs: a row each, the buffers at their peaks, and the parameters that could
 * give their memory to a result. */
#include "analysis/capacity/capacity.h"
#include "result/schema/capacity.def"

#define MAX_PROGRAMS 100

static struct ts_value share_of_hbm(const struct ts_capacity_facts *facts, int64_t nr_bytes)
{
	return facts->hbm_bytes > 0 ? ts_share_pct((double)nr_bytes / (double)facts->hbm_bytes)
				    : ts_null();
}

#define PROGRAM_CELLS(X) \
	X(module, ts_text_or_null(program->module->name)) \
	X(program_id, ts_id(program->module->program_id)) \
	X(peak_bytes, ts_int(program->peak_bytes)) \
	X(peak_pct, share_of_hbm(facts, program->peak_bytes)) \
	X(argument_bytes, ts_int(program->argument_bytes)) \
	X(output_bytes, ts_int(program->output_bytes)) \
	X(alias_bytes, ts_int(program->alias_bytes)) \
	X(temp_bytes, ts_int(program->temp_bytes)) \
	X(constant_bytes, ts_int(program->constant_bytes)) \
	X(reserved_bytes, ts_int(program->reserved_bytes)) \
	X(older_peak_bytes, ts_int_or_null(program->older_peak_bytes)) \
	X(host_argument_bytes, ts_int(program->host_argument_bytes)) \
	X(host_temp_bytes, ts_int(program->host_temp_bytes)) \
	X(onchip_peak_bytes, ts_int(program->onchip_peak_bytes)) \
	X(peak_op, ts_text_or_null(program->peak_op)) \
	X(peak_source, ts_text_or_null(program->peak_source)) \
	X(peak_position, ts_int(program->peak_at)) \
	X(positions, ts_int(program->nr_positions)) \
	X(buffers, ts_text(ts_bytes_of(program->is_assigned ? "assigned" : "simulated")))

static void capacity_report_put_programs(const struct ts_capacity_facts *facts,
					 struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, capacity_modules);

	for (size_t i = 0; i < facts->nr_programs && i < MAX_PROGRAMS; i++) {
		const struct ts_capacity_program *program = &facts->programs[i];

		TS_CELLS(result, table, capacity_modules, PROGRAM_CELLS);
	}
}

static struct ts_value padding_of(const struct ts_peak_buffer *buffer)
{
	if (buffer->logical_bytes < 0 || buffer->nr_bytes <= 0)
		return ts_null();
	return ts_share_pct(1 -
			    TS_MIN((double)buffer->logical_bytes / (double)buffer->nr_bytes, 1));
}

#define BUFFER_CELLS(X) \
	X(module, ts_text_or_null(program->module->name)) \
	X(op, ts_text_or_null(buffer->op)) \
	X(kind, ts_text(ts_bytes_of(ts_buffer_kind_name(buffer->kind)))) \
	X(shape, ts_text_or_null(buffer->shape)) \
	X(logical_bytes, ts_int_or_null(buffer->logical_bytes)) \
	X(bytes, ts_int(buffer->nr_bytes)) \
	X(padding_pct, padding_of(buffer)) \
	X(source, ts_text_or_null(buffer->source)) \
	X(framework_op, ts_text_or_null(buffer->framework_op)) \
	X(from_op, ts_text_or_null(buffer->from_op)) \
	X(to_op, ts_text_or_null(buffer->to_op)) \
	X(from_position, ts_int(buffer->from)) \
	X(to_position, ts_int(buffer->to))

static void capacity_report_put_buffers(const struct ts_capacity_facts *facts,
					struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, capacity_buffers);

	for (size_t i = 0; i < facts->nr_programs; i++) {
		const struct ts_capacity_program *program = &facts->programs[i];

		for (size_t k = 0; k < program->nr_buffers; k++) {
			const struct ts_peak_buffer *buffer = &program->buffers[k];

			TS_CELLS(result, table, capacity_buffers, BUFFER_CELLS);
		}
	}
}

#define DONATION_CELLS(X) \
	X(module, ts_text_or_null(program->module->name)) \
	X(parameter, ts_int(pair->parameter)) \
	X(op, ts_text_or_null(pair->op)) \
	X(framework_op, ts_text_or_null(pair->framework_op)) \
	X(output, ts_int(pair->output)) \
	X(shape, ts_text_or_null(pair->shape)) \
	X(bytes, ts_int(pair->nr_bytes))

static void put_donations(const struct ts_capacity_facts *facts, struct ts_result *result)
{
	struct ts_table *table = TS_TABLE(result, capacity_donations);
	int64_t most = 0; /* of one program */

	for (size_t i = 0; i < facts->nr_programs; i++) {
		const struct ts_capacity_program *program = &facts->programs[i];

		most = TS_MAX(most, program->donation_bytes);
		for (size_t k = 0; k < program->nr_donations; k++) {
			const struct ts_donation *pair = &program->donations[k];

			TS_CELLS(result, table, capacity_donations, DONATION_CELLS);
		}
	}
	TS_SET(result, capacity, donation_bytes, ts_int(most))->label =
		most > 0 ? "donation could save" : NULL;
}

static void capacity_report_put_fields(const struct ts_capacity_facts *facts,
				       struct ts_result *result)
{
	const struct ts_capacity_program *top = ts_capacity_top(facts);
	enum ts_origin origin = top->is_assigned ? TS_COMPILED : TS_MODELLED;
	int64_t hbm_bytes = facts->hbm_bytes;

	TS_SET(result, capacity, peak_bytes, ts_value_from(ts_int(top->peak_bytes), origin));
	TS_SET(result, capacity, hbm_bytes, ts_int_or_null(hbm_bytes));
	TS_SET(result, capacity, peak_pct,
	       ts_value_from(share_of_hbm(facts, top->peak_bytes), origin));
	TS_SET(result, capacity, headroom_bytes,
	       ts_value_from(hbm_bytes > 0 ? ts_int(hbm_bytes - top->peak_bytes) : ts_null(),
			     origin));
	TS_SET(result, capacity, peak_module,
	       ts_value_from(ts_text_or_null(top->module->name), origin));
	TS_SET(result, capacity, peak_op, ts_value_from(ts_text_or_null(top->peak_op), origin));
	TS_SET(result, capacity, argument_bytes, ts_int(top->argument_bytes));
	TS_SET(result, capacity, output_bytes, ts_int(top->output_bytes));
	TS_SET(result, capacity, alias_bytes, ts_int(top->alias_bytes));
	TS_SET(result, capacity, temp_bytes, ts_value_from(ts_int(top->temp_bytes), origin));
	TS_SET(result, capacity, reserved_bytes,
	       ts_value_from(ts_int(top->reserved_bytes), origin));
}

static void note_simulated(const struct ts_capacity_facts *facts, struct ts_result *result)
{
	size_t nr = 0;

	for (size_t i = 0; i < facts->nr_programs; i++)
		nr += !facts->programs[i].is_assigned;
	if (nr > 0)
		ts_result_note(
			result,
			"%zu of %zu modules come without a buffer assignment: their peaks "
			"are from live ranges over the schedule, without the gaps of a heap.",
			nr, facts->nr_programs);
}

/* Of the program with the largest peak. */
static void note_older(const struct ts_capacity_program *top, struct ts_result *result)
{
	int64_t less = ts_i64_sub(top->peak_bytes, top->older_peak_bytes);

	if (top->older_peak_bytes < 0 || less < top->peak_bytes / 100)
		return;
	ts_result_note(
		result,
		"A libtpu before 0.0.46 lets temporaries stand in the memory of results until "
		"those are there: the peak is %.1f %% lower then. The module does not say by "
		"which it was compiled; hlo --libtpu does.",
		100 * (double)less / (double)top->peak_bytes);
}

enum ts_status ts_capacity_report(const struct ts_capacity_facts *facts, const struct program *top,
				  struct ts_result *result, struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(facts->nr_programs > 0 && facts->programs[0].module == top->sum.module);
	capacity_report_put_fields(facts, result);
	capacity_report_put_programs(facts, result);
	capacity_report_put_buffers(facts, result);
	st = ts_capacity_put_lines(top, result, err);
	if (st)
		return st;
	put_donations(facts, result);
	note_simulated(facts, result);
	note_older(&top->sum, result);
	return TS_OK;
}
