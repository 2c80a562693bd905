/* SPDX-License-Identifier: MIT */
/*
 * What annotate writes beside the profiles of a session, put there when other machines have made it: the report, XProf's
 * suggestions and its cache_version.txt. The profiles themselves have their overlays already (map overlay --put), and are
 * not read; XProf's caches go, and so do traces of ours, which would show another report.
 */
#ifndef TS_POD_BESIDE_H
#define TS_POD_BESIDE_H

#include "pod/map.h"
#include "overlay/apply.h"

struct ts_beside {
	struct ts_map_input results; /* what reduce report --results has written */
	struct ts_map_input report;  /* the report in JSON */
	struct ts_overlay_report done;
	struct ts_remote_push push; /* of a session in a bucket: what went back */
};

/* TS_FORMAT: the session is not of that run, the report is not one of ours, or a file of the run is damaged. */
enum ts_status ts_beside_put(struct ts_beside *beside, const struct ts_session *session,
			     struct ts_error *err);

#endif
