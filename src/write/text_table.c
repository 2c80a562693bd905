/* SPDX-License-Identifier: MIT */
/* Values and tables for people. */
#include "write/text_table.h"

#include <ctype.h>
#include <math.h>

#include "base/check.h"
#include "base/map.h"
#include "base/units.h"
#include "codec/term.h"
#include "result/order.h"
#include "result/terms.h"

#define INDENT	      2
#define GAP	      2	  /* between columns */
#define NR_ROWS	      10  /* shown where the table does not say */
#define TEXT_MAX      60  /* of a text column, before the terminal's width counts */
#define TEXT_FREE     160 /* the same where there is no terminal: nothing is cut that people write */
#define TEXT_FAIR     18  /* before one is made narrower than this, numbers are left out, */
#define NUMBERS_MIN   3	  /* but for the first of them */
#define TEXT_MIN      12  /* no text column is made narrower: others are left out instead */
#define CELL_LINES    4	  /* that a text takes at most */
#define COLUMNS_MAX   32
#define UNIT_NAME_MAX 64
#define HEADING_MAX   TS_SPOKEN_MAX
#define MXU	      "MXU" /* of Google's chips */

static void text_table_put_number(struct ts_buf *out, const char *name, struct ts_value value)
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
	case TS_VALUE_REAL:	  text_table_put_number(out, name, value); break;
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
		for (size_t k = 0; k < (list->columns ? list->nr_columns : 1); k++) {
			ts_buf_puts(out, k ? " " : "");
			if (list->columns)
				ts_buf_printf(out, "%s=", list->columns[k].name);
			put_single(out, list->columns ? list->columns[k].name : name, *item++);
		}
	}
	if (list->nr == 0)
		ts_buf_putc(out, '-');
}

struct column {
	size_t index, width;
	uint64_t content; /* a hash of all cells */
	bool is_text, is_share;
	bool says_nothing; /* the same text in every row shown, or nothing but 0 */
	int weight;
	double most; /* of a time: the longest; NaN: it is not a time */
};

struct layout {
	const struct ts_table *table;
	struct ts_bytes units; /* struct ts_report */
	struct column columns[COLUMNS_MAX];
	size_t nr_columns, nr_rows;
	size_t *rows; /* of the table, in the order shown */
	int sorted;   /* the column that they are in the order of, or -1 */
	/* Of a table with rows of several devices: the column of these, and of each row shown how many more
	 * devices have one like it, which are not shown. */
	int device;
	size_t *nr_like;
	size_t nr_folded;			       /* rows that are not shown for that reason */
	const struct ts_column *left_out[COLUMNS_MAX]; /* for want of width */
	size_t nr_left_out;
	struct ts_buf scratch; /* the cell at hand */
	bool failed;	       /* a cell did not fit into memory */
};

struct ts_bytes ts_spoken_label(const char *label, struct ts_bytes units, char text[TS_SPOKEN_MAX])
{
	struct ts_bytes whole = ts_bytes_of(label);

	if (!ts_bytes_starts(whole, MXU) || units.n == 0 || ts_bytes_is(units, MXU))
		return whole;
	if (whole.n == strlen(MXU))
		return units;
	snprintf(text, TS_SPOKEN_MAX, "%.*s%s", TS_ARG(ts_bytes_cut(units, 0, units.n - 1)),
		 label + strlen(MXU));
	text[0] = (char)toupper((unsigned char)text[0]);
	return ts_bytes_of(text);
}

/* A table without a label is for programs; who asks for it sees its names, less the unit of the cells. */
static struct ts_bytes heading(const struct layout *layout, const struct ts_column *column,
			       char text[HEADING_MAX])
{
	struct ts_bytes name = ts_bytes_of(column->name);
	const struct ts_unit *unit = ts_unit_of(name);
	size_t n = unit ? strlen(unit->ending) : 0;

	if (column->label)
		return ts_spoken_label(column->label, layout->units, text);
	if (unit && unit->ending[0] == '_' && unit->kind != TS_UNIT_NUMBER && name.n > n)
		name.n -= n;
	name.n = TS_MIN(name.n, HEADING_MAX);
	for (size_t i = 0; i < name.n; i++)
		text[i] = name.p[i] == '_' ? ' ' : (char)name.p[i];
	return (struct ts_bytes){ (const uint8_t *)text, name.n };
}

