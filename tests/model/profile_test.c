/* SPDX-License-Identifier: MIT */
/* The profile's tables: identity of ops, clocks of hosts, links to modules. */
#include <math.h>

#include "base/units.h"
#include "model/profile.h"
#include "tests/test.h"

static uint32_t add(struct ts_profile *profile, const char *name, uint64_t program,
		    enum ts_op_kind kind)
{
	struct ts_op draft;

	ts_op_init(&draft);
	draft.name = ts_bytes_of(name);
	draft.program_id = program;
	draft.has_program = program != 0;
	draft.kind = kind;
	return ts_profile_intern_op(profile, &draft);
}

TEST(an_op_is_a_name_in_a_program)
{
	struct ts_profile profile;
	uint32_t first;

	ts_profile_init(&profile);
	first = add(&profile, "fusion.1", 7, TS_OP_OTHER);
	assert_int_equal(add(&profile, "fusion.1", 7, TS_OP_OTHER), first);
	assert_int_not_equal(add(&profile, "fusion.1", 8, TS_OP_OTHER), first);
	assert_int_not_equal(add(&profile, "fusion.1", 0, TS_OP_OTHER), first);
	assert_int_not_equal(add(&profile, "fusion.2", 7, TS_OP_OTHER), first);
	assert_int_not_equal(add(&profile, "fusion.1", 7, TS_OP_MODULE), first);
	assert_int_not_equal(add(&profile, "fusion.1", 7, TS_OP_STEP), first);
	assert_int_equal(profile.nr_ops, 6);
	profile.ops[first].kind = TS_OP_MATRIX; /* finish() does so; the identity stays */
	assert_int_equal(add(&profile, "fusion.1", 7, TS_OP_OTHER), first);
	ts_profile_release(&profile);
}

TEST(a_second_plane_fills_what_the_first_left_open)
{
	struct ts_profile profile;
	struct ts_op draft;
	uint32_t at;

	ts_profile_init(&profile);
	ts_op_init(&draft);
	draft.name = TS_LIT("f");
	draft.category = TS_LIT("copy");
	draft.flops = 5;
	at = ts_profile_intern_op(&profile, &draft);
	draft.category = TS_LIT("other");
	draft.source = TS_LIT("a.py:1");
	draft.flops = 6;
	draft.bytes_accessed = 7;
	draft.symbol_id = 3;
	assert_int_equal(ts_profile_intern_op(&profile, &draft), at);
	assert_true(ts_bytes_is(profile.ops[at].category, "copy"));
	assert_true(ts_bytes_is(profile.ops[at].source, "a.py:1"));
	assert_int_equal(profile.ops[at].flops, 5);
	assert_int_equal(profile.ops[at].bytes_accessed, 7);
	assert_int_equal(profile.ops[at].symbol_id, 3);
	ts_profile_release(&profile);
}

static void add_host(struct ts_profile *profile, int64_t start_ns, int64_t stop_ns, int64_t line_ps)
{
	struct ts_host *host = ts_profile_add_host(profile);
	struct ts_plane *plane = ts_profile_add_plane(profile);
	struct ts_line *line = ts_profile_add_line(profile);

	assert_true(host && plane && line);
	host->start_unix_ns = start_ns;
	host->stop_unix_ns = stop_ns;
	plane->host = (uint32_t)profile->nr_hosts - 1;
	line->plane = (uint32_t)profile->nr_planes - 1;
	line->host_ps = line_ps;
}

/* Three hosts that started within 5 us of each other, and one that does not say when. */
TEST(hosts_share_the_earliest_start)
{
	const int64_t t = INT64_C(1700000000000000000);
	struct ts_profile profile;

	ts_profile_init(&profile);
	add_host(&profile, t + 5000, t + 100000, 10);
	add_host(&profile, t, t + 90000, 20);
	add_host(&profile, t + 1, TS_UNKNOWN, -30);
	add_host(&profile, TS_UNKNOWN, TS_UNKNOWN, 40);
	for (int again = 0; again < 2; again++) { /* finish() may be called twice */
		assert_int_equal(ts_profile_finish(&profile, NULL), TS_OK);
		assert_true(profile.start_unix_ns == t);
		assert_int_equal(profile.capture_ps, 100000 * TS_PS_PER_NS);
		assert_int_equal(profile.lines[0].start_ps, 5000 * TS_PS_PER_NS + 10);
		assert_int_equal(profile.lines[1].start_ps, 20);
		assert_int_equal(profile.lines[2].start_ps, TS_PS_PER_NS - 30);
		assert_int_equal(profile.lines[3].start_ps, 40);
	}
	ts_profile_release(&profile);
}

