/* SPDX-License-Identifier: MIT */
/* Names and clocks of ranks, and the manifest's text. */
#include "run/ranks.h"

#include "base/check.h"
#include "base/units.h"
#include "codec/json.h"
#include "io/tracefile.h"
#include "read/seams.h"
#include "result/view.h"
#include "trace/perfetto/perfetto.h"
#include "result/schema/doctor.def"

static const struct ending {
	const char *copy, *member;
} endings[TS_NR_TRACE_KINDS] = {
	[TS_TRACE_JSON] = { TS_ANNOTATED_SUFFIX, ".tpusight.json" },
	[TS_TRACE_PFTRACE] = { TS_ANNOTATED_PFTRACE_SUFFIX, TS_ANNOTATED_PFTRACE_SUFFIX },
};

struct rank {
	struct ts_bytes machine;
	int64_t offset_ns; /* what the common clock reads when the trace's own reads 0 */
};

struct making {
	const struct ts_session *session;
	const struct ts_run *run;
	struct ts_arena *arena;
	struct ts_overlay_rank *files; /* one a trace */
	struct rank *ranks;
	enum ts_trace_kind kind; /* of the copies */
	bool is_day;		 /* the common clock is the time of day */
};

void ts_ranks_release(struct ts_ranks *ranks)
{
	TS_ASSERT(ranks);
	ts_buf_release(&ranks->manifest);
	ts_arena_release(&ranks->arena);
}

static const struct ts_host *run_ranks_host_of(const struct ts_profile *profile, const char *path,
					       uint32_t *index)
{
	for (*index = 0; *index < profile->nr_hosts; ++*index)
		if (ts_bytes_is(profile->hosts[*index].file, path))
			return &profile->hosts[*index];
	return NULL;
}

/* Files */

static bool run_ranks_is_plain(const char *name)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";

	return name[strspn(name, letters)] == '\0';
}

/* As they are, where all of them lie in one folder and can stand in an archive as they are. */
static bool keeps_names(const struct ts_session *session)
{
	bool keeps = session->members == NULL;

	for (size_t i = 0; i < session->nr_files && keeps; i++)
		keeps = run_ranks_is_plain(session->files[i].name);
	return keeps;
}

static enum ts_status name_file(const struct making *making, size_t i, bool keeps,
				struct ts_error *err)
{
	const struct ts_hostfile *file = &making->session->files[i];
	const struct ending *ending = &endings[making->kind];
	struct ts_bytes stem = ts_tracefile_stem(ts_bytes_of(file->name)), copy, name;
	int folder = (int)(strlen(file->path) - strlen(file->name));

	copy = ts_arena_printf(making->arena, "%.*s%.*s%s", folder, file->path, TS_ARG(stem),
			       ending->copy);
	if (keeps)
		name = ts_arena_printf(making->arena, "%.*s%s", TS_ARG(stem), ending->member);
	else
		name = ts_arena_printf(making->arena, "%zu%s", i, ending->member);
	making->files[i].copy = (const char *)copy.p;
	making->files[i].name = (const char *)name.p;
	return copy.p && name.p ? TS_OK : ts_fail_nomem(err);
}

/* Machines */

static bool run_ranks_is_taken(const struct making *making, size_t nr, struct ts_bytes name)
{
	bool taken = false;

	for (size_t i = 0; i < nr && !taken; i++)
		taken = ts_bytes_eq(making->ranks[i].machine, name);
	return taken;
}

/* Two traces of one name would become one machine. */
static enum ts_status name_machine(const struct making *making, size_t i,
				   const struct ts_host *host, struct ts_error *err)
{
	struct ts_bytes name = ts_perfetto_machine_name(host, making->arena);

	if (name.n == 0 || run_ranks_is_taken(making, i, name))
		name = ts_arena_printf(making->arena, "%.*s (%s)", TS_ARG(name),
				       making->files[i].name);
	making->ranks[i].machine = name;
	return name.p ? TS_OK : ts_fail_nomem(err);
}

static enum ts_status run_ranks_add_rank(const struct making *making, size_t i, bool keeps,
					 struct ts_error *err)
{
	const struct ts_profile *profile = &making->run->profile;
	const char *path = making->session->files[i].path;
	struct ts_seams seams;
	uint32_t index;
	const struct ts_host *host = run_ranks_host_of(profile, path, &index);
	enum ts_status st;

	if (!host || !ts_seams_of(profile, index, &seams))
		return ts_fail(err, TS_UNSUPPORTED, "%s: no trace that can be annotated", path);
	/* where the trace's own clock reads 0, in the time of the run */
	making->ranks[i].offset_ns = ts_i64_sub(
		0, ts_i64_add(ts_i64_mul(seams.base_us, 1000), seams.base_ps / TS_PS_PER_NS));
	st = name_file(making, i, keeps, err);
	return st ? st : name_machine(making, i, host, err);
}

/* Importers drop what is before time 0, so the clock that reads 0 first may not do it before that. */
static void choose_clock(struct making *making)
{
	const struct ts_profile *profile = &making->run->profile;
	size_t nr = making->session->nr_files;
	int64_t first_ns = INT64_MAX, start_ns = profile->start_unix_ns;

	for (size_t i = 0; i < nr; i++)
		first_ns = TS_MIN(first_ns, making->ranks[i].offset_ns);
	making->is_day = start_ns != TS_UNKNOWN && ts_i64_add(start_ns, first_ns) >= 0;
	if (!making->is_day)
		start_ns = ts_i64_sub(0, TS_MIN(first_ns, 0));
	for (size_t i = 0; i < nr; i++)
		making->ranks[i].offset_ns = ts_i64_add(making->ranks[i].offset_ns, start_ns);
}

