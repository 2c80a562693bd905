/* SPDX-License-Identifier: MIT */
/*
 * A view: the part of the results that a name on the command line means.
 *
 *	ops, steps, modules ...	a table of a top-level result
 *	time, padding ...	a result
 *	time.per_step		one table of a result
 *
 * Where a view must be rows (CSV), a result's are its findings if it is the doctor's kind, else
 * its first table, else one row of its fields; a top-level result's tables are views of their own.
 */
#ifndef TS_RESULT_VIEW_H
#define TS_RESULT_VIEW_H

#include "result/result.h"

struct ts_view {
	const struct ts_result *result;
	const struct ts_table *table; /* NULL: the result as a whole */
};

/* TS_NOTFOUND: another profile could have the view, this one has nothing for it. TS_USAGE: there is no such view; the story
 * names the closest, or lists the results. A NULL name is not a view. */
enum ts_status ts_view_find(const struct ts_results *results, const char *name,
			    struct ts_view *view, struct ts_error *err);

/* A result whose findings are its main thing. */
bool ts_result_has_findings(const struct ts_result *result);
/* It has tracks at most: it is shown in the viewers and is not a view. */
bool ts_result_is_silent(const struct ts_result *result);

/* "up to 76.3 ms of the run (19.3 %)", "unknown", or that its time is counted elsewhere. */
#define TS_GAIN_MAX 96
const char *ts_finding_gain(char out[TS_GAIN_MAX], const struct ts_finding *finding);

/* The single values of a finding, in the order of the report; all but its places, times, links and
 * what was merged into it. */
#define TS_FINDING_LIST(X) \
	X(id) X(rule) X(severity) X(severity_reason) X(title) X(evidence) X(gain_ps) X(gain_pct) \
	X(gain_alone_ps) X(gain_low_ps) X(gain_high_ps) X(kind) X(impact_ps) X(impact_pct) X(ceiling) X(confidence) X(start_ps) X(end_ps) X(advice) X(code)
#define TS_FINDING_INDEX(name) TS_FINDING_##name,
enum { TS_FINDING_LIST(TS_FINDING_INDEX) TS_FINDING_COLUMNS };
extern const char *const ts_finding_columns[TS_FINDING_COLUMNS];
struct ts_value ts_finding_value(const struct ts_finding *finding, size_t column);

/* What a slice about a finding says of it, RANK counting from 1; gives how many ARGS are filled. */
enum { TS_FINDING_ARGS = 12 };
size_t ts_finding_args(const struct ts_finding *finding, size_t rank,
		       struct ts_arg args[TS_FINDING_ARGS]);

/* The hull of a finding's times; false: it has none. */
bool ts_finding_hull(const struct ts_finding *finding, struct ts_when *hull);

/* rule, title, impact_ps of a finding that became a part of another. */
enum { TS_MERGED_COLUMNS = 3 };
extern const char *const ts_merged_columns[TS_MERGED_COLUMNS];
struct ts_value ts_merged_value(const struct ts_merged *merged, size_t column);

#define TS_WHEN_LIST(X) X(device) X(start_ps) X(end_ps) X(example)
#define TS_WHEN_INDEX(name) TS_WHEN_##name,
enum { TS_WHEN_LIST(TS_WHEN_INDEX) TS_WHEN_COLUMNS };
extern const char *const ts_when_columns[TS_WHEN_COLUMNS];
struct ts_value ts_when_value(const struct ts_when *when, size_t column);

/* What the finding begins with; .kind NULL: nothing is known of that. Its chain is a list of texts beside. */
#define TS_ROOT_LIST(X) X(kind) X(device) X(host) X(thread) X(op) X(event)
#define TS_ROOT_INDEX(name) TS_ROOT_##name,
enum { TS_ROOT_LIST(TS_ROOT_INDEX) TS_ROOT_COLUMNS };
extern const char *const ts_root_columns[TS_ROOT_COLUMNS];
struct ts_value ts_root_value(const struct ts_root *root, size_t column);

/* xprof, xprof_trace, perfetto, perfetto_sql. The one of perfetto is always empty: ui.perfetto.dev does not
 * open a file of the user's machine by an address. */
enum { TS_LINK_COLUMNS = 4 };
extern const char *const ts_link_columns[TS_LINK_COLUMNS];
struct ts_value ts_link_value(const struct ts_links *links, size_t column);

/* Where a finding is, in short: the source file's name alone with its line; else the op; else empty. */
struct ts_bytes ts_finding_place(const struct ts_finding *finding);

/* Of a place. */
#define TS_WHERE_LIST(X) X(op) X(module) X(source)
#define TS_WHERE_INDEX(name) TS_WHERE_##name,
enum { TS_WHERE_LIST(TS_WHERE_INDEX) TS_WHERE_COLUMNS };
extern const char *const ts_where_columns[TS_WHERE_COLUMNS];
struct ts_value ts_where_value(const struct ts_where *where, size_t column);

#endif
