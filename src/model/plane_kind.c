/* SPDX-License-Identifier: MIT */
/*
 * Names of planes and lines, as XLA's profiler writes them (tsl/profiler/utils/xplane_schema.cc);
 * viewers' traces made from such profiles keep them.
 */
#include "model/plane_kind.h"

#include "base/check.h"

struct kind_row {
	const char *prefix;
	enum ts_plane_kind kind;
};

static const struct kind_row plane_rows[] = {
	{ "/device:CUSTOM:TPUsight", TS_PLANE_OURS },
	{ "/device:CUSTOM:", TS_PLANE_CUSTOM },
	{ "/device:TPU:", TS_PLANE_TPU },
	{ "/device:GPU:", TS_PLANE_GPU },
	{ "/host:metadata", TS_PLANE_METADATA },
	{ "/host:", TS_PLANE_HOST },
	{ "Task Environment", TS_PLANE_TASK },
};

struct line_row {
	const char *prefix;
	enum ts_line_kind kind;
};

static const struct line_row tpu_rows[] = {
	{ "Steps", TS_LINE_STEPS },
	{ "XLA Modules", TS_LINE_MODULES },
	{ "XLA Ops", TS_LINE_OPS },
	{ "Async XLA Ops", TS_LINE_ASYNC },
	{ "XLA TraceMe", TS_LINE_TRACEME },
	{ "Framework", TS_LINE_DERIVED },
	{ "Source code", TS_LINE_DERIVED },
	{ "Sparse Core Steps", TS_LINE_SC_STEPS },
	{ "Sparse Core Modules", TS_LINE_SC_MODULES },
	{ "Sparse Core Ops", TS_LINE_SC_OPS },
	{ TS_COUNTER_LINE, TS_LINE_SAMPLES },
	{ "Power Throttle", TS_LINE_THROTTLE },
};

static const struct line_row gpu_rows[] = {
	{ "Steps", TS_LINE_STEPS },
	{ "XLA Modules", TS_LINE_MODULES },
	{ "XLA Ops", TS_LINE_DERIVED },
	{ "Framework", TS_LINE_DERIVED },
	{ TS_COUNTER_LINE, TS_LINE_OTHER },
	{ "TensorFlow", TS_LINE_DERIVED },
	{ "Source", TS_LINE_DERIVED },
	{ "Launch Stats", TS_LINE_DERIVED },
	{ "", TS_LINE_OPS }, /* streams */
};

enum ts_line_kind ts_line_kind_of(enum ts_plane_kind plane, struct ts_bytes name)
{
	const struct line_row *rows = plane == TS_PLANE_GPU ? gpu_rows : tpu_rows;
	size_t nr = plane == TS_PLANE_GPU ? TS_NELEM(gpu_rows) : TS_NELEM(tpu_rows);

	TS_ASSERT(name.p || name.n == 0);
	if (plane == TS_PLANE_HOST)
		return TS_LINE_THREAD;
	if (plane != TS_PLANE_TPU && plane != TS_PLANE_SPARSECORE && plane != TS_PLANE_GPU)
		return TS_LINE_OTHER;
	for (size_t i = 0; i < nr; i++)
		if (ts_bytes_starts(name, rows[i].prefix))
			return rows[i].kind;
	return TS_LINE_OTHER;
}

/* Of a device that is neither: "/device:NPU:0". Its lines are streams, as those of a GPU. */
static bool is_other_device(struct ts_bytes name)
{
	size_t at = strlen("/device:"), begin = at;

	if (!ts_bytes_starts(name, "/device:") || ts_bytes_starts(name, "/device:CPU:") ||
	    ts_bytes_starts(name, "/device:GPU:") || ts_bytes_starts(name, "/device:TPU:"))
		return false;
	while (at < name.n && ((name.p[at] >= 'A' && name.p[at] <= 'Z') || name.p[at] == '_'))
		at++;
	return at > begin && at + 1 < name.n && name.p[at] == ':' && name.p[at + 1] >= '0' &&
	       name.p[at + 1] <= '9';
}

enum ts_plane_kind ts_plane_kind_of(struct ts_bytes name)
{
	TS_ASSERT(name.p || name.n == 0);
	for (size_t i = 0; i < TS_NELEM(plane_rows); i++)
		if (ts_bytes_starts(name, plane_rows[i].prefix)) {
			if (plane_rows[i].kind == TS_PLANE_TPU && ts_bytes_has(name, "SparseCore"))
				return TS_PLANE_SPARSECORE;
			return plane_rows[i].kind;
		}
	return is_other_device(name) ? TS_PLANE_GPU : TS_PLANE_OTHER;
}

/* "/device:TPU:0" of "/device:TPU:0 (predicted for v5e:2x4)", and the topology in it. */
static struct ts_bytes plane_kind_without_topology(struct ts_bytes name, struct ts_bytes *topology)
{
	size_t at = ts_bytes_find(name, TS_PREDICTED_FOR);

	if (at < name.n && ts_bytes_ends(name, ")"))
		*topology = ts_bytes_cut(name, at + strlen(TS_PREDICTED_FOR), name.n - 1);
	return ts_bytes_cut(name, 0, at);
}

struct ts_device *ts_profile_add_plane_device(struct ts_profile *profile, uint32_t index)
{
	struct ts_plane *plane = &profile->planes[index];
	struct ts_device *device = ts_profile_add_device(profile);
	struct ts_bytes name;
	uint64_t ordinal = 0;
	size_t at;

	TS_ASSERT(profile);
	if (!device)
		return NULL;
	name = plane_kind_without_topology(plane->name, &device->predicted);
	at = name.n;
	while (at > 0 && name.p[at - 1] != ':')
		at--;
	if (ts_bytes_u64(ts_bytes_cut(name, at, name.n), &ordinal) && ordinal < TS_NONE)
		device->ordinal = (uint32_t)ordinal;
	device->host = plane->host;
	device->plane = index;
	device->name = plane->name;
	device->is_gpu = plane->kind == TS_PLANE_GPU;
	if (is_other_device(name)) /* until its reader knows more */
		device->kind = ts_bytes_cut(name, strlen("/device:"), at - 1);
	plane->device = (uint32_t)(profile->nr_devices - 1);
	return device;
}
