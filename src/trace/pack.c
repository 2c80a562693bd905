/* SPDX-License-Identifier: MIT */
/* Threads that make rows and pack pieces; the file, and a spill file for what comes before its turn. */
#include "trace/pack.h"

#include "base/check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/work.h"
#include "io/gzip.h"
#include "io/scratch.h"
#include "io/sys.h"

#define MAX_QUEUE 8

struct part {
	uint64_t offset, length;
	bool is_there; /* in the spill file */
};

struct parts {
	struct part *items;
	size_t nr, cap;
	size_t nr_put; /* in the file, or on their way into it */
	bool is_made;  /* there will be no more */
};

struct piece {
	struct ts_buf text;
	size_t row, number;
};

struct packer { /* one a thread */
	struct ts_gzip gzip;
	struct ts_buf packed;
};

struct ts_trace_pack {
	struct parts *rows;
	size_t nr_rows, nr_threads;
	struct packer *packers;
	bool plain;
	const struct ts_newfile *target;
	ts_trace_make_fn *fn;
	void *ctx;
	pthread_mutex_t lock; /* guards rows' parts and all below */
	pthread_cond_t changed;
	size_t next, nr_active, nr_idle;
	struct piece queue[MAX_QUEUE];
	size_t nr_queued;
	int spill_fd; /* -1: nothing was spilled */
	uint64_t spill_end;
	struct ts_newfile *file; /* that rows go to, in their order; NULL: all are spilled */
	size_t front;		 /* the rows before it are whole in the file */
	bool is_putting;	 /* a thread writes to the file */
	enum ts_status status;
};

/*
 * A file without a name, beside the target: there must be room for the packed trace anyway. Where
 * the file system makes none, it lies with the other temporary files.
 */
static enum ts_status open_spill(int *fd, const struct ts_newfile *file, struct ts_error *err)
{
	struct ts_scratch scratch;
	enum ts_status st;

	*fd = -1;
#ifdef O_TMPFILE
	if (file->dir_fd >= 0 && file->temp)
		*fd = ts_sys_make(file->dir_fd, ".", O_TMPFILE | O_RDWR, 0600);
	if (*fd >= 0)
		return TS_OK;
	if (file->temp && (errno == ENOSPC || errno == EDQUOT))
		return ts_fail_errno(err, errno, file->path, "make a temporary file beside it");
#endif
	st = ts_scratch_open(&scratch, err);
	*fd = scratch.fd; /* it is all that a scratch holds before it is written */
	return st;
}

static enum ts_status init_packers(struct ts_trace_pack *pack, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < pack->nr_threads && st == TS_OK && !pack->plain; i++)
		st = ts_gzip_init(&pack->packers[i].gzip, err);
	return st;
}

enum ts_status ts_trace_pack_new(struct ts_trace_pack **out, const struct ts_newfile *file,
				 size_t nr_rows, size_t nr_threads, bool is_plain,
				 struct ts_error *err)
{
	struct ts_trace_pack *pack = calloc(1, sizeof(*pack));

	TS_ASSERT(out && file);
	*out = NULL;
	if (!pack)
		return ts_fail_nomem(err);
	if (pthread_mutex_init(&pack->lock, NULL) != 0) {
		free(pack);
		return ts_fail_nomem(err);
	}
	if (pthread_cond_init(&pack->changed, NULL) != 0) {
		pthread_mutex_destroy(&pack->lock);
		free(pack);
		return ts_fail_nomem(err);
	}
	*out = pack;
	pack->target = file;
	pack->spill_fd = -1;
	pack->nr_rows = nr_rows;
	pack->plain = is_plain;
	pack->nr_threads = TS_MAX(nr_threads, 1);
	pack->rows = calloc(nr_rows + 1, sizeof(*pack->rows));
	pack->packers = calloc(pack->nr_threads, sizeof(*pack->packers));
	if (!pack->rows || !pack->packers)
		return ts_fail_nomem(err);
	return init_packers(pack, err);
}

