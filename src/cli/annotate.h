/* What annotate and live share: the options that say what is written, and what is told of it. */
#ifndef TS_CLI_ANNOTATE_H
#define TS_CLI_ANNOTATE_H

#include "cli/cli.h"

enum ts_status ts_set_dry_run(struct ts_cli *cli, const char *value, struct ts_error *err);
enum ts_status ts_set_perfetto(struct ts_cli *cli, const char *value, struct ts_error *err);
enum ts_status ts_set_trace_events(struct ts_cli *cli, const char *value, struct ts_error *err);
enum ts_status ts_set_overlay_events(struct ts_cli *cli, const char *value, struct ts_error *err);

/* Rows for a command's table of options. */
#define TS_ANNOTATE_OPTIONS                                                                     \
	{ "dry-run", 'n', NULL, "say what would be done, write nothing", ts_set_dry_run },      \
		{ "perfetto", 0, "FORM", "json (default), pftrace, both or none",               \
		  ts_set_perfetto },                                                            \
		{ "max-trace-events", 0, "N",                                                   \
		  "events in a Perfetto file (default 1000000, pftrace all; 0: all)",           \
		  ts_set_trace_events },                                                        \
	{                                                                                       \
		"max-overlay-events", 0, "N", "events in the overlay, a host (default 200000)", \
			ts_set_overlay_events                                                   \
	}

struct ts_annotate_options ts_annotate_options_of(const struct ts_cli *cli);

/* Complains of what could not be read or is damaged, and of files that were not written. True: there
 * were such files, and the story of ts_annotate() has been told. */
bool ts_annotation_complain(const struct ts_annotation *one);

#endif
