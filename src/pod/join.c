/* SPDX-License-Identifier: MIT */
/*
 * Hosts, planes, lines and devices go behind those that are there; ops are interned, so they have the
 * numbers that they would have if one machine had read all files; of a module the first one stays.
 */
#include "pod/join.h"

#include "base/check.h"
#include "model/nest.h"

#define MAX_LAG_PS (INT64_C(1) << 60) /* 13 days: half of what times are bounded to (model/nest.h) */

/* A file that is being added: what its numbers become. */
struct adding {
	struct ts_joining *joining;
	struct ts_profile *to, *from;
	uint32_t *ops;		    /* of each op of the file: that of the run */
	uint32_t host, plane, line; /* of the run: the first of each */
};

/* The same text in the run's arena. */
static enum ts_status join_keep(struct ts_joining *joining, struct ts_bytes *text,
				struct ts_error *err)
{
	uint32_t at;

	if (!text->p)
		return TS_OK;
	at = ts_strmap_find(&joining->places, *text);
	if (at != TS_NONE) {
		*text = joining->texts[at];
		return TS_OK;
	}
	*text = ts_arena_copy(&joining->profile->arena, *text);
	if (!text->p)
		return ts_fail_nomem(err);
	if (!ts_grow(&joining->texts, &joining->cap_texts, joining->nr_texts + 1,
		     sizeof(*joining->texts)) ||
	    !ts_strmap_set(&joining->places, *text, (uint32_t)joining->nr_texts))
		return ts_fail_nomem(err);
	joining->texts[joining->nr_texts++] = *text;
	return TS_OK;
}

static enum ts_status join_keep_all(struct ts_joining *joining, struct ts_bytes *const *texts,
				    size_t nr, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = join_keep(joining, texts[i], err);
	return st;
}
#define KEEP(joining, ...)                                                      \
	join_keep_all((joining), (struct ts_bytes *const[]){ __VA_ARGS__ },           \
		 sizeof((struct ts_bytes *const[]){ __VA_ARGS__ }) / sizeof(struct ts_bytes *), err)

static enum ts_status keep_messages(struct ts_joining *joining, struct ts_bytes **messages,
				    size_t nr_all, struct ts_error *err)
{
	size_t nr = TS_MIN(nr_all, TS_MAX_MESSAGES);
	struct ts_bytes *kept;
	enum ts_status st = TS_OK;

	if (nr == 0)
		return TS_OK;
	kept = ts_arena_dup(&joining->profile->arena, *messages, nr, sizeof(*kept));
	if (!kept)
		return ts_fail_nomem(err);
	*messages = kept;
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = join_keep(joining, &kept[i], err);
	return st;
}

static enum ts_status join_add_hosts(struct adding *adding, struct ts_error *err)
{
	enum ts_status st;

	for (size_t i = 0; i < adding->from->nr_hosts; i++) {
		struct ts_host *host = ts_profile_add_host(adding->to);

		if (!host)
			return ts_fail_nomem(err);
		*host = adding->from->hosts[i];
		host->first_plane += adding->plane;
		st = KEEP(adding->joining, &host->name, &host->file, &host->stands_for,
			  &host->not_strict, &host->meant);
		if (st)
			return st;
		st = keep_messages(adding->joining, &host->errors, host->nr_errors, err);
		if (st)
			return st;
		st = keep_messages(adding->joining, &host->warnings, host->nr_warnings, err);
		if (st)
			return st;
	}
	return TS_OK;
}

static enum ts_status join_add_planes(struct adding *adding, struct ts_error *err)
{
	uint32_t first_device = (uint32_t)adding->to->nr_devices;
	enum ts_status st;

	for (size_t i = 0; i < adding->from->nr_planes; i++) {
		struct ts_plane *plane = ts_profile_add_plane(adding->to);

		if (!plane)
			return ts_fail_nomem(err);
		*plane = adding->from->planes[i];
		plane->host += adding->host;
		plane->first_line += adding->line;
		if (plane->device != TS_NONE)
			plane->device += first_device;
		st = join_keep(adding->joining, &plane->name, err);
		if (st)
			return st;
	}
	return TS_OK;
}

