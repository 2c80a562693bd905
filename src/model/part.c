/* SPDX-License-Identifier: MIT */
/* Planes are chosen first; then what stays moves together, and all that names it by index is told. */
#include "model/part.h"

#include "base/check.h"

/* Old index -> new index, or TS_NONE. */
struct places {
	uint32_t *hosts, *planes, *devices;
};

bool ts_part_is_all(const struct ts_part *part)
{
	TS_ASSERT(part);
	return part->from_ps == INT64_MIN && part->to_ps == INT64_MAX && !part->host &&
	       !part->device;
}

static bool is_called(const struct ts_device *device, uint32_t index, struct ts_bytes name)
{
	uint64_t number;

	return ts_bytes_eq(device->name, name) || ts_bytes_eq(device->label, name) ||
	       (ts_bytes_u64(name, &number) && number == index);
}

/* The device of this name, on a host of the part. TS_NONE: there is none. */
static uint32_t part_find_device(const struct ts_profile *profile, const struct ts_part *part)
{
	for (uint32_t i = 0; i < profile->nr_devices; i++) {
		const struct ts_device *device = &profile->devices[i];

		if (is_called(device, i, ts_bytes_of(part->device)) &&
		    (!part->host || ts_bytes_is(profile->hosts[device->host].name, part->host)))
			return i;
	}
	return TS_NONE;
}

static bool has_host(const struct ts_profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->nr_hosts; i++)
		if (ts_bytes_is(profile->hosts[i].name, name))
			return true;
	return false;
}

static bool is_of_device(const struct ts_profile *profile, const struct ts_plane *plane,
			 uint32_t device)
{
	if (plane->device != TS_NONE || plane->tensor_core != TS_NONE)
		return plane->device == device || plane->tensor_core == device;
	return plane->host == profile->devices[device].host && plane->kind != TS_PLANE_SPARSECORE;
}

bool ts_part_keeps(const struct ts_profile *profile, const struct ts_plane *plane,
		   const struct ts_part *part, uint32_t device)
{
	TS_ASSERT(profile && plane && part);
	if (part->host && !ts_bytes_is(profile->hosts[plane->host].name, part->host))
		return false;
	return device == TS_NONE || is_of_device(profile, plane, device);
}

static void part_choose(const struct ts_profile *profile, const struct ts_part *part,
			uint32_t device, struct places *places)
{
	uint32_t nr_planes = 0, nr_hosts = 0, nr_devices = 0;

	for (size_t i = 0; i < profile->nr_hosts; i++)
		places->hosts[i] = TS_NONE;
	for (size_t i = 0; i < profile->nr_planes; i++) {
		const struct ts_plane *plane = &profile->planes[i];
		bool good = ts_part_keeps(profile, plane, part, device);

		places->planes[i] = good ? nr_planes++ : TS_NONE;
		if (good && places->hosts[plane->host] == TS_NONE)
			places->hosts[plane->host] = nr_hosts++;
	}
	for (size_t i = 0; i < profile->nr_devices; i++)
		places->devices[i] = places->planes[profile->devices[i].plane] == TS_NONE
					     ? TS_NONE
					     : nr_devices++;
}

static uint32_t moved(const uint32_t *places, uint32_t index)
{
	return index == TS_NONE ? TS_NONE : places[index];
}

static void move_devices(struct ts_profile *profile, const struct places *places)
{
	size_t nr = 0;

	for (size_t i = 0; i < profile->nr_devices; i++) {
		struct ts_device *device = &profile->devices[nr];

		if (places->devices[i] == TS_NONE)
			continue;
		*device = profile->devices[i];
		device->host = places->hosts[device->host];
		device->plane = places->planes[device->plane];
		nr++;
	}
	profile->nr_devices = nr;
}

