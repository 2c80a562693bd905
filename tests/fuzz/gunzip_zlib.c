/* SPDX-License-Identifier: MIT */
/*
 * Our reading of gzip held against that of zlib's own files (gzread): what both take gives the same bytes, members that
 * follow each other among it. Decided otherwise: zlib passes over whatever stands behind the last member; ours takes zeros
 * there (tapes and disks fill up with them), and calls all else damage.
 */
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "io/gzip.h"
#include "tests/fuzz/mutate/mutator.h"

#define MOST_BYTES (4 << 20)

FUZZ_MUTATOR(gzip)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct outcome {
	struct ts_buf text;
	bool is_whole, is_cut; /* cut: there is more than is waited for */
	struct ts_error err;
};

static void differs(const char *what)
{
	fprintf(stderr, "our gzip and zlib's differ: %s\n", what);
	abort();
}

static struct outcome by_us(struct ts_bytes bytes)
{
	struct outcome got = { .text = TS_BUF_INIT, .err = TS_ERROR_INIT };
	struct ts_gunzip gz = TS_GUNZIP_INIT;
	enum ts_status st = ts_gunzip_open(&gz, bytes, &got.err);
	size_t some = 1;

	while (st == TS_OK && some > 0 && got.text.n < MOST_BYTES &&
	       ts_buf_room(&got.text, 65536)) {
		st = ts_gunzip_read(&gz, got.text.p + got.text.n, 65536, &some, &got.err);
		got.text.n += some;
	}
	got.is_cut = st == TS_OK && some > 0;
	got.is_whole = st == TS_OK && some == 0;
	ts_gunzip_release(&gz);
	return got;
}

static struct outcome by_zlib(struct ts_bytes bytes)
{
	struct outcome got = { .text = TS_BUF_INIT };
	int fd = memfd_create("gzip", MFD_CLOEXEC), some = 1;
	gzFile file;

	if (fd < 0 || write(fd, bytes.p, bytes.n) != (ssize_t)bytes.n || lseek(fd, 0, SEEK_SET))
		abort();
	file = gzdopen(fd, "rb");
	while (file && some > 0 && got.text.n < MOST_BYTES && ts_buf_room(&got.text, 65536)) {
		some = gzread(file, got.text.p + got.text.n, 65536);
		got.text.n += some > 0 ? (size_t)some : 0;
	}
	got.is_cut = some > 0;
	got.is_whole = gzclose(file) == Z_OK && some == 0; /* says whether a member was cut off */
	return got;
}

static bool is_prefix(const struct ts_buf *a, const struct ts_buf *b)
{
	return a->n <= b->n && (a->n == 0 || memcmp(a->p, b->p, a->n) == 0);
}

static void compare(const struct outcome *ours, const struct outcome *theirs)
{
	bool garbage = ts_bytes_has(ts_bytes_of(ours->err.text), "no gzip data behind member");

	if (!is_prefix(&ours->text, &theirs->text) && !is_prefix(&theirs->text, &ours->text))
		differs("the text");
	if (ours->is_cut || theirs->is_cut)
		return;
	if (ours->is_whole && !theirs->is_whole)
		differs("zlib calls it damaged");
	if (theirs->is_whole && !ours->is_whole && !garbage)
		differs("we call it damaged");
	if (theirs->is_whole && ours->text.n != theirs->text.n)
		differs("the length of the text");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ts_bytes bytes = { data, n };
	struct outcome ours, theirs;

	if (!ts_gzip_probe(bytes))
		return 0;
	ours = by_us(bytes);
	theirs = by_zlib(bytes);
	compare(&ours, &theirs);
	ts_buf_release(&ours.text);
	ts_buf_release(&theirs.text);
	return 0;
}
