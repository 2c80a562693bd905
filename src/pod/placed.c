/* SPDX-License-Identifier: MIT */
/* A file finds its place by its name and bytes; what follows it in the run is put aside while it is read. */
#include "pod/placed.h"

#include "base/check.h"
#include "overlay/xplane.h"

struct ts_bytes ts_placed_native(struct ts_bytes bytes)
{
	return ts_bytes_cut(bytes, 0, ts_overlay_native_bytes(bytes));
}

static enum ts_status other_file(const struct ts_placed *placed, struct ts_error *err)
{
	return ts_fail(err, TS_FORMAT,
		       "%s: not a file of the run of %s, or it has changed since (run tpusight map "
		       "outline on it again, and tpusight reduce outline on all)",
		       placed->session->files[0].path, placed->outline);
}

/* False: it is not one of the run's files. */
static bool find_file(struct ts_placed *placed, struct ts_bytes bytes)
{
	const struct ts_saved_run *saved = &placed->mapped.saved;
	const struct ts_hostfile *wanted = &placed->session->files[0];
	uint64_t print = ts_fingerprint(bytes);

	placed->first_host = 0;
	for (uint32_t i = 0; i < saved->nr_files; i++) {
		const struct ts_saved_file *file = &saved->files[i];

		placed->file = i;
		placed->nr_hosts = file->nr_hosts;
		if ((file->problem.n > 0 || (file->nr_bytes == bytes.n && file->print == print)) &&
		    ts_bytes_is(file->host, wanted->host) && ts_bytes_is(file->name, wanted->name))
			return true;
		placed->first_host += file->nr_hosts;
	}
	return false;
}

enum ts_status ts_placed_find(struct ts_placed *placed, struct ts_error *err)
{
	struct ts_input input = TS_INPUT_INIT;
	enum ts_status st;

	TS_ASSERT(placed && placed->session && placed->outline);
	st = ts_input_open(&input, placed->session->files[0].path, err);
	if (st)
		return st;
	st = find_file(placed, ts_placed_native(input.bytes)) ? TS_OK : other_file(placed, err);
	ts_input_release(&input);
	return st;
}

/* ---- read once more */

/* What follows the hosts of the file in the run, put aside while the file is read in its place. */
struct rest {
	struct ts_host *hosts;
	struct ts_plane *planes;
	struct ts_line *lines;
	struct ts_device *devices;
	size_t nr_hosts, nr_planes, nr_lines, nr_devices;     /* of the run */
	size_t host, plane, line, device;		      /* the first of the file, and ... */
	size_t past_host, past_plane, past_line, past_device; /* ... the first behind it */
};

static void placed_find_place(struct rest *rest, const struct ts_profile *profile, size_t first,
			      size_t nr)
{
	*rest = (struct rest){ .nr_hosts = profile->nr_hosts,
			       .nr_planes = profile->nr_planes,
			       .nr_lines = profile->nr_lines,
			       .nr_devices = profile->nr_devices,
			       .host = first,
			       .past_host = first + nr };
	for (size_t i = 0; i < profile->nr_planes; i++) {
		rest->plane += profile->planes[i].host < first;
		rest->past_plane += profile->planes[i].host < first + nr;
	}
	for (size_t i = 0; i < profile->nr_lines; i++) {
		rest->line += profile->lines[i].plane < rest->plane;
		rest->past_line += profile->lines[i].plane < rest->past_plane;
	}
	for (size_t i = 0; i < profile->nr_devices; i++) {
		rest->device += profile->devices[i].host < first;
		rest->past_device += profile->devices[i].host < first + nr;
	}
}

static void *copy_of(const void *items, size_t from, size_t nr, size_t size)
{
	void *copy = malloc((nr - from + 1) * size);

	if (copy && nr > from)
		memcpy(copy, (const char *)items + from * size, (nr - from) * size);
	return copy;
}

