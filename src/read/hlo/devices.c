/* SPDX-License-Identifier: MIT */
/* Which devices: the groups of a collective, and the tiles of an array. */
#include "read/hlo/parts.h"

#include "base/check.h"
#include "base/units.h"

/* A permutation of the first N numbers? */
static bool is_order(const int64_t *order, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t k = 0;

		while (k < n && order[k] != (int64_t)i)
			k++;
		if (k == n)
			return false;
	}
	return true;
}

/* Is it an iota of so many devices? */
static bool is_iota(const struct ts_device_list *list, int64_t nr)
{
	int64_t all = 1;

	for (uint32_t i = 0; i < list->nr_reshape; i++) {
		if (list->reshape[i] < 1)
			return false;
		all = ts_i64_mul(all, list->reshape[i]);
	}
	return list->nr_reshape > 0 && list->nr_reshape <= TS_MESH_AXES && all == nr &&
	       all <= TS_MAX_TILES && is_order(list->order, list->nr_reshape);
}

/* NR of the devices of an iota: of DIMS, in ORDER (of N_ORDER; 0: as they are). .nr is 0 where it is none of ALL. */
static struct ts_device_list iota_of(struct ts_hlo_reader *reader, const int64_t *dims, size_t n,
				     const int32_t *order, size_t n_order, int64_t nr, int64_t all)
{
	struct ts_device_list list = { .nr = nr };
	int64_t *steps;

	if (n == 0 || n > TS_MESH_AXES || (n_order != 0 && n_order != n))
		return (struct ts_device_list){ .nr = 0 };
	steps = ts_hlo_array(reader, n, sizeof(*steps));
	list.reshape = ts_hlo_numbers(reader, dims, n);
	list.nr_reshape = steps && list.reshape ? (uint32_t)n : 0;
	for (uint32_t i = 0; i < list.nr_reshape; i++)
		steps[i] = n_order ? order[i] : (int64_t)i;
	list.order = steps;
	return is_iota(&list, all) ? list : (struct ts_device_list){ .nr = 0 };
}

static struct ts_device_list devices_listed(struct ts_hlo_reader *reader, const int64_t *devices,
					    size_t n)
{
	struct ts_device_list list = { .nr = 0 };

	if (n == 0 || n > TS_MAX_TILES)
		return list;
	for (size_t i = 0; i < n; i++)
		if (devices[i] < 0 || devices[i] > INT32_MAX)
			return list;
	list.listed = ts_hlo_numbers(reader, devices, n);
	list.nr = list.listed ? (int64_t)n : 0;
	return list;
}

static struct ts_hlo_groups groups_listed(struct ts_hlo_reader *reader,
					  Tpusight__ReplicaGroup **groups, size_t n)
{
	struct ts_hlo_groups found = { .size = n > 0 ? (int64_t)groups[0]->n_replica_ids : 0 };

	for (size_t i = 0; i < n; i++)
		found.all += (int64_t)groups[i]->n_replica_ids;
	if (found.size > 1)
		found.first =
			devices_listed(reader, groups[0]->replica_ids, groups[0]->n_replica_ids);
	return found;
}

static struct ts_hlo_groups groups_iota(struct ts_hlo_reader *reader,
					const Tpusight__IotaReplicaGroupList *list)
{
	struct ts_hlo_groups found = { .size = TS_MAX(list->num_devices_per_group, 0) };

	found.all = ts_i64_mul(found.size, TS_MAX(list->num_replica_groups, 0));
	found.first = iota_of(reader, list->iota_reshape_dims, list->n_iota_reshape_dims,
			      list->iota_transpose_perm, list->n_iota_transpose_perm, found.size,
			      found.all);
	return found;
}

/* The devices along some axes of a mesh: its axes, with those that the group goes along behind the others. */
static struct ts_device_list devices_along(struct ts_hlo_reader *reader,
					   const Tpusight__MeshAxesReplicaGroupList *list,
					   int64_t nr, int64_t all)
{
	int64_t dims[TS_MESH_AXES];
	int32_t order[TS_MESH_AXES];
	size_t n = list->mesh->n_axes, at = 0;

	if (n > TS_MESH_AXES || list->n_axes > n)
		return (struct ts_device_list){ .nr = 0 };
	for (size_t i = 0; i < n; i++) {
		bool is_along = false;

		dims[i] = list->mesh->axes[i]->size;
		for (size_t k = 0; k < list->n_axes; k++)
			is_along |= list->axes[k]->mesh_axis_index == (int64_t)i;
		if (!is_along)
			order[at++] = (int32_t)i;
	}
	for (size_t k = 0; k < list->n_axes && at < n; k++) {
		if (list->axes[k]->sub_axis_info)
			return (struct ts_device_list){ .nr = 0 };
		order[at++] = (int32_t)list->axes[k]->mesh_axis_index;
	}
	return iota_of(reader, dims, n, order, at, nr, all);
}

