/* SPDX-License-Identifier: MIT */
/* The parts of the file: ECMA-376, part 1, 18.2 (workbook), 18.3 (sheets), 18.8 (styles); part 2 (the package). */
#include "write/report_xlsx.h"

#include <strings.h>

#include "base/check.h"
#include "codec/html.h"
#include "codec/utf8.h"
#include "codec/zip.h"
#include "result/view.h"
#include "write/json_value.h"
#include "write/summary.h"

#define MAX_ROWS  1048576
#define MAX_CHARS 32767
#define NAME_ROOM 32 /* of a sheet's name, with its NUL */
#define EXACT	  (INT64_C(1) << 53)
#define HEAD	  "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n"
#define MAIN	  "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
#define OFFICE	  "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
#define PACKAGE	  "http://schemas.openxmlformats.org/package/2006"
#define KIND	  "application/vnd.openxmlformats-officedocument.spreadsheetml"
#define RELATIONS "<Relationships xmlns=\"" PACKAGE "/relationships\">"

/* Style 0 for rows, 1 (bold) for headings; the two fills must be there. */
static const char styles[] = HEAD
	"<styleSheet xmlns=\"" MAIN
	"\"><fonts count=\"2\"><font><sz val=\"11\"/><name val=\"Calibri\"/>"
	"</font><font><b/><sz val=\"11\"/><name val=\"Calibri\"/></font></fonts><fills "
	"count=\"2\"><fill>"
	"<patternFill patternType=\"none\"/></fill><fill><patternFill "
	"patternType=\"gray125\"/></fill></fills>"
	"<borders count=\"1\"><border><left/><right/><top/><bottom/><diagonal/></border></borders>"
	"<cellStyleXfs count=\"1\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" "
	"borderId=\"0\"/></cellStyleXfs>"
	"<cellXfs count=\"2\"><xf numFmtId=\"0\" fontId=\"0\" fillId=\"0\" borderId=\"0\" "
	"xfId=\"0\"/>"
	"<xf numFmtId=\"0\" fontId=\"1\" fillId=\"0\" borderId=\"0\" xfId=\"0\" "
	"applyFont=\"1\"/></cellXfs>"
	"<cellStyles count=\"1\"><cellStyle name=\"Normal\" xfId=\"0\" "
	"builtinId=\"0\"/></cellStyles></styleSheet>";

struct sheet_name {
	char text[NAME_ROOM];
};

struct book {
	struct ts_zip zip;
	enum ts_status st; /* of what is in it so far */
	struct ts_error *err;
	struct ts_buf sheet; /* the one that is being written */
	size_t nr_rows;	     /* in it */
	struct sheet_name *names;
	size_t nr, cap;
	const struct ts_results *results;
	struct ts_view view;
};

static enum ts_status report_xlsx_take(void *out, struct ts_bytes piece, struct ts_error *err)
{
	ts_buf_put(out, piece);
	return ((const struct ts_buf *)out)->failed ? ts_fail_nomem(err) : TS_OK;
}

static void report_xlsx_put_member(struct book *book, const char *name, const struct ts_buf *text)
{
	if (book->st == TS_OK && text->failed)
		book->st = ts_fail_nomem(book->err);
	if (book->st == TS_OK)
		book->st = ts_zip_begin(&book->zip, name, (int64_t)text->n, book->err);
	if (book->st == TS_OK)
		book->st = ts_zip_put(&book->zip, ts_buf_bytes(text), book->err);
}

/* --- cells */

/* As many characters as a cell may have; the noncharacters at the end of the first plane are not XML. */
static void report_xlsx_put_text(struct ts_buf *out, struct ts_bytes text)
{
	const uint8_t *p = text.p, *from = p, *end = text.p ? text.p + text.n : text.p;

	for (size_t nr = 0; p < end && nr < MAX_CHARS; nr++) {
		const uint8_t *start = p;
		uint32_t c = ts_utf8_next(&p, end);

		nr += c > 0xffff && c != TS_UTF8_BAD; /* UTF-16 has two of it */
		if (c != 0xfffe && c != 0xffff)
			continue;
		ts_html_text(out, (struct ts_bytes){ from, (size_t)(start - from) });
		ts_buf_puts(out, TS_UTF8_REPLACEMENT);
		from = p;
	}
	ts_html_text(out, (struct ts_bytes){ from, (size_t)(p - from) });
}

