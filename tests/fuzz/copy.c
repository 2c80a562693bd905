/* SPDX-License-Identifier: MIT */
/* Any bytes as a profile or a trace: trimmed, redacted; what comes out is whole, and has none of the canaries that were planted. */
#include "codec/jtok.h"
#include "copy/redact.h"
#include "tests/copy/canary.h"
#include "tests/copy/trimmed.h"
#include "tests/fuzz/mutate/mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
FUZZ_MUTATOR(profile)

static bool is_closed(struct ts_bytes text)
{
	const uint8_t *end = text.n ? ts_jtok_value_end(text.p, text.p + text.n) : NULL;

	return !text.n || (end && ts_jtok_space(end, text.p + text.n) == text.p + text.n);
}

static void look(struct ts_bytes copy, bool trace)
{
	if (copy.n >= TS_COPY_BUFFER)
		return; /* the target has no file for so much */
	if (trace ? !is_closed(copy) : !is_sound_xspace(copy))
		abort();
}

static void trim(uint32_t reader, struct ts_bytes bytes, bool trace)
{
	struct ts_trim_choice choice = TRIM_ALL;
	struct ts_trim_report report;
	struct ts_buf out = TS_BUF_INIT;

	choice.from_ps = 5 * INT64_C(1000000);
	choice.to_ps = 40 * INT64_C(1000000);
	if (trimmed_as(reader, bytes, &choice, &out, &report, NULL) == TS_OK)
		look(ts_buf_bytes(&out), trace);
	ts_buf_clear(&out);
	choice = TRIM_ALL;
	choice.has_steps = true;
	choice.last_step = 10;
	if (trimmed_as(reader, bytes, &choice, &out, &report, NULL) == TS_OK)
		look(ts_buf_bytes(&out), trace);
	ts_buf_release(&out);
}

/* Opened once: the lists of public names are long. */
static const struct ts_names *names_of_all(void)
{
	static struct ts_names names;
	static bool open;
	struct ts_sipkey key = { { 1, 2 } };

	if (!open && ts_names_open(&names, &key, NULL, 0, NULL) != TS_OK)
		abort();
	open = true;
	return &names;
}

static void find_canary(struct ts_bytes copy, bool trace)
{
	size_t at = canary_find(copy), from = at > 60 ? at - 60 : 0;

	if (at < copy.n) {
		fprintf(stderr, "a canary is left: %.*s\n", 120, copy.p + from);
		abort();
	}
	if (!trace && canary_number_is_here(copy))
		abort();
}

static void redact(struct ts_bytes bytes, bool trace, bool planted)
{
	const struct ts_names *names = names_of_all();
	struct ts_copy_out out = { .file = TS_NEWFILE_INIT };
	struct ts_redact_report report;
	enum ts_status st = trace ? ts_redact_trace(names, bytes, false, &out, &report, NULL)
				  : ts_redact_xplane(names, bytes, &out, &report, NULL);

	if (st == TS_OK)
		look(ts_buf_bytes(&out.text), trace);
	if (planted)
		find_canary(ts_buf_bytes(&out.text), trace);
	ts_copy_release(&out);
}

/* With canaries in it. What has them, or their numbers, by itself says nothing. */
static void redact_planted(struct ts_bytes bytes, bool trace)
{
	struct rng rng = rng_of(bytes.n + (bytes.n > 9 ? bytes.p[9] : 0));
	struct ts_buf planted = TS_BUF_INIT;

	if (ts_gzip_probe(bytes) || canary_find(bytes) < bytes.n || canary_number_is_here(bytes))
		return;
	if (trace)
		canary_plant_json(bytes, &rng, 3, &planted);
	else
		canary_plant_wire(bytes, &rng, 3, &planted, 0);
	if (!planted.failed)
		redact(ts_buf_bytes(&planted), trace, true);
	ts_buf_release(&planted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ts_bytes bytes = { data, n };
	bool trace = n > 0 && (data[0] == '{' || data[0] == '[' || ts_gzip_probe(bytes));

	trim(memory_run_reader(trace ? "chrome" : "xplane"), bytes, trace);
	redact(bytes, trace, false);
	redact_planted(bytes, trace);
	return 0;
}