/* A group is the product of the axes it goes along, or of their parts; all groups are the mesh. */
static struct ts_hlo_groups groups_of_mesh(struct ts_hlo_reader *reader,
					   const Tpusight__MeshAxesReplicaGroupList *list)
{
	int64_t size = list->n_axes > 0 && list->mesh ? 1 : 0, all = size;

	for (size_t i = 0; i < list->n_axes && size > 0; i++) {
		const Tpusight__AxisRef *ref = list->axes[i];
		int64_t along = 0;

		if (ref->sub_axis_info)
			along = ref->sub_axis_info->size;
		else if (ref->mesh_axis_index >= 0 &&
			 (uint64_t)ref->mesh_axis_index < list->mesh->n_axes)
			along = list->mesh->axes[ref->mesh_axis_index]->size;
		size = ts_i64_mul(size, TS_MAX(along, 0));
	}
	for (size_t i = 0; size > 0 && i < list->mesh->n_axes; i++)
		all = ts_i64_mul(all, TS_MAX(list->mesh->axes[i]->size, 0));
	if (size == 0)
		return (struct ts_hlo_groups){ .size = 0 };
	return (struct ts_hlo_groups){ size, all, devices_along(reader, list, size, all) };
}

/* Compilers of different years write the groups in different ways. */
struct ts_hlo_groups ts_hlo_groups_of(struct ts_hlo_reader *reader,
				      const Tpusight__HloInstruction *from)
{
	const Tpusight__CollectiveDeviceList *list = from->collective_device_list;
	struct ts_hlo_groups found;

	TS_ASSERT(reader && from);
	found = groups_listed(reader, from->replica_groups, from->n_replica_groups);
	if (found.size == 0 && list)
		found = groups_listed(reader, list->replica_groups, list->n_replica_groups);
	if (found.size == 0 && list && list->iota_replica_group_list)
		found = groups_iota(reader, list->iota_replica_group_list);
	if (found.size == 0 && from->iota_collective_device_list)
		found = groups_iota(reader, from->iota_collective_device_list);
	if (found.size == 0 && from->mesh_axes_replica_group_list)
		found = groups_of_mesh(reader, from->mesh_axes_replica_group_list);
	return found;
}

/* OpSharding.Type (xla/xla_data.proto). */
enum { SHARDING_REPLICATED = 0, SHARDING_OTHER = 3 };

static bool has_tiles(const Tpusight__OpSharding *from, struct ts_hlo_sharding *to)
{
	size_t nr_last = from->replicate_on_last_tile_dim ? 1 : from->n_last_tile_dims;
	int64_t all = 1;

	if (to->nr_tiles < 1 || to->nr_tiles > 2 * TS_SPEC_DIMS || nr_last > to->nr_tiles)
		return false;
	to->nr_dims = to->nr_tiles - (uint32_t)nr_last;
	for (uint32_t i = 0; i < to->nr_tiles; i++) {
		if (to->tiles[i] < 1)
			return false;
		all = ts_i64_mul(all, to->tiles[i]);
	}
	return all == to->devices.nr && all <= TS_MAX_TILES;
}

static struct ts_device_list devices_of_tiles(struct ts_hlo_reader *reader,
					      const Tpusight__OpSharding *from)
{
	int64_t nr = from->n_iota_reshape_dims > 0 ? 1 : 0;

	for (size_t i = 0; i < from->n_iota_reshape_dims; i++)
		nr = ts_i64_mul(nr, TS_MAX(from->iota_reshape_dims[i], 0));
	if (nr > 0)
		return iota_of(reader, from->iota_reshape_dims, from->n_iota_reshape_dims,
			       from->iota_transpose_perm, from->n_iota_transpose_perm, nr, nr);
	return devices_listed(reader, from->tile_assignment_devices,
			      from->n_tile_assignment_devices);
}

/* What says that an array is somewhere else, or that the user cut it himself, says nothing of axes. */
const struct ts_hlo_sharding *ts_hlo_sharding_of(struct ts_hlo_reader *reader,
						 const Tpusight__OpSharding *from)
{
	struct ts_hlo_sharding *sharding;
	size_t n = from ? from->n_tile_assignment_dimensions : 0;

	if (!from || (from->type != SHARDING_REPLICATED && from->type != SHARDING_OTHER))
		return NULL;
	sharding = ts_hlo_array(reader, 1, sizeof(*sharding));
	if (!sharding)
		return NULL;
	if (from->type == SHARDING_OTHER) {
		sharding->tiles =
			ts_hlo_numbers(reader, from->tile_assignment_dimensions, TS_MIN(n, 64));
		sharding->nr_tiles = sharding->tiles ? (uint32_t)TS_MIN(n, 64) : 0;
		sharding->devices = devices_of_tiles(reader, from);
		if (!has_tiles(from, sharding))
			return NULL;
	}
	return sharding;
}
