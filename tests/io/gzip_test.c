/* SPDX-License-Identifier: MIT */
/* gzip both ways, against zlib's own gzread, Python's gzip, and bytes worked out by hand. */
#include "tmpdir.h"

#include "io/gzip.h"

#include <zlib.h>

static struct ts_buf pack(struct ts_bytes text, const char *comment)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_gzip gz;

	assert_int_equal(ts_gzip_init(&gz, NULL), TS_OK);
	assert_int_equal(ts_gzip_member(&gz, &out, text, comment, NULL), TS_OK);
	ts_gzip_release(&gz);
	return out;
}

/* Reads all, STEP bytes at a time. */
static enum ts_status unpack(struct ts_bytes packed, size_t step, struct ts_buf *text,
			     struct ts_error *err)
{
	struct ts_gunzip gz;
	enum ts_status st = ts_gunzip_open(&gz, packed, err);
	size_t got = step;

	while (!st && got > 0) {
		assert_true(ts_buf_room(text, step));
		st = ts_gunzip_read(&gz, text->p + text->n, step, &got, err);
		assert_true(got <= step);
		text->n += got;
	}
	ts_gunzip_release(&gz);
	ts_gunzip_release(&gz);
	return st;
}

static void assert_unpacks(struct ts_bytes packed, struct ts_bytes expected)
{
	static const size_t steps[] = { 1, 7, 4096, 1 << 20 };

	for (size_t i = 0; i < TS_NELEM(steps); i++) {
		struct ts_error err = TS_ERROR_INIT;
		struct ts_buf text = TS_BUF_INIT;

		if (unpack(packed, steps[i], &text, &err))
			fail_msg("%s", err.text);
		assert_true(ts_bytes_eq(ts_buf_bytes(&text), expected));
		ts_buf_release(&text);
	}
}

static struct ts_buf sample(size_t n)
{
	struct ts_buf text = TS_BUF_INIT;

	for (uint64_t i = 0; text.n < n; i++)
		ts_buf_printf(&text, "{\"ts\":%llu},", (unsigned long long)(i * 2654435761u));
	text.n = n;
	return text;
}

TEST(the_header_is_that_of_rfc_1952_without_time_or_name)
{
	struct ts_buf packed = pack(TS_LIT("abc"), NULL);

	assert_memory_equal(packed.p, "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff", 10);
	/* CRC-32 of "abc" is 0x352441c2; then the length; both little-endian */
	assert_memory_equal(packed.p + packed.n - 8, "\xc2\x41\x24\x35\x03\x00\x00\x00", 8);
	ts_buf_release(&packed);
}

TEST(members_stand_one_after_the_other)
{
	static const size_t sizes[] = { 0, 1, 100000, 0, 3000000 };
	struct ts_buf packed = TS_BUF_INIT, all = TS_BUF_INIT;
	struct ts_gzip gz;

	assert_int_equal(ts_gzip_init(&gz, NULL), TS_OK);
	for (size_t i = 0; i < TS_NELEM(sizes); i++) {
		struct ts_buf text = sample(sizes[i]);

		assert_int_equal(ts_gzip_member(&gz, &packed, ts_buf_bytes(&text),
						i % 2 ? "note" : NULL, NULL),
				 TS_OK);
		ts_buf_put(&all, ts_buf_bytes(&text));
		ts_buf_release(&text);
	}
	ts_gzip_release(&gz);
	assert_unpacks(ts_buf_bytes(&packed), ts_buf_bytes(&all));
	ts_buf_release(&packed);
	ts_buf_release(&all);
}

TEST(a_used_state_packs_like_a_new_one)
{
	struct ts_buf text = sample(50000), fresh = pack(ts_buf_bytes(&text), "c");
	struct ts_buf used = TS_BUF_INIT;
	struct ts_gzip gz;

	assert_int_equal(ts_gzip_init(&gz, NULL), TS_OK);
	assert_int_equal(ts_gzip_member(&gz, &used, TS_LIT("other text"), NULL, NULL), TS_OK);
	ts_buf_clear(&used);
	assert_int_equal(ts_gzip_member(&gz, &used, ts_buf_bytes(&text), "c", NULL), TS_OK);
	ts_gzip_release(&gz);
	assert_true(ts_bytes_eq(ts_buf_bytes(&used), ts_buf_bytes(&fresh)));
	ts_buf_release(&text);
	ts_buf_release(&fresh);
	ts_buf_release(&used);
}

