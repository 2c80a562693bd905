/* SPDX-License-Identifier: MIT */
/*
 * Our reader of profiles held against classes that protoc-c generates from the schema: what these accept, ours reads
 * without a word of damage, and says the same of it, field by field: planes, lines, events, their names and their stats.
 *
 * The other way round is not asked for: ours steps over what it does not need, so damage in there is not seen, and of a
 * damaged file it reads what stands before the damage. Decided otherwise than the schema, and so by the reference here:
 * of an entry of a map that says its value twice, ours takes the second (the classes merge them); an event may have both
 * an offset and a number of occurrences; of a very long name of a plane, a line or a module the end is left out.
 */
#include "base/limits.h"
#include "codec/pb.h"
#include "codec/xspace.h"
#include "read/stream.h"
#include "model/nest.h"
#include "tests/run/memory_run.h"
#include "tests/fuzz/xspace.pb-c.h"
#include "tests/fuzz/mutate/mutator.h"

#define SHARED_BYTES 4096

FUZZ_MUTATOR(proto)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct seen { /* an event as our reader gave it */
	const uint8_t *body;
	struct ts_bytes name;
	int64_t start_ps, dur_ps, occurrences;
};

struct line_look {
	const struct ts_profile *profile;
	const Reference__XPlane *plane;
	const Reference__XLine *line;
	struct seen *events;
	size_t nr, cap;
	struct ts_faults faults;
};

static void differs(const char *what)
{
	fprintf(stderr, "our reader and the classes differ: %s\n", what);
	abort();
}

static void must(bool is_same, const char *what)
{
	if (!is_same)
		differs(what);
}

static struct ts_bytes view(ProtobufCBinaryData data)
{
	return (struct ts_bytes){ data.data, data.len };
}

/* Of the name of a plane, a line or a module ours keeps so many bytes. */
static struct ts_bytes kept(struct ts_bytes name)
{
	return ts_bytes_cut(name, 0, TS_LIMIT_NAME);
}

static struct ts_bytes label(ProtobufCBinaryData display, ProtobufCBinaryData name)
{
	return display.len ? view(display) : view(name);
}

/* The metadata of this id: what the last entry says; NULL: there is none. */
static const Reference__XEventMetadata *event_metadata(const Reference__XPlane *plane, int64_t id)
{
	for (size_t i = plane->n_event_metadata; i-- > 0;) {
		const Reference__EventMetadataEntry *entry = plane->event_metadata[i];

		if (entry->key == id && entry->n_value)
			return entry->value[entry->n_value - 1];
	}
	return NULL;
}

static const Reference__XStatMetadata *stat_metadata(const Reference__XPlane *plane, int64_t id)
{
	for (size_t i = plane->n_stat_metadata; i-- > 0;) {
		const Reference__StatMetadataEntry *entry = plane->stat_metadata[i];

		if (entry->key == id && entry->n_value)
			return entry->value[entry->n_value - 1];
	}
	return NULL;
}

static bool stat_has_name(const Reference__XPlane *plane, const Reference__XStat *stat,
			  const char *name)
{
	const Reference__XStatMetadata *metadata = stat_metadata(plane, stat->metadata_id);

	return metadata && ts_bytes_is(view(metadata->name), name);
}

static bool same_bits(double a, double b)
{
	return memcmp(&a, &b, sizeof(a)) == 0;
}

/* A text that is referred to may be cut: it stands once and is shown often. */
static bool same_start(struct ts_bytes got, struct ts_bytes want)
{
	return ts_bytes_eq(ts_bytes_cut(got, 0, SHARED_BYTES), ts_bytes_cut(want, 0, SHARED_BYTES));
}

static bool same_stat(const Reference__XPlane *plane, const Reference__XStat *want,
		      const struct ts_stat *got)
{
	const Reference__XStatMetadata *metadata;

	switch (want->value_case) {
	case REFERENCE__XSTAT__VALUE_DOUBLE_VALUE:
		return got->type == TS_STAT_REAL && same_bits(got->real, want->double_value);
	case REFERENCE__XSTAT__VALUE_UINT64_VALUE:
		return got->type == TS_STAT_INT && got->number == (int64_t)want->uint64_value;
	case REFERENCE__XSTAT__VALUE_INT64_VALUE:
		return got->type == TS_STAT_INT && got->number == want->int64_value;
	case REFERENCE__XSTAT__VALUE_STR_VALUE:
		return got->type == TS_STAT_TEXT && ts_bytes_eq(got->text, view(want->str_value));
	case REFERENCE__XSTAT__VALUE_BYTES_VALUE:
		return got->type == TS_STAT_TEXT && ts_bytes_eq(got->text, view(want->bytes_value));
	default:
		metadata = stat_metadata(plane, (int64_t)want->ref_value);
		return got->type == TS_STAT_TEXT &&
		       (metadata ? same_start(got->text, view(metadata->name)) : !got->text.n);
	}
}

