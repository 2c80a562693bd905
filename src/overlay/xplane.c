/* SPDX-License-Identifier: MIT */
/*
 * Planes for XProf's trace viewer. What the viewer does with them is read from openxla/xprof
 * (convert/xplane_to_trace_container.cc, trace_viewer/trace_events_to_json.h) and tried on 2.24.2:
 *
 *  - an event stands at its line's timestamp_ns x 1000 + offset_ps; nothing is normalised, so the
 *    clock is that of the native lines beside it;
 *  - a group's place is its process id: 1 + id of a device plane, 501 + id (which may be negative)
 *    of a custom one, 701 and up for host threads;
 *  - rows are ordered by line id; the stats of an event's metadata and of the event itself are the
 *    args that a click shows; a display_name would only repeat the name as "long_name";
 *  - the counters of a group are drawn above its rows, whatever their order, so they have groups of their own (the
 *    new frontend of 2.24.2 draws them below, by name, and a group of counters alone as well:
 *    trace_viewer_v2/timeline/data_provider.cc);
 *  - a line "_counters_" holds counters, one for each event name, whose value is the first stat.
 *    The viewer puts that name between quotes as it is, and a value that is not a number breaks
 *    the JSON of the whole page, so neither may reach it;
 *  - stats with names that the profiler knows are hidden or change their event (`flow`, `group_id`,
 *    `flops`): see arg_key().
 */
#include "overlay/xplane.h"

#include <inttypes.h>

#include "base/check.h"
#include "base/units.h"
#include "codec/chunks.h"
#include "codec/xspacew.h"
#include "overlay/xspace.h"

/* Process ids of the trace viewer. */
enum {
	PID_DEVICE = 1,
	PID_DEVICE_LAST = 500,
	PID_CUSTOM = 501,
	PID_HOST = 701,
	PID_MAX = 1000, /* of one host: the next one's follow */
};

#define MAIN_COUNTERS 3 /* of a device: those right under its rows */
#define DOUBLE_STEPS (UINT64_C(1) << 51) /* a double of a time is off by less than the time by this */

/* Ids of the stats in each plane of ours. */
enum {
	STAT_MARK = OVERLAY_MARK_ID,
	STAT_VERSION,
	STAT_GENERATOR,
	STAT_NOTE,
	STAT_VALUE,
	STAT_MERGED,
	STAT_OWN,
	STAT_FIRST_KEY, /* keys of args from here on */
};

static const char *const stat_names[STAT_FIRST_KEY] = {
	[STAT_MARK] = OVERLAY_MARK,
	[STAT_VERSION] = "tpusight_version",
	[STAT_GENERATOR] = "generator",
	[STAT_NOTE] = "note",
	[STAT_VALUE] = "value", /* of a counter */
	[STAT_MERGED] = "merged events",
	[STAT_OWN] = "of this kind (%)", /* time of a merged slice */
};

struct space {
	struct ts_buf *out;
	const struct ts_profile *profile;
	const struct ts_results *results;
	size_t native_bytes;
	bool pid_used[PID_MAX];
};

struct plane {
	struct ts_buf *out;
	const struct ts_profile *profile;
	const struct ts_track **tracks; /* slices first, by order; then counters */
	size_t nr_tracks, nr_slices;
	int64_t timestamp_ns;  /* of every line */
	int64_t base_ps;       /* where offset 0 is on the run's timeline */
	struct ts_strmap keys; /* key of an arg -> its number */
	const char **key_names;
	size_t nr_keys, cap_keys;
};

/* The clock. */

static bool is_busy(const struct ts_line *line)
{
	return line->body.n && line->nr_events &&
	       (line->kind == TS_LINE_OPS || line->kind == TS_LINE_MODULES);
}

/* The native line whose clock is taken: the smallest that says what the device did. */
static const struct ts_line *clock_line(const struct ts_profile *profile,
					const struct ts_plane *plane)
{
	const struct ts_line *best = NULL;

	for (size_t i = 0; i < plane->nr_lines; i++) {
		const struct ts_line *line = &profile->lines[plane->first_line + i];

		if (is_busy(line) && (!best || line->body.n < best->body.n))
			best = line;
	}
	return best;
}