static enum ts_status add_devices(struct adding *adding, struct ts_error *err)
{
	enum ts_status st;

	for (size_t i = 0; i < adding->from->nr_devices; i++) {
		struct ts_device *device = ts_profile_add_device(adding->to);

		if (!device)
			return ts_fail_nomem(err);
		*device = adding->from->devices[i];
		device->host += adding->host;
		device->plane += adding->plane;
		st = KEEP(adding->joining, &device->name, &device->kind, &device->vendor,
			  &device->predicted);
		if (st)
			return st;
	}
	return TS_OK;
}

static enum ts_status join_add_lines(struct adding *adding, struct ts_error *err)
{
	enum ts_status st;

	for (size_t i = 0; i < adding->from->nr_lines; i++) {
		struct ts_line *line = ts_profile_add_line(adding->to);

		if (!line)
			return ts_fail_nomem(err);
		*line = adding->from->lines[i];
		line->plane += adding->plane;
		st = KEEP(adding->joining, &line->name, &line->unread);
		if (st)
			return st;
	}
	return TS_OK;
}

/* Two files describe one op, and with another text it has several (struct ts_op). */
static void note_variant(struct ts_op *op, const struct ts_op *draft)
{
	bool differs =
		draft->has_program && draft->text.n > 0 && !ts_bytes_eq(op->text, draft->text);

	op->has_variants |= draft->has_variants || differs;
}

static enum ts_status join_add_ops(struct adding *adding, struct ts_error *err)
{
	enum ts_status st;

	for (size_t i = 0; i < adding->from->nr_ops; i++) {
		struct ts_op draft = adding->from->ops[i];

		st = KEEP(adding->joining, &draft.name, &draft.text, &draft.category,
			  &draft.framework_op, &draft.source, &draft.source_stack, &draft.shape);
		if (st)
			return st;
		adding->ops[i] = ts_profile_intern_op(adding->to, &draft);
		if (adding->ops[i] == TS_NONE)
			return ts_fail_nomem(err);
		note_variant(&adding->to->ops[adding->ops[i]], &draft);
	}
	return TS_OK;
}

/* Damage of a module that an earlier file has whole would not have been met. */
static enum ts_status add_damage(struct adding *adding, struct ts_error *err)
{
	enum ts_status st;

	for (size_t i = 0; i < adding->from->nr_damage; i++) {
		struct ts_damage *damage = &adding->from->damage[i];

		if (damage->of_module &&
		    ts_profile_module_of(adding->to, damage->program_id) != TS_NONE)
			continue;
		st = join_keep(adding->joining, &damage->file, err);
		if (st)
			return st;
		ts_profile_add_damage(adding->to, damage->file, damage->offset,
				      (const char *)damage->cause.p, damage->minor);
	}
	return TS_OK;
}

static enum ts_status join_add_modules(struct adding *adding, const struct ts_saved_run *saved,
				       struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < saved->nr_modules && st == TS_OK; i++) {
		struct ts_saved_module module = saved->modules[i];

		if (ts_profile_module_of(adding->to, module.program_id) != TS_NONE)
			continue;
		st = KEEP(adding->joining, &module.file, &module.proto);
		if (st)
			return st;
		st = ts_saved_read_module(adding->to, &module, err);
	}
	return st;
}

static enum ts_status add_frames(struct adding *adding, struct ts_error *err)
{
	const struct ts_profile *from = adding->from;
	uint32_t first_frame = (uint32_t)adding->to->nr_frames;
	uint32_t first_stacked = (uint32_t)adding->to->nr_stacked;
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < from->nr_frames && st == TS_OK; i++) {
		struct ts_frame frame = from->frames[i];

		st = KEEP(adding->joining, &frame.function, &frame.file);
		if (st == TS_OK)
			st = ts_profile_add_frame(adding->to, &frame, err);
	}
	for (size_t i = 0; i < from->nr_stacked && st == TS_OK; i++)
		st = ts_profile_stack_frame(adding->to, first_frame + from->stacked[i], err);
	for (size_t i = 0; i < from->nr_sites && st == TS_OK; i++) {
		struct ts_site site = from->sites[i];

		site.first_frame += first_stacked;
		st = KEEP(adding->joining, &site.file, &site.kind, &site.device);
		if (st == TS_OK)
			st = ts_profile_add_site(adding->to, &site, err);
	}
	return st;
}

