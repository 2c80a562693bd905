/* SPDX-License-Identifier: MIT */
/* trim: a copy of a profile with a part of its events. */
#include "cli/cli.h"

#include "base/units.h"
#include "cli/copies.h"
#include "codec/term.h"
#include "copy/trim.h"
#include "run/outline.h"
#include "run/run.h"
#include "io/file.h"
#include "read/reader.h"

struct trim_options {
	struct ts_trim_choice choice;
	const char *output;
	enum ts_copy_form copy;
	bool json;
};

struct trimming {
	const struct ts_cli *cli;
	const struct trim_options *own;
	const struct ts_session *session;
	struct ts_run *run;
	struct ts_trim trim;
	bool several, damaged; /* or what was done could not be printed */
	bool is_empty;	       /* nothing of the last file lies in the cut */
};

static const struct ts_input *input_of(const struct ts_run *run, struct ts_bytes file)
{
	for (size_t i = 0; i < run->nr_inputs; i++)
		if (run->inputs[i].path && ts_bytes_is(file, run->inputs[i].path))
			return &run->inputs[i];
	return NULL;
}

static const char *base_name(struct ts_bytes path)
{
	const char *slash = strrchr((const char *)path.p, '/');

	return slash ? slash + 1 : (const char *)path.p;
}

static struct ts_copy_name cmd_trim_name_of(const struct trimming *trimming, const char *file)
{
	return (struct ts_copy_name){ .output = trimming->own->output,
				      .word = "trimmed",
				      .several = trimming->several,
				      .run = trimming->session->run,
				      .session = trimming->session->session,
				      .file = file };
}

static bool cmd_trim_is_packed(const char *path)
{
	return ts_bytes_ends(ts_bytes_of(path), ".gz");
}

/* Where one of the two files is packed and the other is not, the sizes say which. */
static bool cmd_trim_print_written(const struct ts_cli *cli, const char *path,
				   const struct ts_trim_report *report, uint64_t nr_bytes,
				   const struct ts_input *input)
{
	const struct trim_options *own = cli->own;
	const struct ts_copied copied = { path, (int64_t)nr_bytes, (int64_t)input->bytes.n,
					  (int64_t)report->nr_kept,
					  (int64_t)(report->nr_kept + report->nr_dropped) };
	bool differ = cmd_trim_is_packed(path) != cmd_trim_is_packed(input->path);
	char size[TS_UNIT_MAX], whole[TS_UNIT_MAX];
	struct ts_buf out = TS_BUF_INIT;
	bool good;

	if (own->json)
		return ts_copied_print(&copied);
	if (cli->quiet)
		return true;
	ts_term_text(&out, ts_bytes_of(path));
	ts_buf_printf(&out, ": %llu of %llu events, %s%s of %s%s\n",
		      (unsigned long long)report->nr_kept,
		      (unsigned long long)(report->nr_kept + report->nr_dropped),
		      ts_fmt_bytes(size, (double)nr_bytes),
		      differ && cmd_trim_is_packed(path) ? " packed" : "",
		      ts_fmt_bytes(whole, (double)input->bytes.n),
		      differ && cmd_trim_is_packed(input->path) ? " packed" : "");
	if (report->nr_mended > 0)
		ts_buf_printf(&out,
			      "%llu place%s that strict readers of JSON refuse %s mended in it "
			      "(--copy=exact keeps them)\n",
			      (unsigned long long)report->nr_mended,
			      report->nr_mended == 1 ? "" : "s",
			      report->nr_mended == 1 ? "is" : "are");
	good = ts_print(ts_buf_bytes(&out));
	ts_buf_release(&out);
	return good;
}

static void cmd_trim_complain_of_damage(struct trimming *trimming, const char *path,
					const struct ts_trim_report *report)
{
	struct ts_error err = TS_ERROR_INIT;

	trimming->damaged |= report->damage.text[0] || report->nr_left_out > 0;
	if (report->damage.text[0]) {
		ts_fail(&err, TS_FORMAT, "%s: %s (what stands before it was copied)", path,
			report->damage.text);
		ts_complain(err.text);
	}
	if (report->nr_left_out > 0) {
		ts_fail(&err, TS_FORMAT, "%s: %llu events without a time were left out", path,
			(unsigned long long)report->nr_left_out);
		ts_complain(err.text);
	}
}