static void put_text_cell(struct ts_buf *out, struct ts_bytes text, bool is_heading)
{
	ts_buf_printf(out, "<c t=\"inlineStr\"%s><is><t xml:space=\"preserve\">",
		      is_heading ? " s=\"1\"" : "");
	report_xlsx_put_text(out, text);
	ts_buf_puts(out, "</t></is></c>");
}

static void put_json_cell(struct ts_buf *out, struct ts_value value)
{
	struct ts_buf text = TS_BUF_INIT;
	struct ts_json json = ts_json_of(&text, TS_JSON_COMPACT);

	ts_json_value(&json, value);
	out->failed |= text.failed;
	put_text_cell(out, ts_buf_bytes(&text), false);
	ts_buf_release(&text);
}

static void put_id_cell(struct ts_buf *out, uint64_t id)
{
	struct ts_buf text = TS_BUF_INIT;

	ts_buf_u64(&text, id);
	out->failed |= text.failed;
	put_text_cell(out, ts_buf_bytes(&text), false);
	ts_buf_release(&text);
}

static void put_int_cell(struct ts_buf *out, struct ts_value value)
{
	if (value.as.i < -EXACT || value.as.i > EXACT) {
		put_json_cell(out, value);
		return;
	}
	ts_buf_puts(out, "<c><v>");
	ts_buf_i64(out, value.as.i);
	ts_buf_puts(out, "</v></c>");
}

static void put_real_cell(struct ts_buf *out, double value)
{
	ts_buf_puts(out, "<c><v>");
	ts_json_number(out, value);
	ts_buf_puts(out, "</v></c>");
}

static void report_xlsx_put_cell(struct ts_buf *out, struct ts_value value)
{
	switch (value.type) {
	case TS_VALUE_IMPOSSIBLE:
	case TS_VALUE_NULL:	  ts_buf_puts(out, "<c/>"); break;
	case TS_VALUE_INT:	  put_int_cell(out, value); break;
	case TS_VALUE_ID:	  put_id_cell(out, value.as.u); break;
	case TS_VALUE_REAL:	  put_real_cell(out, value.as.r); break;
	case TS_VALUE_TEXT:	  put_text_cell(out, value.as.s, false); break;
	case TS_VALUE_BOOL:	  ts_buf_printf(out, "<c t=\"b\"><v>%d</v></c>", value.as.b); break;
	case TS_VALUE_LIST:	  put_json_cell(out, value); break;
	}
}

/* --- sheets */

/* False: the sheet has no room for one more. */
static bool begin_row(struct book *book)
{
	if (book->nr_rows >= MAX_ROWS)
		return false;
	book->nr_rows++;
	ts_buf_puts(&book->sheet, "<row>");
	return true;
}

static void report_xlsx_end_row(struct book *book)
{
	ts_buf_puts(&book->sheet, "</row>");
}

static void report_xlsx_put_heading(struct book *book, const char *name)
{
	put_text_cell(&book->sheet, ts_bytes_of(name), true);
}

static bool report_xlsx_is_taken(const struct book *book, const char *name)
{
	for (size_t i = 0; i < book->nr; i++)
		if (strcasecmp(book->names[i].text, name) == 0)
			return true;
	return false;
}

/* Each name once, without regard to case, and as short as it must be: "a_long_na~2". */
static void name_sheet(const struct book *book, const char *wanted, char name[NAME_ROOM])
{
	char end[NAME_ROOM] = "";

	for (unsigned n = 2;; n++) {
		size_t room = NAME_ROOM - 1 - strlen(end), length = TS_MIN(strlen(wanted), room);

		memcpy(name, wanted, length);
		memcpy(name + length, end, strlen(end) + 1);
		for (char *c = name; *c; c++)
			if (strchr("[]:*?/\\'", *c))
				*c = '_';
		if (!report_xlsx_is_taken(book, name))
			return;
		snprintf(end, sizeof(end), "~%u", n);
	}
}

