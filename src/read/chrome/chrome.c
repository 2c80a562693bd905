/* SPDX-License-Identifier: MIT */
/*
 * The Chrome-trace reader: JSON as PyTorch's profiler (Kineto) and JAX's write it for Chromium's
 * trace viewer and for Perfetto, plain or packed. One file is one host, of a distributed job one
 * rank.
 */
#include "io/jsonhead.h"
#include "io/tracefile.h"
#include "read/chrome/chrome.h"

#define HEAD_BYTES 4096 /* looked at to know the format */

void ts_chrome_release(void *data)
{
	struct chrome_file *file = data;

	ts_chrome_names_release(&file->names);
	ts_sorter_release(&file->store);
	ts_chrome_args_release(&file->args);
	ts_chrome_flows_release(&file->flows);
	ts_chrome_texts_release(&file->texts);
	ts_scratch_release(&file->unpacked);
	pthread_mutex_destroy(&file->text_lock);
	free(file->devices);
	free(file->line_tracks);
	free(file->planes);
	free(file);
}

static struct chrome_file *chrome_new_file(struct ts_profile *profile, struct ts_bytes bytes)
{
	struct chrome_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->names.arena = &profile->arena;
	file->names.seed = file->args.seed = profile->op_seed;
	file->names.last_category = file->names.last_process = file->names.last_track = TS_NONE;
	ts_sorter_init(&file->store, &ts_chrome_sort_kind);
	ts_chrome_texts_init(&file->texts, profile->op_seed);
	file->unpacked = (struct ts_scratch)TS_SCRATCH_INIT;
	file->bytes = bytes;
	pthread_mutex_init(&file->text_lock, NULL);
	file->packed = ts_gzip_probe(bytes);
	file->base_unix_ns = file->rank = file->world_size = TS_UNKNOWN;
	file->step_track = file->step_source = TS_NONE;
	return file;
}

static void chrome_note_left_out(struct ts_profile *profile, struct ts_bytes name, uint64_t nr,
				 const char *which)
{
	char text[160];

	if (nr == 0)
		return;
	snprintf(text, sizeof(text), "%llu %s", (unsigned long long)nr, which);
	ts_profile_add_damage(profile, name, 0, text, true);
}

/* Notes what could not be read; the events before it count. */
static void chrome_note_damage(struct ts_profile *profile, const struct chrome_file *file,
			       struct ts_bytes name)
{
	if (file->damage[0])
		ts_profile_add_damage(profile, name, file->damage_at, file->damage, false);
	ts_chrome_note_lost(profile, file, name);
	chrome_note_left_out(profile, name, file->nr_left_out,
			     "events without a time, a beginning or a place were left out");
	chrome_note_left_out(
		profile, name, file->nr_over,
		"events of further threads were left out " TS_OVER(TS_LIMIT_TRACE_TRACKS));
	chrome_note_left_out(profile, name, file->nr_too_deep,
			     "events that did not end were left out " TS_OVER(TS_LIMIT_TRACE_OPEN));
	chrome_note_left_out(profile, name, file->nr_planes_over,
			     "processes were left out " TS_OVER(TS_LIMIT_DEVICES));
}

static enum ts_status nothing_read(const struct chrome_file *file, struct ts_error *err)
{
	if (file->damage[0])
		return ts_fail(err, TS_FORMAT,
			       "byte %llu: %s (is it a trace, and was it copied whole?)",
			       (unsigned long long)file->damage_at, file->damage);
	if (file->seams.events_at == TS_NO_SEAM)
		return ts_fail(err, TS_FORMAT,
			       "byte 0: JSON without a list of events, so not a trace (a trace has "
			       "traceEvents; give an .xplane.pb file or a trace)");
	return ts_fail(err, TS_FORMAT,
		       "byte 0: a trace without events: the profiler recorded nothing (let it run "
		       "around a step: its schedule has to reach active, or the with block to hold "
		       "the step)");
}

