/* SPDX-License-Identifier: MIT */
/* What lines gave to the outline, and the outline itself, by their members. */
#include "pod/saved.h"

#include "base/check.h"
#include "base/record.h"
#include "run/state.h"

#define TS_SELF struct outline_mark
static TS_RECORD(mark, TS_NUMBER(1, start_ps, TS_BY_HAND), TS_NUMBER(2, end_ps, TS_BY_HAND),
		 TS_NUMBER(3, number, TS_BY_HAND), TS_INDEX_KNOWN(4, op, TS_BY_OP, TS_BY_HAND));
#undef TS_SELF

/* Marks as they are when they are not packed. */
struct saved_marks {
	struct outline_mark *items;
	size_t nr, cap;
	uint32_t *kernels;
	size_t nr_kernels;
	bool is_wild;
};

#define TS_SELF struct saved_marks
static TS_RECORD(marks, TS_RECORDS_CAP(1, items, nr, cap, mark_record, TS_BY_NOTHING, TS_BY_HAND),
		 TS_ARRAY(2, kernels, nr_kernels, TS_BY_OP, TS_BY_HAND),
		 TS_NUMBER(3, is_wild, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_scope
static bool is_scope(const void *self)
{
	return ((const struct ts_scope *)self)->nr > 0;
}
static TS_RECORD_WITH(scope, TS_VALID_IF(is_scope), TS_INDEX_KNOWN(1, op, TS_BY_OP, TS_BY_HAND),
		      TS_INDEX(2, parent, TS_BY_OP, TS_BY_HAND), TS_NUMBER(3, is_epoch, TS_BY_HAND),
		      TS_NUMBER(4, number, TS_BY_HAND), TS_NUMBER(5, nr, TS_BY_HAND),
		      TS_NUMBER(6, total_ps, TS_BY_HAND), TS_NUMBER(7, min_ps, TS_BY_HAND),
		      TS_NUMBER(8, max_ps, TS_BY_HAND), TS_NUMBERS(9, part_ps, TS_BY_HAND),
		      TS_STRUCT(10, spans, ts_spans_record));
#undef TS_SELF

#define TS_SELF struct ts_epoch
static TS_RECORD(epoch, TS_INDEX_KNOWN(1, op, TS_BY_OP, TS_BY_HAND),
		 TS_NUMBER(2, start_ps, TS_BY_HAND), TS_NUMBER(3, end_ps, TS_BY_HAND),
		 TS_NUMBER(4, number, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_scopes
static bool are_scopes(const void *self)
{
	return ((const struct ts_scopes *)self)->nr_epochs <= TS_EPOCHS_MAX;
}
static TS_RECORD_WITH(scopes, TS_VALID_IF(are_scopes),
		      TS_RECORDS_CAP(1, items, nr, cap, scope_record, TS_BY_NOTHING, TS_BY_HAND),
		      TS_LIST(2, epochs, epoch_record, TS_BY_HAND));
#undef TS_SELF

/* A step that a thread marked. */
#define TS_SELF struct scope_mark
static TS_RECORD(step_mark, TS_INDEX_KNOWN(1, op, TS_BY_OP, TS_BY_HAND),
		 TS_NUMBER(2, start_ps, TS_BY_HAND), TS_NUMBER(3, end_ps, TS_BY_HAND),
		 TS_NUMBER(4, number, TS_BY_HAND));
#undef TS_SELF

/* What a line gave, and where it began. */
struct saved_line {
	struct ts_outline_line line; /* without its marks */
	struct saved_marks marks;
	int64_t from_ps;
};

#define TS_SELF struct saved_line
static bool saved_outline_is_line(const void *self)
{
	const struct saved_line *line = self;

	return (line->marks.nr_kernels > 0 || !line->marks.kernels) &&
	       line->line.launch <= TS_LAUNCH_STEPS;
}
static TS_RECORD_WITH(
	saved_line, TS_VALID_IF(saved_outline_is_line), TS_NUMBER(1, from_ps, TS_BY_HAND),
	TS_STRUCT(2, marks, marks_record), TS_STRUCT(3, line.compile, ts_spans_record),
	TS_STRUCT(4, line.input, ts_spans_record),
	TS_RECORDS_CAP(5, line.scopes.steps.items, line.scopes.steps.nr, line.scopes.steps.cap,
		       step_mark_record, TS_BY_NOTHING, TS_BY_HAND),
	TS_STRUCT(6, line.scopes.scopes, scopes_record),
	TS_NUMBER(7, line.scopes.is_python, TS_BY_HAND),
	TS_NUMBER(8, line.scopes.first_ps, TS_BY_HAND),
	TS_NUMBER(9, line.scopes.last_ps, TS_BY_HAND),
	TS_NUMBER(10, line.scopes.is_seen, TS_BY_HAND), TS_TEXT(11, line.damage),
	TS_NUMBER(12, line.has_hull, TS_BY_HAND), TS_NUMBER(13, line.first_ps, TS_BY_HAND),
	TS_NUMBER(14, line.last_ps, TS_BY_HAND), TS_STRUCT(15, line.transfer, ts_spans_record),
	TS_STRUCT(16, line.work, ts_spans_record), TS_NUMBER(17, line.launch, TS_BY_HAND),
	TS_STRUCT(18, line.launches, ts_spans_record));
#undef TS_SELF

struct saved_lines {
	struct saved_line *items;
	size_t nr;
};

#define TS_SELF struct saved_lines
static TS_RECORD(lines, TS_RECORDS(1, items, nr, saved_line_record, TS_BY_LINE, TS_BY_HAND));
#undef TS_SELF

/* They move to where they are not packed. */
static void unpack_marks(struct saved_marks *saved, struct outline_marks *marks, struct ts_buf *out)
{
	*saved = (struct saved_marks){ .items = malloc((marks->nr + 1) * sizeof(*saved->items)),
				       .kernels = marks->kernels,
				       .nr_kernels = marks->nr_kernels,
				       .is_wild = marks->is_wild };
	marks->kernels = NULL;
	if (saved->items) {
		saved->nr = saved->cap = marks->nr;
		ts_outline_marks_unpack(marks, saved->items);
	}
	ts_outline_marks_release(marks);
	out->failed |= !saved->items;
}

static enum ts_status pack_marks(struct outline_marks *marks, struct saved_marks *saved,
				 struct ts_error *err)
{
	enum ts_status st = ts_outline_marks_pack(marks, saved->items, saved->nr, err);

	free(saved->items);
	marks->kernels = saved->kernels;
	marks->nr_kernels = saved->nr_kernels;
	marks->is_wild = saved->is_wild;
	*saved = (struct saved_marks){ .nr = 0 };
	return st;
}

void ts_saved_put_lines(struct ts_buf *out, const struct ts_profile *profile,
			struct ts_outline_lines *lines)
{
	struct saved_lines saved = { calloc(lines->nr + 1, sizeof(*saved.items)), lines->nr };

	TS_ASSERT(out && lines->nr == profile->nr_lines);
	out->failed |= !saved.items;
	for (size_t i = 0; saved.items && i < lines->nr; i++) {
		saved.items[i] = (struct saved_line){ .from_ps = profile->lines[i].start_ps };
		unpack_marks(&saved.items[i].marks, &lines->items[i].marks, out);
		saved.items[i].line = lines->items[i];
	}
	if (!out->failed)
		ts_record_save(&lines_record, &saved, out);
	for (size_t i = 0; saved.items && i < lines->nr; i++)
		ts_record_release(&marks_record, &saved.items[i].marks);
	free(saved.items);
}

static enum ts_status saved_outline_take_lines(struct saved_lines *saved,
					       struct ts_outline_lines *lines, int64_t *from_ps,
					       struct ts_error *err)
{
	enum ts_status st = TS_OK, one;

	lines->items = calloc(saved->nr + 1, sizeof(*lines->items));
	if (!lines->items)
		return ts_fail_nomem(err);
	lines->nr = saved->nr;
	for (size_t i = 0; i < saved->nr; i++) {
		lines->items[i] = saved->items[i].line;
		one = pack_marks(&lines->items[i].marks, &saved->items[i].marks, err);
		st = st ? st : one;
		from_ps[i] = saved->items[i].from_ps;
	}
	free(saved->items); /* what its items own has moved */
	*saved = (struct saved_lines){ NULL, 0 };
	return st;
}

enum ts_status ts_saved_load_lines(struct ts_bytes bytes, struct ts_profile *profile,
				   struct ts_outline_lines *lines, int64_t **from_ps,
				   struct ts_error *err)
{
	const struct ts_record_limits limits = ts_state_limits(profile);
	struct saved_lines saved = { NULL, 0 };
	enum ts_status st =
		ts_record_load(&lines_record, &saved, bytes, &limits, &profile->arena, err);

	TS_ASSERT(lines && from_ps);
	*from_ps = calloc(profile->nr_lines + 1, sizeof(**from_ps));
	if (st == TS_OK && saved.nr != profile->nr_lines)
		st = ts_fail(err, TS_FORMAT, "its lines contradict one another");
	if (st == TS_OK)
		st = *from_ps ? saved_outline_take_lines(&saved, lines, *from_ps, err)
			      : ts_fail_nomem(err);
	ts_record_release(&lines_record, &saved);
	return st;
}

/* ---- the outline of a run */

#define TS_SELF struct ts_step
static TS_RECORD(step, TS_NUMBER(1, start_ps, TS_BY_HAND), TS_NUMBER(2, end_ps, TS_BY_HAND),
		 TS_NUMBER(3, number, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_device_steps
static bool are_in_order(const void *self)
{
	const struct ts_device_steps *steps = self;

	for (size_t i = 1; i < steps->nr; i++)
		if (steps->items[i].start_ps < steps->items[i - 1].start_ps ||
		    steps->items[i].start_ps < steps->items[i - 1].end_ps)
			return false;
	if (steps->nr_rows > 0 ? steps->nr_rows != steps->nr : steps->rows != NULL)
		return false;
	if (steps->nr_works > 0 ? steps->nr_works != steps->nr : steps->works != NULL)
		return false;
	return steps->nr == 0 || steps->nr_elsewhere == 0;
}
static TS_RECORD_WITH(device_steps, TS_VALID_IF(are_in_order),
		      TS_RECORDS_CAP(1, items, nr, cap, step_record, TS_BY_NOTHING, TS_BY_HAND),
		      TS_NUMBER(2, nr_elsewhere, TS_BY_HAND), TS_NUMBER(3, from_ps, TS_BY_HAND),
		      TS_NUMBER(4, until_ps, TS_BY_HAND), TS_NUMBER(5, first_row, TS_BY_HAND),
		      TS_ARRAY(6, rows, nr_rows, TS_BY_NOTHING, TS_BY_HAND),
		      TS_ARRAY(7, works, nr_works, TS_BY_NOTHING, TS_BY_HAND),
		      TS_NUMBER(8, work, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_run_step
static TS_RECORD(row, TS_NUMBER(1, number, TS_BY_HAND), TS_NUMBER(2, start_ps, TS_BY_HAND),
		 TS_NUMBER(3, total_ps, TS_BY_HAND), TS_NUMBER(4, cores, TS_BY_HAND),
		 TS_NUMBER(5, work, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_step_work
static bool is_work(const void *self)
{
	return ((const struct ts_step_work *)self)->phase <= TS_DOES_MIXED;
}
static TS_RECORD_WITH(work, TS_VALID_IF(is_work), TS_NUMBER(1, kind, TS_BY_HAND),
		      TS_NUMBER(2, phase, TS_BY_HAND), TS_NUMBER(3, prefill_tokens, TS_BY_HAND),
		      TS_NUMBER(4, decode_tokens, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_steps
/* Every row is one of the run's. */
static bool are_rows_of(const struct ts_device_steps *steps, size_t nr_rows)
{
	for (size_t i = 0; i < steps->nr_rows; i++)
		if (steps->rows[i] >= nr_rows)
			return false;
	if (steps->nr_rows == 0 && steps->nr > 0 &&
	    (steps->nr > nr_rows || steps->first_row > nr_rows - steps->nr))
		return false;
	return steps->nr_elsewhere <= nr_rows;
}

/* Rows are not more than all devices have together; where these are elsewhere, the rows are there. */
static bool saved_outline_are_steps(const void *self)
{
	const struct ts_steps *steps = self;
	size_t nr = 0, nr_elsewhere = 0;

	for (size_t d = 0; d < steps->nr_devices; d++) {
		if (!are_rows_of(&steps->devices[d], steps->nr_steps))
			return false;
		nr += steps->devices[d].nr;
		nr_elsewhere += steps->devices[d].nr_elsewhere;
	}
	for (size_t i = 0; i < steps->nr_rows; i++)
		if (steps->rows[i].cores < 0 || (uint64_t)steps->rows[i].cores > steps->nr_devices)
			return false;
	if (steps->nr_rows > 0 ? steps->nr_rows != steps->nr_steps || nr > 0 : nr_elsewhere > 0)
		return false;
	return steps->source <= TS_STEPS_INFERRED && steps->nr_steps <= nr + nr_elsewhere &&
	       memchr(steps->made_of, '\0', sizeof(steps->made_of));
}
static TS_RECORD_WITH(steps, TS_VALID_IF(saved_outline_are_steps), TS_NUMBER(1, source, TS_BY_HAND),
		      TS_NUMBERS(2, made_of, TS_BY_HAND),
		      TS_RECORDS(3, devices, nr_devices, device_steps_record, TS_BY_NOTHING,
				 TS_BY_HAND),
		      TS_NUMBER(4, nr_steps, TS_BY_HAND),
		      TS_RECORDS(5, rows, nr_rows, row_record, TS_BY_NOTHING, TS_BY_HAND),
		      TS_RECORDS_CAP(6, works, nr_works, cap_works, work_record, TS_BY_NOTHING,
				     TS_BY_HAND),
		      TS_NUMBER(7, is_range, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_host_spans
static TS_RECORD(host_spans, TS_STRUCT(1, compile, ts_spans_record),
		 TS_STRUCT(2, input, ts_spans_record), TS_STRUCT(3, launch, ts_spans_record));
#undef TS_SELF

#define TS_SELF struct ts_outline
static TS_RECORD(outline, TS_STRUCT(1, steps, steps_record),
		 TS_RECORDS(2, hosts, nr_hosts, host_spans_record, TS_BY_HOST, TS_BY_HAND),
		 TS_STRUCT(3, compile, ts_spans_record), TS_NUMBER(4, nr_compiles, TS_BY_HAND),
		 TS_NUMBER(5, compile_ps, TS_BY_HAND), TS_STRUCT(6, host_steps, steps_record),
		 TS_STRUCT(7, scopes, scopes_record), TS_NUMBER(8, host_first_ps, TS_BY_HAND),
		 TS_NUMBER(9, host_last_ps, TS_BY_HAND), TS_NUMBER(10, has_wall, TS_BY_HAND),
		 TS_NUMBER(11, wall_start_ps, TS_BY_HAND), TS_NUMBER(12, wall_end_ps, TS_BY_HAND),
		 TS_ARRAY(13, launching, nr_launching, TS_BY_NOTHING, TS_BY_HAND));
#undef TS_SELF

/* ---- the steps of a host */

struct saved_steps {
	struct ts_device_steps *devices;
	size_t nr;
};

#define TS_SELF struct saved_steps
static TS_RECORD(saved_steps,
		 TS_RECORDS(1, devices, nr, device_steps_record, TS_BY_NOTHING, TS_BY_HAND));
#undef TS_SELF

static size_t nr_devices_of(const struct ts_steps *steps, uint32_t host, size_t *first)
{
	size_t nr = 0;

	*first = 0;
	for (size_t d = steps->nr_devices; d-- > 0;)
		if (steps->devices[d].host == host) {
			*first = d;
			nr++;
		}
	return nr;
}

void ts_saved_put_steps(struct ts_buf *out, const struct ts_steps *steps, uint32_t host)
{
	size_t first, nr = nr_devices_of(steps, host, &first);
	const struct saved_steps saved = { steps->devices + first, nr };

	TS_ASSERT(out && steps);
	ts_record_save(&saved_steps_record, &saved, out);
}

/* Do these belong to what the outline says of the host's devices? */
static bool are_of_devices(const struct saved_steps *saved, const struct ts_steps *steps,
			   size_t first, size_t nr)
{
	if (saved->nr != nr)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (saved->devices[i].nr != steps->devices[first + i].nr_elsewhere ||
		    !are_rows_of(&saved->devices[i], steps->nr_steps))
			return false;
	return true;
}

static void saved_outline_take(struct ts_device_steps *device, struct ts_device_steps *from)
{
	ts_device_steps_release(device);
	device->items = from->items;
	device->nr = device->cap = from->nr;
	device->first_row = from->first_row;
	device->rows = from->rows;
	device->nr_rows = from->nr_rows;
	*from = (struct ts_device_steps){ .nr = 0 };
}

enum ts_status ts_saved_load_steps(struct ts_bytes bytes, struct ts_steps *steps, uint32_t host,
				   struct ts_error *err)
{
	const struct ts_record_limits limits = { .nr = { 0 } };
	struct ts_arena arena = TS_ARENA_INIT; /* there are no texts in it */
	struct saved_steps saved = { NULL, 0 };
	size_t first, nr = nr_devices_of(steps, host, &first);
	enum ts_status st =
		ts_record_load(&saved_steps_record, &saved, bytes, &limits, &arena, err);

	TS_ASSERT(steps);
	if (st == TS_OK && !are_of_devices(&saved, steps, first, nr))
		st = ts_fail(err, TS_FORMAT, "the steps of a host in it are those of another");
	for (size_t i = 0; i < nr && st == TS_OK; i++)
		saved_outline_take(&steps->devices[first + i], &saved.devices[i]);
	ts_record_release(&saved_steps_record, &saved);
	ts_arena_release(&arena);
	return st;
}

void ts_saved_forget_steps(struct ts_steps *steps, uint32_t host)
{
	TS_ASSERT(steps);
	for (size_t d = 0; d < steps->nr_devices; d++)
		if (steps->devices[d].host == host)
			ts_device_steps_release(&steps->devices[d]);
}

/* ---- the outline */

void ts_saved_put_outline(struct ts_buf *out, const struct ts_outline *outline)
{
	TS_ASSERT(out && outline);
	ts_record_save(&outline_record, outline, out);
}

/* Empty arrays are not saved; code that reads outlines counts on their being there. */
static enum ts_status fill_empty(struct ts_outline *outline, struct ts_error *err)
{
	if (!outline->steps.devices)
		outline->steps.devices = calloc(1, sizeof(*outline->steps.devices));
	if (!outline->host_steps.devices)
		outline->host_steps.devices = calloc(1, sizeof(*outline->host_steps.devices));
	if (!outline->hosts)
		outline->hosts = calloc(1, sizeof(*outline->hosts));
	return outline->steps.devices && outline->host_steps.devices && outline->hosts
		       ? TS_OK
		       : ts_fail_nomem(err);
}

enum ts_status ts_saved_load_outline(struct ts_bytes bytes, struct ts_profile *profile,
				     struct ts_outline *outline, struct ts_error *err)
{
	const struct ts_record_limits limits = ts_state_limits(profile);
	enum ts_status st =
		ts_record_load(&outline_record, outline, bytes, &limits, &profile->arena, err);

	TS_ASSERT(profile && outline);
	if (st)
		return st;
	if (outline->steps.nr_devices != profile->nr_devices || outline->host_steps.nr_rows > 0 ||
	    outline->host_steps.nr_devices != profile->nr_hosts ||
	    outline->nr_hosts != profile->nr_hosts)
		return ts_fail(err, TS_FORMAT, "its outline is of another run");
	for (size_t d = 0; d < outline->steps.nr_devices; d++)
		outline->steps.devices[d].host = profile->devices[d].host;
	outline->host_activity = ts_outline_activity(profile);
	if (!outline->host_activity)
		return ts_fail_nomem(err);
	st = fill_empty(outline, err);
	if (st)
		return st;
	return ts_outline_seal(outline, err);
}
