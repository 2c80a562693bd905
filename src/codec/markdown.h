/* SPDX-License-Identifier: MIT */
/* Texts in Markdown, for places that have no links. */
#ifndef TS_CODEC_MARKDOWN_H
#define TS_CODEC_MARKDOWN_H

#include "base/buf.h"

/* TEXT; of a link only what is to be read. */
void ts_markdown_put_unlinked(struct ts_buf *out, const char *text);

#endif