/* The headings of a sheet stay in sight. */
static void begin_sheet(struct book *book, const char *name)
{
	struct sheet_name fresh;

	name_sheet(book, name, fresh.text);
	if (ts_grow(&book->names, &book->cap, book->nr + 1, sizeof(fresh)))
		book->names[book->nr++] = fresh;
	else
		book->st = ts_fail_nomem(book->err);
	ts_buf_clear(&book->sheet);
	book->nr_rows = 0;
	ts_buf_puts(
		&book->sheet, HEAD
		"<worksheet xmlns=\"" MAIN "\"><sheetViews><sheetView workbookViewId=\"0\">"
		"<pane ySplit=\"1\" topLeftCell=\"A2\" activePane=\"bottomLeft\" state=\"frozen\"/>"
		"</sheetView></sheetViews><sheetData>");
	begin_row(book);
}

static void end_sheet(struct book *book)
{
	char name[64];

	ts_buf_puts(&book->sheet, "</sheetData></worksheet>");
	snprintf(name, sizeof(name), "xl/worksheets/sheet%zu.xml", book->nr);
	report_xlsx_put_member(book, name, &book->sheet);
}

/* --- what of the results is wanted, and its name */

static bool report_xlsx_wants(const struct book *book, const struct ts_result *result)
{
	return !ts_result_is_silent(result) && (!book->view.result || book->view.result == result);
}

/* Which run it is, is said with every view. */
static bool report_xlsx_wants_field(const struct book *book, const struct ts_result *result,
				    const struct ts_field *field)
{
	if (result->top_level && strncmp(field->name, "run", 3) == 0 &&
	    (field->name[3] == '.' || field->name[3] == '\0'))
		return true;
	return report_xlsx_wants(book, result) && !book->view.table;
}

static bool is_rows(struct ts_value value)
{
	return value.type == TS_VALUE_LIST && value.as.list->columns;
}

/* A name inside of the report, in *TEXT. */
static const char *path_of(struct ts_buf *text, const struct ts_result *result, const char *name)
{
	ts_buf_clear(text);
	ts_buf_printf(text, "%s%s%s", result->top_level ? "" : result->name,
		      result->top_level ? "" : ".", name);
	ts_buf_putc(text, '\0');
	return text->failed ? "" : (const char *)text->p;
}

/* --- the first sheet */

static void report_xlsx_put_named(struct book *book, const char *name, struct ts_value value)
{
	if (!begin_row(book))
		return;
	put_text_cell(&book->sheet, ts_bytes_of(name), false);
	report_xlsx_put_cell(&book->sheet, value);
	report_xlsx_end_row(book);
}

static void report_xlsx_put_values(struct book *book, const struct ts_result *result)
{
	struct ts_buf path = TS_BUF_INIT;

	for (size_t i = 0; i < result->nr_fields; i++) {
		const struct ts_field *field = &result->fields[i];

		if (report_xlsx_wants_field(book, result, field) && !is_rows(field->value))
			report_xlsx_put_named(book, path_of(&path, result, field->name),
					      field->value);
	}
	for (size_t i = 0; report_xlsx_wants(book, result) && i < result->nr_notes; i++)
		report_xlsx_put_named(book, path_of(&path, result, "notes"),
				      ts_text(result->notes[i]));
	book->sheet.failed |= path.failed;
	ts_buf_release(&path);
}

/* In bold, above all else. */
static void put_predicted(struct book *book)
{
	struct ts_buf text = TS_BUF_INIT;

	ts_summary_predicted(&text, book->results, 0);
	if (text.n > 0 && begin_row(book)) {
		put_text_cell(&book->sheet, ts_bytes_cut(ts_buf_bytes(&text), 0, text.n - 1), true);
		report_xlsx_end_row(book);
	}
	book->sheet.failed |= text.failed;
	ts_buf_release(&text);
}

static void put_first_sheet(struct book *book)
{
	begin_sheet(book, "report");
	report_xlsx_put_heading(book, "name");
	report_xlsx_put_heading(book, "value");
	report_xlsx_end_row(book);
	put_predicted(book);
	for (size_t i = 0; i < book->results->nr; i++)
		report_xlsx_put_values(book, book->results->items[i]);
	end_sheet(book);
}

