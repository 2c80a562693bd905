/* SPDX-License-Identifier: MIT */
/* The run's outline, back from its parcel. */
#include "pod/mapped_run.h"

#include "analysis/facts/doctor.h"
#include "analysis/settings_list.h"
#include "base/check.h"
#include "base/record.h"
#include "base/siphash.h"
#include "codec/record.h"
#include "run/state.h"

#define TS_NEEDS(X) X(doctor)
#include "analysis/kit/needs.h"

#define TS_SELF struct ts_line_damage
static bool is_damage(const void *self)
{
	return ((const struct ts_line_damage *)self)->text.p != NULL;
}
static TS_RECORD_WITH(damage, TS_VALID_IF(is_damage),
		      TS_INDEX_KNOWN(1, line, TS_BY_LINE, TS_BY_HAND), TS_TEXT(2, text),
		      TS_NUMBER(3, offset, TS_BY_HAND), TS_NUMBER(4, nr_events, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_line_damages
static TS_RECORD(damages,
		 TS_RECORDS_CAP(1, items, nr, cap, damage_record, TS_BY_NOTHING, TS_BY_HAND));
#undef TS_SELF

/* Thresholds are doubles; here they stand one after the other. */
struct saved_options {
	double *settings;
	size_t nr_settings;
	uint64_t max_ops, max_steps, overlay_budget, max_trace_events;
	bool interleave, no_python, has_max_trace_events;
};

#define TS_SELF struct saved_options
static TS_RECORD(options, TS_ARRAY(1, settings, nr_settings, TS_BY_NOTHING, TS_BY_HAND),
		 TS_NUMBER(2, interleave, TS_BY_HAND), TS_NUMBER(3, no_python, TS_BY_HAND),
		 TS_NUMBER(4, max_ops, TS_BY_HAND), TS_NUMBER(5, max_steps, TS_BY_HAND),
		 TS_NUMBER(6, overlay_budget, TS_BY_HAND),
		 TS_NUMBER(7, has_max_trace_events, TS_BY_HAND),
		 TS_NUMBER(8, max_trace_events, TS_BY_HAND));
#undef TS_SELF

#define NR_SETTINGS (offsetof(struct ts_settings, input_names) / sizeof(double))

void ts_line_damage_note(const struct ts_line_damage *damage, struct ts_profile *profile)
{
	const struct ts_plane *plane = &profile->planes[profile->lines[damage->line].plane];

	TS_ASSERT(damage && profile);
	ts_profile_note_damage(profile,
			       &(struct ts_damage){ .file = profile->hosts[plane->host].file,
						    .offset = damage->offset,
						    .cause = damage->text,
						    .minor = damage->nr_events > 0,
						    .nr_events = damage->nr_events });
}

void ts_line_damages_put(struct ts_buf *out, const struct ts_line_damages *damages)
{
	ts_record_save(&damages_record, damages, out);
}

enum ts_status ts_line_damages_load(struct ts_bytes bytes, struct ts_profile *profile,
				    struct ts_line_damages *damages, struct ts_error *err)
{
	const struct ts_record_limits limits = ts_state_limits(profile);

	return ts_record_load(&damages_record, damages, bytes, &limits, &profile->arena, err);
}

void ts_map_options_put(struct ts_buf *out, const struct ts_map_options *options)
{
	struct saved_options saved = { .settings = (double *)(uintptr_t)options->settings,
				       .nr_settings = NR_SETTINGS,
				       .max_ops = options->max_ops,
				       .max_steps = options->max_steps,
				       .overlay_budget = options->overlay_budget,
				       .has_max_trace_events = options->has_max_trace_events,
				       .max_trace_events = options->max_trace_events,
				       .interleave = options->interleave,
				       .no_python = options->no_python };

	ts_record_save(&options_record, &saved, out);
}

static enum ts_status load_options(struct ts_bytes bytes, struct ts_map_options *options,
				   struct ts_arena *arena, struct ts_error *err)
{
	const struct ts_record_limits limits = { .nr = { 0 } };
	struct saved_options saved = { .nr_settings = 0 };
	struct ts_settings *settings = ts_arena_alloc(arena, sizeof(*settings));
	enum ts_status st;

	if (!settings)
		return ts_fail_nomem(err);
	ts_settings_init(settings);
	st = ts_record_load(&options_record, &saved, bytes, &limits, arena, err);
	options->settings = settings;
	options->interleave = saved.interleave;
	options->no_python = saved.no_python;
	options->max_ops = saved.max_ops;
	options->max_steps = saved.max_steps;
	options->overlay_budget = saved.overlay_budget;
	options->has_max_trace_events = saved.has_max_trace_events;
	options->max_trace_events = saved.max_trace_events;
	if (st == TS_OK && saved.nr_settings != NR_SETTINGS)
		st = ts_fail(err, TS_FORMAT, "it has other thresholds than this program");
	for (size_t i = 0; st == TS_OK && i < NR_SETTINGS; i++)
		if (!ts_settings_set(settings, ts_bytes_of(ts_setting_list[i].name),
				     saved.settings[i]))
			st = ts_fail(err, TS_FORMAT, "a threshold in it is not a threshold");
	ts_record_release(&options_record, &saved);
	return st;
}

static enum ts_status mapped_run_load(struct ts_mapped_run *mapped, struct ts_run *run,
				      const struct ts_parcel *parcel, struct ts_error *err)
{
	struct ts_buf options = TS_BUF_INIT, profile = TS_BUF_INIT;
	enum ts_status st = ts_parcel_unpack(parcel, TS_MAPPED_OPTIONS, &options, err);

	if (st == TS_OK)
		st = ts_parcel_unpack(parcel, TS_MAPPED_PROFILE, &profile, err);
	if (st == TS_OK)
		st = ts_parcel_unpack(parcel, TS_MAPPED_OUTLINE, &mapped->outline, err);
	if (st == TS_OK)
		st = ts_parcel_unpack(parcel, TS_MAPPED_DAMAGE, &mapped->damage, err);
	if (st == TS_OK)
		st = load_options(ts_buf_bytes(&options), &mapped->options, &run->profile.arena,
				  err);
	if (st == TS_OK)
		st = ts_saved_load_profile(ts_buf_bytes(&profile), &run->profile, &mapped->saved,
					   err);
	if (st == TS_OK)
		st = ts_saved_read_modules(&run->profile, &mapped->saved, err);
	ts_buf_release(&options);
	ts_buf_release(&profile);
	return st;
}

static enum ts_status open_parcel(struct ts_mapped_run *mapped, struct ts_run *run,
				  const struct ts_map_input *input, enum ts_parcel_kind kind,
				  struct ts_error *err)
{
	struct ts_parcel parcel = { .nr = 0 };
	enum ts_status st = ts_parcel_open(&parcel, input->bytes, kind, err);

	memset(mapped, 0, sizeof(*mapped));
	mapped->parcel = parcel;
	if (st == TS_OK) {
		mapped->id = kind == TS_PARCEL_RUN ? parcel.id : parcel.head.run;
		st = mapped_run_load(mapped, run, &parcel, err);
	}
	mapped->results_id = kind == TS_PARCEL_RESULTS ? parcel.id : 0;
	if (st == TS_OK && kind == TS_PARCEL_RESULTS)
		st = ts_parcel_unpack(&parcel, TS_MAPPED_RESULTS, &mapped->results, err);
	return ts_map_fail_in(err, st, input->path);
}

enum ts_status ts_mapped_run_open(struct ts_mapped_run *mapped, struct ts_run *run,
				  const struct ts_map_input *input, struct ts_error *err)
{
	TS_ASSERT(mapped && run && input);
	return open_parcel(mapped, run, input, TS_PARCEL_RUN, err);
}

enum ts_status ts_mapped_run_open_results(struct ts_mapped_run *mapped, struct ts_run *run,
					  const struct ts_map_input *input, struct ts_error *err)
{
	TS_ASSERT(mapped && run && input);
	return open_parcel(mapped, run, input, TS_PARCEL_RESULTS, err);
}

static enum ts_status copy_section(struct ts_buf *out, const struct ts_parcel *parcel,
				   size_t number, struct ts_buf *section, struct ts_error *err)
{
	enum ts_status st;

	ts_buf_clear(section);
	st = ts_parcel_unpack(parcel, number, section, err);
	return st ? st : ts_parcel_put(out, ts_buf_bytes(section), err);
}

enum ts_status ts_mapped_run_put_results(struct ts_buf *out, const struct ts_map_input *outline,
					 struct ts_bytes results, struct ts_error *err)
{
	struct ts_buf section = TS_BUF_INIT;
	struct ts_parcel_head head;
	struct ts_parcel parcel;
	enum ts_status st = ts_parcel_open(&parcel, outline->bytes, TS_PARCEL_RUN, err);

	TS_ASSERT(out && outline);
	if (st)
		return ts_map_fail_in(err, st, outline->path);
	head = (struct ts_parcel_head){ .run = parcel.id };
	ts_parcel_begin(out, TS_PARCEL_RESULTS, &head);
	for (size_t i = 0; i < TS_MAPPED_RESULTS && st == TS_OK; i++)
		st = copy_section(out, &parcel, i, &section, err);
	if (st == TS_OK)
		st = ts_parcel_put(out, results, err);
	for (size_t i = TS_MAPPED_RESULTS; i < parcel.nr && st == TS_OK; i++)
		st = copy_section(out, &parcel, i, &section, err);
	ts_parcel_end(out);
	ts_buf_release(&section);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

enum ts_status ts_mapped_run_finish(struct ts_mapped_run *mapped, struct ts_run *run,
				    struct ts_error *err)
{
	struct ts_line_damages damages = { NULL, 0, 0 };
	enum ts_status st = ts_profile_finish(&run->profile, err);

	TS_ASSERT(mapped && run);
	if (st == TS_OK)
		st = ts_saved_load_outline(ts_buf_bytes(&mapped->outline), &run->profile,
					   &run->outline, err);
	if (st == TS_OK)
		st = ts_line_damages_load(ts_buf_bytes(&mapped->damage), &run->profile, &damages,
					  err);
	for (size_t i = 0; st == TS_OK && i < damages.nr; i++)
		ts_line_damage_note(&damages.items[i], &run->profile);
	ts_record_release(&damages_record, &damages);
	return st;
}

enum ts_status ts_mapped_run_bring_steps(const struct ts_mapped_run *mapped, struct ts_run *run,
					 uint32_t host, struct ts_error *err)
{
	size_t first =
		mapped->parcel.kind == TS_PARCEL_RUN ? TS_MAPPED_RESULTS : TS_MAPPED_RESULTS + 1;
	struct ts_buf bytes = TS_BUF_INIT;
	enum ts_status st;

	TS_ASSERT(mapped && run);
	if (!run->outline.steps.rows)
		return TS_OK; /* the outline has them, if there are any */
	st = ts_parcel_unpack(&mapped->parcel, first + host, &bytes, err);
	if (st == TS_OK)
		st = ts_saved_load_steps(ts_buf_bytes(&bytes), &run->outline.steps, host, err);
	ts_buf_release(&bytes);
	return st;
}

enum ts_status ts_mapped_run_load_results(struct ts_mapped_run *mapped, struct ts_run *run,
					  const struct ts_map_input *input,
					  struct ts_saved_known *known, struct ts_error *err)
{
	const void *facts[TS_MAX_ANALYSES] = { NULL };
	const struct ts_doctor_facts *doctor;
	struct ts_result *result;
	enum ts_status st = ts_mapped_run_open_results(mapped, run, input, err);

	TS_ASSERT(known);
	if (st == TS_OK)
		st = ts_mapped_run_finish(mapped, run, err);
	if (st == TS_OK)
		st = ts_saved_load_results(ts_buf_bytes(&mapped->results), &run->profile, facts,
					   known, err);
	if (st)
		return st;
	doctor = facts[ts_id_doctor];
	result = ts_results_add(&run->results, "doctor", "Findings");
	if (!result)
		return ts_fail_nomem(err);
	result->findings = (struct ts_finding *)(uintptr_t)doctor->findings;
	result->nr_findings = doctor->nr_findings;
	return TS_OK;
}

struct ts_run_options ts_mapped_run_options(const struct ts_mapped_run *mapped, size_t nr_threads)
{
	return (struct ts_run_options){ .nr_threads = nr_threads,
					.settings = mapped->options.settings,
					.max_ops = mapped->options.max_ops,
					.max_steps = mapped->options.max_steps,
					.interleave = mapped->options.interleave,
					.no_python = mapped->options.no_python };
}

void ts_mapped_run_release(struct ts_mapped_run *mapped)
{
	TS_ASSERT(mapped);
	ts_saved_run_release(&mapped->saved);
	ts_buf_release(&mapped->outline);
	ts_buf_release(&mapped->damage);
	ts_buf_release(&mapped->results);
	memset(mapped, 0, sizeof(*mapped));
}

enum ts_status ts_map_fail_in(struct ts_error *err, enum ts_status st, const char *path)
{
	TS_ASSERT(path);
	return st && st != TS_NOMEM ? ts_fail_at(err, st, "%s", path) : st;
}

#define PRINT_PARTS 256
#define PRINT_BYTES 4096

uint64_t ts_fingerprint(struct ts_bytes bytes)
{
	static const struct ts_sipkey key = { { UINT64_C(0x7470757369676874), 0x66696c65 } };
	struct ts_siphash hash = { { bytes.n, 0 } };
	size_t step = TS_MAX(bytes.n / PRINT_PARTS, PRINT_BYTES);

	for (size_t at = 0; at < bytes.n; at += step) {
		struct ts_bytes part = ts_bytes_cut(bytes, at, PRINT_BYTES);
		struct ts_sipkey next = { { key.k[0] ^ hash.h[0], key.k[1] ^ hash.h[1] } };

		hash = ts_siphash(&next, part);
	}
	return hash.h[0];
}
