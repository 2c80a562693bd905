/* SPDX-License-Identifier: MIT */
/*
 * A run out of memory alone: bytes -> profile -> analyses -> report, as run/run does it from files.
 * For tests and fuzz targets, which have no files.
 */
#ifndef TS_TESTS_RUN_MEMORY_RUN_H
#define TS_TESTS_RUN_MEMORY_RUN_H

#include "analysis/settings.h"
#include "analysis/settings_list.h"
#include "run/run.h"
#include "overlay/xplane.h"
#include "read/reader.h"
#include "write/report_json.h"

struct memory_run {
	struct ts_run run;
	struct ts_settings settings;
	const struct ts_state_sink *states; /* see struct ts_passes */
	bool interleave;		    /* see struct ts_run_options */
	size_t max_ops, max_steps;	    /* likewise */
	bool is_one_of_many;		    /* see struct ts_read_request */
};

static inline void memory_run_init(struct memory_run *mem)
{
	ts_run_init(&mem->run);
	ts_settings_init(&mem->settings);
	mem->states = NULL;
	mem->interleave = false;
	mem->max_ops = mem->max_steps = 0;
	mem->is_one_of_many = false;
}

static inline void memory_run_release(struct memory_run *mem)
{
	ts_run_release(&mem->run);
}

/* The place of a reader in read/list.h. */
static inline uint32_t memory_run_reader(const char *name)
{
	uint32_t i = 0;

	while (ts_readers[i] && strcmp(ts_readers[i]->name, name) != 0)
		i++;
	return i;
}

/* BYTES must live as long as the run. READER: its place in read/list.h. */
static inline enum ts_status memory_run_add_as(struct memory_run *mem, uint32_t reader,
					       struct ts_bytes bytes, const char *host,
					       struct ts_error *err)
{
	struct ts_read_request request = { .bytes = bytes,
					   .file = TS_LIT("memory.xplane.pb"),
					   .host = ts_bytes_of(host),
					   .nr_threads = 1,
					   .wants_strict = true,
					   .is_one_of_many = mem->is_one_of_many };
	size_t index = mem->run.profile.nr_hosts;
	enum ts_status st = ts_readers[reader]->read(&mem->run.profile, &request, err);

	if (mem->run.profile.nr_hosts > index)
		mem->run.profile.hosts[index].reader = reader;
	return st;
}

static inline enum ts_status memory_run_add(struct memory_run *mem, struct ts_bytes bytes,
					    const char *host, struct ts_error *err)
{
	return memory_run_add_as(mem, 0, bytes, host, err);
}

static inline enum ts_status memory_run_analyse(struct memory_run *mem, size_t overlay_budget,
						struct ts_error *err)
{
	struct ts_run_options options = { .nr_threads = 1,
					  .settings = &mem->settings,
					  .overlay_budget = overlay_budget,
					  .interleave = mem->interleave,
					  .max_ops = mem->max_ops,
					  .max_steps = mem->max_steps,
					  .states = mem->states };
	enum ts_status st = ts_profile_finish(&mem->run.profile, err);

	return st ? st : ts_run_analyse(&mem->run, &options, err);
}

static inline enum ts_status memory_run_report(struct memory_run *mem, struct ts_buf *json,
					       struct ts_error *err)
{
	static const struct ts_report form = { .generator = "tpusight", .version = "0" };

	return ts_report_json(json, &mem->run.results, &form, err);
}

/* The whole way, with the overlay: what any bytes must survive. */
static inline enum ts_status memory_run_whole_as(uint32_t reader, struct ts_bytes bytes,
						 size_t *report_size)
{
	struct ts_buf json = TS_BUF_INIT, planes = TS_BUF_INIT;
	struct memory_run mem;
	enum ts_status st;

	memory_run_init(&mem);
	st = memory_run_add_as(&mem, reader, bytes, "host", NULL);
	if (st == TS_OK)
		st = memory_run_analyse(&mem, 500, NULL);
	if (st == TS_OK)
		st = memory_run_report(&mem, &json, NULL);
	for (uint32_t i = 0; st == TS_OK && i < mem.run.profile.nr_hosts; i++)
		st = ts_overlay_planes(&planes, &mem.run.profile, i, &mem.run.results, bytes.n,
				       NULL);
	*report_size = json.n;
	ts_buf_release(&json);
	ts_buf_release(&planes);
	memory_run_release(&mem);
	return st;
}

static inline enum ts_status memory_run_whole(struct ts_bytes bytes, size_t *report_size)
{
	return memory_run_whole_as(0, bytes, report_size);
}

#endif
