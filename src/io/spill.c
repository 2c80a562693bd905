/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A piece of the file is mapped at a time. It gets its room on the disk before: memory that is written to where the disk is full
 * ends the program. Pages of the pieces before it are given back: the file has them.
 */
#include "io/spill.h"

#include "base/arena.h"
#include "base/check.h"

#include <fcntl.h>
#include <sys/mman.h>

#define PIECE_BYTES (size_t)(4 * 1024 * 1024)
#define ALIGN	    sizeof(uint64_t)

static void give_back(const struct ts_spill *spill)
{
#ifdef MADV_DONTNEED
	const struct ts_bytes *last =
		spill->nr_pieces ? &spill->pieces[spill->nr_pieces - 1] : NULL;

	if (last)
		madvise((void *)(uintptr_t)last->p, last->n, MADV_DONTNEED);
#else
	(void)spill;
#endif
}

/* The file is N bytes longer, and they have room on the disk. */
static bool lengthen(const struct ts_scratch *scratch, size_t n)
{
#ifdef HAVE_POSIX_FALLOCATE
	return posix_fallocate(scratch->fd, (off_t)scratch->nr_bytes, (off_t)n) == 0;
#else
	(void)scratch, (void)n; /* then nothing is spilled */
	return false;
#endif
}

static enum ts_status add_piece(struct ts_spill *spill, size_t nr_bytes, struct ts_error *err)
{
	size_t n = (TS_MAX(nr_bytes, PIECE_BYTES) + PIECE_BYTES - 1) / PIECE_BYTES * PIECE_BYTES;
	off_t at = (off_t)spill->scratch.nr_bytes;
	enum ts_status st = TS_OK;
	void *map;

	if (spill->scratch.fd < 0)
		st = ts_scratch_open(&spill->scratch, err);
	if (st)
		return st;
	if (!ts_grow(&spill->pieces, &spill->cap_pieces, spill->nr_pieces + 1,
		     sizeof(*spill->pieces)))
		return ts_fail_nomem(err);
	if (!lengthen(&spill->scratch, n))
		return ts_fail(err, TS_IO, "no room on the disk");
	map = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_SHARED, spill->scratch.fd, at);
	if (map == MAP_FAILED)
		return ts_fail(err, TS_IO, "cannot be mapped");
	give_back(spill);
	spill->pieces[spill->nr_pieces++] = (struct ts_bytes){ map, n };
	spill->scratch.nr_bytes += n;
	spill->next = map;
	spill->left = n;
	return TS_OK;
}

void *ts_spill_take(void *ctx, size_t nr_bytes)
{
	struct ts_spill *spill = ctx;
	uint8_t *taken;

	TS_ASSERT(spill);
	if (spill->is_full || nr_bytes > SIZE_MAX / 2)
		return NULL;
	nr_bytes = (nr_bytes + ALIGN - 1) / ALIGN * ALIGN;
	if (nr_bytes > spill->left && add_piece(spill, nr_bytes, NULL)) {
		spill->is_full = true;
		return NULL;
	}
	taken = spill->next;
	spill->next += nr_bytes;
	spill->left -= nr_bytes;
	return taken;
}

void ts_spill_release(struct ts_spill *spill)
{
	TS_ASSERT(spill);
	for (size_t i = 0; i < spill->nr_pieces; i++)
		munmap((void *)(uintptr_t)spill->pieces[i].p, spill->pieces[i].n);
	free(spill->pieces);
	ts_scratch_release(&spill->scratch);
	*spill = (struct ts_spill)TS_SPILL_INIT;
}
