/* SPDX-License-Identifier: MIT */
/*
 * A line's events in order, from the store; an event's stats from the text, when asked for.
 */
#include <math.h>

#include "base/check.h"
#include <sys/mman.h>

#include "model/nest.h"
#include "read/chrome/chrome.h"

#define LOOK_BYTES 65536 /* what a look may bring into memory: the system maps neighbours too */
#define NESTED_ARGS 4	 /* objects in objects; deeper ones are text */
#define MAX_LOOKS  48	 /* at different places, before their pages go */

static const struct chrome_file *chrome_stream_file_of(const struct ts_profile *profile,
						       const struct ts_line *line)
{
	return profile->hosts[profile->planes[line->plane].host].reader_data;
}

/*
 * Look-ups go all over the text, and every page that was read would stay in memory: now and then
 * all are given back. The text belongs to a file and is never written, so that costs only the time
 * to map a page again.
 */
static void note_look(const struct chrome_file *shared, struct ts_bytes text, size_t at)
{
#ifdef MADV_DONTNEED
	struct chrome_file *file = (struct chrome_file *)(uintptr_t)shared;
	uint64_t page = at / LOOK_BYTES;

	if (atomic_exchange_explicit(&file->look_page, page, memory_order_relaxed) == page ||
	    atomic_fetch_add_explicit(&file->nr_looks, 1, memory_order_relaxed) % MAX_LOOKS <
		    MAX_LOOKS - 1)
		return;
	if (file->packed || file->seams.mapped)
		madvise((void *)(uintptr_t)text.p, text.n, MADV_DONTNEED);
#else
#endif
}

static bool chrome_stream_give_stat(struct ts_bytes token, struct ts_stat *stat)
{
	struct ts_bytes text = ts_jtok_text(token);
	struct ts_micros number;

	*stat = (struct ts_stat){ TS_STAT_TEXT, TS_UNKNOWN, NAN, text };
	if (ts_bytes_is(token, "null"))
		return false;
	if (ts_bytes_is(token, "true") || ts_bytes_is(token, "false")) {
		stat->type = TS_STAT_INT;
		stat->number = ts_bytes_is(token, "true");
		stat->real = (double)stat->number;
	} else if (token.n && token.p[0] != '"' && ts_bytes_i64(token, &stat->number)) {
		stat->type = TS_STAT_INT;
		stat->real = (double)stat->number;
	} else if (token.n && token.p[0] != '"' && ts_jtok_micros(token, &number)) {
		stat->type = TS_STAT_REAL;
		stat->real = (double)number.us + (double)number.ps * 1e-6;
		stat->number = number.us;
	}
	return true;
}

/* Args were kept as far as they are asked for of every kernel or operator. NULL: not all of NAMES. */
static const struct ts_bytes *kept_args(const struct chrome_file *file, struct ts_bytes body,
					const char *const *names, size_t nr)
{
	size_t kept = body.n & ((1u << CHROME_ARGS_BITS) - 1);

	if (kept == 0)
		return NULL;
	for (size_t i = 0; i < nr; i++)
		if (!ts_chrome_args_has(ts_bytes_of(names[i])))
			return NULL;
	return &file->args.items[kept];
}

/* The args as they stand in the text; empty when it is not available. */
static struct ts_bytes args_in_text(const struct chrome_file *file, struct ts_bytes body)
{
	struct ts_bytes text = ts_chrome_text(file);
	size_t from = (size_t)chrome_place_of(body);
	struct chrome_event event;
	const uint8_t *p;

	if (from >= text.n)
		return (struct ts_bytes){ NULL, 0 };
	note_look(file, text, from);
	p = text.p + from;
	if (ts_chrome_event_read(&p, text.p + text.n, &event) != CHROME_EVENT)
		return (struct ts_bytes){ NULL, 0 };
	return event.args;
}

/* The members of the event's args, at least those in NAMES. */
static struct ts_jtok args_of(const struct ts_block *block, size_t at, const char *const *names,
			      size_t nr)
{
	const struct chrome_file *file = chrome_stream_file_of(block->profile, block->line);
	const struct ts_bytes *kept = kept_args(file, block->body[at], names, nr);

	return ts_jtok_enter(kept ? *kept : args_in_text(file, block->body[at]));
}

static bool stands_in(struct ts_bytes text, struct ts_bytes token)
{
	return text.n > 0 && token.p >= text.p && token.p < text.p + text.n;
}

/* A text that outlives the file's: that of a rank of many goes when the host rests. */
static bool give_kept(const struct chrome_file *shared, struct ts_bytes token, struct ts_stat *stat)
{
	struct chrome_file *file = (struct chrome_file *)(uintptr_t)shared;

	if (!chrome_stream_give_stat(token, stat))
		return false;
	if (!file->is_lazy || stat->type != TS_STAT_TEXT || !stands_in(file->text, token))
		return true;
	stat->text = ts_chrome_text_keep(&file->texts, stat->text);
	return stat->text.p != NULL;
}

/* ts_stat_find: of the event's args. Texts and lists are as the file has them. */
static bool chrome_stream_find_stat(const struct ts_block *block, size_t at, const char *name,
				    struct ts_stat *stat)
{
	struct ts_jtok members = args_of(block, at, &name, 1);

	while (ts_jtok_member(&members))
		if (ts_bytes_is(members.key, name))
			return give_kept(chrome_stream_file_of(block->profile, block->line),
					 members.value, stat);
	return false;
}

