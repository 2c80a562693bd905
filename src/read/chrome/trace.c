/* The text's events in terms of the model (read/trace.h). */
#include "read/trace.h"

#include "base/units.h"
#include "read/chrome/chrome.h"

static const struct chrome_file *file_of(const struct ts_profile *profile, uint32_t host)
{
	return profile->hosts[host].reader_data;
}

bool ts_trace_is(const struct ts_profile *profile, uint32_t host)
{
	return ts_readers[profile->hosts[host].reader] == ts_reader_find("chrome");
}

/* Where the host's own time 0 is on the run's timeline: all its lines begin there. */
static int64_t host_start(const struct ts_profile *profile, const struct chrome_file *file)
{
	return file->first_line < profile->nr_lines ? profile->lines[file->first_line].start_ps : 0;
}

bool ts_trace_time(const struct ts_profile *profile, uint32_t host, struct ts_bytes token,
		   int64_t *ps)
{
	const struct chrome_file *file = file_of(profile, host);
	struct ts_micros time;

	if (!file->has_time || !ts_jtok_micros(token, &time))
		return false;
	*ps = chrome_since(file, time);
	*ps = ts_time_bound(ts_i64_add(ts_i64_sub(*ps, file->min_ps), host_start(profile, file)));
	return true;
}

int64_t ts_trace_length(struct ts_bytes token)
{
	struct ts_micros time;

	if (!ts_jtok_micros(token, &time) || time.us < 0)
		return 0;
	return TS_MAX(ts_time_bound(ts_i64_add(ts_i64_mul(time.us, TS_PS_PER_US), time.ps)), 0);
}

uint32_t ts_trace_plane(const struct ts_profile *profile, uint32_t host, struct ts_bytes pid,
			struct ts_bytes category)
{
	const struct chrome_file *file = file_of(profile, host);
	uint32_t process = ts_strmap_find(&file->names.process_ids, pid);
	uint32_t known = ts_strmap_find(&file->names.category_ids, category), other;
	uint8_t side = known == TS_NONE ? CHROME_HOST : file->names.categories[known].side;

	if (process == TS_NONE || !file->planes)
		return TS_NONE;
	other = file->planes[2 * process + !side];
	return file->planes[2 * process + side] == TS_NONE ? other
							   : file->planes[2 * process + side];
}
