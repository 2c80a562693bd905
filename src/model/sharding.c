/* SPDX-License-Identifier: MIT */
/* Shardings as axes of a mesh. See model/sharding.h. */
#include "model/sharding.h"

#include <inttypes.h>

#include "base/check.h"
#include "base/units.h"

#define AXIS_BITS 4
#define AXIS_MASK 0xfu

static ts_axes nth(ts_axes axes, uint32_t at)
{
	return axes >> (AXIS_BITS * at) & AXIS_MASK;
}

static uint32_t count_of(ts_axes axes)
{
	uint32_t nr = 0;

	while (nr < TS_MESH_AXES && nth(axes, nr))
		nr++;
	return nr;
}

bool ts_axes_meet(ts_axes axes, ts_axes others)
{
	for (uint32_t i = 0; i < count_of(axes); i++)
		for (uint32_t k = 0; k < count_of(others); k++)
			if (nth(axes, i) == nth(others, k))
				return true;
	return false;
}

ts_axes ts_axes_less(ts_axes axes, ts_axes others)
{
	ts_axes left = 0;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < count_of(axes); i++)
		if (!ts_axes_meet(nth(axes, i), others))
			left |= nth(axes, i) << (AXIS_BITS * nr++);
	return left;
}

int64_t ts_mesh_size(const struct ts_mesh *mesh, ts_axes axes)
{
	int64_t size = 1;

	for (uint32_t i = 0; i < count_of(axes); i++)
		size = ts_i64_mul(size, mesh->axes[nth(axes, i) - 1].size);
	return size;
}

/* --- device numbers */

/* SIZE devices of the list, each STRIDE above the one before it: those of one axis, or of axes that lie as one does. */
struct piece {
	int64_t size, stride;
};

#define MAX_PIECES TS_MESH_AXES

/*
 * The N devices at places 0, EACH, 2 EACH, ... of an iota, the fastest first: dimension by dimension, of which the first EACH places are
 * passed over. 0: they do not fit into its dimensions.
 */
static uint32_t pieces_of_iota(const struct ts_device_list *list, int64_t n, int64_t each,
			       struct piece *pieces)
{
	uint32_t nr = 0;

	for (uint32_t i = list->nr_reshape; i-- > 0 && n > 1;) {
		int64_t size = list->reshape[list->order[i]], stride = 1;

		for (uint32_t k = (uint32_t)list->order[i] + 1; k < list->nr_reshape; k++)
			stride *= list->reshape[k];
		if (each % size == 0) {
			each /= size;
			continue;
		}
		if (size % each != 0)
			return 0;
		size /= each;
		stride *= each;
		each = 1;
		if (nr == MAX_PIECES || (n % size != 0 && size % n != 0))
			return 0;
		pieces[nr++] = (struct piece){ TS_MIN(n, size), stride };
		n /= TS_MIN(n, size);
	}
	return n == 1 ? nr : 0;
}

/* The same of devices that are listed. */
static uint32_t pieces_listed(const int64_t *listed, int64_t n, int64_t each, struct piece *pieces)
{
	int64_t step = 1;
	uint32_t nr = 0;

	while (step < n) {
		int64_t stride = listed[step * each] - listed[0], size = 2;

		while (step * size < n && listed[step * size * each] - listed[0] == stride * size)
			size++;
		if (stride <= 0 || nr == MAX_PIECES || n % (step * size) != 0)
			return 0;
		pieces[nr++] = (struct piece){ size, stride };
		step *= size;
	}
	return nr;
}

static uint32_t pieces_of(const struct ts_device_list *list, int64_t n, int64_t each,
			  struct piece *pieces)
{
	return list->listed ? pieces_listed(list->listed, n, each, pieces)
			    : pieces_of_iota(list, n, each, pieces);
}

static int64_t step_of_tile(const struct ts_hlo_sharding *sharding, uint32_t dim)
{
	int64_t step = 1;

	for (uint32_t i = dim + 1; i < sharding->nr_tiles; i++)
		step *= sharding->tiles[i];
	return step;
}

/* --- meshes */