/* The name that a cell's unit is read from: its table's and column's, or where that has none its row's. */
static const char *unit_name(const struct ts_table *table, size_t row, size_t index,
			     char name[UNIT_NAME_MAX])
{
	struct ts_value of_row = ts_table_cell(table, row, (int)table->unit_column - 1);

	if (of_row.type != TS_VALUE_TEXT || ts_unit_of(ts_bytes_of(table->columns[index].name)))
		snprintf(name, UNIT_NAME_MAX, "%s.%s", table->name, table->columns[index].name);
	else
		snprintf(name, UNIT_NAME_MAX, "%.*s", TS_ARG(of_row.as.s));
	return name;
}

/* ROW is one of those shown. */
static struct ts_value text_table_value_of(const struct layout *layout, size_t row, size_t index)
{
	return ts_table_cell(layout->table, layout->rows[row], (int)index);
}

static struct ts_bytes cell_text(struct layout *layout, size_t row, const struct column *column)
{
	char name[UNIT_NAME_MAX];

	ts_buf_clear(&layout->scratch);
	ts_text_value(&layout->scratch,
		      unit_name(layout->table, layout->rows[row], column->index, name),
		      text_table_value_of(layout, row, column->index));
	if (layout->nr_folded > 0 && (int)column->index == layout->device && layout->nr_like[row])
		ts_buf_printf(&layout->scratch, " +%zu", layout->nr_like[row]);
	layout->failed |= layout->scratch.failed;
	return ts_buf_bytes(&layout->scratch);
}

static bool text_table_is_of(const struct ts_column *column, enum ts_unit_kind kind)
{
	const struct ts_unit *unit = ts_unit_of(ts_bytes_of(column->name));

	return unit && unit->kind == kind;
}

