/* SPDX-License-Identifier: MIT */
/* The text's events in terms of the model (read/trace.h). */
#include "read/trace.h"

#include "base/check.h"
#include "read/chrome/chrome.h"

static const struct chrome_file *chrome_trace_file_of(const struct ts_profile *profile,
						      uint32_t host)
{
	TS_ASSERT(host < profile->nr_hosts);
	TS_ASSERT(profile->hosts[host].reader_release == ts_chrome_release);
	return profile->hosts[host].reader_data;
}

/* Where the host's own time 0 is on the run's timeline: all its lines begin there. */
static int64_t host_start(const struct ts_profile *profile, const struct chrome_file *file)
{
	return file->first_line < profile->nr_lines ? profile->lines[file->first_line].start_ps : 0;
}

bool ts_trace_time(const struct ts_profile *profile, uint32_t host, struct ts_bytes token,
		   int64_t *ps)
{
	const struct chrome_file *file = chrome_trace_file_of(profile, host);
	struct ts_micros time;

	TS_ASSERT_HOT(profile && ps);
	TS_ASSERT_HOT(token.p || token.n == 0);
	TS_ASSERT_HOT(host < profile->nr_hosts);
	if (!file->has_time || !ts_jtok_micros(token, &time))
		return false;
	*ps = chrome_since(file, time);
	*ps = ts_time_bound(ts_i64_add(ts_i64_sub(*ps, file->min_ps), host_start(profile, file)));
	return true;
}

int64_t ts_trace_length(struct ts_bytes token)
{
	TS_ASSERT_HOT(token.p || token.n == 0);
	return TS_MAX(chrome_length(token), 0);
}

uint32_t ts_trace_plane(const struct ts_profile *profile, uint32_t host, struct ts_bytes pid,
			struct ts_bytes category)
{
	const struct chrome_file *file = chrome_trace_file_of(profile, host);
	uint32_t process = ts_strmap_find(&file->names.process_ids, pid);
	uint32_t known = ts_strmap_find(&file->names.category_ids, category), other;
	uint8_t side = known == TS_NONE ? CHROME_HOST : file->names.categories[known].side;

	TS_ASSERT_HOT(profile);
	TS_ASSERT_HOT(pid.p || pid.n == 0);
	TS_ASSERT_HOT(category.p || category.n == 0);
	TS_ASSERT_HOT(host < profile->nr_hosts);
	if (process == TS_NONE || !file->planes)
		return TS_NONE;
	other = file->planes[2 * process + !side];
	return file->planes[2 * process + side] == TS_NONE ? other
							   : file->planes[2 * process + side];
}