/* --- the other sheets */

static void report_xlsx_put_list(struct book *book, const char *name, const struct ts_list *list)
{
	const struct ts_value *item = list->items;

	if (list->nr == 0)
		return;
	begin_sheet(book, name);
	for (size_t k = 0; k < list->nr_columns; k++)
		report_xlsx_put_heading(book, list->columns[k].name);
	report_xlsx_end_row(book);
	for (size_t i = 0; i < list->nr && begin_row(book); i++) {
		for (size_t k = 0; k < list->nr_columns; k++)
			report_xlsx_put_cell(&book->sheet, *item++);
		report_xlsx_end_row(book);
	}
	end_sheet(book);
}

static void report_xlsx_put_table(struct book *book, const char *name, const struct ts_table *table)
{
	const struct ts_value *cell = table->cells;

	begin_sheet(book, name);
	for (size_t i = 0; i < table->nr_columns; i++)
		report_xlsx_put_heading(book, table->columns[i].name);
	if (table->nr_others > 0)
		report_xlsx_put_heading(book, "is_others");
	report_xlsx_end_row(book);
	for (size_t row = 0; row < table->nr_rows && begin_row(book); row++) {
		for (size_t i = 0; i < table->nr_columns; i++)
			report_xlsx_put_cell(&book->sheet, *cell++);
		if (row >= ts_table_nr_listed(table))
			report_xlsx_put_cell(&book->sheet, ts_bool(true));
		report_xlsx_end_row(book);
	}
	end_sheet(book);
}

static void report_xlsx_put_finding(struct book *book, const struct ts_finding *finding)
{
	for (size_t i = 0; i < TS_FINDING_COLUMNS; i++)
		report_xlsx_put_cell(&book->sheet, ts_finding_value(finding, i));
	for (size_t i = 0; i < TS_WHERE_COLUMNS; i++)
		report_xlsx_put_cell(&book->sheet, finding->nr_where
							   ? ts_where_value(finding->where, i)
							   : ts_null());
	for (size_t i = 0; i < TS_LINK_COLUMNS; i++)
		report_xlsx_put_cell(&book->sheet, ts_link_value(&finding->links, i));
	report_xlsx_end_row(book);
}

/* The columns that CSV has. */
static void report_xlsx_put_findings(struct book *book, const char *name,
				     const struct ts_result *result)
{
	if (result->nr_findings == 0 || !report_xlsx_wants(book, result) || book->view.table)
		return;
	begin_sheet(book, name);
	for (size_t i = 0; i < TS_FINDING_COLUMNS; i++)
		report_xlsx_put_heading(book, ts_finding_columns[i]);
	for (size_t i = 0; i < TS_WHERE_COLUMNS; i++)
		report_xlsx_put_heading(book, ts_where_columns[i]);
	for (size_t i = 0; i < TS_LINK_COLUMNS; i++)
		report_xlsx_put_heading(book, ts_link_columns[i]);
	report_xlsx_end_row(book);
	for (size_t i = 0; i < result->nr_findings && begin_row(book); i++)
		report_xlsx_put_finding(book, &result->findings[i]);
	end_sheet(book);
}

static void report_xlsx_put_sheets(struct book *book, const struct ts_result *result)
{
	struct ts_buf path = TS_BUF_INIT;

	for (size_t i = 0; i < result->nr_fields; i++) {
		const struct ts_field *field = &result->fields[i];

		if (report_xlsx_wants_field(book, result, field) && is_rows(field->value))
			report_xlsx_put_list(book, path_of(&path, result, field->name),
					     field->value.as.list);
	}
	for (size_t i = 0; i < result->nr_tables; i++)
		if (report_xlsx_wants(book, result) &&
		    (!book->view.table || book->view.table == &result->tables[i]) &&
		    result->tables[i].nr_rows > 0)
			report_xlsx_put_table(book, path_of(&path, result, result->tables[i].name),
					      &result->tables[i]);
	report_xlsx_put_findings(book, path_of(&path, result, "findings"), result);
	book->sheet.failed |= path.failed;
	ts_buf_release(&path);
}

