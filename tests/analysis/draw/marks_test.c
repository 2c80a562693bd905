/* SPDX-License-Identifier: MIT */
/* Marks: what is drawn over the timeline, row by row, and that slices never overlap. */
#include "result/schema/marks.def"
#include "run/state.h"
#include "tests/analysis/doctor/doctor_given.h"

/* One state a line, fed with segments in blocks, merged in order: as a pass does it. */
struct segment {
	uint32_t op;
	int64_t start_ms, end_ms;
};

static void feed(struct given *run, void *sum, uint32_t line, const struct segment *segments,
		 size_t nr, size_t nr_a_block)
{
	const struct ts_analysis *marks = &ts_analysis_marks;
	struct ts_error err = TS_ERROR_INIT;
	void *state = ts_state_new(marks);
	uint32_t op[GIVEN_MAX];
	int64_t start[GIVEN_MAX], end[GIVEN_MAX];

	assert_true(marks->wants(&run->ctx, &run->profile.lines[line]));
	assert_int_equal(marks->open(state, &run->ctx, &run->profile.lines[line], &err), TS_OK);
	for (size_t i = 0; i < nr; i += nr_a_block) {
		struct ts_block block = { .profile = &run->profile,
					  .line = &run->profile.lines[line],
					  .line_index = line,
					  .segment_op = op,
					  .segment_start_ps = start,
					  .segment_end_ps = end };

		for (size_t j = i; j < TS_MIN(i + nr_a_block, nr); j++, block.nr_segments++) {
			op[j - i] = segments[j].op;
			start[j - i] = segments[j].start_ms * MS;
			end[j - i] = segments[j].end_ms * MS;
		}
		assert_int_equal(marks->block(state, &run->ctx, &block, &err), TS_OK);
	}
	assert_int_equal(marks->merge(sum, state, &run->ctx, &err), TS_OK);
	ts_state_free(marks, &state);
}

static const struct ts_result *when_closed(struct given *run, void *sum)
{
	struct ts_result *result = TS_ADD(&run->results, marks);
	struct ts_error err = TS_ERROR_INIT;

	assert_int_equal(ts_analysis_marks.close(sum, &run->ctx, NULL, result, &err), TS_OK);
	ts_state_free(&ts_analysis_marks, &sum);
	for (size_t t = 0; t < result->nr_tracks; t++)
		for (size_t i = 0; i < result->tracks[t].nr_slices; i++) {
			const struct ts_slice *slice = &result->tracks[t].slices[i];

			assert_true(slice->start_ps < slice->end_ps);
			assert_true(slice->own_ps >= 0 &&
				    slice->own_ps <= slice->end_ps - slice->start_ps);
			assert_true(slice->label < result->tracks[t].nr_labels);
			if (i > 0)
				assert_true(slice->start_ps >= slice[-1].end_ps);
		}
	return result;
}

static void *new_sum(void)
{
	void *sum = ts_state_new(&ts_analysis_marks);

	assert_non_null(sum);
	return sum;
}

static const struct ts_track *track_of(const struct ts_result *marks, const char *name,
				       uint32_t device)
{
	for (size_t i = 0; i < marks->nr_tracks; i++)
		if (strcmp(marks->tracks[i].name, name) == 0 && marks->tracks[i].device == device)
			return &marks->tracks[i];
	return NULL;
}

static struct ts_value value_of(const struct ts_label *label, const char *key)
{
	for (size_t i = 0; i < label->nr_args; i++)
		if (strcmp(label->args[i].key, key) == 0)
			return label->args[i].value;
	return ts_null();
}

static struct ts_bytes arg_of(const struct ts_label *label, const char *key)
{
	struct ts_value value = value_of(label, key);

	return value.type == TS_VALUE_TEXT ? value.as.s : (struct ts_bytes){ NULL, 0 };
}

/* SQL asks for args by key: all lower case, without blanks. */
static void assert_keys_are_names(const struct ts_label *label)
{
	for (size_t i = 0; i < label->nr_args; i++)
		assert_int_equal(strspn(label->args[i].key, "abcdefghijklmnopqrstuvwxyz_"),
				 strlen(label->args[i].key));
}