static int64_t earliest_ps(const struct plane *plane)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < plane->nr_tracks; i++) {
		const struct ts_track *track = plane->tracks[i];

		if (track->nr_slices)
			first = TS_MIN(first, track->slices[0].start_ps);
		if (track->nr_points)
			first = TS_MIN(first, track->points[0].at_ps);
	}
	return first;
}

/* Offsets are not negative: when something of ours is earlier than the native line, so is the
 * timestamp, but not before 0. */
static void move_clock(struct plane *plane, int64_t first_ps)
{
	int64_t early_ps = ts_i64_sub(plane->base_ps, first_ps);
	int64_t early_ns = early_ps > 0 ? (early_ps - 1) / TS_PS_PER_NS + 1 : 0;

	early_ns = TS_MIN(early_ns, TS_MAX(plane->timestamp_ns, 0));
	plane->timestamp_ns -= early_ns;
	plane->base_ps = ts_i64_sub(plane->base_ps, ts_i64_mul(early_ns, TS_PS_PER_NS));
}

static void set_clock(struct plane *plane, const struct ts_profile *profile,
		      const struct ts_plane *native)
{
	const struct ts_line *line = clock_line(profile, native);
	const struct ts_host *host = &profile->hosts[native->host];

	if (line) {
		plane->timestamp_ns = line->timestamp_ns;
		plane->base_ps = line->start_ps;
	} else {
		plane->base_ps = ts_host_lag_ps(profile, host);
	}
	move_clock(plane, earliest_ps(plane));
}

static uint64_t offset_ps(const struct plane *plane, int64_t at_ps)
{
	return (uint64_t)TS_MAX(ts_i64_sub(at_ps, plane->base_ps), 0);
}

/* Places in the viewer. */

static int64_t device_pid(int64_t id)
{
	bool fits = id >= 0 && id <= PID_DEVICE_LAST - PID_DEVICE;

	return fits ? PID_DEVICE + id : PID_DEVICE; /* as the viewer does */
}

static int64_t native_pid(const struct ts_plane *plane)
{
	if (ts_bytes_starts(plane->name, OVERLAY_PLANE))
		return -1; /* an overlay that will be replaced */
	if (ts_bytes_starts(plane->name, "/device:CUSTOM:"))
		return plane->id >= -PID_CUSTOM && plane->id < PID_MAX ? PID_CUSTOM + plane->id
								       : -1;
	if (ts_bytes_starts(plane->name, "/device:"))
		return device_pid(plane->id);
	return -1;
}

/* At PID, else among the custom groups; the last of those when all are taken. */
static int64_t take_pid(struct space *space, int64_t pid)
{
	if (pid >= PID_HOST || space->pid_used[pid])
		for (pid = PID_CUSTOM; pid < PID_HOST - 1 && space->pid_used[pid];)
			pid++;
	space->pid_used[pid] = true;
	return pid;
}

/* Names and stats. */

/* Names the profiler knows that are one word. Its others have an underscore, where we write a
 * space. */
static const char *const known_words[] = {
	"addr",	  "chunk",   "equation", "flops", "flow",   "fragmentation", "id",	  "key",
	"layout", "payload", "queue",	 "shape", "source", "stream",	     "transfers",
};

/* The viewer shows texts: a number of ours stands there with its unit, and its key without. */
static const char *fmt_ns(char out[TS_UNIT_MAX], double ns)
{
	return ts_fmt_ps(out, ts_i64_mul((int64_t)ns, TS_PS_PER_NS));
}

static const struct wording {
	const char *ending, *instead; /* of the key */
	const char *(*fmt)(char out[TS_UNIT_MAX], double number);
} wordings[] = {
	{ "_ns", "", fmt_ns },
	{ "_pct", " share", ts_fmt_pct },
	{ "_bytes", " bytes", ts_fmt_bytes },
};

