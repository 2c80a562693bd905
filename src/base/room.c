/* SPDX-License-Identifier: MIT */
/* An array has a head before it, which says where it lies. */
#include "base/room.h"

#include "base/check.h"

#include <stdalign.h>

struct head {
	const struct ts_rooms *rooms; /* of the file; NULL: it lies in memory */
	size_t nr_bytes;	      /* with this head */
	int file;
	alignas(max_align_t) uint8_t bytes[];
};

static struct head *room_head_of(const void *array)
{
	return (struct head *)((uintptr_t)array - sizeof(struct head));
}

/* In a file: cleared. NULL: it is too small for that, or there is none. */
static struct head *in_file(const struct ts_rooms *rooms, size_t nr_bytes)
{
	struct head *head;
	int file;

	if (!rooms || nr_bytes < TS_ROOM_BYTES)
		return NULL;
	head = rooms->map(&file, nr_bytes);
	if (head)
		*head = (struct head){ .rooms = rooms, .nr_bytes = nr_bytes, .file = file };
	return head;
}

static void *room_make(const struct ts_rooms *rooms, size_t nr_bytes, bool cleared)
{
	struct head *head;

	if (nr_bytes > SIZE_MAX / 2)
		return NULL;
	nr_bytes += sizeof(*head);
	head = in_file(rooms, nr_bytes);
	if (!head && (head = cleared ? calloc(1, nr_bytes) : malloc(nr_bytes)))
		*head = (struct head){ .nr_bytes = nr_bytes };
	return head ? head->bytes : NULL;
}

void *ts_room_alloc(const struct ts_rooms *rooms, size_t nr_bytes)
{
	return room_make(rooms, nr_bytes, false);
}

void *ts_room_array(const struct ts_rooms *rooms, size_t nr, size_t size)
{
	TS_ASSERT(size > 0);
	return nr > SIZE_MAX / size ? NULL : room_make(rooms, nr * size, true);
}

static void *resize_memory(struct head *old, size_t nr_bytes)
{
	size_t has = old->nr_bytes;
	struct head *head = realloc(old, nr_bytes);

	if (!head)
		return NULL;
	memset((uint8_t *)head + has, 0, nr_bytes - has);
	head->nr_bytes = nr_bytes;
	return head->bytes;
}

/* In memory it is moved by the system, and in a file too; between the two it is copied. */
static void *resize(const struct ts_rooms *rooms, void *array, size_t nr_bytes)
{
	struct head *old = room_head_of(array), *head = NULL;
	size_t has = old->nr_bytes;

	nr_bytes += sizeof(*head);
	if (!old->rooms && (!rooms || nr_bytes < TS_ROOM_BYTES))
		return resize_memory(old, nr_bytes);
	if (old->rooms)
		head = old->rooms->remap(old->file, old, has, nr_bytes);
	if (head) {
		head->nr_bytes = nr_bytes;
		return head->bytes;
	}
	array = room_make(rooms, nr_bytes - sizeof(*head), true);
	if (!array)
		return NULL;
	memcpy(array, old->bytes, has - sizeof(*head));
	ts_room_free(old->bytes);
	return array;
}

bool ts_room_grow(const struct ts_rooms *rooms, void *items, size_t *cap, size_t need, size_t size)
{
	void *old, *grown;
	size_t room;

	if (need <= *cap)
		return true;
	if (need > SIZE_MAX / 4 / size)
		return false;
	room = TS_MAX(need, *cap < 8 ? 8 : *cap + *cap / 2);
	memcpy(&old, items, sizeof(old)); /* the caller's pointer, whatever its type */
	grown = old ? resize(rooms, old, room * size) : ts_room_array(rooms, room, size);
	if (!grown)
		return false;
	memcpy(items, &grown, sizeof(grown));
	*cap = room;
	return true;
}

void ts_room_free(void *array)
{
	struct head *head;

	if (!array)
		return;
	head = room_head_of(array);
	if (head->rooms)
		head->rooms->unmap(head->file, head, head->nr_bytes);
	else
		free(head);
}

void ts_room_rest(void *array)
{
	if (ts_room_is_file(array))
		room_head_of(array)->rooms->rest(room_head_of(array),
						 room_head_of(array)->nr_bytes);
}

bool ts_room_is_file(const void *array)
{
	return array && room_head_of(array)->rooms;
}
