/* SPDX-License-Identifier: MIT */
/* Cards in memory, and those that reports in a run's folder give. */
#include "serve/cards.h"

#include <pthread.h>
#include <sys/stat.h>

#include "base/check.h"
#include "base/map.h"
#include "io/input.h"
#include "overlay/apply.h"
#include "io/input.h"
#include "io/look.h"
#include "io/tracefile.h"

struct ts_cards {
	pthread_mutex_t lock;
	struct ts_map places; /* key -> index */
	struct ts_card *items;
	size_t nr, cap;
};

struct ts_cards *ts_cards_new(void)
{
	struct ts_cards *cards = calloc(1, sizeof(*cards));

	if (cards && pthread_mutex_init(&cards->lock, NULL) != 0) {
		free(cards);
		return NULL;
	}
	return cards;
}

void ts_cards_free(struct ts_cards *cards)
{
	if (!cards)
		return;
	ts_map_release(&cards->places);
	free(cards->items);
	pthread_mutex_destroy(&cards->lock);
	free(cards);
}

bool ts_cards_find(struct ts_cards *cards, uint64_t key, struct ts_card *card)
{
	uint32_t at;

	TS_ASSERT(cards && card);
	pthread_mutex_lock(&cards->lock);
	at = ts_map_find(&cards->places, key);
	if (at != TS_NONE)
		*card = cards->items[at];
	pthread_mutex_unlock(&cards->lock);
	return at != TS_NONE;
}

void ts_cards_keep(struct ts_cards *cards, uint64_t key, const struct ts_card *card)
{
	uint32_t at;

	TS_ASSERT(cards && card);
	pthread_mutex_lock(&cards->lock);
	if (cards->nr >= TS_CARDS_MAX) { /* those of runs that are still there come again */
		ts_map_release(&cards->places);
		cards->nr = 0;
	}
	at = ts_map_find(&cards->places, key);
	if (at != TS_NONE)
		cards->items[at] = *card;
	else if (ts_grow(&cards->items, &cards->cap, cards->nr + 1, sizeof(*cards->items)) &&
		 ts_map_set(&cards->places, key, (uint32_t)cards->nr))
		cards->items[cards->nr++] = *card;
	pthread_mutex_unlock(&cards->lock);
}

/* --- reports beside profiles */

bool ts_cards_path(const struct ts_session *session, struct ts_buf *path)
{
	struct ts_bytes stem;

	TS_ASSERT(session && path && session->nr_files > 0);
	ts_buf_clear(path);
	if (session->kind != TS_SESSION_DIR || session->members)
		return false;
	if (session->owns_folder) {
		ts_buf_printf(path, "%s/" TS_REPORT_FILE, session->dir);
	} else {
		stem = ts_tracefile_stem(ts_bytes_of(session->files[0].name));
		ts_buf_printf(path, "%s/%.*s" TS_ANNOTATED_REPORT_SUFFIX, session->dir,
			      TS_ARG(stem));
	}
	ts_buf_putc(path, '\0');
	return !path->failed;
}

static bool cards_is_of(const struct ts_session *session, const struct ts_input *report)
{
	for (size_t i = 0; i < session->nr_files; i++) {
		const struct ts_hostfile *file = &session->files[i];
		struct stat st;
		int64_t ns;

		if (stat(file->path, &st) != 0)
			return false;
		ns = ts_stat_mtime_ns(&st);
		if (ns > report->mtime_ns ||
		    !ts_card_is_of(report->bytes, ts_bytes_of(file->name), (uint64_t)st.st_size))
			return false;
	}
	return true;
}

bool ts_cards_read(const struct ts_session *session, const char *path, struct ts_card *card)
{
	bool is_made = session->kind == TS_SESSION_REPORT;
	struct ts_input report = TS_INPUT_INIT;
	bool good = ts_input_open_plain(&report, path, NULL) == TS_OK && report.mapped;

	TS_ASSERT(session && path && card);
	good = good && (is_made || cards_is_of(session, &report)) &&
	       ts_card_read(card, report.bytes) && ts_input_check(&report, NULL) == TS_OK;
	ts_input_release(&report);
	return good;
}
