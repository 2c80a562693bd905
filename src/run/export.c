/* SPDX-License-Identifier: MIT */
/* Lines -> blocks -> rows. */
#include "run/export.h"

#include "base/room.h"
#include "base/work.h"
#include "run/export_tables.h"
#include "read/stream.h"

const char *const ts_export_tables[TS_NR_EXPORT_TABLES + 1] = {
	[TS_EXPORT_EVENTS] = "events",
	[TS_EXPORT_OPS] = "ops",
	[TS_EXPORT_STEPS] = "steps",
	[TS_EXPORT_FINDINGS] = "findings",
};

/* What all events are asked for. */
#define COLUMNS (TS_COL_COSTS | TS_COL_NUMBER | TS_COL_DEVICE_CLOCK | TS_COL_LINK)

/* Lines of others, with slices of their own. */
static bool is_exported(const struct ts_profile *profile, const struct ts_line *line)
{
	enum ts_plane_kind kind = profile->planes[line->plane].kind;

	return !line->has_points && !line->repeats && line->kind != TS_LINE_COUNTERS &&
	       kind != TS_PLANE_OURS && kind != TS_PLANE_METADATA && kind != TS_PLANE_TASK;
}

/* --- the look */

struct look {
	struct ts_profile *profile;
	char **damage; /* one a line */
};

static enum ts_status export_pass_over(void *ctx, const struct ts_block *block,
				       struct ts_error *err)
{
	return TS_OK;
}

static enum ts_status export_look_at(void *ctx, size_t job, size_t thread, struct ts_error *err)
{
	struct look *look = ctx;
	struct ts_line *line = &look->profile->lines[job];
	const struct ts_sink sink = { .columns = COLUMNS, .block = export_pass_over };
	enum ts_status st;

	if (line->is_plain || !is_exported(look->profile, line))
		return TS_OK;
	st = ts_stream_line(look->profile, (uint32_t)job, &sink, err);
	if (st == TS_UNSORTED) {
		line->unsorted = true;
		st = ts_stream_line(look->profile, (uint32_t)job, &sink, err);
	}
	if (st != TS_FORMAT)
		return st;
	look->damage[job] = strdup(err->text);
	return look->damage[job] ? TS_OK : ts_fail_nomem(err);
}

static void export_note_damage(struct look *look)
{
	struct ts_profile *profile = look->profile;

	for (size_t i = 0; i < profile->nr_lines; i++) {
		const struct ts_plane *plane = &profile->planes[profile->lines[i].plane];

		if (look->damage[i])
			ts_profile_add_damage(profile, profile->hosts[plane->host].file, 0,
					      look->damage[i], false);
		free(look->damage[i]);
	}
}

enum ts_status ts_export_look(struct ts_profile *profile, size_t nr_threads, struct ts_error *err)
{
	struct look look = { .profile = profile };
	enum ts_status st;

	TS_ASSERT(profile);
	look.damage = calloc(profile->nr_lines + 1, sizeof(*look.damage));
	if (!look.damage)
		return ts_fail_nomem(err);
	st = ts_work_run(nr_threads, profile->nr_lines, export_look_at, &look, err);
	export_note_damage(&look);
	free(look.damage);
	return st;
}

/* --- texts of events */

/* Texts, each once. */
struct pool {
	struct ts_strmap map;
	struct ts_colfile_texts texts;
	size_t cap;
};

static void release_pool(struct pool *pool)
{
	ts_strmap_release(&pool->map);
	free(pool->texts.items);
}

/* The code of a text; that of an empty one is TS_NONE, which stands for unknown. */
static enum ts_status export_add_text(struct pool *pool, struct ts_bytes text, uint32_t *code,
				      struct ts_error *err)
{
	size_t nr = pool->texts.nr;

	*code = text.n > 0 ? ts_strmap_find(&pool->map, text) : TS_NONE;
	if (text.n == 0 || *code != TS_NONE)
		return TS_OK;
	if (nr >= INT32_MAX || !ts_grow(&pool->texts.items, &pool->cap, nr + 1, sizeof(text)) ||
	    !ts_strmap_set(&pool->map, text, (uint32_t)nr))
		return ts_fail_nomem(err);
	pool->texts.items[nr] = text;
	*code = (uint32_t)nr;
	pool->texts.nr++;
	return TS_OK;
}

