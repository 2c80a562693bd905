/* SPDX-License-Identifier: MIT */
/*
 * Marks, packed: of each the differences of its start to the end before it, of its end to its start, and of its number
 * and op to those before, as varints. A GPU's executions are read off its kernels: one begins where another program's
 * kernel stands, or where the kernel that began it comes again; so the last mark may still grow and stays as it is.
 */
#include "run/outline_marks.h"

#include "base/check.h"
#include "codec/pb.h"
#include "codec/pbw.h"
#include "model/nest.h"
#include "base/order.h"

/*
 * A stream with more changes of program than this does not run executions one after the other: its
 * programs take turns, and steps cannot be read off that.
 */
#define MAX_GPU_EXECUTIONS 1000000

#define MAX_RANGES 262144 /* of a thread: those behind them mark nothing */

#define NR_PARTS 4

static uint64_t outline_marks_zigzag(uint64_t difference)
{
	return difference << 1 ^ (uint64_t)-(int64_t)(difference >> 63);
}

static uint64_t outline_marks_unzigzag(uint64_t value)
{
	return value >> 1 ^ (uint64_t)-(int64_t)(value & 1);
}

static enum ts_status outline_marks_pack(struct ts_buf *out, const struct outline_mark *before,
					 const struct outline_mark *mark, struct ts_error *err)
{
	uint8_t *p;

	if (!ts_buf_room(out, NR_PARTS * TS_PBW_VARINT))
		return ts_fail_nomem(err);
	p = out->p + out->n;
	p = ts_pbw_store(p,
			 outline_marks_zigzag((uint64_t)mark->start_ps - (uint64_t)before->end_ps));
	p = ts_pbw_store(p,
			 outline_marks_zigzag((uint64_t)mark->end_ps - (uint64_t)mark->start_ps));
	p = ts_pbw_store(p, outline_marks_zigzag(mark->number - before->number));
	p = ts_pbw_store(p, outline_marks_zigzag((uint64_t)mark->op - before->op));
	out->n = (size_t)(p - out->p);
	return TS_OK;
}

/* MARK is the one before, and becomes the next one. */
static const uint8_t *outline_marks_unpack(const uint8_t *p, const uint8_t *end,
					   struct outline_mark *mark)
{
	uint64_t part[NR_PARTS] = { 0 };

	for (size_t i = 0; i < NR_PARTS; i++)
		if (!ts_pb_varint(&p, end, &part[i]))
			return end;
	mark->start_ps = (int64_t)((uint64_t)mark->end_ps + outline_marks_unzigzag(part[0]));
	mark->end_ps = (int64_t)((uint64_t)mark->start_ps + outline_marks_unzigzag(part[1]));
	mark->number += outline_marks_unzigzag(part[2]);
	mark->op += (uint32_t)outline_marks_unzigzag(part[3]);
	return p;
}

bool ts_outline_marks_next(struct outline_marks_walk *walk, struct outline_mark *mark)
{
	const struct outline_marks *marks = walk->marks;

	TS_ASSERT_HOT(marks && mark);
	if (walk->nr == marks->nr)
		return false;
	if (++walk->nr < marks->nr) {
		const uint8_t *from = marks->packed.p + walk->at;

		walk->at = (size_t)(outline_marks_unpack(from, marks->packed.p + marks->packed.n,
							 &walk->packed) -
				    marks->packed.p);
		*mark = walk->packed;
	} else {
		*mark = marks->last;
	}
	if (marks->by_ps != 0) {
		mark->start_ps = ts_time_bound(ts_i64_add(mark->start_ps, marks->by_ps));
		mark->end_ps = ts_time_bound(ts_i64_add(mark->end_ps, marks->by_ps));
	}
	return true;
}

enum ts_status ts_outline_marks_add(struct outline_marks *marks, const struct outline_mark *mark,
				    struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT_HOT(marks && mark && marks->by_ps == 0);
	st = marks->nr > 0 ? outline_marks_pack(&marks->packed, &marks->before, &marks->last, err)
			   : TS_OK;
	if (st)
		return st;
	if (marks->nr > 0)
		marks->before = marks->last;
	marks->last = *mark;
	marks->nr++;
	return TS_OK;
}

static enum ts_status outline_marks_add_event(struct outline_marks *marks,
					      const struct ts_block *block, size_t i,
					      struct ts_error *err)
{
	const struct outline_mark mark = {
		.start_ps = block->start_ps[i],
		.end_ps = ts_i64_add(block->start_ps[i], block->dur_ps[i]),
		.number = block->number ? block->number[i] : TS_NO_NUMBER,
		.op = block->op[i],
	};

	return ts_outline_marks_add(marks, &mark, err);
}

enum ts_status ts_outline_marks_range(struct outline_marks *marks, const struct ts_block *block,
				      size_t i, struct ts_error *err)
{
	TS_ASSERT_HOT(marks && block && i < block->nr_events);
	return marks->nr < MAX_RANGES ? outline_marks_add_event(marks, block, i, err) : TS_OK;
}

