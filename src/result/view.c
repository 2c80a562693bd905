/* SPDX-License-Identifier: MIT */
/* Views by name, and findings as rows. */
#include "result/view.h"

#include "base/check.h"
#include "base/closest.h"
#include "base/units.h"
#include "result/schema.h"
#include "result/schema/doctor.def"

#define NAME_MAX_SHOWN 64 /* of a name that is not a view, so that the message is not cut */

#define NAME(name) #name,
const char *const ts_finding_columns[TS_FINDING_COLUMNS] = { TS_FINDING_LIST(NAME) };
const char *const ts_root_columns[TS_ROOT_COLUMNS] = { TS_ROOT_LIST(NAME) };
const char *const ts_when_columns[TS_WHEN_COLUMNS] = { TS_WHEN_LIST(NAME) };
const char *const ts_where_columns[TS_WHERE_COLUMNS] = { TS_WHERE_LIST(NAME) };
#undef NAME
const char *const ts_merged_columns[TS_MERGED_COLUMNS] = { "rule", "title", "impact_ps" };
const char *const ts_link_columns[TS_LINK_COLUMNS] = { "xprof", "xprof_trace", "perfetto",
						       "perfetto_sql" };

const char *ts_finding_gain(char out[TS_GAIN_MAX], const struct ts_finding *finding)
{
	char time[TS_UNIT_MAX], share[TS_UNIT_MAX];

	TS_ASSERT(finding);
	if (finding->gain_ps < 0)
		return "gain unknown";
	if (finding->gain_ps == 0 && finding->impact_ps > 0)
		return "gain counted with other findings";
	snprintf(out, TS_GAIN_MAX, "could save %s (%s of the run)",
		 ts_fmt_ps(time, finding->gain_ps), ts_fmt_pct(share, finding->gain_share * 100));
	return out;
}

static struct ts_value ns_or_null(int64_t ps)
{
	return ps < 0 ? ts_null() : ts_int(ps / TS_PS_PER_NS);
}

size_t ts_finding_args(const struct ts_finding *finding, size_t rank,
		       struct ts_arg args[TS_FINDING_ARGS])
{
	const struct ts_arg all[] = {
		{ "finding", ts_text_or_null(finding->id) },
		{ "rule", finding->rule ? ts_text(ts_bytes_of(finding->rule)) : ts_null() },
		{ "severity", ts_text(ts_bytes_of(ts_severity_name(finding->severity))) },
		{ "rank", ts_int((int64_t)rank) },
		{ "title", ts_text_or_null(finding->title) },
		{ "evidence", ts_text_or_null(finding->evidence) },
		{ "advice", ts_text_or_null(finding->advice) },
		{ "impact_ns", ns_or_null(finding->impact_ps) },
		{ "impact_pct", ts_share_pct(finding->impact_share) },
		{ "gain_ns", ns_or_null(finding->gain_ps) },
		{ "gain_pct", ts_share_pct(finding->gain_share) },
		{ "confidence", ts_text(ts_bytes_of(ts_confidence_name(finding->confidence))) },
	};
	size_t nr = 0;

	_Static_assert(TS_NELEM(all) == TS_FINDING_ARGS, "room for each");
	TS_ASSERT(finding && args);
	for (size_t i = 0; i < TS_NELEM(all); i++)
		if (all[i].value.type != TS_VALUE_NULL)
			args[nr++] = all[i];
	return nr;
}

bool ts_finding_hull(const struct ts_finding *finding, struct ts_when *hull)
{
	TS_ASSERT(finding && hull);
	for (size_t i = 0; i < finding->nr_when; i++) {
		const struct ts_when *when = &finding->when[i];

		if (i == 0)
			*hull = *when;
		hull->start_ps = TS_MIN(hull->start_ps, when->start_ps);
		hull->end_ps = TS_MAX(hull->end_ps, when->end_ps);
	}
	return finding->nr_when > 0;
}