static void note_edge(struct ts_mesh_edges *edges, int64_t edge)
{
	uint32_t at = edges->nr;

	for (uint32_t i = 0; i < edges->nr; i++)
		if (edges->items[i] == edge)
			return;
	if (edges->nr == TS_NELEM(edges->items)) {
		edges->failed = true;
		return;
	}
	for (; at > 0 && edges->items[at - 1] > edge; at--)
		edges->items[at] = edges->items[at - 1];
	edges->items[at] = edge;
	edges->nr++;
}

void ts_mesh_note_devices(struct ts_mesh_edges *edges, int64_t nr)
{
	TS_ASSERT(edges);
	note_edge(edges, 1);
	note_edge(edges, TS_MAX(nr, 1));
}

void ts_mesh_note(struct ts_mesh_edges *edges, const struct ts_hlo_sharding *sharding)
{
	struct piece pieces[MAX_PIECES];

	TS_ASSERT(edges && sharding);
	if (sharding->nr_tiles == 0)
		return;
	ts_mesh_note_devices(edges, sharding->devices.nr);
	for (uint32_t dim = 0; dim < sharding->nr_dims; dim++) {
		uint32_t nr = pieces_of(&sharding->devices, sharding->tiles[dim],
					step_of_tile(sharding, dim), pieces);

		for (uint32_t i = 0; i < nr; i++) {
			note_edge(edges, pieces[i].stride);
			note_edge(edges, pieces[i].stride * pieces[i].size);
		}
	}
}

struct ts_mesh ts_mesh_of(const struct ts_mesh_edges *edges)
{
	struct ts_mesh mesh = { .nr = 0 };

	TS_ASSERT(edges);
	if (edges->failed)
		return mesh;
	for (uint32_t i = edges->nr; i-- > 1;) {
		int64_t size = edges->items[i] / edges->items[i - 1];

		if (size * edges->items[i - 1] != edges->items[i])
			return (struct ts_mesh){ .nr = 0 };
		mesh.axes[mesh.nr++] =
			(struct ts_mesh_axis){ .size = size, .stride = edges->items[i - 1] };
	}
	return mesh;
}

static bool put_axis(struct ts_mesh *mesh, struct ts_bytes word)
{
	size_t equals = ts_bytes_find(word, "=");
	struct ts_bytes number = ts_bytes_cut(word, TS_MIN(equals + 1, word.n), word.n);
	int64_t size;

	if (equals == 0 || number.n == 0 || mesh->nr == TS_MESH_AXES ||
	    !ts_bytes_i64(number, &size) || size < 1 || size > TS_MAX_TILES)
		return false;
	mesh->axes[mesh->nr++] =
		(struct ts_mesh_axis){ .name = ts_bytes_cut(word, 0, equals), .size = size };
	return true;
}

enum ts_status ts_mesh_parse(struct ts_bytes text, struct ts_mesh *mesh, struct ts_error *err)
{
	int64_t stride = 1;

	TS_ASSERT(mesh);
	*mesh = (struct ts_mesh){ .nr = 0 };
	for (size_t at = 0; at <= text.n;) {
		struct ts_bytes rest = ts_bytes_cut(text, at, text.n);
		size_t comma = ts_bytes_find(rest, ",");

		while (rest.n > 0 && rest.p[0] == ' ') {
			rest = ts_bytes_cut(rest, 1, rest.n);
			comma--;
			at++;
		}
		if (!put_axis(mesh, ts_bytes_cut(rest, 0, TS_MIN(comma, rest.n))))
			return ts_fail(err, TS_USAGE,
				       "%.*s is no mesh (data=2,model=4, for instance)",
				       TS_ARG(text));
		at += TS_MIN(comma, rest.n) + 1;
	}
	for (uint32_t i = mesh->nr; i-- > 0;) {
		mesh->axes[i].stride = stride;
		stride = ts_i64_mul(stride, mesh->axes[i].size);
	}
	return TS_OK;
}

/* --- specs */

