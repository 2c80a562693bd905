/* SPDX-License-Identifier: MIT */
/* Files cut anywhere: whole, or not. */
#include "tests/test.h"
#include "io/gzip.h"
#include "io/input.h"
#include "live/whole.h"
#include "tests/overlay/folder.h"

#define PROFILE TS_SRCDIR "/tests/data/cpu_shapes.xplane.pb"

/* Where top-level fields of an xplane end: read here by hand, tag 0x0a and a varint each. */
static bool ends_a_field(struct ts_bytes file, size_t cut)
{
	size_t at = 0;

	while (at < cut) {
		size_t n = 0, shift = 0, p = at + 1;

		do
			n |= (size_t)(file.p[p] & 127) << 7 * shift++;
		while (file.p[p++] & 128);
		at = p + n;
	}
	return at == cut;
}

static enum ts_status whole(const struct folder *folder, const char *name, struct ts_bytes bytes)
{
	put_file(folder, name, bytes);
	return ts_file_is_whole(in_folder(folder, name), NULL);
}

TEST(an_xplane_is_whole_where_a_field_ends)
{
	struct ts_input input = TS_INPUT_INIT;
	struct folder folder;
	size_t nr_ends = 0;

	folder_make(&folder);
	assert_int_equal(ts_input_open(&input, PROFILE, NULL), TS_OK);
	put_file(&folder, "h.xplane.pb", input.bytes);
	for (size_t cut = input.bytes.n + 1; cut-- > 0;) {
		const char *path = in_folder(&folder, "h.xplane.pb");
		bool ends = cut > 0 && ends_a_field(input.bytes, cut);

		nr_ends += ends;
		assert_int_equal(truncate(path, (off_t)cut), 0);
		assert_int_equal(ts_file_is_whole(path, NULL), ends ? TS_OK : TS_FORMAT);
	}
	assert_in_range(nr_ends, 2, 100);
	ts_input_release(&input);
	folder_remove(&folder);
}

TEST(a_trace_is_whole_at_its_end)
{
	struct ts_bytes text = TS_LIT("{\"traceEvents\": [{\"name\": \"a}]\\\"\", \"ts\": 1}]}");
	struct ts_buf packed = TS_BUF_INIT;
	struct ts_gzip gz = TS_GZIP_INIT;
	struct folder folder;

	folder_make(&folder);
	assert_int_equal(ts_gzip_init(&gz, NULL), TS_OK);
	assert_int_equal(ts_gzip_member(&gz, &packed, text, NULL, NULL), TS_OK);
	for (size_t cut = 0; cut <= text.n; cut++)
		assert_int_equal(whole(&folder, "h.trace.json", ts_bytes_cut(text, 0, cut)),
				 cut == text.n ? TS_OK : TS_FORMAT);
	for (size_t cut = 2; cut <= packed.n; cut++) {
		struct ts_bytes part = ts_bytes_cut(ts_buf_bytes(&packed), 0, cut);

		assert_int_equal(whole(&folder, "h.trace.json.gz", part),
				 cut == packed.n ? TS_OK : TS_FORMAT);
		if (cut > 18) /* a head: before that it is not known to be packed */
			assert_int_equal(whole(&folder, "h.prof", part),
					 cut == packed.n ? TS_OK : TS_FORMAT);
	}
	assert_int_equal(ts_file_is_whole(in_folder(&folder, "nothing"), NULL), TS_NOTFOUND);
	ts_gzip_release(&gz);
	ts_buf_release(&packed);
	folder_remove(&folder);
}
