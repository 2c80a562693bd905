/* SPDX-License-Identifier: MIT */
/* A window over a text: packed or plain, longer than the window, and with pages that are given back. */
#include "tmpdir.h"

#include "io/input.h"
#include "io/window.h"

#define TEXT_BYTES (9 * 1024 * 1024)

/* The byte of the text at a place. */
static uint8_t byte_at(uint64_t at)
{
	return (uint8_t)(at * 31 + at / 4096);
}

static struct ts_buf long_text(void)
{
	struct ts_buf text = TS_BUF_INIT;

	assert_true(ts_buf_room(&text, TEXT_BYTES));
	for (uint64_t at = 0; at < TEXT_BYTES; at++)
		text.p[text.n++] = byte_at(at);
	return text;
}

/* Every byte of the window from the cursor on, in steps, is that of the text; all of it is seen. */
static void assert_whole(struct ts_window *window)
{
	uint64_t at = 0;
	bool more;

	do {
		for (; window->p < window->end; window->p++, at++)
			if (*window->p != byte_at(at) || ts_window_at(window, window->p) != at)
				fail_msg("byte %llu of the window is another one",
					 (unsigned long long)at);
		ts_window_forget(window);
		assert_int_equal(ts_window_more(window, &more, NULL), TS_OK);
	} while (more);
	assert_int_equal(at, TEXT_BYTES);
}

TEST_IN_TMPDIR(a_packed_text_is_seen_piece_by_piece)
{
	struct ts_buf text = long_text(), packed = TS_BUF_INIT;
	struct ts_gzip gz;
	struct ts_window window;

	assert_int_equal(ts_gzip_init(&gz, NULL), TS_OK);
	assert_int_equal(ts_gzip_member(&gz, &packed, ts_buf_bytes(&text), NULL, NULL), TS_OK);
	ts_gzip_release(&gz);
	assert_int_equal(ts_window_open(&window, ts_buf_bytes(&packed), false, NULL), TS_OK);
	assert_whole(&window);
	assert_true(window.cap <= TS_WINDOW_MAX);
	ts_window_release(&window);
	ts_buf_release(&packed);
	ts_buf_release(&text);
}

/* The pages come back from the file when they are looked at again. */
TEST_IN_TMPDIR(pages_of_a_mapped_file_are_given_back)
{
	struct ts_buf text = long_text();
	struct ts_input input = TS_INPUT_INIT;
	struct ts_window window;

	make_file("text", ts_buf_bytes(&text));
	assert_int_equal(ts_input_open(&input, "text", NULL), TS_OK);
	assert_int_equal(ts_window_open(&window, input.bytes, true, NULL), TS_OK);
	window.p += TEXT_BYTES / 2;
	ts_window_forget(&window);
	assert_ptr_equal(window.forgotten, window.p);
	assert_true(ts_bytes_eq(input.bytes, ts_buf_bytes(&text)));
	window.p = window.start;
	assert_whole(&window);
	ts_window_release(&window);
	ts_input_release(&input);
	ts_buf_release(&text);
}

TEST_IN_TMPDIR(what_is_not_mapped_stays)
{
	struct ts_buf text = long_text();
	struct ts_window window;

	assert_int_equal(ts_window_open(&window, ts_buf_bytes(&text), false, NULL), TS_OK);
	assert_whole(&window);
	assert_ptr_equal(window.forgotten, text.p);
	ts_window_release(&window);
	ts_buf_release(&text);
}

TEST_IN_TMPDIR(damage_ends_the_text)
{
	struct ts_buf text = long_text(), packed = TS_BUF_INIT;
	struct ts_gzip gz;
	struct ts_window window;
	bool more;

	assert_int_equal(ts_gzip_init(&gz, NULL), TS_OK);
	assert_int_equal(ts_gzip_member(&gz, &packed, ts_buf_bytes(&text), NULL, NULL), TS_OK);
	ts_gzip_release(&gz);
	assert_int_equal(ts_window_open(&window,
					ts_bytes_cut(ts_buf_bytes(&packed), 0, packed.n / 2), false,
					NULL),
			 TS_OK);
	do {
		window.p = window.end;
		assert_int_equal(ts_window_more(&window, &more, NULL), TS_OK);
	} while (more);
	assert_has(window.damage.text, "truncated gzip data");
	ts_window_release(&window);
	ts_buf_release(&packed);
	ts_buf_release(&text);
}
