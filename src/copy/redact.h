/* SPDX-License-Identifier: MIT */
/*
 * Redacting: a copy of a profile whose names are hashed (copy/names.h), so that it can be shown to
 * others: hosts, paths, functions, scopes, arguments, in an xplane also inside its compiled
 * modules. All numbers stay: times, shapes, sizes, ids; so do opcodes, categories and all that is
 * public.
 *
 * Nothing is copied because it looks harmless: a text stays or is hashed by a rule that names its
 * field, stat or argument. Without a rule, a text is hashed whole, and a message or bytes are left
 * out. Constants of compiled modules (but single signed whole numbers), the bodies of custom kernels and an earlier annotation are
 * left out.
 */
#ifndef TS_COPY_REDACT_H
#define TS_COPY_REDACT_H

#include "copy/names.h"
#include "copy/out.h"

struct ts_redact_report {
	uint64_t nr_left_out;	/* events that could not be read */
	struct ts_error damage; /* where the file stops making sense; else empty */
};

/* The report says of damage; a bad status is only memory and disk. MAPPED: pages of BYTES may be
 * given back. */
enum ts_status ts_redact_xplane(const struct ts_names *names, struct ts_bytes bytes,
				struct ts_copy_out *out, struct ts_redact_report *report,
				struct ts_error *err);
enum ts_status ts_redact_trace(const struct ts_names *names, struct ts_bytes bytes, bool mapped,
			       struct ts_copy_out *out, struct ts_redact_report *report,
			       struct ts_error *err);

/* Pieces of both. Each appends to OUT; when memory runs out, OUT's .failed is set. */

/* One JSON value, its texts as KIND says, those in members of objects as their keys say. */
void ts_redact_json(const struct ts_names *names, struct ts_bytes token, enum ts_key_kind kind,
		    struct ts_buf *out);
/* An HloProto or an HloModuleProto; the part of it that makes sense. */
void ts_redact_hlo(const struct ts_names *names, struct ts_bytes proto, struct ts_buf *out);
/* A message without texts (TS_KEY_NUMBERS, TS_KEY_ACCESS). */
void ts_redact_numbers(const struct ts_names *names, struct ts_bytes message, enum ts_key_kind kind,
		       struct ts_buf *out);

#endif
