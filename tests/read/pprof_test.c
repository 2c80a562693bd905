/* SPDX-License-Identifier: MIT */
/*
 * Memory profiles: what is read of them, what they are never confused with, and damage. The numbers
 * are those of pprof_make.h, added up by hand.
 */
#include "io/archive.h"
#include "io/gzip.h"
#include "tests/read/mutate.h"
#include "tests/read/pprof_make.h"
#include "tests/read/pprof_walk.h"
#include "tests/result/values.h"

static void pack(const struct ts_buf *text, struct ts_buf *out)
{
	struct ts_gzip gz = TS_GZIP_INIT;

	assert_int_equal(ts_gzip_init(&gz, NULL), TS_OK);
	assert_int_equal(ts_gzip_member(&gz, out, ts_buf_bytes(text), NULL, NULL), TS_OK);
	ts_gzip_release(&gz);
}

static void when_read(struct memory_run *mem, const struct ts_buf *bytes)
{
	struct ts_error err = TS_ERROR_INIT;

	memory_run_init(mem);
	if (pprof_into(mem, ts_buf_bytes(bytes), &err) != TS_OK)
		fail_msg("%s", err.text);
	assert_int_equal(memory_run_analyse(mem, 0, NULL), TS_OK);
}

static struct ts_value cell(const struct memory_run *mem, const char *table, size_t row,
			    const char *column)
{
	const struct ts_result *result = ts_results_find(&mem->run.results, "capacity");

	return ts_cell(ts_result_find_table(result, table), row, column);
}

static void assert_training(const struct memory_run *mem)
{
	const struct ts_result *result = ts_results_find(&mem->run.results, "capacity");

	assert_int_equal(mem->run.profile.nr_sites, 3);
	assert_int_equal(ts_value_int(ts_result_get(result, "held_bytes")), 550);
	assert_int_equal(ts_value_int(ts_result_get(result, "held_device_bytes")), 300);
	assert_text(ts_result_get(result, "held_device"), "TPU_0");
	assert_int_equal(ts_value_int(cell(mem, "sites", 0, "bytes")), 300);
	assert_int_equal(ts_value_int(cell(mem, "sites", 0, "count")), 2);
	assert_text(cell(mem, "sites", 0, "kind"), "buffer");
	assert_text(cell(mem, "sites", 0, "function"), "init");
	assert_text(cell(mem, "sites", 0, "callee"), "ones");
	assert_text(cell(mem, "sites", 0, "source"), "/home/me/train.py:3");
	assert_text(cell(mem, "sites", 0, "stack"),
		    "init /home/me/train.py:3 < main /home/me/train.py:9");
	assert_int_equal(ts_value_int(cell(mem, "site_lines", 0, "bytes")), 500);
	assert_int_equal(ts_value_int(cell(mem, "site_lines", 0, "count")), 3);
	assert_int_equal(ts_value_int(cell(mem, "site_lines", 1, "bytes")), 50);
	assert_text(cell(mem, "site_lines", 1, "source"), "/home/me/train.py:4");
}

TEST(bytes_are_told_by_the_users_own_line)
{
	struct ts_buf bytes = TS_BUF_INIT;
	struct memory_run mem;

	pp_training(&bytes);
	when_read(&mem, &bytes);
	assert_training(&mem);
	memory_run_release(&mem);
	ts_buf_release(&bytes);
}

TEST(gzip_and_plain_say_the_same)
{
	struct ts_buf bytes = TS_BUF_INIT, packed = TS_BUF_INIT;
	struct memory_run mem;

	pp_training(&bytes);
	pack(&bytes, &packed);
	when_read(&mem, &packed);
	assert_training(&mem);
	memory_run_release(&mem);
	ts_buf_release(&bytes);
	ts_buf_release(&packed);
}

TEST(packed_numbers_are_read)
{
	static const uint8_t places[] = { 9 }, values[] = { 2, 0x90, 0x4e }; /* 10000 */
	struct ts_buf bytes = TS_BUF_INIT;
	struct memory_run mem;
	size_t mark;

	pp_types(&bytes);
	mark = ts_pbw_begin(&bytes, 2);
	ts_pbw_bytes(&bytes, 1, (struct ts_bytes){ places, sizeof(places) });
	ts_pbw_bytes(&bytes, 2, (struct ts_bytes){ values, sizeof(values) });
	ts_pbw_end(&bytes, mark);
	pp_location(&bytes, 9, 13, 9);
	pp_function(&bytes, 13, PP_MAIN, PP_OWN);
	pp_strings(&bytes);
	when_read(&mem, &bytes);
	assert_int_equal(ts_value_int(cell(&mem, "sites", 0, "bytes")), 10000);
	assert_int_equal(ts_value_int(cell(&mem, "sites", 0, "count")), 2);
	assert_int_equal(cell(&mem, "sites", 0, "device").type, TS_VALUE_NULL);
	memory_run_release(&mem);
	ts_buf_release(&bytes);
}

