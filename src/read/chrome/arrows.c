/* SPDX-License-Identifier: MIT */
/* The flow events that were kept, for read/flows.h. */
#include "read/flows.h"

#include "base/check.h"
#include "read/chrome/chrome.h"

static const struct chrome_flows *flows_of(const struct ts_profile *profile, uint32_t index)
{
	const struct ts_host *host = &profile->hosts[index];
	const struct chrome_file *file = host->reader_data;

	return host->reader_release == ts_chrome_release ? &file->flows : NULL;
}

bool ts_flows_are_in(const struct ts_profile *profile, uint32_t host)
{
	const struct chrome_flows *flows = flows_of(profile, host);

	TS_ASSERT(host < profile->nr_hosts);
	return flows && flows->nr > 0;
}

bool ts_flow_find(const struct ts_profile *profile, const struct ts_line *line,
		  struct ts_bytes body, struct ts_flow *flow)
{
	const struct chrome_flows *flows = flows_of(profile, profile->planes[line->plane].host);
	uint32_t at;

	TS_ASSERT_HOT(profile && line && flow);
	if (!flows || flows->nr == 0)
		return false;
	at = ts_map_find(&flows->places, chrome_place_of(body));
	if (at != TS_NONE)
		*flow = flows->items[at];
	return at != TS_NONE;
}
