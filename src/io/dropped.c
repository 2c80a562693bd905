/* SPDX-License-Identifier: MIT */
/*
 * XSpace is one protobuf message, and those end at 2 GiB: where a profile is longer, TensorFlow's profiler (which is
 * JAX's, PyTorch/XLA's and vLLM's) fails to serialize it and leaves the file that it had made, empty
 * (github.com/vllm-project/tpu-inference, issues 3039, 3253, 3601). Its continuous profiling writes HOST.xplane.riegeli.
 */
#include "io/dropped.h"

#include "base/buf.h"
#include "base/check.h"
#include "io/look.h"
#include "io/rundir.h"

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