/* NULL: a number of no unit. */
static const struct wording *wording_of(const char *key)
{
	for (size_t i = 0; i < TS_NELEM(wordings); i++)
		if (ts_bytes_ends(ts_bytes_of(key), wordings[i].ending))
			return &wordings[i];
	return NULL;
}

/* Keys by which a click's links lead to the op itself: to its graph, its statistics and its roofline. */
static const struct {
	const char *key, *viewers;
} linked[] = { { "op", "hlo_op" }, { "module", "hlo_module" } };

static const char *linked_key(const char *key)
{
	for (size_t i = 0; i < TS_NELEM(linked); i++)
		if (strcmp(key, linked[i].key) == 0)
			return linked[i].viewers;
	return NULL;
}

static void arg_key(struct ts_buf *out, const char *key)
{
	const struct wording *wording = wording_of(key);
	const char *viewers = linked_key(key);
	size_t from = out->n;

	ts_buf_puts(out, viewers ? viewers : key);
	if (viewers)
		return;
	if (wording && !out->failed) {
		out->n -= strlen(wording->ending);
		ts_buf_puts(out, wording->instead);
	}
	if (out->failed)
		return;
	for (size_t i = from; i < out->n; i++)
		if (out->p[i] == '_')
			out->p[i] = ' ';
	for (size_t i = 0; i < TS_NELEM(known_words); i++)
		if (strcmp(key, known_words[i]) == 0)
			out->p[from] = (uint8_t)(out->p[from] - 'a' + 'A');
}

static void counter_name(struct ts_buf *out, const char *name)
{
	for (; *name; name++)
		ts_buf_putc(out, *name == '"' || *name == '\\' ? '\''
				 : (unsigned char)*name < ' '  ? ' '
							       : *name);
}

static uint32_t key_number(struct plane *plane, const char *key)
{
	uint32_t number = ts_strmap_find(&plane->keys, ts_bytes_of(key));

	if (number != TS_NONE)
		return number;
	if (!ts_grow(&plane->key_names, &plane->cap_keys, plane->nr_keys + 1, sizeof(key)) ||
	    !ts_strmap_set(&plane->keys, ts_bytes_of(key), (uint32_t)plane->nr_keys)) {
		plane->out->failed = true;
		return 0;
	}
	plane->key_names[plane->nr_keys] = key;
	return (uint32_t)plane->nr_keys++;
}

/* Rows of slices. The metadata ids of a track's labels follow each other, from FIRST_LABEL on. */

static void put_slice_stats(struct ts_buf *out, const struct ts_slice *slice, int64_t dur_ps)
{
	if (slice->nr_events < 2)
		return;
	ts_xspacew_u64_stat(out, XEVENT_STATS, STAT_MERGED, slice->nr_events);
	if (slice->own_ps >= 0 && slice->own_ps < dur_ps)
		ts_xspacew_double_stat(out, XEVENT_STATS, STAT_OWN,
				       100 * (double)slice->own_ps / (double)dur_ps);
}

/* The viewers' times are doubles of microseconds: by their rounding a slice that ends where the next one begins may end
 * behind it, and the new frontend then gives the row a second line. */
static uint64_t gap_ps(const struct plane *plane, uint64_t offset)
{
	uint64_t base = (uint64_t)TS_MAX(ts_i64_mul(plane->timestamp_ns, TS_PS_PER_NS), 0);

	return 1 + (base + offset) / DOUBLE_STEPS;
}

/* It is kept from the next slice, except where nothing would be left of it. */
static uint64_t duration_ps(const struct plane *plane, uint64_t from, uint64_t to,
			    const struct ts_slice *next)
{
	uint64_t gap = gap_ps(plane, to);

	if (to <= from)
		return 0;
	if (next && offset_ps(plane, next->start_ps) < to + gap && to - from > gap)
		return to - from - gap;
	return to - from;
}