static enum ts_status add_break(struct ts_joining *joining, struct ts_torch_break row,
				struct ts_error *err)
{
	enum ts_status st = KEEP(joining, &row.file, &row.function, &row.reason, &row.explanation,
				 &row.hint, &row.stack);

	return st ? st : ts_torch_log_break(&joining->profile->torch_log, &row, err);
}

static enum ts_status add_recompile(struct ts_joining *joining, struct ts_torch_recompile row,
				    struct ts_error *err)
{
	enum ts_status st = join_keep(joining, &row.reason, err);

	return st ? st : ts_torch_log_recompile(&joining->profile->torch_log, &row, err);
}

static enum ts_status add_compilation(struct ts_joining *joining, struct ts_torch_compilation row,
				      struct ts_error *err)
{
	enum ts_status st = KEEP(joining, &row.function, &row.file, &row.failure,
				 &row.recompile_reason, &row.restart_reason);

	return st ? st : ts_torch_log_compilation(&joining->profile->torch_log, &row, err);
}

static enum ts_status add_torch_log(struct adding *adding, struct ts_error *err)
{
	const struct ts_torch_log *from = &adding->from->torch_log;
	struct ts_torch_log *to = &adding->to->torch_log;
	struct ts_bytes version = from->version;
	enum ts_status st = join_keep(adding->joining, &version, err);

	for (size_t i = 0; i < ts_torch_log_kept(from->nr_breaks) && st == TS_OK; i++)
		st = add_break(adding->joining, from->breaks[i], err);
	for (size_t i = 0; i < ts_torch_log_kept(from->nr_recompiles) && st == TS_OK; i++)
		st = add_recompile(adding->joining, from->recompiles[i], err);
	for (size_t i = 0; i < ts_torch_log_kept(from->nr_compilations) && st == TS_OK; i++)
		st = add_compilation(adding->joining, from->compilations[i], err);
	to->nr_breaks += from->nr_breaks - ts_torch_log_kept(from->nr_breaks);
	to->nr_recompiles += from->nr_recompiles - ts_torch_log_kept(from->nr_recompiles);
	to->nr_compilations += from->nr_compilations - ts_torch_log_kept(from->nr_compilations);
	to->nr_files += from->nr_files;
	if (version.n > 0)
		to->version = version;
	return st;
}

/* ---- what lines gave */

static enum ts_status name_ops(const struct adding *adding, struct ts_outline_line *line,
			       struct ts_error *err)
{
	struct ts_scopes *scopes = &line->scopes.scopes;

	for (size_t i = 0; i < line->scopes.steps.nr; i++)
		line->scopes.steps.items[i].op = adding->ops[line->scopes.steps.items[i].op];
	for (size_t i = 0; i < scopes->nr; i++) {
		scopes->items[i].op = adding->ops[scopes->items[i].op];
		if (scopes->items[i].parent != TS_NONE)
			scopes->items[i].parent = adding->ops[scopes->items[i].parent];
	}
	for (size_t i = 0; i < scopes->nr_epochs; i++)
		scopes->epochs[i].op = adding->ops[scopes->epochs[i].op];
	return ts_outline_marks_rename(&line->marks, adding->ops, err);
}

static enum ts_status name_kernels(const struct adding *adding, struct outline_marks *marks,
				   struct ts_error *err)
{
	uint32_t *kernels;

	if (!marks->kernels)
		return TS_OK;
	kernels = calloc(adding->to->nr_ops + 1, sizeof(*kernels));
	if (!kernels)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < marks->nr_kernels; i++)
		kernels[adding->ops[i]] = marks->kernels[i];
	free(marks->kernels);
	marks->kernels = kernels;
	marks->nr_kernels = adding->to->nr_ops;
	return TS_OK;
}

