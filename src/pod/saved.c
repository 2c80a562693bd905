/* SPDX-License-Identifier: MIT */
/* The model's structs by their members: a profile without events, and what follows from it is left out. */
#include "pod/saved.h"

#include "base/check.h"
#include "base/record.h"
#include "codec/pb.h"
#include "codec/pbw.h"
#include "codec/record.h"
#include "read/hlo.h"
#include "read/reader.h"

struct saved_text {
	struct ts_bytes text;
};

#define TS_SELF struct saved_text
static TS_RECORD(text, TS_TEXT(1, text));
#undef TS_SELF

/* A host, with the reader's name and without what its planes say. */
struct saved_host {
	struct ts_host host;
	struct ts_bytes reader;
	struct saved_text *errors, *warnings; /* those that are kept */
	size_t nr_errors, nr_warnings;
	uint64_t all_errors, all_warnings, file_bytes;
};

#define TS_SELF struct saved_host
static TS_RECORD(host, TS_TEXT(1, host.name), TS_TEXT(2, host.file),
		 TS_NUMBER(3, file_bytes, TS_BY_HAND), TS_NUMBER(4, host.start_unix_ns, TS_BY_HAND),
		 TS_NUMBER(5, host.stop_unix_ns, TS_BY_HAND),
		 TS_NUMBER(6, host.mxu_utilization_pct, TS_BY_HAND),
		 TS_NUMBER(7, host.hbm_utilization_pct, TS_BY_HAND),
		 TS_RECORDS(8, errors, nr_errors, text_record, TS_BY_NOTHING, TS_BY_HAND),
		 TS_RECORDS(9, warnings, nr_warnings, text_record, TS_BY_NOTHING, TS_BY_HAND),
		 TS_NUMBER(10, all_errors, TS_BY_HAND), TS_NUMBER(11, all_warnings, TS_BY_HAND),
		 TS_NUMBER(12, host.rank, TS_BY_HAND), TS_NUMBER(13, host.world_size, TS_BY_HAND),
		 TS_NUMBER(14, host.trace_start_ns, TS_BY_HAND),
		 TS_NUMBER(15, host.trace_ps, TS_BY_HAND),
		 TS_NUMBER(16, host.nr_planes, TS_BY_HAND), TS_TEXT(17, reader),
		 TS_TEXT(18, host.stands_for), TS_TEXT(19, host.not_strict),
		 TS_TEXT(20, host.meant), TS_TEXT(21, host.libtpu));
#undef TS_SELF

