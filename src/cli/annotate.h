/* SPDX-License-Identifier: MIT */
/* What annotate and live share: the options that say what is written, and what is said of it. */
#ifndef TS_CLI_ANNOTATE_H
#define TS_CLI_ANNOTATE_H

#include "cli/cli.h"
#include "cli/copies.h"
#include "run/annotate.h"

enum ts_perfetto { TS_PERFETTO_JSON, TS_PERFETTO_PFTRACE, TS_PERFETTO_BOTH, TS_PERFETTO_NONE };
extern const char *const ts_perfetto_names[]; /* in that order; NULL at the end */

struct ts_annotate_choice {
	bool dry_run;
	enum ts_perfetto perfetto;
	bool perfetto_zip;
	enum ts_copy_form copy;
	bool has_max_trace_events;
	uint64_t max_trace_events, max_overlay_events;
	bool all; /* ops and steps are in the report */
	uint64_t max_ops, max_steps;
};
#define TS_ANNOTATE_CHOICE_INIT { .max_overlay_events = TS_MAX_OVERLAY_EVENTS }

/* Rows for the table of a command whose struct TYPE has a struct ts_annotate_choice, MEMBER. */
#define TS_ANNOTATE_OPTIONS(type, member)                                                      \
	TS_OPT_FLAG(type, member.dry_run, "dry-run", 'n',                                      \
		    "say what would be done, write nothing"),                                  \
		TS_OPT_CHOICE(type, member.perfetto, enum ts_perfetto, "perfetto", "FORM",     \
			      ts_perfetto_names, true, "%s"),                                  \
		TS_OPT_FLAG(type, member.perfetto_zip, "perfetto-zip", 0,                      \
			    "traces of several ranks also as one: " TS_RANKS_FILE),            \
		TS_OPT_COPY_FORM(type, member.copy),                                           \
		TS_OPT_COUNT(                                                                  \
			type, member.max_trace_events, "max-trace-events", 0, "N", 0,          \
			TS_OPTION_ANY, "a number of events",                                   \
			.help = "events in a Perfetto file (default 1000000, pftrace all; 0: " \
				"all)",                                                        \
			TS_OPTION_GIVEN(type, member.has_max_trace_events)),                   \
		TS_OPT_COUNT(type, member.max_overlay_events, "max-overlay-events", 0, "N", 0, \
			     TS_OPTION_ANY, "a number of events",                              \
			     .help = "events in the overlay, a host (default 200000)"),        \
		TS_OPT_FLAG(type, member.all, "all", 0, "every op and step in the report"),    \
		TS_OPT_MAX_ROWS(type, member.max_ops, member.max_steps)

struct ts_annotate_options ts_annotate_options_of(const struct ts_cli *cli,
						  const struct ts_annotate_choice *choice);

/* Complains of what could not be read or is damaged, and of files that were not written. True: there
 * were files that could not be written; the story of ts_annotate() is then on the console. */
bool ts_annotation_complain(const struct ts_annotation *one);

#endif
