/* SPDX-License-Identifier: MIT */
/*
 * XSpace is one protobuf message, and those end at 2 GiB: where a profile is longer, TensorFlow's profiler (which is
 * JAX's, PyTorch/XLA's and vLLM's) fails to serialize it and leaves the file that it had made, empty
 * (github.com/vllm-project/tpu-inference, issues 3039, 3253, 3601). Its continuous profiling writes HOST.xplane.riegeli.
 */
#include "io/dropped.h"

#include "base/buf.h"
#include "base/check.h"
#include "io/input.h"
#include "io/look.h"

#define SMALL_BYTES 65536 /* an xplane with a plane may be smaller, one without is not larger */

/* Is the profile beside it in the other form? */
static bool has_other_form(struct ts_bytes path)
{
	struct ts_buf other = TS_BUF_INIT;
	struct ts_file_look look;
	bool has;

	path.n -= strlen(TS_XPLANE_SUFFIX);
	ts_buf_put(&other, path);
	ts_buf_puts(&other, TS_RIEGELI_SUFFIX);
	ts_buf_putc(&other, '\0');
	has = !other.failed && ts_file_look((const char *)other.p, &look) && look.nr_bytes > 0;
	ts_buf_release(&other);
	return has;
}

bool ts_dropped_explain(const char *path, struct ts_error *err)
{
	struct ts_bytes name = ts_bytes_of(path);
	struct ts_file_look look;

	TS_ASSERT(path && err);
	if (!ts_bytes_ends(name, TS_XPLANE_SUFFIX) || !ts_file_look(path, &look) ||
	    look.nr_bytes > 0)
		return false;
	*err = (struct ts_error)TS_ERROR_INIT;
	if (has_other_form(name))
		ts_fail(err, TS_FORMAT,
			"%s: empty: the profiler wrote this capture beside it, as "
			"*" TS_RIEGELI_SUFFIX " (name that file, or the folder)",
			path);
	else
		ts_fail(err, TS_FORMAT,
			"%s: empty: profilers leave such a file where a profile passes 2 GB, or "
			"where the job ends before it is written (profile again with fewer steps, "
			"or with a lower host_tracer_level; was it copied whole?)",
			path);
	return true;
}

static bool dropped_is_empty(const struct ts_hostfile *file)
{
	struct ts_input in = TS_INPUT_INIT;
	bool is = file->nr_bytes == 0;

	if (is || file->nr_bytes > SMALL_BYTES)
		return is;
	if (ts_input_open_plain(&in, file->path, NULL) == TS_OK)
		is = ts_xplanefile_is_empty(in.bytes);
	ts_input_release(&in);
	return is;
}

enum ts_status ts_dropped_find_trace(struct ts_arena *arena, const struct ts_hostfile *file,
				     struct ts_hostfile *trace, bool *found, struct ts_error *err)
{
	static const char *const endings[] = { ".trace.json.gz", ".trace.json" };
	struct ts_bytes path = ts_bytes_of(file->path), name;
	struct ts_file_look look;

	TS_ASSERT(arena && file && trace && found);
	*found = false;
	if (!ts_bytes_ends(path, TS_XPLANE_SUFFIX) || file->nr_bytes > SMALL_BYTES)
		return TS_OK;
	path.n -= strlen(TS_XPLANE_SUFFIX);
	for (size_t i = 0; i < TS_NELEM(endings) && !*found; i++) {
		struct ts_bytes beside = ts_arena_printf(arena, "%.*s%s", TS_ARG(path), endings[i]);

		if (!beside.p)
			return ts_fail_nomem(err);
		if (!ts_file_look((const char *)beside.p, &look) || look.nr_bytes == 0 ||
		    !dropped_is_empty(file))
			continue;
		name = ts_arena_printf(arena, "%s%s", file->host, endings[i]);
		*found = true;
		*trace = (struct ts_hostfile){ .host = file->host,
					       .name = (const char *)name.p,
					       .path = (const char *)beside.p,
					       .nr_bytes = look.nr_bytes,
					       .stands_for = file->path };
		if (!name.p)
			return ts_fail_nomem(err);
	}
	return TS_OK;
}
