/* SPDX-License-Identifier: MIT */
/* Tracks of the run with their labels, the args of these, and arrows. */
#include "pod/saved_story.h"

#include "base/check.h"
#include "base/units.h"

/* A text or an integer; the key is a text of the program, here one of the file. */
struct saved_story_arg {
	struct ts_bytes key, text;
	int64_t number;
	bool is_text;
};

#define TS_SELF struct saved_story_arg
static TS_RECORD(arg, TS_TEXT(1, key), TS_TEXT(2, text), TS_NUMBER(3, number, TS_BY_HAND),
		 TS_NUMBER(4, is_text, TS_BY_HAND));
#undef TS_SELF

struct saved_story_label {
	struct ts_bytes name;
	struct saved_story_arg *args;
	size_t nr_args;
};

#define TS_SELF struct saved_story_label
static TS_RECORD(label, TS_TEXT(1, name),
		 TS_RECORDS(2, args, nr_args, arg_record, TS_BY_NOTHING, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_track_end
static TS_RECORD(end, TS_NUMBER(1, label, TS_BY_HAND), TS_NUMBER(2, number, TS_BY_HAND),
		 TS_NUMBER(3, begins, TS_BY_HAND), TS_NUMBER(4, other_ps, TS_BY_HAND));
#undef TS_SELF

struct saved_story_track {
	struct ts_bytes name, description;
	struct saved_story_label *labels;
	struct ts_slices slices;
	struct ts_track_end *ends;
	size_t nr_labels, nr_ends;
};

/* Slices name labels that are there, and so do ends, which stand in the order of these. */
static bool saved_story_is_track(const void *self)
{
	const struct saved_story_track *saved = self;

	for (size_t i = 0; i < saved->slices.nr; i++)
		if (saved->slices.items[i].label >= saved->nr_labels)
			return false;
	for (size_t i = 0; i < saved->nr_ends; i++)
		if (saved->ends[i].label >= saved->nr_labels ||
		    (i > 0 && saved->ends[i].label < saved->ends[i - 1].label))
			return false;
	return saved->name.p != NULL;
}

#define TS_SELF struct saved_story_track
static TS_RECORD_WITH(track, TS_VALID_IF(saved_story_is_track), TS_TEXT(1, name),
		      TS_TEXT(2, description),
		      TS_RECORDS(3, labels, nr_labels, label_record, TS_BY_NOTHING, TS_BY_HAND),
		      TS_STRUCT(4, slices, ts_slices_record),
		      TS_RECORDS(5, ends, nr_ends, end_record, TS_BY_NOTHING, TS_BY_HAND));
#undef TS_SELF

#define TS_SELF struct ts_saved_story
TS_RECORD_AS(ts_saved_story_record, story, ,
	     TS_RECORDS(1, tracks, nr, track_record, TS_BY_NOTHING, TS_BY_HAND));
#undef TS_SELF

/* ---- out */

static struct saved_story_label saved_story_label_of(const struct ts_label *label)
{
	struct saved_story_label saved = { .name = label->name,
					   .args = calloc(label->nr_args + 1, sizeof(*saved.args)),
					   .nr_args = label->nr_args };

	for (size_t i = 0; saved.args && i < label->nr_args; i++) {
		const struct ts_value *value = &label->args[i].value;
		bool is_text = value->type == TS_VALUE_TEXT;

		TS_ASSERT(is_text || value->type == TS_VALUE_INT);
		saved.args[i] = (struct saved_story_arg){ .key = ts_bytes_of(label->args[i].key),
							  .is_text = is_text };
		if (is_text)
			saved.args[i].text = value->as.s;
		else
			saved.args[i].number = value->as.i;
	}
	return saved;
}

static bool saved_story_save(const struct ts_track *track, struct saved_story_track *saved)
{
	bool good;

	*saved = (struct saved_story_track){
		.name = ts_bytes_of(track->name),
		.description = ts_bytes_of(track->description ? track->description : ""),
		.labels = calloc(track->nr_labels + 1, sizeof(*saved->labels)),
		.nr_labels = track->nr_labels,
		.slices = { .items = track->slices, .nr = track->nr_slices },
		.ends = (struct ts_track_end *)(uintptr_t)track->ends,
		.nr_ends = track->nr_ends,
	};
	good = saved->labels != NULL;
	for (size_t i = 0; saved->labels && i < track->nr_labels; i++) {
		saved->labels[i] = saved_story_label_of(&track->labels[i]);
		good &= saved->labels[i].args != NULL;
	}
	return good;
}

bool ts_saved_story_of(const struct ts_track *tracks, size_t nr, struct ts_saved_story *saved)
{
	bool good;

	TS_ASSERT(saved && (tracks || nr == 0));
	*saved = (struct ts_saved_story){ calloc(nr + 1, sizeof(*saved->tracks)), nr };
	good = saved->tracks != NULL;
	for (size_t i = 0; saved->tracks && i < nr; i++)
		good &= saved_story_save(&tracks[i], &saved->tracks[i]);
	return good;
}

void ts_saved_story_drop(struct ts_saved_story *saved)
{
	TS_ASSERT(saved);
	for (size_t i = 0; saved->tracks && i < saved->nr; i++) {
		for (size_t k = 0; saved->tracks[i].labels && k < saved->tracks[i].nr_labels; k++)
			free(saved->tracks[i].labels[k].args);
		free(saved->tracks[i].labels);
	}
	free(saved->tracks);
	*saved = (struct ts_saved_story){ .nr = 0 };
}

/* ---- and in */

static bool saved_story_load_label(const struct saved_story_label *saved, struct ts_arena *arena,
				   struct ts_label *label)
{
	struct ts_arg *args = ts_arena_array(arena, saved->nr_args + 1, sizeof(*args));

	for (size_t i = 0; args && i < saved->nr_args; i++) {
		const struct saved_story_arg *arg = &saved->args[i];

		args[i].key = arg->key.n > 0 ? (const char *)arg->key.p : "arg";
		args[i].value = arg->is_text ? ts_text(arg->text) : ts_int(arg->number);
	}
	*label = (struct ts_label){ saved->name, args, saved->nr_args };
	return args != NULL;
}

static bool saved_story_load_track(const struct saved_story_track *saved, struct ts_arena *arena,
				   struct ts_track *track)
{
	struct ts_label *labels = ts_arena_array(arena, saved->nr_labels + 1, sizeof(*labels));
	bool good = labels != NULL;

	for (size_t i = 0; labels && i < saved->nr_labels; i++)
		good &= saved_story_load_label(&saved->labels[i], arena, &labels[i]);
	*track = (struct ts_track){
		.kind = TS_TRACK_SLICES,
		.name = (const char *)saved->name.p,
		.description = saved->description.n > 0 ? (const char *)saved->description.p : NULL,
		.device = TS_NONE,
		.labels = labels,
		.nr_labels = saved->nr_labels,
		.slices = ts_arena_dup(arena, saved->slices.items, saved->slices.nr,
				       sizeof(*saved->slices.items)),
		.nr_slices = saved->slices.nr,
		.ends = ts_arena_dup(arena, saved->ends, saved->nr_ends, sizeof(*saved->ends)),
		.nr_ends = saved->nr_ends,
	};
	return good && track->slices && track->ends;
}

const struct ts_track *ts_saved_story_tracks(const struct ts_saved_story *saved,
					     struct ts_arena *arena)
{
	struct ts_track *tracks = ts_arena_array(arena, saved->nr + 1, sizeof(*tracks));

	TS_ASSERT(saved && arena);
	for (size_t i = 0; tracks && i < saved->nr; i++)
		if (!saved_story_load_track(&saved->tracks[i], arena, &tracks[i]))
			return NULL;
	return tracks;
}