static enum ts_status trim_file(struct trimming *trimming, uint32_t host,
				const struct ts_input *input, struct ts_copy_out *out,
				struct ts_trim_report *report, struct ts_error *err)
{
	const struct ts_profile *profile = &trimming->run->profile;

	if (ts_reader_of(profile, host)->form == TS_FORM_TRACE)
		return ts_trim_trace(&trimming->trim, host, input->bytes, input->mapped, out,
				     report, err);
	return ts_trim_xplane(&trimming->trim, host, input->bytes, out, report, err);
}

static enum ts_status trim_host(struct trimming *trimming, uint32_t host, struct ts_error *err)
{
	struct ts_bytes file = trimming->run->profile.hosts[host].file;
	const struct ts_input *input = input_of(trimming->run, file);
	struct ts_copy_name name = cmd_trim_name_of(trimming, base_name(file));
	struct ts_copy_place place = TS_COPY_PLACE_INIT;
	struct ts_copy_out out = { .file = TS_NEWFILE_INIT };
	struct ts_trim_report report;
	enum ts_status st = ts_copy_place_find(&place, trimming->cli, trimming->session, &name,
					       input->path, err);

	if (st == TS_OK)
		st = ts_copy_open(&out, place.path, &place.use, err);
	if (st == TS_OK)
		st = trim_file(trimming, host, input, &out, &report, err);
	trimming->is_empty = st == TS_OK && report.nr_kept == 0;
	if (trimming->is_empty)
		st = ts_fail(err, TS_USAGE, "%s: nothing lies in this cut, so nothing was written",
			     input->path);
	if (st == TS_OK)
		st = ts_input_check(input, err);
	if (st == TS_OK)
		st = ts_copy_commit(&out, err);
	if (st == TS_OK) {
		cmd_trim_complain_of_damage(trimming, input->path, &report);
		trimming->damaged |= !cmd_trim_print_written(trimming->cli, place.path, &report,
							     out.file.nr_bytes, input);
		st = ts_copy_place_done(&place, trimming->cli, err);
	}
	ts_copy_release(&out);
	ts_copy_place_release(&place);
	return st;
}

/* Memory profiles are of one moment: as they are. */
static enum ts_status copy_extra(struct trimming *trimming, const struct ts_hostfile *extra,
				 struct ts_error *err)
{
	struct ts_copy_name name = cmd_trim_name_of(trimming, extra->name);
	struct ts_input input = TS_INPUT_INIT;
	struct ts_copy_place place = TS_COPY_PLACE_INIT;
	enum ts_status st = ts_input_open_plain(&input, extra->path, err);

	if (st == TS_OK)
		st = ts_copy_place_find(&place, trimming->cli, trimming->session, &name,
					extra->path, err);
	if (st == TS_OK)
		st = ts_newfile_save_for(place.path, input.bytes, &place.use, err);
	if (st == TS_OK)
		st = ts_copy_place_done(&place, trimming->cli, err);
	ts_input_release(&input);
	ts_copy_place_release(&place);
	return st;
}

/* One more file: where nothing of it lies in the cut, something of the others may. */
static enum ts_status trim_next(struct trimming *trimming, uint32_t host, size_t *nr_written,
				struct ts_error *empty, struct ts_error *err)
{
	struct ts_error story = TS_ERROR_INIT;
	enum ts_status st = trim_host(trimming, host, &story);

	*nr_written += st == TS_OK;
	if (trimming->is_empty && empty->text[0])
		ts_complain(empty->text);
	if (trimming->is_empty) {
		*empty = story;
		return TS_OK;
	}
	if (st)
		*err = story;
	return st;
}

/* Each file that is left out is named; when none is left, that is the error. */
static enum ts_status trim_hosts(struct trimming *trimming, struct ts_error *err)
{
	const struct ts_profile *profile = &trimming->run->profile;
	const struct ts_session *session = trimming->session;
	struct ts_error empty = TS_ERROR_INIT;
	enum ts_status st = TS_OK;
	size_t nr_written = 0;

