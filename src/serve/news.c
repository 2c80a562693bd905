/* SPDX-License-Identifier: MIT */
/* The events are one array, the oldest first, under one lock. A reader is the id that it wants
 * next. */
#include "serve/news.h"

#include <inttypes.h>
#include <pthread.h>

#include "base/arena.h"
#include "base/check.h"
#include "base/clock.h"

#define RETRY "retry: 1000\n\n" /* ms until a browser that was cut off connects again */
#define QUIET ":\n\n"		/* a comment */

struct event {
	uint64_t id;
	size_t kind, n;
	char text[]; /* as it is sent, without a NUL */
};

struct ts_news {
	struct ts_news_options options;
	pthread_mutex_t lock;
	pthread_cond_t added; /* something new, or the end */
	pthread_cond_t left;  /* a reader is gone */
	struct event **events;
	size_t nr, cap, nr_bytes;
	uint64_t next_id, lost_id; /* the id of the next event; the highest id that was dropped */
	size_t nr_readers;
	bool is_closed;
};

struct reader {
	struct ts_news *news;
	uint64_t next_id; /* it gets this event, or the first one behind it */
	/* the last id when it came: to drop events up to it does not harm the reader */
	uint64_t floor;
	/* bytes of the event that it has already; where it is > 0, next_id is that event's id */
	size_t at;
	const char *note; /* what is sent before the next event: the rest of RETRY or QUIET */
};

struct ts_news *ts_news_new(const struct ts_news_options *options)
{
	TS_ASSERT(options != NULL && options->kinds != NULL);
	TS_ASSERT(options->nr_kinds > 0 && options->max_readers > 0);
	TS_ASSERT(options->max_bytes > 0 && options->quiet_ms > 0);

	struct ts_news *news = calloc(1, sizeof(*news));

	if (!news)
		return NULL;
	news->options = *options;
	news->next_id = (uint64_t)ts_unix_us();
	if (pthread_mutex_init(&news->lock, NULL) != 0)
		goto no_lock;
	if (pthread_cond_init(&news->added, NULL) != 0)
		goto no_added;
	if (pthread_cond_init(&news->left, NULL) != 0)
		goto no_left;
	return news;
no_left:
	pthread_cond_destroy(&news->added);
no_added:
	pthread_mutex_destroy(&news->lock);
no_lock:
	free(news);
	return NULL;
}

void ts_news_free(struct ts_news *news)
{
	if (!news)
		return;
	for (size_t i = 0; i < news->nr; i++)
		free(news->events[i]);
	free(news->events);
	pthread_cond_destroy(&news->left);
	pthread_cond_destroy(&news->added);
	pthread_mutex_destroy(&news->lock);
	free(news);
}

static struct event *event_new(uint64_t id, const struct ts_news_kind *kind, size_t kind_index,
			       struct ts_bytes text)
{
	struct ts_buf line = TS_BUF_INIT;
	struct event *event = NULL;

	TS_ASSERT(kind->name != NULL);
	ts_buf_printf(&line, "id: %" PRIu64 "\nevent: %s\ndata: ", id, kind->name);
	ts_buf_put(&line, text);
	ts_buf_puts(&line, "\n\n");
	if (!line.failed)
		event = malloc(sizeof(*event) + line.n);
	if (event) {
		event->id = id;
		event->kind = kind_index;
		event->n = line.n;
		memcpy(event->text, line.p, line.n);
	}
	ts_buf_release(&line);
	return event;
}

static void drop_event(struct ts_news *news, size_t i)
{
	TS_ASSERT(i < news->nr && news->nr_bytes >= news->events[i]->n);

	struct event *event = news->events[i];

	news->lost_id = TS_MAX(news->lost_id, event->id);
	news->nr_bytes -= event->n;
	news->nr--;
	memmove(&news->events[i], &news->events[i + 1], (news->nr - i) * sizeof(*news->events));
	free(event);
}

/* Drops the oldest event of KIND when there are enough of it, then the oldest ones of all while
 * there is no room for N bytes. */
static void news_make_room(struct ts_news *news, size_t kind, size_t n)
{
	size_t of_kind = 0, oldest = 0;

	for (size_t i = news->nr; i-- > 0;)
		if (news->events[i]->kind == kind) {
			of_kind++;
			oldest = i;
		}
	if (of_kind > 0 && of_kind >= news->options.kinds[kind].keep)
		drop_event(news, oldest);
	while (news->nr > 0 && news->nr_bytes + n > news->options.max_bytes)
		drop_event(news, 0);
}

enum ts_status ts_news_add(struct ts_news *news, size_t kind, struct ts_bytes text,
			   struct ts_error *err)
{
	struct event *event;
	enum ts_status st = TS_OK;

	TS_ASSERT(news != NULL && kind < news->options.nr_kinds);
	TS_ASSERT(text.n == 0 || !memchr(text.p, '\n', text.n));
	pthread_mutex_lock(&news->lock);
	event = event_new(news->next_id, &news->options.kinds[kind], kind, text);
	if (event && event->n > news->options.max_bytes)
		st = ts_fail(err, TS_LIMIT, "an event of %zu bytes: %zu are kept of all", event->n,
			     news->options.max_bytes);
	else if (event)
		news_make_room(news, kind, event->n);
	if (!event || (st == TS_OK &&
		       !ts_grow(&news->events, &news->cap, news->nr + 1, sizeof(*news->events))))
		st = ts_fail_nomem(err);
	if (st == TS_OK) {
		news->events[news->nr++] = event;
		news->nr_bytes += event->n;
		news->next_id++;
		pthread_cond_broadcast(&news->added);
	} else {
		free(event);
	}
	pthread_mutex_unlock(&news->lock);
	return st;
}

