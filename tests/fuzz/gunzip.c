/* SPDX-License-Identifier: MIT */
/* Any bytes as gzip: unpacked to the end or to the damage, in bounded memory. */
#include "io/gzip.h"
#include "tests/fuzz/mutate/mutator.h"

#define MOST_BYTES (16 << 20) /* 1000 to 1 is possible: the rest of a bomb is not waited for */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(gzip)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ts_bytes bytes = { data, n };
	struct ts_gunzip gz = TS_GUNZIP_INIT;
	struct ts_buf head = TS_BUF_INIT;
	uint8_t text[4096];
	size_t got = 1, all = 0;

	ts_gzip_comment(bytes);
	ts_gunzip_head(bytes, &head, 1000, NULL);
	if (head.n > 1000)
		abort();
	if (ts_gzip_probe(bytes) && ts_gunzip_open(&gz, bytes, NULL) == TS_OK)
		while (got > 0 && all < MOST_BYTES &&
		       ts_gunzip_read(&gz, text, sizeof(text), &got, NULL) == TS_OK)
			all += got;
	ts_gunzip_release(&gz);
	ts_buf_release(&head);
	return 0;
}