/* The axes that make a piece, in front of AXES; false: none do. */
static bool take_axes(const struct ts_mesh *mesh, const struct piece *piece, ts_axes *axes)
{
	int64_t stride = piece->stride, end = piece->stride * piece->size;

	for (uint32_t i = mesh->nr; i-- > 0 && stride < end;) {
		if (mesh->axes[i].stride != stride || mesh->axes[i].size == 1)
			continue;
		*axes |= (ts_axes)(i + 1) << (AXIS_BITS * count_of(*axes));
		stride *= mesh->axes[i].size;
	}
	return stride == end;
}

static bool axes_along(const struct ts_mesh *mesh, const struct ts_device_list *list, int64_t n,
		       int64_t each, ts_axes *axes)
{
	struct piece pieces[MAX_PIECES];
	uint32_t nr = pieces_of(list, n, each, pieces);

	*axes = 0;
	for (uint32_t i = 0; i < nr; i++)
		if (!take_axes(mesh, &pieces[i], axes))
			return false;
	return nr > 0 || n <= 1;
}

struct ts_spec ts_sharding_spec(const struct ts_mesh *mesh, const struct ts_hlo_sharding *sharding,
				uint32_t rank)
{
	struct ts_spec spec = { .rank = rank };

	TS_ASSERT(mesh);
	if (!sharding || rank > TS_SPEC_DIMS || mesh->nr == 0)
		return spec;
	spec.is_known = sharding->nr_tiles == 0 || sharding->nr_dims == rank;
	for (uint32_t dim = 0; spec.is_known && sharding->nr_tiles > 0 && dim < rank; dim++)
		spec.is_known = axes_along(mesh, &sharding->devices, sharding->tiles[dim],
					   step_of_tile(sharding, dim), &spec.dims[dim]);
	return spec;
}

ts_axes ts_mesh_axes_of(const struct ts_mesh *mesh, const struct ts_device_list *group)
{
	ts_axes axes = 0;

	TS_ASSERT(mesh && group);
	if (group->nr < 2 || !axes_along(mesh, group, group->nr, 1, &axes))
		return 0;
	return axes;
}

bool ts_spec_eq(const struct ts_spec *spec, const struct ts_spec *other)
{
	if (!spec->is_known || !other->is_known || spec->rank != other->rank)
		return false;
	for (uint32_t i = 0; i < spec->rank; i++)
		if (spec->dims[i] != other->dims[i])
			return false;
	return true;
}

bool ts_spec_is_whole(const struct ts_spec *spec)
{
	for (uint32_t i = 0; i < spec->rank; i++)
		if (spec->dims[i])
			return false;
	return true;
}

/* --- words */

static void put_name(struct ts_buf *out, const struct ts_mesh *mesh, uint32_t axis,
		     const char *quote)
{
	struct ts_bytes name = mesh->axes[axis].name;

	if (name.n > 0)
		ts_buf_printf(out, "%s%.*s%s", quote, TS_ARG(name), quote);
	else
		ts_buf_printf(out, "%saxis%" PRIu32 "%s", quote, axis, quote);
}

static void put_names(struct ts_buf *out, const struct ts_mesh *mesh, ts_axes axes,
		      const char *quote)
{
	for (uint32_t i = count_of(axes); i-- > 0;) {
		put_name(out, mesh, (uint32_t)nth(axes, i) - 1, quote);
		ts_buf_puts(out, i > 0 ? ", " : "");
	}
}

void ts_axes_put(struct ts_buf *out, const struct ts_mesh *mesh, ts_axes axes)
{
	put_names(out, mesh, axes, "");
}

void ts_spec_put(struct ts_buf *out, const struct ts_mesh *mesh, const struct ts_spec *spec)
{
	ts_buf_puts(out, "P(");
	for (uint32_t i = 0; i < spec->rank; i++) {
		uint32_t nr = count_of(spec->dims[i]);

		ts_buf_puts(out, i > 0 ? ", " : "");
		ts_buf_puts(out, nr == 0 ? "None" : nr > 1 ? "(" : "");
		put_names(out, mesh, spec->dims[i], "\"");
		ts_buf_puts(out, nr > 1 ? ")" : "");
	}
	ts_buf_puts(out, ")");
}