void ts_news_close(struct ts_news *news, int64_t patience_ms)
{
	TS_ASSERT(news != NULL && patience_ms >= 0);

	int64_t until_ms = ts_now_ms() + patience_ms;

	pthread_mutex_lock(&news->lock);
	news->is_closed = true;
	pthread_cond_broadcast(&news->added);
	while (news->nr_readers > 0 && ts_now_ms() < until_ms)
		ts_doze(&news->left, &news->lock, until_ms);
	pthread_mutex_unlock(&news->lock);
}

/* To be called with the lock held, as the next functions. The first event that the reader does
 * not have yet; NULL: there is none. */
static const struct event *find_next(const struct reader *reader)
{
	const struct ts_news *news = reader->news;
	size_t low = 0, high = news->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (news->events[middle]->id < reader->next_id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < news->nr ? news->events[low] : NULL;
}

/* Would the reader miss an event, or the rest of one that it has begun to read? */
static bool news_is_behind(const struct reader *reader)
{
	const struct ts_news *news = reader->news;
	const struct event *next = reader->at > 0 ? find_next(reader) : NULL;

	if (reader->at > 0 && (!next || next->id != reader->next_id))
		return true;
	return news->lost_id >= reader->next_id && news->lost_id > reader->floor;
}

/* Copies as much as there is, or as there is room for. */
static size_t copy_events(struct reader *reader, char *out, size_t cap)
{
	size_t n = TS_MIN(strlen(reader->note), cap);

	memcpy(out, reader->note, n);
	reader->note += n;
	while (n < cap) {
		const struct event *event = find_next(reader);
		size_t piece;

		if (!event)
			break;
		piece = TS_MIN(event->n - reader->at, cap - n);
		memcpy(out + n, event->text + reader->at, piece);
		n += piece;
		reader->at += piece;
		reader->next_id = event->id;
		if (reader->at < event->n)
			break;
		reader->next_id++;
		reader->at = 0;
	}
	return n;
}

/* The read function of a ts_source. */
static enum ts_source_state read_news(void *ctx, char *out, size_t cap, size_t *n)
{
	TS_ASSERT(ctx != NULL && out != NULL && cap > 0);
	TS_ASSERT(n != NULL);

	struct reader *reader = ctx;
	struct ts_news *news = reader->news;
	int64_t until_ms = ts_now_ms() + news->options.quiet_ms;
	enum ts_source_state state = TS_SOURCE_MORE;

	*n = 0;
	pthread_mutex_lock(&news->lock);
	while (!news_is_behind(reader) && !*reader->note && !find_next(reader) &&
	       !news->is_closed) {
		if (ts_now_ms() >= until_ms)
			reader->note = QUIET;
		else
			ts_doze(&news->added, &news->lock, until_ms);
	}
	if (news_is_behind(reader))
		state = TS_SOURCE_BROKEN;
	else
		*n = copy_events(reader, out, cap);
	if (state == TS_SOURCE_MORE && *n == 0)
		state = TS_SOURCE_END;
	pthread_mutex_unlock(&news->lock);
	return state;
}

static void drop_reader(void *ctx)
{
	struct reader *reader = ctx;
	struct ts_news *news = reader->news;

	pthread_mutex_lock(&news->lock);
	news->nr_readers--;
	pthread_cond_broadcast(&news->left);
	pthread_mutex_unlock(&news->lock);
	free(reader);
}

/* The id of the last event that the client got before. 0: it sent none, or one that is not ours
 * (also when the clock was set back). */
static uint64_t last_of(const struct ts_news *news, const struct ts_request *request)
{
	const char *text = request->header(request, "Last-Event-ID");
	uint64_t id;

	if (!text)
		text = request->argument(request, "after");
	if (!text || !ts_bytes_u64(ts_bytes_of(text), &id) || id >= news->next_id)
		return 0;
	return id;
}

struct ts_answer ts_news_answer(struct ts_news *news, const struct ts_request *request)
{
	TS_ASSERT(news != NULL && request != NULL);
	TS_ASSERT(request->header != NULL && request->argument != NULL);

	struct reader *reader = calloc(1, sizeof(*reader));
	bool is_full;

	if (!reader)
		return (struct ts_answer){ .body = NULL };
	pthread_mutex_lock(&news->lock);
	is_full = news->nr_readers >= news->options.max_readers;
	news->nr_readers += !is_full;
	*reader = (struct reader){ .news = news,
				   .next_id = last_of(news, request) + 1,
				   .floor = news->next_id - 1,
				   .note = RETRY };
	pthread_mutex_unlock(&news->lock);
	if (is_full) {
		free(reader);
		return ts_answer_error(503, "%zu pages are connected already (close one)",
				       news->options.max_readers);
	}
	return (struct ts_answer){ .status = 200,
				   .type = "text/event-stream",
				   .source = { read_news, drop_reader, reader } };
}