static enum ts_status add_line_outlines(struct adding *adding, struct ts_outline_lines *lines,
					const int64_t *from_ps, struct ts_error *err)
{
	struct ts_joining *joining = adding->joining;
	size_t nr = joining->lines.nr + lines->nr;
	enum ts_status st;

	if (!ts_grow(&joining->lines.items, &joining->cap_lines, nr + 1,
		     sizeof(*joining->lines.items)) ||
	    !ts_grow(&joining->from_ps, &joining->cap_from, nr + 1, sizeof(*joining->from_ps)))
		return ts_fail_nomem(err);
	for (size_t i = 0; i < lines->nr; i++) {
		struct ts_outline_line *line = &lines->items[i];

		st = name_ops(adding, line, err);
		if (st)
			return st;
		st = name_kernels(adding, &line->marks, err);
		if (st)
			return st;
		st = join_keep(joining, &line->damage, err);
		if (st)
			return st;
		joining->from_ps[joining->lines.nr] = from_ps[i];
		joining->lines.items[joining->lines.nr++] = *line;
		memset(line, 0, sizeof(*line)); /* it has moved */
	}
	return TS_OK;
}

static enum ts_status join_add_files(struct adding *adding, const struct ts_saved_run *saved,
				     struct ts_error *err)
{
	struct ts_joining *joining = adding->joining;
	enum ts_status st;

	for (size_t i = 0; i < saved->nr_files; i++) {
		struct ts_saved_file file = saved->files[i];

		st = KEEP(joining, &file.host, &file.name, &file.path, &file.logdir, &file.run,
			  &file.session, &file.problem);
		if (st)
			return st;
		if (!ts_grow(&joining->saved.files, &joining->cap_files,
			     joining->saved.nr_files + 1, sizeof(file)))
			return ts_fail_nomem(err);
		joining->saved.files[joining->saved.nr_files++] = file;
	}
	return TS_OK;
}

static enum ts_status join_check_devices(const struct adding *adding, struct ts_error *err)
{
	const struct ts_profile *to = adding->to;

	if (to->nr_devices == 0 || ts_profile_takes_device(to))
		return TS_OK;
	return ts_fail(err, TS_LIMIT,
		       "more devices than files of this size have " TS_OVER(TS_LIMIT_DEVICES));
}

/* A text of the settings that the outlines were made with is one of all files. */
static enum ts_status join_add_setting(const struct adding *adding, struct ts_bytes *to,
				       struct ts_bytes from, const char *key, struct ts_error *err)
{
	if (adding->joining->saved.nr_files == 0) {
		*to = from;
		return join_keep(adding->joining, to, err);
	}
	if (ts_bytes_eq(*to, from))
		return TS_OK;
	return ts_fail(err, TS_UNSUPPORTED,
		       "its \"%s\" are not those of the other files (give map outline one "
		       "--config for all)",
		       key);
}

static enum ts_status join_add_settings(const struct adding *adding, struct ts_error *err)
{
	enum ts_status st = join_add_setting(adding, &adding->to->input_names,
					     adding->from->input_names, "input_names", err);

	return st ? st
		  : join_add_setting(adding, &adding->to->step_mark, adding->from->step_mark,
				     "step_mark", err);
}

