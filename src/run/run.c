/* SPDX-License-Identifier: MIT */
/* From files to results. */
#include "run/run.h"

#include "run/dumps.h"

#include "analysis/settings_list.h"
#include "base/check.h"
#include "run/launched.h"
#include "run/outline.h"
#include "io/dropped.h"
#include "io/foreign.h"
#include "io/scratch.h"
#include "io/tracefile.h"
#include "model/part.h"
#include "overlay/xplane.h"
#include "read/hlo.h"
#include "read/reader.h"

#define TREE_ROWS 2000 /* of a tree of call paths, unless the user asks for more */

void ts_run_init(struct ts_run *run)
{
	TS_ASSERT(run);
	memset(run, 0, sizeof(*run));
	ts_profile_init(&run->profile);
	ts_results_init(&run->results);
	run->profile.rooms = &ts_scratch_rooms;
	run->kept = (struct ts_arena){ .rooms = run->profile.rooms, .is_seldom_read = true };
	run->profile.arena.rooms = run->results.arena.rooms = run->profile.rooms;
}

void ts_run_release(struct ts_run *run)
{
	TS_ASSERT(run);
	ts_results_release(&run->results);
	ts_buf_release(&run->pictures);
	ts_arena_release(&run->kept);
	ts_run_steps_release(&run->steps);
	ts_outline_release(&run->outline);
	ts_profile_release(&run->profile);
	for (size_t i = 0; i < run->nr_inputs; i++)
		ts_input_release(&run->inputs[i]);
	for (size_t i = 0; i < run->nr_unpacked; i++)
		ts_buf_release(&run->unpacked[i]);
	for (size_t i = 0; i < run->nr_problems; i++)
		free(run->problems[i]);
	free(run->rates);
	free(run->inputs);
	free(run->unpacked);
	free(run->problems);
	ts_staged_release(&run->staged); /* nothing is mapped any more */
	memset(run, 0, sizeof(*run));
}

static enum ts_status note_problem(struct ts_run *run, const struct ts_error *problem,
				   struct ts_error *err)
{
	char *text = malloc(sizeof(problem->text));

	if (!text ||
	    !ts_grow(&run->problems, &run->cap_problems, run->nr_problems + 1, sizeof(text))) {
		free(text);
		return ts_fail_nomem(err);
	}
	memcpy(text, problem->text, sizeof(problem->text));
	run->problems[run->nr_problems++] = text;
	return TS_OK;
}

static uint32_t reader_index(const struct ts_reader *reader)
{
	uint32_t i = 0;

	while (ts_readers[i] != reader)
		i++;
	return i;
}

/* A host of which nothing could be read does not count. */
static void drop_empty_host(struct ts_profile *profile, size_t index)
{
	const struct ts_host *host;

	if (index >= profile->nr_hosts)
		return;
	host = &profile->hosts[index];
	if (host->nr_planes > 0)
		return;
	if (host->reader_release)
		host->reader_release(host->reader_data);
	profile->nr_hosts = index;
}

struct source {
	struct ts_bytes bytes, file, host;
	bool mapped;
	const char *reader;	    /* NULL: the reader that knows the bytes */
	struct ts_bytes stands_for; /* struct ts_hostfile */
	bool is_one_of_many;
};

/* What an earlier annotation put behind the profile is not a part of it: whether it is there makes no
 * difference to any result. A file that is nothing else is read, and the report says so. */
static struct ts_bytes without_overlay(const struct ts_reader *reader, struct ts_bytes bytes)
{
	size_t native = bytes.n;

	if (reader->annotate == TS_ANNOTATE_BEHIND)
		native = ts_overlay_native_bytes(bytes);
	return ts_bytes_cut(bytes, 0, native > 0 ? native : bytes.n);
}

