/* SPDX-License-Identifier: MIT */
/* Events of all lines as one stream: in order, each once, however little memory there is. */
#include "run/interleave.h"
#include "tests/run/memory_run.h"
#include "tests/test.h"

#define CHROME memory_run_reader("chrome")

static const char trace[] =
	"{\"traceEvents\":["
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":30,\"dur\":5,"
	"\"args\":{\"stream\":7,\"correlation\":42,\"bytes\":64}},"
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9,\"tid\":9,"
	"\"ts\":12,\"dur\":3,\"args\":{\"cbid\":211,\"correlation\":42}},"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::add\",\"pid\":9,\"tid\":9,\"ts\":10,"
	"\"dur\":10,\"args\":{\"correlation\":1}}]}";

struct seen {
	char names[128];
	uint64_t links[8];
	int64_t bytes;
	size_t nr;
};

static enum ts_status see(void *ctx, const struct ts_interleaved *interleaved, struct ts_error *err)
{
	struct seen *seen = ctx;
	struct ts_stat stat;

	for (size_t i = 0; i < interleaved->nr_events; i++) {
		struct ts_bytes name = interleaved->profile->ops[interleaved->op[i]].name;
		size_t used = strlen(seen->names);

		snprintf(seen->names + used, sizeof(seen->names) - used, "%.*s %lld;", TS_ARG(name),
			 (long long)(interleaved->start_ps[i] / 1000000));
		seen->links[seen->nr++] = interleaved->link[i];
		if (ts_interleaved_stat(interleaved, i, "bytes", &stat))
			seen->bytes = stat.number;
	}
	return TS_OK;
}

TEST(threads_and_streams_of_a_trace_are_one_stream_with_links)
{
	struct seen seen = { .bytes = -1 };
	struct ts_interleaved_sink sink = { &seen, see };
	struct memory_run mem;
	bool wanted[16];

	memset(wanted, 1, sizeof(wanted));
	memory_run_init(&mem);
	assert_int_equal(memory_run_add_as(&mem, CHROME, ts_bytes_of(trace), "host", NULL), TS_OK);
	assert_int_equal(ts_profile_finish(&mem.run.profile, NULL), TS_OK);
	assert_true(mem.run.profile.nr_lines <= TS_NELEM(wanted));

	assert_int_equal(ts_interleave_host(&mem.run.profile, 0, wanted, 2, &sink, NULL), TS_OK);

	assert_string_equal(seen.names, "aten::add 0;cudaLaunchKernel 2;k 20;");
	assert_true(seen.links[0] == TS_NO_LINK);
	assert_int_equal(seen.links[1], 42);
	assert_int_equal(seen.links[2], 42);
	assert_int_equal(seen.bytes, 64);
	memory_run_release(&mem);
}

/* Of the kernel: 7, 42 and 64; of a name that stands twice the first; of null and what is not there
 * nothing. */
static enum ts_status look_at_once(void *ctx, const struct ts_interleaved *interleaved,
				   struct ts_error *err)
{
	static const char *const names[] = { "bytes", "nothing", "stream", "twice", "none" };
	size_t *nr_kernels = ctx;

	for (size_t i = 0; i < interleaved->nr_events; i++) {
		struct ts_stat stats[TS_NELEM(names)], one;
		size_t found = 0;

		memset(stats, 0, sizeof(stats));
		stats[1].number = stats[4].number = -5;
		for (size_t k = 0; k < TS_NELEM(names); k++)
			found += ts_interleaved_stat(interleaved, i, names[k], &one);
		assert_int_equal(
			ts_interleaved_stats(interleaved, i, names, TS_NELEM(names), stats), found);
		assert_int_equal(stats[1].number, -5);
		assert_int_equal(stats[4].number, -5);
		if (found == 0)
			continue;
		(*nr_kernels)++;
		assert_int_equal(stats[0].number, 64);
		assert_int_equal(stats[2].number, 7);
		assert_int_equal(stats[3].number, 1);
	}
	return TS_OK;
}

TEST(stats_of_several_names_are_those_of_each)
{
	static const char text[] =
		"{\"traceEvents\":["
		"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,\"ts\":30,"
		"\"dur\":5,\"args\":{\"twice\":1,\"stream\":7,\"none\":null,\"twice\":2,"
		"\"bytes\":64}},"
		"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::add\",\"pid\":9,\"tid\":9,"
		"\"ts\":10,\"dur\":10}]}";
	size_t nr_kernels = 0;
	struct ts_interleaved_sink sink = { &nr_kernels, look_at_once };
	struct memory_run mem;
	bool wanted[16];

	memset(wanted, 1, sizeof(wanted));
	memory_run_init(&mem);
	assert_int_equal(memory_run_add_as(&mem, CHROME, ts_bytes_of(text), "host", NULL), TS_OK);
	assert_int_equal(ts_profile_finish(&mem.run.profile, NULL), TS_OK);
	assert_int_equal(ts_interleave_host(&mem.run.profile, 0, wanted, 2, &sink, NULL), TS_OK);
	assert_int_equal(nr_kernels, 1);
	memory_run_release(&mem);
}

TEST(of_equal_starts_the_longer_is_first_then_the_line)
{
	static const char text[] =
		"{\"traceEvents\":["
		"{\"ph\":\"X\",\"name\":\"short\",\"pid\":1,\"tid\":1,\"ts\":5,\"dur\":4},"
		"{\"ph\":\"X\",\"name\":\"alike\",\"pid\":1,\"tid\":2,\"ts\":5,\"dur\":4},"
		"{\"ph\":\"X\",\"name\":\"long\",\"pid\":1,\"tid\":3,\"ts\":5,\"dur\":9}]}";
	struct seen seen = { .nr = 0 };
	struct ts_interleaved_sink sink = { &seen, see };
	struct memory_run mem;
	bool wanted[16];

	memset(wanted, 1, sizeof(wanted));
	memory_run_init(&mem);
	assert_int_equal(memory_run_add_as(&mem, CHROME, ts_bytes_of(text), "host", NULL), TS_OK);
	assert_int_equal(ts_profile_finish(&mem.run.profile, NULL), TS_OK);
	assert_int_equal(ts_interleave_host(&mem.run.profile, 0, wanted, 2, &sink, NULL), TS_OK);
	assert_string_equal(seen.names, "long 0;short 0;alike 0;");
	memory_run_release(&mem);
}