enum ts_status ts_join_add(struct ts_joining *joining, struct ts_profile *profile,
			   const struct ts_saved_run *saved, struct ts_outline_lines *lines,
			   const int64_t *from_ps, struct ts_error *err)
{
	struct adding adding = { .joining = joining,
				 .to = joining->profile,
				 .from = profile,
				 .host = (uint32_t)joining->profile->nr_hosts,
				 .plane = (uint32_t)joining->profile->nr_planes,
				 .line = (uint32_t)joining->profile->nr_lines };
	enum ts_status st;

	TS_ASSERT(joining && profile && saved && lines && lines->nr == profile->nr_lines);
	adding.ops = calloc(profile->nr_ops + 1, sizeof(*adding.ops));
	st = adding.ops ? TS_OK : ts_fail_nomem(err);
	if (st == TS_OK)
		st = join_add_settings(&adding, err);
	if (st == TS_OK)
		st = join_add_files(&adding, saved, err);
	if (st == TS_OK)
		st = add_damage(&adding, err);
	if (st == TS_OK)
		st = join_add_hosts(&adding, err);
	if (st == TS_OK)
		st = join_add_planes(&adding, err);
	if (st == TS_OK)
		st = add_devices(&adding, err);
	if (st == TS_OK)
		st = join_add_lines(&adding, err);
	if (st == TS_OK)
		st = join_add_ops(&adding, err);
	if (st == TS_OK)
		st = add_frames(&adding, err);
	if (st == TS_OK)
		st = add_torch_log(&adding, err);
	if (st == TS_OK)
		st = add_line_outlines(&adding, lines, from_ps, err);
	if (st == TS_OK)
		st = join_check_devices(&adding, err);
	if (st == TS_OK)
		st = join_add_modules(&adding, saved, err);
	free(adding.ops);
	return st;
}

/* As a reader would have placed them on the later clock. */
static void join_move(int64_t *start_ps, int64_t *end_ps, int64_t by_ps)
{
	*start_ps = ts_time_bound(ts_i64_add(*start_ps, by_ps));
	*end_ps = ts_time_bound(ts_i64_add(*end_ps, by_ps));
}

/* What lies beyond all times has no length any more. */
static void move_spans(struct ts_spans *spans, int64_t by_ps)
{
	size_t nr = 0;

	for (size_t i = 0; i < spans->nr; i++) {
		struct ts_span span = spans->items[i];

		join_move(&span.start_ps, &span.end_ps, by_ps);
		if (span.start_ps < span.end_ps)
			spans->items[nr++] = span;
	}
	spans->nr = nr;
}

static void move_line(struct ts_outline_line *line, int64_t by_ps)
{
	struct ts_scopes *scopes = &line->scopes.scopes;

	ts_outline_marks_move(&line->marks, by_ps);
	for (size_t i = 0; i < line->scopes.steps.nr; i++)
		join_move(&line->scopes.steps.items[i].start_ps,
			  &line->scopes.steps.items[i].end_ps, by_ps);
	for (size_t i = 0; i < scopes->nr; i++)
		move_spans(&scopes->items[i].spans, by_ps);
	for (size_t i = 0; i < scopes->nr_epochs; i++)
		join_move(&scopes->epochs[i].start_ps, &scopes->epochs[i].end_ps, by_ps);
	move_spans(&line->compile, by_ps);
	move_spans(&line->input, by_ps);
	move_spans(&line->transfer, by_ps);
	move_spans(&line->launches, by_ps);
	move_spans(&line->work, by_ps);
	if (line->scopes.is_seen && line->scopes.first_ps <= line->scopes.last_ps)
		join_move(&line->scopes.first_ps, &line->scopes.last_ps, by_ps);
	join_move(&line->first_ps, &line->last_ps, by_ps);
}

enum ts_status ts_join_clocks(struct ts_joining *joining, struct ts_error *err)
{
	const struct ts_profile *profile = joining->profile;

	TS_ASSERT(joining && joining->lines.nr == profile->nr_lines);
	for (size_t i = 0; i < joining->lines.nr; i++) {
		int64_t by_ps = ts_i64_sub(profile->lines[i].start_ps, joining->from_ps[i]);
		uint32_t host = profile->planes[profile->lines[i].plane].host;

		if (by_ps > MAX_LAG_PS)
			return ts_fail(
				err, TS_UNSUPPORTED,
				"%.*s: it began weeks after another file (name the files of one "
				"run)",
				TS_ARG(profile->hosts[host].file));
		move_line(&joining->lines.items[i], by_ps);
	}
	return TS_OK;
}

void ts_join_release(struct ts_joining *joining)
{
	TS_ASSERT(joining);
	ts_saved_run_release(&joining->saved);
	ts_outline_lines_release(&joining->lines);
	ts_strmap_release(&joining->places);
	free(joining->texts);
	free(joining->from_ps);
}
