/* SPDX-License-Identifier: MIT */
/*
 * A run whose analyses pass their states on in their saved form, as states of other machines come, with bytes of these
 * changed on the way: loaded or refused, merged, closed and reported. The first byte of the input chooses the profile; then
 * come changes of four bytes each: which of the states, where in it (two bytes), and the byte that stands there instead.
 */
#include "run/state.h"
#include "io/input.h"
#include "tests/run/memory_run.h"

#define CHANGE_BYTES 4

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct source {
	const char *path, *reader;
};

static const struct source sources[] = {
	{ TS_SRCDIR "/tests/fuzz/seeds/trace/memory", "chrome" },
	{ TS_SRCDIR "/tests/fuzz/seeds/trace/launches", "chrome" },
	{ TS_SRCDIR "/tests/fuzz/seeds/trace/compiled", "chrome" },
	{ TS_SRCDIR "/tests/data/hand_made.pt.trace.json", "chrome" },
	{ TS_SRCDIR "/tests/fuzz/seeds/xplane/plain", "xplane" },
	{ TS_SRCDIR "/tests/fuzz/seeds/xplane/steps_marked", "xplane" },
	{ TS_SRCDIR "/tests/fuzz/seeds/trace/synchronized", "chrome" },
};

static struct ts_input inputs[TS_NELEM(sources)]; /* the process's own, read once */

struct changes {
	struct ts_bytes list;
	size_t nr_states;
};

/* The bytes are the pass's own buffer, which it is about to load. */
static void change(void *ctx, const struct ts_analysis *analysis, struct ts_bytes saved)
{
	struct changes *changes = ctx;
	uint8_t *bytes = (uint8_t *)(uintptr_t)saved.p, number = (uint8_t)changes->nr_states++;

	(void)analysis;
	for (size_t i = 0; i + CHANGE_BYTES <= changes->list.n && saved.n; i += CHANGE_BYTES) {
		const uint8_t *one = changes->list.p + i;

		if (one[0] == number)
			bytes[(size_t)(one[1] << 8 | one[2]) % saved.n] = one[3];
	}
}

static void report(const struct memory_run *mem)
{
	struct ts_report form = {
		.generator = "tpusight", .version = "0", .width = 80, .max_track_items = 100
	};

	for (size_t i = 0; ts_outputs[i]; i++) {
		struct ts_buf out = TS_BUF_INIT;

		ts_outputs[i]->emit(&out, &mem->run.results, &form, NULL);
		ts_buf_release(&out);
	}
}

static const struct ts_input *input_of(size_t number)
{
	struct ts_input *input = &inputs[number];

	if (!input->bytes.p && ts_input_open(input, sources[number].path, NULL))
		abort();
	return input;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	size_t number = n ? data[0] % TS_NELEM(sources) : 0;
	struct changes changes = { ts_bytes_cut((struct ts_bytes){ data, n }, 1, n), 0 };
	const struct ts_state_sink sink = { &changes, change };
	struct memory_run mem;

	memory_run_init(&mem);
	mem.states = &sink;
	if (memory_run_add_as(&mem, memory_run_reader(sources[number].reader),
			      input_of(number)->bytes, "host", NULL))
		abort();
	if (memory_run_analyse(&mem, 100, NULL) == TS_OK)
		report(&mem);
	memory_run_release(&mem);
	return 0;
}
