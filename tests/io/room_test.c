/* SPDX-License-Identifier: MIT */
/* Large arrays lie in files, small ones in memory; growing keeps what is in them, and a full disk is no end of the program. */
#include "tmpdir.h"

#include "base/arena.h"
#include "io/scratch.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

#define SMALL (TS_ROOM_BYTES / 4)
#define LARGE (TS_ROOM_BYTES * 2)

static bool all_zero(const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != 0)
			return false;
	return true;
}

/* A limit on the size of files is to a program what a full disk is. */
static struct rlimit fill_disk(void)
{
	struct rlimit before, none;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = (struct rlimit){ 1000, before.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	return before;
}

static void empty_disk(struct rlimit before)
{
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
}

TEST(only_what_is_large_lies_in_a_file)
{
	uint8_t *small = ts_room_array(&ts_scratch_rooms, SMALL, 1);
	uint8_t *large = ts_room_array(&ts_scratch_rooms, LARGE, 1);
	uint8_t *kept = ts_room_array(NULL, LARGE, 1);

	assert_false(ts_room_is_file(small));
	assert_false(ts_room_is_file(kept));
#ifdef HAVE_POSIX_FALLOCATE
	assert_true(ts_room_is_file(large));
#endif
	assert_true(all_zero(small, SMALL) && all_zero(large, LARGE) && all_zero(kept, LARGE));
	assert_null(ts_room_array(&ts_scratch_rooms, SIZE_MAX, 2));
	assert_null(ts_room_alloc(&ts_scratch_rooms, SIZE_MAX));
	ts_room_free(small);
	ts_room_free(large);
	ts_room_free(kept);
	ts_room_free(NULL);
}

/* From memory into a file, and there on. */
TEST(what_grows_keeps_what_it_holds)
{
	uint32_t *items = NULL;
	size_t cap = 0, nr = 0;

	while (nr * sizeof(*items) < 8 * LARGE) {
		assert_true(ts_room_grow(&ts_scratch_rooms, &items, &cap, nr + 1, sizeof(*items)));
		assert_true(all_zero((uint8_t *)&items[nr], (cap - nr) * sizeof(*items)));
		for (; nr < cap; nr++)
			items[nr] = (uint32_t)nr + 1;
	}
	for (size_t i = 0; i < nr; i++)
		assert_int_equal(items[i], i + 1);
	assert_false(ts_room_grow(&ts_scratch_rooms, &items, &cap, SIZE_MAX / 8, sizeof(*items)));
	ts_room_free(items);
}

TEST(where_the_disk_is_full_arrays_lie_in_memory)
{
	uint32_t *items = NULL;
	size_t cap = 0;
	struct rlimit before;
	uint8_t *large;

	assert_true(ts_room_grow(&ts_scratch_rooms, &items, &cap, LARGE, sizeof(*items)));
	items[LARGE - 1] = 7;
	before = fill_disk();
	large = ts_room_array(&ts_scratch_rooms, LARGE, 1);
	assert_non_null(large);
	assert_false(ts_room_is_file(large));
	assert_true(ts_room_grow(&ts_scratch_rooms, &items, &cap, cap + 1, sizeof(*items)));
	empty_disk(before);
	assert_false(ts_room_is_file(items));
	assert_int_equal(items[LARGE - 1], 7);
	assert_int_equal(items[cap - 1], 0);
	ts_room_free(large);
	ts_room_free(items);
}

TEST(large_pieces_of_an_arena_lie_in_files)
{
	struct ts_arena arena = TS_ARENA_INIT;
	uint8_t *small, *large;

	arena.rooms = &ts_scratch_rooms;
	small = ts_arena_array(&arena, 100, 1);
	large = ts_arena_array(&arena, LARGE, 1);
	assert_true(all_zero(small, 100) && all_zero(large, LARGE));
	memset(large, 1, LARGE);
	ts_arena_release(&arena);
	assert_non_null(ts_arena_array(&arena, LARGE, 1));
	ts_arena_release(&arena);
}

#define NR_PIECES 3000

static size_t size_of(size_t i)
{
	return i % 100 == 99 ? 5000000 : 1 + i * 7919 % 9000;
}

/* The lowest number that is free, which all files of this program are below. */
static int next_file(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

/* Also where pages were given back, what was written is there; and where the disk is full, it lies in memory. */
TEST(pieces_that_are_seldom_read_lie_in_few_files)
{
	struct ts_arena arena = { .rooms = &ts_scratch_rooms, .is_seldom_read = true };
	uint8_t *pieces[NR_PIECES];
	struct rlimit before;
	int first = next_file();

	for (size_t i = 0; i < NR_PIECES; i++) {
		pieces[i] = ts_arena_alloc(&arena, size_of(i));
		assert_non_null(pieces[i]);
		memset(pieces[i], (int)i, size_of(i));
		if (i == 0)
			assert_int_equal(next_file() > first, ts_room_is_file(arena.chunks));
	}
	assert_true(next_file() < first + 40);
	before = fill_disk();
	assert_non_null(ts_arena_array(&arena, 50000000, 1));
	assert_false(ts_room_is_file(arena.chunks));
	empty_disk(before);
	for (size_t i = 0; i < NR_PIECES; i++) {
		assert_int_equal(pieces[i][0], (uint8_t)i);
		assert_int_equal(pieces[i][size_of(i) - 1], (uint8_t)i);
	}
	ts_arena_release(&arena);
	assert_int_equal(next_file(), first);
}