static void xplane_put_slice(const struct plane *plane, const struct ts_slice *slice,
			     const struct ts_slice *next, uint32_t first_label)
{
	struct ts_buf *out = plane->out;
	uint64_t from = offset_ps(plane, slice->start_ps), to = offset_ps(plane, slice->end_ps);
	size_t event = ts_xspacew_event_begin(out, first_label + slice->label, from);

	ts_pbw_u64(out, XEVENT_DURATION_PS, duration_ps(plane, from, to, next));
	put_slice_stats(out, slice, to > from ? (int64_t)(to - from) : 0);
	ts_pbw_end(out, event);
}

static size_t begin_line(const struct plane *plane, uint64_t id, const char *name)
{
	size_t line = ts_xspacew_line_begin(plane->out, id, ts_bytes_of(name));

	ts_pbw_i64(plane->out, XLINE_TIMESTAMP_NS, plane->timestamp_ns);
	return line;
}

static void xplane_put_rows(const struct plane *plane)
{
	uint32_t first_label = 1;

	for (size_t i = 0; i < plane->nr_slices; i++) {
		const struct ts_track *track = plane->tracks[i];
		size_t line = begin_line(plane, i + 1, track->name);

		for (size_t k = 0; k < track->nr_slices; k++)
			xplane_put_slice(plane, &track->slices[k],
					 k + 1 < track->nr_slices ? &track->slices[k + 1] : NULL,
					 first_label);
		ts_pbw_end(plane->out, line);
		first_label += (uint32_t)track->nr_labels;
	}
}

static struct ts_bytes arg_text(char number[TS_UNIT_MAX], const struct ts_arg *arg)
{
	const struct wording *wording = wording_of(arg->key);

	if (!ts_arg_is_shown(arg))
		return (struct ts_bytes){ NULL, 0 };
	if (arg->value.type == TS_VALUE_TEXT)
		return arg->value.as.s;
	return ts_bytes_of(
		(wording ? wording->fmt : ts_fmt_count)(number, ts_value_number(arg->value)));
}

/* The module of a name that one alone has; NULL. */
static const struct ts_hlo_module *only_module(const struct ts_profile *profile,
					       struct ts_bytes name)
{
	const struct ts_hlo_module *found = NULL;

	for (size_t i = 0; i < profile->nr_modules; i++) {
		if (!ts_bytes_eq(profile->modules[i].name, name))
			continue;
		if (found)
			return NULL;
		found = &profile->modules[i];
	}
	return found;
}

/* A module as the viewers' graphs call it: with its program's id, where the name tells which. */
static struct ts_bytes module_text(const struct plane *plane, struct ts_buf *buf,
				   struct ts_bytes name)
{
	const struct ts_hlo_module *module = only_module(plane->profile, name);

	if (!module)
		return name;
	ts_buf_clear(buf);
	ts_buf_put(buf, name);
	ts_buf_printf(buf, "(%" PRIu64 ")", module->program_id);
	plane->out->failed |= buf->failed;
	return ts_buf_bytes(buf);
}

static void xplane_put_arg(struct plane *plane, const struct ts_arg *arg, struct ts_bytes text)
{
	struct ts_buf module = TS_BUF_INIT;

	if (strcmp(arg->key, "module") == 0)
		text = module_text(plane, &module, text);
	ts_xspacew_text_stat(plane->out, XEVENTMETA_STATS,
			     STAT_FIRST_KEY + key_number(plane, arg->key), text);
	ts_buf_release(&module);
}

static void xplane_put_label(struct plane *plane, uint32_t id, const struct ts_label *label)
{
	struct ts_xspacew_meta meta =
		ts_xspacew_meta_begin(plane->out, XPLANE_EVENT_METADATA, id, label->name);
	char number[TS_UNIT_MAX];

	for (size_t i = 0; i < label->nr_args; i++) {
		const struct ts_arg *arg = &label->args[i];
		struct ts_bytes text = arg_text(number, arg);

		if (text.n > 0 && !ts_bytes_eq(text, label->name)) /* the name stands above them */
			xplane_put_arg(plane, arg, text);
	}
	ts_xspacew_meta_end(plane->out, meta);
}

