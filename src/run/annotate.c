/* SPDX-License-Identifier: MIT */
/* A session's way into its annotation. */
#include "run/annotate.h"

#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "base/check.h"
#include "base/buf.h"
#include "run/annotated.h"
#include "run/ranks.h"
#include "read/stream.h"
#include "io/tracefile.h"
#include "overlay/cache.h"
#include "read/reader.h"
#include "trace/perfetto/sql.h"
#include "io/scratch.h"
#include "write/report_json.h"
#include "result/schema/doctor.def"

/* The JSON that viewers take has a limit in practice; Perfetto's own form is for all there is. */
static const struct trace_kind {
	const struct ts_perfetto_form *form;
	const char *file;
	uint64_t max_events; /* where the user gives no number; 0: all */
} trace_kinds[TS_NR_TRACE_KINDS] = {
	[TS_TRACE_JSON] = { &ts_perfetto_json, TS_TRACE_FILE, TS_MAX_TRACE_EVENTS },
	[TS_TRACE_PFTRACE] = { &ts_perfetto_pb, TS_PFTRACE_FILE, 0 },
};

const struct ts_perfetto_form *ts_trace_form(enum ts_trace_kind kind)
{
	TS_ASSERT(kind < TS_NR_TRACE_KINDS);
	return trace_kinds[kind].form;
}

uint64_t ts_trace_budget(enum ts_trace_kind kind, bool is_given, uint64_t max_events)
{
	TS_ASSERT(kind < TS_NR_TRACE_KINDS);
	return is_given ? max_events : trace_kinds[kind].max_events;
}

/* The work on one session. */
struct job {
	struct ts_annotation *one;
	const struct ts_session *session;
	const struct ts_annotate_options *options;
	struct ts_trace_plan plan;
	struct ts_stand before;
	struct ts_buf key;
	struct trace_file {
		struct job *job;
		enum ts_trace_kind kind;
	} files[TS_NR_TRACE_KINDS];
};

void ts_annotation_init(struct ts_annotation *one)
{
	TS_ASSERT(one);
	memset(one, 0, sizeof(*one));
	ts_run_init(&one->run);
	one->report = (struct ts_overlay_report)TS_OVERLAY_REPORT_INIT;
	for (int i = 0; i < TS_NR_TRACE_KINDS; i++)
		one->traces[i].file = trace_kinds[i].file;
}

void ts_annotation_release(struct ts_annotation *one)
{
	TS_ASSERT(one);
	ts_overlay_report_release(&one->report);
	ts_run_release(&one->run);
}

/* Hosts whose annotations go to WHERE. */
static size_t nr_annotated(const struct ts_profile *profile, enum ts_annotate_where where)
{
	size_t nr = 0;

	for (uint32_t i = 0; i < profile->nr_hosts; i++)
		nr += ts_reader_of(profile, i)->annotate == where;
	return nr;
}

static enum ts_status run_annotate_write_trace(void *ctx, struct ts_newfile *file,
					       struct ts_error *err)
{
	const struct trace_file *trace = ctx;
	struct job *job = trace->job;
	const struct ts_run *run = &job->one->run;
	struct ts_annotated_trace *made = &job->one->traces[trace->kind];
	struct ts_trace_options options = { .form = ts_trace_form(trace->kind),
					    .nr_threads = job->options->nr_threads,
					    .version = job->options->version };
	uint64_t max_events = ts_trace_budget(trace->kind, job->options->has_max_trace_events,
					      job->options->max_trace_events);
	enum ts_status st = ts_trace_plan_close(&job->plan, max_events, err);

	made->made = true;
	return st ? st
		  : ts_trace_write(file, &run->profile, &run->results, &job->plan, &options,
				   &made->report, err);
}

/* What is made of a session's traces, one of each kind a file. */
struct copy_job {
	struct job *job;
	uint32_t host;
	const char *source;
};

static enum ts_status run_annotate_write_copy(void *ctx, struct ts_newfile *file,
					      struct ts_error *err)
{
	const struct copy_job *copy = ctx;
	struct ts_run *run = &copy->job->one->run;
	struct ts_annotated_options options = { .nr_threads = copy->job->options->nr_threads,
						.version = copy->job->options->version,
						.source = copy->source,
						.exact = copy->job->options->exact_copies };
	enum ts_status st = ts_annotated_write(file, &run->profile, copy->host, &run->results,
					       &options, NULL, err);

