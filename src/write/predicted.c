/* SPDX-License-Identifier: MIT */
/*
 * A predicted profile. Field numbers: codec/xspace.h; stats: those of libtpu's profiles, by which XProf tells what an op is
 * (xprof/utils/op_metrics_db_utils.cc), and ours behind them. The planes are those of a real profile of one core.
 */
#include "write/predicted.h"

#include <inttypes.h>

#include "base/check.h"
#include "base/units.h"
#include "codec/xspacew.h"
#include "model/op_kind.h"
#include "model/traffic.h"

#define STEP_NAME "0"

/* Stats of the device's plane, of its ops and events. */
enum {
	STAT_KIND = 1,
	STAT_FLOPS_RATE,
	STAT_HBM_RATE,
	STAT_MEGACORE,
	STAT_PREDICTED,
	STAT_LIBTPU,
	STAT_GENERATOR,
	STAT_STEP_NUM,
	STAT_RUN_ID,
	STAT_CATEGORY,
	STAT_PROGRAM,
	STAT_SYMBOL,
	STAT_FLOPS,
	STAT_MODEL_FLOPS,
	STAT_BYTES,
	STAT_RAW_BYTES,
	STAT_BREAKDOWN,
	STAT_TF_OP,
	STAT_SOURCE,
	STAT_SHAPE,
	STAT_BASIS,
	STAT_HLO_OP,
	STAT_NOTE,
	NR_STATS,
};

static const char *const stat_names[NR_STATS] = {
	[STAT_KIND] = "device_type_string",
	[STAT_FLOPS_RATE] = "peak_teraflops_per_second",
	[STAT_HBM_RATE] = "peak_hbm_bw_gigabytes_per_second",
	[STAT_MEGACORE] = "has_megacore",
	[STAT_PREDICTED] = TS_PREDICTED_STAT,
	[STAT_LIBTPU] = TS_LIBTPU_STAT,
	[STAT_GENERATOR] = "generator",
	[STAT_STEP_NUM] = "step_num",
	[STAT_RUN_ID] = "run_id",
	[STAT_CATEGORY] = "hlo_category",
	[STAT_PROGRAM] = "program_id",
	[STAT_SYMBOL] = "symbol_id",
	[STAT_FLOPS] = "flops",
	[STAT_MODEL_FLOPS] = "model_flops",
	[STAT_BYTES] = "bytes_accessed",
	[STAT_RAW_BYTES] = "raw_bytes_accessed",
	[STAT_BREAKDOWN] = "memory_access_breakdown",
	[STAT_TF_OP] = "tf_op",
	[STAT_SOURCE] = "source",
	[STAT_SHAPE] = "shape_with_layout",
	[STAT_BASIS] = "predicted by",
	[STAT_HLO_OP] = "hlo_op",
	[STAT_NOTE] = "note",
};

enum { LINE_STEPS = 1, LINE_MODULES, LINE_OPS, LINE_ASYNC };

/* Ids of event metadata: the step, the modules, then two an instruction, of the core's line and beside it. */
enum { META_STEP = 1, META_FIRST_MODULE };

struct writer {
	struct ts_buf *out;
	const struct ts_predicted *predicted;
	uint64_t *first_op; /* of each module: the metadata id of its first instruction */
	int64_t *starts_ps; /* of each module, and where the last ends */
};

/* What is not known has no stat. */
static void stat_text(struct writer *writer, uint32_t field, int stat, struct ts_bytes text)
{
	if (text.n > 0)
		ts_xspacew_text_stat(writer->out, field, (uint32_t)stat, text);
}

static struct ts_xspacew_meta meta_begin(struct writer *writer, uint64_t id, struct ts_bytes name,
					 struct ts_bytes shown)
{
	struct ts_xspacew_meta meta =
		ts_xspacew_meta_begin(writer->out, XPLANE_EVENT_METADATA, id, name);

	ts_pbw_text(writer->out, XEVENTMETA_DISPLAY_NAME, shown);
	return meta;
}

static void predicted_put_name(struct writer *writer, uint64_t id, struct ts_bytes name)
{
	ts_xspacew_name(writer->out, XPLANE_EVENT_METADATA, id, name);
}

static uint64_t predicted_program_of(size_t module)
{
	return module + 1;
}

/* "jit_step(1)": a profile has the program's id in the name. */
static void predicted_module_name(struct writer *writer, size_t module, struct ts_buf *name)
{
	ts_buf_printf(name, "%.*s(%" PRIu64 ")",
		      TS_ARG(writer->predicted->modules[module].module->name),
		      predicted_program_of(module));
	writer->out->failed |= name->failed;
}