#define TS_SELF struct ts_plane
static bool is_plane(const void *self)
{
	return ((const struct ts_plane *)self)->kind <= TS_PLANE_OURS;
}
static TS_RECORD_WITH(plane, TS_VALID_IF(is_plane), TS_NUMBER(1, id, TS_BY_HAND),
		      TS_NUMBER(2, pid, TS_BY_HAND), TS_TEXT(3, name),
		      TS_NUMBER(4, kind, TS_BY_HAND), TS_NUMBER(5, nr_lines, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_line
static bool saved_is_line(const void *self)
{
	return ((const struct ts_line *)self)->kind < TS_NR_LINE_KINDS;
}
static TS_RECORD_WITH(line, TS_VALID_IF(saved_is_line), TS_NUMBER(1, id, TS_BY_HAND),
		      TS_TEXT(2, name), TS_NUMBER(3, kind, TS_BY_HAND),
		      TS_NUMBER(4, host_ps, TS_BY_HAND), TS_NUMBER(5, timestamp_ns, TS_BY_HAND),
		      TS_NUMBER(6, nr_events, TS_BY_HAND), TS_NUMBER(7, thread, TS_BY_HAND),
		      TS_NUMBER(8, has_points, TS_BY_HAND), TS_NUMBER(9, repeats, TS_BY_HAND),
		      TS_TEXT(10, unread));
#undef TS_SELF

#define TS_SELF struct ts_device
static TS_RECORD(device, TS_INDEX_KNOWN(1, plane, TS_BY_PLANE, TS_BY_HAND),
		 TS_NUMBER(2, ordinal, TS_BY_HAND), TS_TEXT(3, name), TS_TEXT(4, kind),
		 TS_TEXT(5, vendor), TS_NUMBER(6, is_gpu, TS_BY_HAND),
		 TS_NUMBER(7, peak_flops_per_s, TS_BY_HAND),
		 TS_NUMBER(8, hbm_bytes_per_s, TS_BY_HAND),
		 TS_NUMBER(9, vmem_read_bytes_per_s, TS_BY_HAND),
		 TS_NUMBER(10, vmem_write_bytes_per_s, TS_BY_HAND),
		 TS_NUMBER(11, cmem_read_bytes_per_s, TS_BY_HAND),
		 TS_NUMBER(12, cmem_write_bytes_per_s, TS_BY_HAND),
		 TS_NUMBER(13, hbm_bytes, TS_BY_HAND), TS_NUMBER(14, clock_khz, TS_BY_HAND),
		 TS_NUMBER(15, core_count, TS_BY_HAND), TS_NUMBER(16, cc_major, TS_BY_HAND),
		 TS_NUMBER(17, cc_minor, TS_BY_HAND), TS_NUMBER(18, has_megacore, TS_BY_HAND),
		 TS_NUMBER(19, local_chip_id, TS_BY_HAND), TS_TEXT(20, predicted),
		 TS_NUMBER(21, is_cpu, TS_BY_HAND), TS_NUMBER(22, device_id, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_op
static bool is_op(const void *self)
{
	return ((const struct ts_op *)self)->kind <= TS_OP_STEP;
}
static TS_RECORD_WITH(
	op, TS_VALID_IF(is_op), TS_TEXT(1, name), TS_TEXT(2, text), TS_TEXT(3, category),
	TS_TEXT(4, framework_op), TS_TEXT(5, source), TS_TEXT(6, source_stack), TS_TEXT(7, shape),
	TS_NUMBER(8, program_id, TS_BY_HAND), TS_NUMBER(9, symbol_id, TS_BY_HAND),
	TS_NUMBER(10, has_program, TS_BY_HAND), TS_NUMBER(11, is_remat, TS_BY_HAND),
	TS_NUMBER(12, is_traced, TS_BY_HAND), TS_NUMBER(13, is_event, TS_BY_HAND),
	TS_NUMBER(14, has_variants, TS_BY_HAND), TS_NUMBER(15, kind, TS_BY_HAND),
	TS_NUMBER(16, flops, TS_BY_HAND), TS_NUMBER(17, model_flops, TS_BY_HAND),
	TS_NUMBER(18, bytes_accessed, TS_BY_HAND), TS_NUMBER(19, hbm_read_bytes, TS_BY_HAND),
	TS_NUMBER(20, hbm_write_bytes, TS_BY_HAND), TS_NUMBER(21, onchip_bytes, TS_BY_HAND),
	TS_NUMBER(22, vmem_read_bytes, TS_BY_HAND), TS_NUMBER(23, vmem_write_bytes, TS_BY_HAND),
	TS_NUMBER(24, cmem_read_bytes, TS_BY_HAND), TS_NUMBER(25, cmem_write_bytes, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_damage
static TS_RECORD(damage, TS_TEXT(1, file), TS_NUMBER(2, offset, TS_BY_HAND), TS_TEXT(3, cause),
		 TS_NUMBER(4, minor, TS_BY_HAND), TS_NUMBER(5, of_module, TS_BY_HAND),
		 TS_NUMBER(6, program_id, TS_BY_HAND), TS_NUMBER(7, nr_events, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_site
static TS_RECORD(site, TS_TEXT(1, file), TS_TEXT(2, kind), TS_TEXT(3, device),
		 TS_NUMBER(4, nr_bytes, TS_BY_HAND), TS_NUMBER(5, nr_objects, TS_BY_HAND),
		 TS_NUMBER(6, first_frame, TS_BY_HAND), TS_NUMBER(7, nr_frames, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_frame
static TS_RECORD(frame, TS_TEXT(1, function), TS_TEXT(2, file), TS_NUMBER(3, line, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_compile_id
static TS_RECORD(id, TS_NUMBER(1, autograd, TS_BY_HAND), TS_NUMBER(2, frame, TS_BY_HAND),
		 TS_NUMBER(3, compile, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_torch_break
static TS_RECORD(break, TS_STRUCT(1, id, id_record), TS_NUMBER(2, attempt, TS_BY_HAND),
		 TS_NUMBER(3, rank, TS_BY_HAND), TS_TEXT(4, file), TS_NUMBER(5, line, TS_BY_HAND),
		 TS_TEXT(6, function), TS_TEXT(7, reason), TS_TEXT(8, explanation),
		 TS_TEXT(9, hint), TS_TEXT(10, stack));
#undef TS_SELF

#define TS_SELF struct ts_torch_recompile
static TS_RECORD(recompile, TS_STRUCT(1, id, id_record), TS_NUMBER(2, rank, TS_BY_HAND),
		 TS_TEXT(3, reason));
#undef TS_SELF

#define TS_SELF struct ts_torch_compilation
static TS_RECORD(compilation, TS_STRUCT(1, id, id_record), TS_NUMBER(2, rank, TS_BY_HAND),
		 TS_NUMBER(3, is_backward, TS_BY_HAND), TS_TEXT(4, function), TS_TEXT(5, file),
		 TS_NUMBER(6, line, TS_BY_HAND), TS_NUMBER(7, total_ps, TS_BY_HAND),
		 TS_NUMBER(8, backend_ps, TS_BY_HAND), TS_NUMBER(9, inductor_ps, TS_BY_HAND),
		 TS_NUMBER(10, codegen_ps, TS_BY_HAND), TS_NUMBER(11, nr_ops, TS_BY_HAND),
		 TS_NUMBER(12, nr_guards, TS_BY_HAND), TS_TEXT(13, failure),
		 TS_TEXT(14, recompile_reason), TS_TEXT(15, restart_reason));
#undef TS_SELF

#define TS_SELF struct ts_saved_module
static TS_RECORD(module, TS_NUMBER(1, program_id, TS_BY_HAND), TS_TEXT(2, file), TS_TEXT(3, proto));
#undef TS_SELF

#define TS_SELF struct ts_saved_file
static TS_RECORD(file, TS_TEXT(1, host), TS_TEXT(2, name), TS_TEXT(3, path), TS_TEXT(4, logdir),
		 TS_TEXT(5, run), TS_TEXT(6, session), TS_TEXT(7, problem),
		 TS_NUMBER(8, nr_bytes, TS_BY_HAND), TS_NUMBER(9, print, TS_BY_HAND),
		 TS_NUMBER(10, nr_hosts, TS_BY_HAND), TS_NUMBER(11, is_archive, TS_BY_HAND));
#undef TS_SELF

/* What was saved, beside the profile's own arrays: these are pointed to, not owned, while saving. */
struct saved {
	struct ts_bytes logdir, run, session;
	struct ts_saved_file *files;
	struct saved_host *hosts;
	struct ts_saved_module *modules;
	struct ts_torch_break *breaks;
	struct ts_torch_recompile *recompiles;
	struct ts_torch_compilation *compilations;
	size_t nr_files, nr_hosts, nr_modules, nr_breaks, nr_recompiles, nr_compilations;
	uint64_t all_breaks, all_recompiles, all_compilations, nr_logs;
	struct ts_bytes torch_version, input_names, step_mark;
	uint64_t nr_planes; /* for the limits of what comes behind */
};

#define TS_SELF struct saved
static TS_RECORD(saved, TS_TEXT(1, logdir), TS_TEXT(2, run), TS_TEXT(3, session),
		 TS_RECORDS(4, files, nr_files, file_record, TS_BY_NOTHING, TS_BY_HAND),
		 TS_RECORDS(5, hosts, nr_hosts, host_record, TS_BY_NOTHING, TS_BY_HAND),
		 TS_RECORDS(6, modules, nr_modules, module_record, TS_BY_NOTHING, TS_BY_HAND),
		 TS_RECORDS(7, breaks, nr_breaks, break_record, TS_BY_NOTHING, TS_BY_HAND),
		 TS_RECORDS(8, recompiles, nr_recompiles, recompile_record, TS_BY_NOTHING,
			    TS_BY_HAND),
		 TS_RECORDS(9, compilations, nr_compilations, compilation_record, TS_BY_NOTHING,
			    TS_BY_HAND),
		 TS_NUMBER(10, all_breaks, TS_BY_HAND), TS_NUMBER(11, all_recompiles, TS_BY_HAND),
		 TS_NUMBER(12, all_compilations, TS_BY_HAND), TS_NUMBER(13, nr_logs, TS_BY_HAND),
		 TS_TEXT(14, torch_version), TS_NUMBER(15, nr_planes, TS_BY_HAND),
		 TS_TEXT(16, input_names), TS_TEXT(17, step_mark));
#undef TS_SELF

#define TS_SELF struct ts_profile
static TS_RECORD(profile, TS_LIST(1, planes, plane_record, TS_BY_HAND),
		 TS_LIST(2, lines, line_record, TS_BY_HAND),
		 TS_LIST(3, devices, device_record, TS_BY_HAND),
		 TS_ROOM_LIST(4, ops, op_record, TS_BY_HAND),
		 TS_LIST(5, damage, damage_record, TS_BY_HAND),
		 TS_LIST(6, sites, site_record, TS_BY_HAND),
		 TS_LIST(7, frames, frame_record, TS_BY_HAND),
		 TS_NUMBER_LIST(8, stacked, TS_BY_HAND));
#undef TS_SELF

enum { PART_SAVED = 1, PART_PROFILE };

/* ---- a profile to bytes */

static void take_texts(struct saved_text **to, size_t *nr, const struct ts_bytes *from,
		       size_t nr_all, struct ts_buf *out)
{
	*nr = TS_MIN(nr_all, TS_MAX_MESSAGES);
	*to = calloc(*nr + 1, sizeof(**to));
	for (size_t i = 0; *to && i < *nr; i++)
		(*to)[i].text = from[i];
	out->failed |= !*to;
}

static void take_hosts(struct saved *saved, const struct ts_profile *profile, struct ts_buf *out)
{
	saved->hosts = calloc(profile->nr_hosts + 1, sizeof(*saved->hosts));
	saved->nr_hosts = saved->hosts ? profile->nr_hosts : 0;
	for (size_t h = 0; h < saved->nr_hosts; h++) {
		const struct ts_host *host = &profile->hosts[h];
		struct saved_host *to = &saved->hosts[h];

		to->host = *host;
		to->reader = ts_bytes_of(ts_readers[host->reader]->name);
		to->file_bytes = host->file_bytes;
		to->all_errors = host->nr_errors;
		to->all_warnings = host->nr_warnings;
		take_texts(&to->errors, &to->nr_errors, host->errors, host->nr_errors, out);
		take_texts(&to->warnings, &to->nr_warnings, host->warnings, host->nr_warnings, out);
	}
	out->failed |= !saved->hosts;
}

static void saved_take_modules(struct saved *saved, const struct ts_profile *profile,
			       struct ts_buf *out)
{
	saved->modules = calloc(profile->nr_modules + 1, sizeof(*saved->modules));
	saved->nr_modules = saved->modules ? profile->nr_modules : 0;
	for (size_t i = 0; i < saved->nr_modules; i++)
		saved->modules[i] = (struct ts_saved_module){ profile->modules[i].program_id,
							      profile->modules[i].file,
							      profile->modules[i].proto };
	out->failed |= !saved->modules;
}

static void view_torch_log(struct saved *saved, const struct ts_torch_log *log)
{
	saved->breaks = log->breaks;
	saved->recompiles = log->recompiles;
	saved->compilations = log->compilations;
	saved->nr_breaks = ts_torch_log_kept(log->nr_breaks);
	saved->nr_recompiles = ts_torch_log_kept(log->nr_recompiles);
	saved->nr_compilations = ts_torch_log_kept(log->nr_compilations);
	saved->all_breaks = log->nr_breaks;
	saved->all_recompiles = log->nr_recompiles;
	saved->all_compilations = log->nr_compilations;
	saved->nr_logs = log->nr_files;
	saved->torch_version = log->version;
}

void ts_saved_put_profile(struct ts_buf *out, const struct ts_profile *profile,
			  const struct ts_saved_run *run)
{
	struct saved saved = { .logdir = profile->logdir,
			       .run = profile->run,
			       .session = profile->session,
			       .input_names = profile->input_names,
			       .step_mark = profile->step_mark,
			       .files = run->files,
			       .nr_files = run->nr_files,
			       .nr_planes = profile->nr_planes };
	size_t mark;

	TS_ASSERT(out && profile && run);
	view_torch_log(&saved, &profile->torch_log);
	take_hosts(&saved, profile, out);
	saved_take_modules(&saved, profile, out);
	mark = ts_pbw_begin(out, PART_SAVED);
	ts_record_save(&saved_record, &saved, out);
	ts_pbw_end(out, mark);
	mark = ts_pbw_begin(out, PART_PROFILE);
	ts_record_save(&profile_record, profile, out);
	ts_pbw_end(out, mark);
	for (size_t i = 0; saved.hosts && i < saved.nr_hosts; i++) {
		free(saved.hosts[i].errors);
		free(saved.hosts[i].warnings);
	}
	free(saved.hosts);
	free(saved.modules);
}

/* ---- and back */

/* Two messages, one behind the other. */
static enum ts_status find_parts(struct ts_bytes bytes, struct ts_bytes parts[2],
				 struct ts_error *err)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(bytes, &error);

	while (ts_pb_next(&pb))
		if (pb.field == PART_SAVED || pb.field == PART_PROFILE)
			parts[pb.field - PART_SAVED] = ts_pb_bytes(&pb);
	if (error.cause)
		return ts_fail(err, TS_FORMAT, "%s at byte %zu", error.cause,
			       (size_t)(error.at - bytes.p));
	return TS_OK;
}

static enum ts_status contradicts(struct ts_error *err, const char *what)
{
	return ts_fail(err, TS_FORMAT, "its %s contradict one another", what);
}

static enum ts_status keep_texts(struct ts_arena *arena, struct ts_bytes **to, size_t *nr_to,
				 const struct saved_text *from, size_t nr, uint64_t all,
				 struct ts_error *err)
{
	*to = nr ? ts_arena_array(arena, nr, sizeof(**to)) : NULL;
	for (size_t i = 0; *to && i < nr; i++)
		(*to)[i] = from[i].text;
	*nr_to = all;
	return nr == 0 || *to ? TS_OK : ts_fail_nomem(err);
}

static bool is_reader(struct ts_bytes name, uint32_t *reader)
{
	for (*reader = 0; ts_readers[*reader]; ++*reader)
		if (ts_bytes_is(name, ts_readers[*reader]->name))
			return true;
	return false;
}

static enum ts_status give_hosts(struct ts_profile *profile, const struct saved *saved,
				 struct ts_error *err)
{
	enum ts_status st;

	for (size_t h = 0; h < saved->nr_hosts; h++) {
		const struct saved_host *from = &saved->hosts[h];
		struct ts_host *host = ts_profile_add_host(profile);

		if (!host)
			return ts_fail_nomem(err);
		*host = from->host;
		host->file_bytes = from->file_bytes;
		if (from->nr_errors != TS_MIN(from->all_errors, TS_MAX_MESSAGES) ||
		    from->nr_warnings != TS_MIN(from->all_warnings, TS_MAX_MESSAGES) ||
		    !is_reader(from->reader, &host->reader))
			return contradicts(err, "hosts");
		st = keep_texts(&profile->arena, &host->errors, &host->nr_errors, from->errors,
				from->nr_errors, from->all_errors, err);
		if (st)
			return st;
		st = keep_texts(&profile->arena, &host->warnings, &host->nr_warnings,
				from->warnings, from->nr_warnings, from->all_warnings, err);
		if (st)
			return st;
	}
	return TS_OK;
}

static enum ts_status give_torch_log(struct ts_profile *profile, struct saved *saved,
				     struct ts_error *err)
{
	struct ts_torch_log *log = &profile->torch_log;

	if (saved->nr_breaks != ts_torch_log_kept(saved->all_breaks) ||
	    saved->nr_recompiles != ts_torch_log_kept(saved->all_recompiles) ||
	    saved->nr_compilations != ts_torch_log_kept(saved->all_compilations))
		return contradicts(err, "rows of a compiler's log");
	*log = (struct ts_torch_log){
		.breaks = saved->breaks,
		.recompiles = saved->recompiles,
		.compilations = saved->compilations,
		.nr_breaks = saved->all_breaks,
		.nr_recompiles = saved->all_recompiles,
		.nr_compilations = saved->all_compilations,
		.nr_files = saved->nr_logs,
		.version = saved->torch_version,
		.cap_breaks = saved->nr_breaks,
		.cap_recompiles = saved->nr_recompiles,
		.cap_compilations = saved->nr_compilations,
	};
	saved->breaks = NULL; /* they have moved */
	saved->recompiles = NULL;
	saved->compilations = NULL;
	saved->nr_breaks = saved->nr_recompiles = saved->nr_compilations = 0;
	return TS_OK;
}

/* Planes stand in the order of their hosts, lines in that of their planes. */
static bool link_planes(struct ts_profile *profile)
{
	size_t plane = 0, line = 0;

	for (uint32_t h = 0; h < profile->nr_hosts; h++) {
		struct ts_host *host = &profile->hosts[h];

		host->first_plane = (uint32_t)plane;
		if (host->nr_planes > profile->nr_planes - plane)
			return false;
		for (uint32_t i = 0; i < host->nr_planes; i++, plane++) {
			struct ts_plane *to = &profile->planes[plane];

			to->host = h;
			to->device = to->tensor_core = TS_NONE;
			to->first_line = (uint32_t)line;
			if (to->nr_lines > profile->nr_lines - line)
				return false;
			for (uint32_t k = 0; k < to->nr_lines; k++)
				profile->lines[line++].plane = (uint32_t)plane;
		}
	}
	return plane == profile->nr_planes && line == profile->nr_lines;
}

static bool link_devices(struct ts_profile *profile)
{
	for (uint32_t d = 0; d < profile->nr_devices; d++) {
		struct ts_device *device = &profile->devices[d];
		struct ts_plane *plane = &profile->planes[device->plane];

		if (plane->device != TS_NONE || (d > 0 && device->plane < device[-1].plane))
			return false;
		plane->device = d;
		device->host = plane->host;
	}
	for (size_t i = 0; i < profile->nr_planes; i++)
		if ((profile->planes[i].device != TS_NONE) !=
		    (profile->planes[i].kind == TS_PLANE_TPU ||
		     profile->planes[i].kind == TS_PLANE_GPU))
			return false;
	return true;
}

static bool are_stacks(const struct ts_profile *profile)
{
	for (size_t i = 0; i < profile->nr_sites; i++)
		if (profile->sites[i].first_frame > profile->nr_stacked ||
		    profile->sites[i].nr_frames >
			    profile->nr_stacked - profile->sites[i].first_frame)
			return false;
	for (size_t i = 0; i < profile->nr_stacked; i++)
		if (profile->stacked[i] >= profile->nr_frames)
			return false;
	return true;
}

/* A text that comes again becomes the one that was there: what has one file or line of source is known by
 * where its text lies. */
static enum ts_status share_text(struct ts_strmap *texts, struct ts_bytes **shared, size_t *nr,
				 struct ts_bytes *text, struct ts_error *err)
{
	uint32_t at = text->p ? ts_strmap_find(texts, *text) : TS_NONE;

	if (at != TS_NONE)
		*text = *shared[at];
	else if (text->p) {
		shared[*nr] = text;
		return ts_strmap_set(texts, *text, (uint32_t)(*nr)++) ? TS_OK : ts_fail_nomem(err);
	}
	return TS_OK;
}

static enum ts_status share_texts(struct ts_profile *profile, struct ts_error *err)
{
	struct ts_strmap texts = { NULL, 0, 0 };
	struct ts_bytes **shared = calloc(3 * profile->nr_sites + 2 * profile->nr_frames + 1,
					  sizeof(struct ts_bytes *));
	enum ts_status st = shared ? TS_OK : ts_fail_nomem(err);
	size_t nr = 0;

	for (size_t i = 0; i < profile->nr_sites && st == TS_OK; i++) {
		st = share_text(&texts, shared, &nr, &profile->sites[i].file, err);
		if (st == TS_OK)
			st = share_text(&texts, shared, &nr, &profile->sites[i].kind, err);
		if (st == TS_OK)
			st = share_text(&texts, shared, &nr, &profile->sites[i].device, err);
	}
	for (size_t i = 0; i < profile->nr_frames && st == TS_OK; i++) {
		st = share_text(&texts, shared, &nr, &profile->frames[i].function, err);
		if (st == TS_OK)
			st = share_text(&texts, shared, &nr, &profile->frames[i].file, err);
	}
	ts_strmap_release(&texts);
	free(shared);
	return st;
}

/* Each op has its number by being interned; two of one identity cannot be. */
static enum ts_status saved_link_ops(struct ts_profile *profile, struct ts_error *err)
{
	struct ts_op *drafts = profile->ops;
	size_t nr = profile->nr_ops;
	enum ts_status st = TS_OK;

	profile->ops = NULL;
	profile->nr_ops = profile->cap_ops = 0;
	for (size_t i = 0; i < nr && st == TS_OK; i++) {
		uint32_t at;

		drafts[i].partner = drafts[i].module = drafts[i].instr = TS_NONE;
		at = ts_profile_intern_op(profile, &drafts[i]);
		if (at == TS_NONE)
			st = ts_fail_nomem(err);
		else if (at != i)
			st = contradicts(err, "ops");
	}
	ts_room_free(drafts);
	return st;
}

static enum ts_status saved_give(struct ts_profile *profile, struct saved *saved,
				 struct ts_saved_run *run, struct ts_error *err)
{
	enum ts_status st = give_hosts(profile, saved, err);

	if (st == TS_OK)
		st = give_torch_log(profile, saved, err);
	if (st == TS_OK && (!link_planes(profile) || !link_devices(profile)))
		st = contradicts(err, "planes");
	if (st == TS_OK && !are_stacks(profile))
		st = contradicts(err, "stacks");
	if (st == TS_OK)
		st = share_texts(profile, err);
	if (st == TS_OK)
		st = saved_link_ops(profile, err);
	profile->logdir = saved->logdir;
	profile->run = saved->run;
	profile->session = saved->session;
	profile->input_names = saved->input_names;
	profile->step_mark = saved->step_mark;
	*run = (struct ts_saved_run){ saved->files, saved->modules, saved->nr_files,
				      saved->nr_modules };
	saved->files = NULL; /* they have moved */
	saved->modules = NULL;
	saved->nr_files = saved->nr_modules = 0;
	return st;
}

/* Every host is of a file. */
static bool are_files(const struct ts_saved_run *run, size_t nr_hosts)
{
	size_t nr = 0;

	for (size_t i = 0; i < run->nr_files; i++)
		nr += run->files[i].nr_hosts;
	return nr == nr_hosts;
}

enum ts_status ts_saved_load_profile(struct ts_bytes bytes, struct ts_profile *profile,
				     struct ts_saved_run *run, struct ts_error *err)
{
	struct ts_record_limits limits = { .nr = { 0 } };
	struct ts_bytes parts[2] = { { NULL, 0 }, { NULL, 0 } };
	struct saved saved;
	enum ts_status st;

	TS_ASSERT(profile && run && profile->nr_planes == 0);
	memset(&saved, 0, sizeof(saved));
	st = find_parts(bytes, parts, err);
	if (st == TS_OK)
		st = ts_record_load(&saved_record, &saved, parts[0], &limits, &profile->arena, err);
	limits.nr[TS_BY_PLANE] = saved.nr_planes;
	if (st == TS_OK)
		st = ts_record_load(&profile_record, profile, parts[1], &limits, &profile->arena,
				    err);
	if (st == TS_OK && saved.nr_planes != profile->nr_planes)
		st = contradicts(err, "planes");
	if (st == TS_OK)
		st = saved_give(profile, &saved, run, err);
	if (st == TS_OK && !are_files(run, profile->nr_hosts))
		st = contradicts(err, "files");
	ts_record_release(&saved_record, &saved);
	return st;
}

enum ts_status ts_saved_read_module(struct ts_profile *profile, const struct ts_saved_module *from,
				    struct ts_error *err)
{
	struct ts_hlo_module module, *kept;
	enum ts_status st;

	TS_ASSERT(profile && from);
	memset(&module, 0, sizeof(module));
	st = ts_hlo_read(&profile->arena, from->proto, from->file, &module, err);
	if (st)
		return st;
	kept = ts_profile_add_module(profile, from->program_id);
	if (!kept)
		return ts_fail_nomem(err);
	*kept = module;
	kept->program_id = from->program_id;
	kept->proto = from->proto;
	return TS_OK;
}

enum ts_status ts_saved_read_modules(struct ts_profile *profile, const struct ts_saved_run *saved,
				     struct ts_error *err)
{
	enum ts_status st = TS_OK;

	TS_ASSERT(profile && saved);
	for (size_t i = 0; i < saved->nr_modules && st == TS_OK; i++)
		st = ts_profile_module_of(profile, saved->modules[i].program_id) == TS_NONE
			     ? ts_saved_read_module(profile, &saved->modules[i], err)
			     : contradicts(err, "modules");
	return st;
}

void ts_saved_run_release(struct ts_saved_run *saved)
{
	TS_ASSERT(saved);
	free(saved->files);
	free(saved->modules);
	memset(saved, 0, sizeof(*saved));
}
