/* Values and tables for people. */
#include "write/text_table.h"

#include "base/units.h"
#include "codec/term.h"

#define INDENT	    2
#define GAP	    2  /* between columns */
#define NR_ROWS	    10 /* shown where the table does not say */
#define TEXT_MAX    60 /* of a text column, before the terminal's width counts */
#define TEXT_MIN    12 /* no text column is made narrower */
#define COLUMNS_MAX 32

static void put_ps(struct ts_buf *out, double ps)
{
	char text[TS_UNIT_MAX];

	ts_buf_puts(out, ts_fmt_ps(text, fabs(ps) < 9e18 ? (int64_t)llround(ps) : INT64_MAX));
}

static void put_bytes(struct ts_buf *out, double bytes)
{
	char text[TS_UNIT_MAX];

	ts_buf_puts(out, ts_fmt_bytes(text, bytes));
}

static void put_rate(struct ts_buf *out, double rate)
{
	char text[TS_UNIT_MAX];

	ts_buf_puts(out, ts_fmt_rate(text, rate));
}

static void put_pct(struct ts_buf *out, double pct)
{
	char text[TS_UNIT_MAX];

	ts_buf_puts(out, ts_fmt_pct(text, pct));
}

static void put_count(struct ts_buf *out, double n)
{
	char text[TS_UNIT_MAX];

	ts_buf_puts(out, ts_fmt_count(text, n));
}

static void put_per_s(struct ts_buf *out, double n)
{
	put_count(out, n);
	ts_buf_puts(out, "/s");
}

static const struct ending {
	const char *text;
	void (*put)(struct ts_buf *out, double number);
} endings[] = {
	/* the first that fits */
	{ "_ps", put_ps },	{ "bytes_per_s", put_rate },	 { "_per_s", put_per_s },
	{ "bytes", put_bytes }, { "bytes_accessed", put_bytes }, { "_pct", put_pct },
	{ "flops", put_count },
};

/* By the last part of a dotted name that ends in a unit: step_time_ps.mean is a time. */
static const struct ending *find_ending(struct ts_bytes name)
{
	while (name.n > 0) {
		for (size_t i = 0; i < TS_NELEM(endings); i++)
			if (ts_bytes_ends(name, endings[i].text))
				return &endings[i];
		while (name.n > 0 && name.p[--name.n] != '.')
			continue;
	}
	return NULL;
}

static void put_number(struct ts_buf *out, const char *name, struct ts_value value)
{
	const struct ending *ending = find_ending(ts_bytes_of(name));

	if (ending)
		ending->put(out, ts_value_number(value));
	else if (value.type == TS_VALUE_INT)
		ts_buf_i64(out, value.as.i);
	else
		ts_buf_printf(out, "%.4g", value.as.r);
}

/* Items of a list are single values: a list in a list is not shown. */
static void put_single(struct ts_buf *out, const char *name, struct ts_value value)
{
	switch (value.type) {
	case TS_VALUE_INT:
	case TS_VALUE_REAL:
		put_number(out, name, value);
		break;
	case TS_VALUE_ID:
		ts_buf_u64(out, value.as.u);
		break;
	case TS_VALUE_TEXT:
		ts_buf_put(out, value.as.s);
		break;
	case TS_VALUE_BOOL:
		ts_buf_puts(out, value.as.b ? "yes" : "no");
		break;
	case TS_VALUE_NULL:
	case TS_VALUE_LIST:
		ts_buf_putc(out, '-');
		break;
	}
}

void ts_text_value(struct ts_buf *out, const char *name, struct ts_value value)
{
	const struct ts_list *list = value.type == TS_VALUE_LIST ? value.as.list : NULL;
	const struct ts_value *item;

	if (!list) {
		put_single(out, name, value);
		return;
	}
	item = list->items;
	for (size_t i = 0; i < list->nr; i++) {
		ts_buf_puts(out, i ? ", " : "");
		for (size_t k = 0; k < (list->names ? list->nr_names : 1); k++) {
			ts_buf_puts(out, k ? " " : "");
			if (list->names)
				ts_buf_printf(out, "%s=", list->names[k]);
			put_single(out, list->names ? list->names[k] : name, *item++);
		}
	}
	if (list->nr == 0)
		ts_buf_putc(out, '-');
}

struct column {
	size_t index, width;
	bool is_text;
};