	ts_stream_rest(&run->profile, copy->host);
	return st;
}

/* Of all traces together. */
static void run_annotate_add_report(struct ts_annotated_trace *made,
				    const struct ts_trace_report *report)
{
	made->file = "NAME" TS_ANNOTATED_PFTRACE_SUFFIX;
	made->made = true;
	made->report.events_total += report->events_total;
	made->report.events_written += report->events_written;
	made->report.events_left_out += report->events_left_out;
}

/* In Perfetto's own form: made from the profile, as that of an xplane, with this host alone. */
static enum ts_status write_pftrace(void *ctx, struct ts_newfile *file, struct ts_error *err)
{
	const struct copy_job *copy = ctx;
	const struct ts_annotate_options *from = copy->job->options;
	struct ts_run *run = &copy->job->one->run;
	struct ts_trace_options options = { .form = &ts_perfetto_pb,
					    .nr_threads = from->nr_threads,
					    .version = from->version,
					    .source = copy->source };
	struct ts_trace_plan *plan = &copy->job->plan;
	struct ts_trace_report report = { 0 };
	enum ts_status st;

	plan->host = copy->host;
	st = ts_trace_plan_close(plan, from->has_max_trace_events ? from->max_trace_events : 0,
				 err);
	if (st == TS_OK)
		st = ts_trace_write(file, &run->profile, &run->results, plan, &options, &report,
				    err);
	ts_stream_rest(&run->profile, copy->host);
	run_annotate_add_report(&copy->job->one->traces[TS_TRACE_PFTRACE], &report);
	return st;
}

static uint32_t run_annotate_host_of(const struct ts_profile *profile, const char *path)
{
	uint32_t host = 0;

	while (host < profile->nr_hosts && !ts_bytes_is(profile->hosts[host].file, path))
		host++;
	return host;
}

/*
 * COPIES, of each kind one for each file of the session, and JOBS, one for each: but for files that
 * could not be read.
 */
static void plan_copies(struct job *job, struct copy_job *jobs, struct ts_overlay_trace *copies,
			struct ts_overlay_plan *plan)
{
	static enum ts_status (*const writers[])(void *, struct ts_newfile *, struct ts_error *) = {
		[TS_TRACE_JSON] = run_annotate_write_copy, [TS_TRACE_PFTRACE] = write_pftrace
	};
	const struct ts_profile *profile = &job->one->run.profile;
	size_t nr = job->session->nr_files;

	for (size_t i = 0; i < nr; i++) {
		const struct ts_hostfile *file = &job->session->files[i];
		uint32_t host = run_annotate_host_of(profile, file->path);

		if (host == profile->nr_hosts)
			continue;
		jobs[i] = (struct copy_job){ job, host, file->name };
		for (int k = 0; k < TS_NR_TRACE_KINDS; k++)
			copies[k * nr + i] = (struct ts_overlay_trace){ writers[k], &jobs[i] };
	}
	for (int k = 0; k < TS_NR_TRACE_KINDS; k++)
		if (job->options->traces[k])
			plan->copies[k] = copies + k * nr;
}

/* Each of sibling sessions gets the overlays of its own hosts, and the report of all; the first one
 * has the Perfetto files of all. */
static enum ts_status apply_to_all(const struct job *job, const struct ts_overlay_plan *plan,
				   struct ts_error *err)
{
	const struct ts_session *session = job->session;
	struct ts_overlay_options options = { .dry_run = job->options->dry_run,
					      .xprof_version = job->options->xprof_version };
	struct ts_overlay_report *report = &job->one->report;
	struct ts_overlay_plan part = *plan;
	enum ts_status st = TS_OK;