static enum ts_status run_read_source(struct ts_run *run, const struct source *source,
				      const struct ts_run_options *options, struct ts_error *err)
{
	const struct ts_reader *reader = source->reader
						 ? ts_reader_find(source->reader)
						 : ts_reader_for(source->file, source->bytes);
	struct ts_read_request request = { source->bytes,	  source->file,
					   source->host,	  options->nr_threads,
					   source->mapped,	  options->no_stats,
					   options->wants_strict, source->is_one_of_many };
	const struct ts_foreign *foreign = source->reader ? NULL : ts_foreign_of(source->bytes);
	size_t host = run->profile.nr_hosts, nr_damage = run->profile.nr_damage;
	enum ts_status st;

	if (!reader && ts_tracefile_is_ours(source->file))
		return ts_fail(err, TS_UNSUPPORTED,
			       "%.*s: made by TPUsight (name the trace it was made of)",
			       TS_ARG(source->file));
	if (!foreign && !reader)
		foreign = ts_foreign_named(source->file);
	st = ts_foreign_refuse(foreign, err);
	if (st)
		return ts_fail_at(err, st, "%.*s", TS_ARG(source->file));
	if (!reader)
		return ts_fail(
			err, TS_UNSUPPORTED,
			"%.*s: byte 0: not a recognised profile; expected .xplane.pb, a trace "
			"(.json, .json.gz), a session or a log directory",
			TS_ARG(source->file));
	request.bytes = without_overlay(reader, source->bytes);
	st = reader->read(&run->profile, &request, err);
	if (run->profile.nr_hosts > host) {
		run->profile.hosts[host].reader = reader_index(reader);
		run->profile.hosts[host].stands_for = source->stands_for;
	}
	if (st) { /* the story says what was damaged; once is enough */
		drop_empty_host(&run->profile, host);
		run->profile.nr_damage = nr_damage;
	}
	return st ? ts_fail_at(err, st, "%.*s", TS_ARG(source->file)) : TS_OK;
}

/* Reading an archive: each profile inside is a host. As in a folder, traces stand for a run without
 * xplanes, and what was made for Perfetto for one without others. */
struct unpacking {
	struct ts_run *run;
	const struct ts_run_options *options;
	const char *archive;
	bool (*want)(struct ts_bytes base);
	size_t nr_profiles, nr_memory;	  /* memory profiles alone are not a run */
	const struct ts_foreign *foreign; /* the first entry that is known by its name, */
	struct ts_bytes foreign_name;
};

static bool is_xplane_name(struct ts_bytes base)
{
	return ts_bytes_ends(base, "xplane.pb") || ts_bytes_ends(base, TS_RIEGELI_SUFFIX) ||
	       ts_bytes_ends(base, TS_MEMORY_SUFFIX);
}

static bool is_trace_name(struct ts_bytes base)
{
	return ts_tracefile_is(base) && !ts_tracefile_is_perfetto(base);
}

static struct ts_bytes run_base_of(const char *name)
{
	const char *base = strrchr(name, '/');

	return ts_bytes_of(base ? base + 1 : name);
}

/* Reported if the archive turns out to hold no profile. */
static void run_note_foreign(struct unpacking *unpacking, const char *name)
{
	const struct ts_foreign *foreign = ts_foreign_named(ts_bytes_of(name));

	if (!foreign || unpacking->foreign)
		return;
	unpacking->foreign = foreign;
	unpacking->foreign_name = ts_arena_copy(&unpacking->run->profile.arena, ts_bytes_of(name));
}

/* Hidden files are of no interest: "._NAME" is what macOS puts beside each NAME. */
static bool run_is_wanted(void *ctx, const char *name)
{
	struct unpacking *unpacking = ctx;

	run_note_foreign(unpacking, name);
	return !ts_bytes_starts(run_base_of(name), ".") && unpacking->want(run_base_of(name));
}

static bool run_is_extra(const struct source *source)
{
	const struct ts_reader *reader = ts_reader_for(source->file, source->bytes);

	return reader && reader->is_extra;
}

static bool run_is_log(const struct source *source)
{
	const struct ts_reader *reader = ts_reader_for(source->file, source->bytes);

	return reader && reader->is_log;
}

