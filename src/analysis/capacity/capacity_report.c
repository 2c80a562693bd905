/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of the programs: a row each, the buffers at their peaks, and the parameters that could
 * give their memory to a result. */
#include "analysis/capacity/capacity.h"

#include "analysis/kit/table.h"

#define MAX_PROGRAMS 100

static struct ts_value share_of_hbm(const struct ts_capacity_facts *facts, int64_t nr_bytes)
{
	return facts->hbm_bytes > 0 ? ts_share_pct((double)nr_bytes / (double)facts->hbm_bytes)
				    : ts_null();
}

static const char *placed_by(const struct ts_capacity_program *program)
{
	return program->is_assigned ? "assigned" : "simulated";
}

#define PROGRAM_COLUMNS(X) \
	X(module, TS_COMPILED, "module", ts_text_or_null(program->module->name)) \
	X(program_id, TS_COMPILED, NULL, ts_id(program->module->program_id)) \
	X(peak_bytes, TS_MODELLED, "peak", ts_int(program->peak_bytes)) \
	X(peak_pct, TS_MODELLED, "of HBM", share_of_hbm(facts, program->peak_bytes)) \
	X(argument_bytes, TS_COMPILED, "arguments", ts_int(program->argument_bytes)) \
	X(output_bytes, TS_COMPILED, "results", ts_int(program->output_bytes)) \
	X(alias_bytes, TS_COMPILED, "donated", ts_int(program->alias_bytes)) \
	X(temp_bytes, TS_MODELLED, "temporaries", ts_int(program->temp_bytes)) \
	X(constant_bytes, TS_COMPILED, NULL, ts_int(program->constant_bytes)) \
	X(reserved_bytes, TS_MODELLED, NULL, ts_int(program->reserved_bytes)) \
	X(older_peak_bytes, TS_MODELLED, NULL, ts_int_or_null(program->older_peak_bytes)) \
	X(host_argument_bytes, TS_COMPILED, NULL, ts_int(program->host_argument_bytes)) \
	X(host_temp_bytes, TS_MODELLED, NULL, ts_int(program->host_temp_bytes)) \
	X(onchip_peak_bytes, TS_MODELLED, NULL, ts_int(program->onchip_peak_bytes)) \
	X(peak_op, TS_MODELLED, "peak at", ts_text_or_null(program->peak_op)) \
	X(peak_source, TS_COMPILED, NULL, ts_text_or_null(program->peak_source)) \
	X(peak_position, TS_MODELLED, NULL, ts_int(program->peak_at)) \
	X(positions, TS_COMPILED, NULL, ts_int(program->nr_positions)) \
	X(buffers, TS_COMPILED, NULL, ts_text(ts_bytes_of(placed_by(program))))

static const struct ts_column program_columns[] = { PROGRAM_COLUMNS(TS_COLUMN) };

static void put_programs(const struct ts_capacity_facts *facts, struct ts_result *result)
{
	struct ts_table *table = ts_result_table(result, "modules", "Device memory by module",
						 program_columns, TS_NELEM(program_columns));

	for (size_t i = 0; i < facts->nr_programs && i < MAX_PROGRAMS; i++) {
		const struct ts_capacity_program *program = &facts->programs[i];

		TS_CELLS(result, table, PROGRAM_COLUMNS);
	}
}

static struct ts_value padding_of(const struct ts_peak_buffer *buffer)
{
	if (buffer->logical_bytes < 0 || buffer->nr_bytes <= 0)
		return ts_null();
	return ts_share_pct(1 -
			    TS_MIN((double)buffer->logical_bytes / (double)buffer->nr_bytes, 1));
}

#define BUFFER_COLUMNS(X) \
	X(module, TS_COMPILED, "module", ts_text_or_null(program->module->name)) \
	X(op, TS_COMPILED, "made by", ts_text_or_null(buffer->op)) \
	X(kind, TS_COMPILED, "kind", ts_text(ts_bytes_of(ts_buffer_kind_name(buffer->kind)))) \
	X(shape, TS_COMPILED, TS_KEY("shape"), ts_text_or_null(buffer->shape)) \
	X(logical_bytes, TS_COMPILED, NULL, ts_int_or_null(buffer->logical_bytes)) \
	X(bytes, TS_COMPILED, TS_KEY("size"), ts_int(buffer->nr_bytes)) \
	X(padding_pct, TS_COMPILED, "padding", padding_of(buffer)) \
	X(source, TS_COMPILED, "source", ts_text_or_null(buffer->source)) \
	X(framework_op, TS_COMPILED, NULL, ts_text_or_null(buffer->framework_op)) \
	X(from_op, TS_MODELLED, NULL, ts_text_or_null(buffer->from_op)) \
	X(to_op, TS_MODELLED, NULL, ts_text_or_null(buffer->to_op)) \
	X(from_position, TS_MODELLED, NULL, ts_int(buffer->from)) \
	X(to_position, TS_MODELLED, NULL, ts_int(buffer->to))

