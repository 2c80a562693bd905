/* SPDX-License-Identifier: MIT */
/* Writing a copy, plain or packed. */
#include "copy/out.h"

#include "base/check.h"
#include "io/file.h"

enum ts_status ts_copy_open(struct ts_copy_out *out, const char *path,
			    const struct ts_newfile_use *use, struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(out && path);
	*out = (struct ts_copy_out){
		.file = TS_NEWFILE_INIT,
		.gz = TS_GZIP_INIT,
		.text = TS_BUF_INIT,
		.members = TS_BUF_INIT,
		.packed = ts_bytes_ends(ts_bytes_of(path), ".gz"),
		.path = path,
	};
	st = ts_newfile_open_for(&out->file, path, use, err);
	if (st == TS_OK && out->packed)
		st = ts_gzip_init(&out->gz, err);
	return st;
}

/* What the buffer holds goes to the file. */
static void out_flush(struct ts_copy_out *out)
{
	struct ts_bytes bytes = ts_buf_bytes(&out->text);

	if (out->st == TS_OK && out->packed) {
		ts_buf_clear(&out->members);
		out->st = ts_gzip_member(&out->gz, &out->members, bytes, NULL, &out->err);
		if (out->st == TS_OK && out->members.failed)
			out->st = ts_fail_nomem(&out->err);
		bytes = ts_buf_bytes(&out->members);
	}
	if (out->st == TS_OK)
		out->st = ts_newfile_put(&out->file, bytes, &out->err);
	ts_buf_clear(&out->text);
}

void ts_copy_put(struct ts_copy_out *out, struct ts_bytes bytes)
{
	TS_ASSERT_HOT(out);
	TS_ASSERT_HOT(bytes.p || bytes.n == 0);
	out->nr_bytes += bytes.n;
	while (bytes.n > 0 && out->st == TS_OK) {
		size_t n = TS_MIN(bytes.n, TS_COPY_BUFFER - out->text.n);

		ts_buf_put(&out->text, ts_bytes_cut(bytes, 0, n));
		if (out->text.failed)
			out->st = ts_fail_nomem(&out->err);
		else if (out->text.n == TS_COPY_BUFFER)
			out_flush(out);
		bytes = ts_bytes_cut(bytes, n, bytes.n);
	}
}

void ts_copy_puts(struct ts_copy_out *out, const char *text)
{
	TS_ASSERT_HOT(out && text);
	ts_copy_put(out, ts_bytes_of(text));
}

void ts_copy_nomem(struct ts_copy_out *out)
{
	TS_ASSERT(out);
	if (out->st == TS_OK)
		out->st = ts_fail_nomem(&out->err);
}

enum ts_status ts_copy_status(const struct ts_copy_out *out, struct ts_error *err)
{
	TS_ASSERT(out);
	if (out->st && err)
		*err = out->err;
	return out->st;
}

enum ts_status ts_copy_commit(struct ts_copy_out *out, struct ts_error *err)
{
	TS_ASSERT(out);
	if (out->text.n > 0 || (out->packed && out->nr_bytes == 0))
		out_flush(out);
	if (out->st == TS_OK)
		out->st = ts_newfile_commit(&out->file, &out->err);
	return ts_copy_status(out, err);
}

void ts_copy_release(struct ts_copy_out *out)
{
	TS_ASSERT(out);
	ts_newfile_release(&out->file);
	ts_gzip_release(&out->gz);
	ts_buf_release(&out->text);
	ts_buf_release(&out->members);
}