static enum ts_status unpack_entry(void *ctx, const char *name, struct ts_buf *content,
				   struct ts_error *err)
{
	struct unpacking *unpacking = ctx;
	struct ts_run *run = unpacking->run;
	struct ts_arena *arena = &run->profile.arena;
	struct source source = { .is_one_of_many = true };
	bool is_memory;

	if (!ts_grow(&run->unpacked, &run->cap_unpacked, run->nr_unpacked + 1, sizeof(*content)))
		return ts_fail_nomem(err);
	run->unpacked[run->nr_unpacked] = *content;
	*content = (struct ts_buf)TS_BUF_INIT;
	source.bytes = ts_buf_bytes(&run->unpacked[run->nr_unpacked++]);
	source.file = ts_arena_printf(arena, "%s: %s", unpacking->archive, name);
	source.host = ts_arena_copy(arena, run_base_of(name));
	if (!source.file.p || !source.host.p)
		return ts_fail_nomem(err);
	is_memory = ts_bytes_ends(source.host, TS_MEMORY_SUFFIX);
	if (is_memory && !run_is_extra(&source))
		return TS_OK; /* Python's own profiler writes files of these names too */
	unpacking->nr_profiles += !is_memory;
	unpacking->nr_memory += is_memory;
	source.host = ts_xplanefile_is(source.host) ? ts_xplanefile_host(source.host)
						    : ts_tracefile_host(source.host);
	return run_read_source(run, &source, unpacking->options, err);
}

static enum ts_status read_archive(struct ts_run *run, struct ts_bytes bytes, const char *path,
				   const struct ts_run_options *options, struct ts_error *err)
{
	static bool (*const wants[])(struct ts_bytes base) = { is_xplane_name, is_trace_name,
							       ts_tracefile_is_perfetto };
	struct unpacking unpacking = { .run = run, .options = options, .archive = path };
	struct ts_archive_visitor visitor = { .want = run_is_wanted,
					      .entry = unpack_entry,
					      .ctx = &unpacking };
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < TS_NELEM(wants) && st == TS_OK && !unpacking.nr_profiles; i++) {
		unpacking.want = wants[i];
		st = ts_archive_each(bytes, &visitor, err);
	}
	if (st)
		return ts_fail_at(err, st, "%s", path);
	if (unpacking.nr_profiles + unpacking.nr_memory == 0 && unpacking.foreign)
		return ts_fail(err, TS_NOTFOUND,
			       "%s: no profile in this archive, but %.*s: %s (%s)", path,
			       TS_ARG(unpacking.foreign_name), unpacking.foreign->what,
			       unpacking.foreign->give);
	if (unpacking.nr_profiles + unpacking.nr_memory == 0)
		return ts_fail(err, TS_NOTFOUND, "%s: no *.xplane.pb and no trace in this archive",
			       path);
	return TS_OK;
}

static enum ts_status run_read_file(struct ts_run *run, const struct ts_session *session,
				    size_t index, const struct ts_run_options *options,
				    struct ts_error *err)
{
	const struct ts_hostfile *file = &session->files[index];
	struct ts_input *input = &run->inputs[index];
	struct source source = { .is_one_of_many = session->nr_files > 1 };
	/* a stream was named by the user; all else was found, or is a plain file */
	enum ts_status st = session->kind == TS_SESSION_STREAM
				    ? ts_input_open(input, file->path, err)
				    : ts_input_open_plain(input, file->path, err);

	if (st) {
		(void)ts_dropped_explain(file->path, err);
		return st;
	}
	if (ts_archive_probe(input->bytes))
		return read_archive(run, input->bytes, file->path, options, err);
	source.bytes = input->bytes;
	source.mapped = input->mapped;
	if (file->stands_for)
		source.stands_for =
			ts_arena_copy(&run->profile.arena, ts_bytes_of(file->stands_for));
	source.file = ts_arena_copy(&run->profile.arena, ts_bytes_of(input->path));
	source.host = ts_arena_copy(&run->profile.arena, ts_bytes_of(file->host));
	if (!source.file.p || !source.host.p || (file->stands_for && !source.stands_for.p))
		return ts_fail_nomem(err);
	return run_read_source(run, &source, options, err);
}