	if (!session->members)
		return ts_overlay_apply(session, plan, &options, report, err);
	for (size_t i = 0; i < session->nr_members; i++) {
		const struct ts_session *member = &session->members[i];
		struct ts_error story = TS_ERROR_INIT;
		enum ts_status one = ts_overlay_apply(member, &part, &options, report, &story);

		if (one && !st) {
			st = one;
			*err = story;
		}
		part.inputs += member->nr_files;
		for (int kind = 0; kind < TS_NR_TRACE_KINDS; kind++)
			if (part.copies[kind])
				part.copies[kind] += member->nr_files;
		memset(part.traces, 0, sizeof(part.traces));
		if (!part.of_traces || !session->owns_folder)
			part.sql = (struct ts_bytes){ NULL, 0 };
		if (part.of_traces && !session->owns_folder)
			part.report_json = (struct ts_bytes){ NULL, 0 }; /* the first has it */
	}
	if (!st && plan->ranks) /* in the folder of the first one */
		st = ts_overlay_apply_ranks(&session->members[0], plan, &options, report, err);
	return st;
}

/* RANKS, where they are wanted; their file is made of the copies. */
static enum ts_status plan_ranks(const struct job *job, struct ts_overlay_plan *plan,
				 struct ts_ranks *ranks, struct ts_error *err)
{
	if (!job->options->ranks)
		return TS_OK;
	plan->ranks = &ranks->plan;
	if (plan->of_traces && !plan->copies[TS_TRACE_JSON] && !plan->copies[TS_TRACE_PFTRACE]) {
		ranks->plan.why_not = "it is made of annotated copies, and none is wanted "
				      "(--perfetto=json)";
		return TS_OK;
	}
	return ts_ranks_make(ranks, job->session, &job->one->run,
			     plan->copies[TS_TRACE_PFTRACE] ? TS_TRACE_PFTRACE : TS_TRACE_JSON,
			     job->options->version, err);
}

static bool wants_any(const struct ts_annotate_options *options)
{
	return options->traces[TS_TRACE_JSON] || options->traces[TS_TRACE_PFTRACE];
}

/* What is complained of must be complained of again. */
static bool can_note(const struct job *job)
{
	const struct ts_run *run = &job->one->run;

	return !job->session->members && !job->key.failed && run->nr_problems == 0 &&
	       run->profile.nr_damage == 0;
}

/* The report: a small one in memory, a large one in a temporary file that is mapped, as it is compared with
 * the one that is there before it is written. */
struct report {
	struct ts_buf text; /* all of it, or its last piece */
	struct ts_scratch scratch;
	struct ts_bytes bytes;
};

static enum ts_status take_piece(void *arg, struct ts_bytes piece, struct ts_error *err)
{
	return ts_scratch_put(arg, piece, err);
}

static enum ts_status run_annotate_make_report(const struct job *job, struct report *report,
					       struct ts_error *err)
{
	struct ts_drain drain = { .take = take_piece, .arg = &report->scratch, .err = err };
	const struct ts_report form = { .generator = "tpusight",
					.version = job->options->version,
					.pretty = true,
					.max_track_items = TS_MAX_TRACK_ITEMS,
					.drain = &drain };
	enum ts_status st = ts_report_json(&report->text, &job->one->run.results, &form, err);

	report->bytes = ts_buf_bytes(&report->text);
	if (st || report->scratch.nr_bytes == 0)
		return st;
	st = ts_scratch_put(&report->scratch, report->bytes, err);
	return st ? st : ts_scratch_map(&report->scratch, &report->bytes, err);
}

static enum ts_status run_annotate_apply(struct job *job, struct ts_error *err)
{
	const struct ts_run *run = &job->one->run;
	struct ts_overlay_plan plan = {
		.profile = &run->profile,
		.results = &run->results,
		.inputs = run->inputs,
		.of_traces = job->one->of_traces,
		.whole = job->session,
		.before = can_note(job) ? &job->before : NULL,
		.key = ts_buf_bytes(&job->key),
		.summary = job->one->summary,
	};
	struct ts_overlay_trace *copies =
		calloc(job->session->nr_files, TS_NR_TRACE_KINDS * sizeof(*copies));
	struct copy_job *jobs = calloc(job->session->nr_files, sizeof(*jobs));
	struct ts_ranks ranks = TS_RANKS_INIT;
	struct report report = { .scratch = TS_SCRATCH_INIT };
	struct ts_buf sql = TS_BUF_INIT;
	enum ts_status st = copies && jobs ? TS_OK : ts_fail_nomem(err);