static enum ts_status add_kernel(struct outline_marks *marks, const struct ts_block *block,
				 size_t i, struct ts_error *err)
{
	const struct ts_op *op = &block->profile->ops[block->op[i]];
	struct outline_mark *open = marks->nr > 0 ? &marks->last : NULL;

	if (!op->has_program || marks->is_wild)
		return TS_OK;
	marks->kernels[block->op[i]]++;
	if (open && open->op != block->op[i] &&
	    block->profile->ops[open->op].program_id == op->program_id) {
		open->end_ps =
			TS_MAX(open->end_ps, ts_i64_add(block->start_ps[i], block->dur_ps[i]));
		return TS_OK;
	}
	marks->is_wild = marks->nr >= MAX_GPU_EXECUTIONS;
	return outline_marks_add_event(marks, block, i, err);
}

enum ts_status ts_outline_marks_block(struct outline_marks *marks, const struct ts_block *block,
				      struct ts_error *err)
{
	bool is_gpu = block->line->kind == TS_LINE_OPS;
	enum ts_status st = TS_OK;

	TS_ASSERT_HOT(marks && block);
	if (is_gpu && !marks->kernels) {
		marks->kernels = calloc(block->profile->nr_ops + 1, sizeof(*marks->kernels));
		marks->nr_kernels = marks->kernels ? block->profile->nr_ops : 0;
		if (!marks->kernels)
			return ts_fail_nomem(err);
	}
	for (size_t i = 0; i < block->nr_events && st == TS_OK; i++)
		if (block->depth[i] == 0) /* a marker inside another says nothing new */
			st = is_gpu ? add_kernel(marks, block, i, err)
				    : outline_marks_add_event(marks, block, i, err);
	return st;
}

static void outline_marks_empty(struct outline_marks *marks)
{
	ts_buf_release(&marks->packed);
	marks->nr = 0;
	marks->by_ps = 0;
	marks->before = (struct outline_mark){ .op = 0 };
}

void ts_outline_marks_release(struct outline_marks *marks)
{
	TS_ASSERT(marks);
	outline_marks_empty(marks);
	free(marks->kernels);
	memset(marks, 0, sizeof(*marks));
}

void ts_outline_marks_move(struct outline_marks *marks, int64_t by_ps)
{
	TS_ASSERT(marks && marks->by_ps == 0);
	marks->by_ps = by_ps;
}

/* What is behind the last of them is given back. */
static void trim(struct ts_buf *packed)
{
	uint8_t *p = packed->n > 0 ? realloc(packed->p, packed->n) : NULL;

	if (p) {
		packed->p = p;
		packed->cap = packed->n;
	}
}

enum ts_status ts_outline_marks_rename(struct outline_marks *marks, const uint32_t *ops,
				       struct ts_error *err)
{
	struct outline_marks_walk walk = { .marks = marks };
	struct outline_marks renamed = { .nr = 0 };
	struct outline_mark mark;
	enum ts_status st;

	TS_ASSERT(marks && ops && marks->by_ps == 0);
	while (ts_outline_marks_next(&walk, &mark)) {
		mark.op = ops[mark.op];
		st = ts_outline_marks_add(&renamed, &mark, err);
		if (st) {
			ts_outline_marks_release(&renamed);
			return st;
		}
	}
	ts_buf_release(&marks->packed);
	trim(&renamed.packed);
	marks->packed = renamed.packed;
	marks->before = renamed.before;
	marks->last = renamed.last;
	return TS_OK;
}

void ts_outline_marks_unpack(const struct outline_marks *marks, struct outline_mark *items)
{
	struct outline_marks_walk walk = { .marks = marks };

	TS_ASSERT(marks && (items || marks->nr == 0));
	while (ts_outline_marks_next(&walk, items))
		items++;
}

enum ts_status ts_outline_marks_pack(struct outline_marks *marks, const struct outline_mark *items,
				     size_t nr, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	TS_ASSERT(marks && marks->nr == 0);
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		st = ts_outline_marks_add(marks, &items[i], err);
	trim(&marks->packed);
	return st;
}

TS_ORDER(outline_marks_by_start, struct outline_mark,
	 TS_UP(start_ps) TS_UP(end_ps) TS_UP(number) TS_UP(op))

static bool are_sorted(const struct outline_marks *marks)
{
	struct outline_marks_walk walk = { .marks = marks };
	struct outline_mark before, mark;

	if (!ts_outline_marks_next(&walk, &before))
		return true;
	for (; ts_outline_marks_next(&walk, &mark); before = mark)
		if (outline_marks_by_start(&before, &mark) > 0)
			return false;
	return true;
}

enum ts_status ts_outline_marks_sort(struct outline_marks *marks, struct ts_error *err)
{
	struct outline_mark *items;
	size_t nr = marks->nr;
	enum ts_status st;

	if (are_sorted(marks))
		return TS_OK;
	items = malloc(nr * sizeof(*items));
	if (!items)
		return ts_fail_nomem(err);
	ts_outline_marks_unpack(marks, items);
	qsort(items, nr, sizeof(*items), outline_marks_by_start);
	outline_marks_empty(marks);
	st = ts_outline_marks_pack(marks, items, nr, err);
	free(items);
	return st;
}