/*
 * A memory profile or a compiler's log beside the session's. A file that only has the right name
 * (Python's own profiler writes them too) is passed over. The readers keep copies, so the input may
 * be closed.
 */
static enum ts_status read_extra(struct ts_run *run, const struct ts_hostfile *file, bool is_named,
				 const struct ts_run_options *options, struct ts_error *err)
{
	struct ts_input input = TS_INPUT_INIT;
	struct source source = { .host = ts_bytes_of(file->host) };
	enum ts_status st = ts_input_open(&input, file->path, err);

	if (st)
		return st;
	source.bytes = input.bytes;
	source.file = ts_arena_copy(&run->profile.arena, ts_bytes_of(file->path));
	if (!source.file.p)
		st = ts_fail_nomem(err);
	else if (is_named ? run_is_log(&source) : run_is_extra(&source))
		st = run_read_source(run, &source, options, err);
	else if (is_named)
		st = ts_fail(err, TS_FORMAT,
			     "%s: byte 0: not a log of PyTorch's compiler (it is what "
			     "TORCH_TRACE=FOLDER writes)",
			     file->path);
	ts_input_release(&input);
	return st;
}

static enum ts_status read_extras(struct ts_run *run, const struct ts_session *session,
				  const struct ts_run_options *options, struct ts_error *err)
{
	for (size_t i = 0; i < session->nr_extras; i++) {
		struct ts_error problem = TS_ERROR_INIT;
		enum ts_status st = read_extra(run, &session->extras[i], false, options, &problem);

		if (st == TS_NOMEM)
			return ts_fail_nomem(err);
		if (st && note_problem(run, &problem, err))
			return TS_NOMEM;
	}
	return TS_OK;
}

/* Logs that the user named: one that cannot be read is an error. */
static enum ts_status read_torch_logs(struct ts_run *run, const struct ts_run_options *options,
				      struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < options->nr_torch_logs && st == TS_OK; i++) {
		const struct ts_hostfile *files;
		size_t nr;

		st = ts_torch_logs_find(&run->profile.arena, options->torch_logs[i], &files, &nr,
					err);
		for (size_t k = 0; k < nr && st == TS_OK; k++)
			st = read_extra(run, &files[k], true, options, err);
	}
	return st;
}

static enum ts_status run_name_run(struct ts_run *run, const struct ts_session *session,
				   struct ts_error *err)
{
	struct ts_arena *arena = &run->profile.arena;

	if (session->kind != TS_SESSION_DIR)
		return TS_OK;
	run->profile.logdir = ts_arena_copy(arena, ts_bytes_of(session->logdir));
	run->profile.run = ts_arena_copy(arena, ts_bytes_of(session->run));
	run->profile.session = ts_arena_copy(arena, ts_bytes_of(session->session));
	return run->profile.logdir.p && run->profile.run.p && run->profile.session.p
		       ? TS_OK
		       : ts_fail_nomem(err);
}

/* Does the file stand for an empty xplane, while others of the session are none? */
static bool is_mixed_in(const struct ts_session *session, size_t index,
			const struct ts_run_options *options)
{
	bool has_xplane = false;

	for (size_t i = 0; i < session->nr_files; i++)
		has_xplane |= !session->files[i].stands_for;
	return options->no_mix && has_xplane && session->files[index].stands_for;
}

static enum ts_status mixed_in(const struct ts_hostfile *file, struct ts_error *err)
{
	return ts_fail(err, TS_UNSUPPORTED,
		       "%s: empty: its host has a trace alone, which is not annotated beside "
		       "xplanes (name %s)",
		       file->stands_for, file->path);
}

