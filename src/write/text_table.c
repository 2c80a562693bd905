/* Values and tables for people. */
#include "write/text_table.h"

#include "base/check.h"
#include "base/map.h"
#include "base/units.h"
#include "codec/term.h"

#define INDENT	      2
#define GAP	      2	  /* between columns */
#define NR_ROWS	      10  /* shown where the table does not say */
#define TEXT_MAX      60  /* of a text column, before the terminal's width counts */
#define TEXT_FREE     160 /* the same where there is no terminal: nothing is cut that people write */
#define TEXT_FAIR     18  /* before one is made narrower than this, numbers are left out, */
#define NUMBERS_MIN   3	  /* but for the first of them */
#define TEXT_MIN      12  /* no text column is made narrower */
#define COLUMNS_MAX   32
#define UNIT_NAME_MAX 64

static void put_number(struct ts_buf *out, const char *name, struct ts_value value)
{
	const struct ts_unit *unit = ts_unit_of(ts_bytes_of(name));
	char text[TS_UNIT_MAX];

	if (unit && unit->kind != TS_UNIT_NUMBER)
		ts_buf_puts(out, ts_fmt_unit(text, unit, ts_value_number(value)));
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
	case TS_VALUE_REAL:	  put_number(out, name, value); break;
	case TS_VALUE_ID:	  ts_buf_u64(out, value.as.u); break;
	case TS_VALUE_TEXT:	  ts_buf_put(out, value.as.s); break;
	case TS_VALUE_BOOL:	  ts_buf_puts(out, value.as.b ? "yes" : "no"); break;
	case TS_VALUE_IMPOSSIBLE: ts_buf_puts(out, "impossible"); break;
	case TS_VALUE_NULL:
	case TS_VALUE_LIST:	  ts_buf_putc(out, '-'); break;
	}
}

void ts_text_value(struct ts_buf *out, const char *name, struct ts_value value)
{
	const struct ts_list *list = value.type == TS_VALUE_LIST ? value.as.list : NULL;
	const struct ts_value *item;

	TS_ASSERT(out && name);
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
	uint64_t content; /* a hash of all cells */
	bool is_text;
	bool says_nothing; /* the same text in every row shown, or nothing but 0 */
};

struct layout {
	const struct ts_table *table;
	struct column columns[COLUMNS_MAX];
	size_t nr_columns, nr_rows;
	const char *left_out[COLUMNS_MAX]; /* for want of width */
	size_t nr_left_out;
	struct ts_buf scratch; /* the cell at hand */
	bool failed;	       /* a cell did not fit into memory */
};

/* A table without a label is for programs; somebody who asks for it sees its names. */
static const char *heading(const struct ts_column *column)
{
	return column->label ? column->label : column->name;
}

/* The name that a cell's unit is read from: its column's, or where that has none its row's. */
static const char *unit_name(const struct ts_table *table, size_t row, size_t index,
			     char name[UNIT_NAME_MAX])
{
	struct ts_value of_row = ts_table_cell(table, row, (int)table->unit_column - 1);

	if (of_row.type != TS_VALUE_TEXT || ts_unit_of(ts_bytes_of(table->columns[index].name)))
		return table->columns[index].name;
	snprintf(name, UNIT_NAME_MAX, "%.*s", TS_ARG(of_row.as.s));
	return name;
}

static struct ts_bytes cell_text(struct layout *layout, size_t row, const struct column *column)
{
	const struct ts_table *table = layout->table;
	char name[UNIT_NAME_MAX];

	ts_buf_clear(&layout->scratch);
	ts_text_value(&layout->scratch, unit_name(table, row, column->index, name),
		      ts_table_cell(table, row, (int)column->index));
	layout->failed |= layout->scratch.failed;
	return ts_buf_bytes(&layout->scratch);
}

static bool is_text(struct ts_value value)
{
	return value.type == TS_VALUE_TEXT || value.type == TS_VALUE_LIST;
}

static bool is_zero(struct ts_value value)
{
	return ts_value_number(value) == 0;
}

static void measure(struct layout *layout, struct column *column, size_t width)
{
	const struct ts_table *table = layout->table;
	bool is_same = layout->nr_rows > 1, all_zero = is_same;
	uint64_t first = 0;

	column->width = ts_term_width(ts_bytes_of(heading(&table->columns[column->index])));
	for (size_t row = 0; row < layout->nr_rows; row++) {
		struct ts_value value = ts_table_cell(table, row, (int)column->index);
		struct ts_bytes text = cell_text(layout, row, column);
		uint64_t hash = ts_hash(text, 0);

		first = row ? first : hash;
		is_same &= hash == first;
		all_zero &= is_zero(value);
		column->content = ts_hash(text, column->content);
		column->is_text |= is_text(value);
		column->width = TS_MAX(column->width, ts_term_width(text));
	}
	column->says_nothing = column->is_text ? is_same : all_zero;
	if (column->is_text)
		column->width = TS_MIN(column->width, width ? TEXT_MAX : TEXT_FREE);
}

/* With text columns of AT_MOST characters. */
static size_t total_width(const struct layout *layout, size_t at_most)
{
	size_t total = INDENT;

	for (size_t i = 0; i < layout->nr_columns; i++) {
		const struct column *column = &layout->columns[i];

		total += column->is_text ? TS_MIN(column->width, at_most) : column->width;
		total += i ? GAP : 0;
	}
	return total;
}

static size_t nr_numbers(const struct layout *layout)
{
	size_t nr = 0;

	for (size_t i = 0; i < layout->nr_columns; i++)
		nr += !layout->columns[i].is_text;
	return nr;
}