/* Bytes that no packer can make fewer. */
static struct ts_buf noise(size_t n)
{
	struct ts_buf text = TS_BUF_INIT;
	uint64_t seed = 88172645463325252u;

	for (assert_true(ts_buf_room(&text, n)); text.n < n; text.n++) {
		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		text.p[text.n] = (uint8_t)(seed >> 56);
	}
	return text;
}

TEST(what_cannot_be_packed_is_hardly_longer)
{
	static const size_t sizes[] = { 1, 100, 65535, 65536, 65537, 1 << 20, 5000000 };

	for (size_t i = 0; i < TS_NELEM(sizes); i++) {
		struct ts_buf text = noise(sizes[i]), packed = pack(ts_buf_bytes(&text), NULL);

		assert_true(packed.n > text.n && packed.n < text.n + text.n / 256 + 200);
		assert_unpacks(ts_buf_bytes(&packed), ts_buf_bytes(&text));
		ts_buf_release(&text);
		ts_buf_release(&packed);
	}
}

/* Threads have states at other addresses, which packed other texts before. */
TEST(every_state_packs_alike)
{
	struct ts_gzip states[4];
	struct ts_buf gaps[TS_NELEM(states)] = { TS_BUF_INIT };
	struct ts_buf text = sample(400000);
	size_t at = 0;

	for (size_t i = 0; i < TS_NELEM(states); i++) {
		assert_int_equal(ts_gzip_init(&states[i], NULL), TS_OK);
		assert_true(
			ts_buf_room(&gaps[i], 65536 << i)); /* so addresses differ in more bits */
	}
	for (size_t n = 1; n < 3000; n += 7) {
		struct ts_buf packed[TS_NELEM(states)] = { TS_BUF_INIT };

		for (size_t i = 0; i < TS_NELEM(states); i++) {
			struct ts_buf other = TS_BUF_INIT;
			struct ts_bytes part = ts_bytes_cut(ts_buf_bytes(&text), at, at + n);

			assert_int_equal(ts_gzip_member(&states[i], &packed[i], part, NULL, NULL),
					 TS_OK);
			assert_true(
				ts_bytes_eq(ts_buf_bytes(&packed[i]), ts_buf_bytes(&packed[0])));
			part = ts_bytes_cut(ts_buf_bytes(&text), at / (i + 1), at / (i + 1) + n);
			assert_int_equal(ts_gzip_member(&states[i], &other, part, NULL, NULL),
					 TS_OK);
			ts_buf_release(&other);
		}
		for (size_t i = 0; i < TS_NELEM(states); i++)
			ts_buf_release(&packed[i]);
		at += n / 2;
	}
	for (size_t i = 0; i < TS_NELEM(states); i++) {
		ts_gzip_release(&states[i]);
		ts_buf_release(&gaps[i]);
	}
	ts_buf_release(&text);
}

TEST(the_room_that_a_buffer_has_changes_nothing)
{
	struct ts_buf text = noise(200000), more = sample(2000000), large = TS_BUF_INIT, fresh;
	struct ts_gzip gz;

	ts_buf_put(&text, ts_buf_bytes(&more));
	fresh = pack(ts_buf_bytes(&text), NULL);
	assert_true(ts_buf_room(&large, 10000000));
	assert_int_equal(ts_gzip_init(&gz, NULL), TS_OK);
	assert_int_equal(ts_gzip_member(&gz, &large, ts_buf_bytes(&text), NULL, NULL), TS_OK);
	ts_gzip_release(&gz);
	assert_true(ts_bytes_eq(ts_buf_bytes(&large), ts_buf_bytes(&fresh)));
	ts_buf_release(&text);
	ts_buf_release(&more);
	ts_buf_release(&large);
	ts_buf_release(&fresh);
}

TEST_IN_TMPDIR(other_programs_read_what_was_packed)
{
	struct ts_buf text = sample(300000), packed = pack(ts_buf_bytes(&text), "a comment");
	struct ts_buf more = pack(TS_LIT("the end\n"), NULL), read = TS_BUF_INIT;
	gzFile f;

	ts_buf_put(&packed, ts_buf_bytes(&more));
	ts_buf_puts(&text, "the end\n");
	make_file("a.gz", ts_buf_bytes(&packed));
	make_file("a", ts_buf_bytes(&text));
	f = gzopen("a.gz", "rb");
	assert_non_null(f);
	assert_true(ts_buf_room(&read, text.n + 1));
	assert_int_equal(gzread(f, read.p, (unsigned)text.n + 1), (int)text.n);
	assert_memory_equal(read.p, text.p, text.n);
	gzclose(f);
	if (system("python3 -c '' 2>/dev/null") == 0)
		assert_int_equal(
			system("python3 -c 'import gzip; "
			       "assert gzip.open(\"a.gz\").read() == open(\"a\", \"rb\").read()'"),
			0);
	ts_buf_release(&text);
	ts_buf_release(&packed);
	ts_buf_release(&more);
	ts_buf_release(&read);
}