enum op_text { OP_NAME, OP_CATEGORY, OP_MODULE, OP_FRAMEWORK, NR_OP_TEXTS };
enum line_text { LINE_HOST, LINE_PLANE, LINE_NAME, LINE_KIND, NR_LINE_TEXTS };

struct events {
	const struct ts_profile *profile;
	struct ts_colfile *file;
	struct pool of_ops[NR_OP_TEXTS], of_lines[NR_LINE_TEXTS];
	uint32_t *op_codes[NR_OP_TEXTS];    /* one an op */
	uint32_t line_codes[NR_LINE_TEXTS]; /* of the line that is read */
};

static struct ts_bytes text_of_op(const struct ts_profile *profile, const struct ts_op *op,
				  enum op_text which)
{
	switch (which) {
	case OP_NAME:	   return op->name;
	case OP_CATEGORY:  return op->category;
	case OP_FRAMEWORK: return op->framework_op;
	case OP_MODULE:
		if (op->module != TS_NONE)
			return profile->modules[op->module].name;
		break;
	case NR_OP_TEXTS: break;
	}
	return (struct ts_bytes){ NULL, 0 };
}

static const char *const line_kinds[] = {
	[TS_LINE_OTHER] = "other",
	[TS_LINE_STEPS] = "steps",
	[TS_LINE_MODULES] = "modules",
	[TS_LINE_OPS] = "ops",
	[TS_LINE_ASYNC] = "async",
	[TS_LINE_TRACEME] = "traceme",
	[TS_LINE_THREAD] = "thread",
	[TS_LINE_DERIVED] = "derived",
	[TS_LINE_SC_STEPS] = "sparsecore_steps",
	[TS_LINE_SC_MODULES] = "sparsecore_modules",
	[TS_LINE_SC_OPS] = "sparsecore_ops",
	[TS_LINE_SAMPLES] = "samples",
	[TS_LINE_COUNTERS] = "counters",
	[TS_LINE_THROTTLE] = "throttling",
};

static struct ts_bytes text_of_line(const struct ts_profile *profile, const struct ts_line *line,
				    enum line_text which)
{
	const struct ts_plane *plane = &profile->planes[line->plane];

	switch (which) {
	case LINE_HOST:	    return profile->hosts[plane->host].name;
	case LINE_PLANE:    return plane->name;
	case LINE_NAME:	    return line->name;
	case LINE_KIND:	    return ts_bytes_of(line_kinds[line->kind]);
	case NR_LINE_TEXTS: break;
	}
	return (struct ts_bytes){ NULL, 0 };
}

static enum ts_status gather_texts(struct events *events, struct ts_error *err)
{
	const struct ts_profile *profile = events->profile;
	enum ts_status st = TS_OK;

	for (int which = 0; which < NR_OP_TEXTS && st == TS_OK; which++) {
		uint32_t *codes =
			ts_room_array(profile->rooms, profile->nr_ops + 1, sizeof(*codes));

		events->op_codes[which] = codes;
		st = codes ? TS_OK : ts_fail_nomem(err);
		for (size_t i = 0; i < profile->nr_ops && st == TS_OK; i++)
			st = export_add_text(&events->of_ops[which],
					     text_of_op(profile, &profile->ops[i], which),
					     &codes[i], err);
	}
	for (int which = 0; which < NR_LINE_TEXTS && st == TS_OK; which++)
		for (size_t i = 0; i < profile->nr_lines && st == TS_OK; i++)
			st = export_add_text(&events->of_lines[which],
					     text_of_line(profile, &profile->lines[i], which),
					     &events->line_codes[which], err);
	return st;
}

/* --- events */

enum event_column {
	HOST,
	PLANE,
	LINE,
	KIND,
	LINE_ID,
	DEVICE_ID,
	NAME,
	CATEGORY,
	MODULE,
	FRAMEWORK_OP,
	PROGRAM_ID,
	OP_INDEX,
	START,
	DURATION,
	TOTAL_TIME,
	SELF_TIME,
	DEPTH,
	OCCURRENCES,
	STEP,
	RUN_ID,
	CORRELATION_ID,
	FLOPS,
	BYTES_ACCESSED,
	PREDICTED, /* the last: files of what was measured do not have it */
	NR_EVENT_COLUMNS
};

