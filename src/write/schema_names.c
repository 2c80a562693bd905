/* SPDX-License-Identifier: MIT */
/* The names of the glossary: as short as tells the columns of the schema apart. */
#include "write/schema.h"

#include "base/check.h"

/* Each column, by where it stands in a report. */
struct refs {
	struct ts_bearers *names;
	struct ts_bearer *items;
	size_t nr, cap;
};

static void schema_names_add_name(struct ts_bearers *names, struct ts_bearer name)
{
	if (!ts_grow(&names->items, &names->cap, names->nr + 1, sizeof(name)))
		names->failed = true;
	else
		names->items[names->nr++] = name;
}

/* "`devices.kind`, `links.xprof` Graph in XProf": names that no column has. */
static void add_also(struct ts_bearers *names, const struct ts_term *term)
{
	struct ts_bytes rest = ts_bytes_of(term->also);

	while (rest.n > 0) {
		size_t n = ts_bytes_find(ts_bytes_cut(rest, 1, rest.n), "`");
		size_t next = ts_bytes_find(rest, ", `"), own = TS_MIN(n + strlen("`` "), next);

		schema_names_add_name(
			names, (struct ts_bearer){
				       ts_arena_printf(&names->arena, "%.*s", (int)n, rest.p + 1),
				       term, ts_bytes_cut(rest, own, next - own) });
		rest = ts_bytes_cut(rest, next + strlen(", "), rest.n);
	}
}

static void add_refs(struct refs *refs, const struct ts_schema *schema, const char *table,
		     const struct ts_column *columns, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const char *name = columns[i].name;

		name += name && name[0] == '_'; /* behind that of a run */
		if (columns[i].type == TS_TYPE_GROUP || !name || !name[0])
			continue;
		if (!ts_grow(&refs->items, &refs->cap, refs->nr + 1, sizeof(*refs->items))) {
			refs->names->failed = true;
			return;
		}
		refs->items[refs->nr++] = (struct ts_bearer){
			ts_arena_printf(&refs->names->arena, "%s%s%s%s%s",
					schema->flags & TS_TOP_LEVEL ? "" : schema->name,
					schema->flags & TS_TOP_LEVEL ? "" : ".", table ? table : "",
					table ? "." : "", name),
			columns[i].term, ts_bytes_of(columns[i].own_label)
		};
	}
}

static void add_schema(struct refs *refs, const struct ts_schema *schema)
{
	add_refs(refs, schema, NULL, schema->fields, schema->nr_fields);
	for (size_t i = 0; schema->sheets[i]; i++)
		add_refs(refs, schema, schema->sheets[i]->name, schema->sheets[i]->columns,
			 schema->sheets[i]->nr_columns);
}

/* A dot ends a part, so it comes before all that a part is made of. */
static int schema_names_rank(struct ts_bytes path)
{
	return path.p[path.n - 1] == '.' ? 0 : path.p[path.n - 1];
}

/* By the last letters: those that end alike stand together, a path in front of those that go on from it. */
static int by_end(const void *a, const void *b)
{
	struct ts_bytes x = ((const struct ts_bearer *)a)->name,
			y = ((const struct ts_bearer *)b)->name;

	while (x.n > 0 && y.n > 0 && x.p[x.n - 1] == y.p[y.n - 1])
		x.n--, y.n--;
	if (x.n > 0 && y.n > 0)
		return schema_names_rank(x) - schema_names_rank(y);
	return (x.n > y.n) - (x.n < y.n);
}

/* Where the part begins that stands before the last N letters, a dot behind it; 0: the path begins there. */
static size_t longer(struct ts_bytes path, size_t n)
{
	size_t at = path.n - n;

	if (at > 0 && n > 0)
		at--;
	while (at > 0 && path.p[at - 1] != '.')
		at--;
	return path.n - at;
}

static bool is_same(const struct ts_bearer *a, const struct ts_bearer *b)
{
	return a->term == b->term && ts_bytes_eq(a->own, b->own);
}

/* The label of most; of a path that is whole, its own. */
static const struct ts_bearer *most_of(const struct ts_bearer *refs, size_t nr, size_t n)
{
	const struct ts_bearer *most = refs;
	size_t most_nr = 0;

	for (size_t i = 0; i < nr && refs[0].name.n > n; i++) {
		size_t same = 0;

		for (size_t k = 0; k < nr; k++)
			same += is_same(&refs[k], &refs[i]);
		if (same > most_nr) {
			most = &refs[i];
			most_nr = same;
		}
	}
	return most;
}

static const struct ts_bearer *schema_names_find(const struct ts_bearers *names, size_t nr_also,
						 struct ts_bytes name)
{
	for (size_t i = 0; i < nr_also; i++)
		if (ts_bytes_eq(names->items[i].name, name))
			return &names->items[i];
	return NULL;
}

static struct ts_bytes tail(struct ts_bytes path, size_t n)
{
	return ts_bytes_cut(path, path.n - n, n);
}

/* One has no label, and must be given none. */
static bool is_bare(const struct ts_bearer *refs, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		if (!refs[i].term)
			return true;
	return false;
}

/* REFS end with the same N letters, and a shorter name gives them the label KNOWN. */
static void name_group(struct ts_bearers *names, size_t nr_also, const struct ts_bearer *refs,
		       size_t nr, size_t n, struct ts_bearer known)
{
	const struct ts_bearer *also = schema_names_find(names, nr_also, tail(refs[0].name, n));
	struct ts_bearer most = known;

	if (also)
		most = *also;
	else if (n > 0 && !is_bare(refs, nr))
		most = *most_of(refs, nr, n);
	most.name = tail(refs[0].name, n);
	if (!also && !is_same(&most, &known))
		schema_names_add_name(names, most);
	for (size_t i = 0, end; i < nr; i = end) {
		size_t next = longer(refs[i].name, n);
		struct ts_bytes name = tail(refs[i].name, next);

		for (end = i + 1; end < nr; end++)
			if (longer(refs[end].name, n) != next ||
			    !ts_bytes_eq(tail(refs[end].name, next), name))
				break;
		if (next > n)
			name_group(names, nr_also, refs + i, end - i, next, most);
	}
}

void ts_bearers_of_schema(struct ts_bearers *names)
{
	struct refs refs = { .names = names };
	size_t nr_also;

	TS_ASSERT(names);
	for (size_t i = 0; ts_terms[i]; i++)
		add_also(names, ts_terms[i]);
	nr_also = names->nr;
	for (size_t i = 0; ts_schemas[i]; i++)
		add_schema(&refs, ts_schemas[i]);
	if (refs.nr > 0 && !names->failed) {
		qsort(refs.items, refs.nr, sizeof(*refs.items), by_end);
		name_group(names, nr_also, refs.items, refs.nr, 0, (struct ts_bearer){ 0 });
	}
	free(refs.items);
}

void ts_bearers_release(struct ts_bearers *names)
{
	ts_arena_release(&names->arena);
	free(names->items);
	*names = (struct ts_bearers){ 0 };
}