void ts_trace_pack_free(struct ts_trace_pack *pack)
{
	if (!pack)
		return;
	for (size_t i = 0; pack->rows && i < pack->nr_rows; i++)
		free(pack->rows[i].items);
	for (size_t i = 0; pack->packers && i < pack->nr_threads; i++) {
		ts_gzip_release(&pack->packers[i].gzip);
		ts_buf_release(&pack->packers[i].packed);
	}
	while (pack->nr_queued > 0)
		ts_buf_release(&pack->queue[--pack->nr_queued].text);
	if (pack->spill_fd >= 0)
		close(pack->spill_fd);
	pthread_cond_destroy(&pack->changed);
	pthread_mutex_destroy(&pack->lock);
	free(pack->rows);
	free(pack->packers);
	free(pack);
}

static enum ts_status pack_spill(const struct ts_trace_pack *pack, struct ts_bytes bytes,
				 uint64_t offset, struct ts_error *err)
{
	while (bytes.n > 0) {
		ssize_t n = pwrite(pack->spill_fd, bytes.p, bytes.n, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return ts_fail_errno(err, n < 0 ? errno : ENOSPC, "temporary file",
					     "write it");
		bytes = ts_bytes_cut(bytes, (size_t)n, bytes.n);
		offset += (uint64_t)n;
	}
	return TS_OK;
}

/* TEXT becomes the bytes to be written: valid until the thread packs again. */
static enum ts_status pack_text(struct ts_trace_pack *pack, size_t thread, struct ts_bytes *text,
				struct ts_error *err)
{
	struct packer *packer = &pack->packers[thread];
	enum ts_status st;

	if (pack->plain)
		return TS_OK;
	ts_buf_clear(&packer->packed);
	st = ts_gzip_member(&packer->gzip, &packer->packed, *text, NULL, err);
	*text = ts_buf_bytes(&packer->packed);
	return st;
}

/* The next LENGTH bytes of the spill file, which is made when the first are wanted. */
static enum ts_status reserve(struct ts_trace_pack *pack, uint64_t length, uint64_t *offset,
			      struct ts_error *err)
{
	enum ts_status st = TS_OK;

	pthread_mutex_lock(&pack->lock);
	if (pack->spill_fd < 0)
		st = open_spill(&pack->spill_fd, pack->target, err);
	*offset = pack->spill_end;
	pack->spill_end += length;
	pthread_mutex_unlock(&pack->lock);
	return st;
}

static enum ts_status spill_piece(struct ts_trace_pack *pack, const struct piece *piece,
				  struct ts_bytes packed, struct ts_error *err)
{
	struct part part = { .length = packed.n, .is_there = true };
	enum ts_status st = reserve(pack, packed.n, &part.offset, err);

	if (st == TS_OK)
		st = pack_spill(pack, packed, part.offset, err);
	if (st)
		return st;
	pthread_mutex_lock(&pack->lock);
	pack->rows[piece->row].items[piece->number] = part;
	pthread_mutex_unlock(&pack->lock);
	return TS_OK;
}

/* Is it the next of the file, and nobody is writing? Then the caller is, until it has put it there. */
static bool takes_turn(struct ts_trace_pack *pack, const struct piece *piece)
{
	bool takes;

	pthread_mutex_lock(&pack->lock);
	takes = pack->file && !pack->is_putting && piece->row == pack->front &&
		piece->number == pack->rows[piece->row].nr_put;
	if (takes) {
		pack->rows[piece->row].nr_put++;
		pack->is_putting = true;
	}
	pthread_mutex_unlock(&pack->lock);
	return takes;
}

/* What the file needs next, as far as it lies in the spill file in one piece. Called with the lock held. */
static bool next_run(struct ts_trace_pack *pack, struct part *run)
{
	struct parts *row = &pack->rows[pack->front];

	for (; pack->front < pack->nr_rows && row->is_made && row->nr_put == row->nr; row++)
		pack->front++;
	if (pack->front == pack->nr_rows || row->nr_put == row->nr ||
	    !row->items[row->nr_put].is_there)
		return false;
	*run = row->items[row->nr_put++];
	for (; row->nr_put < row->nr; row->nr_put++) {
		const struct part *part = &row->items[row->nr_put];

		if (!part->is_there || part->offset != run->offset + run->length)
			break;
		run->length += part->length;
	}
	return true;
}

/* What was spilled and has its turn now; a thread that writes already does it when it is done. */
static enum ts_status put_spilled(struct ts_trace_pack *pack, struct ts_error *err)
{
	enum ts_status st = TS_OK;
	struct part run;

	pthread_mutex_lock(&pack->lock);
	while (st == TS_OK && pack->file && !pack->is_putting && next_run(pack, &run)) {
		pack->is_putting = true;
		pthread_mutex_unlock(&pack->lock);
		st = ts_newfile_copy(pack->file, pack->spill_fd, run.offset, run.length, err);
		pthread_mutex_lock(&pack->lock);
		pack->is_putting = false;
	}
	pthread_mutex_unlock(&pack->lock);
	return st;
}

static enum ts_status put_straight(struct ts_trace_pack *pack, struct ts_bytes packed,
				   struct ts_error *err)
{
	enum ts_status st = ts_newfile_put(pack->file, packed, err);

	pthread_mutex_lock(&pack->lock);
	pack->is_putting = false;
	pthread_mutex_unlock(&pack->lock);
	return st;
}

/* It goes to the file when it is its turn. */
static enum ts_status store_packed(struct ts_trace_pack *pack, const struct piece *piece,
				   struct ts_bytes packed, struct ts_error *err)
{
	enum ts_status st = takes_turn(pack, piece) ? put_straight(pack, packed, err)
						    : spill_piece(pack, piece, packed, err);

	return st ? st : put_spilled(pack, err);
}

static enum ts_status pack_store(struct ts_trace_pack *pack, size_t thread,
				 const struct piece *piece, struct ts_error *err)
{
	struct ts_bytes packed = ts_buf_bytes(&piece->text);
	enum ts_status st = pack_text(pack, thread, &packed, err);

	return st ? st : store_packed(pack, piece, packed, err);
}

/* Gives the piece to a thread that waits for work, if there is one. Called with the lock held. */
static bool give_away(struct ts_trace_pack *pack, struct piece *piece)
{
	if (pack->nr_idle <= pack->nr_queued || pack->nr_queued == MAX_QUEUE)
		return false;
	pack->queue[pack->nr_queued++] = *piece;
	piece->text = (struct ts_buf)TS_BUF_INIT;
	pthread_cond_signal(&pack->changed);
	return true;
}

/* The next number of the piece's row. Called with the lock held. */
static enum ts_status number_piece(struct ts_trace_pack *pack, struct piece *piece,
				   struct ts_error *err)
{
	struct parts *parts = &pack->rows[piece->row];

	if (pack->status) /* another thread failed: stop */
		return pack->status;
	if (!ts_grow(&parts->items, &parts->cap, parts->nr + 1, sizeof(struct part)))
		return ts_fail_nomem(err);
	piece->number = parts->nr++;
	return TS_OK;
}

enum ts_status ts_trace_pack_piece(struct ts_trace_pack *pack, size_t row, size_t thread,
				   struct ts_buf *text, struct ts_error *err)
{
	struct piece piece = { *text, row, 0 };
	enum ts_status st;
	bool given = false;

	TS_ASSERT(pack && text);
	pthread_mutex_lock(&pack->lock);
	st = number_piece(pack, &piece, err);
	if (st == TS_OK)
		given = give_away(pack, &piece);
	pthread_mutex_unlock(&pack->lock);
	if (st == TS_OK && !given)
		st = pack_store(pack, thread, &piece, err);
	*text = piece.text;
	ts_buf_clear(text);
	return st;
}

enum ts_status ts_trace_pack_ready(struct ts_trace_pack *pack, size_t row, struct ts_bytes packed,
				   struct ts_error *err)
{
	struct piece piece = { .row = row };
	enum ts_status st;

	TS_ASSERT(pack && row < pack->nr_rows);
	if (packed.n == 0)
		return TS_OK;
	pthread_mutex_lock(&pack->lock);
	st = number_piece(pack, &piece, err);
	pthread_mutex_unlock(&pack->lock);
	return st ? st : store_packed(pack, &piece, packed, err);
}

/* The two kinds of work, without the lock. */
static enum ts_status pack_make_row(struct ts_trace_pack *pack, size_t row, size_t thread,
				    struct ts_error *err)
{
	enum ts_status st = pack->fn(pack->ctx, row, thread, pack, err);

	if (st)
		return st;
	pthread_mutex_lock(&pack->lock);
	pack->rows[row].is_made = true;
	pthread_mutex_unlock(&pack->lock);
	return put_spilled(pack, err);
}

/* Does one piece of work, with the lock held on entry and return. False: all work is done. */
static bool work_once(struct ts_trace_pack *pack, size_t thread, struct ts_error *err)
{
	struct piece piece;
	enum ts_status st;
	size_t row;

	if (pack->status != TS_OK)
		return false;
	if (pack->nr_queued > 0) {
		piece = pack->queue[--pack->nr_queued];
		pthread_mutex_unlock(&pack->lock);
		st = pack_store(pack, thread, &piece, err);
		ts_buf_release(&piece.text);
		pthread_mutex_lock(&pack->lock);
	} else if (pack->next < pack->nr_rows) {
		row = pack->next++;
		pack->nr_active++;
		pthread_mutex_unlock(&pack->lock);
		st = pack_make_row(pack, row, thread, err);
		pthread_mutex_lock(&pack->lock);
		pack->nr_active--;
		pthread_cond_broadcast(&pack->changed);
	} else if (pack->nr_active > 0) {
		pack->nr_idle++;
		pthread_cond_wait(&pack->changed, &pack->lock);
		pack->nr_idle--;
		return true;
	} else {
		return false;
	}
	if (st) {
		pack->status = pack->status ? pack->status : st;
		pthread_cond_broadcast(&pack->changed);
	}
	return st == TS_OK;
}

static enum ts_status pack_work(void *ctx, size_t job, size_t thread, struct ts_error *err)
{
	struct ts_trace_pack *pack = ctx;
	struct ts_error mine = TS_ERROR_INIT;
	enum ts_status st;

	pthread_mutex_lock(&pack->lock);
	while (work_once(pack, thread, &mine))
		;
	st = mine.status;
	pthread_mutex_unlock(&pack->lock);
	if (st && err)
		*err = mine;
	return st;
}

/* Each job is a thread's whole life, so one thread alone does it all in the first. */
enum ts_status ts_trace_pack_run(struct ts_trace_pack *pack, ts_trace_make_fn *fn, void *ctx,
				 struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(pack && fn);
	pack->fn = fn;
	pack->ctx = ctx;
	pack->next = 0;
	st = ts_work_run(pack->nr_threads, pack->nr_threads, pack_work, pack, err);
	return st ? st : pack->status;
}

static enum ts_status pack_put_member(struct ts_trace_pack *pack, struct ts_newfile *file,
				      struct ts_bytes text, struct ts_error *err)
{
	enum ts_status st;

	if (text.n == 0) /* some forms have no tail */
		return TS_OK;
	st = pack_text(pack, 0, &text, err);
	return st ? st : ts_newfile_put(file, text, err);
}

enum ts_status ts_trace_pack_begin(struct ts_trace_pack *pack, struct ts_newfile *file,
				   struct ts_bytes head, struct ts_error *err)
{
	TS_ASSERT(pack && file);
	TS_ASSERT(head.p || head.n == 0);
	pack->file = file;
	return pack_put_member(pack, file, head, err);
}

enum ts_status ts_trace_pack_end(struct ts_trace_pack *pack, struct ts_bytes tail,
				 struct ts_error *err)
{
	enum ts_status st = put_spilled(pack, err);

	TS_ASSERT(pack && pack->file);
	TS_ASSERT(tail.p || tail.n == 0);
	TS_ASSERT(st || pack->front == pack->nr_rows);
	return st ? st : pack_put_member(pack, pack->file, tail, err);
}
