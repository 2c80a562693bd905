/*
 * ALL_HOSTS.smart_suggestion.pb: what XProf shows under "Recommendations" on its overview page.
 *
 * The file is XProf's cache of its own suggestions (SmartSuggestionReport, proto/suggestion.proto):
 * it is read back as it is, so the doctor's findings can stand in it. XProf's come first and are
 * kept byte for byte, ours follow and are known by their rule names, which begin with
 * "TPUsight/". Where XProf has no file it makes one on the first look at its overview page.
 */
#ifndef TS_OVERLAY_SUGGESTIONS_H
#define TS_OVERLAY_SUGGESTIONS_H

#include "result/result.h"

#define TS_SUGGESTIONS_FILE "ALL_HOSTS.smart_suggestion.pb"

/*
 * Appends what the file is to hold: XProf's suggestions in OLD (its content now; empty when the
 * file is missing), then the findings of RESULTS (NULL: without findings, to take ours out). When
 * nothing is appended, the file is to be removed. An OLD that is damaged is a broken cache, from
 * which nothing is kept.
 */
enum ts_status ts_suggestions_make(struct ts_buf *out, struct ts_bytes old,
				   const struct ts_results *results, struct ts_error *err);

/* True when any of the suggestions is ours. */
bool ts_suggestions_ours(struct ts_bytes file);

#endif
