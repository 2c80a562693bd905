/* SPDX-License-Identifier: MIT */
/*
 * Shapes: sizes as laid out, and as text both ways. Expectations are worked out by hand from the
 * tile rule, or are what libtpu allocated (corpus/truth).
 */
#include "tests/test.h"

#include <cjson/cJSON.h>

#include "base/buf.h"
#include "model/hlo.h"
#include "tests/read/corpus.h"

struct row {
	const char *text;
	int64_t elements, logical, laid_out;
};

static const struct row rows[] = {
	{ "f32[]", 1, 4, 4 },
	{ "f32[]{:T(128)}", 1, 4, 512 },
	{ "bf16[]{:T(256)}", 1, 2, 512 },
	{ "pred[]{:T(512)S(6)}", 1, 1, 512 },
	{ "f32[5]{0:T(128)}", 5, 20, 512 },
	{ "f32[8,128]{1,0:T(8,128)}", 1024, 4096, 4096 },
	{ "f32[8,129]{1,0:T(8,128)}", 1032, 4128, 8192 },
	{ "f32[9,128]{1,0:T(8,128)}", 1152, 4608, 8192 },
	{ "f32[9,128]{0,1:T(8,128)}", 1152, 4608, 65536 }, /* 9 on lanes: 128 x 128 */
	{ "bf16[3,8,511,2]{2,3,1,0:T(2,128)(2,1)}", 24528, 49056, 49152 },
	{ "f32[2,3,7,130]{3,0,2,1:T(2,128)}", 5460, 21840, 43008 }, /* 256 x 2 x 7 x 3 x 4 */
	{ "s4[5,3]{1,0:T(8,128)(8,1)E(4)}", 15, 8, 512 },
	{ "s4[5,3]{1,0}", 15, 8, 15 }, /* no E: a byte each */
	{ "c64[3]{0}", 3, 24, 24 },
	{ "f32[0,128]{1,0:T(8,128)}", 0, 0, 0 },
	{ "f32[7]{0:T(4)L(16)}", 7, 28, 64 },	/* 8, then up to 16 elements */
	{ "f32[3,5]{1,0:T(*,8)}", 15, 60, 64 }, /* 15 in a row, up to 16 */
	{ "f32[16,128]{1,0:T(8,128)SC(0:12)}", 2048, 8192,
	  8192 }, /* the larger piece: 12, up to 16 */
	{ "f32[2,3]{1,0}", 6, 24, 24 },
	{ "f32[<=6]{0:T(128)}", 6, 24, 512 },
	{ "token[]", 0, 0, 0 },
	{ "()", 0, 0, 0 },
	{ "(f32[2]{0}, (bf16[4]{0}, u8[3]{0}))", 9, 19, 19 },
	{ "(f32[1]{0}, /*index=1*/f32[2]{0})", 3, 12, 12 },
	{ "f8e4m3fn[300]{0:T(512)(128)(4,1)}", 300, 300, 512 },
};

TEST(test_sizes_follow_the_layout)
{
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_arena arena = TS_ARENA_INIT;
		struct ts_shape shape;

		if (ts_shape_parse(&arena, ts_bytes_of(rows[i].text), &shape, NULL, NULL))
			fail_msg("%s is not read", rows[i].text);
		if (ts_shape_elements(&shape) != rows[i].elements ||
		    ts_shape_logical_bytes(&shape) != rows[i].logical ||
		    ts_shape_bytes(&shape) != rows[i].laid_out)
			fail_msg("%s: %lld elements, %lld bytes, laid out %lld", rows[i].text,
				 (long long)ts_shape_elements(&shape),
				 (long long)ts_shape_logical_bytes(&shape),
				 (long long)ts_shape_bytes(&shape));
		ts_arena_release(&arena);
	}
}

TEST(test_what_is_no_shape_is_refused)
{
	static const char *const texts[] = {
		"",
		"f32",
		"f32[",
		"f32[2",
		"f32[2,",
		"f32[2]{",
		"f32[2]{0",
		"f32[2]{0:",
		"f32[2]{0:T",
		"f32[2]{0:T(",
		"f32[2]{0:T()}",
		"f32[2,3]{0,0}",
		"f32[2,3]{1}",
		"f32[2]{1}",
		"f32[2]{0:X(1)}",
		"f33[2]",
		"tuple[2]",
		"(f32[2]{0}",
		"(f32[2] f32[3])",
		"f32[99999999999999999999]",
		"f32[-1]",
		"f32[2]{0:SC(1:3)}",
		"f32[2]{0:D(D}",
		"(/*",
		"invalid[2]",
		"f32[2]{0:S()}",
	};
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_shape shape;

	for (size_t i = 0; i < TS_NELEM(texts); i++)
		if (ts_shape_parse(&arena, ts_bytes_of(texts[i]), &shape, NULL, NULL) == TS_OK)
			fail_msg("'%s' was taken for a shape", texts[i]);
	ts_arena_release(&arena);
}