/* Of all tracks, and so that counters follow: gives the first free id. */
static uint32_t xplane_put_labels(struct plane *plane)
{
	uint32_t id = 1;

	for (size_t i = 0; i < plane->nr_slices; i++)
		for (size_t k = 0; k < plane->tracks[i]->nr_labels; k++)
			xplane_put_label(plane, id++, &plane->tracks[i]->labels[k]);
	return id;
}

/* Counters: the points of all of them in the order of time, in one line. */

static const struct ts_track *next_point(const struct plane *plane, size_t *at, size_t *which)
{
	const struct ts_track *best = NULL;

	for (size_t i = plane->nr_slices; i < plane->nr_tracks; i++) {
		const struct ts_track *track = plane->tracks[i];
		size_t k = at[i - plane->nr_slices];

		if (k < track->nr_points &&
		    (!best || track->points[k].at_ps < best->points[at[*which]].at_ps)) {
			best = track;
			*which = i - plane->nr_slices;
		}
	}
	return best;
}

static void put_point(const struct plane *plane, uint32_t id, const struct ts_point *point)
{
	size_t event;

	if (!isfinite(point->value))
		return;
	event = ts_xspacew_event_begin(plane->out, id, offset_ps(plane, point->at_ps));
	ts_xspacew_double_stat(plane->out, XEVENT_STATS, STAT_VALUE, point->value);
	ts_pbw_end(plane->out, event);
}

static void put_counter_names(const struct plane *plane, uint32_t id)
{
	struct ts_buf name = TS_BUF_INIT;

	for (size_t i = plane->nr_slices; i < plane->nr_tracks; i++) {
		ts_buf_clear(&name);
		counter_name(&name, plane->tracks[i]->name);
		ts_xspacew_name(plane->out, XPLANE_EVENT_METADATA, id++, ts_buf_bytes(&name));
		plane->out->failed |= name.failed;
	}
	ts_buf_release(&name);
}

static void xplane_put_counters(const struct plane *plane, uint32_t first_id)
{
	size_t nr = plane->nr_tracks - plane->nr_slices, which = 0, line;
	size_t *at = calloc(nr + 1, sizeof(*at));
	const struct ts_track *track;

	if (!at) {
		plane->out->failed = true;
		return;
	}
	line = begin_line(plane, plane->nr_slices + 1, "_counters_");
	while ((track = next_point(plane, at, &which)) != NULL) {
		put_point(plane, first_id + (uint32_t)which, &track->points[at[which]]);
		at[which]++;
	}
	ts_pbw_end(plane->out, line);
	free(at);
}

/* A plane. */

static void put_stat_names(const struct plane *plane)
{
	struct ts_buf key = TS_BUF_INIT;

	for (uint32_t id = 1; id < STAT_FIRST_KEY; id++)
		ts_xspacew_name(plane->out, XPLANE_STAT_METADATA, id, ts_bytes_of(stat_names[id]));
	for (uint32_t i = 0; i < plane->nr_keys; i++) {
		ts_buf_clear(&key);
		arg_key(&key, plane->key_names[i]);
		ts_xspacew_name(plane->out, XPLANE_STAT_METADATA, STAT_FIRST_KEY + i,
				ts_buf_bytes(&key));
		plane->out->failed |= key.failed;
	}
	ts_buf_release(&key);
}

static void put_plane_stats(const struct plane *plane, size_t native_bytes)
{
	ts_xspacew_u64_stat(plane->out, XPLANE_STATS, STAT_MARK, native_bytes);
	ts_xspacew_text_stat(plane->out, XPLANE_STATS, STAT_VERSION, ts_bytes_of(PACKAGE_VERSION));
	ts_xspacew_text_stat(plane->out, XPLANE_STATS, STAT_GENERATOR, TS_LIT(OVERLAY_GENERATOR));
	ts_xspacew_text_stat(plane->out, XPLANE_STATS, STAT_NOTE, TS_LIT(OVERLAY_NOTE));
}

