/* SPDX-License-Identifier: MIT */
/* The reader's notes as read/seams.h wants them. */
#include "base/units.h"

#include "base/check.h"
#include "read/chrome/chrome.h"

/* Above what systems give to processes (Linux: 2^22), below what viewers keep in 32 bits. */
#define FIRST_ID UINT32_C(1000000000)
/* Ranks begin at places of their own: two copies that are opened together do not mix there. */
#define NR_PLACES 100

static bool seams_is_in(struct ts_bytes text, uint64_t from)
{
	uint64_t id;

	return ts_bytes_u64(text, &id) && id >= from && id < from + TS_FREE_IDS;
}

static bool seams_is_free(const struct chrome_names *names, uint64_t from)
{
	for (size_t i = 0; i < names->nr_processes; i++)
		if (seams_is_in(names->processes[i].pid, from))
			return false;
	for (size_t i = 0; i < names->nr_tracks; i++)
		if (seams_is_in(names->tracks[i].tid, from))
			return false;
	return true;
}

/* A file that uses every range was made by a program that counts as we do: the last range is then
 * used by both. */
static uint32_t free_id(const struct chrome_names *names, int64_t rank)
{
	uint64_t from = FIRST_ID + (uint64_t)TS_MAX(rank, 0) % NR_PLACES * TS_FREE_IDS;

	while (!seams_is_free(names, from) && from + 2 * (uint64_t)TS_FREE_IDS < UINT32_MAX)
		from += TS_FREE_IDS;
	return (uint32_t)from;
}

bool ts_seams_of(const struct ts_profile *profile, uint32_t index, struct ts_seams *seams)
{
	const struct ts_host *host = &profile->hosts[index];
	const struct chrome_file *file = host->reader_data;
	int64_t lag;

	TS_ASSERT(profile && seams);
	if (host->reader_release != ts_chrome_release || file->seams.events_at == TS_NO_SEAM)
		return false;
	lag = ts_host_lag_ps(profile, host);
	*seams = (struct ts_seams){ .bytes = file->bytes,
				    .mapped = file->seams.mapped,
				    .is_array = file->seams.is_array,
				    .head_at = file->seams.head_at,
				    .events_at = file->seams.events_at,
				    .end_at = file->seams.end_at,
				    .needs_comma = file->seams.needs_comma,
				    .has_items = file->seams.has_items,
				    .is_refused = host->not_strict.n > 0,
				    .closing = file->seams.closing,
				    .base_us = file->first_us,
				    .first_ps = lag,
				    .last_ps = lag,
				    .free_id = free_id(&file->names, host->rank) };
	if (file->min_ps <= file->max_ps) {
		seams->base_ps = ts_i64_sub(file->min_ps, lag);
		seams->last_ps = ts_i64_add(lag, ts_i64_sub(file->max_ps, file->min_ps));
	}
	return true;
}
