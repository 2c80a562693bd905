/* SPDX-License-Identifier: MIT */
/*
 * What an analysis says, in a form that every output can show without knowing what was analysed:
 * fields (single values), tables (rows of values), findings, and tracks over time.
 *
 * Names are those of the report in JSON; a dot makes an object inside ("buckets.idle_ps"). A name's ending gives the unit: _ps, _bytes, _per_s, _pct. Shares are 0-100 only in values whose
 * name ends in _pct; everywhere else in the program they are 0..1.
 *
 * Ownership: everything lives in results->arena and dies with ts_results_release(). One thread at
 * a time. Functions that add give false or NULL when memory is out, and set results->failed, so
 * that a caller may look once at the end. The address of a table, finding or track is good until
 * the result gets another of its kind: fill one, then make the next.
 */
#ifndef TS_RESULT_RESULT_H
#define TS_RESULT_RESULT_H

#include <math.h>

#include "base/arena.h"
#include "base/buf.h"

enum ts_value_type {
	TS_VALUE_NULL, /* unknown: JSON null, "-" in text, empty in CSV */
	TS_VALUE_INT,
	TS_VALUE_ID, /* may pass 2^53: a decimal string in JSON */
	TS_VALUE_REAL,
	TS_VALUE_TEXT,
	TS_VALUE_BOOL,
	TS_VALUE_LIST, /* of values, or (with columns) of objects */
	/* Above what can be true: null in JSON, empty in CSV, "impossible" for people. It has no number; the
	 * one that its inputs give stands apart, in the list of what is impossible (result/impossible.h). */
	TS_VALUE_IMPOSSIBLE,
};

/* Where a number comes from. */
enum ts_origin {
	TS_AS_FIELD, /* of a value: where its field's or column's numbers come from */
	TS_MEASURED,
	TS_COMPILED,
	TS_MODELLED,
	TS_INFERRED,
	TS_ASSUMED,
	TS_DERIVED
};

/* A figure that contradicts a peak. */
struct ts_impossible {
	double value, peak;    /* in the unit of its field */
	struct ts_bytes cause; /* which inputs contradict each other */
};

struct ts_column;
struct ts_list;
struct ts_record;
struct ts_value {
	enum ts_value_type type;
	enum ts_origin origin; /* where it differs from that of its field or column */
	union {
		int64_t i;
		uint64_t u;
		double r;
		bool b;
		struct ts_bytes s;
		const struct ts_list *list;
		const struct ts_impossible *impossible;
	} as;
};

struct ts_list {
	const struct ts_column *columns; /* NULL: the items are plain values */
	size_t nr_columns;
	size_t nr;		/* rows (with columns) or items */
	struct ts_value *items; /* row by row */
};

/* What a value is. */
enum ts_type {
	TS_TYPE_UNKNOWN,
	TS_TYPE_INT,
	TS_TYPE_REAL,
	TS_TYPE_ID,   /* TS_VALUE_ID */
	TS_TYPE_TEXT, /* in words of this program's, or of the trade's */
	TS_TYPE_NAME, /* of the user's job: redact hashes it */
	TS_TYPE_BOOL,
	TS_TYPE_LIST,
	TS_TYPE_GROUP, /* an object of fields, where it is null as a whole */
};

/* What a label means (result/schema/terms.def); texts are Markdown, NULL where there is nothing to say. */
struct ts_term {
	const char *label, *meaning, *formula, *unit;
	const char *page; /* of docs/, with the whole story */
	const char *also; /* what else bears the label: names in backquotes */
};

struct ts_column {
	const char *name;
	enum ts_origin origin;
	const char *label; /* for people: "self time"; NULL: not shown in the text view */
	int weight; /* where width is short: 1: the table is about it, -1: the first to be left out */
	enum ts_type type;
	const struct ts_term *term; /* NULL: not of the schema */
	const char *own_label;	    /* in place of the term's; or NULL */
	bool of_others;		    /* of a comparison's runs: all but the baseline have it */
};

