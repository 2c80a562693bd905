/* SPDX-License-Identifier: MIT */
/*
 * Text for HTML: good between tags and inside a quoted attribute. Not for script or style elements.
 * Text may be any bytes: bytes that are not UTF-8, and control characters that HTML forbids, become
 * U+FFFD.
 */
#ifndef TS_CODEC_HTML_H
#define TS_CODEC_HTML_H

#include "base/buf.h"

void ts_html_text(struct ts_buf *out, struct ts_bytes text);

#endif