	for (int i = 0; i < TS_NR_TRACE_KINDS; i++)
		if (job->options->traces[i] && !plan.of_traces)
			plan.traces[i] = (struct ts_overlay_trace){ run_annotate_write_trace,
								    &job->files[i] };
	if (st == TS_OK && plan.of_traces)
		plan_copies(job, jobs, copies, &plan);
	if (st == TS_OK)
		st = plan_ranks(job, &plan, &ranks, err);
	if (st == TS_OK)
		st = run_annotate_make_report(job, &report, err);
	if (wants_any(job->options))
		ts_sql_all(&sql);
	if (st == TS_OK && sql.failed)
		st = ts_fail_nomem(err);
	plan.report_json = report.bytes;
	plan.sql = ts_buf_bytes(&sql);
	job->one->is_applied = st == TS_OK;
	if (st == TS_OK)
		st = apply_to_all(job, &plan, err);
	ts_ranks_release(&ranks);
	ts_buf_release(&report.text);
	ts_scratch_release(&report.scratch);
	ts_buf_release(&sql);
	free(copies);
	free(jobs);
	return st;
}

/* Was everything read from one file, from its beginning to its end? */
static enum ts_status run_annotate_check_inputs(const struct ts_annotation *one,
						struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < one->run.nr_inputs && st == TS_OK; i++)
		st = ts_input_check(&one->run.inputs[i], err);
	return st;
}

static struct ts_stand_summary summary_of(const struct ts_results *results)
{
	const struct ts_result *doctor = TS_FIND(results, doctor);

	return (struct ts_stand_summary){ ts_value_number(TS_GET(doctor, doctor, health_score)),
					  doctor ? (int64_t)doctor->nr_findings : 0 };
}

static enum ts_status run_annotate_analyse(struct job *job, struct ts_error *err)
{
	struct ts_annotation *one = job->one;
	struct ts_run_options options = { .nr_threads = job->options->nr_threads,
					  .settings = job->options->settings,
					  .meter = job->options->meter,
					  .max_ops = job->options->max_ops,
					  .max_steps = job->options->max_steps,
					  .overlay_budget =
						  (size_t)job->options->max_overlay_events };
	struct ts_duration_counter counter;
	enum ts_status st = TS_OK;

	one->of_traces =
		one->run.profile.nr_hosts > 0 &&
		nr_annotated(&one->run.profile, TS_ANNOTATE_COPY) == one->run.profile.nr_hosts;
	if (one->of_traces ? job->options->traces[TS_TRACE_PFTRACE] : wants_any(job->options)) {
		st = ts_trace_plan_init(&job->plan, &one->run.profile, err);
		job->plan.slices_alone = one->of_traces;
		counter = ts_trace_plan_counter(&job->plan);
		options.counter = &counter;
	}
	if (st == TS_OK)
		st = ts_run_analyse(&one->run, &options, err);
	if (st == TS_OK)
		st = run_annotate_check_inputs(one, err);
	one->is_analysed = st == TS_OK;
	one->summary = summary_of(&one->run.results);
	return st;
}

static enum ts_status cannot_annotate(const struct ts_session *session, struct ts_error *err)
{
	const char *path = session->files[0].path;

	if (strcmp(path, "-") == 0)
		return ts_fail(err, TS_USAGE,
			       "standard input cannot be annotated (name a file; tpusight "
			       "report reads standard input)");
	return ts_fail(err, TS_UNSUPPORTED,
		       "%s: no plain file, so it cannot be annotated (name a profile, a "
		       "session or a log directory)",
		       path);
}

/*
 * Where an annotation goes is known from the names, to the strip that takes it out as well: a file that
 * is not what its name says is refused.
 */
static enum ts_status run_annotate_check_names(const struct job *job, struct ts_error *err)
{
	const struct ts_profile *profile = &job->one->run.profile;