TEST_IN_TMPDIR(what_other_programs_packed_is_read)
{
	struct ts_buf packed;

	make_file("hello.txt", TS_LIT("hello hello hello\n"));
	if (system("gzip -9 hello.txt 2>/dev/null") != 0) /* with a name and a time in its header */
		skip();
	packed = read_file("hello.txt.gz");
	assert_unpacks(ts_buf_bytes(&packed), TS_LIT("hello hello hello\n"));
	assert_null(ts_gzip_comment(ts_buf_bytes(&packed)).p);
	ts_buf_release(&packed);
}

TEST(the_comment_is_found_behind_all_other_fields)
{
	static const struct {
		struct ts_bytes header;
		const char *comment; /* NULL: none */
	} cases[] = {
		{ TS_LIT("\x1f\x8b\x08\x10\0\0\0\0\0\xff"
			 "tpusight/1\0"),
		  "tpusight/1" },
		{ TS_LIT("\x1f\x8b\x08\x18\0\0\0\0\0\xff"
			 "name\0"
			 "text\0"),
		  "text" },
		{ TS_LIT("\x1f\x8b\x08\x1c\0\0\0\0\0\xff"
			 "\x03\0"
			 "a\0b"
			 "name\0"
			 "text\0"),
		  "text" },
		{ TS_LIT("\x1f\x8b\x08\x14\0\0\0\0\0\xff"
			 "\x00\0"
			 "\0"),
		  "" },
		{ TS_LIT("\x1f\x8b\x08\x08\0\0\0\0\0\xff"
			 "name\0"),
		  NULL },
		{ TS_LIT("\x1f\x8b\x08\x10\0\0\0\0\0\xff"
			 "no end"),
		  NULL },
		{ TS_LIT("\x1f\x8b\x08\x18\0\0\0\0\0\xff"
			 "no end"),
		  NULL },
		{ TS_LIT("\x1f\x8b\x08\x14\0\0\0\0\0\xff"
			 "\xff\xff"
			 "short"),
		  NULL },
		{ TS_LIT("\x1f\x8b\x08\x14\0\0\0\0\0\xff"
			 "\xff"),
		  NULL },
		{ TS_LIT("\x1f\x8b\x08\x10\0\0\0\0\0\xff"), NULL },
		{ TS_LIT("\x1f\x8b\x08\xe0\0\0\0\0\0\xff"
			 "x\0"),
		  NULL },
		{ TS_LIT("\x1f\x8b\x07\x10\0\0\0\0\0\xff"
			 "x\0"),
		  NULL },
		{ TS_LIT("\x1f\x8b\x08\x10"), NULL },
		{ TS_LIT(""), NULL },
	};

	for (size_t i = 0; i < TS_NELEM(cases); i++) {
		struct ts_bytes got = ts_gzip_comment(cases[i].header);

		if (!cases[i].comment)
			assert_null(got.p);
		else
			assert_true(got.p && ts_bytes_is(got, cases[i].comment));
	}
}

TEST(a_comment_written_is_a_comment_read)
{
	struct ts_buf packed = pack(TS_LIT("text"), "tpusight/1 overlay");

	assert_true(ts_bytes_is(ts_gzip_comment(ts_buf_bytes(&packed)), "tpusight/1 overlay"));
	ts_buf_release(&packed);
}

