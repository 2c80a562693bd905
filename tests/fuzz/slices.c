/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a profile whose timeline is drawn: at each zoom a lane has at most as many slices as places, in the order
 * of time, inside of what was asked for, and from the index of cells as without it nothing is read that is not there.
 */
#include "run/run.h"
#include "picture/slices.h"
#include "tests/fuzz/mutate/mutator.h"

#define PS_PER_MS INT64_C(1000000000)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(proto)

static enum ts_status check_lane(void *ctx, const struct ts_lane *lane, struct ts_error *err)
{
	const struct ts_slices_wanted *wanted = ctx;

	if (lane->nr == 0 || lane->nr > TS_MAX(wanted->width, 2))
		abort();
	for (size_t i = 0; i < lane->nr; i++) {
		const struct ts_lane_slice *slice = &lane->slices[i];

		if (slice->start_ps < wanted->part.from_ps || slice->end_ps > wanted->part.to_ps ||
		    slice->start_ps > slice->end_ps || slice->nr_events == 0 ||
		    ts_lane_slice_class(slice) > TS_SLICES_NO_CLASS)
			abort();
	}
	return TS_OK;
}

static void draw(const struct ts_slices_index *index)
{
	static const int64_t ends_ps[] = { 1, PS_PER_MS, 1000 * PS_PER_MS, 1000000 * PS_PER_MS };
	static const size_t widths[] = { 1, 7, 1000 };

	for (size_t i = 0; i < TS_NELEM(ends_ps); i++)
		for (size_t k = 0; k < TS_NELEM(widths); k++) {
			struct ts_slices_wanted wanted = { .part = { .from_ps = ends_ps[i] / 3,
								     .to_ps = ends_ps[i] },
							   .width = widths[k] };
			struct ts_error err = TS_ERROR_INIT;

			(void)ts_slices_read(index, &wanted, check_lane, &wanted, &err);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct ts_run_bytes item = { .bytes = { data, n },
					   .file = TS_LIT("fuzz.xplane.pb"),
					   .host = TS_LIT("host") };
	const struct ts_run_options options = { .nr_threads = 1, .no_stats = true };
	struct ts_slices_index *index = NULL;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_run run;

	ts_run_init(&run);
	if (ts_run_open_bytes(&run, &item, 1, &options, &err) == TS_OK &&
	    ts_slices_index_new(&index, &run.profile, TS_NONE, 1, &err) == TS_OK)
		draw(index);
	ts_slices_index_free(index);
	ts_run_release(&run);
	return 0;
}
