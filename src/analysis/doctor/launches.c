/*
 * What a GPU's streams wait for between their kernels: the host, or the kernel before. From the
 * result "hta".
 *
 * Each rank is judged by the stream that is idle the least. The GPU waits when that stream waits,
 * while a stream beside it may have nothing to do.
 */
#include "analysis/doctor/doctor.h"

static const struct ts_table *idle_of(const struct ts_doctor *doctor)
{
	const struct ts_result *hta = ts_results_find(doctor->ctx->results, "hta");

	return hta ? ts_result_find_table(hta, "idle") : NULL;
}

static bool is_busiest(const struct ts_table *idle, size_t row)
{
	int64_t rank = ts_cell_int(idle, row, "rank");

	for (size_t i = 0; i < idle->nr_rows; i++)
		if (i != row && ts_cell_int(idle, i, "rank") == rank &&
		    ts_cell_int(idle, i, "idle_ps") < ts_cell_int(idle, row, "idle_ps"))
			return false;
	return true;
}

struct ts_kernel_gaps ts_kernel_gaps_of(const struct ts_doctor *doctor)
{
	const struct ts_table *idle = idle_of(doctor);
	struct ts_kernel_gaps gaps = { 0 };

	for (size_t i = 0; idle && i < idle->nr_rows; i++) {
		if (!is_busiest(idle, i))
			continue;
		gaps.all_ps = ts_i64_add(gaps.all_ps, ts_cell_int(idle, i, "idle_ps"));
		gaps.host_ps = ts_i64_add(gaps.host_ps, ts_cell_int(idle, i, "host_wait_ps"));
		gaps.kernel_ps = ts_i64_add(gaps.kernel_ps, ts_cell_int(idle, i, "kernel_wait_ps"));
		gaps.nr_kernel =
			ts_i64_add(gaps.nr_kernel, ts_cell_int(idle, i, "kernel_wait_count"));
	}
	return gaps;
}

void ts_put_launches(struct ts_doctor *doctor)
{
	struct ts_kernel_gaps gaps = ts_kernel_gaps_of(doctor);

	if (gaps.all_ps > 0)
		TS_PUT(doctor,
		       " Of the time between the kernels of a stream {share} waits for a launch "
		       "that "
		       "came too late, {share} passes from one kernel to the next.",
		       TS_SHARE((double)gaps.host_ps / (double)gaps.all_ps),
		       TS_SHARE((double)gaps.kernel_ps / (double)gaps.all_ps));
}