enum ts_status ts_run_read(struct ts_run *run, const struct ts_session *session,
			   const struct ts_run_options *options, struct ts_error *err)
{
	size_t nr_read = 0;
	enum ts_status st = ts_staged_hold(&run->staged, session, options->meter, err);

	TS_ASSERT(run && session && options);
	if (st)
		return st;
	ts_staged_next(session, options->next);
	run->inputs = calloc(session->nr_files + 1, sizeof(*run->inputs));
	if (!run->inputs)
		return ts_fail_nomem(err);
	st = run_name_run(run, session, err);
	if (st)
		return st;
	for (; run->nr_inputs < session->nr_files; run->nr_inputs++)
		run->inputs[run->nr_inputs] = (struct ts_input)TS_INPUT_INIT;
	for (size_t i = 0; i < session->nr_files; i++) {
		struct ts_error problem = TS_ERROR_INIT;

		st = is_mixed_in(session, i, options)
			     ? mixed_in(&session->files[i], &problem)
			     : run_read_file(run, session, i, options, &problem);
		if (st == TS_NOMEM)
			return ts_fail_nomem(err);
		if (st == TS_OK) {
			nr_read++;
			continue;
		}
		ts_input_release(&run->inputs[i]);
		if (session->nr_files == 1) {
			if (err)
				*err = problem;
			return st;
		}
		if (note_problem(run, &problem, err))
			return TS_NOMEM;
	}
	if (nr_read == 0)
		return ts_fail(err, TS_FORMAT, "%s: none of its %zu profiles could be read",
			       session->dir, session->nr_files);
	st = read_extras(run, session, options, err);
	return st ? st : read_torch_logs(run, options, err);
}

enum ts_status ts_run_open(struct ts_run *run, const struct ts_session *session,
			   const struct ts_run_options *options, struct ts_error *err)
{
	enum ts_status st = ts_run_read(run, session, options, err);

	if (st == TS_OK)
		st = ts_profile_finish(&run->profile, err);
	if (st == TS_OK && options->part && !ts_part_is_all(options->part))
		st = ts_profile_narrow(&run->profile, options->part, err);
	return st;
}

enum ts_status ts_run_open_bytes(struct ts_run *run, const struct ts_run_bytes *items, size_t nr,
				 const struct ts_run_options *options, struct ts_error *err)
{
	struct ts_error first = TS_ERROR_INIT;
	size_t nr_read = 0;

	TS_ASSERT(run && items && options);
	for (size_t i = 0; i < nr; i++) {
		struct source source = { .bytes = items[i].bytes,
					 .file = items[i].file,
					 .host = items[i].host,
					 .reader = items[i].reader,
					 .is_one_of_many = nr > 1 };
		struct ts_error problem = TS_ERROR_INIT;
		enum ts_status st = run_read_source(run, &source, options, &problem);

		if (st == TS_NOMEM)
			return ts_fail_nomem(err);
		if (st && !first.status)
			first = problem;
		if (st && note_problem(run, &problem, err))
			return TS_NOMEM;
		nr_read += st == TS_OK;
	}
	if (nr_read == 0)
		return ts_fail(err, TS_FORMAT, "%s", nr ? first.text : "no profile was given");
	return ts_profile_finish(&run->profile, err);
}

/* Bytes that are no module: what they are, where that is known. */
static enum ts_status no_module(struct ts_bytes bytes, const char *path, enum ts_status st,
				struct ts_error *err)
{
	const struct ts_foreign *foreign = st == TS_FORMAT ? ts_foreign_of(bytes) : NULL;

	if (!foreign)
		return st;
	if (err)
		*err = (struct ts_error)TS_ERROR_INIT;
	st = ts_foreign_refuse(foreign, err);
	return ts_fail_at(err, st, "%s", path);
}

enum ts_status ts_run_open_module(struct ts_run *run, const char *path, struct ts_error *err)
{
	struct ts_profile *profile = &run->profile;
	uint64_t program_id =
		profile->nr_modules + 1; /* a proto alone has no program id of a run */
	struct ts_input input = TS_INPUT_INIT;
	struct ts_hlo_module module, *kept;
	struct ts_bytes file;
	enum ts_status st = ts_input_open(&input, path, err);