/* What says least: nothing, the same as the column beside it, the last number; nr_columns: none. */
static size_t least_column(const struct layout *layout)
{
	const struct column *columns = layout->columns;
	size_t nr = layout->nr_columns, i;

	for (i = 0; i < nr; i++)
		if (columns[i].says_nothing)
			return i;
	for (i = 0; i + 1 < nr; i++)
		if (columns[i].content == columns[i + 1].content)
			return i;
	if (nr_numbers(layout) > NUMBERS_MIN)
		for (i = nr; i-- > 0;)
			if (!columns[i].is_text)
				return i;
	return nr;
}

static void leave_out(struct layout *layout, size_t i)
{
	const struct column *column = &layout->columns[i];

	TS_ASSERT(i < layout->nr_columns && layout->nr_left_out < COLUMNS_MAX);
	layout->left_out[layout->nr_left_out++] = heading(&layout->table->columns[column->index]);
	layout->nr_columns--;
	memmove(&layout->columns[i], &layout->columns[i + 1],
		(layout->nr_columns - i) * sizeof(*column));
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

static void fit(struct layout *layout, size_t width)
{
	struct column *widest;

	while (total_width(layout, TEXT_FAIR) > width && layout->nr_columns > 1) {
		size_t least = least_column(layout);

		if (least == layout->nr_columns)
			break;
		leave_out(layout, least);
	}
	while (total_width(layout, SIZE_MAX) > width && (widest = widest_text(layout)))
		widest->width--;
}

/* Unknown in every row shown: not worth a column. */
static bool is_empty(const struct layout *layout, size_t index)
{
	for (size_t row = 0; row < layout->nr_rows; row++)
		if (ts_table_cell(layout->table, row, (int)index).type != TS_VALUE_NULL)
			return false;
	return layout->nr_rows > 0;
}

static bool has_labels(const struct ts_table *table)
{
	for (size_t i = 0; i < table->nr_columns; i++)
		if (table->columns[i].label)
			return true;
	return false;
}

static void add_column(struct layout *layout, size_t index, size_t width)
{
	struct column *column = &layout->columns[layout->nr_columns];
	const struct ts_column *of = &layout->table->columns[index];

	TS_ASSERT(layout->nr_columns < COLUMNS_MAX && index < layout->table->nr_columns);
	column->index = index;
	measure(layout, column, width);
	/* ops of several modules may have one name: only then is the module worth its columns */
	if (of->label || !has_labels(layout->table) ||
	    (strcmp(of->name, "module") == 0 && layout->nr_rows > 1 && !column->says_nothing))
		layout->nr_columns++;
	else
		*column = (struct column){ 0 };
}

static void lay_out(struct layout *layout, size_t width)
{
	const struct ts_table *table = layout->table;

	layout->nr_rows = TS_MIN(table->nr_rows, table->text_rows ? table->text_rows : NR_ROWS);
	for (size_t i = 0; i < table->nr_columns && layout->nr_columns < COLUMNS_MAX; i++)
		if (!is_empty(layout, i))
			add_column(layout, i, width);
	if (width)
		fit(layout, width);
}

static void put_cell(struct ts_buf *out, const struct layout *layout, size_t i,
		     struct ts_bytes text)
{
	const struct column *column = &layout->columns[i];

	TS_ASSERT(i < layout->nr_columns);
	ts_buf_pad(out, ' ', i ? GAP : INDENT);
	if (column->is_text && i + 1 == layout->nr_columns)
		ts_term_cut(out, text, column->width); /* no spaces at the end of a line */
	else
		ts_term_cell(out, text, column->width,
			     column->is_text ? TS_TERM_LEFT : TS_TERM_RIGHT);
}

/* What does not stand in the table: rows, and columns for want of width. */
static void put_rest(struct ts_buf *out, struct layout *layout, size_t width)
{
	struct ts_term_wrap how = { .width = width, .at = INDENT, .indent = INDENT };

	if (layout->table->nr_rows == 0)
		ts_buf_puts(out, "  (no rows)\n");
	if (layout->nr_rows < layout->table->nr_rows)
		ts_buf_printf(out, "  ... and %zu more\n",
			      layout->table->nr_rows - layout->nr_rows);
	if (layout->nr_left_out == 0)
		return;
	ts_buf_clear(&layout->scratch);
	for (size_t i = layout->nr_left_out; i-- > 0;)
		ts_buf_printf(&layout->scratch, "%s%s",
			      layout->scratch.n ? ", " : "(no room for: ", layout->left_out[i]);
	ts_buf_putc(&layout->scratch, ')');
	ts_buf_pad(out, ' ', INDENT);
	ts_term_wrap(out, ts_buf_bytes(&layout->scratch), how);
	ts_buf_putc(out, '\n');
	layout->failed |= layout->scratch.failed;
}

void ts_text_table(struct ts_buf *out, const struct ts_table *table, size_t width)
{
	struct layout layout = { .table = table };

	TS_ASSERT(out && table);
	TS_ASSERT(table->nr_columns > 0);
	lay_out(&layout, width);
	for (size_t i = 0; i < layout.nr_columns; i++)
		put_cell(out, &layout, i,
			 ts_bytes_of(heading(&table->columns[layout.columns[i].index])));
	ts_buf_putc(out, '\n');
	for (size_t row = 0; row < layout.nr_rows; row++) {
		for (size_t i = 0; i < layout.nr_columns; i++)
			put_cell(out, &layout, i, cell_text(&layout, row, &layout.columns[i]));
		ts_buf_putc(out, '\n');
	}
	put_rest(out, &layout, width);
	out->failed |= layout.failed;
	ts_buf_release(&layout.scratch);
}
