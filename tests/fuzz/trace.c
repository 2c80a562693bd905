/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the traces of a job, the whole way of `tpusight report`, `memory` and their like: up
 * to four ranks (a byte 0x1e between them), read, merged and analysed together; the report in every
 * form, each view as rows; the annotated copy of each rank, and a trimmed one. The JSON must be JSON.
 */
#include <cjson/cJSON.h>

#include "copy/trim.h"
#include "run/annotated.h"
#include "tests/run/memory_run.h"
#include "write/flame_outputs.h"
#include "tests/fuzz/mutate/mutator.h"

#define CHROME	  memory_run_reader("chrome")
#define MAX_RANKS 4
#define BETWEEN	  0x1e

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(ranks)

struct ranks {
	struct ts_bytes bytes[MAX_RANKS];
	size_t nr;
};

static struct ranks ranks_of(struct ts_bytes all)
{
	struct ranks ranks = { .nr = 0 };

	while (ranks.nr < MAX_RANKS) {
		const uint8_t *end = all.n ? memchr(all.p, BETWEEN, all.n) : NULL;
		size_t n = end && ranks.nr + 1 < MAX_RANKS ? (size_t)(end - all.p) : all.n;

		ranks.bytes[ranks.nr++] = ts_bytes_cut(all, 0, n);
		if (n == all.n)
			break;
		all = ts_bytes_cut(all, n + 1, all.n);
	}
	return ranks;
}

/* As ts_run_open() does: a rank that cannot be read is left out, the others count. */
static bool read_ranks(struct memory_run *mem, const struct ranks *ranks)
{
	static const char *const names[MAX_RANKS] = { "rank0", "rank1", "rank2", "rank3" };
	size_t nr_read = 0;

	for (size_t i = 0; i < ranks->nr; i++)
		nr_read += memory_run_add_as(mem, CHROME, ranks->bytes[i], names[i], NULL) == TS_OK;
	return nr_read > 0 && ts_profile_finish(&mem->run.profile, NULL) == TS_OK;
}

static void check_json(struct ts_bytes text)
{
	cJSON *json = cJSON_ParseWithLength((const char *)text.p, text.n);

	if (!json)
		abort(); /* what a script would stumble over */
	cJSON_Delete(json);
}

static bool is_json(const struct ts_output *output)
{
	return ts_bytes_ends(ts_bytes_of(output->extension), "json");
}

static void report_as(const struct ts_output *output, const struct memory_run *mem,
		      const char *view)
{
	struct ts_report form = { .generator = "tpusight",
				  .version = "0",
				  .view = view,
				  .width = 80,
				  .max_track_items = 100 };
	struct ts_buf out = TS_BUF_INIT;

	if (output->emit(&out, &mem->run.results, &form, NULL) == TS_OK && !out.failed &&
	    is_json(output))
		check_json(ts_buf_bytes(&out));
	ts_buf_release(&out);
}

static void report_all(const struct memory_run *mem)
{
	static const struct ts_output *const flames[] = {
		&ts_output_flame_text,
		&ts_output_flame_json,
		&ts_output_flame_folded,
		&ts_output_flame_speedscope,
	};

	for (size_t i = 0; i < TS_NELEM(flames); i++)
		report_as(flames[i], mem, "flame");
	for (size_t o = 0; ts_outputs[o]; o++) {
		report_as(ts_outputs[o], mem, NULL);
		for (size_t i = 0; i < mem->run.results.nr; i++)
			if (strcmp(ts_outputs[o]->name, "csv") == 0)
				report_as(ts_outputs[o], mem, mem->run.results.items[i]->name);
	}
}

static void annotate(const struct memory_run *mem, uint32_t host)
{
	struct ts_annotated_options options = { .nr_threads = 1, .version = "0", .source = "rank" };
	const struct ts_newfile_use use = { .is_named = true };
	struct ts_newfile file = TS_NEWFILE_INIT;

	if (ts_newfile_open_for(&file, "/dev/null", &use, NULL) == TS_OK)
		ts_annotated_write(&file, &mem->run.profile, host, &mem->run.results, &options,
				   NULL, NULL);
	ts_newfile_release(&file);
}

static void trim(const struct memory_run *mem, uint32_t host, struct ts_bytes bytes)
{
	struct ts_trim_choice choice = { .from_ps = 1000000, .to_ps = INT64_MAX };
	struct ts_trim_report report = { .damage = TS_ERROR_INIT };
	const struct ts_newfile_use use = { .is_named = true };
	struct ts_copy_out out = { .st = TS_OK };
	struct ts_trim plan = { .profile = NULL };

	choice.has_steps = mem->run.outline.steps.nr_steps > 0;
	choice.last_step = 8;
	if (ts_trim_plan(&plan, &mem->run.profile, &mem->run.outline.steps, &choice, NULL) ==
		    TS_OK &&
	    ts_copy_open(&out, "/dev/null", &use, NULL) == TS_OK) {
		ts_trim_trace(&plan, host, bytes, false, &out, &report, NULL);
		ts_copy_release(&out);
	}
	ts_trim_release(&plan);
}

/* The rank that a host was read from: one that could not be read may have left a host as well. */
static struct ts_bytes bytes_of(const struct ranks *ranks, struct ts_bytes host)
{
	size_t rank = host.n > 4 ? (size_t)(host.p[4] - '0') : 0;

	return rank < ranks->nr ? ranks->bytes[rank] : (struct ts_bytes){ NULL, 0 };
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ranks ranks = ranks_of((struct ts_bytes){ data, n });
	struct memory_run mem;
	struct ts_run_options options;

	memory_run_init(&mem);
	options = (struct ts_run_options){ .nr_threads = 1,
					   .settings = &mem.settings,
					   .overlay_budget = n % 3 == 0 ? 0 : 300,
					   .no_python = n % 2 == 0 };
	if (read_ranks(&mem, &ranks) && ts_run_analyse(&mem.run, &options, NULL) == TS_OK) {
		report_all(&mem);
		for (uint32_t i = 0; i < mem.run.profile.nr_hosts; i++) {
			const struct ts_host *host = &mem.run.profile.hosts[i];

			annotate(&mem, i);
			trim(&mem, i, bytes_of(&ranks, host->name));
		}
	}
	memory_run_release(&mem);
	return 0;
}