#define TS_MAX_COLUMNS 128 /* of a table; a comparison of 16 runs has 85 */

struct ts_table {
	const char *name;
	const char *title; /* of the text view; NULL: not shown there */
	const struct ts_column *columns;
	size_t nr_columns, nr_rows, cap_rows;
	struct ts_value *cells; /* row by row; of the heap, freed with the results */
	size_t text_rows;	/* rows the text view shows; 0: ten */
	size_t nr_others;	/* rows at the end that are sums of what is not listed */
	/* 1 + the column whose texts end in the unit of their row, for the columns whose names have
	 * none; 0: there is none */
	size_t unit_column;
};

/* Rows that are one thing each. */
static inline size_t ts_table_nr_listed(const struct ts_table *table)
{
	return table->nr_rows - table->nr_others;
}

struct ts_field {
	const char *name;
	struct ts_value value;
	enum ts_origin origin;
	const char *label; /* for people; NULL: not in the text view */
};

enum ts_severity { TS_CRITICAL, TS_WARNING, TS_INFO, TS_NR_SEVERITIES };
enum ts_confidence { TS_CERTAIN, TS_LIKELY, TS_POSSIBLE, TS_NR_CONFIDENCES };

struct ts_where {
	struct ts_bytes op, module, source;
	uint32_t op_index; /* into profile->ops, or TS_NONE */
	/* What this op has of it, of core time and of its device's peaks, where the finding's sentence is of the run. */
	int64_t own_ps; /* not above 0: unknown, and the shares too; NaN: one of them is */
	double own_share, mxu_share, hbm_share;
};

/* When it happens. An example is the first execution of a finding's op, not all of its time. */
struct ts_when {
	uint32_t device; /* TS_NONE: all */
	bool is_example;
	int64_t start_ps, end_ps;
};

/* Where a viewer shows it; empty: nowhere. Addresses are relative to TensorBoard's. */
struct ts_links {
	struct ts_bytes xprof;	      /* the op in the graph viewer */
	struct ts_bytes xprof_trace;  /* the time in the trace viewer */
	struct ts_bytes perfetto_sql; /* the slices that show the finding */
};

/* A finding that another one's cause explains: it stands there, and not by itself. */
struct ts_merged {
	const char *rule;
	struct ts_bytes title;
	int64_t impact_ps;
};

/* What a chain of waiting begins with; texts with .n 0: it is not known, or there is none. */
struct ts_root {
	const char
		*kind; /* "core", "op", "pipeline", "clock", "step", "host"; NULL: none is known */
	struct ts_bytes device, host, thread, op, event; /* event: of the thread */
	const struct ts_bytes *chain; /* what waits for it, one after the other, as sentences */
	size_t nr_chain;
};

struct ts_finding {
	struct ts_bytes id; /* stable from run to run: rule and place */
	const char *rule;
	enum ts_severity severity;
	const char *severity_reason; /* why a rule lifted it; NULL: it follows from the gain */
	enum ts_confidence confidence;
	struct ts_bytes title, evidence, advice, code;
	int64_t impact_ps;   /* core time it can give back at most; -1 unknown */
	double impact_share; /* of total_ps, 0..1; NaN unknown */
	int64_t gain_ps;   /* time of the run; those of all findings never exceed it; -1 unknown */
	double gain_share; /* of the run, 0..1; NaN unknown */
	/* Where what waited for what is inferred: the gain without and with that; -1 unknown. */
	int64_t gain_low_ps, gain_high_ps;
	int64_t gain_alone_ps; /* likewise, before any other finding is taken; -1 unknown */
	bool is_headroom; /* work against what is attainable; else a cause: the run against its own normal */
	struct ts_root root;
	const char *ceiling; /* how the impact is bounded; NULL: the impact is unknown */
	const struct ts_where *where;
	size_t nr_where;
	const struct ts_when *when;
	size_t nr_when;
	struct ts_links links;
	const struct ts_merged *merged;
	size_t nr_merged;
};

