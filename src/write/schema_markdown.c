/* SPDX-License-Identifier: MIT */
/* The glossary. The page's build and the tests of the documents read this form. */
#include "write/schema.h"

#include "base/check.h"

static const char head[] =
	"# Glossary\n"
	"\n"
	"Every word that a report shows, in at most two sentences. `tpusight schema --format "
	"markdown` prints it; it is made of src/result/schema,\n"
	"where the program, its page and the Python package have it from.\n"
	"\n"
	"A section is a label. Under it stand the names that bear the label in the JSON report (a "
	"name with `view.` or `table.` in front means that view or table\n"
	"alone, a name with words behind it has a label of its own, and a column that a comparison "
	"has for "
	"each run stands without the `run_1_` in front), then the sentences, the\n"
	"formula, the unit, and the page that has the whole story.\n";

static void put_names(struct ts_buf *out, const struct ts_bearers *names,
		      const struct ts_term *term)
{
	const char *between = "Names: ";

	for (size_t i = 0; i < names->nr; i++) {
		const struct ts_bearer *name = &names->items[i];

		if (name->term != term)
			continue;
		ts_buf_printf(out, "%s`%.*s`%s%.*s", between, TS_ARG(name->name),
			      name->own.n ? " " : "", TS_ARG(name->own));
		between = ", ";
	}
}

/* "[run/overview](analyses/run/overview.md)" */
static void put_page(struct ts_buf *out, const char *page)
{
	struct ts_bytes name = ts_bytes_of(page);

	if (ts_bytes_starts(name, "analyses/"))
		name = ts_bytes_cut(name, strlen("analyses/"), name.n);
	if (ts_bytes_ends(name, ".md"))
		name.n -= strlen(".md");
	ts_buf_printf(out, "\nMore: [%.*s](%s)\n", TS_ARG(name), page);
}

static void put_term(struct ts_buf *out, const struct ts_bearers *names, const struct ts_term *term)
{
	ts_buf_printf(out, "\n## %s\n", term->label);
	put_names(out, names, term);
	ts_buf_printf(out, "\n\n%s\n", term->meaning);
	if (term->formula || term->unit)
		ts_buf_putc(out, '\n');
	if (term->formula)
		ts_buf_printf(out, "Formula: %s\n", term->formula);
	if (term->unit)
		ts_buf_printf(out, "Unit: %s\n", term->unit);
	put_page(out, term->page);
}

void ts_schema_markdown(struct ts_buf *out)
{
	struct ts_bearers names = { 0 };

	TS_ASSERT(out);
	ts_bearers_of_schema(&names);
	ts_buf_puts(out, head);
	for (size_t i = 0; ts_terms[i]; i++)
		put_term(out, &names, ts_terms[i]);
	out->failed |= names.failed;
	ts_bearers_release(&names);
}