	for (size_t i = 0; i < job->session->nr_files; i++) {
		const struct ts_hostfile *file = &job->session->files[i];
		struct ts_bytes name = ts_bytes_of(file->name);
		uint32_t host = run_annotate_host_of(profile, file->path);
		bool is_trace = host < profile->nr_hosts &&
				ts_reader_of(profile, host)->annotate == TS_ANNOTATE_COPY;

		if (host == profile->nr_hosts)
			continue; /* it could not be read */
		if (is_trace && ts_xplanefile_is(name))
			return ts_fail(err, TS_UNSUPPORTED,
				       "%s: a trace, by what is in it (rename it to NAME.json)",
				       file->path);
		if (!is_trace && ts_tracefile_is_named(name))
			return ts_fail(err, TS_UNSUPPORTED,
				       "%s: an xplane, by what is in it (rename it to "
				       "HOST" TS_XPLANE_SUFFIX ")",
				       file->path);
	}
	return TS_OK;
}

/* Refuses a file that has no place for an annotation, or not for the kind that is wanted. */
static enum ts_status can_annotate(const struct job *job, struct ts_error *err)
{
	const struct ts_session *session = job->session;
	const struct ts_run *run = &job->one->run;
	const struct ts_profile *profile = &run->profile;
	const char *path = session->files[0].path;
	size_t nr_xplanes = nr_annotated(profile, TS_ANNOTATE_BEHIND),
	       nr_traces = nr_annotated(profile, TS_ANNOTATE_COPY);

	if (run->nr_unpacked > 0)
		return ts_fail(err, TS_UNSUPPORTED,
			       "%s: a profile inside an archive cannot be annotated "
			       "(unpack it first; tpusight report reads it)",
			       path);
	if (nr_annotated(profile, TS_ANNOTATE_NOT) > 0 || profile->nr_hosts == 0)
		return ts_fail(
			err, TS_UNSUPPORTED,
			"%s: only xplanes and traces are annotated (tpusight report reads it)",
			path);
	if (nr_xplanes > 0 && nr_traces > 0)
		return ts_fail(err, TS_UNSUPPORTED,
			       "%s: xplanes and traces are not annotated as one run (leave out "
			       "--join-sessions)",
			       path);
	for (size_t i = 0; nr_traces > 0 && i < run->nr_inputs; i++)
		if (ts_trace_is_ours(run->inputs[i].bytes, &ts_perfetto_json))
			return ts_fail(err, TS_UNSUPPORTED,
				       "%s: made by TPUsight from an xplane that is gone "
				       "(profile again)",
				       session->files[i].path);
	return TS_OK;
}

static void put_xprof_version(struct ts_buf *key, const char *given)
{
	struct ts_buf found = TS_BUF_INIT;

	if (given)
		ts_buf_puts(key, given);
	else
		ts_cache_installed(getenv("PATH"), getenv("HOME"), &found);
	ts_buf_put(key, ts_buf_bytes(&found));
	key->failed |= found.failed;
	ts_buf_release(&found);
}

/* What an annotation depends on beside the files. */
static void run_annotate_put_key(struct ts_buf *key, const struct ts_session *session,
				 const struct ts_annotate_options *options)
{
	const char *const texts[] = { options->version, session->dir, session->logdir, session->run,
				      session->session };

	for (size_t i = 0; i < TS_NELEM(texts); i++)
		ts_buf_printf(key, "%s%c", texts[i], '\0');
	ts_buf_printf(key, "%d %d %llu %d %d %llu ", session->kind, session->owns_folder,
		      (unsigned long long)options->max_overlay_events, options->ranks,
		      options->has_max_trace_events, (unsigned long long)options->max_trace_events);
	ts_buf_printf(key, "%zu %zu %d ", options->max_ops, options->max_steps,
		      options->exact_copies);
	for (int i = 0; i < TS_NR_TRACE_KINDS; i++)
		ts_buf_puts(key, options->traces[i] ? "1" : "0");
	for (const struct ts_setting *setting = ts_setting_list; setting->name; setting++)
		ts_buf_printf(key, " %a", ts_settings_get(options->settings, setting));
	ts_buf_put(key, options->settings->input_names);
	ts_buf_putc(key, ' ');
	ts_buf_put(key, options->settings->step_mark);
	ts_buf_putc(key, ' ');
	put_xprof_version(key, options->xprof_version);
}