	TS_ASSERT(run && path);
	if (st)
		return st;
	memset(&module, 0, sizeof(module));
	file = ts_arena_copy(&profile->arena, ts_bytes_of(input.path));
	st = file.p ? ts_hlo_read(&profile->arena, input.bytes, file, &module, err)
		    : ts_fail_nomem(err);
	if (st)
		st = no_module(input.bytes, path, st, err); /* the story names the file */
	module.proto = run->keeps_protos ? ts_arena_copy(&profile->arena, input.bytes)
					 : (struct ts_bytes){ NULL, 0 };
	ts_input_release(&input); /* the module is a copy */
	if (st)
		return st;
	kept = ts_profile_add_module(profile, program_id);
	if (!kept || (run->keeps_protos && !module.proto.p))
		return ts_fail_nomem(err);
	*kept = module;
	return TS_OK;
}

static struct ts_rates run_rates_of(const struct ts_device *device)
{
	struct ts_chip_query query = {
		.kind = device->kind,
		.vendor = device->vendor,
		.is_gpu = device->is_gpu,
		.has_megacore = device->has_megacore,
		.clock_khz = device->clock_khz,
		.core_count = device->core_count,
		.cc_major = device->cc_major,
		.cc_minor = device->cc_minor,
		.memory_bytes = device->hbm_bytes,
	};
	double vmem = device->vmem_read_bytes_per_s;

	return ts_rates_of(&query, device->peak_flops_per_s, device->hbm_bytes_per_s, vmem,
			   device->hbm_bytes);
}

static enum ts_status make_rates(struct ts_run *run, struct ts_bytes chip, struct ts_error *err)
{
	struct ts_chip_query query = {
		.kind = chip,
		.has_megacore = true, /* modules are compiled for both cores as one */
		.clock_khz = -1,
		.core_count = -1,
		.cc_major = -1,
		.cc_minor = -1,
		.memory_bytes = -1
	};

	run->rates = calloc(run->profile.nr_devices + 1, sizeof(*run->rates));
	if (!run->rates)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < run->profile.nr_devices; i++)
		run->rates[i] = run_rates_of(&run->profile.devices[i]);
	run->rates[run->profile.nr_devices] = ts_rates_of(&query, NAN, NAN, NAN, -1);
	return TS_OK;
}

/* Of a text that is none, nothing is known. */
static void run_set_topology(const struct ts_run *run, const struct ts_run_options *options,
			     struct ts_context *ctx)
{
	struct ts_bytes name = ts_profile_predicted(&run->profile);

	if (name.n == 0 && run->profile.nr_devices == 0)
		name = options->topology;
	if (ts_topology_parse(name, run->rates[0].name, &ctx->topology))
		ctx->topology_name = name;
}

/* Results come in the order of needs; readers of a report expect that of analysis/list.h. */
static void order_results(struct ts_results *results)
{
	size_t at = 0;

	for (size_t a = 0; ts_analyses[a]; a++)
		for (size_t i = at; i < results->nr; i++)
			if (strcmp(results->items[i]->name, ts_analyses[a]->schema->name) == 0) {
				struct ts_result *found = results->items[i];

				memmove(&results->items[at + 1], &results->items[at],
					(i - at) * sizeof(struct ts_result *));
				results->items[at++] = found;
				break;
			}
}

/* The analyses of launches and waits on a host look across its lines. */
static bool wants_interleaved(const struct ts_profile *profile,
			      const struct ts_run_options *options)
{
	bool wanted = options->interleave;

	for (size_t i = 0; i < profile->nr_devices; i++)
		wanted |= ts_device_has_streams(&profile->devices[i]);
	for (uint32_t i = 0; i < profile->nr_hosts; i++)
		wanted |= ts_reader_of(profile, i)->is_trace;
	return wanted;
}

