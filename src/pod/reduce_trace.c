/* SPDX-License-Identifier: MIT */
/* The traces of a run's hosts, put together. */
#include "base/check.h"
#include "pod/mapped_run.h"
#include "pod/saved_trace.h"

struct joining {
	struct ts_run *run;
	struct ts_mapped_run mapped;
	const struct ts_map_input *results;
	struct ts_saved_known known;
	const struct ts_map_input **files; /* of each of the run; NULL: not given */
	struct ts_saved_trace *saved;	   /* one a host */
	struct ts_trace_stored *parts;
	enum ts_trace_kind kind; /* of the first that was given */
};

static enum ts_status reduce_trace_open_trace(const struct ts_map_input *input,
					      struct ts_parcel *parcel, struct ts_error *err)
{
	enum ts_status st = ts_parcel_open(parcel, input->bytes, TS_PARCEL_TRACE, err);

	return ts_map_fail_in(err, st, input->path);
}

static enum ts_status reduce_trace_place(struct joining *joining, const struct ts_map_input *input,
					 struct ts_error *err)
{
	const struct ts_saved_run *saved = &joining->mapped.saved;
	struct ts_parcel parcel;
	enum ts_status st = reduce_trace_open_trace(input, &parcel, err);

	if (st)
		return st;
	if (parcel.head.run != joining->mapped.id || parcel.head.file >= saved->nr_files ||
	    saved->files[parcel.head.file].nr_hosts != 1)
		return ts_fail(err, TS_FORMAT,
			       "%s: this trace is not of a file of the run of %s (run tpusight map "
			       "overlay --trace again with these results)",
			       input->path, joining->results->path);
	if (joining->files[parcel.head.file])
		return ts_fail(err, TS_USAGE, "%s and %s are of one file (name each file once)",
			       joining->files[parcel.head.file]->path, input->path);
	joining->files[parcel.head.file] = input;
	return TS_OK;
}

/* By the numbers of its processes (trace/layout.h). */
static bool reduce_trace_is_of_host(const struct ts_trace_told *told, size_t host)
{
	for (size_t i = 0; i < told->nr_processes; i++)
		if ((told->processes[i].order - 1) / TS_TRACE_HOST_NUMBERS != host ||
		    told->processes[i].pid != told->processes[i].order)
			return false;
	return true;
}

/* Of its own host; of the same results and form as all others. */
static enum ts_status reduce_trace_check(const struct joining *joining,
					 const struct ts_map_input *input, size_t host,
					 struct ts_error *err)
{
	const struct ts_saved_trace *saved = &joining->saved[host];

	if (joining->run->profile.nr_hosts > 1 && !reduce_trace_is_of_host(&saved->told, host))
		return ts_fail(err, TS_FORMAT, "%s: a process in it is not of its host",
			       input->path);
	if (saved->results != joining->mapped.results_id)
		return ts_fail(err, TS_FORMAT,
			       "%s: this trace was made with other results than %s (run tpusight "
			       "map overlay --trace again with these)",
			       input->path, joining->results->path);
	if (host > 0 && saved->kind != joining->kind)
		return ts_fail(err, TS_FORMAT,
			       "%s: this trace has another form than the others (map overlay "
			       "--perfetto: one form for a run)",
			       input->path);
	return TS_OK;
}

static enum ts_status reduce_trace_load(struct joining *joining, size_t file, size_t host,
					struct ts_error *err)
{
	const struct ts_map_input *input = joining->files[file];
	struct ts_saved_trace *saved = &joining->saved[host];
	struct ts_trace_stored *part = &joining->parts[host];
	struct ts_parcel parcel;
	enum ts_status st = reduce_trace_open_trace(input, &parcel, err);

	if (st)
		return st;
	st = ts_saved_trace_load(&parcel, &joining->run->profile.arena, saved, &part->rows, err);
	if (st)
		return ts_map_fail_in(err, st, input->path);
	st = reduce_trace_check(joining, input, host, err);
	joining->kind = saved->kind;
	part->told = saved->told;
	return st;
}

static enum ts_status load_all(struct joining *joining, struct ts_error *err)
{
	const struct ts_saved_run *saved = &joining->mapped.saved;
	enum ts_status st = TS_OK;
	size_t host = 0;

	for (size_t i = 0; i < saved->nr_files && st == TS_OK; i++) {
		if (saved->files[i].nr_hosts == 0)
			continue;
		if (!joining->files[i])
			return ts_fail(err, TS_NOTFOUND,
				       "the trace of %.*s is missing (run tpusight map overlay "
				       "--trace on it, and name the traces of all files)",
				       TS_ARG(saved->files[i].path));
		st = reduce_trace_load(joining, i, host++, err);
	}
	return st;
}

static enum ts_status reduce_trace_write_all(struct joining *joining, struct ts_newfile *file,
					     const char *version, struct ts_error *err)
{
	const struct ts_trace_joint joint = { .parts = joining->parts,
					      .facts = joining->known.facts,
					      .nr_facts = joining->known.nr_facts,
					      .story = joining->known.story,
					      .nr_story = joining->known.nr_story };
	const struct ts_trace_options options = { .form = ts_trace_form(joining->kind),
						  .nr_threads = 1,
						  .version = version };
	struct ts_run *run = joining->run;
	struct ts_trace_plan plan;
	enum ts_status st = ts_trace_plan_init(&plan, &run->profile, err);

	if (st)
		return st;
	plan.wants = &joining->known.wants;
	st = ts_trace_plan_close(&plan, 0, err);
	if (st == TS_OK)
		st = ts_trace_join(file, &run->profile, &run->results, &plan, &joint, &options,
				   NULL, err);
	ts_trace_plan_release(&plan);
	return st;
}

enum ts_status ts_reduce_trace(struct ts_run *run, const struct ts_map_input *results,
			       const struct ts_map_input *traces, size_t nr, const char *version,
			       struct ts_newfile *file, struct ts_error *err)
{
	struct joining joining = { .run = run, .results = results };
	enum ts_status st;

	TS_ASSERT(run && results && file && (traces || nr == 0));
	st = ts_mapped_run_load_results(&joining.mapped, run, results, &joining.known, err);
	if (st == TS_OK) {
		joining.files =
			calloc(joining.mapped.saved.nr_files + 1, sizeof(struct ts_map_input *));
		joining.saved = calloc(run->profile.nr_hosts + 1, sizeof(*joining.saved));
		joining.parts = calloc(run->profile.nr_hosts + 1, sizeof(*joining.parts));
		if (!joining.files || !joining.saved || !joining.parts)
			st = ts_fail_nomem(err);
	}
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = reduce_trace_place(&joining, &traces[i], err);
	if (st == TS_OK)
		st = load_all(&joining, err);
	if (st == TS_OK)
		st = reduce_trace_write_all(&joining, file, version, err);
	for (size_t i = 0; joining.saved && i < run->profile.nr_hosts; i++)
		ts_saved_trace_release(&joining.saved[i]);
	free(joining.saved);
	free(joining.parts);
	free(joining.files);
	ts_saved_known_release(&joining.known);
	ts_mapped_run_release(&joining.mapped);
	return st;
}