/* Op 0: a collective of 300 of 1000 ms, named by a finding. Op 1: half padding. Op 2: nothing. */
static void given_run(struct given *run, size_t nr_devices)
{
	given_nothing(run);
	given_devices(run, nr_devices);
	run->ctx.overlay_budget = 6000;
	given_op(run,
		 (struct given_op){ "all-reduce", "all-reduce", "", "a.py:3", TS_OP_COLLECTIVE,
				    TS_ASYNC_NONE, TS_BUCKET_COMMUNICATION, 3, 300 * MS, 0, 0 });
	given_op(run, (struct given_op){ "fusion", "loop fusion", "", NULL, TS_OP_COMPUTE,
					 TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 3, 300 * MS, 0, 0 });
	given_op(run, (struct given_op){ "add", "loop fusion", "", NULL, TS_OP_COMPUTE,
					 TS_ASYNC_NONE, TS_BUCKET_COMPUTE, 3, 400 * MS, 0, 0 });
	given_time(run, (const int64_t[TS_NR_BUCKETS]){
				[TS_BUCKET_COMPUTE] = 700, [TS_BUCKET_COMMUNICATION] = 300 });
	given_padding(run, "fusion", NULL, 50, -1);
	given_padding(run, "add", NULL, 4, -1); /* not worth a slice */
}

static const struct segment one_line[] = {
	{ 0, 0, 10 }, { 1, 10, 20 }, { 2, 20, 30 }, { 0, 40, 50 }, { 1, 60, 70 },
};

TEST(each_occurrence_has_a_slice_with_what_a_click_shows)
{
	const struct ts_result *marks;
	const struct ts_track *track;
	struct given run;
	void *sum = new_sum();

	given_run(&run, 1);
	when_examined(&run);

	feed(&run, sum, 0, one_line, TS_NELEM(one_line), 2);
	marks = when_closed(&run, sum);

	track = track_of(marks, "Findings", 0);
	assert_int_equal(track->order, 1);
	assert_int_equal(track->nr_slices, 2);
	assert_int_equal(track->slices[1].start_ps, 40 * MS);
	assert_int_equal(track->slices[1].end_ps, 50 * MS);
	/* its own figures; the sentence is of the run */
	assert_true(ts_bytes_is(track->labels[0].name, "30.0 % of core time: all-reduce"));
	assert_true(ts_bytes_starts(arg_of(&track->labels[0], "title"), "30 % of device time"));
	assert_int_equal(value_of(&track->labels[0], "op_time_ns").as.i, 300000000);
	assert_true(value_of(&track->labels[0], "op_time_pct").as.r == 30);
	assert_int_equal(value_of(&track->labels[0], "op_mxu_pct").type, TS_VALUE_NULL);
	assert_true(ts_bytes_is(arg_of(&track->labels[0], "op"), "all-reduce"));
	assert_true(ts_bytes_is(arg_of(&track->labels[0], "source"), "a.py:3"));
	assert_true(ts_bytes_is(arg_of(&track->labels[0], "severity"), "critical"));
	assert_int_equal(value_of(&track->labels[0], "rank").as.i, 1);
	assert_int_equal(value_of(&track->labels[0], "gain_ns").as.i, 300000000);
	assert_true(value_of(&track->labels[0], "gain_pct").as.r == 30);
	assert_true(value_of(&track->labels[0], "impact_ns").as.i >= 300000000);
	assert_true(arg_of(&track->labels[0], "finding").n > 0);
	assert_keys_are_names(&track->labels[0]);
	assert_true(arg_of(&track->labels[0], "evidence").n > 0);
	assert_true(arg_of(&track->labels[0], "advice").n > 0);

	track = track_of(marks, "Padding", 0);
	assert_int_equal(track->order, 2);
	assert_int_equal(track->nr_slices, 2);
	assert_int_equal(track->nr_labels, 1);
	assert_true(ts_bytes_is(track->labels[0].name, "padding 50 % fusion"));
	assert_true(
		ts_bytes_is(arg_of(&track->labels[0], "suggestion"), "pad dim 1 from 4 to 128"));
	given_release(&run);
}

TEST(a_product_shows_what_it_reaches_of_the_peak)
{
	const struct ts_label *label;
	struct given run;
	void *sum = new_sum();

	given_run(&run, 1);
	run.items[0].mxu_share = 0.02;
	when_examined(&run);

	feed(&run, sum, 0, one_line, TS_NELEM(one_line), 2);
	label = track_of(when_closed(&run, sum), "Findings", 0)->labels;
	assert_true(ts_bytes_is(
		label->name, "30.0 % of core time, 2.0 % of the matrix units' peak: all-reduce"));
	assert_true(value_of(label, "op_mxu_pct").as.r == 2);
	given_release(&run);
}

