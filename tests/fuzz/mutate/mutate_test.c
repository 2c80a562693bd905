/* SPDX-License-Identifier: MIT */
/*
 * The mutators: what they promise of their output, and that they stay inside their input. Each input
 * stands in a block of exactly its size, so that a sanitizer sees a read behind it.
 */
#include <stdlib.h>

#include "tests/test.h"

#include <cjson/cJSON.h>

#include "codec/pb.h"
#include "io/archive.h"
#include "io/gzip.h"
#include "io/input.h"
#include "tests/fuzz/mutate/proto.h"
#include "tests/read/mutate.h"

#define NR   400 /* changes of one input */
#define ROOM (1 << 17)

/* The same bytes always give the same bytes. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t max)
{
	struct rng rng = rng_of(n + 1);

	if (n < max)
		data[n++] = 'x';
	if (n > 0)
		mutate_bytes(&rng, data, n);
	return n;
}

static struct ts_input seed(const char *name)
{
	struct ts_input input = TS_INPUT_INIT;
	char path[4096];

	snprintf(path, sizeof(path), "%s/tests/fuzz/seeds/%s", TS_SRCDIR, name);
	assert_int_equal(ts_input_open(&input, path, NULL), TS_OK);
	return input;
}

static bool is_proto(struct ts_bytes bytes)
{
	struct ts_pb_error err = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(bytes, &err);

	while (ts_pb_next(&pb))
		continue;
	return !err.cause;
}

static bool is_json(struct ts_bytes bytes)
{
	const char *end = NULL;
	cJSON *json = cJSON_ParseWithLengthOpts((const char *)bytes.p, bytes.n, &end, false);
	bool whole = json && end == (const char *)bytes.p + bytes.n;

	cJSON_Delete(json);
	return whole;
}

static bool is_packed_json(struct ts_bytes bytes)
{
	struct ts_buf text = TS_BUF_INIT;
	bool ok = ts_gzip_probe(bytes) && ts_gunzip_head(bytes, &text, ROOM, NULL) == TS_OK &&
		  is_json(ts_buf_bytes(&text));

	ts_buf_release(&text);
	return ok;
}

static bool is_framed(struct ts_bytes bytes)
{
	uint32_t n = (uint32_t)bytes.p[1] << 24 | (uint32_t)bytes.p[2] << 16 |
		     (uint32_t)bytes.p[3] << 8 | bytes.p[4];

	return bytes.p[0] == 0 && n == bytes.n - 5 && is_proto(ts_bytes_cut(bytes, 5, bytes.n));
}

static bool is_titled(struct ts_bytes bytes)
{
	return ts_bytes_starts(bytes, "timeline\n") &&
	       is_proto(ts_bytes_cut(bytes, strlen("timeline\n"), bytes.n));
}

/* Every header's checksum, as tar counts it: an archive may have lost all of its files. */
static bool is_tar(struct ts_bytes bytes)
{
	for (; bytes.n >= 512 && bytes.p[0]; bytes = ts_bytes_cut(bytes, 512, bytes.n)) {
		unsigned long size = strtoul((const char *)bytes.p + 124, NULL, 8), sum = 0;

		for (size_t i = 0; i < 512; i++)
			sum += i >= 148 && i < 156 ? ' ' : bytes.p[i];
		if (strtoul((const char *)bytes.p + 148, NULL, 8) != sum)
			return false;
		bytes = ts_bytes_cut(bytes, (size + 511) / 512 * 512, bytes.n);
	}
	return bytes.n >= 512;
}

static bool is_anything(struct ts_bytes bytes)
{
	return true;
}

struct row {
	const struct mutator *mutator;
	const char *seed, *other;
	bool (*holds)(struct ts_bytes bytes);
};

static const struct row rows[] = {
	{ &mutator_proto, "xplane/ref_values", "xplane/steps_marked", is_proto },
	{ &mutator_proto, "overlay/annotated", "overlay/plain", is_proto },
	{ &mutator_hlo, "hlo/sample0", "hlo/add", is_proto },
	{ &mutator_hlo, "hlo/add", "hlo/sample0", is_proto },
	{ &mutator_json, "trace/compiled", "trace/memory", is_json },
	{ &mutator_chrome, "chrome/packed", "trace/launches", is_packed_json },
	{ &mutator_tar, "archive/two.tar", "archive/two.tar", is_tar },
	{ &mutator_answer, "live/module", "live/plain", is_framed },
	{ &mutator_titled, "state/timeline", "state/ops", is_titled },
	{ &mutator_pprof, "pprof/single", "pprof/packed", is_proto },
	{ &mutator_archive, "archive/two.tar.gz", "archive/two.tar", is_anything },
	{ &mutator_ranks, "trace/packed_ranks", "trace/ranks", is_anything },
	{ &mutator_profile, "copy/trace_pairs", "copy/plain", is_anything },
	{ &mutator_log, "torch_trace/metrics", "torch_trace/guards", is_anything },
	{ &mutator_gzip, "gunzip/named", "gunzip/two", is_anything },
	{ &mutator_bytes, "shape/shape02", "shape/shape03", is_anything },
};