/* Of an inlined function the first line is the innermost. */
TEST(a_location_may_have_several_lines)
{
	static const uint64_t at = 5;
	struct ts_buf bytes = TS_BUF_INIT;
	struct memory_run mem;
	size_t mark;

	pp_types(&bytes);
	pp_sample(&bytes, &at, 1, 1, 8, PP_CHIP);
	mark = ts_pbw_begin(&bytes, 4);
	ts_pbw_u64(&bytes, 1, at);
	pp_line(&bytes, 12, 3);
	pp_line(&bytes, 13, 9);
	ts_pbw_end(&bytes, mark);
	pp_function(&bytes, 12, PP_OUTER, PP_OWN);
	pp_function(&bytes, 13, PP_MAIN, PP_OWN);
	pp_strings(&bytes);
	when_read(&mem, &bytes);
	assert_text(cell(&mem, "sites", 0, "stack"),
		    "init /home/me/train.py:3 < main /home/me/train.py:9");
	memory_run_release(&mem);
	ts_buf_release(&bytes);
}

/* As with every field of protobuf; 0 is a number that is not known. */
TEST(of_a_number_that_stands_twice_the_last_one_counts)
{
	static const uint64_t at = 5;
	struct ts_buf bytes = TS_BUF_INIT;
	struct memory_run mem;
	size_t mark, line;

	pp_types(&bytes);
	pp_sample(&bytes, &at, 1, 1, 8, PP_CHIP);
	mark = ts_pbw_begin(&bytes, 4);
	ts_pbw_u64(&bytes, 1, at);
	line = ts_pbw_begin(&bytes, 4);
	ts_pbw_u64(&bytes, 2, 7);
	ts_pbw_u64(&bytes, 2, 0);
	ts_pbw_end(&bytes, line);
	ts_pbw_end(&bytes, mark);
	pp_strings(&bytes);
	when_read(&mem, &bytes);
	assert_int_equal(mem.run.profile.nr_frames, 1);
	assert_int_equal(mem.run.profile.frames[0].line, TS_UNKNOWN);
	memory_run_release(&mem);
	ts_buf_release(&bytes);
}

TEST(a_stack_of_libraries_has_its_innermost_line)
{
	static const uint64_t at = 70;
	struct ts_buf bytes = TS_BUF_INIT;
	struct memory_run mem;

	pp_types(&bytes);
	pp_sample(&bytes, &at, 1, 1, 8, PP_CHIP);
	pp_sample(&bytes, NULL, 0, 1, 4, PP_CHIP); /* and one without a stack */
	pp_location(&bytes, at, 11, 700);
	pp_function(&bytes, 11, PP_INNER, PP_LIBRARY);
	pp_strings(&bytes);
	when_read(&mem, &bytes);
	assert_text(cell(&mem, "sites", 0, "source"), "/v/site-packages/jax/a.py:700");
	assert_int_equal(cell(&mem, "sites", 1, "source").type, TS_VALUE_NULL);
	assert_int_equal(ts_value_int(cell(&mem, "site_lines", 1, "bytes")), 4);
	memory_run_release(&mem);
	ts_buf_release(&bytes);
}

static const char *reader_of(struct ts_bytes bytes)
{
	const struct ts_reader *reader = ts_reader_for(TS_LIT("x"), bytes);

	return reader ? reader->name : "none";
}

TEST(it_is_told_from_other_files_by_content)
{
	struct ts_buf prof = TS_BUF_INIT, packed = TS_BUF_INIT, text = TS_BUF_INIT;
	struct ts_buf json = TS_BUF_INIT;

	pp_training(&prof);
	pack(&prof, &packed);
	ts_buf_puts(&text, "{\"traceEvents\":[]}");
	pack(&text, &json);
	assert_string_equal(reader_of(ts_buf_bytes(&prof)), "pprof");
	assert_string_equal(reader_of(ts_buf_bytes(&packed)), "pprof");
	assert_string_equal(reader_of(ts_buf_bytes(&json)), "chrome");
	assert_string_equal(reader_of(ts_buf_bytes(&text)), "chrome");
	assert_false(ts_archive_probe(ts_buf_bytes(&prof)));
	assert_false(ts_archive_probe(ts_buf_bytes(&packed)));
	/* an XSpace: a plane with an id and a name, and one with an id alone */
	assert_string_equal(reader_of(TS_LIT("\x0a\x05\x08\x01\x12\x01"
					     "a")),
			    "xplane");
	assert_string_equal(reader_of(TS_LIT("\x0a\x02\x08\x01")), "xplane");
	ts_buf_release(&prof);
	ts_buf_release(&packed);
	ts_buf_release(&text);
	ts_buf_release(&json);
}

enum fault { LOST_FUNCTION, LOST_LOCATION, LOST_STRING, NEGATIVE, NO_VALUE, NO_BYTES };

