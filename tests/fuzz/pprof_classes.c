/* SPDX-License-Identifier: MIT */
/*
 * Our reader of memory profiles held against classes that protoc-c generates from pprof's schema: what both take says the
 * same, site by site: bytes, objects, kind, device, and the frames of the stack with function, file and line.
 *
 * What the classes take and ours refuses must be refused for its meaning (a reference to nothing, a size below zero), not
 * for its bytes. Decided otherwise than in pprof's tools: names are cut to 1024 bytes, and stacks to their 512 innermost frames.
 */
#include "tests/fuzz/pprof.pb-c.h"
#include "tests/read/pprof_walk.h"
#include "tests/fuzz/mutate/mutator.h"

#define MAX_NAME  1024
#define MAX_STACK 512

FUZZ_MUTATOR(proto)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void must(bool is_same, const char *what)
{
	if (is_same)
		return;
	fprintf(stderr, "our reader of pprof and the classes differ: %s\n", what);
	abort();
}

static struct ts_bytes string_of(const Reference__Profile *want, int64_t index)
{
	if (index <= 0 || (uint64_t)index >= want->n_string_table)
		return (struct ts_bytes){ NULL, 0 };
	return (struct ts_bytes){ want->string_table[index].data, want->string_table[index].len };
}

static bool is_string(const Reference__Profile *want, int64_t index, struct ts_bytes got)
{
	return ts_bytes_eq(got, ts_bytes_cut(string_of(want, index), 0, MAX_NAME));
}

/* The last one of an id counts. */
static const Reference__Function *function_of(const Reference__Profile *want, uint64_t id)
{
	for (size_t i = want->n_function; id && i-- > 0;)
		if (want->function[i]->id == id)
			return want->function[i];
	return NULL;
}

static const Reference__Location *location_of(const Reference__Profile *want, uint64_t id)
{
	for (size_t i = want->n_location; i-- > 0;)
		if (want->location[i]->id == id)
			return want->location[i];
	return NULL;
}

static void look_at_frame(const Reference__Profile *want, const Reference__Line *line,
			  const struct ts_frame *got)
{
	const Reference__Function *function = function_of(want, line->function_id);

	must(got->line == (line->line > 0 ? line->line : TS_UNKNOWN), "the line of a frame");
	must(is_string(want, function ? function->name : 0, got->function), "a function");
	must(is_string(want, function ? function->filename : 0, got->file), "a file");
}

static void look_at_stack(const Reference__Profile *want, const Reference__Sample *sample,
			  const struct ts_profile *profile, const struct ts_site *site)
{
	uint32_t at = 0;

	for (size_t i = 0; i < sample->n_location_id; i++) {
		const Reference__Location *location = location_of(want, sample->location_id[i]);

		must(location != NULL, "a place that is not there");
		for (size_t l = 0; l < location->n_line && at < MAX_STACK; l++, at++) {
			must(at < site->nr_frames, "the number of frames");
			look_at_frame(want, location->line[l],
				      &profile->frames[profile->stacked[site->first_frame + at]]);
		}
	}
	must(at == site->nr_frames, "the number of frames");
}

/* Which value of a sample is in this unit: the last one. */
static int64_t value_in(const Reference__Profile *want, const Reference__Sample *sample,
			const char *unit)
{
	for (size_t i = want->n_sample_type; i-- > 0;)
		if (ts_bytes_is(string_of(want, want->sample_type[i]->unit), unit))
			return i < sample->n_value ? sample->value[i] : TS_UNKNOWN;
	return TS_UNKNOWN;
}

static struct ts_bytes label_of(const Reference__Profile *want, const Reference__Sample *sample,
				const char *key)
{
	for (size_t i = sample->n_label; i-- > 0;)
		if (ts_bytes_is(string_of(want, sample->label[i]->key), key))
			return ts_bytes_cut(string_of(want, sample->label[i]->str), 0, MAX_NAME);
	return (struct ts_bytes){ NULL, 0 };
}

static void look_at_site(const Reference__Profile *want, const Reference__Sample *sample,
			 const struct ts_profile *profile, const struct ts_site *site)
{
	must(site->nr_bytes == value_in(want, sample, "bytes"), "the bytes of a site");
	must(site->nr_objects == value_in(want, sample, "count"), "the objects of a site");
	must(ts_bytes_eq(site->kind, label_of(want, sample, "kind")), "the kind of a site");
	must(ts_bytes_eq(site->device, label_of(want, sample, "device")), "the device of a site");
	look_at_stack(want, sample, profile, site);
}

/* Why ours may refuse what the classes take. */
static bool is_of_meaning(const char *cause)
{
	static const char *const causes[] = { "nothing in it is in bytes",
					      "that is not in the table", "a size below zero",
					      "without its size", "no field has this tag" };

	for (size_t i = 0; i < TS_NELEM(causes); i++)
		if (strstr(cause, causes[i]))
			return true;
	return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	Reference__Profile *want = n > 100000 ? NULL : reference__profile__unpack(NULL, n, data);
	struct ts_error err = TS_ERROR_INIT;
	struct memory_run mem;

	if (!want)
		return 0;
	memory_run_init(&mem);
	if (pprof_into(&mem, (struct ts_bytes){ data, n }, &err) == TS_OK) {
		must(mem.run.profile.nr_sites == want->n_sample, "the number of sites");
		for (size_t i = 0; i < want->n_sample; i++)
			look_at_site(want, want->sample[i], &mem.run.profile,
				     &mem.run.profile.sites[i]);
	} else {
		must(is_of_meaning(err.text), err.text);
	}
	memory_run_release(&mem);
	reference__profile__free_unpacked(want, NULL);
	return 0;
}
