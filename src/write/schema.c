/* SPDX-License-Identifier: MIT */
/* The forms in which the schema of results is printed. Another one: its function and a line here. */
#include "write/schema.h"

const struct ts_schema_format ts_schema_formats[] = {
	{ "json-schema", ".json", ts_schema_json }, /* without --format */
	{ "tables", ".tables.md", ts_schema_tables },
	{ "markdown", ".md", ts_schema_markdown },
	{ "typescript", ".ts", ts_schema_typescript },
	{ "python", ".pyi", ts_schema_python },
	{ 0 },
};