/* %fusion.3 = f32[8,128]{1,0} fusion(%copy.1, %param.2) */
static void print_instr(struct ts_buf *text, const struct ts_hlo_module *module,
			const struct ts_hlo_instr *instr)
{
	ts_buf_printf(text, "%%%.*s = ", TS_ARG(instr->name));
	ts_shape_print(text, &instr->shape);
	ts_buf_printf(text, " %.*s(", TS_ARG(instr->opcode_text));
	for (uint32_t i = 0; i < instr->nr_operands; i++)
		ts_buf_printf(text, "%s%%%.*s", i > 0 ? ", " : "",
			      TS_ARG(module->instrs[instr->operands[i]].name));
	ts_buf_putc(text, ')');
}

/* MemoryAccessBreakdown (xprof's op_metrics.proto): HBM is memory 1, VMEM 3; 1 is a read, 2 a write. */
static void put_breakdown(struct writer *writer, const struct ts_traffic *traffic)
{
	static const struct {
		enum ts_memory memory;
		int64_t number;
	} memories[] = { { TS_MEMORY_HBM, 1 }, { TS_MEMORY_VMEM, 3 } };
	struct ts_buf bytes = TS_BUF_INIT;
	size_t mark;

	for (int way = 1; way <= 2; way++)
		for (size_t i = 0; i < TS_NELEM(memories); i++) {
			const int64_t *moved =
				way == 1 ? traffic->read_bytes : traffic->written_bytes;

			if (moved[memories[i].memory] <= 0)
				continue;
			mark = ts_pbw_begin(&bytes, 1);
			ts_pbw_i64(&bytes, 1, way);
			ts_pbw_i64(&bytes, 2, memories[i].number);
			ts_pbw_i64(&bytes, 3, moved[memories[i].memory]);
			ts_pbw_end(&bytes, mark);
		}
	mark = ts_xspacew_stat_begin(writer->out, XEVENTMETA_STATS, STAT_BREAKDOWN);
	ts_pbw_bytes(writer->out, XSTAT_BYTES, ts_buf_bytes(&bytes));
	ts_pbw_end(writer->out, mark);
	writer->out->failed |= bytes.failed;
	ts_buf_release(&bytes);
}

static void put_cost(struct writer *writer, const struct ts_hlo_module *module, uint32_t index)
{
	struct ts_traffic traffic = ts_instr_traffic(module, index);
	struct ts_cost cost = ts_hlo_cost(module, index);

	ts_xspacew_i64_stat(writer->out, XEVENTMETA_STATS, STAT_FLOPS, TS_MAX(cost.flops, 0));
	ts_xspacew_i64_stat(writer->out, XEVENTMETA_STATS, STAT_MODEL_FLOPS, TS_MAX(cost.flops, 0));
	ts_xspacew_i64_stat(writer->out, XEVENTMETA_STATS, STAT_BYTES,
			    TS_MAX(cost.bytes_accessed, 0));
	ts_xspacew_i64_stat(writer->out, XEVENTMETA_STATS, STAT_RAW_BYTES,
			    TS_MAX(cost.bytes_accessed, 0));
	if (traffic.source == TS_TRAFFIC_MODULE)
		put_breakdown(writer, &traffic);
}

static void predicted_put_texts(struct writer *writer, const struct ts_hlo_instr *instr)
{
	struct ts_buf text = TS_BUF_INIT;

	if (instr->op_name.n > 0)
		ts_buf_printf(&text, "%.*s:", TS_ARG(instr->op_name));
	stat_text(writer, XEVENTMETA_STATS, STAT_TF_OP, ts_buf_bytes(&text));
	text.n = 0;
	if (instr->source_file.n > 0)
		ts_buf_printf(&text, "%.*s:%d", TS_ARG(instr->source_file), instr->source_line);
	stat_text(writer, XEVENTMETA_STATS, STAT_SOURCE, ts_buf_bytes(&text));
	text.n = 0;
	ts_shape_print(&text, &instr->shape);
	stat_text(writer, XEVENTMETA_STATS, STAT_SHAPE, ts_buf_bytes(&text));
	writer->out->failed |= text.failed;
	ts_buf_release(&text);
}

