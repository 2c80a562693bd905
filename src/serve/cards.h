/* SPDX-License-Identifier: MIT */
/*
 * The cards of runs, kept: by the run's id and the looks of its files, so that a card of other files is never given.
 *
 * A card comes from the report that TPUsight left beside the profiles, where that is of the profiles as they are
 * (ts_card_is_of()) and no older than they; else from a report that was made here. TS_CARDS_MAX are kept.
 * All may be called on any thread.
 */
#ifndef TS_SERVE_CARDS_H
#define TS_SERVE_CARDS_H

#include "io/rundir.h"
#include "serve/card.h"

#define TS_CARDS_MAX 8192 /* some 12 MB */

struct ts_cards;

struct ts_cards *ts_cards_new(void); /* NULL: no memory */
void ts_cards_free(struct ts_cards *cards);

/* KEY: of a run and its files. False: there is none. */
bool ts_cards_find(struct ts_cards *cards, uint64_t key, struct ts_card *card);
void ts_cards_keep(struct ts_cards *cards, uint64_t key, const struct ts_card *card);

/* The report beside the profiles of SESSION, by its path, if it has one of its own. False: no memory, or it has none. */
bool ts_cards_path(const struct ts_session *session, struct ts_buf *path);
/* The card that it gives. False: there is none, or it is not of these files. */
bool ts_cards_read(const struct ts_session *session, const char *path, struct ts_card *card);

#endif