/* A class of slices: its name is what viewers show (and colour by), its args what a click shows. */
struct ts_arg {
	const char *
		key; /* a name for SQL: without blanks, its ending is the unit (_ns, _bytes, _pct) */
	struct ts_value value; /* a text, an integer or a real; null, or an empty text: not shown */
};

static inline bool ts_arg_is_shown(const struct ts_arg *arg)
{
	const struct ts_value *value = &arg->value;

	if (value->type == TS_VALUE_TEXT)
		return value->as.s.n > 0;
	return value->type == TS_VALUE_INT || value->type == TS_VALUE_REAL;
}

struct ts_label {
	struct ts_bytes name;
	const struct ts_arg *args;
	size_t nr_args;
};

struct ts_slice {
	int64_t start_ps, end_ps;
	uint32_t label;	    /* index into the track's labels */
	uint32_t nr_events; /* merged into this one */
	int64_t own_ps;	    /* time inside that is really of this label */
};

struct ts_point {
	int64_t at_ps;
	double value;
};

/* An end of an arrow from one slice to another of any track; both have its number. */
struct ts_track_end {
	uint32_t label; /* of the slice: its track has one for each */
	uint32_t number;
	bool begins;
	int64_t other_ps; /* when the slice at the other end begins */
};

enum ts_track_kind { TS_TRACK_SLICES, TS_TRACK_COUNTER };

struct ts_track {
	enum ts_track_kind kind;
	const char *name; /* "Time classes", "MXU utilization (%)" */
	const char *unit; /* of a counter: "%", "GB/s" */
	const char *axis; /* counters of one unit and one axis have one scale */
	const char *description;
	uint32_t device; /* index into the profile's devices; TS_NONE: of the run */
	int order;	 /* among the tracks of a device: smaller is higher */
	const struct ts_label *labels;
	size_t nr_labels;
	struct ts_slice *slices; /* in the order of starts; never overlapping */
	size_t nr_slices;
	struct ts_point *points; /* the value holds until the next point */
	size_t nr_points;
	const struct ts_track_end *ends; /* in the order of labels */
	size_t nr_ends;
	uint64_t nr_folded; /* events that were merged away to stay in the budget */
	bool is_of_classes; /* of time: in a trace the next slice of a class tells what was too short to be seen */
	bool is_of_viewers; /* it shows what tables of the report say: a page draws those */
};

struct ts_result {
	const char *name; /* of the analysis: a view */
	const char *title;
	bool top_level; /* its fields and tables stand in the report itself, not in an object */
	struct ts_field *fields;
	struct ts_table *tables;
	struct ts_finding *findings;
	struct ts_track *tracks;
	size_t nr_fields, nr_tables, nr_findings, nr_tracks;
	size_t cap_fields, cap_tables, cap_findings, cap_tracks;
	struct ts_bytes *notes; /* sentences: what is inferred, assumed, left out */
	size_t nr_notes, cap_notes;
	struct ts_results *owner;
};

struct ts_results {
	struct ts_arena arena;
	struct ts_arena *kept;	  /* of the slices of tracks; NULL: the arena */
	struct ts_result **items; /* of the heap */
	size_t nr, cap;
	bool failed; /* memory ran out somewhere: not whole */
	/* Where rows and tables go when memory is out, so that who fills them need not ask. */
	struct ts_value spare_row[TS_MAX_COLUMNS];
	struct ts_table spare_table;
	struct ts_field spare_field;
};

void ts_results_init(struct ts_results *results);
void ts_results_release(struct ts_results *results);
struct ts_result *ts_results_add(struct ts_results *results, const char *name, const char *title);
const struct ts_result *ts_results_find(const struct ts_results *results, const char *name);