/* The slices of one host have room in memory. States that are saved have all that is theirs with them. */
static struct ts_arena *kept_of(struct ts_run *run, const struct ts_run_options *options)
{
	bool is_memory =
		options->overlay_budget == 0 || run->profile.nr_hosts < 2 || options->states;

	return is_memory ? NULL : &run->kept;
}

size_t ts_run_budget(const struct ts_profile *profile, const struct ts_run_options *options)
{
	size_t share = options->track_items / TS_MAX(profile->nr_hosts, 1);

	if (options->overlay_budget > 0 || options->track_items == 0)
		return options->overlay_budget;
	return TS_MAX(share, 1);
}

enum ts_status ts_run_context(struct ts_run *run, const struct ts_run_options *options,
			      struct ts_context *ctx, struct ts_error *err)
{
	enum ts_status st = make_rates(run, options->chip, err);

	TS_ASSERT(run && options && ctx);
	*ctx = (struct ts_context){
		.profile = &run->profile,
		.analyses = ts_analyses,
		.outline = &run->outline,
		.settings = options->settings,
		.overlay_budget = ts_run_budget(&run->profile, options),
		.tree_rows = options->tree_rows ? options->tree_rows : TREE_ROWS,
		.max_ops = options->max_ops,
		.max_steps = options->max_steps,
		.steps = &run->steps,
		.has_interleaved = wants_interleaved(&run->profile, options),
		.no_python = options->no_python,
		.rates = run->rates,
	};
	if (st == TS_OK && run->profile.nr_devices == 0 && run->rates[0].name)
		ctx->chip = &run->rates[0];
	if (st == TS_OK)
		run_set_topology(run, options, ctx);
	ctx->libtpu = options->libtpu;
	ctx->mesh = options->mesh;
	if (run->profile.nr_devices > 0)
		ctx->libtpu = run->profile.devices[0].libtpu;
	ts_run_steps_release(&run->steps);
	if (st == TS_OK)
		st = ts_run_steps_find(&run->outline.steps, options->settings, options->max_steps,
				       &run->steps, err);
	return st;
}

enum ts_status ts_run_settle(struct ts_run *run, struct ts_error *err)
{
	TS_ASSERT(run);
	order_results(&run->results);
	if (run->profile.arena.failed || run->results.arena.failed)
		return ts_fail_nomem(err); /* a text or a list is missing */
	return TS_OK;
}

enum ts_status ts_run_analyse(struct ts_run *run, const struct ts_run_options *options,
			      struct ts_error *err)
{
	struct ts_context ctx;
	struct ts_passes shared = { .results = &run->results,
				    .states = options->states,
				    .meter = options->meter,
				    .halt = options->halt };
	enum ts_status st;

	TS_ASSERT(run && options);
	memset(&ctx, 0, sizeof(ctx));
	run->profile.input_names = options->settings->input_names;
	run->profile.step_mark = options->settings->step_mark;
	st = options->xla_dump ? ts_dumps_join(&run->profile, options->xla_dump, err) : TS_OK;
	if (st == TS_OK)
		st = ts_outline_make(&run->profile, options->nr_threads, &run->outline, err);
	if (st == TS_OK)
		st = ts_launched_make(&run->profile, 0, (uint32_t)run->profile.nr_hosts,
				      options->nr_threads, err);
	if (st == TS_OK)
		st = ts_run_context(run, options, &ctx, err);
	ctx.kept = run->results.kept = kept_of(run, options);
	for (enum ts_pass pass = TS_PASS_FIRST; pass <= TS_PASS_OVERLAY && st == TS_OK; pass++)
		if (pass != TS_PASS_OVERLAY || ctx.overlay_budget > 0)
			st = ts_pass_run(&run->profile, &ctx, pass,
					 pass == TS_PASS_FIRST ? options->counter : NULL, &shared,
					 options->nr_threads, err);
	ts_passes_release(&shared);
	return st ? st : ts_run_settle(run, err);
}
