/* SPDX-License-Identifier: MIT */
/* What the forms share. */
#include "write/columns/form.h"

#include "codec/utf8.h"

enum ts_status ts_colfile_drain(struct ts_colfile *file, struct ts_error *err)
{
	size_t before = file->out.n;

	if (file->out.failed)
		return ts_fail_nomem(err);
	ts_drain_offer(file->setup.drain, &file->out);
	file->nr_drained += before - file->out.n;
	if (file->setup.drain->status && err != file->setup.drain->err)
		*err = *file->setup.drain->err;
	return file->setup.drain->status;
}

static bool is_utf8(struct ts_bytes text)
{
	const uint8_t *p = text.p, *end = p + text.n;

	while (p < end)
		if (ts_utf8_next(&p, end) == TS_UTF8_BAD)
			return false;
	return true;
}

void ts_colfile_put_text(struct ts_buf *out, struct ts_bytes text)
{
	const uint8_t *p = text.p, *end = p + text.n;

	TS_ASSERT(out);
	if (text.n == 0)
		return;
	if (is_utf8(text)) {
		ts_buf_put(out, text);
		return;
	}
	while (p < end) {
		const uint8_t *from = p;

		if (ts_utf8_next(&p, end) == TS_UTF8_BAD)
			ts_buf_puts(out, TS_UTF8_REPLACEMENT);
		else
			ts_buf_put(out, (struct ts_bytes){ from, (size_t)(p - from) });
	}
}

void ts_colfile_put_bits(struct ts_buf *out, const uint8_t *values, size_t nr)
{
	size_t nr_bytes = (nr + 7) / 8, at = out->n;

	ts_buf_pad(out, '\0', nr_bytes);
	for (size_t i = 0; i < nr && !out->failed; i++)
		out->p[at + i / 8] |= (uint8_t)(values[i] << i % 8);
}