	for (uint32_t h = 0; h < profile->nr_hosts && st == TS_OK; h++)
		if (trimming->trim.hosts[h] && input_of(trimming->run, profile->hosts[h].file))
			st = trim_next(trimming, h, &nr_written, &empty, err);
	if (st == TS_OK && nr_written == 0 && !empty.text[0])
		return ts_fail(err, TS_UNSUPPORTED, "%s: there is nothing in it to be trimmed",
			       session->files[0].path);
	if (st == TS_OK && nr_written == 0) {
		*err = empty;
		return TS_USAGE;
	}
	if (empty.text[0]) {
		ts_complain(empty.text);
		trimming->damaged = true;
	}
	for (size_t i = 0; i < session->nr_extras && st == TS_OK; i++)
		if (!trimming->own->choice.host && !trimming->own->choice.plane)
			st = copy_extra(trimming, &session->extras[i], err);
	return st;
}

/* Before the first file is written. */
static enum ts_status refuse_records(const struct trimming *trimming, struct ts_error *err)
{
	const struct ts_profile *profile = &trimming->run->profile;

	for (uint32_t h = 0; h < profile->nr_hosts; h++)
		if (trimming->trim.hosts[h] && ts_reader_of(profile, h)->form == TS_FORM_RECORDS)
			return ts_copy_refuse_records(profile->hosts[h].file, "trimmed", err);
	return TS_OK;
}

static enum ts_status cmd_trim_plan(struct trimming *trimming, struct ts_error *err)
{
	struct ts_run *run = trimming->run;
	enum ts_status st = TS_OK;

	if (run->nr_unpacked > 0)
		return ts_fail(err, TS_UNSUPPORTED,
			       "%s: a profile inside an archive is not trimmed (unpack it first)",
			       trimming->session->files[0].path);
	if (run->profile.nr_hosts == 0 || ts_reader_of(&run->profile, 0)->form == TS_FORM_OTHER)
		return ts_fail(
			err, TS_UNSUPPORTED,
			"%s: not an xplane and not a trace in JSON (nothing else can be trimmed)",
			trimming->session->files[0].path);
	if (trimming->own->choice.has_steps)
		st = ts_outline_make(&run->profile, trimming->cli->nr_threads, &run->outline, err);
	if (st == TS_OK)
		st = ts_trim_plan(&trimming->trim, &run->profile, &run->outline.steps,
				  &trimming->own->choice, err);
	trimming->trim.exact = trimming->own->copy == TS_COPY_EXACT;
	return st ? st : refuse_records(trimming, err);
}

static enum ts_status trim_session(const struct ts_cli *cli, const struct ts_session *session,
				   bool several, struct ts_outcome *outcome, struct ts_error *err)
{
	const struct trim_options *own = cli->own;
	struct ts_run_options options = { .nr_threads = cli->nr_threads,
					  .settings = cli->settings,
					  .no_stats = !own->choice.has_steps };
	struct ts_run run;
	struct trimming trimming = {
		.cli = cli, .own = own, .session = session, .run = &run, .several = several
	};
	enum ts_status st;

	ts_run_init(&run);
	st = ts_run_open(&run, session, &options, err);
	for (size_t i = 0; i < run.nr_problems; i++)
		ts_complain(run.problems[i]);
	if (st == TS_OK)
		st = cmd_trim_plan(&trimming, err);
	if (st == TS_OK) {
		st = trim_hosts(&trimming, err);
		ts_outcome_of_output(outcome, st);
	}
	outcome->damaged |= trimming.damaged || run.nr_problems > 0;
	ts_trim_release(&trimming.trim);
	ts_run_release(&run);
	return st;
}

static enum ts_exit trim_all(const struct ts_cli *cli, const struct ts_runs *runs, size_t nr_bad)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_outcome outcome = { .nr_bad = nr_bad };

	for (size_t i = 0; i < runs->nr_sessions; i++) {
		struct ts_progress progress;
		enum ts_status st;

		ts_progress_begin(&progress, cli, runs->sessions[i].dir);
		st = trim_session(cli, &runs->sessions[i], runs->nr_sessions > 1, &outcome, &err);
		ts_progress_end(&progress);
		ts_outcome_note(&outcome, st, &err);
	}
	return ts_outcome_exit(&outcome);
}

