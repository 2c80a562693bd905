/* SPDX-License-Identifier: MIT */
/* The planes with modules are cut out of an XSpace in its wire format. */
#include "live/kept_modules.h"

#include "base/check.h"
#include "codec/pb.h"
#include "codec/xspace.h"
#include "model/plane_kind.h"

void ts_kept_modules_release(struct ts_kept_modules *kept)
{
	TS_ASSERT(kept != NULL);
	ts_buf_release(&kept->planes);
}

void ts_kept_modules_forget(struct ts_kept_modules *kept)
{
	TS_ASSERT(kept != NULL);
	ts_buf_release(&kept->planes);
	kept->is_too_large = false;
}

/* Is it a plane of modules that has metadata? Some profilers write an empty one. */
static bool kept_modules_has_modules(struct ts_bytes plane)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(plane, &error);
	bool is_named = false, has_metadata = false;

	while (ts_pb_next(&pb)) {
		if (pb.field == XPLANE_NAME)
			is_named = ts_plane_kind_of(ts_pb_bytes(&pb)) == TS_PLANE_METADATA;
		has_metadata |= pb.field == XPLANE_EVENT_METADATA;
	}
	return is_named && has_metadata && !error.cause;
}

/* The next plane with modules, with its tag and length; .n is 0 where there is no more. */
static struct ts_bytes next_plane(struct ts_pb *pb)
{
	for (const uint8_t *start = pb->p; ts_pb_next(pb); start = pb->p)
		if (pb->field == XSPACE_PLANES && kept_modules_has_modules(ts_pb_bytes(pb)))
			return (struct ts_bytes){ start, (size_t)(pb->p - start) };
	return (struct ts_bytes){ NULL, 0 };
}

bool ts_xspace_has_modules(struct ts_bytes xspace)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(xspace, &error);

	return next_plane(&pb).n > 0;
}

enum ts_status ts_kept_modules_take(struct ts_kept_modules *kept, struct ts_bytes xspace,
				    struct ts_error *err)
{
	TS_ASSERT(kept != NULL);

	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(xspace, &error);
	struct ts_bytes plane = next_plane(&pb);

	if (plane.n == 0)
		return TS_OK;
	ts_kept_modules_forget(kept);
	for (; plane.n > 0; plane = next_plane(&pb)) {
		if (plane.n > TS_KEPT_MODULES_BYTES - kept->planes.n) {
			ts_kept_modules_forget(kept);
			kept->is_too_large = true;
			return TS_OK;
		}
		ts_buf_put(&kept->planes, plane);
	}
	return kept->planes.failed ? ts_fail_nomem(err) : TS_OK;
}