static enum ts_status put_aside(struct rest *rest, struct ts_profile *profile, struct ts_error *err)
{
	rest->hosts =
		copy_of(profile->hosts, rest->past_host, rest->nr_hosts, sizeof(*rest->hosts));
	rest->planes =
		copy_of(profile->planes, rest->past_plane, rest->nr_planes, sizeof(*rest->planes));
	rest->lines =
		copy_of(profile->lines, rest->past_line, rest->nr_lines, sizeof(*rest->lines));
	rest->devices = copy_of(profile->devices, rest->past_device, rest->nr_devices,
				sizeof(*rest->devices));
	profile->nr_hosts = rest->host;
	profile->nr_planes = rest->plane;
	profile->nr_lines = rest->line;
	profile->nr_devices = rest->device;
	return rest->hosts && rest->planes && rest->lines && rest->devices ? TS_OK
									   : ts_fail_nomem(err);
}

static void placed_append(void *items, size_t at, const void *copy, size_t nr, size_t size)
{
	if (nr > 0)
		memcpy((char *)items + at * size, copy, nr * size);
}

static void put_back(const struct rest *rest, struct ts_profile *profile)
{
	placed_append(profile->hosts, rest->past_host, rest->hosts,
		      rest->nr_hosts - rest->past_host, sizeof(*rest->hosts));
	placed_append(profile->planes, rest->past_plane, rest->planes,
		      rest->nr_planes - rest->past_plane, sizeof(*rest->planes));
	placed_append(profile->lines, rest->past_line, rest->lines,
		      rest->nr_lines - rest->past_line, sizeof(*rest->lines));
	placed_append(profile->devices, rest->past_device, rest->devices,
		      rest->nr_devices - rest->past_device, sizeof(*rest->devices));
	profile->nr_hosts = rest->nr_hosts;
	profile->nr_planes = rest->nr_planes;
	profile->nr_lines = rest->nr_lines;
	profile->nr_devices = rest->nr_devices;
}

/*
 * Reads the file once more, where the run's outline has it: its ops, modules and lines are known and
 * keep their numbers. What is read a second time, of the file as a whole, does not count again.
 */
static enum ts_status read_in_place(const struct ts_placed *placed, struct rest *rest,
				    struct ts_error *err)
{
	const struct ts_run_options options = { .nr_threads = placed->nr_threads };
	struct ts_profile *profile = &placed->run->profile;
	size_t nr_ops = profile->nr_ops, nr_modules = profile->nr_modules;
	size_t nr_damage = profile->nr_damage;
	enum ts_status st;

	st = put_aside(rest, profile, err);
	if (st)
		return st;
	st = ts_run_read(placed->run, placed->session, &options, err);
	if (st == TS_OK &&
	    (profile->nr_hosts != rest->past_host || profile->nr_planes != rest->past_plane ||
	     profile->nr_lines != rest->past_line || profile->nr_devices != rest->past_device ||
	     profile->nr_ops != nr_ops || profile->nr_modules != nr_modules))
		st = other_file(placed, err);
	profile->nr_damage = TS_MIN(profile->nr_damage, nr_damage);
	if (st == TS_OK)
		put_back(rest, profile);
	return st;
}

/* The outline, and of the steps of devices those of the file's hosts. */
static enum ts_status finish_run(struct ts_placed *placed, struct ts_error *err)
{
	struct ts_mapped_run *mapped = &placed->mapped;
	enum ts_status st = ts_mapped_run_finish(mapped, placed->run, err);

	for (uint32_t i = 0; i < placed->nr_hosts && st == TS_OK; i++) {
		st = ts_mapped_run_bring_steps(mapped, placed->run, placed->first_host + i, err);
		st = ts_map_fail_in(err, st, placed->outline);
	}
	return st;
}

enum ts_status ts_placed_read(struct ts_placed *placed, struct ts_error *err)
{
	struct rest rest;
	enum ts_status st;

	TS_ASSERT(placed && placed->run && placed->nr_hosts > 0);
	placed_find_place(&rest, &placed->run->profile, placed->first_host, placed->nr_hosts);
	st = read_in_place(placed, &rest, err);
	if (st == TS_OK)
		st = finish_run(placed, err);
	free(rest.hosts);
	free(rest.planes);
	free(rest.lines);
	free(rest.devices);
	return st;
}

struct ts_parcel_head ts_placed_head(const struct ts_placed *placed)
{
	TS_ASSERT(placed);
	return (struct ts_parcel_head){ .run = placed->mapped.id, .file = placed->file };
}
