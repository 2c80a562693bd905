/* SPDX-License-Identifier: MIT */
/*
 * Shardings in the user's words: which axes of a mesh each dimension of an array is cut along.
 *
 * XLA writes a sharding as tiles over devices: [2,1,2]<=[2,2]T(1,0) with its last dimension replicated. A mesh gives the same devices
 * names: data=2,model=2. A dimension of N tiles goes along the axes whose strides its devices have, so that this is P("model", None).
 * Without names the mesh is the coarsest that all shardings of a module fit into (its axes are called axis0, axis1, ...).
 *
 * Plain values: nothing is owned. Names of axes are views.
 */
#ifndef TS_MODEL_SHARDING_H
#define TS_MODEL_SHARDING_H

#include "base/buf.h"
#include "base/bytes.h"

#define TS_MESH_AXES 15
#define TS_SPEC_DIMS 10
#define TS_MAX_TILES (1 << 20) /* devices; more are no sharding */

/*
 * Device numbers that are those of an iota, reshaped and transposed, or listed. .nr of them.
 */
struct ts_device_list {
	int64_t nr;
	const int64_t *listed; /* NULL: the iota's */
	const int64_t *reshape,
		*order; /* .nr_reshape of both; order is a permutation of its dimensions */
	uint32_t nr_reshape;
};

struct ts_hlo_sharding {
	uint32_t nr_tiles;    /* 0: the whole array is on each device */
	uint32_t nr_dims;     /* of the array: the first tiles; the others replicate */
	const int64_t *tiles; /* their product is the number of devices */
	struct ts_device_list devices;
};

struct ts_mesh_axis {
	struct ts_bytes name; /* empty: it has none */
	int64_t size, stride; /* of device numbers */
};

struct ts_mesh {
	struct ts_mesh_axis axes[TS_MESH_AXES]; /* the slowest first */
	uint32_t nr;				/* 0: it is not known */
};

/* Axes of a mesh, of which each is in it once: four bits each, an axis' place and one, the slowest highest. */
typedef uint64_t ts_axes;

/* What each dimension of an array is cut along: P("data", None). */
struct ts_spec {
	bool is_known;
	uint32_t rank;
	ts_axes dims[TS_SPEC_DIMS];
};

/* Strides that a mesh must have an edge at. Zeroed at first. */
struct ts_mesh_edges {
	int64_t items[TS_MESH_AXES + 1];
	uint32_t nr;
	bool failed; /* there are too many, or they are of no mesh */
};

/* "data=2,model=4": the mesh; TS_USAGE: the text is something else. NAMES: views into TEXT. */
enum ts_status ts_mesh_parse(struct ts_bytes text, struct ts_mesh *mesh, struct ts_error *err);

/* Notes where a sharding is cut, and that there are NR devices. */
void ts_mesh_note(struct ts_mesh_edges *edges, const struct ts_hlo_sharding *sharding);
void ts_mesh_note_devices(struct ts_mesh_edges *edges, int64_t nr);
/* The mesh with these edges; .nr is 0 where there is none. */
struct ts_mesh ts_mesh_of(const struct ts_mesh_edges *edges);

/* SHARDING in the axes of MESH, of an array of RANK; SHARDING NULL, and what does not fit into the mesh: not known. */
struct ts_spec ts_sharding_spec(const struct ts_mesh *mesh, const struct ts_hlo_sharding *sharding,
				uint32_t rank);
/* The axes along which a group of devices lies; 0: along none, or not along axes of the mesh. */
ts_axes ts_mesh_axes_of(const struct ts_mesh *mesh, const struct ts_device_list *group);

bool ts_spec_eq(const struct ts_spec *spec, const struct ts_spec *other);
/* Are all dimensions whole? */
bool ts_spec_is_whole(const struct ts_spec *spec);
bool ts_axes_meet(ts_axes axes, ts_axes others);
/* Devices along AXES of MESH: 1 along none. */
int64_t ts_mesh_size(const struct ts_mesh *mesh, ts_axes axes);
/* AXES without OTHERS. */
ts_axes ts_axes_less(ts_axes axes, ts_axes others);

/* P("data", None), P(("data", "model")); trailing Nones are written, as the array has them. */
void ts_spec_put(struct ts_buf *out, const struct ts_mesh *mesh, const struct ts_spec *spec);
/* data, model */
void ts_axes_put(struct ts_buf *out, const struct ts_mesh *mesh, ts_axes axes);

#endif