static void predicted_put_op(struct writer *writer, size_t module, uint32_t index)
{
	const struct ts_predicted_module *from = &writer->predicted->modules[module];
	const struct ts_hlo_instr *instr = &from->module->instrs[index];
	struct ts_buf text = TS_BUF_INIT;
	struct ts_xspacew_meta meta;

	print_instr(&text, from->module, instr);
	for (int beside = 0; beside < 2; beside++) {
		if (beside && !ts_hlo_is_start(instr) &&
		    from->schedule->ops[index].lane == TS_LANE_CORE)
			break;
		meta = meta_begin(writer, writer->first_op[module] + 2 * (uint64_t)index + beside,
				  ts_buf_bytes(&text), instr->name);
		stat_text(writer, XEVENTMETA_STATS, STAT_CATEGORY, ts_hlo_category(instr));
		ts_xspacew_u64_stat(writer->out, XEVENTMETA_STATS, STAT_PROGRAM,
				    predicted_program_of(module));
		ts_xspacew_u64_stat(writer->out, XEVENTMETA_STATS, STAT_SYMBOL,
				    (uint64_t)index + 1);
		if (!beside) {
			put_cost(writer, from->module, index);
			predicted_put_texts(writer, instr);
		}
		stat_text(writer, XEVENTMETA_STATS, STAT_BASIS, ts_bytes_of(from->basis[index]));
		ts_xspacew_meta_end(writer->out, meta);
	}
	writer->out->failed |= text.failed;
	ts_buf_release(&text);
}

static size_t event_begin(struct writer *writer, uint64_t meta, int64_t start_ps, int64_t dur_ps)
{
	size_t mark = ts_xspacew_event_begin(writer->out, meta, (uint64_t)start_ps);

	ts_pbw_i64(writer->out, XEVENT_DURATION_PS, dur_ps);
	return mark;
}

static void predicted_put_steps(struct writer *writer)
{
	size_t line = ts_xspacew_line_begin(writer->out, LINE_STEPS, TS_LIT("Steps")), mark;

	mark = event_begin(writer, META_STEP, 0, writer->starts_ps[writer->predicted->nr_modules]);
	ts_xspacew_i64_stat(writer->out, XEVENT_STATS, STAT_STEP_NUM, 0);
	ts_pbw_end(writer->out, mark);
	ts_pbw_end(writer->out, line);
	line = ts_xspacew_line_begin(writer->out, LINE_MODULES, TS_LIT("XLA Modules"));
	for (size_t i = 0; i < writer->predicted->nr_modules; i++) {
		mark = event_begin(writer, META_FIRST_MODULE + i, writer->starts_ps[i],
				   writer->starts_ps[i + 1] - writer->starts_ps[i]);
		ts_xspacew_u64_stat(writer->out, XEVENT_STATS, STAT_RUN_ID, i + 1);
		ts_pbw_end(writer->out, mark);
	}
	ts_pbw_end(writer->out, line);
}

static void put_events(struct writer *writer, bool beside)
{
	size_t line = ts_xspacew_line_begin(writer->out, beside ? LINE_ASYNC : LINE_OPS,
					    beside ? TS_LIT("Async XLA Ops") : TS_LIT("XLA Ops"));

	for (size_t m = 0; m < writer->predicted->nr_modules; m++) {
		const struct ts_predicted_module *from = &writer->predicted->modules[m];
		const struct ts_schedule_events *events =
			beside ? &from->schedule->beside : &from->schedule->core;

		for (size_t i = 0; i < events->nr; i++) {
			const struct ts_schedule_event *event = &events->items[i];
			size_t mark = event_begin(
				writer, writer->first_op[m] + 2 * (uint64_t)event->instr + beside,
				ts_i64_add(writer->starts_ps[m], event->start_ps), event->dur_ps);

			if (beside)
				stat_text(writer, XEVENT_STATS, STAT_HLO_OP,
					  from->module->instrs[event->instr].name);
			ts_pbw_end(writer->out, mark);
		}
	}
	ts_pbw_end(writer->out, line);
}

static void predicted_put_note(struct writer *writer, struct ts_buf *note)
{
	const struct ts_predicted *predicted = writer->predicted;

	ts_buf_printf(note,
		      "Predicted by TPUsight %s, not measured: one of %" PRId64
		      " cores of a %s %.*s; nothing ran.",
		      predicted->version, predicted->nr_cores, predicted->device_kind,
		      TS_ARG(predicted->topology));
	writer->out->failed |= note->failed;
}

