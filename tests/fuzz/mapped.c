/* SPDX-License-Identifier: MIT */
/*
 * Files of map and reduce with any bytes in them, as other machines send them. The input is a message: 1 the profile and 2
 * the lines of a file's outline; 3 the outline of a run of that profile; 4 and 5 states of its first and its second pass; 6 its
 * saved results; 7 and 8 the states of the overlay's pass and the tracks of the file; 9 and 10 the steps of two hosts, 11 and 12 the second
 * one's states; 13 what heads say of its trace, and 14 what it has for one. What is inside goes into parcels of its own, so their hashes are right: joined, closed and reported, drawn with
 * what the results say, or refused.
 */
#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "codec/pb.h"
#include "codec/pbw.h"
#include "pod/mapped_run.h"
#include "pod/saved_results.h"
#include "io/scratch.h"
#include "tests/fuzz/mutate/mutator.h"
#include "write/report_json.h"

enum {
	PROFILE = 1,
	LINES,
	OUTLINE,
	FIRST,
	SECOND,
	RESULTS,
	DRAWN,
	TRACKS,
	STEPS,
	STEPS2,
	FIRST2,
	SECOND2,
	TOLD,
	WANTS,
	NR_FIELDS
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(proto)

static bool put(struct ts_buf *parcel, enum ts_parcel_kind kind, const struct ts_parcel_head *head,
		const struct ts_bytes *sections, size_t nr)
{
	enum ts_status st = TS_OK;

	ts_parcel_begin(parcel, kind, head);
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = ts_parcel_put(parcel, sections[i], NULL);
	ts_parcel_end(parcel);
	return st == TS_OK && !parcel->failed;
}

static void report(const struct ts_buf *run_parcel, const struct ts_bytes *fields)
{
	const struct ts_bytes sections[] = {
		fields[FIRST], { NULL, 0 }, fields[SECOND], { NULL, 0 }, fields[WANTS]
	};
	const struct ts_report form = { .generator = "tpusight",
					.version = "0",
					.max_track_items = 1000 };
	const struct ts_bytes more[] = {
		fields[FIRST2], { NULL, 0 }, fields[SECOND2], { NULL, 0 }, fields[WANTS]
	};
	const struct ts_bytes drawn[] = { fields[DRAWN], fields[TRACKS] };
	struct ts_map_input outline = { ts_buf_bytes(run_parcel), "run" }, inputs[3];
	struct ts_buf parcel = TS_BUF_INIT, second = TS_BUF_INIT, tracks = TS_BUF_INIT;
	struct ts_buf json = TS_BUF_INIT, results = TS_BUF_INIT;
	size_t nr = 0;
	struct ts_parcel opened;
	struct ts_run run;

	if (ts_parcel_open(&opened, outline.bytes, TS_PARCEL_RUN, NULL))
		abort();
	ts_run_init(&run);
	if (put(&parcel, TS_PARCEL_STATES, &(struct ts_parcel_head){ .run = opened.id }, sections,
		5))
		inputs[nr++] = (struct ts_map_input){ ts_buf_bytes(&parcel), "states" };
	if (fields[FIRST2].n > 0 &&
	    put(&second, TS_PARCEL_STATES, &(struct ts_parcel_head){ .run = opened.id, .file = 1 },
		more, TS_NELEM(more)))
		inputs[nr++] = (struct ts_map_input){ ts_buf_bytes(&second), "more states" };
	if (fields[TRACKS].n > 0 &&
	    put(&tracks, TS_PARCEL_TRACKS, &(struct ts_parcel_head){ .run = opened.id }, drawn, 2))
		inputs[nr++] = (struct ts_map_input){ ts_buf_bytes(&tracks), "tracks" };
	if (ts_reduce_report(&run, &outline, inputs, nr, fields[WANTS].n > 0 ? &results : NULL,
			     NULL) == TS_OK)
		(void)ts_report_json(&json, &run.results, &form, NULL);
	ts_run_release(&run);
	ts_buf_release(&parcel);
	ts_buf_release(&second);
	ts_buf_release(&tracks);
	ts_buf_release(&json);
	ts_buf_release(&results);
}

static void join(const struct ts_bytes *fields, const struct ts_map_options *options)
{
	struct ts_buf parcel = TS_BUF_INIT, joined = TS_BUF_INIT;
	struct ts_map_input input;

	if (put(&parcel, TS_PARCEL_OUTLINE, &(struct ts_parcel_head){ .run = 0 }, fields + PROFILE,
		2)) {
		input = (struct ts_map_input){ ts_buf_bytes(&parcel), "outline" };
		if (ts_reduce_outline(&input, 1, options, &joined, NULL) == TS_OK)
			report(&joined, fields);
	}
	ts_buf_release(&parcel);
	ts_buf_release(&joined);
}

static void load(const struct ts_bytes *fields, const struct ts_map_options *options)
{
	struct ts_buf parcel = TS_BUF_INIT, settings = TS_BUF_INIT;
	struct ts_bytes sections[] = { { NULL, 0 }, fields[PROFILE], fields[OUTLINE],
				       { NULL, 0 }, fields[STEPS],   fields[STEPS2] };

	ts_map_options_put(&settings, options);
	sections[0] = ts_buf_bytes(&settings);
	if (put(&parcel, TS_PARCEL_RUN, &(struct ts_parcel_head){ .run = 0 }, sections,
		TS_NELEM(sections)))
		report(&parcel, fields);
	ts_buf_release(&parcel);
	ts_buf_release(&settings);
}

/* As map overlay does of a file, here without any lines. */
static void draw(struct ts_mapped_run *mapped, struct ts_run *run)
{
	const struct ts_pass_part part = { .closes = true };
	struct ts_run_options options = ts_mapped_run_options(mapped, 1);
	struct ts_passes shared = { .results = &run->results };
	struct ts_context ctx;
	struct ts_saved_known known = { .is_damaged = false };
	enum ts_status st;

	options.overlay_budget = 1000;
	st = ts_run_context(run, &options, &ctx, NULL);
	for (enum ts_pass pass = TS_PASS_FIRST; pass <= TS_PASS_OVERLAY && st == TS_OK; pass++) {
		if (pass == TS_PASS_OVERLAY)
			st = ts_saved_load_results(ts_buf_bytes(&mapped->results), &run->profile,
						   ctx.facts, &known, NULL);
		if (st == TS_OK)
			st = ts_pass_run_part(&run->profile, &ctx, pass, &part, &shared, 1, NULL);
	}
	ts_saved_known_release(&known);
	ts_passes_release(&shared);
}

/* The trace of the one file, with what heads say of it, made with these results. */
static void join_trace(const struct ts_map_input *results, const struct ts_mapped_run *mapped,
		       const struct ts_bytes *fields)
{
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_scratch scratch = TS_SCRATCH_INIT;
	struct ts_buf parcel = TS_BUF_INIT, told = TS_BUF_INIT;
	uint64_t id = mapped->results_id;
	struct ts_map_input trace;
	struct ts_run run;

	ts_buf_put(&told, fields[TOLD]);
	ts_pbw_u64(&told, 1, id << 1 ^ -(id >> 63)); /* as if made with these */
	ts_parcel_begin(&parcel, TS_PARCEL_TRACE, &(struct ts_parcel_head){ .run = mapped->id });
	(void)ts_parcel_put(&parcel, ts_buf_bytes(&told), NULL);
	ts_parcel_put_plain(&parcel, TS_LIT("rows"));
	ts_parcel_end(&parcel);
	trace = (struct ts_map_input){ ts_buf_bytes(&parcel), "trace" };
	ts_run_init(&run);
	if (!parcel.failed && !told.failed && ts_scratch_open(&scratch, NULL) == TS_OK) {
		file.fd = scratch.fd;
		file.straight = true;
		file.path = (char *)(uintptr_t)"trace";
		(void)ts_reduce_trace(&run, results, &trace, 1, "0", &file, NULL);
	}
	ts_scratch_release(&scratch);
	ts_run_release(&run);
	ts_buf_release(&parcel);
	ts_buf_release(&told);
}

static void load_results(const struct ts_bytes *fields, const struct ts_map_options *options)
{
	struct ts_buf parcel = TS_BUF_INIT, settings = TS_BUF_INIT;
	struct ts_bytes sections[5] = {
		{ NULL, 0 }, fields[PROFILE], fields[OUTLINE], { NULL, 0 }, fields[RESULTS]
	};
	struct ts_mapped_run mapped;
	struct ts_map_input input;
	struct ts_run run;

	ts_map_options_put(&settings, options);
	sections[0] = ts_buf_bytes(&settings);
	memset(&mapped, 0, sizeof(mapped));
	ts_run_init(&run);
	if (put(&parcel, TS_PARCEL_RESULTS, &(struct ts_parcel_head){ .run = 1 }, sections, 5)) {
		input = (struct ts_map_input){ ts_buf_bytes(&parcel), "results" };
		if (ts_mapped_run_open_results(&mapped, &run, &input, NULL) == TS_OK &&
		    ts_mapped_run_finish(&mapped, &run, NULL) == TS_OK)
			draw(&mapped, &run);
		if (fields[TOLD].n > 0)
			join_trace(&input, &mapped, fields);
	}
	ts_mapped_run_release(&mapped);
	ts_run_release(&run);
	ts_buf_release(&parcel);
	ts_buf_release(&settings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ts_bytes fields[NR_FIELDS] = { { NULL, 0 } };
	struct ts_settings thresholds;
	struct ts_map_options options = { .settings = &thresholds, .overlay_budget = 1000 };
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of((struct ts_bytes){ data, n }, &error);

	while (ts_pb_next(&pb))
		if (pb.field < NR_FIELDS)
			fields[pb.field] = ts_pb_bytes(&pb);
	ts_settings_init(&thresholds);
	if (fields[LINES].n > 0)
		join(fields, &options);
	if (fields[OUTLINE].n > 0)
		load(fields, &options);
	if (fields[RESULTS].n > 0)
		load_results(fields, &options);
	return 0;
}