/* ts_stats_find: of one name the first, as find_stat() has it. */
static size_t find_stats(const struct ts_block *block, size_t at, const char *const *names,
			 size_t nr, struct ts_stat *stats)
{
	struct ts_jtok members = args_of(block, at, names, nr);
	uint64_t seen = 0;
	size_t found = 0;

	while (ts_jtok_member(&members))
		for (size_t i = 0; i < nr; i++) {
			struct ts_stat stat;

			if (seen >> i & 1 || !ts_bytes_is(members.key, names[i]))
				continue;
			seen |= UINT64_C(1) << i;
			if (!give_kept(chrome_stream_file_of(block->profile, block->line),
				       members.value, &stat))
				break;
			stats[i] = stat;
			found++;
			break;
		}
	return found;
}

/* All of an event's args for one visitor. */
struct each {
	struct chrome_texts *texts;
	ts_stat_visit *visit;
	void *ctx;
	struct ts_arena arena; /* for as long as the call lasts */
};

static bool has_escapes(struct ts_bytes text)
{
	return text.n > 0 && memchr(text.p, '\\', text.n);
}

static struct ts_bytes chrome_stream_plain(struct each *each, struct ts_bytes text)
{
	struct ts_bytes kept = { NULL, 0 };

	if (!has_escapes(text))
		return text;
	kept = ts_jtok_unescape(&each->arena, text);
	kept = kept.p ? ts_chrome_text_keep(each->texts, kept) : kept;
	return kept.p ? kept : text;
}

/* "outer.inner"; empty: no room. */
static struct ts_bytes chrome_stream_name_in(struct each *each, struct ts_bytes outer,
					     struct ts_bytes name)
{
	if (outer.n == 0)
		return name;
	name = ts_arena_printf(&each->arena, "%.*s.%.*s", TS_ARG(outer), TS_ARG(name));
	return name.p ? ts_chrome_text_keep(each->texts, name) : name;
}

static void visit_members(struct each *each, struct ts_bytes outer, struct ts_bytes object,
			  unsigned depth)
{
	struct ts_jtok members = ts_jtok_enter(object);

	while (ts_jtok_member(&members)) {
		struct ts_bytes name =
			chrome_stream_name_in(each, outer, chrome_stream_plain(each, members.key));
		struct ts_stat stat;

		if (name.n == 0)
			continue;
		if (ts_bytes_starts(members.value, "{") && depth < NESTED_ARGS) {
			visit_members(each, name, members.value, depth + 1);
		} else if (chrome_stream_give_stat(members.value, &stat)) {
			if (stat.type == TS_STAT_TEXT && ts_bytes_starts(members.value, "\""))
				stat.text = chrome_stream_plain(each, stat.text);
			if (stat.type == TS_STAT_REAL)
				(void)ts_jtok_real(members.value, &stat.real);
			each->visit(each->ctx, name, &stat);
		}
	}
}

/* ts_stats_each: of a packed file that had no room on the disk, what was kept. */
static void chrome_stream_each_stat(const struct ts_profile *profile, const struct ts_line *line,
				    struct ts_bytes body, ts_stat_visit *visit, void *ctx)
{
	struct chrome_file *file =
		(struct chrome_file *)(uintptr_t)chrome_stream_file_of(profile, line);
	const struct ts_bytes *kept = kept_args(file, body, NULL, 0);
	struct ts_bytes args = args_in_text(file, body);
	struct each each = { &file->texts, visit, ctx, TS_ARENA_INIT };

	if (args.n == 0 && kept)
		args = *kept;
	visit_members(&each, (struct ts_bytes){ NULL, 0 }, args, 0);
	ts_arena_release(&each.arena);
}

static struct ts_event chrome_stream_event_of(const struct chrome_file *file,
					      const struct ts_line *line,
					      const struct chrome_record *record)
{
	const struct chrome_op *op = &file->names.ops[record->op];
	int64_t start_ps = ts_i64_add(ts_i64_sub(record->start_ps, file->min_ps), line->start_ps);
	int64_t end_ps = ts_time_bound(ts_i64_add(start_ps, record->dur_ps));

	start_ps = ts_time_bound(start_ps);
	return (struct ts_event){
		.op = op->profile_op,
		.start_ps = start_ps,
		.dur_ps = end_ps - start_ps,
		.device_start_ps = start_ps,
		.total_ps = end_ps - start_ps,
		.flops = TS_UNKNOWN,
		.bytes = TS_UNKNOWN,
		.occurrences = 1,
		.number = op->number,
		.link = record->link,
		.body = (struct ts_bytes){ NULL,
					   (size_t)record->at << CHROME_ARGS_BITS | record->args },
	};
}

uint64_t ts_chrome_place(const struct ts_profile *profile, const struct ts_line *line,
			 struct ts_bytes body)
{
	return chrome_place_of(body);
}

enum ts_status ts_chrome_stream(const struct ts_profile *profile, uint32_t index, bool sort,
				const struct ts_sink *sink, struct ts_error *err)
{
	const struct ts_line *line = &profile->lines[index];
	const struct chrome_file *file = chrome_stream_file_of(profile, line);
	struct ts_nest *nest = ts_nest_new(profile, index, sink);
	struct ts_sort_cursor *cursor = NULL;
	const struct chrome_record *record;
	enum ts_status st;

	TS_ASSERT(profile && sink);
	if (!nest)
		return ts_fail_nomem(err);
	ts_nest_stats(nest, chrome_stream_find_stat, find_stats, chrome_stream_each_stat);
	st = ts_sort_cursor_open(
		&file->store, file->line_tracks[line->at_reader - file->first_line], &cursor, err);
	while (st == TS_OK && (record = ts_sort_cursor_next(cursor, &st, err))) {
		struct ts_event event = chrome_stream_event_of(file, line, record);

		st = ts_nest_push(nest, &event, err);
	}
	if (st == TS_OK)
		st = ts_nest_finish(nest, err);
	ts_sort_cursor_free(cursor);
	ts_nest_free(nest);
	return st;
}