static enum ts_status chrome_look_strictly(struct ts_profile *profile, uint32_t index,
					   const struct chrome_file *file, bool mapped,
					   struct ts_strict *strict, struct ts_error *err)
{
	enum ts_status st = ts_chrome_strict_rest(file, mapped, strict, err);

	return st ? st
		  : ts_chrome_strict_note(&profile->arena, &profile->hosts[index], file, strict,
					  err);
}

static enum ts_status chrome_read(struct ts_profile *profile, const struct ts_read_request *request,
				  struct ts_error *err)
{
	uint32_t index = (uint32_t)profile->nr_hosts;
	struct ts_host *host = ts_profile_add_host(profile);
	struct chrome_file *file = host ? chrome_new_file(profile, request->bytes) : NULL;
	struct ts_error story = TS_ERROR_INIT;
	struct ts_strict strict;
	enum ts_status st;

	if (!file)
		return ts_fail_nomem(err);
	host->name = request->host;
	host->file = request->file;
	host->file_bytes = request->bytes.n;
	host->reader_data = file;
	host->reader_release = ts_chrome_release;
	if (ts_tracefile_is_annotated(request->bytes, &story))
		return ts_fail(err, TS_UNSUPPORTED,
			       "a copy that TPUsight annotated (name the trace it was made of)");
	if (story.status)
		return ts_fail_nomem(err);
	file->is_lazy = file->packed && request->is_one_of_many && !request->no_stats;
	ts_strict_init(&strict, NULL);
	st = ts_chrome_scan(file, request->mapped, !request->no_stats && !file->is_lazy,
			    request->wants_strict ? &strict : NULL, err);
	if (st == TS_OK && request->wants_strict)
		st = chrome_look_strictly(profile, index, file, request->mapped, &strict, err);
	if (st == TS_OK)
		st = ts_chrome_to_model(file, profile, index, err);
	if (st == TS_OK && profile->hosts[index].nr_planes == 0)
		return nothing_read(file, err);
	if (st == TS_OK && request->is_one_of_many)
		(void)ts_sorter_rest(&file->store, NULL); /* where there is no room, in memory */
	if (st == TS_OK)
		chrome_note_damage(profile, file, request->file);
	return st;
}

static int chrome_look(struct ts_bytes file, struct ts_bytes head)
{
	struct ts_bytes text = ts_jsonhead_start(head);

	if (!ts_bytes_starts(text, "{") && !ts_bytes_starts(text, "["))
		return 0;
	if (ts_bytes_starts(ts_jsonhead_find(head, "schema"), TS_REPORT_FAMILY))
		return 0;
	if (ts_bytes_has(head, "\"traceEvents\"") || ts_bytes_has(head, "\"ph\""))
		return 90;
	return ts_tracefile_is_named(file) ? 60 : 10;
}

static int chrome_probe(struct ts_bytes file, struct ts_bytes bytes)
{
	struct ts_buf head = TS_BUF_INIT;
	int sure;

	if (!ts_gzip_probe(bytes))
		return chrome_look(file, ts_bytes_cut(bytes, 0, HEAD_BYTES));
	if (ts_gunzip_head(bytes, &head, HEAD_BYTES, NULL) == TS_NOMEM)
		sure = ts_tracefile_is_named(file) ? 60 : 0; /* read() will report it */
	else
		sure = chrome_look(file, ts_buf_bytes(&head));
	ts_buf_release(&head);
	return sure;
}

const struct ts_reader ts_reader_chrome = {
	.name = "chrome",
	.title = "Chrome trace (PyTorch, JAX: .json, .json.gz)",
	.is_trace = true,
	.annotate = TS_ANNOTATE_COPY,
	.form = TS_FORM_TRACE,
	.probe = chrome_probe,
	.read = chrome_read,
	.stream = ts_chrome_stream,
	.place = ts_chrome_place,
	.rest = ts_chrome_rest,
};
