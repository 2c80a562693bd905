/* SPDX-License-Identifier: MIT */
/* The modules of the SQL package as one text. */
#include "trace/perfetto/sql.h"

#include "base/check.h"

#define INCLUDE "INCLUDE PERFETTO MODULE " TS_SQL_PACKAGE "."

static void sql_put_module(struct ts_buf *out, struct ts_bytes text)
{
	while (text.n > 0) {
		struct ts_bytes line = ts_bytes_cut(text, 0, ts_bytes_find(text, "\n") + 1);

		if (!ts_bytes_starts(line, INCLUDE))
			ts_buf_put(out, line);
		text = ts_bytes_cut(text, line.n, text.n);
	}
}

void ts_sql_all(struct ts_buf *out)
{
	TS_ASSERT(out);
	for (size_t i = 0; i < ts_nr_sql_modules; i++) {
		ts_buf_puts(out, i ? "\n" : "");
		sql_put_module(out, ts_sql_modules[i].text);
	}
}