/* The first stat of the event that has this name and a value. */
static const Reference__XStat *stat_named(const Reference__XPlane *plane,
					  const Reference__XEvent *event, const char *name)
{
	for (size_t i = 0; i < event->n_stats; i++)
		if (event->stats[i]->value_case && stat_has_name(plane, event->stats[i], name))
			return event->stats[i];
	return NULL;
}

/* All names that the plane knows are asked of the event: as many as a profile really has. */
static void look_at_stats(const struct line_look *look, const Reference__XEvent *event,
			  const struct ts_block *block, size_t at)
{
	for (size_t i = 0; i < look->plane->n_stat_metadata && i < 64; i++) {
		const Reference__StatMetadataEntry *entry = look->plane->stat_metadata[i];
		const Reference__XStat *want;
		struct ts_stat got;
		char name[128];
		size_t n = entry->n_value ? entry->value[entry->n_value - 1]->name.len : 0;

		if (n == 0 || n >= sizeof(name) ||
		    memchr(entry->value[entry->n_value - 1]->name.data, 0, n))
			continue;
		memcpy(name, entry->value[entry->n_value - 1]->name.data, n);
		name[n] = '\0';
		want = stat_named(look->plane, event, name);
		must(block->stat(block, at, name, &got) == (want != NULL),
		     "whether an event has a stat");
		must(!want || same_stat(look->plane, want, &got), "a stat of an event");
	}
}

/* The place of an event in its line is that of its bytes: the classes do not say where theirs stood. */
static size_t place_of(const struct ts_line *line, const uint8_t *body)
{
	struct ts_pb_error error = { NULL, NULL };
	struct ts_pb pb = ts_pb_of(line->body, &error);
	size_t at = 0;

	while (ts_pb_next(&pb) && !(pb.field == XLINE_EVENTS && pb.data == body))
		at += pb.field == XLINE_EVENTS;
	return at;
}

static enum ts_status keep_block(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	struct line_look *look = ctx;

	if (!ts_grow(&look->events, &look->cap, look->nr + block->nr_events, sizeof(*look->events)))
		return ts_fail_nomem(err);
	for (size_t i = 0; i < block->nr_events; i++) {
		look->events[look->nr++] =
			(struct seen){ block->body[i].p, block->profile->ops[block->op[i]].name,
				       block->start_ps[i], block->dur_ps[i],
				       block->occurrences ? block->occurrences[i] : 1 };
		if (look->line->n_events <= 200) {
			size_t at = place_of(block->line, block->body[i].p);

			must(at < look->line->n_events, "where an event stands");
			look_at_stats(look, look->line->events[at], block, i);
		}
	}
	return TS_OK;
}

static int by_body(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return (x->body > y->body) - (x->body < y->body);
}

/* "jit_f(12)" is an execution of jit_f on a TPU, which the op is called after. */
static bool is_name_of(struct ts_bytes name, const Reference__XEventMetadata *metadata)
{
	struct ts_bytes full;

	if (!metadata)
		return ts_bytes_is(name, "(event without metadata)");
	full = view(metadata->name);
	return ts_bytes_eq(name, label(metadata->display_name, metadata->name)) ||
	       (name.n < full.n && (full.p[name.n] == '(' || name.n == TS_LIMIT_NAME) &&
		ts_bytes_ends(full, ")") && ts_bytes_eq(name, ts_bytes_cut(full, 0, name.n)));
}

static void look_at_event(const struct ts_line *line, const struct line_look *look,
			  const Reference__XEvent *want, const struct seen *got)
{
	int64_t start_ps = ts_time_bound(ts_i64_add(line->start_ps, want->offset_ps));
	int64_t end_ps = ts_time_bound(ts_i64_add(start_ps, TS_MAX(want->duration_ps, 0)));
	enum ts_plane_kind kind = look->profile->planes[line->plane].kind;

	must(got->start_ps == start_ps, "the start of an event");
	must(got->dur_ps == end_ps - start_ps, "the duration of an event");
	must(got->occurrences == TS_MAX(want->num_occurrences, 1), "the occurrences of an event");
	if (kind != TS_PLANE_GPU && kind != TS_PLANE_METADATA) /* an op by its stats; modules */
		must(is_name_of(got->name, event_metadata(look->plane, want->metadata_id)),
		     "the name of an event");
}

static enum ts_status stream(struct ts_profile *profile, uint32_t line, struct line_look *look,
			     struct ts_error *err)
{
	struct ts_sink sink = {
		.ctx = look, .columns = TS_COL_STATS, .block = keep_block, .faults = &look->faults
	};
	enum ts_status st = ts_stream_line(profile, line, &sink, err);

	if (st != TS_UNSORTED)
		return st;
	look->nr = 0;
	look->faults = (struct ts_faults){ 0 };
	profile->lines[line].unsorted = true;
	return ts_stream_line(profile, line, &sink, err);
}

