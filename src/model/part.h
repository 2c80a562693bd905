/* SPDX-License-Identifier: MIT */
/*
 * A part of a profile: what happened in a stretch of time, on some of its devices and hosts.
 *
 * A profile that was narrowed is like one that never had more: planes, lines, devices and hosts that are not
 * of the part are gone, and their indices with them; events outside of the time are not handed over by any
 * reader. An event that lies in the time in part is whole, one without length counts where it begins: as
 * in the copy that `tpusight trim` makes (copy/trim.h). Time 0 stays that of the whole profile.
 *
 * Of a device stay its planes, those of its SparseCores, and what its host did. What describes the others
 * (modules, the task) stays always.
 */
#ifndef TS_MODEL_PART_H
#define TS_MODEL_PART_H

#include "model/profile.h"

struct ts_part {
	int64_t from_ps, to_ps; /* INT64_MIN, INT64_MAX: open */
	const char *host;	/* its name; NULL: all */
	const char *device;	/* its name, or its place among the run's devices; NULL: all */
};

#define TS_PART_ALL { .from_ps = INT64_MIN, .to_ps = INT64_MAX }

bool ts_part_is_all(const struct ts_part *part);

/* After ts_profile_finish(), once. TS_NOTFOUND: no host or no device is called that. */
enum ts_status ts_profile_narrow(struct ts_profile *profile, const struct ts_part *part,
				 struct ts_error *err);

/* The device that the part names; TS_NONE: it names none. TS_NOTFOUND as above. */
enum ts_status ts_part_device(const struct ts_profile *profile, const struct ts_part *part,
			      uint32_t *device, struct ts_error *err);
/* Is PLANE of the part, whose device that is? */
bool ts_part_keeps(const struct ts_profile *profile, const struct ts_plane *plane,
		   const struct ts_part *part, uint32_t device);

/* Does an event from START on, so long, stay? */
static inline bool ts_part_has(const struct ts_span *part, int64_t start_ps, int64_t dur_ps)
{
	if (start_ps >= part->end_ps)
		return false;
	return start_ps >= part->start_ps ||
	       (dur_ps > 0 && ts_i64_add(start_ps, dur_ps) > part->start_ps);
}

/*
 * Does a step stay? Cores begin a step a little apart, so a part that is one step has slivers of its
 * neighbours: less than a hundredth of the step, or of the part, does not count.
 */
static inline bool ts_part_has_step(const struct ts_span *part, int64_t start_ps, int64_t dur_ps)
{
	int64_t end_ps = ts_i64_add(start_ps, dur_ps);
	int64_t shared_ps =
		ts_i64_sub(TS_MIN(end_ps, part->end_ps), TS_MAX(start_ps, part->start_ps));
	int64_t part_ps = ts_i64_sub(part->end_ps, part->start_ps);

	if (dur_ps <= 0)
		return ts_part_has(part, start_ps, dur_ps);
	return shared_ps > TS_MIN(dur_ps, part_ps) / 100;
}

#endif
