/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file gets its room on the disk before it is written to: memory that is written to where the disk is
 * full ends the program.
 */
#include "io/rooms.h"

#include "base/check.h"
#include "io/scratch.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

/* FILE has bytes from HAS to NR_BYTES, and they have room on the disk. */
static bool lengthen(int file, size_t has, size_t nr_bytes)
{
#ifdef HAVE_POSIX_FALLOCATE
	return posix_fallocate(file, (off_t)has, (off_t)(nr_bytes - has)) == 0;
#else
	(void)file, (void)has, (void)nr_bytes; /* then all arrays lie in memory */
	return false;
#endif
}

/* FILE from its front, which had HAS bytes. NULL: the disk is full. */
static void *map_longer(int file, size_t has, size_t nr_bytes)
{
	void *map;

	if (!lengthen(file, has, nr_bytes))
		return NULL;
	map = mmap(NULL, nr_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	return map == MAP_FAILED ? NULL : map;
}

static void *map_file(int *file, size_t nr_bytes)
{
	struct ts_scratch scratch = TS_SCRATCH_INIT;
	void *map;

	TS_ASSERT(file);
	if (ts_scratch_open(&scratch, NULL))
		return NULL;
	map = map_longer(scratch.fd, 0, nr_bytes);
	if (map)
		*file = scratch.fd;
	else
		ts_scratch_release(&scratch);
	return map;
}

static void *remap_file(int file, void *p, size_t has, size_t nr_bytes)
{
	void *map = map_longer(file, has, nr_bytes);

	TS_ASSERT(p && nr_bytes > has);
	if (map)
		munmap(p, has);
	return map;
}

static void unmap_file(int file, void *p, size_t nr_bytes)
{
	munmap(p, nr_bytes);
	close(file);
}

const struct ts_rooms ts_file_rooms = { map_file, remap_file, unmap_file };