_Static_assert(NR_EVENT_COLUMNS <= TS_EXPORT_MAX_COLUMNS, "room for all columns");

static void fill_columns(const struct events *events, struct ts_colfile_column *columns)
{
	const struct ts_colfile_column all[NR_EVENT_COLUMNS] = {
		[HOST] = { "host", TS_COLFILE_CODE, &events->of_lines[LINE_HOST].texts },
		[PLANE] = { "plane", TS_COLFILE_CODE, &events->of_lines[LINE_PLANE].texts },
		[LINE] = { "line", TS_COLFILE_CODE, &events->of_lines[LINE_NAME].texts },
		[KIND] = { "line_kind", TS_COLFILE_CODE, &events->of_lines[LINE_KIND].texts },
		[LINE_ID] = { "line_id", TS_COLFILE_INT, NULL },
		[DEVICE_ID] = { "device_id", TS_COLFILE_INT, NULL },
		[NAME] = { "name", TS_COLFILE_CODE, &events->of_ops[OP_NAME].texts },
		[CATEGORY] = { "category", TS_COLFILE_CODE, &events->of_ops[OP_CATEGORY].texts },
		[MODULE] = { "module", TS_COLFILE_CODE, &events->of_ops[OP_MODULE].texts },
		[FRAMEWORK_OP] = { "framework_op", TS_COLFILE_CODE,
				   &events->of_ops[OP_FRAMEWORK].texts },
		[PROGRAM_ID] = { "program_id", TS_COLFILE_UINT, NULL },
		[OP_INDEX] = { "op_index", TS_COLFILE_INT, NULL },
		[START] = { "start_ps", TS_COLFILE_INT, NULL },
		[DURATION] = { "duration_ps", TS_COLFILE_INT, NULL },
		[TOTAL_TIME] = { "total_time_ps", TS_COLFILE_INT, NULL },
		[SELF_TIME] = { "self_time_ps", TS_COLFILE_INT, NULL },
		[DEPTH] = { "depth", TS_COLFILE_INT, NULL },
		[OCCURRENCES] = { "occurrences", TS_COLFILE_INT, NULL },
		[STEP] = { "step", TS_COLFILE_INT, NULL },
		[RUN_ID] = { "run_id", TS_COLFILE_UINT, NULL },
		[CORRELATION_ID] = { "correlation_id", TS_COLFILE_UINT, NULL },
		[FLOPS] = { "flops", TS_COLFILE_INT, NULL },
		[BYTES_ACCESSED] = { "bytes_accessed", TS_COLFILE_INT, NULL },
		[PREDICTED] = TS_EXPORT_PREDICTED,
	};

	memcpy(columns, all, sizeof(all));
}

static void export_put_line(struct ts_colfile *file, const struct events *events,
			    const struct ts_line *line)
{
	const struct ts_plane *plane = &events->profile->planes[line->plane];

	ts_colfile_code(file, HOST, events->line_codes[LINE_HOST]);
	ts_colfile_code(file, PLANE, events->line_codes[LINE_PLANE]);
	ts_colfile_code(file, LINE, events->line_codes[LINE_NAME]);
	ts_colfile_code(file, KIND, events->line_codes[LINE_KIND]);
	ts_colfile_int(file, LINE_ID, line->id);
	if (plane->device != TS_NONE)
		ts_colfile_int(file, DEVICE_ID, plane->device);
}

static void export_put_op(struct ts_colfile *file, const struct events *events, uint32_t index)
{
	const struct ts_op *op = &events->profile->ops[index];

	ts_colfile_code(file, NAME, events->op_codes[OP_NAME][index]);
	ts_colfile_code(file, CATEGORY, events->op_codes[OP_CATEGORY][index]);
	ts_colfile_code(file, MODULE, events->op_codes[OP_MODULE][index]);
	ts_colfile_code(file, FRAMEWORK_OP, events->op_codes[OP_FRAMEWORK][index]);
	if (op->has_program)
		ts_colfile_int(file, PROGRAM_ID, (int64_t)op->program_id);
	ts_colfile_int(file, OP_INDEX, index);
}

