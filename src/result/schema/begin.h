/* SPDX-License-Identifier: MIT */
/*
 * What the lists of a result's schema become; included in front of each of them, end.h behind it. Without TS_SCHEMA_PASS: structs of
 * values, for all that fill or read results. result/schema.c includes the lists once a pass, and makes the constant tables.
 *
 *	RESULT(of, title, flags)	a result and its fields, until END_FIELDS(of)
 *	FIELD(name, type, origin, heading, term)
 *	GROUP(name) IN(group, name, type, origin, heading, term) END_GROUP(name)	an object inside
 *	WHOLE(group, origin)		in a group: the object itself, where it is null
 *	TABLE(of, name, title)		and its columns, until END_TABLE(of, name)
 *	TABLE_AS(of, id, name, title)	another form of the table NAME
 *	SAME_TABLE(of, name, like, title)	a table with the columns of LIKE
 *	EACH(of, id, name)		columns of the table, or members of the object, NAME that stand once for each run of a comparison
 *	SAME_EACH(of, id, name, like)	the same columns as LIKE's, of another table
 *	ITEMS(of, id, path)		columns of the objects in the list PATH: a field, or a column behind its table
 *	COLUMN(name, type, origin, heading, term)
 *	COLUMN_AS(id, "name", ...)	where the name is no word of C's
 *	RUN_COLUMN(name, ...)		of EACH: behind the name of the run and a _
 *	OTHER_COLUMN(name, ...)		the same, and the baseline does not have it
 *	HOW("names", "source", "wrong when")	behind fields, or the columns of a table: what the terms of those of these names do not
 *					say (struct ts_note)
 *	END_RESULT(of)
 *
 * TYPE: INT, REAL, ID (a decimal string in JSON), TEXT (words of ours), NAME (of the user's job: redact hashes it), BOOL, LIST,
 * GROUP (an object of fields that the profile names).
 * ORIGIN: MEASURED, COMPILED, MODELLED, INFERRED, ASSUMED, DERIVED. HEADING, of a column where people read it: SHOW("text"), KEY
 * where the table is about it, SPARE where it is the first to be left out for want of width, HIDE. TERM: T(id) of terms.def;
 * T_AS(id, "text") with a label of its own.
 */
#if !defined(TS_SCHEMA_PASS)
#include "result/schema.h"
#define RESULT(of, title, flags) \
	extern const struct ts_schema ts_schema_##of; \
	struct ts_##of##_fields {
#define FIELD(name, ...)     struct ts_value name;
#define GROUP(name)	     struct {
#define IN(group, name, ...) struct ts_value name;
#define WHOLE(group, origin) struct ts_value whole;
#define END_GROUP(name)	     } name;
#define NO_FIELDS()	     char none;
#define END_FIELDS(of)	     };
#define TABLE_AS(of, id, name, title) \
	extern const struct ts_sheet ts_sheet_##of##_##id; \
	struct ts_##of##_##id##_row {
#define SAME_TABLE(of, id, like, title) extern const struct ts_sheet ts_sheet_##of##_##id;
#define COLUMN(name, ...)		struct ts_value name;
#define COLUMN_AS(id, name, ...)	struct ts_value id;
#define SAME_EACH(of, id, name, like)	extern const struct ts_sheet ts_sheet_##of##_##id;
#define RUN_COLUMN(name, ...)		struct ts_value name;
#define OTHER_COLUMN(name, ...)		struct ts_value name;
#define HOW(names, source, wrong)
#define END_TABLE(of, id)		};
#define END_RESULT(of)