static void text_table_measure(struct layout *layout, struct column *column, size_t width)
{
	const struct ts_column *of = &layout->table->columns[column->index];
	bool is_same = layout->nr_rows > 1, all_zero = is_same;
	char text[HEADING_MAX];
	uint64_t first = 0;

	column->width = ts_term_width(heading(layout, of, text));
	column->most = text_table_is_of(of, TS_UNIT_TIME) || text_table_is_of(of, TS_UNIT_CORE) ||
				       text_table_is_of(of, TS_UNIT_THREAD)
			       ? 0
			       : NAN;
	column->is_share = text_table_is_of(of, TS_UNIT_SHARE);
	for (size_t row = 0; row < layout->nr_rows; row++) {
		struct ts_value value = text_table_value_of(layout, row, column->index);
		struct ts_bytes cell = cell_text(layout, row, column);
		uint64_t hash = ts_hash(cell, 0);

		first = row ? first : hash;
		is_same &= hash == first;
		all_zero &= ts_value_number(value) == 0;
		column->content = ts_hash(cell, column->content);
		column->is_text |= value.type == TS_VALUE_TEXT || value.type == TS_VALUE_LIST;
		column->width = TS_MAX(column->width, ts_term_width(cell));
		column->most =
			isnan(column->most) ? NAN : fmax(column->most, ts_value_number(value));
	}
	column->weight = (int)column->index == layout->sorted ? TS_MAX(of->weight, 1) : of->weight;
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

/* The one of two that says less: a share says more than an amount; of times the shorter, else the one on the
 * right. */
static size_t lesser(const struct layout *layout, size_t left, size_t right)
{
	const struct column *columns = layout->columns;

	if (columns[left].weight != columns[right].weight)
		return columns[left].weight < columns[right].weight ? left : right;
	if (columns[left].is_share != columns[right].is_share)
		return columns[left].is_share ? right : left;
	return columns[left].most < columns[right].most ? left : right;
}

/* Of the columns that are text or are not, but for the first of all; nr_columns: there is none. */
static size_t least_of_kind(const struct layout *layout, bool text)
{
	size_t nr = layout->nr_columns, least = nr;

	for (size_t i = 1; i < nr; i++)
		if (layout->columns[i].is_text == text && layout->columns[i].weight <= 0)
			least = least == nr ? i : lesser(layout, least, i);
	return least;
}

/* Nothing, or the same as the column beside it; nr_columns: there is none. */
static size_t least_telling(const struct layout *layout)
{
	const struct column *columns = layout->columns;
	size_t nr = layout->nr_columns;

	for (size_t i = 0; i < nr; i++)
		if (columns[i].says_nothing && columns[i].weight <= 0)
			return i;
	for (size_t i = 0; i + 1 < nr; i++)
		if (columns[i].content == columns[i + 1].content)
			return columns[i].weight > columns[i + 1].weight ? i + 1 : i;
	return nr;
}

/* The column to leave out next; nr_columns: all must stay. TIGHT: texts have no width left to give. */
static size_t least_column(const struct layout *layout, bool tight)
{
	size_t nr = layout->nr_columns, least = least_telling(layout);

	if (least < nr)
		return least;
	for (size_t i = 1; i < nr; i++)
		if (layout->columns[i].weight < 0)
			return i;
	if (nr_numbers(layout) > NUMBERS_MIN)
		least = least_of_kind(layout, false);
	if (least == nr && tight)
		least = least_of_kind(layout, true);
	if (least == nr && tight)
		least = least_of_kind(layout, false);
	return least == nr && tight && nr > 1 ? nr - 1 : least;
}

static void text_table_leave_out(struct layout *layout, size_t i)
{
	const struct column *column = &layout->columns[i];

	TS_ASSERT(i < layout->nr_columns && layout->nr_left_out < COLUMNS_MAX);
	layout->left_out[layout->nr_left_out++] = &layout->table->columns[column->index];
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

static void leave_out_until(struct layout *layout, size_t width, size_t text_width, bool tight)
{
	while (total_width(layout, text_width) > width && layout->nr_columns > 1) {
		size_t least = least_column(layout, tight);

		if (least == layout->nr_columns)
			break;
		text_table_leave_out(layout, least);
	}
}

/* Unknown in every row shown: not worth a column. */
static bool text_table_is_empty(const struct layout *layout, size_t index)
{
	for (size_t row = 0; row < layout->nr_rows; row++)
		if (text_table_value_of(layout, row, index).type != TS_VALUE_NULL)
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

/* Ops of several modules may have one name, and so may devices of several hosts: only then is it worth its columns. */
static bool tells_apart(const struct ts_column *column)
{
	return column->term == &ts_term_module || column->term == &ts_term_host;
}

static void add_column(struct layout *layout, size_t index, size_t width)
{
	struct column *column = &layout->columns[layout->nr_columns];
	const struct ts_column *of = &layout->table->columns[index];

	TS_ASSERT(layout->nr_columns < COLUMNS_MAX && index < layout->table->nr_columns);
	column->index = index;
	text_table_measure(layout, column, width);
	if (of->label || !has_labels(layout->table) || (int)index == layout->sorted ||
	    (tells_apart(of) && layout->nr_rows > 1 && !column->says_nothing))
		layout->nr_columns++;
	else
		*column = (struct column){ 0 };
}

/* The row shown that has the same name as ROW; nr_rows: there is none. */
static size_t find_like(const struct layout *layout, size_t row)
{
	struct ts_value name = ts_table_cell(layout->table, row, 0);

	for (size_t i = 0; i < layout->nr_rows; i++)
		if (name.type == TS_VALUE_TEXT &&
		    ts_bytes_eq(text_table_value_of(layout, i, 0).as.s, name.as.s))
			return i;
	return layout->nr_rows;
}

/* What runs on eight devices alike is one row of the first rows, not eight: the first in the order. */
static void choose_rows(struct layout *layout, size_t wanted, bool folds)
{
	for (size_t i = 0; i < layout->table->nr_rows; i++) {
		size_t like = folds ? find_like(layout, layout->rows[i]) : layout->nr_rows;

		if (like < layout->nr_rows) {
			layout->nr_like[like]++;
			layout->nr_folded++;
		} else if (layout->nr_rows < wanted) {
			layout->rows[layout->nr_rows++] = layout->rows[i];
		}
	}
}

static int device_column(const struct ts_table *table)
{
	for (size_t i = 1; i < table->nr_columns; i++)
		if (table->columns[i].term == &ts_term_device_id && table->columns[i].label)
			return (int)i;
	return -1;
}

static void lay_out(struct layout *layout, const struct ts_report *report)
{
	const struct ts_table *table = layout->table;
	size_t top = report->top ? report->top : table->text_rows ? table->text_rows : NR_ROWS;
	size_t wanted = TS_MIN(table->nr_rows, top);

	layout->device = device_column(table);
	layout->nr_like = calloc(wanted + 1, sizeof(*layout->nr_like));
	layout->sorted = report->sort ? ts_table_find_column(table, report->sort) : -1;
	layout->rows = calloc(table->nr_rows + 1, sizeof(*layout->rows));
	if (!layout->rows || !layout->nr_like ||
	    ts_table_order(table, layout->sorted, layout->rows, NULL)) {
		layout->failed = true;
		return;
	}
	choose_rows(layout, wanted, layout->device >= 0 && wanted < table->nr_rows);
	for (size_t i = 0; i < table->nr_columns && layout->nr_columns < COLUMNS_MAX; i++)
		if (!text_table_is_empty(layout, i))
			add_column(layout, i, report->width);
	if (report->width) {
		struct column *widest;

		leave_out_until(layout, report->width, TEXT_FAIR, false);
		leave_out_until(layout, report->width, TEXT_MIN, true);
		while (total_width(layout, SIZE_MAX) > report->width &&
		       (widest = widest_text(layout)))
			widest->width--;
	}
}

/* Its first part, of at most WIDTH characters: the longest of those in the second half that end where it may be
 * broken, or all there is room for. */
static struct ts_bytes text_table_first_line(struct ts_bytes text, size_t width)
{
	struct ts_bytes head = ts_term_head(text, width), half = ts_term_head(text, width / 2);

	if (head.n == text.n)
		return head;
	for (size_t n = head.n; n > half.n; n--)
		/* Behind a space or a mark, in front of a bracket that opens. */
		if (strchr(" ,;:/_.-)}]>=", text.p[n - 1]) || strchr("({[<", text.p[n]))
			return ts_bytes_cut(text, 0, n);
	return head;
}

/* Line LINE of a text of CELL_LINES lines; the last one has all that is left. */
static struct ts_bytes text_table_line_of(struct ts_bytes text, size_t width, size_t line)
{
	for (size_t i = 0; i < line; i++) {
		struct ts_bytes head = text_table_first_line(text, width);

		text = ts_bytes_cut(text, head.n, text.n);
		while (text.n > 0 && text.p[0] == ' ')
			text = ts_bytes_cut(text, 1, text.n);
	}
	return line + 1 < CELL_LINES ? text_table_first_line(text, width) : text;
}

static size_t text_table_nr_lines(struct layout *layout, size_t row)
{
	size_t nr = 1;

	for (size_t i = 0; i < layout->nr_columns; i++) {
		const struct column *column = &layout->columns[i];
		struct ts_bytes text = cell_text(layout, row, column);

		while (column->is_text && nr < CELL_LINES &&
		       text_table_line_of(text, column->width, nr).n > 0)
			nr++;
	}
	return nr;
}

static void text_table_put_cell(struct ts_buf *out, const struct layout *layout, size_t i,
				struct ts_bytes text)
{
	const struct column *column = &layout->columns[i];

	TS_ASSERT(i < layout->nr_columns);
	ts_buf_pad(out, ' ', i ? GAP : INDENT);
	ts_term_cell(out, text, column->width, column->is_text ? TS_TERM_LEFT : TS_TERM_RIGHT);
}

/* No spaces at the end of a line. */
static void end_line(struct ts_buf *out, size_t from)
{
	while (out->n > from && out->p[out->n - 1] == ' ')
		out->n--;
	ts_buf_putc(out, '\n');
}

static void put_headings(struct ts_buf *out, const struct layout *layout)
{
	char text[HEADING_MAX];
	size_t from = out->n;

	for (size_t i = 0; i < layout->nr_columns; i++)
		text_table_put_cell(
			out, layout, i,
			heading(layout, &layout->table->columns[layout->columns[i].index], text));
	end_line(out, from);
}

/* A text that is cut at the terminal's width goes on below; where there is no terminal it is cut. */
static void text_table_put_row(struct ts_buf *out, struct layout *layout, size_t row, bool wraps)
{
	size_t nr = wraps ? text_table_nr_lines(layout, row) : 1;

	for (size_t line = 0; line < nr; line++) {
		size_t from = out->n;

		for (size_t i = 0; i < layout->nr_columns; i++) {
			const struct column *column = &layout->columns[i];
			struct ts_bytes text = cell_text(layout, row, column);

			if (wraps && column->is_text)
				text = text_table_line_of(text, column->width, line);
			else if (line > 0)
				text.n = 0;
			text_table_put_cell(out, layout, i, text);
		}
		end_line(out, from);
	}
}

/* What does not stand in the table: rows, and columns for want of width. */
static void text_table_put_rest(struct ts_buf *out, struct layout *layout, size_t width)
{
	struct ts_term_wrap how = { .width = width, .at = INDENT, .indent = INDENT };
	size_t nr_shown = layout->nr_rows + layout->nr_folded;
	char text[HEADING_MAX];

	if (layout->table->nr_rows == 0)
		ts_buf_puts(out, "  (no rows)\n");
	if (nr_shown < layout->table->nr_rows)
		ts_buf_printf(out, "  ... and %zu more\n", layout->table->nr_rows - nr_shown);
	if (layout->nr_folded > 0)
		ts_buf_puts(out, "  (+N: on so many more devices; --all has a row for each)\n");
	if (layout->nr_left_out == 0)
		return;
	ts_buf_clear(&layout->scratch);
	for (size_t i = layout->nr_left_out; i-- > 0;) {
		ts_buf_puts(&layout->scratch, layout->scratch.n ? ", " : "(no room for: ");
		ts_buf_put(&layout->scratch, heading(layout, layout->left_out[i], text));
	}
	ts_buf_putc(&layout->scratch, ')');
	ts_buf_pad(out, ' ', INDENT);
	ts_term_wrap(out, ts_buf_bytes(&layout->scratch), how);
	ts_buf_putc(out, '\n');
	layout->failed |= layout->scratch.failed;
}

void ts_text_table(struct ts_buf *out, const struct ts_table *table, const struct ts_report *report)
{
	struct layout layout = { .table = table, .units = report->units };

	TS_ASSERT(out && table && report);
	TS_ASSERT(table->nr_columns > 0);
	lay_out(&layout, report);
	put_headings(out, &layout);
	for (size_t row = 0; row < layout.nr_rows; row++)
		text_table_put_row(out, &layout, row, report->width > 0);
	text_table_put_rest(out, &layout, report->width);
	out->failed |= layout.failed;
	free(layout.rows);
	free(layout.nr_like);
	ts_buf_release(&layout.scratch);
}