static const struct ts_column buffer_columns[] = { BUFFER_COLUMNS(TS_COLUMN) };

static void put_buffers(const struct ts_capacity_facts *facts, struct ts_result *result)
{
	struct ts_table *table =
		ts_result_table(result, "buffers", "Largest buffers at the peak of each module",
				buffer_columns, TS_NELEM(buffer_columns));

	for (size_t i = 0; i < facts->nr_programs; i++) {
		const struct ts_capacity_program *program = &facts->programs[i];

		for (size_t k = 0; k < program->nr_buffers; k++) {
			const struct ts_peak_buffer *buffer = &program->buffers[k];

			TS_CELLS(result, table, BUFFER_COLUMNS);
		}
	}
}

#define DONATION_COLUMNS(X) \
	X(module, TS_COMPILED, "module", ts_text_or_null(program->module->name)) \
	X(parameter, TS_COMPILED, "argument", ts_int(pair->parameter)) \
	X(op, TS_COMPILED, NULL, ts_text_or_null(pair->op)) \
	X(framework_op, TS_COMPILED, "name", ts_text_or_null(pair->framework_op)) \
	X(output, TS_COMPILED, "result", ts_int(pair->output)) \
	X(shape, TS_COMPILED, "shape", ts_text_or_null(pair->shape)) \
	X(bytes, TS_COMPILED, "could be saved", ts_int(pair->nr_bytes))

static const struct ts_column donation_columns[] = { DONATION_COLUMNS(TS_COLUMN) };

static void put_donations(const struct ts_capacity_facts *facts, struct ts_result *result)
{
	struct ts_table *table =
		ts_result_table(result, "donations", "Arguments that could be donated",
				donation_columns, TS_NELEM(donation_columns));
	int64_t most = 0; /* of one program */

	for (size_t i = 0; i < facts->nr_programs; i++) {
		const struct ts_capacity_program *program = &facts->programs[i];

		most = TS_MAX(most, program->donation_bytes);
		for (size_t k = 0; k < program->nr_donations; k++) {
			const struct ts_donation *pair = &program->donations[k];

			TS_CELLS(result, table, DONATION_COLUMNS);
		}
	}
	ts_result_field(result, "donation_bytes", ts_int(most), TS_COMPILED,
			most > 0 ? "donation could save" : NULL);
}

static void put_fields(const struct ts_capacity_facts *facts, struct ts_result *result)
{
	const struct ts_capacity_program *top = ts_capacity_top(facts);
	enum ts_origin origin = top->is_assigned ? TS_COMPILED : TS_MODELLED;
	int64_t hbm_bytes = facts->hbm_bytes;

	ts_result_field(result, "peak_bytes", ts_int(top->peak_bytes), origin,
			"peak of one program");
	ts_result_field(result, "hbm_bytes", ts_int_or_null(hbm_bytes), TS_ASSUMED,
			"memory of a device");
	ts_result_field(result, "peak_pct", share_of_hbm(facts, top->peak_bytes), origin,
			"of it at the peak");
	ts_result_field(result, "headroom_bytes",
			hbm_bytes > 0 ? ts_int(hbm_bytes - top->peak_bytes) : ts_null(), origin,
			"left beside it");
	ts_result_field(result, "peak_module", ts_text_or_null(top->module->name), origin,
			"peak in module");
	ts_result_field(result, "peak_op", ts_text_or_null(top->peak_op), origin, "peak at op");
	ts_result_field(result, "argument_bytes", ts_int(top->argument_bytes), TS_COMPILED,
			"arguments");
	ts_result_field(result, "output_bytes", ts_int(top->output_bytes), TS_COMPILED, "results");
	ts_result_field(result, "alias_bytes", ts_int(top->alias_bytes), TS_COMPILED,
			"results in donated arguments");
	ts_result_field(result, "temp_bytes", ts_int(top->temp_bytes), origin, "temporaries");
	ts_result_field(result, "reserved_bytes", ts_int(top->reserved_bytes), origin, NULL);
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

bool ts_capacity_report(const struct ts_capacity_facts *facts, const struct program *top,
			struct ts_result *result)
{
	TS_ASSERT(facts->nr_programs > 0 && facts->programs[0].module == top->sum.module);
	put_fields(facts, result);
	put_programs(facts, result);
	put_buffers(facts, result);
	if (!ts_capacity_put_lines(top, result))
		return false;
	put_donations(facts, result);
	note_simulated(facts, result);
	note_older(&top->sum, result);
	return true;
}