/* Each host counts its devices from 0. */
TEST(with_several_hosts_a_device_is_labelled_by_its_host)
{
	static const char *const hosts[] = { "host0", "host1" };
	static const char *const labels[] = { "host0 /device:TPU:0", "host1 /device:TPU:0" };
	struct ts_profile profile;

	ts_profile_init(&profile);
	for (uint32_t i = 0; i < 2; i++) {
		ts_profile_add_host(&profile)->name = ts_bytes_of(hosts[i]);
		ts_profile_add_device(&profile)->name = TS_LIT("/device:TPU:0");
		profile.devices[i].host = i;
		assert_int_equal(ts_profile_finish(&profile, NULL), TS_OK);
		if (i == 0)
			assert_true(ts_bytes_is(profile.devices[0].label, "/device:TPU:0"));
	}
	for (uint32_t i = 0; i < 2; i++)
		assert_true(ts_bytes_is(profile.devices[i].label, labels[i]));
	ts_profile_release(&profile);
}

TEST(starts_that_cannot_be_do_not_overflow)
{
	struct ts_profile profile;

	ts_profile_init(&profile);
	add_host(&profile, INT64_MIN, INT64_MAX, INT64_MAX);
	add_host(&profile, INT64_MAX, INT64_MIN, INT64_MIN);
	assert_int_equal(ts_profile_finish(&profile, NULL), TS_OK);
	ts_profile_release(&profile);
}

TEST(unknowns_are_not_zero)
{
	struct ts_profile profile;
	const struct ts_device *device;

	ts_profile_init(&profile);
	device = ts_profile_add_device(&profile);
	assert_true(isnan(device->peak_flops_per_s) && isnan(device->hbm_bytes_per_s));
	assert_int_equal(device->hbm_bytes, TS_UNKNOWN);
	assert_int_equal(ts_profile_add_host(&profile)->start_unix_ns, TS_UNKNOWN);
	assert_int_equal(ts_profile_finish(&profile, NULL), TS_OK);
	assert_int_equal(profile.start_unix_ns, TS_UNKNOWN);
	assert_int_equal(profile.capture_ps, TS_UNKNOWN);
	ts_profile_release(&profile);
}

TEST(programs_of_any_id_find_their_module)
{
	static const uint64_t ids[] = { 0, 1, UINT64_MAX, UINT64_C(1) << 63 };
	struct ts_profile profile;

	ts_profile_init(&profile);
	for (size_t i = 0; i < TS_NELEM(ids); i++)
		assert_non_null(ts_profile_add_module(&profile, ids[i]));
	for (size_t i = 0; i < TS_NELEM(ids); i++)
		assert_int_equal(ts_profile_module_of(&profile, ids[i]), i);
	assert_int_equal(ts_profile_module_of(&profile, 2), TS_NONE);
	ts_profile_release(&profile);
}

TEST(damage_is_kept_to_a_hundred)
{
	struct ts_profile profile;

	ts_profile_init(&profile);
	for (uint64_t i = 0; i < 1000; i++)
		ts_profile_add_damage(&profile, TS_LIT("f"), i, "cut", i % 2);
	assert_int_equal(profile.nr_damage, 100);
	assert_int_equal(profile.damage[99].offset, 99);
	assert_true(profile.damage[99].minor);
	ts_profile_release(&profile);
}

static uint32_t add_text(struct ts_profile *profile, const char *name, const char *category,
			 const char *text)
{
	uint32_t at = add(profile, name, 7, TS_OP_OTHER);

	profile->ops[at].category = ts_bytes_of(category);
	profile->ops[at].text = ts_bytes_of(text);
	return at;
}

/* Whoever follows a partner takes it for the other half: what a -done names must be a -start. */
TEST(a_done_is_the_partner_of_a_start_alone)
{
	struct ts_profile profile;
	uint32_t start, done, fusion, odd;

	ts_profile_init(&profile);
	start = add_text(&profile, "copy-start.1", "copy-start",
			 "%copy-start.1 = (f32[2]) copy-start(%p)");
	done = add_text(&profile, "copy-done.1", "copy-done",
			"%d = f32[2] copy-done((f32[2]) %copy-start.1)");
	fusion = add_text(&profile, "fusion.1", "loop fusion", "%fusion.1 = f32[2] fusion(%p)");
	odd = add_text(&profile, "copy-done.2", "copy-done",
		       "%d = f32[2] copy-done(f32[2] %fusion.1)");
	assert_int_equal(ts_profile_finish(&profile, NULL), TS_OK);
	assert_int_equal(profile.ops[done].partner, start);
	assert_int_equal(profile.ops[start].partner, done);
	assert_int_equal(profile.ops[odd].partner, TS_NONE);
	assert_int_equal(profile.ops[fusion].partner, TS_NONE);
	ts_profile_release(&profile);
}