struct ts_value ts_finding_value(const struct ts_finding *finding, size_t column)
{
	struct ts_when hull;
	bool has_time = ts_finding_hull(finding, &hull);
	const struct ts_value values[TS_FINDING_COLUMNS] = {
		ts_text_or_null(finding->id),
		finding->rule ? ts_text(ts_bytes_of(finding->rule)) : ts_null(),
		ts_text(ts_bytes_of(ts_severity_name(finding->severity))),
		finding->severity_reason ? ts_text(ts_bytes_of(finding->severity_reason))
					 : ts_null(),
		ts_text_or_null(finding->title),
		ts_text_or_null(finding->evidence),
		ts_int_or_null(finding->gain_ps),
		ts_share_pct(finding->gain_share),
		ts_int_or_null(finding->gain_alone_ps),
		ts_int_or_null(finding->gain_low_ps),
		ts_int_or_null(finding->gain_high_ps),
		ts_text(ts_bytes_of(finding->is_headroom ? "headroom" : "cause")),
		ts_int_or_null(finding->impact_ps),
		ts_share_pct(finding->impact_share),
		finding->ceiling ? ts_text(ts_bytes_of(finding->ceiling)) : ts_null(),
		ts_text(ts_bytes_of(ts_confidence_name(finding->confidence))),
		has_time ? ts_int(hull.start_ps) : ts_null(),
		has_time ? ts_int(hull.end_ps) : ts_null(),
		ts_text_or_null(finding->advice),
		ts_text_or_null(finding->code),
	};

	TS_ASSERT(finding);
	TS_ASSERT(column < TS_FINDING_COLUMNS);
	return values[column];
}

struct ts_value ts_root_value(const struct ts_root *root, size_t column)
{
	const struct ts_value values[TS_ROOT_COLUMNS] = {
		root->kind ? ts_text(ts_bytes_of(root->kind)) : ts_null(),
		ts_text_or_null(root->device),
		ts_text_or_null(root->host),
		ts_text_or_null(root->thread),
		ts_text_or_null(root->op),
		ts_text_or_null(root->event),
	};

	TS_ASSERT(root);
	TS_ASSERT(column < TS_ROOT_COLUMNS);
	return values[column];
}

struct ts_value ts_merged_value(const struct ts_merged *merged, size_t column)
{
	const struct ts_value values[TS_MERGED_COLUMNS] = {
		ts_text(ts_bytes_of(merged->rule)),
		ts_text_or_null(merged->title),
		ts_int_or_null(merged->impact_ps),
	};

	TS_ASSERT(merged);
	TS_ASSERT(column < TS_MERGED_COLUMNS);
	return values[column];
}

struct ts_value ts_when_value(const struct ts_when *when, size_t column)
{
	const struct ts_value values[TS_WHEN_COLUMNS] = {
		when->device == UINT32_MAX ? ts_null() : ts_int(when->device),
		ts_int(when->start_ps),
		ts_int(when->end_ps),
		ts_bool(when->is_example),
	};

	TS_ASSERT(when);
	TS_ASSERT(column < TS_WHEN_COLUMNS);
	return values[column];
}

struct ts_value ts_link_value(const struct ts_links *links, size_t column)
{
	const struct ts_bytes values[TS_LINK_COLUMNS] = {
		links->xprof, links->xprof_trace, { NULL, 0 }, links->perfetto_sql
	};

	TS_ASSERT(links);
	TS_ASSERT(column < TS_LINK_COLUMNS);
	return ts_text_or_null(values[column]);
}

struct ts_bytes ts_finding_place(const struct ts_finding *finding)
{
	struct ts_bytes source;
	size_t from;

	TS_ASSERT(finding);
	if (finding->nr_where == 0)
		return (struct ts_bytes){ NULL, 0 };
	source = finding->where[0].source;
	for (from = source.n; from > 0 && source.p[from - 1] != '/';)
		from--;
	return source.n ? ts_bytes_cut(source, from, source.n) : finding->where[0].op;
}

struct ts_value ts_where_value(const struct ts_where *where, size_t column)
{
	const struct ts_bytes values[TS_WHERE_COLUMNS] = { where->op, where->module,
							   where->source };

	TS_ASSERT(where);
	TS_ASSERT(column < TS_WHERE_COLUMNS);
	return ts_text_or_null(values[column]);
}

bool ts_result_has_findings(const struct ts_result *result)
{
	TS_ASSERT(result);
	return result->nr_findings > 0 || strcmp(result->name, ts_schema_doctor.name) == 0;
}

bool ts_result_is_silent(const struct ts_result *result)
{
	TS_ASSERT(result);
	return result->nr_fields == 0 && result->nr_tables == 0 && result->nr_notes == 0 &&
	       !ts_result_has_findings(result);
}

/* A table's own name: of a top-level result as it is, of others behind the result's and a dot. */
static const struct ts_table *find_table(const struct ts_result *result, struct ts_bytes name)
{
	size_t n = strlen(result->name);

	if (!result->top_level) {
		if (!ts_bytes_starts(name, result->name) || name.n <= n || name.p[n] != '.')
			return NULL;
		name = ts_bytes_cut(name, n + 1, name.n);
	}
	for (size_t i = 0; i < result->nr_tables; i++)
		if (ts_bytes_is(name, result->tables[i].name))
			return &result->tables[i];
	return NULL;
}