struct layout {
	const struct ts_table *table;
	struct column columns[COLUMNS_MAX];
	size_t nr_columns, nr_rows;
	struct ts_buf scratch; /* the cell at hand */
	bool failed;	       /* a cell did not fit into memory */
};

static struct ts_bytes cell_text(struct layout *layout, size_t row, const struct column *column)
{
	const struct ts_table *table = layout->table;

	ts_buf_clear(&layout->scratch);
	ts_text_value(&layout->scratch, table->columns[column->index].name,
		      ts_table_cell(table, row, (int)column->index));
	layout->failed |= layout->scratch.failed;
	return ts_buf_bytes(&layout->scratch);
}

static void measure(struct layout *layout, struct column *column)
{
	const struct ts_table *table = layout->table;

	column->width = ts_term_width(ts_bytes_of(table->columns[column->index].label));
	for (size_t row = 0; row < layout->nr_rows; row++) {
		struct ts_value value = ts_table_cell(table, row, (int)column->index);
		size_t width = ts_term_width(cell_text(layout, row, column));

		column->is_text |= value.type == TS_VALUE_TEXT || value.type == TS_VALUE_LIST;
		column->width = TS_MAX(column->width, width);
	}
	if (column->is_text)
		column->width = TS_MIN(column->width, TEXT_MAX);
}

static size_t total_width(const struct layout *layout)
{
	size_t total = INDENT;

	for (size_t i = 0; i < layout->nr_columns; i++)
		total += layout->columns[i].width + (i ? GAP : 0);
	return total;
}

static struct column *widest_text(struct layout *layout)
{
	struct column *widest = NULL;

	for (size_t i = 0; i < layout->nr_columns; i++) {
		struct column *column = &layout->columns[i];

		if (column->is_text && column->width > TEXT_MIN &&
		    (!widest || column->width > widest->width))
			widest = column;
	}
	return widest;
}

/* Unknown in every row shown: not worth a column. */
static bool is_empty(const struct layout *layout, size_t index)
{
	for (size_t row = 0; row < layout->nr_rows; row++)
		if (ts_table_cell(layout->table, row, (int)index).type != TS_VALUE_NULL)
			return false;
	return layout->nr_rows > 0;
}

static void lay_out(struct layout *layout, size_t width)
{
	const struct ts_table *table = layout->table;
	struct column *widest;

	layout->nr_rows = TS_MIN(table->nr_rows, table->text_rows ? table->text_rows : NR_ROWS);
	for (size_t i = 0; i < table->nr_columns && layout->nr_columns < COLUMNS_MAX; i++) {
		if (!table->columns[i].label || is_empty(layout, i))
			continue;
		layout->columns[layout->nr_columns].index = i;
		measure(layout, &layout->columns[layout->nr_columns++]);
	}
	while (width && total_width(layout) > width && (widest = widest_text(layout)))
		widest->width--;
}

static void put_cell(struct ts_buf *out, const struct layout *layout, size_t i,
		     struct ts_bytes text)
{
	const struct column *column = &layout->columns[i];

	ts_buf_pad(out, ' ', i ? GAP : INDENT);
	if (column->is_text && i + 1 == layout->nr_columns)
		ts_term_cut(out, text, column->width); /* no spaces at the end of a line */
	else
		ts_term_cell(out, text, column->width,
			     column->is_text ? TS_TERM_LEFT : TS_TERM_RIGHT);
}

void ts_text_table(struct ts_buf *out, const struct ts_table *table, size_t width)
{
	struct layout layout = { .table = table };

	lay_out(&layout, width);
	for (size_t i = 0; i < layout.nr_columns; i++)
		put_cell(out, &layout, i,
			 ts_bytes_of(table->columns[layout.columns[i].index].label));
	ts_buf_putc(out, '\n');
	for (size_t row = 0; row < layout.nr_rows; row++) {
		for (size_t i = 0; i < layout.nr_columns; i++)
			put_cell(out, &layout, i, cell_text(&layout, row, &layout.columns[i]));
		ts_buf_putc(out, '\n');
	}
	if (layout.nr_rows < table->nr_rows)
		ts_buf_printf(out, "  ... and %zu more\n", table->nr_rows - layout.nr_rows);
	out->failed |= layout.failed;
	ts_buf_release(&layout.scratch);
}