/* --- the files that say what the others are */

/* What has a line of each sheet. */
enum line { NOTHING, TYPES, RELATIONSHIPS, SHEETS };

static void report_xlsx_put_line(struct ts_buf *out, enum line line, size_t number,
				 const char *name)
{
	switch (line) {
	case NOTHING: break;
	case TYPES:
		ts_buf_printf(out,
			      "<Override PartName=\"/xl/worksheets/sheet%zu.xml\" "
			      "ContentType=\"" KIND ".worksheet+xml\"/>",
			      number);
		break;
	case RELATIONSHIPS:
		ts_buf_printf(out,
			      "<Relationship Id=\"r%zu\" Type=\"" OFFICE "/worksheet\" "
			      "Target=\"worksheets/sheet%zu.xml\"/>",
			      number, number);
		break;
	case SHEETS:
		ts_buf_puts(out, "<sheet name=\"");
		ts_html_text(out, ts_bytes_of(name));
		ts_buf_printf(out, "\" sheetId=\"%zu\" r:id=\"r%zu\"/>", number, number);
		break;
	}
}

static void put_index(struct book *book, const char *file, const char *before, enum line line,
		      const char *behind)
{
	struct ts_buf out = TS_BUF_INIT;

	ts_buf_puts(&out, before);
	for (size_t i = 0; i < book->nr; i++)
		report_xlsx_put_line(&out, line, i + 1, book->names[i].text);
	ts_buf_puts(&out, behind);
	report_xlsx_put_member(book, file, &out);
	ts_buf_release(&out);
}

static void put_indexes(struct book *book)
{
	put_index(book, "_rels/.rels", HEAD RELATIONS, NOTHING,
		  "<Relationship Id=\"r1\" Type=\"" OFFICE
		  "/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>");
	put_index(book, "xl/styles.xml", "", NOTHING, styles);
	put_index(book, "[Content_Types].xml",
		  HEAD "<Types xmlns=\"" PACKAGE "/content-types\"><Default Extension=\"rels\" "
		       "ContentType=\"application/vnd.openxmlformats-package.relationships+xml\"/>"
		       "<Override PartName=\"/xl/workbook.xml\" ContentType=\"" KIND
		       ".sheet.main+xml\"/>"
		       "<Override PartName=\"/xl/styles.xml\" ContentType=\"" KIND
		       ".styles+xml\"/>",
		  TYPES, "</Types>");
	put_index(book, "xl/workbook.xml",
		  HEAD "<workbook xmlns=\"" MAIN "\" xmlns:r=\"" OFFICE "\"><sheets>", SHEETS,
		  "</sheets></workbook>");
	put_index(book, "xl/_rels/workbook.xml.rels", HEAD RELATIONS, RELATIONSHIPS,
		  "<Relationship Id=\"styles\" Type=\"" OFFICE "/styles\" Target=\"styles.xml\"/>"
		  "</Relationships>");
}

enum ts_status ts_report_xlsx(struct ts_buf *out, const struct ts_results *results,
			      const struct ts_report *report, struct ts_error *err)
{
	struct book book = { .zip = TS_ZIP_INIT, .err = err, .results = results };
	enum ts_status st = TS_OK;

	TS_ASSERT(out && results && report);
	if (report->brief)
		return ts_fail(err, TS_USAGE, "xlsx has no short form (use text or json)");
	if (results->failed)
		return ts_fail_nomem(err);
	if (report->view)
		st = ts_view_find(results, report->view, &book.view, err);
	if (st)
		return st;
	book.st = ts_zip_open(&book.zip, report_xlsx_take, out, err);
	put_first_sheet(&book);
	for (size_t i = 0; i < results->nr; i++)
		report_xlsx_put_sheets(&book, results->items[i]);
	put_indexes(&book);
	if (book.st == TS_OK)
		book.st = ts_zip_close(&book.zip, err);
	ts_zip_release(&book.zip);
	ts_buf_release(&book.sheet);
	free(book.names);
	return book.st;
}

const struct ts_output ts_output_xlsx = {
	.name = "xlsx",
	.extension = "xlsx",
	.emit = ts_report_xlsx,
};