static void make_fault(struct ts_buf *out, enum fault fault)
{
	uint64_t at = fault == LOST_LOCATION ? 6 : 9;

	if (fault == NO_BYTES)
		pp_type(out, PP_ALLOCATIONS, PP_COUNT);
	else
		pp_types(out);
	if (fault == NO_VALUE)
		ts_pbw_bytes(out, 2, TS_LIT(""));
	pp_sample(out, &at, 1, 1, fault == NEGATIVE ? UINT64_MAX : 1, PP_CHIP);
	pp_location(out, 9, fault == LOST_FUNCTION ? 99 : 13, 9);
	pp_function(out, 13, fault == LOST_STRING ? 1000 : PP_MAIN, PP_OWN);
	pp_strings(out);
}

TEST(what_is_not_there_is_damage_and_nothing_is_kept)
{
	static const struct {
		enum fault fault;
		const char *says;
	} rows[] = {
		{ LOST_FUNCTION, "a function that is not in the table" },
		{ LOST_LOCATION, "not in the table of locations" },
		{ LOST_STRING, "not in the table of strings" },
		{ NEGATIVE, "below zero" },
		{ NO_VALUE, "without its size" },
		{ NO_BYTES, "not of memory" },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_buf bytes = TS_BUF_INIT;
		struct ts_error err = TS_ERROR_INIT;
		struct memory_run mem;

		make_fault(&bytes, rows[i].fault);
		memory_run_init(&mem);
		assert_int_not_equal(pprof_into(&mem, ts_buf_bytes(&bytes), &err), TS_OK);
		assert_non_null(strstr(err.text, rows[i].says));
		assert_int_equal(mem.run.profile.nr_sites, 0);
		memory_run_release(&mem);
		ts_buf_release(&bytes);
	}
}

TEST(sizes_past_all_bounds_do_not_wrap)
{
	static const uint64_t at = 9;
	struct ts_buf bytes = TS_BUF_INIT;
	struct memory_run mem;

	pp_types(&bytes);
	pp_sample(&bytes, &at, 1, 1, INT64_MAX, PP_CHIP);
	pp_sample(&bytes, &at, 1, 1, INT64_MAX, PP_CHIP);
	pp_location(&bytes, 9, 13, INT64_MAX);
	pp_function(&bytes, 13, PP_MAIN, PP_OWN);
	pp_strings(&bytes);
	when_read(&mem, &bytes);
	assert_true(ts_value_int(cell(&mem, "site_lines", 0, "bytes")) == INT64_MAX);
	memory_run_release(&mem);
	ts_buf_release(&bytes);
}

TEST(a_stack_without_end_is_cut)
{
	uint64_t stack[2000];
	struct ts_buf bytes = TS_BUF_INIT;
	struct memory_run mem;

	for (size_t i = 0; i < TS_NELEM(stack); i++)
		stack[i] = 9;
	pp_types(&bytes);
	pp_sample(&bytes, stack, TS_NELEM(stack), 1, 1, PP_CHIP);
	pp_location(&bytes, 9, 13, 9);
	pp_function(&bytes, 13, PP_MAIN, PP_OWN);
	pp_strings(&bytes);
	when_read(&mem, &bytes);
	assert_int_equal(mem.run.profile.sites[0].nr_frames, 512);
	memory_run_release(&mem);
	ts_buf_release(&bytes);
}

TEST(a_small_file_that_unpacks_to_gigabytes_is_refused)
{
	static uint8_t zeros[1 << 20];
	struct ts_buf text = TS_BUF_INIT, one = TS_BUF_INIT, bomb = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;

	ts_buf_put(&text, (struct ts_bytes){ zeros, sizeof(zeros) });
	pack(&text, &one);
	for (size_t i = 0; i < 4096; i++) /* 4 GiB */
		ts_buf_put(&bomb, ts_buf_bytes(&one));
	assert_int_equal(pprof_whole(ts_buf_bytes(&bomb), &err), TS_LIMIT);
	ts_buf_release(&text);
	ts_buf_release(&one);
	ts_buf_release(&bomb);
}

TEST(every_truncation)
{
	struct ts_buf forms[2] = { TS_BUF_INIT, TS_BUF_INIT };

	pp_training(&forms[0]);
	pack(&forms[0], &forms[1]);
	for (size_t f = 0; f < 2; f++) {
		for (size_t n = 0; n < forms[f].n; n++) {
			uint8_t *copy = malloc(n ? n : 1); /* so that a read behind it is seen */

			assert_non_null(copy);
			memcpy(copy, forms[f].p, n);
			pprof_whole((struct ts_bytes){ copy, n }, NULL);
			free(copy);
		}
		assert_int_equal(pprof_whole(ts_buf_bytes(&forms[f]), NULL), TS_OK);
		ts_buf_release(&forms[f]);
	}
}

TEST(thousands_of_mutations)
{
	struct ts_buf bytes = TS_BUF_INIT, damaged = TS_BUF_INIT;

	pp_training(&bytes);
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		struct rng rng = rng_of(seed);

		mutate(&rng, ts_buf_bytes(&bytes), &damaged);
		pprof_whole(ts_buf_bytes(&damaged), NULL);
	}
	ts_buf_release(&bytes);
	ts_buf_release(&damaged);
}