bool ts_annotation_stands(struct ts_annotation *one, const struct ts_session *session,
			  const struct ts_annotate_options *options)
{
	struct ts_buf key = TS_BUF_INIT;

	TS_ASSERT(one && session && options);
	run_annotate_put_key(&key, session, options);
	one->stands = !options->dry_run && !key.failed &&
		      ts_stand_holds(session, ts_buf_bytes(&key), &one->report, &one->summary);
	ts_buf_release(&key);
	return one->stands;
}

static enum ts_status run_annotate_annotate(struct ts_annotation *one,
					    const struct ts_session *session,
					    const struct ts_annotate_options *options,
					    struct ts_error *err)
{
	struct ts_run_options read_options = { .nr_threads = options->nr_threads,
					       .settings = options->settings,
					       .next = options->next,
					       .wants_strict = true,
					       .no_mix = true };
	struct job job = { .one = one, .session = session, .options = options };
	enum ts_status st;

	TS_ASSERT(one && session && options);
	for (int i = 0; i < TS_NR_TRACE_KINDS; i++)
		job.files[i] = (struct trace_file){ &job, i };
	if (session->kind == TS_SESSION_STREAM)
		return cannot_annotate(session, err);
	run_annotate_put_key(&job.key, session, options);
	st = job.key.failed ? ts_fail_nomem(err) : ts_stand_look(&job.before, session, err);
	if (st == TS_OK)
		st = ts_run_open(&one->run, session, &read_options, err);
	if (st == TS_OK)
		st = can_annotate(&job, err);
	if (st == TS_OK)
		st = run_annotate_check_names(&job, err);
	if (st == TS_OK)
		st = run_annotate_analyse(&job, err);
	/*
	 * An xplane whose bytes are damaged is not touched: the ends of its planes are not certain.
	 * A trace is only read, and its copy is closed where it ends.
	 */
	if (st == TS_OK && !one->of_traces && ts_profile_is_damaged(&one->run.profile))
		st = ts_fail(err, TS_FORMAT, "%s: nothing was written", session->dir);
	if (st == TS_OK)
		st = run_annotate_apply(&job, err);
	if (st == TS_OK && one->run.nr_problems > 0)
		st = ts_fail(err, TS_FORMAT, "%s: %zu profiles could not be read", session->dir,
			     one->run.nr_problems);
	if (st == TS_FORMAT) { /* changed by another program just now */
		struct ts_error story = TS_ERROR_INIT;

		if (run_annotate_check_inputs(one, &story)) {
			*err = story;
			st = story.status;
		}
	}
	ts_trace_plan_release(&job.plan);
	ts_stand_release(&job.before);
	ts_buf_release(&job.key);
	return st;
}

struct staging {
	struct ts_annotation *one;
	const struct ts_annotate_options *options;
};

static enum ts_status annotate_staged(void *ctx, const struct ts_session *session,
				      struct ts_error *err)
{
	const struct staging *staging = ctx;

	return run_annotate_annotate(staging->one, session, staging->options, err);
}

static void seal(void *ctx, const struct ts_session *session)
{
	const struct staging *staging = ctx;
	struct ts_buf key = TS_BUF_INIT;

	run_annotate_put_key(&key, session, staging->options);
	if (!key.failed)
		ts_stand_seal(session, ts_buf_bytes(&key));
	ts_buf_release(&key);
}

static void annotate_again(void *ctx)
{
	const struct staging *staging = ctx;

	ts_annotation_release(staging->one);
	ts_annotation_init(staging->one);
}

enum ts_status ts_annotate(struct ts_annotation *one, const struct ts_session *session,
			   const struct ts_annotate_options *options, struct ts_error *err)
{
	struct staging staging = { one, options };
	struct ts_staged_job job = { .session = session,
				     .dry_run = options->dry_run,
				     .meter = options->meter,
				     .work = annotate_staged,
				     .again = annotate_again,
				     .seal = seal,
				     .ctx = &staging };
	enum ts_status st;

	TS_ASSERT(one && session && options);
	st = ts_staged_do(&job, err);
	one->push = job.push;
	return st;
}