TEST(test_nesting_has_a_limit)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_buf text = TS_BUF_INIT;
	struct ts_shape shape;

	ts_buf_pad(&text, '(', 100000);
	ts_buf_pad(&text, ')', 100000);
	assert_int_equal(ts_shape_parse(&arena, ts_buf_bytes(&text), &shape, NULL, NULL),
			 TS_FORMAT);
	ts_buf_release(&text);
	ts_arena_release(&arena);
}

TEST(test_sizes_saturate)
{
	const char *text = "f32[9000000000000,9000000000000]{1,0:T(8,128)}";
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_shape shape;

	assert_int_equal(ts_shape_parse(&arena, ts_bytes_of(text), &shape, NULL, NULL), TS_OK);
	assert_true(ts_shape_elements(&shape) == INT64_MAX);
	assert_true(ts_shape_bytes(&shape) == INT64_MAX);
	ts_arena_release(&arena);
}

TEST(test_the_rest_of_an_op_text_is_given_back)
{
	const char *text = "(f32[2]{0:S(5)}, u32[]{:S(2)}) copy-start(f32[2]{0} %x)";
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_shape shape;
	struct ts_bytes rest;

	assert_int_equal(ts_shape_parse(&arena, ts_bytes_of(text), &shape, &rest, NULL), TS_OK);
	assert_true(ts_bytes_is(rest, " copy-start(f32[2]{0} %x)"));
	assert_true(ts_shape_in_space(&shape, TS_SPACE_HOST));
	assert_true(ts_shape_in_space(&shape, TS_SPACE_SYNC));
	assert_false(ts_shape_in_space(&shape, TS_SPACE_HBM));
	ts_arena_release(&arena);
}

TEST(test_types_have_xlas_names_and_numbers)
{
	assert_string_equal(ts_dtype_name((enum ts_dtype)16), "bf16");
	assert_string_equal(ts_dtype_name((enum ts_dtype)20), "f8e4m3fn");
	assert_string_equal(ts_dtype_name((enum ts_dtype)32), "f4e2m1fn");
	assert_string_equal(ts_dtype_name((enum ts_dtype)999), "invalid");
	assert_int_equal(ts_dtype_bits(TS_C128), 128);
	assert_int_equal(ts_dtype_bits(TS_U1), 1);
	assert_int_equal(ts_dtype_bits(TS_TUPLE), 0);
}

/* One row of corpus/truth/libtpu_padding_*.json: the size allocated, and the text again. */
static bool row_agrees(const cJSON *row)
{
	const cJSON *size = cJSON_GetObjectItem(row, "argument_size");
	const char *text = cJSON_GetStringValue(cJSON_GetObjectItem(row, "layout"));
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_buf again = TS_BUF_INIT;
	struct ts_shape shape;
	bool good = text && size &&
		    ts_shape_parse(&arena, ts_bytes_of(text), &shape, NULL, NULL) == TS_OK;

	if (good) {
		ts_shape_print(&again, &shape);
		good = ts_shape_bytes(&shape) == (int64_t)size->valuedouble &&
		       ts_bytes_is(ts_buf_bytes(&again), text);
	}
	if (!good)
		print_error("%s: not what libtpu says\n", text ? text : "?");
	ts_buf_release(&again);
	ts_arena_release(&arena);
	return good;
}

TEST(test_sizes_are_what_libtpu_allocates)
{
	static const char *const chips[] = { "v3", "v5e", "v5p", "v6e", "tpu7x" };
	struct ts_arena arena = TS_ARENA_INIT;
	int nr = 0, nr_good = 0;

	for (size_t i = 0; i < TS_NELEM(chips); i++) {
		struct ts_bytes path =
			ts_arena_printf(&arena, "truth/libtpu_padding_%s.json", chips[i]);
		struct ts_bytes text = corpus_file(&arena, (const char *)path.p);
		cJSON *table = cJSON_ParseWithLength((const char *)text.p, text.n), *row;

		cJSON_ArrayForEach(row, table)
		{
			nr++;
			nr_good += row_agrees(row);
		}
		cJSON_Delete(table);
	}
	ts_arena_release(&arena);
	if (nr == 0) {
		print_message("skipped: no corpus (set TS_CORPUS)\n");
		skip();
	}
	assert_int_equal(nr, 300);
	assert_int_equal(nr_good, 300);
}
