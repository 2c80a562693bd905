/* SPDX-License-Identifier: MIT */
/* Any text as an HLO shape: sizes of it, and that it prints as a text that means the same. */
#include "base/buf.h"
#include "model/hlo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void same_again(struct ts_arena *arena, const struct ts_shape *shape)
{
	struct ts_buf first = TS_BUF_INIT, second = TS_BUF_INIT;
	struct ts_bytes rest;
	struct ts_shape again;

	ts_shape_print(&first, shape);
	if (first.failed || ts_shape_parse(arena, ts_buf_bytes(&first), &again, &rest, NULL))
		abort();
	ts_shape_print(&second, &again);
	if (rest.n || !ts_bytes_eq(ts_buf_bytes(&first), ts_buf_bytes(&second)))
		abort();
	ts_buf_release(&first);
	ts_buf_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_bytes rest;
	struct ts_shape shape;

	if (ts_shape_parse(&arena, (struct ts_bytes){ data, n }, &shape, &rest, NULL) == TS_OK) {
		if (rest.n > n || ts_shape_elements(&shape) < 0 || ts_shape_bytes(&shape) < 0 ||
		    ts_shape_logical_bytes(&shape) < 0)
			abort();
		ts_shape_in_space(&shape, TS_SPACE_HOST);
		same_again(&arena, &shape);
	}
	ts_arena_release(&arena);
	return 0;
}