/* One change, of a copy that has no byte to spare. */
static bool changed(const struct row *row, struct ts_bytes in, struct ts_bytes other,
		    unsigned number, bool sound, struct ts_buf *out)
{
	uint8_t *copy = malloc(in.n + !in.n);
	struct rng rng = rng_of(number);
	struct mutation mutation = {
		.rng = &rng, .in = { copy, in.n }, .other = other, .sound = sound, .out = out
	};
	bool ok;

	assert_non_null(copy);
	memcpy(copy, in.p, in.n);
	ts_buf_clear(out);
	ok = row->mutator->apply(row->mutator, &mutation);
	assert_false(out->failed);
	assert_memory_equal(copy, in.p, in.n);
	free(copy);
	return ok;
}

static void holds(const struct row *row, struct ts_bytes in, struct ts_bytes other)
{
	struct ts_buf out = TS_BUF_INIT;
	size_t nr_different = 0;

	for (unsigned i = 1; i <= NR; i++) {
		assert_true(changed(row, in, i % 2 ? other : (struct ts_bytes){ NULL, 0 }, i, true,
				    &out));
		if (!row->holds(ts_buf_bytes(&out)))
			fail_msg("%s of %s: change %u", row->mutator->name, row->seed, i);
		nr_different += !ts_bytes_eq(ts_buf_bytes(&out), in);
	}
	assert_true(nr_different > NR / 2);
	ts_buf_release(&out);
}

TEST(a_sound_change_keeps_the_format)
{
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_input in = seed(rows[i].seed), other = seed(rows[i].other);

		holds(&rows[i], in.bytes, other.bytes);
		ts_input_release(&in);
		ts_input_release(&other);
	}
}

TEST(any_bytes_are_taken)
{
	struct ts_buf damaged = TS_BUF_INIT, out = TS_BUF_INIT;

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_input in = seed(rows[i].seed);

		for (unsigned k = 1; k <= NR; k++) {
			struct rng rng = rng_of(k);
			struct ts_bytes cut = ts_bytes_cut(in.bytes, 0, in.bytes.n * k / NR);

			changed(&rows[i], cut, in.bytes, k, false, &out);
			mutate(&rng, in.bytes, &damaged);
			changed(&rows[i], ts_buf_bytes(&damaged), cut, k, k % 2, &out);
		}
		ts_input_release(&in);
	}
	ts_buf_release(&damaged);
	ts_buf_release(&out);
}

/* As libFuzzer calls them: into a room that may be too small, and twice the same. */
static size_t called(const struct row *row, struct ts_bytes in, struct ts_bytes other,
		     uint8_t *room, size_t max, unsigned number)
{
	if (number % 2)
		return fuzz_cross(row->mutator, in, other, room, max, number);
	memcpy(room, in.p, in.n);
	return fuzz_mutate(row->mutator, room, in.n, max, number);
}

TEST(the_same_number_gives_the_same_change)
{
	uint8_t *once = malloc(ROOM), *twice = malloc(ROOM);

	assert_true(once && twice);
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_input in = seed(rows[i].seed), other = seed(rows[i].other);

		for (unsigned k = 1; k <= NR / 4; k++) {
			size_t max = k % 3 ? ROOM : in.bytes.n;
			size_t n = called(&rows[i], in.bytes, other.bytes, once, max, k);

			assert_true(n <= max);
			assert_int_equal(called(&rows[i], in.bytes, other.bytes, twice, max, k), n);
			assert_memory_equal(once, twice, n);
		}
		ts_input_release(&in);
		ts_input_release(&other);
	}
	free(once);
	free(twice);
}

/* What is read and written again without a change is the same. */
TEST(a_message_comes_back)
{
	static const char *const names[] = { "xplane/ref_values", "hlo/sample0", "pprof/single",
					     "xplane/steps_marked" };

	for (size_t i = 0; i < TS_NELEM(names); i++) {
		struct ts_input in = seed(names[i]);
		struct ts_arena arena = TS_ARENA_INIT;
		struct tree tree = { .arena = &arena };
		struct ts_buf out = TS_BUF_INIT;
		struct node *top = proto_parse(&tree, in.bytes);

		assert_non_null(top);
		proto_print(&out, top);
		assert_int_equal(out.n, in.bytes.n);
		assert_memory_equal(out.p, in.bytes.p, out.n);
		ts_buf_release(&out);
		ts_arena_release(&arena);
		ts_input_release(&in);
	}
}

TEST(packed_numbers_are_packed_again)
{
	static const uint8_t bytes[] = "\xa2\x02\x03\x08\x96\x01\x08\x07";
	struct ts_arena arena = TS_ARENA_INIT;
	struct tree tree = { .arena = &arena };
	struct ts_buf out = TS_BUF_INIT;
	struct node *top = proto_parse(&tree, (struct ts_bytes){ bytes, sizeof(bytes) - 1 });

	assert_non_null(top);
	proto_unpack(&tree, top, 36);
	proto_print(&out, top);
	assert_int_equal(out.n, 9);
	assert_memory_equal(out.p, "\xa0\x02\x08\xa0\x02\x96\x01\x08\x07", 9);
	proto_pack(&tree, top, 36);
	ts_buf_clear(&out);
	proto_print(&out, top);
	assert_int_equal(out.n, sizeof(bytes) - 1);
	assert_memory_equal(out.p, bytes, out.n);
	ts_buf_release(&out);
	ts_arena_release(&arena);
}