#elif TS_SCHEMA_PASS == 1 /* fields and columns */
#define RESULT(of, title, flags) static const struct ts_column fields_##of[] = {
#define FIELD(name, type, origin, heading, term) \
	{ #name, TS_##origin, heading, TS_TYPE_##type, term },
#define GROUP(name)
#define IN(group, name, type, origin, heading, term) \
	{ #group "." #name, TS_##origin, heading, TS_TYPE_##type, term },
#define WHOLE(group, origin) { #group, TS_##origin, NULL, 0, TS_TYPE_GROUP, NULL, NULL },
#define END_GROUP(name)
#define NO_FIELDS()    { 0 },
#define END_FIELDS(of) };
#define TABLE_AS(of, id, name, title)	static const struct ts_column columns_##of##_##id[] = {
#define SAME_TABLE(of, id, like, title)
#define COLUMN(name, type, origin, heading, term) \
	{ #name, TS_##origin, heading, TS_TYPE_##type, term },
#define SAME_EACH(of, id, name, like)
#define RUN_COLUMN(name, type, origin, heading, term) \
	{ "_" #name, TS_##origin, heading, TS_TYPE_##type, term },
#define OTHER_COLUMN(name, type, origin, heading, term) \
	{ "_" #name, TS_##origin, heading, TS_TYPE_##type, term, true },
#define COLUMN_AS(id, name, type, origin, heading, term) \
	{ name, TS_##origin, heading, TS_TYPE_##type, term },
#define HOW(names, source, wrong)
#define END_TABLE(of, id)	       };
#define END_RESULT(of)

#elif TS_SCHEMA_PASS == 2 /* tables */
#define RESULT(of, title, flags)
#define FIELD(name, ...)
#define GROUP(name)
#define IN(group, name, ...)
#define WHOLE(group, origin)
#define END_GROUP(name)
#define NO_FIELDS()
#define END_FIELDS(of)
#define TABLE_AS(of, id, name, title) SHEET(of, id, #name, title, id, false, false)
#define SAME_TABLE(of, id, like, title) SHEET(of, id, #id, title, like, false, false)
#define EACH(of, id, name)		SHEET(of, id, #name, NULL, id, true, false)
#define SAME_EACH(of, id, name, like)	SHEET(of, id, #name, NULL, like, true, false)
#define ITEMS(of, id, path)		SHEET(of, id, #path, NULL, id, false, true)
#define SHEET(of, id, name, title, like, is_each, is_items) \
	const struct ts_sheet ts_sheet_##of##_##id = { name, title, columns_##of##_##like, \
						       TS_NELEM(columns_##of##_##like), is_each, is_items };
#define COLUMN(name, ...)
#define COLUMN_AS(id, name, ...)
#define RUN_COLUMN(name, ...)
#define OTHER_COLUMN(name, ...)
#define HOW(names, source, wrong)
#define END_TABLE(of, id)
#define END_RESULT(of)

#elif TS_SCHEMA_PASS == 3 /* the tables of a result */
#define RESULT(of, title, flags) static const struct ts_sheet *const sheets_##of[] = {
#define FIELD(name, ...)
#define GROUP(name)
#define IN(group, name, ...)
#define WHOLE(group, origin)
#define END_GROUP(name)
#define NO_FIELDS()
#define END_FIELDS(of)
#define TABLE_AS(of, id, name, title)	&ts_sheet_##of##_##id,
#define SAME_TABLE(of, id, like, title) &ts_sheet_##of##_##id,
#define SAME_EACH(of, id, name, like)	&ts_sheet_##of##_##id,
#define COLUMN(name, ...)
#define COLUMN_AS(id, name, ...)
#define RUN_COLUMN(name, ...)
#define OTHER_COLUMN(name, ...)
#define HOW(names, source, wrong)
#define END_TABLE(of, id)
#define END_RESULT(of) NULL };

#elif TS_SCHEMA_PASS == 4 /* what is said of fields and columns */
#define RESULT(of, title, flags) static const struct ts_note notes_##of[] = {
#define FIELD(name, ...)
#define GROUP(name)
#define IN(group, name, ...)
#define WHOLE(group, origin)
#define END_GROUP(name)
#define NO_FIELDS()
#define END_FIELDS(of)
#define TABLE_AS(of, id, name, title)	{ .columns = columns_##of##_##id },
#define SAME_TABLE(of, id, like, title)
#define SAME_EACH(of, id, name, like)
#define COLUMN(name, ...)
#define COLUMN_AS(id, name, ...)
#define RUN_COLUMN(name, ...)
#define OTHER_COLUMN(name, ...)
#define HOW(names, source, wrong) { NULL, names, source, wrong },
#define END_TABLE(of, id)
#define END_RESULT(of) { 0 } };

#else /* the results: RESULT is the includer's */
#define FIELD(name, ...)
#define GROUP(name)
#define IN(group, name, ...)
#define WHOLE(group, origin)
#define END_GROUP(name)
#define NO_FIELDS()
#define END_FIELDS(of)
#define TABLE_AS(of, id, name, title)
#define SAME_TABLE(of, id, like, title)
#define SAME_EACH(of, id, name, like)
#define COLUMN(name, ...)
#define COLUMN_AS(id, name, ...)
#define RUN_COLUMN(name, ...)
#define OTHER_COLUMN(name, ...)
#define HOW(names, source, wrong)
#define END_TABLE(of, id)
#define END_RESULT(of)
#endif

#define TABLE(of, name, title) TABLE_AS(of, name, name, title)
#ifndef EACH
#define EACH(of, id, name) TABLE_AS(of, id, name, NULL)
#endif
#ifndef ITEMS
#define ITEMS(of, id, path) TABLE_AS(of, id, path, NULL)
#endif
#define HIDE	    NULL, 0
#define SHOW(text)  text, 0
#define KEY(text)   text, 1
#define SPARE(text) text, -1
#define T(id)	    &ts_term_##id, NULL
#define T_AS(id, text) &ts_term_##id, text