/* The lines of a plane stand together, in the order of planes. */
static void move_lines(struct ts_profile *profile, struct ts_plane *plane, uint32_t at, size_t *nr)
{
	uint32_t first = plane->first_line;

	plane->first_line = (uint32_t)*nr;
	for (uint32_t i = 0; i < plane->nr_lines; i++) {
		profile->lines[*nr] = profile->lines[first + i];
		profile->lines[(*nr)++].plane = at;
	}
}

static void move_planes(struct ts_profile *profile, const struct places *places)
{
	size_t nr = 0, nr_lines = 0;

	for (size_t i = 0; i < profile->nr_planes; i++) {
		struct ts_plane *plane = &profile->planes[nr];

		if (places->planes[i] == TS_NONE)
			continue;
		*plane = profile->planes[i];
		plane->host = places->hosts[plane->host];
		plane->device = moved(places->devices, plane->device);
		plane->tensor_core = moved(places->devices, plane->tensor_core);
		move_lines(profile, plane, (uint32_t)nr++, &nr_lines);
	}
	profile->nr_planes = nr;
	profile->nr_lines = nr_lines;
}

static void move_hosts(struct ts_profile *profile, const struct places *places)
{
	size_t nr = 0;

	for (size_t i = 0; i < profile->nr_hosts; i++) {
		struct ts_host *host = &profile->hosts[i];

		if (places->hosts[i] != TS_NONE)
			profile->hosts[nr++] = *host;
		else if (host->reader_release)
			host->reader_release(host->reader_data);
	}
	profile->nr_hosts = nr;
	for (size_t i = 0; i < nr; i++)
		profile->hosts[i].nr_planes = 0;
	for (size_t i = profile->nr_planes; i-- > 0;) {
		profile->hosts[profile->planes[i].host].first_plane = (uint32_t)i;
		profile->hosts[profile->planes[i].host].nr_planes++;
	}
	ts_profile_count_lines(profile);
}

static enum ts_status part_set_time(struct ts_profile *profile, const struct ts_part *part,
				    struct ts_error *err)
{
	struct ts_span *span = ts_arena_zalloc(&profile->arena, sizeof(*span));

	if (!span)
		return ts_fail_nomem(err);
	*span = (struct ts_span){ part->from_ps, part->to_ps };
	profile->part = span;
	return TS_OK;
}

static enum ts_status narrow_planes(struct ts_profile *profile, const struct ts_part *part,
				    uint32_t device, struct ts_error *err)
{
	size_t nr = profile->nr_hosts + profile->nr_planes + profile->nr_devices;
	uint32_t *memory = calloc(nr + 1, sizeof(*memory));
	struct places places = { memory, memory + profile->nr_hosts,
				 memory + profile->nr_hosts + profile->nr_planes };

	if (!memory)
		return ts_fail_nomem(err);
	part_choose(profile, part, device, &places);
	move_devices(profile, &places);
	move_planes(profile, &places);
	move_hosts(profile, &places);
	free(memory);
	return TS_OK;
}

enum ts_status ts_part_device(const struct ts_profile *profile, const struct ts_part *part,
			      uint32_t *device, struct ts_error *err)
{
	TS_ASSERT(profile && part && device);
	*device = part->device ? part_find_device(profile, part) : TS_NONE;
	if (part->host && !has_host(profile, part->host))
		return ts_fail(err, TS_NOTFOUND, "no host of this run is called so");
	if (part->device && *device == TS_NONE)
		return ts_fail(err, TS_NOTFOUND, "no device of this run is called so");
	return TS_OK;
}

enum ts_status ts_profile_narrow(struct ts_profile *profile, const struct ts_part *part,
				 struct ts_error *err)
{
	uint32_t device;
	enum ts_status st;

	TS_ASSERT(profile && part && !profile->part);
	st = ts_part_device(profile, part, &device, err);
	if (st == TS_OK && (part->host || part->device))
		st = narrow_planes(profile, part, device, err);
	return st ? st : part_set_time(profile, part, err);
}