static void predicted_put_device(struct writer *writer, struct ts_bytes note)
{
	const struct ts_predicted *predicted = writer->predicted;
	size_t plane = ts_xspacew_plane_begin(writer->out, 2, TS_LIT("/device:TPU:0"));
	struct ts_buf name = TS_BUF_INIT;

	predicted_put_steps(writer);
	put_events(writer, false);
	put_events(writer, true);
	predicted_put_name(writer, META_STEP, ts_bytes_of(STEP_NAME));
	for (size_t m = 0; m < predicted->nr_modules; m++) {
		const struct ts_predicted_module *from = &predicted->modules[m];

		name.n = 0;
		predicted_module_name(writer, m, &name);
		predicted_put_name(writer, META_FIRST_MODULE + m, ts_buf_bytes(&name));
		for (uint32_t i = 0; i < from->module->nr_instrs; i++)
			if (from->schedule->sums[i].runs > 0)
				predicted_put_op(writer, m, i);
	}
	stat_text(writer, XPLANE_STATS, STAT_KIND, ts_bytes_of(predicted->device_kind));
	ts_xspacew_double_stat(writer->out, XPLANE_STATS, STAT_FLOPS_RATE,
			       predicted->peak_flops_per_s / 1e12);
	ts_xspacew_double_stat(writer->out, XPLANE_STATS, STAT_HBM_RATE,
			       predicted->hbm_bytes_per_s / 1e9);
	ts_xspacew_i64_stat(writer->out, XPLANE_STATS, STAT_MEGACORE, predicted->has_megacore);
	stat_text(writer, XPLANE_STATS, STAT_PREDICTED, predicted->topology);
	if (predicted->libtpu.n > 0)
		stat_text(writer, XPLANE_STATS, STAT_LIBTPU, predicted->libtpu);
	stat_text(writer, XPLANE_STATS, STAT_NOTE, note);
	for (int id = 1; id < NR_STATS; id++)
		ts_xspacew_name(writer->out, XPLANE_STAT_METADATA, (uint64_t)id,
				ts_bytes_of(stat_names[id]));
	ts_pbw_end(writer->out, plane);
	ts_buf_release(&name);
}

/* A row of its own, above or below those of the core, for viewers that know nothing of the stat. */
static void put_banner(struct writer *writer, struct ts_bytes note)
{
	size_t plane = ts_xspacew_plane_begin(writer->out, 1,
					      TS_LIT("/device:CUSTOM:PREDICTED, not measured")),
	       line;

	line = ts_xspacew_line_begin(writer->out, 1, TS_LIT("predicted by TPUsight"));
	ts_pbw_end(writer->out,
		   event_begin(writer, 1, 0, writer->starts_ps[writer->predicted->nr_modules]));
	ts_pbw_end(writer->out, line);
	predicted_put_name(writer, 1, note);
	ts_pbw_end(writer->out, plane);
}

/* The compiled modules, as profiles have them. */
static void predicted_put_modules(struct writer *writer)
{
	size_t plane = ts_xspacew_plane_begin(writer->out, 0, TS_LIT("/host:metadata")), mark,
	       proto;
	struct ts_buf name = TS_BUF_INIT;

	for (size_t m = 0; m < writer->predicted->nr_modules; m++) {
		const struct ts_hlo_module *module = writer->predicted->modules[m].module;
		struct ts_xspacew_meta meta;

		name.n = 0;
		predicted_module_name(writer, m, &name);
		meta = ts_xspacew_meta_begin(writer->out, XPLANE_EVENT_METADATA,
					     predicted_program_of(m), ts_buf_bytes(&name));
		mark = ts_xspacew_stat_begin(writer->out, XEVENTMETA_STATS, 1);
		proto = ts_pbw_begin(writer->out, XSTAT_BYTES);
		if (module->is_bare)
			ts_pbw_bytes(writer->out, 1, module->proto);
		else
			ts_buf_put(writer->out, module->proto);
		ts_pbw_end(writer->out, proto);
		ts_pbw_end(writer->out, mark);
		ts_xspacew_meta_end(writer->out, meta);
	}
	ts_xspacew_name(writer->out, XPLANE_STAT_METADATA, 1, TS_LIT("Hlo Proto"));
	ts_pbw_end(writer->out, plane);
	ts_buf_release(&name);
}

void ts_predicted_write(struct ts_buf *out, const struct ts_predicted *predicted)
{
	struct writer writer = { .out = out, .predicted = predicted };
	uint64_t next = META_FIRST_MODULE + predicted->nr_modules;
	struct ts_buf note = TS_BUF_INIT;

	TS_ASSERT(out && predicted);
	writer.first_op = calloc(predicted->nr_modules + 1, sizeof(*writer.first_op));
	writer.starts_ps = calloc(predicted->nr_modules + 1, sizeof(*writer.starts_ps));
	out->failed |= !writer.first_op || !writer.starts_ps;
	for (size_t m = 0; m < predicted->nr_modules && !out->failed; m++) {
		writer.first_op[m] = next;
		next += 2 * (uint64_t)predicted->modules[m].module->nr_instrs;
		writer.starts_ps[m + 1] =
			ts_i64_add(writer.starts_ps[m], predicted->modules[m].schedule->end_ps);
	}
	predicted_put_note(&writer, &note);
	if (!out->failed) {
		predicted_put_device(&writer, ts_buf_bytes(&note));
		predicted_put_modules(&writer);
		put_banner(&writer, ts_buf_bytes(&note));
		ts_pbw_text(out, XSPACE_WARNINGS, ts_buf_bytes(&note));
		ts_pbw_text(out, XSPACE_HOSTNAMES, TS_LIT("predicted"));
	}
	ts_buf_release(&note);
	free(writer.first_op);
	free(writer.starts_ps);
}