/* "ops" is the table ops, also where the result that has it is called so. */
static bool view_find_in(const struct ts_result *result, struct ts_bytes name, struct ts_view *view)
{
	view->result = result;
	view->table = find_table(result, name);
	return view->table || (ts_bytes_is(name, result->name) && !ts_result_is_silent(result));
}

/* A table's name among all views: of a top-level result as it is, of others behind the result's and a dot. */
static void table_name(char name[TS_CLOSEST_MAX], const char *result, bool top_level,
		       const char *table)
{
	snprintf(name, TS_CLOSEST_MAX, "%s%s%s", top_level ? "" : result, top_level ? "" : ".",
		 table);
}

/* The view of these results whose name is close to NAME. */
static struct ts_closest closest_view(const struct ts_results *results, const char *name)
{
	struct ts_closest closest = ts_closest_to(ts_bytes_of(name));

	for (size_t i = 0; i < results->nr; i++) {
		const struct ts_result *result = results->items[i];

		if (!ts_result_is_silent(result))
			ts_closest_try(&closest, result->name);
		for (size_t t = 0; t < result->nr_tables; t++) {
			char view[TS_CLOSEST_MAX];

			table_name(view, result->name, result->top_level, result->tables[t].name);
			ts_closest_try(&closest, view);
		}
	}
	return closest;
}

/* The results, and not their tables: a list of all would not fit into a message. */
static void put_views(struct ts_buf *list, const struct ts_results *results)
{
	for (size_t i = 0; i < results->nr; i++)
		if (!ts_result_is_silent(results->items[i]))
			ts_buf_printf(list, "%s%s", list->n ? ", " : "", results->items[i]->name);
}

static bool find_any(const struct ts_results *results, struct ts_bytes name, struct ts_view *view)
{
	for (size_t i = 0; i < results->nr; i++)
		if (view_find_in(results->items[i], name, view))
			return true;
	return false;
}

/* What the page calls them. */
static const struct {
	const char *name, *view;
} view_aliases[] = {
	{ "findings", "doctor" },
	{ "operations", "ops" },
	{ "summary", "overview" },
};

static const char *view_of_alias(const char *name)
{
	for (size_t i = 0; name && i < TS_NELEM(view_aliases); i++)
		if (strcmp(name, view_aliases[i].name) == 0)
			return view_aliases[i].view;
	return name;
}

/* A view of another profile: a result of the schema, or a table of one. */
static bool is_in_schema(const char *name)
{
	char view[TS_CLOSEST_MAX];

	for (size_t i = 0; ts_schemas[i]; i++) {
		const struct ts_schema *schema = ts_schemas[i];

		if (strcmp(name, schema->name) == 0)
			return !(schema->flags & TS_DRAWS_ONLY);
		for (size_t t = 0; schema->sheets && schema->sheets[t]; t++) {
			table_name(view, schema->name, schema->flags & TS_TOP_LEVEL,
				   schema->sheets[t]->name);
			if (strcmp(name, view) == 0 && !schema->sheets[t]->is_items)
				return true;
		}
	}
	return false;
}

enum ts_status ts_view_find(const struct ts_results *results, const char *name,
			    struct ts_view *view, struct ts_error *err)
{
	struct ts_closest closest;
	struct ts_buf list = TS_BUF_INIT;

	TS_ASSERT(results && view);
	name = view_of_alias(name);
	if (name && find_any(results, ts_bytes_of(name), view))
		return TS_OK;
	*view = (struct ts_view){ NULL, NULL };
	if (name && is_in_schema(name))
		return ts_fail(err, TS_NOTFOUND, "this profile has nothing for the view %s", name);
	if (name) {
		closest = closest_view(results, name);
		if (closest.name[0])
			return ts_fail(err, TS_USAGE, "unknown view '%.*s' (did you mean '%s'?)",
				       NAME_MAX_SHOWN, name, closest.name);
	}
	put_views(&list, results);
	if (name)
		ts_fail(err, TS_USAGE,
			"unknown view '%.*s' (there are: %.*s, and the tables of each)",
			NAME_MAX_SHOWN, name, TS_ARG(ts_buf_bytes(&list)));
	else
		ts_fail(err, TS_USAGE,
			"a view must be named (there are: %.*s, and the tables of each)",
			TS_ARG(ts_buf_bytes(&list)));
	ts_buf_release(&list);
	return TS_USAGE;
}