TEST(every_truncation_is_noticed)
{
	struct ts_buf text = sample(3000), packed = pack(ts_buf_bytes(&text), "note");
	struct ts_buf second = pack(TS_LIT("second"), NULL);
	size_t first = packed.n;

	ts_buf_put(&packed, ts_buf_bytes(&second));
	for (size_t n = 0; n < packed.n; n++) {
		struct ts_error err = TS_ERROR_INIT;
		struct ts_buf got = TS_BUF_INIT;
		uint8_t *exact = malloc(n ? n : 1); /* of that size, for the sanitizer's sake */
		enum ts_status st;

		memcpy(exact, packed.p, n);
		st = unpack((struct ts_bytes){ exact, n }, 100, &got, &err);
		assert_int_equal(st, n == first ? TS_OK : TS_FORMAT);
		assert_true(got.n <= text.n + 6);
		if (got.n)
			assert_memory_equal(got.p, text.p, TS_MIN(got.n, text.n));
		free(exact);
		ts_buf_release(&got);
	}
	ts_buf_release(&text);
	ts_buf_release(&packed);
	ts_buf_release(&second);
}

TEST(every_changed_byte_is_survived)
{
	struct ts_buf text = sample(2000), packed = pack(ts_buf_bytes(&text), NULL);
	size_t nr_noticed = 0;

	for (size_t at = 10; at < packed.n; at++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			struct ts_buf got = TS_BUF_INIT;

			packed.p[at] ^= (uint8_t)(1 << bit);
			if (unpack(ts_buf_bytes(&packed), 512, &got, NULL) == TS_FORMAT)
				nr_noticed++;
			else
				assert_true(ts_bytes_eq(ts_buf_bytes(&got), ts_buf_bytes(&text)));
			packed.p[at] ^= (uint8_t)(1 << bit);
			ts_buf_release(&got);
		}
	}
	/* All but the bits that fill up the last byte before the check sum. */
	assert_true(nr_noticed >= (packed.n - 10) * 8 - 7);
	ts_buf_release(&text);
	ts_buf_release(&packed);
}

TEST(damage_is_named_with_its_place)
{
	struct ts_buf packed = pack(TS_LIT("abc"), NULL), got = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	char expected[64];

	snprintf(expected, sizeof(expected), "truncated gzip data: ends at packed byte %zu",
		 packed.n - 1);
	assert_int_equal(
		unpack(ts_bytes_cut(ts_buf_bytes(&packed), 0, packed.n - 1), 64, &got, &err),
		TS_FORMAT);
	assert_has(err.text, expected);
	assert_true(ts_bytes_is(ts_buf_bytes(&got), "abc")); /* what came before it is there */
	snprintf(expected, sizeof(expected), "packed byte %zu: no gzip data behind member 1",
		 packed.n);
	ts_buf_puts(&packed, "garbage");
	assert_int_equal(unpack(ts_buf_bytes(&packed), 64, &got, &err), TS_FORMAT);
	assert_has(err.text, expected);
	packed.p[packed.n - 7 - 8] ^= 1;
	assert_int_equal(unpack(ts_buf_bytes(&packed), 64, &got, &err), TS_FORMAT);
	assert_has(err.text, "damaged gzip data: incorrect data check");
	assert_int_equal(unpack(TS_LIT("{\"traceEvents\": []}"), 64, &got, &err), TS_FORMAT);
	assert_string_equal(err.text, "not gzip data");
	ts_buf_release(&packed);
	ts_buf_release(&got);
}

TEST(zeros_behind_the_last_member_are_padding)
{
	struct ts_buf packed = pack(TS_LIT("abc"), NULL);

	ts_buf_pad(&packed, '\0', 512);
	assert_unpacks(ts_buf_bytes(&packed), TS_LIT("abc"));
	ts_buf_release(&packed);
}

TEST(the_head_is_no_longer_than_asked)
{
	struct ts_buf text = sample(100000), packed = pack(ts_buf_bytes(&text), NULL);
	struct ts_buf head = TS_BUF_INIT;

	assert_int_equal(ts_gunzip_head(ts_buf_bytes(&packed), &head, 1000, NULL), TS_OK);
	assert_int_equal(head.n, 1000);
	assert_memory_equal(head.p, text.p, 1000);
	ts_buf_clear(&head);
	assert_int_equal(ts_gunzip_head(ts_buf_bytes(&packed), &head, 1000000, NULL), TS_OK);
	assert_int_equal(head.n, text.n);
	ts_buf_clear(&head); /* half of a file still shows its beginning */
	assert_int_equal(ts_gunzip_head(ts_bytes_cut(ts_buf_bytes(&packed), 0, packed.n / 2), &head,
					1000000, NULL),
			 TS_FORMAT);
	assert_true(head.n > 1000);
	assert_memory_equal(head.p, text.p, head.n);
	ts_buf_release(&text);
	ts_buf_release(&packed);
	ts_buf_release(&head);
}
