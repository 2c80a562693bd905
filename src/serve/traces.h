/* SPDX-License-Identifier: MIT */
/*
 * The traces for Perfetto that annotate left beside the profiles of a session: what the page hands to
 * ui.perfetto.dev, in the browser.
 *
 * Only a file that TPUsight made is served (its first bytes show it), under the names that annotate gives,
 * and only where it lies below what is served by its real name, or beside a profile that was given. It is
 * sent as it lies on the disk: packed.
 */
#ifndef TS_SERVE_TRACES_H
#define TS_SERVE_TRACES_H

#include "serve/answer.h"

struct ts_session;

struct ts_traces_options {
	char *const *paths; /* that are served */
	size_t nr_paths;
	const char *ui; /* the address of Perfetto's page */
};

/*
 * {"ui", "traces": [{"file", "path", "host", "bytes", "shift_ns"}]}, the one to open first in front. HOST: null
 * where it has all hosts. SHIFT_NS: what is to be added to a time of the report to get the trace's, as text;
 * null: unknown.
 */
struct ts_answer ts_traces_list(const struct ts_traces_options *options,
				const struct ts_session *session);
/* The bytes of the one with this name. 404: there is none. */
struct ts_answer ts_traces_get(const struct ts_traces_options *options,
			       const struct ts_session *session, const char *file);

/* Is TEXT an address for .ui: http(s)://host[:port][/folder]? */
bool ts_traces_is_ui(const char *text);

#endif