/* Of the event itself, else of its op. */
static void export_put_costs(struct ts_colfile *file, const struct ts_block *block, size_t i)
{
	const struct ts_op *op = &block->profile->ops[block->op[i]];
	int64_t flops = block->flops ? block->flops[i] : TS_UNKNOWN;
	int64_t bytes = block->bytes ? block->bytes[i] : TS_UNKNOWN;

	ts_colfile_count(file, FLOPS, flops >= 0 ? flops : op->flops);
	ts_colfile_count(file, BYTES_ACCESSED, bytes >= 0 ? bytes : op->bytes_accessed);
}

static void export_put_numbers(struct ts_colfile *file, const struct ts_block *block, size_t i)
{
	bool is_step = block->line->kind == TS_LINE_STEPS;

	if (block->number && block->number[i] != TS_NO_NUMBER)
		ts_colfile_int(file, is_step ? STEP : RUN_ID, (int64_t)block->number[i]);
	if (block->link && block->link[i] != TS_NO_LINK)
		ts_colfile_int(file, CORRELATION_ID, (int64_t)block->link[i]);
}

static enum ts_status export_put_event(struct events *events, const struct ts_block *block,
				       size_t i, struct ts_error *err)
{
	struct ts_colfile *file = events->file;

	export_put_line(file, events, block->line);
	export_put_op(file, events, block->op[i]);
	ts_colfile_int(file, START, block->start_ps[i]);
	ts_colfile_int(file, DURATION, block->dur_ps[i]);
	ts_colfile_int(file, TOTAL_TIME, block->total_ps[i]);
	ts_colfile_int(file, SELF_TIME, block->self_ps[i]);
	ts_colfile_int(file, DEPTH, block->depth[i]);
	ts_colfile_int(file, OCCURRENCES, block->occurrences ? block->occurrences[i] : 1);
	export_put_numbers(file, block, i);
	export_put_costs(file, block, i);
	if (file->setup.nr_columns > PREDICTED)
		ts_colfile_int(file, PREDICTED, true);
	return ts_colfile_end_row(file, err);
}

static enum ts_status export_put_block(void *ctx, const struct ts_block *block,
				       struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < block->nr_events && st == TS_OK; i++)
		st = export_put_event(ctx, block, i, err);
	return st;
}

static enum ts_status export_put_lines(struct events *events, struct ts_error *err)
{
	const struct ts_profile *profile = events->profile;
	const struct ts_sink sink = { .ctx = events,
				      .columns = COLUMNS,
				      .block = export_put_block };
	enum ts_status st = TS_OK;

	for (uint32_t i = 0; i < profile->nr_lines && st == TS_OK; i++) {
		const struct ts_line *line = &profile->lines[i];

		if (!is_exported(profile, line))
			continue;
		for (int which = 0; which < NR_LINE_TEXTS && st == TS_OK; which++)
			st = export_add_text(&events->of_lines[which],
					     text_of_line(profile, line, which),
					     &events->line_codes[which], err); /* which is there */
		if (st == TS_OK)
			st = ts_stream_line(profile, i, &sink, err);
		st = st == TS_FORMAT ? TS_OK : st; /* the look has noted it */
	}
	return st;
}

/* --- files */

enum { NR_FACTS = 7 };

/* What a file is made with: it is looked into until the file is released. */
struct making {
	struct ts_colfile file;
	struct ts_colfile_fact facts[NR_FACTS];
	struct ts_colfile_column columns[TS_EXPORT_MAX_COLUMNS];
	struct events events;
	struct ts_arena arena;
	char creator[64];
};

static struct ts_bytes mended(struct ts_arena *arena, struct ts_bytes text)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_bytes kept;

	ts_colfile_put_text(&out, text);
	kept = ts_arena_copy(arena, ts_buf_bytes(&out));
	ts_buf_release(&out);
	return kept;
}

