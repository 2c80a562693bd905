/* SPDX-License-Identifier: MIT */
/*
 * The page that draws a report (plugin/page): what its bundler made of it, as bytes in the program.
 * All are empty when the program was built without the page.
 */
#ifndef TS_WRITE_PAGE_H
#define TS_WRITE_PAGE_H

#include "base/bytes.h"

struct ts_page {
	struct ts_bytes script, style;
	struct ts_bytes policy;	 /* script-src and style-src for both, by their hashes */
	struct ts_bytes notices; /* the licences of what others made of it */
};
extern const struct ts_page ts_page;

#endif