static size_t begin_plane(struct ts_buf *out, int64_t id, const struct ts_device *device,
			  const char *what)
{
	static const char prefix[] = "/device:";
	size_t skip = ts_bytes_starts(device->name, prefix) ? sizeof(prefix) - 1 : 0, mark;
	struct ts_buf name = TS_BUF_INIT;

	ts_buf_puts(&name, OVERLAY_PLANE " ");
	ts_buf_put(&name, ts_bytes_cut(device->name, skip, device->name.n));
	ts_buf_puts(&name, what);
	ts_buf_puts(&name, device->predicted.n > 0 ? " (predicted)" : "");
	mark = ts_xspacew_plane_begin(out, id, ts_buf_bytes(&name));
	out->failed |= name.failed;
	ts_buf_release(&name);
	return mark;
}

/* Gives its place: process id PID, or where there was room. */
static int64_t xplane_put_plane(struct space *space, struct plane *plane,
				const struct ts_device *device, int64_t pid, const char *what)
{
	const struct ts_plane *native = &space->profile->planes[device->plane];
	uint32_t counter_id;
	size_t mark;

	set_clock(plane, space->profile, native);
	pid = take_pid(space, pid);
	mark = begin_plane(space->out, pid - PID_CUSTOM, device, what);
	put_plane_stats(plane, space->native_bytes);
	xplane_put_rows(plane);
	counter_id = xplane_put_labels(plane);
	if (plane->nr_tracks > plane->nr_slices) {
		put_counter_names(plane, counter_id);
		xplane_put_counters(plane, counter_id);
	}
	put_stat_names(plane);
	ts_pbw_end(space->out, mark);
	return pid;
}

/* Tracks of a device, slices in front. An insertion keeps those of one order as they came. */

static bool goes_before(const struct ts_track *a, const struct ts_track *b)
{
	if (a->kind != b->kind)
		return a->kind == TS_TRACK_SLICES;
	return a->order < b->order;
}

static void xplane_add_track(struct plane *plane, size_t *cap, const struct ts_track *track)
{
	size_t at = plane->nr_tracks;

	if (!ts_grow(&plane->tracks, cap, plane->nr_tracks + 1, sizeof(*plane->tracks))) {
		plane->out->failed = true;
		return;
	}
	for (; at > 0 && goes_before(track, plane->tracks[at - 1]); at--)
		plane->tracks[at] = plane->tracks[at - 1];
	plane->tracks[at] = track;
	plane->nr_tracks++;
	plane->nr_slices += track->kind == TS_TRACK_SLICES;
}

/* A counter that is 0 all the time would be an empty row. */
static bool has_content(const struct ts_track *track)
{
	for (size_t i = 0; i < track->nr_points; i++)
		if (isfinite(track->points[i].value) && track->points[i].value != 0)
			return true;
	return track->nr_slices > 0;
}

static void collect_tracks(struct plane *plane, const struct ts_results *results, uint32_t device)
{
	size_t cap = 0;

	for (size_t i = 0; i < results->nr; i++)
		for (size_t k = 0; k < results->items[i]->nr_tracks; k++) {
			const struct ts_track *track = &results->items[i]->tracks[k];

			if (track->device == device && has_content(track))
				xplane_add_track(plane, &cap, track);
		}
}

/* Is the counter AT the first of its unit? The others say more of the same. */
static bool is_first_of_unit(const struct plane *all, size_t at)
{
	const char *unit = all->tracks[at]->unit;

	for (size_t i = all->nr_slices; i < at; i++) {
		const char *other = all->tracks[i]->unit;

		if (unit && other ? strcmp(unit, other) == 0 : unit == other)
			return false;
	}
	return true;
}

/* Behind the rows MAIN counters, then the others; gives the number of the former. */
static size_t part_counters(struct plane *all)
{
	size_t nr = 0;

	for (size_t i = all->nr_slices; i < all->nr_tracks && nr < MAIN_COUNTERS; i++) {
		const struct ts_track *track = all->tracks[i];

		if (!is_first_of_unit(all, i))
			continue;
		for (size_t at = i; at > all->nr_slices + nr; at--)
			all->tracks[at] = all->tracks[at - 1];
		all->tracks[all->nr_slices + nr++] = track;
	}
	return nr;
}

/* The groups of a device: rows right under it, main counters under those, and what more there is
 * below all devices. */
