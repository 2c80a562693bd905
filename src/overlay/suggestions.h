/* SPDX-License-Identifier: MIT */
/*
 * ALL_HOSTS.smart_suggestion.pb: what XProf shows under "Recommendations" on its overview page.
 *
 * The file is XProf's cache of its own suggestions (SmartSuggestionReport, proto/suggestion.proto):
 * it is read back as it is, so the doctor's findings can stand in it. What stands there comes first
 * and is kept byte for byte; ours follow. Each of ours begins with a mark, a field that XProf does
 * not know and passes over: the number of bytes in front of the first of them, and 1, or 0 where
 * there was no file. Ours are known by that, and by their rule names, which begin with "TPUsight/"
 * (older files of ours have nothing else). So an empty file comes back as an empty file, and
 * what a cut left of ours is still known. Where XProf has no file it makes one on the first look
 * at its overview page.
 */
#ifndef TS_OVERLAY_SUGGESTIONS_H
#define TS_OVERLAY_SUGGESTIONS_H

#include "result/result.h"

#define TS_SUGGESTIONS_FILE "ALL_HOSTS.smart_suggestion.pb"

/*
 * Appends what the file is to hold: what stands in OLD (its content now) and is not ours, then the
 * findings of RESULTS (NULL: without findings, to take ours out). *EXISTS: whether the file is
 * there, then whether it is to be there. TS_FORMAT, and nothing is appended: OLD is not a file of
 * suggestions, or it is damaged and it is not known where ours begin.
 */
enum ts_status ts_suggestions_make(struct ts_buf *out, struct ts_bytes old, bool *exists,
				   const struct ts_results *results, struct ts_error *err);

/* True when any of the suggestions is ours, or what is left of one at the end. */
bool ts_suggestions_ours(struct ts_bytes file);

#endif
