/* SPDX-License-Identifier: MIT */
/* What a host's rows may hold is the same however many other hosts there are. */
#include "tests/analysis/given.h"

#define NR_EVENTS 400
#define BUDGET	  300

/* Two cores that work and wait in turns, more often than their rows may show. */
static void put_host(struct ts_buf *out)
{
	static const char *const names[] = { "/device:TPU:0", "/device:TPU:1" };

	for (size_t i = 0; i < TS_NELEM(names); i++) {
		struct xp xp = xp_plane(out, names[i]);

		xp_stat_text(&xp, XP_PLANE_STATS, "device_type_string", "TPU v5 lite");
		xp_op(&xp, 1, "f", "loop fusion", PROGRAM, 1);
		xp_line(&xp, "XLA Ops", 0);
		for (int64_t k = 0; k < NR_EVENTS; k++)
			given_event(&xp, 1, k * 10, 4);
		xp_line_end(&xp);
		xp_plane_end(&xp);
	}
}

/* Slices of the first device's time classes, in a run of so many hosts. */
static size_t slices_among(size_t nr_hosts, size_t overlay_budget, size_t track_items)
{
	static const char *const hosts[] = { "a", "b", "c", "d" };
	struct ts_buf bytes = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct memory_run mem;
	struct ts_run_options options = { .nr_threads = 1,
					  .settings = &mem.settings,
					  .overlay_budget = overlay_budget,
					  .track_items = track_items };
	const struct ts_result *time;
	size_t nr = 0;

	put_host(&bytes);
	memory_run_init(&mem);
	for (size_t i = 0; i < nr_hosts; i++)
		assert_int_equal(memory_run_add(&mem, ts_buf_bytes(&bytes), hosts[i], &err), TS_OK);
	assert_int_equal(ts_profile_finish(&mem.run.profile, &err), TS_OK);
	assert_int_equal(ts_run_analyse(&mem.run, &options, &err), TS_OK);
	time = ts_results_find(&mem.run.results, "time");
	for (size_t i = 0; i < time->nr_tracks; i++)
		nr += time->tracks[i].device == 0 ? time->tracks[i].nr_slices : 0;
	memory_run_release(&mem);
	ts_buf_release(&bytes);
	return nr;
}

TEST(other_hosts_take_nothing_from_a_host)
{
	size_t alone = slices_among(1, BUDGET, 0);

	assert_in_range(alone, 10, BUDGET / 3 / 2);
	assert_int_equal(slices_among(2, BUDGET, 0), alone);
	assert_int_equal(slices_among(4, BUDGET, 0), alone);
}

TEST(what_is_for_all_hosts_together_is_shared)
{
	size_t alone = slices_among(1, 0, BUDGET);

	assert_int_equal(alone, slices_among(1, BUDGET, 0));
	assert_int_equal(slices_among(4, 0, BUDGET), slices_among(1, BUDGET / 4, 0));
	assert_int_equal(slices_among(1, 0, 0), 0);
	assert_true(slices_among(4, 0, 1) <= 1); /* as few as can be: none is one too */
}

/* All overlays of a run of three hosts. */
static void put_overlays(struct ts_buf *out, const struct ts_state_sink *sink)
{
	static const char *const hosts[] = { "a", "b", "c" };
	struct ts_buf bytes = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct memory_run mem;

	put_host(&bytes);
	memory_run_init(&mem);
	mem.states = sink;
	for (size_t i = 0; i < TS_NELEM(hosts); i++)
		assert_int_equal(memory_run_add(&mem, ts_buf_bytes(&bytes), hosts[i], &err), TS_OK);
	assert_int_equal(memory_run_analyse(&mem, BUDGET, &err), TS_OK);
	for (uint32_t i = 0; i < TS_NELEM(hosts); i++)
		assert_int_equal(ts_overlay_planes(out, &mem.run.profile, i, &mem.run.results,
						   bytes.n, &err),
				 TS_OK);
#ifdef HAVE_POSIX_FALLOCATE
	assert_int_equal((mem.run.kept.total > 0), sink == NULL);
#endif
	memory_run_release(&mem);
	ts_buf_release(&bytes);
}

/* Of several hosts slices lie in a temporary file; those that are saved stay in memory. */
TEST(slices_are_the_same_in_memory_and_in_a_file)
{
	static const struct ts_state_sink sink = { NULL, not_kept };
	struct ts_buf in_file = TS_BUF_INIT, in_memory = TS_BUF_INIT;

	put_overlays(&in_file, NULL);
	put_overlays(&in_memory, &sink);
	assert_true(in_file.n > 0);
	assert_true(ts_bytes_eq(ts_buf_bytes(&in_file), ts_buf_bytes(&in_memory)));
	ts_buf_release(&in_file);
	ts_buf_release(&in_memory);
}