static void fill_facts(struct making *making, const struct ts_profile *profile,
		       enum ts_export_table table)
{
	const char *name = ts_export_tables[table];
	char start[32] = "";
	const struct ts_colfile_fact all[NR_FACTS] = {
		{ "tpusight.schema", TS_LIT(TS_EXPORT_SCHEMA) },
		{ "tpusight.table", ts_bytes_of(name) },
		{ "tpusight.generator", ts_bytes_of(making->creator) },
		{ "tpusight.run", mended(&making->arena, profile->run) },
		{ "tpusight.session", mended(&making->arena, profile->session) },
		{ "tpusight.predicted", mended(&making->arena, ts_profile_predicted(profile)) },
		{ "tpusight.start_unix_ns", { NULL, 0 } },
	};

	memcpy(making->facts, all, sizeof(all));
	if (profile->start_unix_ns >= 0)
		snprintf(start, sizeof(start), "%lld", (long long)profile->start_unix_ns);
	making->facts[NR_FACTS - 1].value = ts_arena_copy(&making->arena, ts_bytes_of(start));
}

static enum ts_status export_write_events(struct making *making, struct ts_colfile_setup *setup,
					  struct ts_error *err)
{
	struct events *events = &making->events;
	enum ts_status st = gather_texts(events, err);

	if (st)
		return st;
	fill_columns(events, making->columns);
	setup->columns = making->columns;
	setup->nr_columns =
		ts_profile_predicted(events->profile).n > 0 ? NR_EVENT_COLUMNS : PREDICTED;
	st = ts_colfile_open(&making->file, setup, err);
	return st ? st : export_put_lines(events, err);
}

static enum ts_status export_write_table(struct making *making, struct ts_colfile_setup *setup,
					 enum ts_export_table table, const struct ts_run *run,
					 struct ts_error *err)
{
	bool is_predicted = ts_profile_predicted(&run->profile).n > 0;
	enum ts_status st;

	setup->columns = making->columns;
	setup->nr_columns = ts_export_columns(table, is_predicted, making->columns);
	st = ts_colfile_open(&making->file, setup, err);
	return st ? st : ts_export_rows(&making->file, table, &run->results, &making->arena, err);
}

static enum ts_status write(struct making *making, const struct ts_run *run,
			    enum ts_export_table table, const struct ts_export_options *options,
			    struct ts_error *err)
{
	struct ts_colfile_setup setup = { .form = options->form,
					  .facts = making->facts,
					  .nr_facts = NR_FACTS,
					  .creator = making->creator,
					  .drain = options->drain,
					  .nr_threads = options->nr_threads };
	enum ts_status st;

	snprintf(making->creator, sizeof(making->creator), "tpusight version %s", options->version);
	fill_facts(making, &run->profile, table);
	st = table == TS_EXPORT_EVENTS ? export_write_events(making, &setup, err)
				       : export_write_table(making, &setup, table, run, err);
	if (st == TS_OK)
		st = ts_colfile_close(&making->file, err);
	return st == TS_OK && making->arena.failed ? ts_fail_nomem(err) : st;
}

enum ts_status ts_export_write(const struct ts_run *run, enum ts_export_table table,
			       const struct ts_export_options *options, struct ts_buf *rest,
			       uint64_t *nr_rows, struct ts_error *err)
{
	struct making *making = calloc(1, sizeof(*making));
	enum ts_status st;

	TS_ASSERT(run && options && rest && nr_rows);
	if (!making)
		return ts_fail_nomem(err);
	making->arena = (struct ts_arena)TS_ARENA_INIT;
	making->events.profile = &run->profile;
	making->events.file = &making->file;
	st = write(making, run, table, options, err);
	if (st == TS_OK)
		ts_buf_put(rest, ts_buf_bytes(&making->file.out));
	*nr_rows = making->file.nr_all_rows;
	ts_colfile_release(&making->file);
	for (int which = 0; which < NR_OP_TEXTS; which++) {
		release_pool(&making->events.of_ops[which]);
		ts_room_free(making->events.op_codes[which]);
	}
	for (int which = 0; which < NR_LINE_TEXTS; which++)
		release_pool(&making->events.of_lines[which]);
	ts_arena_release(&making->arena);
	free(making);
	return st == TS_OK && rest->failed ? ts_fail_nomem(err) : st;
}