/* protoc-c's classes pass over a field with the number 0, which protobuf's own refuse as we do. */
static bool is_field_0(struct ts_bytes cause)
{
	return ts_bytes_has(cause, "no field has this tag");
}

static bool times_can_be(const struct ts_faults *faults)
{
	uint64_t nr = faults->of[TS_FAULT_OUTSIDE].nr + faults->of[TS_FAULT_ENDLESS].nr;

	return nr + faults->of[TS_FAULT_OVER].nr ==
	       0; /* a length below 0 counts as 0 in the reference, too */
}

/* A line at another time than the rest has a note in place of its events. */
static bool is_left_out(const struct ts_profile *profile, const struct ts_line *line)
{
	for (size_t i = 0; i < profile->nr_damage && line->nr_events == 0; i++)
		if (profile->damage[i].minor && profile->damage[i].nr_events > 0)
			return true;
	return false;
}

static void look_at_line(struct ts_profile *profile, uint32_t index, const Reference__XPlane *plane,
			 const Reference__XLine *want)
{
	struct line_look look = { .profile = profile, .plane = plane, .line = want };
	const struct ts_line *got = &profile->lines[index];
	struct ts_error err = TS_ERROR_INIT;

	if (stream(profile, index, &look, &err)) {
		must(is_field_0(ts_bytes_of(err.text)), "whether the events of a line are damaged");
		free(look.events);
		return;
	}
	must(got->id == want->id, "the id of a line");
	must(ts_bytes_eq(got->name, kept(label(want->display_name, want->name))),
	     "the name of a line");
	must(got->timestamp_ns == want->timestamp_ns, "when a line begins");
	if (is_left_out(profile, got)) {
		free(look.events);
		return;
	}
	must(got->nr_events == want->n_events, "the number of events of a line");
	if (times_can_be(&look.faults)) {
		must(look.nr == want->n_events, "how many events of a line are given");
	} else {
		must(look.nr <= want->n_events, "how many events of a line are given");
		look.nr = 0; /* some are left out or cut, and counted */
	}
	if (look.nr)
		qsort(look.events, look.nr, sizeof(*look.events), by_body);
	for (size_t i = 0; i < look.nr; i++)
		look_at_event(got, &look, want->events[i], &look.events[i]);
	free(look.events);
}

static void look_at_plane(struct ts_profile *profile, const struct ts_plane *got,
			  const Reference__XPlane *want)
{
	must(got->id == want->id, "the id of a plane");
	must(ts_bytes_eq(got->name, kept(view(want->name))), "the name of a plane");
	if (got->kind == TS_PLANE_OURS)
		return; /* never analysed */
	must(got->nr_lines == want->n_lines, "the number of lines of a plane");
	for (uint32_t i = 0; i < got->nr_lines; i++)
		look_at_line(profile, got->first_line + i, want, want->lines[i]);
}

static void look_at_messages(const struct ts_bytes *got, size_t nr, ProtobufCBinaryData *want,
			     size_t nr_want)
{
	must(nr == nr_want, "the number of messages");
	for (size_t i = 0; i < nr && i < TS_MAX_MESSAGES; i++)
		must(ts_bytes_eq(got[i], view(want[i])), "a message of the profiler");
}

/* Those of the file: behind them are the CPUs that the reader makes of what threads ran (read/xplane/cpu.c). */
static size_t nr_read_planes(const struct ts_profile *profile)
{
	size_t nr_made = 0;

	for (size_t i = 0; i < profile->nr_devices; i++)
		nr_made += profile->devices[i].is_cpu;
	return profile->nr_planes - nr_made;
}

static void look(struct ts_profile *profile, const Reference__XSpace *want)
{
	const struct ts_host *host = &profile->hosts[0];

	for (size_t i = 0; i < profile->nr_damage; i++) {
		if (is_field_0(profile->damage[i].cause))
			return;
		must(profile->damage[i].minor, "whether the file is damaged");
	}
	must(nr_read_planes(profile) == want->n_planes, "the number of planes");
	for (size_t i = 0; i < want->n_planes; i++)
		look_at_plane(profile, &profile->planes[i], want->planes[i]);
	look_at_messages(host->errors, host->nr_errors, want->errors, want->n_errors);
	look_at_messages(host->warnings, host->nr_warnings, want->warnings, want->n_warnings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	Reference__XSpace *want = n > 200000 ? NULL : reference__xspace__unpack(NULL, n, data);
	struct memory_run mem;

	if (!want)
		return 0;
	memory_run_init(&mem);
	if (memory_run_add(&mem, (struct ts_bytes){ data, n }, "host", NULL) == TS_OK &&
	    ts_profile_finish(&mem.run.profile, NULL) == TS_OK)
		look(&mem.run.profile, want);
	else
		must(want->n_planes == 0, "whether this is a profile");
	memory_run_release(&mem);
	reference__xspace__free_unpacked(want, NULL);
	return 0;
}
