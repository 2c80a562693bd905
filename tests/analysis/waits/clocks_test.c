/* SPDX-License-Identifier: MIT */
/*
 * Clocks of hosts: a job of three hosts of two cores is made on one true clock, and each host writes it
 * down by its own. What was planted comes back: by how much the clocks differ, and who was late. And
 * what is kept of arrivals is bounded, and the same on all cores.
 */
#include "analysis/waits/collectives.h"
#include "tests/analysis/given.h"
#include "tests/base/rng.h"

#define HOSTS 3
#define CORES 2 /* of a host */
#define STEPS 120
#define MS    TS_PS_PER_MS

static uint32_t draw(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

/* The truth: when each core comes to the collective of each step, and when all leave it. */
struct job {
	int64_t arrives_ps[STEPS][HOSTS * CORES], leaves_ps[STEPS];
	size_t nr_last[HOSTS * CORES];
};

/* A step takes 0.9 to 1.1 ms (or exactly 1 ms); core 3 is late in two of three steps, else any core. */
static struct job make_job(bool is_regular)
{
	struct job job = { .nr_last = { 0 } };
	int64_t t = 100 * MS;
	uint32_t seed = 7;

	for (size_t k = 0; k < STEPS; k++) {
		size_t late = k % 3 ? 3 : draw(&seed, HOSTS * CORES);

		t += is_regular ? MS : 900 * US + draw(&seed, 200) * US;
		for (size_t c = 0; c < HOSTS * CORES; c++)
			job.arrives_ps[k][c] =
				t + (is_regular ? 5 * (int64_t)c * US
						: draw(&seed, 10000) * INT64_C(1000));
		job.arrives_ps[k][late] = t + 30 * US;
		job.leaves_ps[k] = t + 40 * US;
		job.nr_last[late]++;
	}
	return job;
}

/* How a host's clock goes, and which steps it captures. */
struct clock {
	int64_t offset_ps;
	double drift;
	size_t from, to;
	const char *op;
	uint32_t loose_ps; /* up to so much later its cores leave */
};

static int64_t shown(const struct clock *clock, int64_t t_ps)
{
	return t_ps + clock->offset_ps + (int64_t)(clock->drift * (double)t_ps);
}

struct run {
	struct ts_buf files[HOSTS];
	struct given *given;
};

/* When a core leaves the collective of a step. */
static int64_t leaves_at(const struct job *job, const struct clock *clock, size_t k, size_t core)
{
	struct rng rng = rng_of(k * HOSTS * CORES + core + 1);

	rng_next(&rng);
	return job->leaves_ps[k] + (int64_t)rng_below(&rng, clock->loose_ps);
}

static void write_core(struct ts_buf *out, const struct job *job, const struct clock *clock,
		       size_t core)
{
	char name[32];
	struct xp xp;

	snprintf(name, sizeof(name), "/device:TPU:%zu", core % CORES);
	xp = xp_plane(out, name);
	xp_stat_text(&xp, XP_PLANE_STATS, "device_type_string", "TPU v5 lite");
	xp_op(&xp, 1, clock->op, "all-reduce", PROGRAM, 1);
	xp_line(&xp, "XLA Ops", 0);
	for (size_t k = clock->from; k < clock->to; k++) {
		int64_t start = shown(clock, job->arrives_ps[k][core]);

		xp_event(&xp, 1, start, shown(clock, leaves_at(job, clock, k, core)) - start);
	}
	xp_line_end(&xp);
	xp_plane_end(&xp);
}

static struct run *run_of(const struct job *job, const struct clock *clocks)
{
	static const char *const names[HOSTS] = { "host0", "host1", "host2" };
	struct run *run = calloc(1, sizeof(*run));

	assert_non_null(run);
	run->given = given_nothing();
	for (size_t h = 0; h < HOSTS; h++) {
		for (size_t c = 0; c < CORES; c++)
			write_core(&run->files[h], job, &clocks[h], h * CORES + c);
		assert_int_equal(memory_run_add(&run->given->mem, ts_buf_bytes(&run->files[h]),
						names[h], NULL),
				 TS_OK);
	}
	assert_int_equal(memory_run_analyse(&run->given->mem, 0, NULL), TS_OK);
	return run;
}

static void end(struct run *run)
{
	for (size_t h = 0; h < HOSTS; h++)
		ts_buf_release(&run->files[h]);
	done(run->given);
	free(run);
}

static struct ts_value clock_of(struct run *run, size_t host, const char *column)
{
	return cell(run->given, "capture", "clocks", host, column);
}

static void assert_begins(struct ts_value value, const char *text)
{
	assert_int_equal(value.type, TS_VALUE_TEXT);
	if (!ts_bytes_starts(value.as.s, text))
		fail_msg("\"%.*s\" is not \"%s\"", TS_ARG(value.as.s), text);
}

static void assert_lasts(struct run *run, const struct job *job)
{
	assert_int_equal(nr_rows(run->given, "collectives", "collective_cores"), HOSTS * CORES);
	for (size_t c = 0; c < HOSTS * CORES; c++)
		assert_near(cell(run->given, "collectives", "collective_cores", c, "last_count"),
			    (double)job->nr_last[c], 0);
	assert_near(cell(run->given, "collectives", "collectives", 0, "straggler_device_id"), 3, 0);
}

#define WHOLE .from = 0, .to = STEPS, .op = "all-reduce.1"

/* Of each host of each run: its clock, and how well it must be known, in ns. */
static const struct clock_case {
	struct clock clocks[HOSTS];
	double within_ns;
} cases[] = {
	{ { { WHOLE }, { WHOLE }, { WHOLE } }, 0 },
	{ { { WHOLE }, { .offset_ps = 20 * US, WHOLE }, { .offset_ps = -20 * US, WHOLE } }, 0 },
	{ { { WHOLE }, { .offset_ps = 200 * US, WHOLE }, { .offset_ps = 3 * MS, WHOLE } }, 0 },
	{ { { WHOLE }, { .offset_ps = 50 * MS, WHOLE }, { .offset_ps = -50 * MS, WHOLE } }, 0 },
	/* 20 ppm of 100 to 220 ms: 2 us more at the start and 4.4 us at the end, 3.2 in the middle */
	{ { { WHOLE },
	    { .offset_ps = 50 * MS, .drift = 20e-6, WHOLE },
	    { .offset_ps = 20 * US, .drift = -20e-6, WHOLE } },
	  4400 },
};

TEST(planted_clocks_come_back_and_so_does_who_was_late)
{
	struct job job = make_job(false);

	for (size_t i = 0; i < TS_NELEM(cases); i++) {
		const struct clock *clocks = cases[i].clocks;
		struct run *run = run_of(&job, clocks);

		assert_lasts(run, &job);
		assert_begins(clock_of(run, 0, "clock_source"), "reference");
		for (size_t h = 1; h < HOSTS; h++) {
			assert_begins(clock_of(run, h, "clock_source"), "collectives");
			assert_begins(clock_of(run, h, "clock_reference"), "host0");
			assert_near(clock_of(run, h, "clock_offset_ns"),
				    (double)clocks[h].offset_ps / TS_PS_PER_NS, cases[i].within_ns);
			assert_near(clock_of(run, h, "clock_drift_ppm"), clocks[h].drift * 1e6,
				    0.01);
			assert_near(clock_of(run, h, "clock_matched"), STEPS, 0);
		}
		end(run);
	}
}

/* The second capture begins 40 steps later and the third ends 30 earlier; 50 ms are 50 steps. */
TEST(captures_of_different_steps_are_matched_step_by_step)
{
	const struct clock clocks[HOSTS] = {
		{ WHOLE },
		{ .offset_ps = -50 * MS, .from = 40, .to = STEPS, .op = "all-reduce.1" },
		{ .offset_ps = 50 * MS, .from = 0, .to = STEPS - 30, .op = "all-reduce.1" },
	};
	struct job job = make_job(false);
	struct run *run = run_of(&job, clocks);

	assert_near(clock_of(run, 1, "clock_offset_ns"), -50e6, 0);
	assert_near(clock_of(run, 2, "clock_offset_ns"), 50e6, 0);
	assert_near(clock_of(run, 1, "clock_matched"), STEPS - 40, 0);
	/* 40 to 89 are in all three */
	assert_near(cell(run->given, "collectives", "collectives", 0, "matched_count"), 50, 0);
	assert_near(cell(run->given, "collectives", "collectives", 0, "straggler_device_id"), 3, 0);
	end(run);
}

/*
 * Without a collective in common, with too few executions, or where cores leave as they like (a collective takes
 * 10 to 40 us, and up to 200 more): no core is blamed across hosts.
 */
TEST(what_is_not_shared_is_unknown)
{
	static const struct clock clocks[3][HOSTS] = {
		{ { WHOLE },
		  { .from = 0, .to = STEPS, .op = "all-reduce.2" },
		  { .from = 0, .to = STEPS, .op = "all-reduce.3" } },
		{ { .from = 0, .to = 3, .op = "all-reduce.1" },
		  { .from = 0, .to = 3, .op = "all-reduce.1" },
		  { .from = 0, .to = 3, .op = "all-reduce.1" } },
		{ { .loose_ps = 200 * US, WHOLE },
		  { .loose_ps = 200 * US, WHOLE },
		  { .loose_ps = 200 * US, WHOLE } },
	};
	static const char *const why[] = { "unknown: it shares no collective",
					   "unknown: too few collectives",
					   "unknown: cores do not leave" };
	struct job job = make_job(false);

	for (size_t i = 0; i < TS_NELEM(why); i++) {
		struct run *run = run_of(&job, clocks[i]);

		for (size_t h = 0; h < HOSTS; h++) {
			assert_begins(clock_of(run, h, "clock_source"), why[i]);
			assert_int_equal(clock_of(run, h, "clock_offset_ns").type, TS_VALUE_NULL);
			assert_int_equal(clock_of(run, h, "clock_spread_ns").type, TS_VALUE_NULL);
		}
		if (i > 0)
			assert_int_equal(
				cell(run->given, "collectives", "collectives", 0, "straggler").type,
				TS_VALUE_NULL);
		end(run);
	}
}

/* Steps of exactly 1 ms: 7.3 ms may as well be 0.3. Who was late is known all the same. */
TEST(regular_collectives_do_not_tell_whole_intervals)
{
	const struct clock clocks[HOSTS] = { { WHOLE },
					     { .offset_ps = 7300 * US, WHOLE },
					     { .offset_ps = -20 * US, WHOLE } };
	struct job job = make_job(true);
	struct run *run = run_of(&job, clocks);

	for (size_t h = 1; h < HOSTS; h++) {
		assert_begins(clock_of(run, h, "clock_source"), "collectives, but");
		assert_int_equal(clock_of(run, h, "clock_offset_ns").type, TS_VALUE_NULL);
	}
	assert_near(cell(run->given, "collectives", "collectives", 0, "straggler_device_id"), 3, 0);
	end(run);
}

/* --- Groups of many cores */

struct many {
	struct collective_seen *seen, **all;
	uint32_t *host, *devices;
	size_t nr;
};

/* NR cores, 4 a host; core i is in group i % (NR / SIZE). Groups leave at times of their own, members
 * within 20 ns, after the last one came. */
static struct many *make_many(size_t nr, size_t size, size_t nr_times)
{
	struct many *many = calloc(1, sizeof(*many));
	uint32_t seed = 1;

	many->nr = nr;
	many->seen = calloc(nr, sizeof(*many->seen));
	many->all = calloc(nr, sizeof(struct collective_seen *));
	many->host = calloc(nr, sizeof(*many->host));
	many->devices = calloc(nr, sizeof(*many->devices));
	for (uint32_t i = 0; i < nr; i++) {
		many->all[i] = &many->seen[i];
		many->host[i] = i / 4;
		many->devices[i] = i;
	}
	for (size_t k = 0; k < nr_times; k++)
		for (size_t g = 0; g < nr / size; g++) {
			int64_t t = (int64_t)k * MS + draw(&seed, 300000) * INT64_C(1000);

			for (size_t m = 0; m < size; m++)
				assert_int_equal(
					ts_collective_keep(&many->seen[g + m * (nr / size)],
							   t - draw(&seed, 100) * US - US,
							   t + draw(&seed, 20) * 1000, NULL),
					TS_OK);
		}
	return many;
}

static void free_many(struct many *many)
{
	for (size_t i = 0; i < many->nr; i++)
		free(many->seen[i].times);
	free(many->seen);
	free(many->all);
	free(many->host);
	free(many->devices);
	free(many);
}

TEST(groups_of_thousands_of_cores_are_known)
{
	static const size_t shapes[][2] = {
		{ 2048, 2 }, { 2048, 256 }, { 4096, 16 }, { 4096, 2048 }
	};

	for (size_t s = 0; s < TS_NELEM(shapes); s++) {
		size_t nr = shapes[s][0], size = shapes[s][1], nr_groups = nr / size;
		struct many *many = make_many(nr, size, 40);
		const struct collective_cores cores = { many->all, many->host, NULL, nr };
		bool found;

		assert_int_equal(ts_collective_groups(&cores, many->devices, nr, (int64_t)size,
						      &found, NULL),
				 TS_OK);
		assert_true(found);
		for (size_t i = 0; i < nr; i++)
			assert_int_equal(many->devices[i], i / size + i % size * nr_groups);
		free_many(many);
	}
}

/* --- Groups across hosts, and no collective of all */

#define PAIRED 4 /* hosts of two cores */

static const int64_t paired_offset_ps[PAIRED] = { 0, 20 * US, -3 * MS, 50 * MS };

/* Core C of host H meets core C of PARTNER[H]; they leave within 20 ns. The third host's capture begins five
 * executions later. Where IS_ONE, both cores of a host leave at the same time. */
static struct many *make_pairs(const uint32_t *partner, bool is_one, uint32_t seed)
{
	struct many *many = make_many((size_t)PAIRED * CORES, 2, 0);
	int64_t t = 100 * MS;

	for (size_t k = 0; k < 100; k++) {
		t += 900 * US + draw(&seed, 200) * US;
		for (uint32_t i = 0; i < PAIRED * CORES; i++) {
			uint32_t host = i / CORES, core = is_one ? 0 : i % CORES;
			uint32_t group = TS_MIN(host, partner[host]) * CORES + core;
			uint32_t own = (uint32_t)k * 64 + group + 1;
			int64_t leaves = t + draw(&own, 50000) * INT64_C(1000) +
					 draw(&seed, 20) * INT64_C(1000) + paired_offset_ps[host];

			many->host[i] = host;
			if (host != 2 || k >= 5)
				assert_int_equal(ts_collective_keep(&many->seen[i],
								    leaves - 60 * US, leaves, NULL),
						 TS_OK);
		}
	}
	return many;
}

static void solve(struct many *const *slots, size_t nr, struct ts_host_clock *clocks)
{
	uint32_t nr_tried[PAIRED] = { 0 };
	enum ts_clock_source why[PAIRED] = { TS_CLOCK_NO_CORES };
	struct collective_pairs pairs = { .nr_tried = nr_tried, .why = why };

	for (size_t i = 0; i < nr; i++) {
		const struct collective_cores cores = { slots[i]->all, slots[i]->host, NULL,
							slots[i]->nr };

		assert_int_equal(ts_collective_pairs_meet(&pairs, &cores, NULL), TS_OK);
	}
	assert_int_equal(ts_collective_clocks_solve(&pairs, PAIRED, clocks, NULL), TS_OK);
	free(pairs.items);
	ts_map_release(&pairs.by_hosts);
}

static void assert_clock(const struct ts_host_clock *clock, uint32_t reference, int64_t offset_ps)
{
	assert_int_equal(clock->reference, reference);
	assert_true(llabs((long long)(clock->offset_ps - offset_ps)) < 40000);
}

/* Hosts 0 and 1, 2 and 3 meet in one collective: two parts. With another, in which 1 and 2, 0 and 3 meet, all
 * clocks are known. Where the cores of a host leave together, nothing shows that the next host is of the same group. */
TEST(groups_across_hosts_join_their_clocks)
{
	static const uint32_t beside[PAIRED] = { 1, 0, 3, 2 }, across[PAIRED] = { 3, 2, 1, 0 };
	struct many *slots[] = { make_pairs(beside, false, 1), make_pairs(across, false, 2) };
	struct many *one = make_pairs(beside, true, 3);
	struct ts_host_clock clocks[PAIRED];

	solve(slots, 1, clocks);
	assert_clock(&clocks[1], 0, paired_offset_ps[1]);
	assert_clock(&clocks[3], 2, paired_offset_ps[3] - paired_offset_ps[2]);
	solve(slots, 2, clocks);
	for (uint32_t h = 0; h < PAIRED; h++)
		assert_clock(&clocks[h], 0, paired_offset_ps[h]);
	solve(&one, 1, clocks);
	for (uint32_t h = 0; h < PAIRED; h++)
		assert_int_equal(clocks[h].reference, TS_NONE);
	free_many(slots[0]);
	free_many(slots[1]);
	free_many(one);
}

/* --- What is kept */

TEST(what_one_core_keeps_the_other_keeps_too)
{
	struct collective_seen many = { .nr_all = 0 }, few = { .nr_all = 0 };

	for (int64_t i = 0; i < 1000; i++) {
		assert_int_equal(ts_collective_keep(&many, i, i + 1, NULL), TS_OK);
		if (i % 300 == 299)
			ts_collective_thin(&many);
		assert_int_equal(ts_collective_keep(&few, i, i + 1, NULL), TS_OK);
	}
	assert_true(many.level > few.level && many.nr > 0);
	ts_collective_raise(&few, many.level);
	assert_int_equal(few.nr, many.nr);
	for (size_t i = 0; i < few.nr; i++) {
		assert_int_equal(few.times[i].start_ps, many.times[i].start_ps);
		assert_int_equal(ts_collective_number(&few, i), few.times[i].start_ps);
		assert_int_equal(ts_collective_at(&few, few.times[i].start_ps), i);
	}
	assert_int_equal(few.nr_all, 1000);
	free(many.times);
	free(few.times);
}

static void keep_largest(void *ctx, const struct ts_analysis *analysis, struct ts_bytes saved)
{
	size_t *largest = ctx;

	if (strcmp(analysis->schema->name, "collectives") == 0)
		*largest = TS_MAX(*largest, saved.n);
}

/* Two cores, 100,000 executions each: the second comes 5 us after the first. A host of 10 million events
 * has a state below 1 MB; times are of all executions, as those that are kept stand for the others. */
TEST(a_host_keeps_a_bounded_number_of_arrivals)
{
	struct given *given = given_nothing();
	size_t largest = 0;
	struct ts_state_sink sink = { &largest, keep_largest };

	for (int64_t c = 0; c < 2; c++) {
		struct xp xp = given_core(given, c ? "/device:TPU:1" : "/device:TPU:0");

		xp_op(&xp, 1, "all-reduce.1", "all-reduce", PROGRAM, 1);
		xp_line(&xp, "XLA Ops", 0);
		for (int64_t k = 0; k < 100000; k++)
			given_event(&xp, 1, 100 * k + 5 * c, 20 - 5 * c);
		xp_line_end(&xp);
		xp_plane_end(&xp);
	}
	given->mem.states = &sink;
	assert_int_equal(memory_run_add(&given->mem, ts_buf_bytes(&given->bytes), "host", NULL),
			 TS_OK);
	assert_int_equal(memory_run_analyse(&given->mem, 0, NULL), TS_OK);
	assert_true(largest > 10000 && largest < 1000000);
	assert_near(cell(given, "collectives", "collectives", 0, "occurrences"), 200000, 0);
	assert_near(cell(given, "collectives", "collectives", 0, "matched_count"), 100000, 0);
	assert_near(cell(given, "collectives", "collectives", 0, "wait_ps"), 100000.0 * 5 * US, 0);
	assert_near(cell(given, "collectives", "collectives", 0, "exposed_ps"), 100000.0 * 35 * US,
		    0);
	assert_near(cell(given, "collectives", "collectives", 0, "straggler_last_pct"), 100, 0);
	done(given);
}
