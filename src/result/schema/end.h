/* SPDX-License-Identifier: MIT */
/* Behind each list of the schema (begin.h): its words are nobody's else. */
#undef FIELD
#undef GROUP
#undef IN
#undef WHOLE
#undef END_GROUP
#undef NO_FIELDS
#undef END_FIELDS
#undef TABLE
#undef TABLE_AS
#undef SAME_TABLE
#undef EACH
#undef ITEMS
#undef SHEET
#undef COLUMN
#undef COLUMN_AS
#undef RUN_COLUMN
#undef OTHER_COLUMN
#undef SAME_EACH
#undef HOW
#undef END_TABLE
#undef END_RESULT
#undef HIDE
#undef SHOW
#undef KEY
#undef SPARE
#undef T
#undef T_AS
#if !defined(TS_SCHEMA_PASS) || TS_SCHEMA_PASS < 5
#undef RESULT
#endif