static inline struct ts_value ts_null(void)
{
	return (struct ts_value){ .type = TS_VALUE_NULL };
}
static inline struct ts_value ts_int(int64_t i)
{
	return (struct ts_value){ .type = TS_VALUE_INT, .as.i = i };
}
static inline struct ts_value ts_id(uint64_t u)
{
	return (struct ts_value){ .type = TS_VALUE_ID, .as.u = u };
}
static inline struct ts_value ts_bool(bool b)
{
	return (struct ts_value){ .type = TS_VALUE_BOOL, .as.b = b };
}
static inline struct ts_value ts_text(struct ts_bytes s)
{
	return (struct ts_value){ .type = TS_VALUE_TEXT, .as.s = s };
}
static inline struct ts_value ts_real(double r) /* NaN and infinities are unknown */
{
	return isfinite(r) ? (struct ts_value){ .type = TS_VALUE_REAL, .as.r = r } : ts_null();
}
static inline struct ts_value ts_share_pct(double share)
{
	return ts_real(share * 100);
}
static inline struct ts_value ts_int_or_null(int64_t i)
{
	return i < 0 ? ts_null() : ts_int(i);
}
static inline struct ts_value ts_text_or_null(struct ts_bytes s)
{
	return s.n ? ts_text(s) : ts_null();
}
/* The same value with an origin of its own. */
static inline struct ts_value ts_value_from(struct ts_value value, enum ts_origin origin)
{
	value.origin = origin;
	return value;
}

/* Fields come out in the order they went in; parts of one object must follow each other. The same
 * name again replaces the value. NAME and LABEL must outlive the results. */
/* Never NULL: without memory it is a field that no output shows. */
struct ts_field *ts_result_field(struct ts_result *result, const char *name, struct ts_value value,
				 enum ts_origin origin, const char *label);
/* Never NULL: without memory it is a table that no output shows. */
struct ts_table *ts_result_table(struct ts_result *result, const char *name, const char *title,
				 const struct ts_column *columns, size_t nr_columns);
/* A new row, all null, to be filled by the caller. Never NULL: without memory it is a row that no
 * output shows. */
struct ts_value *ts_table_row(struct ts_result *result, struct ts_table *table);
struct ts_finding *ts_result_finding(struct ts_result *result);
struct ts_track *ts_result_track(struct ts_result *result, enum ts_track_kind kind,
				 const char *name, uint32_t device, int order);
void ts_result_note(struct ts_result *result, const char *fmt, ...) TS_PRINTF(2, 3);
/* Text in the results' arena. */
struct ts_bytes ts_result_text(struct ts_result *result, const char *fmt, ...) TS_PRINTF(2, 3);
/* A list value with room for NR rows of NR_COLUMNS (or NR plain items when COLUMNS is NULL). */
struct ts_value ts_result_list(struct ts_result *result, const struct ts_column *columns,
			       size_t nr_columns, size_t nr, struct ts_value **items);

/* Looking things up, for outputs and comparisons. Missing gives null, NULL or -1. */
struct ts_value ts_result_get(const struct ts_result *result, const char *field);
struct ts_field *ts_result_find_field(const struct ts_result *result, const char *name);
const struct ts_table *ts_result_find_table(const struct ts_result *result, const char *table);
int ts_table_column(const struct ts_table *table, const char *name);
/* Where the value of a field comes from; where the cells of a column do: the origin that all of them
 * share, else TS_AS_FIELD, which is several. */
enum ts_origin ts_field_origin(const struct ts_field *field);
enum ts_origin ts_column_origin(const struct ts_table *table, size_t column);
struct ts_value ts_table_cell(const struct ts_table *table, size_t row, int column);
/* By the column's name; a text is empty when the cell is not a text. */
struct ts_value ts_cell(const struct ts_table *table, size_t row, const char *column);
struct ts_bytes ts_cell_text(const struct ts_table *table, size_t row, const char *column);
double ts_cell_number(const struct ts_table *table, size_t row, const char *column);
int64_t ts_cell_int(const struct ts_table *table, size_t row, const char *column);
struct ts_bytes ts_value_text(struct ts_value value); /* empty when it is not a text */
double ts_value_number(struct ts_value value);	      /* NaN when it is not a number */
int64_t ts_value_int(struct ts_value value);	      /* -1 when it is not a number */