/* The manifest */

static struct ts_bytes run_ranks_chip_of(const struct ts_profile *profile)
{
	struct ts_bytes kind = { NULL, 0 };

	for (size_t i = 0; i < profile->nr_devices && kind.n == 0; i++)
		kind = profile->devices[i].kind;
	return kind;
}

/* Behind what ts_overlay_ranks_mark() put; values may be texts and integers. */
static void run_ranks_put_attributes(struct ts_json *json, const struct making *making,
				     const char *version)
{
	const struct ts_profile *profile = &making->run->profile;
	const struct ts_result *doctor = TS_FIND(&making->run->results, doctor);
	double health = ts_value_number(TS_GET(doctor, doctor, health_score));

	ts_json_put_given(json, "tpusight.version", ts_bytes_of(version ? version : ""));
	ts_json_put_given(json, "tpusight.run", profile->run);
	ts_json_put_given(json, "tpusight.session", profile->session);
	ts_json_put_given(json, "tpusight.chip", run_ranks_chip_of(profile));
	if (health >= 0)
		ts_json_put_i64(json, "tpusight.health_score", (int64_t)(health + 0.5));
	ts_json_put_i64(json, "tpusight.rank_count", (int64_t)making->session->nr_files);
}

static void run_ranks_put_file(struct ts_json *json, const struct making *making, size_t i)
{
	ts_json_object(json);
	ts_json_put_given(json, "path", ts_bytes_of(making->files[i].name));
	ts_json_key(json, "machine");
	ts_json_object(json);
	ts_json_put_given(json, "name", making->ranks[i].machine);
	ts_json_object_end(json);
	ts_json_key(json, "clocks");
	ts_json_object(json);
	ts_json_key(json, "sync_to");
	ts_json_object(json);
	ts_json_put_given(json, "file", ts_bytes_of(making->files[0].name));
	ts_json_put_text(json, "clock", making->is_day ? "REALTIME" : "BOOTTIME");
	ts_json_object_end(json);
	ts_json_put_i64(json, "offset_ns", making->ranks[i].offset_ns);
	ts_json_object_end(json);
	ts_json_object_end(json);
}

static void run_ranks_put_files(struct ts_json *json, const struct making *making)
{
	ts_json_key(json, "trace_time");
	ts_json_object(json);
	ts_json_put_text(json, "clock", making->is_day ? "REALTIME" : "BOOTTIME");
	ts_json_put_given(json, "file", ts_bytes_of(making->files[0].name));
	ts_json_object_end(json);
	ts_json_key(json, "files");
	ts_json_array(json);
	for (size_t i = 0; i < making->session->nr_files; i++)
		run_ranks_put_file(json, making, i);
	ts_json_array_end(json);
}

/* The text begins with the mark, inside the attributes. */
static void put_manifest(struct ts_buf *out, const struct making *making, const char *version)
{
	struct ts_json json = ts_json_of(out, TS_JSON_COMPACT);

	ts_overlay_ranks_mark(out, making->session);
	json.depth = 3;
	json.comma = true;
	run_ranks_put_attributes(&json, making, version);
	ts_json_object_end(&json);
	if (making->kind == TS_TRACE_JSON)
		run_ranks_put_files(&json, making);
	ts_json_object_end(&json);
	ts_json_object_end(&json);
}

static enum ts_status run_ranks_make_all(struct making *making, struct ts_error *err)
{
	size_t nr = making->session->nr_files;
	bool keeps = keeps_names(making->session);
	enum ts_status st = TS_OK;

	making->files = ts_arena_array(making->arena, nr, sizeof(*making->files));
	making->ranks = ts_arena_array(making->arena, nr, sizeof(*making->ranks));
	if (!making->files || !making->ranks)
		return ts_fail_nomem(err);
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = run_ranks_add_rank(making, i, keeps, err);
	choose_clock(making);
	return st;
}

static const char *why_not(const struct ts_session *session, const struct ts_run *run)
{
	const struct ts_profile *profile = &run->profile;
	struct ts_seams seams;

	if (run->nr_problems > 0 || profile->nr_hosts != session->nr_files)
		return "not all traces of the run could be read";
	for (uint32_t i = 0; i < profile->nr_hosts; i++)
		if (!ts_seams_of(profile, i, &seams))
			return "the hosts of one session are in one file: perfetto_trace.pftrace";
	return profile->nr_hosts < 2 ? "the run has one trace" : NULL;
}

enum ts_status ts_ranks_make(struct ts_ranks *ranks, const struct ts_session *session,
			     const struct ts_run *run, enum ts_trace_kind kind, const char *version,
			     struct ts_error *err)
{
	struct making making = {
		.session = session, .run = run, .kind = kind, .arena = &ranks->arena
	};
	enum ts_status st;

	TS_ASSERT(ranks && session && run);
	ranks->plan.why_not = why_not(session, run);
	if (ranks->plan.why_not)
		return TS_OK;
	st = run_ranks_make_all(&making, err);
	if (st)
		return st;
	put_manifest(&ranks->manifest, &making, version);
	ranks->plan = (struct ts_overlay_ranks){ .manifest = ts_buf_bytes(&ranks->manifest),
						 .ranks = making.files,
						 .nr_ranks = session->nr_files };
	return ranks->manifest.failed ? ts_fail_nomem(err) : TS_OK;
}