enum group { GROUP_ROWS, GROUP_COUNTERS, GROUP_MORE, NR_GROUPS };

static const char *const group_names[NR_GROUPS] = { "", " counters", " more counters" };

static struct plane xplane_group_of(const struct plane *all, size_t nr_main, enum group group)
{
	const size_t ends[NR_GROUPS + 1] = { 0, all->nr_slices, all->nr_slices + nr_main,
					     all->nr_tracks };

	return (struct plane){ .out = all->out,
			       .profile = all->profile,
			       .tracks = all->tracks + ends[group],
			       .nr_tracks = ends[group + 1] - ends[group],
			       .nr_slices = group == GROUP_ROWS ? all->nr_slices : 0 };
}

static void xplane_put_groups(struct space *space, const struct plane *all, uint32_t index,
			      enum group first, enum group last, size_t nr_main)
{
	const struct ts_device *device = &space->profile->devices[index];
	int64_t pid = first == GROUP_MORE
			      ? PID_CUSTOM
			      : device_pid(space->profile->planes[device->plane].id) + 1;

	for (enum group group = first; group <= last; group++) {
		struct plane plane = xplane_group_of(all, nr_main, group);

		if (plane.nr_tracks)
			pid = xplane_put_plane(space, &plane, device, pid, group_names[group]) + 1;
		free(plane.key_names);
		ts_strmap_release(&plane.keys);
	}
}

static void xplane_put_device(struct space *space, uint32_t index, enum group first,
			      enum group last)
{
	struct plane all = { .out = space->out, .profile = space->profile };

	collect_tracks(&all, space->results, index);
	if (all.nr_tracks > 0 && !space->out->failed)
		xplane_put_groups(space, &all, index, first, last, part_counters(&all));
	free(all.tracks);
}

static void xplane_put_devices(struct space *space, uint32_t host, enum group first,
			       enum group last)
{
	for (uint32_t i = 0; i < space->profile->nr_devices; i++)
		if (space->profile->devices[i].host == host)
			xplane_put_device(space, i, first, last);
}

enum ts_status ts_overlay_planes(struct ts_buf *out, const struct ts_profile *profile,
				 uint32_t host, const struct ts_results *results,
				 size_t native_bytes, struct ts_error *err)
{
	struct space space = {
		.out = out, .profile = profile, .results = results, .native_bytes = native_bytes
	};

	TS_ASSERT(profile);
	TS_ASSERT(host < profile->nr_hosts);
	for (size_t i = 0; i < profile->hosts[host].nr_planes; i++) {
		int64_t pid = native_pid(&profile->planes[profile->hosts[host].first_plane + i]);

		if (pid >= 0 && pid < PID_MAX)
			space.pid_used[pid] = true;
	}
	xplane_put_devices(&space, host, GROUP_ROWS, GROUP_COUNTERS);
	xplane_put_devices(&space, host, GROUP_MORE, GROUP_MORE);
	return out->failed ? ts_fail_nomem(err) : TS_OK;
}

enum ts_status ts_overlay_tail(struct ts_buf *out, struct ts_bytes native,
			       const struct ts_profile *profile, uint32_t host,
			       const struct ts_results *results, struct ts_error *err)
{
	struct ts_buf planes = TS_BUF_INIT;
	enum ts_status st;

	TS_ASSERT(out && profile && results);
	if (!ts_chunk_probe(native))
		return ts_overlay_planes(out, profile, host, results, native.n, err);
	st = ts_overlay_planes(&planes, profile, host, results, native.n, err);
	if (st == TS_OK && planes.n > 0)
		ts_chunk_put(out, native.n, ts_buf_bytes(&planes));
	ts_buf_release(&planes);
	return st == TS_OK && out->failed ? ts_fail_nomem(err) : st;
}

bool ts_overlay_fits(struct ts_bytes native, size_t tail_bytes)
{
	TS_ASSERT(native.p || native.n == 0);
	return (ts_chunk_probe(native) ? 0 : native.n) + tail_bytes <= TS_OVERLAY_FILE_MAX;
}