static enum ts_exit run_trim(struct ts_cli *cli)
{
	const struct trim_options *own = cli->own;
	struct ts_runs runs = TS_RUNS_INIT;
	struct ts_error err = TS_ERROR_INIT;
	enum ts_exit code;
	enum ts_status st;
	size_t nr_bad = 0;

	if (!(own->choice.has_steps || own->choice.host || own->choice.plane ||
	      own->choice.from_ps > INT64_MIN || own->choice.to_ps < INT64_MAX)) {
		ts_complain("say what to keep (--steps, --from-ms, --to-ms, --host or --plane)");
		return TS_EXIT_USAGE;
	}
	if (own->choice.from_ps >= own->choice.to_ps) {
		ts_complain("--from-ms is not before --to-ms");
		return TS_EXIT_USAGE;
	}
	st = ts_find_sessions(cli, &runs, &nr_bad, &err);
	if (st)
		ts_complain(err.text);
	code = st ? ts_exit_of(st) : trim_all(cli, &runs, nr_bad);
	ts_runs_release(&runs);
	return code;
}

/* "10-19", "7" */
static enum ts_status set_steps(void *field, const char *value, struct ts_error *err)
{
	struct ts_trim_choice *choice = field;
	struct ts_bytes text = ts_bytes_of(value), first, last;
	size_t dash = ts_bytes_find(text, "-");

	first = last = ts_bytes_cut(text, 0, dash);
	if (dash < text.n)
		last = ts_bytes_cut(text, dash + 1, text.n);
	choice->has_steps = true;
	if (!ts_bytes_u64(first, &choice->first_step) || !ts_bytes_u64(last, &choice->last_step) ||
	    choice->first_step > choice->last_step)
		return ts_fail(err, TS_USAGE, "%s is not a step (7) or a range of steps (10-19)",
			       value);
	return TS_OK;
}

static const struct trim_options defaults = {
	.choice = { .from_ps = INT64_MIN, .to_ps = INT64_MAX },
};

#define OWN	  struct trim_options
#define MOST_MS	  9e9
#define PS_PER_MS ((double)TS_PS_PER_MS)
static const struct ts_option options[] = {
	TS_OPT_CALL(OWN, choice, "steps", "A-B", set_steps,
		    "keep the steps A to B, as the report numbers them"),
	TS_OPT_DECIMAL(OWN, choice.from_ps, "from-ms", "MS", -MOST_MS, MOST_MS, PS_PER_MS,
		       "a time in ms", "keep what is later than MS ms after the run's start"),
	TS_OPT_DECIMAL(OWN, choice.to_ps, "to-ms", "MS", -MOST_MS, MOST_MS, PS_PER_MS,
		       "a time in ms", "keep what is earlier than MS ms after the run's start"),
	TS_OPT_TEXT(OWN, choice.host, "host", 0, "NAME",
		    "keep the hosts of this name (* and ? stand for anything)"),
	TS_OPT_TEXT(OWN, choice.plane, "plane", 0, "NAME",
		    "keep the planes of this name (/device:TPU:0, '/device:*')"),
	TS_OPT_COPY_FORM(OWN, copy),
	TS_OPT_FLAG(OWN, json, "json", 0, "print a line of JSON for each file"),
	TS_OPT_TEXT(
		OWN, output, "output", 'o', "OUT",
		"write to OUT: a file (without an ending it gets PATH's), for sessions a folder",
		.place = TS_PLACE_WRITTEN),
	TS_OPT_END,
};

const struct ts_command ts_command_trim = {
	.name = "trim",
	.summary = "Copy a part of a profile: some steps, some time, some hosts or planes.",
	.arguments = "PATH...",
	.help = "PATH is a session, a log directory, an .xplane.pb file or a trace (.json, "
		".json.gz). The copy is a\n"
		"profile like the first, with the metadata that what is left needs; an event stays "
		"whole if a part of\n"
		"it lies in the cut, and times do not change. The profile itself is not touched. "
		"Without -o a session\n"
		"becomes SESSION.trimmed beside it, a file NAME.trimmed.*; a name that ends in .gz "
		"is packed.",
	.options = options,
	.own_size = sizeof(OWN),
	.defaults = &defaults,
	.needs = TS_WRITES_BESIDE,
	.run = run_trim,
};