const char *ts_severity_name(enum ts_severity severity);       /* critical, warning, info */
const char *ts_confidence_name(enum ts_confidence confidence); /* certain, likely, possible */
const char *ts_origin_name(enum ts_origin origin); /* measured, ...; TS_AS_FIELD: mixed */

/*
 * Slices of one track in the making: added in the order of starts, merged with the neighbour when
 * they have the same label and touch, and coarsened when there are more than the budget: the
 * resolution doubles, and what is shorter joins its neighbour under the label that has more of the
 * time. So the size is bounded and the result depends on the input alone. An overlap is cut from
 * the later slice. A budget of 0 keeps nothing.
 */
struct ts_slices {
	struct ts_slice *items;
	size_t nr, cap, budget;
	struct ts_slice *kept; /* in an arena, in place of .items; NULL: they are not */
	int64_t resolution_ps; /* 0: every slice as it is */
	uint64_t nr_folded;
};

extern const struct ts_record ts_slices_record, ts_bins_record, ts_levels_record; /* for states */

bool ts_slices_add(struct ts_slices *slices, int64_t start_ps, int64_t end_ps, uint32_t label);
void ts_slices_release(struct ts_slices *slices);
/* Nothing is added to them any more: they move to ARENA, if there is one and it has room. */
void ts_slices_keep(struct ts_slices *slices, struct ts_arena *arena);
static inline const struct ts_slice *ts_slices_items(const struct ts_slices *slices)
{
	return slices->kept ? slices->kept : slices->items;
}
/* Moves the slices into a track of the result (copied to .kept of its results, or their arena). */
bool ts_slices_finish(struct ts_slices *slices, struct ts_result *result, struct ts_track *track);

/*
 * A quantity over time in a bounded number of equal bins. Each add spreads an amount evenly over
 * [start, end); when time runs past the last bin, bins are joined in pairs and twice as wide.
 */
#define TS_BINS 1024
struct ts_bins {
	int64_t origin_ps, width_ps; /* width 0: nothing was added yet */
	double amount[TS_BINS];
	size_t nr;   /* bins in use */
	size_t near; /* one that was added to: most often the next time lies in it, too */
};

void ts_bins_init(struct ts_bins *bins, int64_t origin_ps, int64_t width_ps);
void ts_bins_add(struct ts_bins *bins, int64_t start_ps, int64_t end_ps, double amount);
/* The same for NR quantities that began alike and are only ever added to together, so that they keep
 * the same bins; an AMOUNT a quantity, 0 or more. */
void ts_bins_add_each(struct ts_bins *bins, size_t nr, int64_t start_ps, int64_t end_ps,
		      const double *amount);
/* The same for work of which only the ends are known, as of a copy that goes on beside ops: what of it would pass a
 * peak (a second; NaN: there is none) goes to those of its bins that have room, if any have. */
void ts_bins_add_below(struct ts_bins *bins, size_t nr, int64_t start_ps, int64_t end_ps,
		       const double *amount, const double *peak);
/* Points of a counter track: amount per second of each bin times SCALE, 0 where nothing was and
 * at the end; a value that does not change is said once. */
bool ts_bins_finish(const struct ts_bins *bins, struct ts_result *result, struct ts_track *track,
		    double scale);

/*
 * A level over time (bytes held, a queue's length) in a bounded number of equal bins, of which each
 * keeps the highest that it saw: a peak is never lost, only when it was becomes less exact. Set in
 * the order of time; from then on the level holds until it is set again.
 */
#define TS_LEVELS 512
struct ts_levels {
	int64_t origin_ps, width_ps; /* width 0: nothing was set yet */
	int64_t now;
	int64_t high[TS_LEVELS];
	size_t nr; /* bins in use */
};

/* The first bin begins with the first level that is set. */
void ts_levels_set(struct ts_levels *levels, int64_t at_ps, int64_t value);
static inline int64_t ts_levels_time(const struct ts_levels *levels, size_t bin)
{
	return levels->origin_ps + (int64_t)bin * levels->width_ps;
}

#endif