TEST(slices_of_lines_that_overlap_stand_in_lanes)
{
	static const struct segment first[] = { { 0, 0, 10 }, { 0, 40, 60 } };
	static const struct segment second[] = { { 0, 5, 20 }, { 0, 42, 50 }, { 0, 70, 80 } };
	const struct ts_result *marks;
	const struct ts_track *track;
	struct given run;
	void *sum = new_sum();

	given_run(&run, 2);
	run.profile.lines[1].plane = 0; /* a second stream of device 0 */
	when_examined(&run);

	feed(&run, sum, 0, first, TS_NELEM(first), 8);
	feed(&run, sum, 1, second, TS_NELEM(second), 8);
	marks = when_closed(&run, sum);

	track = track_of(marks, "Findings", 0);
	assert_int_equal(track->nr_slices, 3); /* 0-10, 40-60, 70-80 */
	assert_int_equal(track->slices[0].end_ps, 10 * MS);
	assert_int_equal(track->slices[1].end_ps, 60 * MS);
	assert_int_equal(track->slices[2].start_ps, 70 * MS);
	track = track_of(marks, "Findings (2)", 0);
	assert_int_equal(track->nr_slices, 2); /* 5-20, 42-50 */
	assert_int_equal(track->slices[0].start_ps, 5 * MS);
	assert_int_equal(track->slices[1].end_ps, 50 * MS);
	assert_null(track_of(marks, "Findings (3)", 0));
	assert_null(track_of(marks, "Findings", 1));
	given_release(&run);
}

TEST(budgets_bound_the_slices_and_the_merging_is_told)
{
	struct segment segments[GIVEN_MAX];
	const struct ts_result *marks;
	struct given run;
	void *sum = new_sum();

	given_run(&run, 1);
	run.ctx.overlay_budget = 13; /* 4 for findings: a third */
	when_examined(&run);
	for (size_t i = 0; i < GIVEN_MAX; i++)
		segments[i] = (struct segment){ 0, (int64_t)i * 10, (int64_t)i * 10 + 3 };
	feed(&run, sum, 0, segments, GIVEN_MAX, GIVEN_MAX);
	marks = when_closed(&run, sum);

	assert_true(track_of(marks, "Findings", 0)->nr_slices <= 4);
	assert_true(track_of(marks, "Findings", 0)->nr_folded > 0);
	assert_int_equal(marks->nr_notes, 1);
	given_release(&run);
}

TEST(a_gap_in_a_slow_step_is_shown_inside_it)
{
	const struct ts_result *marks;
	const struct ts_track *track;
	struct given run;
	void *sum = new_sum();

	given_run(&run, 2);
	for (int64_t i = 0; i < 4; i++)
		given_step(&run, i, i * 100, 100, 10, 0);
	given_step(&run, 4, 400, 300, 10, 0);
	given_slow_step(&run, 4, 200, -1); /* 400-700 on all devices */
	run.outline.compile_ps = 6000 * MS;
	assert_true(ts_spans_add(&run.outline.compile, 500 * MS, 600 * MS));
	when_examined(&run);

	marks = when_closed(&run, sum);

	for (uint32_t device = 0; device < 2; device++) {
		track = track_of(marks, "Gaps and slow steps", device);
		assert_int_equal(track->nr_slices, 3);
		assert_int_equal(track->slices[0].label, track->slices[2].label);
		assert_int_not_equal(track->slices[0].label, track->slices[1].label);
		assert_int_equal(track->slices[1].start_ps, 500 * MS);
		assert_int_equal(track->slices[1].end_ps, 600 * MS);
		assert_true(ts_bytes_has(track->labels[track->slices[1].label].name, "ompilation"));
	}
	given_release(&run);
}

TEST(nothing_is_made_without_a_budget_or_without_results)
{
	struct given run;

	given_run(&run, 1);
	run.ctx.overlay_budget = 0;
	when_examined(&run);
	assert_false(ts_analysis_marks.wants(&run.ctx, &run.profile.lines[0]));
	assert_int_equal(when_closed(&run, new_sum())->nr_tracks, 0);
	given_release(&run);

	given_nothing(&run);
	run.ctx.overlay_budget = 100;
	assert_int_equal(when_closed(&run, new_sum())->nr_tracks, 0);
	given_release(&run);
}

TEST(results_do_not_depend_on_how_blocks_are_cut)
{
	size_t nr[2];

	for (size_t cut = 0; cut < 2; cut++) {
		const struct ts_track *track;
		struct given run;
		void *sum = new_sum();

		given_run(&run, 1);
		when_examined(&run);
		feed(&run, sum, 0, one_line, TS_NELEM(one_line), cut ? 1 : 5);
		track = track_of(when_closed(&run, sum), "Findings", 0);
		nr[cut] = track->nr_slices;
		given_release(&run);
	}
	assert_int_equal(nr[0], nr[1]);
}
