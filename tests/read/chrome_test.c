/* SPDX-License-Identifier: MIT */
/*
 * The Chrome-trace reader: what PyTorch and JAX write and what stands in such files otherwise. Texts
 * are written out, and what they say is worked out by hand.
 */
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include "base/units.h"
#include "read/stream.h"
#include "io/gzip.h"
#include "model/trace_class.h"
#include "tests/run/memory_run.h"
#include "tests/read/corpus.h"
#include "tests/turn.h"
#include "tests/read/mutate.h"
#include "tests/test.h"

#define CHROME memory_run_reader("chrome")

static const char *const plane_words[] = { "other",    "tpu",  "sparsecore", "gpu", "host",
					   "metadata", "task", "custom",     "ours" };
static const char *const line_words[] = { "other",    "steps",	    "modules", "ops",
					  "async",    "traceme",    "thread",  "derived",
					  "sc_steps", "sc_modules", "sc_ops" };

struct dump {
	struct ts_buf *out;
	const char *stat; /* asked for of each event; NULL: none */
};

static void put_stat(struct dump *dump, const struct ts_block *block, size_t i)
{
	struct ts_stat stat;

	if (!dump->stat || !block->stat || !block->stat(block, i, dump->stat, &stat))
		return;
	if (stat.type == TS_STAT_TEXT)
		ts_buf_printf(dump->out, " '%.*s'", TS_ARG(stat.text));
	else if (stat.type == TS_STAT_REAL)
		ts_buf_printf(dump->out, " %g", stat.real);
	else
		ts_buf_printf(dump->out, " #%lld", (long long)stat.number);
}

static enum ts_status take_block(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	struct dump *dump = ctx;

	for (size_t i = 0; i < block->nr_events; i++) {
		const struct ts_op *op = &block->profile->ops[block->op[i]];

		ts_buf_printf(dump->out, " %.*s@%lld+%lld", TS_ARG(op->name),
			      (long long)(block->start_ps[i] / 1000),
			      (long long)(block->dur_ps[i] / 1000));
		if (block->depth[i])
			ts_buf_printf(dump->out, "^%u", block->depth[i]);
		put_stat(dump, block, i);
	}
	return TS_OK;
}

/* Each line with its events in the order of their ends; times in ns. */
static void dump_profile(const struct ts_profile *profile, const char *stat, struct ts_buf *out)
{
	struct dump dump = { out, stat };
	struct ts_sink sink = { &dump, stat ? TS_COL_STATS : 0, take_block };

	for (uint32_t i = 0; i < profile->nr_lines; i++) {
		const struct ts_line *line = &profile->lines[i];
		const struct ts_plane *plane = &profile->planes[line->plane];
		struct ts_error err = TS_ERROR_INIT;

		ts_buf_printf(out, "%s %.*s|%s %.*s:", plane_words[plane->kind],
			      TS_ARG(plane->name), line_words[line->kind], TS_ARG(line->name));
		assert_int_equal(ts_stream_line(profile, i, &sink, &err), TS_OK);
		ts_buf_putc(out, '\n');
	}
	for (size_t i = 0; i < profile->nr_damage; i++)
		ts_buf_printf(out, "! %llu %.*s\n", (unsigned long long)profile->damage[i].offset,
			      TS_ARG(profile->damage[i].cause));
}

/* What is read of BYTES, as text; of bytes that are no trace, the error. */
static void assert_read(struct ts_bytes bytes, const char *stat, const char *expected)
{
	struct ts_buf got = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct memory_run mem;

	memory_run_init(&mem);
	if (memory_run_add_as(&mem, CHROME, bytes, "host", &err))
		ts_buf_printf(&got, "error %s\n", err.text);
	else if (ts_profile_finish(&mem.run.profile, &err) == TS_OK)
		dump_profile(&mem.run.profile, stat, &got);
	ts_buf_putc(&got, '\0');
	assert_string_equal((char *)got.p, expected);
	ts_buf_release(&got);
	memory_run_release(&mem);
}

static void pack(struct ts_bytes text, struct ts_buf *packed)
{
	struct ts_gzip gz = TS_GZIP_INIT;

	assert_int_equal(ts_gzip_init(&gz, NULL), TS_OK);
	assert_int_equal(ts_gzip_member(&gz, packed, text, NULL, NULL), TS_OK);
	ts_gzip_release(&gz);
}

#define X(ts, dur, rest) "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":" ts ",\"dur\":" dur rest "}"
#define PLAIN(name) \
	"{\"name\":\"" name \
	"\",\"ph\":\"X\",\"ts\":1,\"dur\":2,\"tid\":1,\"pid\":\"CPU functions\",\"args\":{}}"
#define A(ts, dur)	 X(ts, dur, ",\"name\":\"a\"")

#define NO_EVENTS                                                                          \
	"error byte 0: a trace without events: the profiler recorded nothing (let it run " \
	"around a step: its schedule has to reach active, or the with block to hold the step)\n"

static const struct row {
	const char *text, *expected;
} rows[] = {
	/* forms */
	{ "[" A("10", "5") "]", "host process 1|thread thread 2: a@0+5000\n" },
	{ "{\"traceEvents\":[" A("10", "5") "]}", "host process 1|thread thread 2: a@0+5000\n" },
	{ "\xef\xbb\xbf {\"a\":{\"b\":[1,\"]}\"]},\"traceEvents\":[" A("10",
								       "5") ",],\"z\":[{}]}\n",
	  "host process 1|thread thread 2: a@0+5000\n" },
	{ "[" A("10", "5") ",\n" A("20", "5"),
	  "host process 1|thread thread 2: a@0+5000 a@10000+5000\n" },
	{ "{\"traceEvents\":[" A("10", "5") "],\"traceEvents\":[" A("1", "1") "]}",
	  "host process 1|thread thread 2: a@0+1000 a@9000+5000\n" },
	/* order, nesting, times */
	{ "[" A("20", "1") "," A("10", "5") "," A("11", "2") "]",
	  "host process 1|thread thread 2: a@1000+2000^1 a@0+5000 a@10000+1000\n" },
	{ "[" A("10", "1") "," A("10", "3") "]",
	  "host process 1|thread thread 2: a@0+1000^1 a@0+3000\n" },
	{ "[" A("1712195495502094.5", "0.25") "," A("1712195495502095.123456789", "1e0") "]",
	  "host process 1|thread thread 2: a@0+250 a@623+1000\n" },
	{ "[" A("1e3", "2.5E+1") "," A("\"1002\"", "\"3\"") "]",
	  "host process 1|thread thread 2: a@2000+3000^1 a@0+25000\n" },
	{ "[" A("-5.5", "1") "," A("0", "-3") "]",
	  "host process 1|thread thread 2: a@0+1000 a@5500+0\n" },
	{ "[" A("9e99", "1") "," A("1", "1") "]",
	  "host process 1|thread thread 2: a@0+1000\n"
	  "! 0 1 events without a time, a beginning or a place were left out\n" },
	/* NaN, control bytes, escapes, bytes that are not UTF-8, events without a name */
	{ "[" X("NaN", "1", "") "," X("3", "Infinity",
				      ",\"args\":{\"x\":-Infinity},\"name\":\"b\"") "]",
	  "host process 1|thread thread 2: b@0+0\n"
	  "! 0 1 events without a time, a beginning or a place were left out\n" },
	{ "[" X("3", "1",
		",\"name\":\"t\ta\x01 \\\"q\\\" \\u00e9 \\ud83d\\ude00 \\ud83d \\n\xff\"") "]",
	  "host process 1|thread thread 2: t\ta\x01 \"q\" \xc3\xa9 \xf0\x9f\x98\x80 \xef\xbf\xbd "
	  "\n\xff@0+1000\n" },
	{ "[" X("3", "1", "") "]", "host process 1|thread thread 2: @0+1000\n" },
	{ "[{\"ph\":\"X\",\"ts\":1,\"name\":\"a\"}]", "host process |thread thread : a@0+0\n" },
	/* ids as strings and as numbers, large and negative */
	{ "[{\"ph\":\"X\",\"pid\":\"7\",\"tid\":\"-9223372036854775808\",\"ts\":1,\"dur\":1,"
	  "\"name\":\"a\"},"
	  "{\"ph\":\"X\",\"pid\":7,\"tid\":-9223372036854775808,\"ts\":3,\"dur\":1,\"name\":\"b\"}"
	  "]",
	  "host process 7|thread thread -9223372036854775808: a@0+1000 b@2000+1000\n" },
	/* begin and end; an end without one, a begin without one */
	{ "[{\"ph\":\"B\",\"pid\":1,\"tid\":2,\"ts\":1,\"name\":\"a\"},"
	  "{\"ph\":\"B\",\"pid\":1,\"tid\":2,\"ts\":2,\"name\":\"b\"},"
	  "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":4},{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":9}"
	  "]",
	  "host process 1|thread thread 2: b@1000+2000^1 a@0+8000\n" },
	{ "[{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":4},{\"ph\":\"B\",\"pid\":1,\"tid\":2,\"ts\":5,"
	  "\"name\":\"a\"}," A("7", "3") "]",
	  "host process 1|thread thread 2: a@2000+3000^1 a@0+5000\n"
	  "! 0 1 events without a time, a beginning or a place were left out\n" },
	/* counters, instants, flows, metadata, unknown phases */
	{ "[{\"ph\":\"C\",\"pid\":1,\"tid\":2,\"ts\":1,\"name\":\"c\",\"args\":{\"v\":3}},"
	  "{\"ph\":\"I\",\"pid\":1,\"tid\":2,\"ts\":2,\"name\":\"i\"},{\"ph\":\"s\",\"ts\":3},{"
	  "\"ph\":\"Q\"},{}," A("5", "1") "]",
	  "host process 1|other counters 2: c@-4000+0\nhost process 1|other instants 2: i@-3000+0\n"
	  "host process 1|thread thread 2: a@0+1000\n" },
	{ "[{\"ph\":\"M\",\"pid\":1,\"name\":\"process_name\",\"args\":{\"name\":\"py\\u0041\"}},"
	  "{\"ph\":\"M\",\"pid\":1,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"x\":[{}],"
	  "\"name\":\"main\"}},"
	  "{\"ph\":\"M\"}," A("5", "1") "]",
	  "host pyA|thread main: a@0+1000\n" },
	/* a GPU and a thread that go by one number */
	{ "[" X("1", "1", ",\"cat\":\"kernel\",\"name\":\"k\"") "," X(
		  "1", "1", ",\"cat\":\"cpu_op\",\"name\":\"k\"") "]",
	  "gpu /device:GPU:1|ops stream 2: k@0+1000\nhost process 1|thread thread 2: k@0+1000\n" },
	/* planes by name, as JAX's traces have them */
	{ "[{\"ph\":\"M\",\"pid\":3,\"name\":\"process_name\",\"args\":{\"name\":\"/"
	  "device:TPU:0\"}},"
	  "{\"ph\":\"M\",\"pid\":3,\"tid\":1,\"name\":\"thread_name\",\"args\":{\"name\":\"XLA "
	  "Ops\"}},"
	  "{\"ph\":\"M\",\"pid\":3,\"tid\":2,\"name\":\"thread_name\",\"args\":{\"name\":\"Steps\"}"
	  "},"
	  "{\"ph\":\"X\",\"pid\":3,\"tid\":1,\"ts\":1,\"dur\":2,\"name\":\"fusion\",\"args\":{"
	  "\"hlo_category\":\"loop fusion\"}},"
	  "{\"ph\":\"X\",\"pid\":3,\"tid\":2,\"ts\":0,\"dur\":3,\"name\":\"0\"}]",
	  "tpu /device:TPU:0|ops XLA Ops: fusion@1000+2000\ntpu /device:TPU:0|steps Steps: "
	  "0@0+3000\n" },
	/* damage: what stands before it counts */
	{ "{\"traceEvents\":[" A("10", "5") ",{\"ph\":\"X\",\"ts\":",
	  "host process 1|thread thread 2: a@0+5000\n! 85 the trace ends in the middle\n" },
	{ "{\"traceEvents\":[" A("10", "5") "]",
	  "host process 1|thread thread 2: a@0+5000\n! 70 the trace ends in the middle\n" },
	{ "{\"traceEvents\":[" A("10", "5") ",nonsense]}",
	  "host process 1|thread thread 2: a@0+5000\n! 70 no trace event stands here\n" },
	{ "[" A("10", "5") ",{\"ph\" \"X\"}]",
	  "host process 1|thread thread 2: a@0+5000\n! 61 no trace event stands here\n" },
	{ "{\"traceEvents\":[" A("10", "5") "] \"z\" 5}",
	  "host process 1|thread thread 2: a@0+5000\n! 75 this is no JSON\n" },
	{ "", "error byte 0: the trace ends in the middle (is it a trace, and was it copied "
	      "whole?)\n" },
	{ "[]", NO_EVENTS },
	{ "{\"traceEvents\":[]}", NO_EVENTS },
	{ "{\"a\":1}", "error byte 0: JSON without a list of events, so not a trace (a trace has "
		       "traceEvents; give an .xplane.pb file or a trace)\n" },
	{ "hello", "error byte 0: this is no JSON (is it a trace, and was it copied whole?)\n" },
};

TEST(texts_say_what_they_say)
{
	for (size_t i = 0; i < TS_NELEM(rows); i++)
		assert_read(ts_bytes_of(rows[i].text), NULL, rows[i].expected);
}

TEST(packed_texts_say_the_same)
{
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_buf packed = TS_BUF_INIT;

		pack(ts_bytes_of(rows[i].text), &packed);
		assert_read(ts_buf_bytes(&packed), NULL, rows[i].expected);
		ts_buf_release(&packed);
	}
}

static struct ts_bytes sample(struct ts_arena *arena)
{
	struct ts_bytes bytes = { NULL, 0 };
	FILE *file = fopen(TS_SRCDIR "/tests/data/hand_made.pt.trace.json", "rb");
	uint8_t *p = ts_arena_alloc(arena, 16384);

	assert_non_null(file);
	assert_non_null(p);
	bytes = (struct ts_bytes){ p, fread(p, 1, 16384, file) };
	fclose(file);
	assert_true(bytes.n > 1000 && bytes.n < 16384);
	return bytes;
}

static const char sample_events[] =
	"gpu /device:GPU:0|steps Steps: 7@10000+200000 8@210000+200000\n"
	"gpu /device:GPU:0|ops stream 7: sm90_xmma_gemm_bf16@40000+100125 Memset "
	"(Device)@250000+1500\n"
	"gpu /device:GPU:0|ops stream 20: Memcpy HtoD (Pinned -> Device)@20000+30000 "
	"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)@100000+150000\n"
	"gpu /device:GPU:0|derived annotations 7: ProfilerStep#7@40000+100125\n"
	"other process Spans|other other PyTorch Profiler: PyTorch Profiler (0)@0+500000\n"
	"host python3|thread thread 100 (python3): cudaLaunchKernel@30000+5000^2 "
	"aten::mm@20500+40250^1 ProfilerStep#7@10000+200000 ProfilerStep#8@210000+200000\n"
	"host python3|other instants 100: [memory]@25000+0\n"
	"host process 0|thread thread 0: threading.py(1032): _bootstrap@1000+450000\n"
	"other process |other instants : Record Window End@500000+0\n";

TEST(a_trace_of_pytorch_becomes_planes_and_lines)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_buf got = TS_BUF_INIT;
	struct memory_run mem;
	const struct ts_profile *profile = &mem.run.profile;

	memory_run_init(&mem);
	assert_int_equal(memory_run_add_as(&mem, CHROME, sample(&arena), "host", NULL), TS_OK);
	assert_int_equal(ts_profile_finish(&mem.run.profile, NULL), TS_OK);
	dump_profile(profile, NULL, &got);
	ts_buf_putc(&got, '\0');
	assert_string_equal((char *)got.p, sample_events);
	assert_int_equal(profile->hosts[0].rank, 3);
	assert_int_equal(profile->hosts[0].world_size, 8);
	assert_int_equal(profile->start_unix_ns, INT64_C(1735632360001000000));
	assert_int_equal(profile->capture_ps, 500 * TS_PS_PER_US);
	assert_int_equal(profile->nr_devices, 1);
	assert_true(ts_bytes_is(profile->devices[0].kind, "NVIDIA H100 80GB HBM3"));
	assert_int_equal(profile->devices[0].core_count, 132);
	assert_int_equal(profile->devices[0].hbm_bytes, INT64_C(85018279936));
	ts_buf_release(&got);
	memory_run_release(&mem);
	ts_arena_release(&arena);
}

static enum ts_op_kind kind_of(const struct ts_profile *profile, const char *start)
{
	for (size_t i = 0; i < profile->nr_ops; i++)
		if (profile->ops[i].is_traced && ts_bytes_starts(profile->ops[i].name, start))
			return profile->ops[i].kind;
	fail_msg("%s: no such kernel", start);
	return TS_OP_OTHER;
}

TEST(kernels_are_told_by_their_names)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct memory_run mem;
	const struct ts_profile *profile = &mem.run.profile;

	memory_run_init(&mem);
	assert_int_equal(memory_run_add_as(&mem, CHROME, sample(&arena), "host", NULL), TS_OK);
	assert_int_equal(ts_profile_finish(&mem.run.profile, NULL), TS_OK);
	assert_int_equal(kind_of(profile, "sm90"), TS_OP_MATRIX);
	assert_int_equal(kind_of(profile, "nccl"), TS_OP_COLLECTIVE);
	assert_int_equal(kind_of(profile, "Memcpy HtoD"), TS_OP_HOST);
	assert_int_equal(kind_of(profile, "Memset"), TS_OP_MOVE);
	memory_run_release(&mem);
	ts_arena_release(&arena);
}

#define ARGS(rest) "[" X("3", "1", ",\"name\":\"a\",\"args\":{" rest "}") "]"

TEST(stats_are_found_by_name)
{
	static const struct row stats[] = {
		{ ARGS("\"y\":1,\"x\":18"), " #18" },
		{ ARGS("\"x\":12.5"), " 12.5" },
		{ ARGS("\"x\":\"allreduce\""), " 'allreduce'" },
		{ ARGS("\"x\":[24, 1, 1],\"z\":0"), " '[24, 1, 1]'" },
		{ ARGS("\"x\":{\"x\":2}"), " '{\"x\":2}'" },
		{ ARGS("\"x\":true"), " #1" },
		{ ARGS("\"x\":null"), "" },
		{ ARGS("\"n\":{\"x\":2}"), "" },
		{ ARGS(""), "" },
		{ "[" A("3", "1") "]", "" },
	};

	for (size_t i = 0; i < TS_NELEM(stats); i++) {
		struct ts_buf expected = TS_BUF_INIT, packed = TS_BUF_INIT;

		ts_buf_printf(&expected, "host process 1|thread thread 2: a@0+1000%s\n%c",
			      stats[i].expected, '\0');
		assert_read(ts_bytes_of(stats[i].text), "x", (char *)expected.p);
		pack(ts_bytes_of(stats[i].text), &packed);
		assert_read(ts_buf_bytes(&packed), "x", (char *)expected.p);
		ts_buf_release(&expected);
		ts_buf_release(&packed);
	}
}

static void print_stat(void *ctx, struct ts_bytes name, const struct ts_stat *stat)
{
	ts_buf_printf(ctx, " %.*s=", TS_ARG(name));
	if (stat->type == TS_STAT_TEXT)
		ts_buf_printf(ctx, "'%.*s'", TS_ARG(stat->text));
	else if (stat->type == TS_STAT_REAL)
		ts_buf_printf(ctx, "%.17g", stat->real);
	else
		ts_buf_printf(ctx, "%lld", (long long)stat->number);
}

static enum ts_status print_stats(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	for (size_t i = 0; i < block->nr_events; i++)
		block->each(block->profile, block->line, block->body[i], print_stat, ctx);
	return TS_OK;
}

static void assert_each(struct ts_bytes text, const char *expected)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_sink sink = { &out, TS_COL_STATS, print_stats };
	struct memory_run mem;

	memory_run_init(&mem);
	assert_int_equal(memory_run_add_as(&mem, CHROME, text, "host", NULL), TS_OK);
	assert_int_equal(ts_profile_finish(&mem.run.profile, NULL), TS_OK);
	assert_int_equal(ts_stream_line(&mem.run.profile, 0, &sink, NULL), TS_OK);
	ts_buf_putc(&out, '\0');
	assert_string_equal((char *)out.p, expected);
	ts_buf_release(&out);
	memory_run_release(&mem);
}

TEST(every_arg_of_an_event_is_visited)
{
	static const struct row stats[] = {
		{ ARGS("\"y\":1,\"x\":-18,\"y\":0.2"), " y=1 x=-18 y=0.20000000000000001" },
		{ ARGS("\"x\":\"a \\\"b\\\" \\u00e9\",\"a\\tb\":null,\"c\\/d\":true"),
		  " x='a \"b\" \u00e9' c/d=1" },
		{ ARGS("\"n\":{\"x\":2,\"m\":{\"y\":\"z\"}},\"l\":[{\"x\":1}, 2]"),
		  " n.x=2 n.m.y='z' l='[{\"x\":1}, 2]'" },
		{ ARGS("\"a\":{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}"),
		  " a.a.a.a.a='{\"a\":1}'" },
		{ ARGS("\"id\":\"18446744073709551615\",\"\":3"), " id='18446744073709551615'" },
		{ ARGS(""), "" },
		{ "[" A("3", "1") "]", "" },
	};

	for (size_t i = 0; i < TS_NELEM(stats); i++) {
		struct ts_buf packed = TS_BUF_INIT;

		assert_each(ts_bytes_of(stats[i].text), stats[i].expected);
		pack(ts_bytes_of(stats[i].text), &packed);
		assert_each(ts_buf_bytes(&packed), stats[i].expected);
		ts_buf_release(&packed);
	}
}

struct kept {
	struct ts_bytes texts[4];
	size_t nr;
};

static enum ts_status keep_stat(void *ctx, const struct ts_block *block, struct ts_error *err)
{
	struct kept *kept = ctx;
	struct ts_stat stat;

	for (size_t i = 0; i < block->nr_events && kept->nr < TS_NELEM(kept->texts); i++)
		if (block->stat(block, i, "x", &stat))
			kept->texts[kept->nr++] = stat.text;
	return TS_OK;
}

/* A packed rank among others: its text is there when it is asked for, and goes when it rests; what it said stays. */
TEST(a_rank_of_many_can_rest_and_says_the_same_again)
{
	struct ts_buf packed = TS_BUF_INIT, first = TS_BUF_INIT, again = TS_BUF_INIT;
	struct kept kept = { .nr = 0 };
	struct ts_sink sink = { &kept, TS_COL_STATS, keep_stat };
	struct memory_run mem;

	pack(ts_bytes_of(ARGS("\"x\":\"allreduce\"")), &packed);
	memory_run_init(&mem);
	mem.is_one_of_many = true;
	for (int i = 0; i < 2; i++)
		assert_int_equal(
			memory_run_add_as(&mem, CHROME, ts_buf_bytes(&packed), i ? "b" : "a", NULL),
			TS_OK);
	assert_int_equal(ts_profile_finish(&mem.run.profile, NULL), TS_OK);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(ts_stream_line(&mem.run.profile, i, &sink, NULL), TS_OK);
	assert_int_equal(kept.nr, 2);
	dump_profile(&mem.run.profile, "x", &first);
	for (uint32_t i = 0; i < 2; i++)
		ts_stream_rest(&mem.run.profile, i);
	for (size_t i = 0; i < kept.nr; i++)
		assert_true(ts_bytes_is(kept.texts[i], "allreduce"));
	dump_profile(&mem.run.profile, "x", &again);
	assert_true(ts_bytes_has(ts_buf_bytes(&first), "'allreduce'"));
	assert_true(ts_bytes_eq(ts_buf_bytes(&first), ts_buf_bytes(&again)));
	memory_run_release(&mem);
	ts_buf_release(&packed);
	ts_buf_release(&first);
	ts_buf_release(&again);
}

/* Not while it is read: when its text is asked for. */
TEST(a_full_disk_is_told_of_a_rank_of_many)
{
	struct ts_buf packed = TS_BUF_INIT, got = TS_BUF_INIT;
	struct rlimit before, none;
	struct memory_run mem;

	pack(ts_bytes_of(ARGS("\"x\":18")), &packed);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = (struct rlimit){ 0, before.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	memory_run_init(&mem);
	mem.is_one_of_many = true;
	assert_int_equal(memory_run_add_as(&mem, CHROME, ts_buf_bytes(&packed), "a", NULL), TS_OK);
	assert_int_equal(ts_profile_finish(&mem.run.profile, NULL), TS_OK);
	dump_profile(&mem.run.profile, "x", &got);
	assert_true(ts_bytes_ends(ts_buf_bytes(&got), "a@0+1000\n"));
	for (int i = 0; i < 2; i++) {
		ts_stream_rest(&mem.run.profile, 0);
		assert_int_equal(mem.run.profile.nr_damage, 1);
	}
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
	memory_run_release(&mem);
	ts_buf_release(&packed);
	ts_buf_release(&got);
}

/* A packed text is unpacked to disk for stats: where there is no room the events are read all the same. */
TEST(a_full_disk_is_told)
{
	struct ts_buf packed = TS_BUF_INIT;
	struct rlimit before, none;

	pack(ts_bytes_of(ARGS("\"x\":18")), &packed);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = (struct rlimit){ 0, before.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	assert_read(
		ts_buf_bytes(&packed), "x",
		"host process 1|thread thread 2: a@0+1000\n"
		"! 0 no room in the temporary folder to unpack it: what its events say in args is "
		"unknown (set TMPDIR, or unpack it)\n");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
	ts_buf_release(&packed);
}

/* More events than are kept in memory, told backwards, on two threads. */
TEST(many_events_come_back_in_order)
{
	enum { NR = 1200000 };
	struct ts_buf text = TS_BUF_INIT, packed = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct memory_run mem;

	ts_buf_putc(&text, '[');
	for (int i = NR; i-- > 0;)
		ts_buf_printf(
			&text,
			"{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":1,\"name\":\"a\"},",
			i % 2, i);
	ts_buf_putc(&text, ']');
	pack(ts_buf_bytes(&text), &packed);
	memory_run_init(&mem);
	assert_int_equal(memory_run_add_as(&mem, CHROME, ts_buf_bytes(&packed), "host", &err),
			 TS_OK);
	assert_int_equal(ts_profile_finish(&mem.run.profile, &err), TS_OK);
	assert_int_equal(mem.run.profile.nr_lines, 2);
	for (uint32_t l = 0; l < 2; l++) {
		struct ts_buf got = TS_BUF_INIT, first = TS_BUF_INIT;
		struct dump dump = { &got, NULL };
		struct ts_sink sink = { &dump, 0, take_block };
		int tid = mem.run.profile.lines[l].id == 1;

		assert_int_equal(mem.run.profile.lines[l].nr_events, NR / 2);
		assert_int_equal(ts_stream_line(&mem.run.profile, l, &sink, &err), TS_OK);
		for (int i = tid; i < NR; i += 2)
			ts_buf_printf(&first, " a@%d+1000", i * 1000);
		assert_true(ts_bytes_eq(ts_buf_bytes(&got), ts_buf_bytes(&first)));
		ts_buf_release(&got);
		ts_buf_release(&first);
	}
	memory_run_release(&mem);
	ts_buf_release(&text);
	ts_buf_release(&packed);
}

/* At every byte, plain and packed: no read beyond the end, and never more than the whole says. */
TEST(every_truncation)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_bytes whole = sample(&arena);
	struct ts_buf packed = TS_BUF_INIT;
	size_t size;

	pack(whole, &packed);
	for (int form = 0; form < 2; form++) {
		struct ts_bytes bytes = form ? ts_buf_bytes(&packed) : whole;

		for (size_t n = 0; n < bytes.n; n++) {
			uint8_t *copy;

			if (!has_turn(n, TURN_PARTS_SANITIZED))
				continue;
			copy = malloc(n ? n : 1); /* so that a read behind it is seen */
			assert_non_null(copy);
			memcpy(copy, bytes.p, n);
			memory_run_whole_as(CHROME, (struct ts_bytes){ copy, n }, &size);
			free(copy);
		}
		assert_int_equal(memory_run_whole_as(CHROME, bytes, &size), TS_OK);
	}
	ts_buf_release(&packed);
	ts_arena_release(&arena);
}

TEST(thousands_of_mutations)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_bytes whole = sample(&arena);
	struct ts_buf damaged = TS_BUF_INIT;
	size_t size, nr_read = 0;

	for (uint64_t seed = 1; seed <= 2000; seed++) {
		struct rng rng = rng_of(seed);

		if (!has_turn(seed, TURN_PARTS_SANITIZED))
			continue;
		mutate(&rng, whole, &damaged);
		nr_read += memory_run_whole_as(CHROME, ts_buf_bytes(&damaged), &size) == TS_OK;
	}
	assert_true(nr_read > 1000 / TURN_PARTS_SANITIZED);
	ts_buf_release(&damaged);
	ts_arena_release(&arena);
}

/* Brackets a hundred thousand deep are passed over without recursion. */
TEST(depth_has_no_price)
{
	struct ts_buf text = TS_BUF_INIT;

	ts_buf_puts(
		&text,
		"["
		"{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"name\":\"a\",\"pid\":1,\"tid\":2,\"args\":");
	ts_buf_pad(&text, '[', 100000);
	ts_buf_pad(&text, ']', 100000);
	ts_buf_puts(&text, "}]");
	assert_read(ts_buf_bytes(&text), "x", "host process 1|thread thread 2: a@0+1000\n");
	ts_buf_release(&text);
}

/* A value that is longer than any window, in a packed text: passed over. */
TEST(a_long_value_is_passed_over)
{
	struct ts_buf text = TS_BUF_INIT, packed = TS_BUF_INIT;

	ts_buf_puts(&text, "{\"stackFrames\":[\"");
	ts_buf_pad(&text, 'x', 20 << 20);
	ts_buf_puts(&text, "\\\"]\"],\"traceEvents\":[" A("1", "1") "]}");
	pack(ts_buf_bytes(&text), &packed);
	assert_read(ts_buf_bytes(&packed), NULL, "host process 1|thread thread 2: a@0+1000\n");
	ts_buf_release(&text);
	ts_buf_release(&packed);
}

TEST(it_knows_its_own)
{
	static const struct {
		const char *file, *text;
		bool is_ours;
	} files[] = {
		{ "a.pt.trace.json", "{\"schemaVersion\": 1, ", true },
		{ "nameless", "[{\"name\":\"a\",\"ph\":\"X\"", true },
		{ "nameless", " \n{\"traceEvents\":[]}", true },
		{ "ALL_HOSTS.tpusight.json", "{\"schema\": \"tpusight/1\"}", false },
		/* that key alone says it, wherever it stands */
		{ "a.json", "{\"generator\": {}, \"schema\": \"tpusight/1\"}", false },
		{ "a.json",
		  "{\"traceEvents\":[{\"ph\":\"X\",\"args\":{\"CallFrom\":\"tpusight/"
		  "_torch.py:95\"}}]}",
		  true },
		{ "a.json", "{\"args\":{\"schema\":\"tpusight/1\"},\"traceEvents\":[]}", true },
		{ "a.json", "[{\"schema\":\"tpusight/1\",\"ph\":\"X\"}]", true },
		{ "trace.json", "hello", false },
		{ "a.xplane.pb", "\x0a\x02\x08\x01", false },
	};

	for (size_t i = 0; i < TS_NELEM(files); i++) {
		const struct ts_reader *reader =
			ts_reader_for(ts_bytes_of(files[i].file), ts_bytes_of(files[i].text));

		assert_int_equal(reader == ts_readers[CHROME], files[i].is_ours);
	}
}

/* Its profiler gives categories of Kineto's to the host's events; JAX's gives none, others have their own. */
TEST(pytorch_is_known_by_the_categories_of_its_profiler)
{
	static const struct {
		const char *text;
		bool is_torch;
	} traces[] = {
		{ "[" X("1", "1", ",\"cat\":\"cpu_op\",\"name\":\"aten::mm\"") "]", true },
		{ "[" X("1", "1", ",\"cat\":\"python_function\",\"name\":\"f\"") "]", true },
		{ "[" X("1", "1", ",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\"") "]",
		  true },
		{ "[" PLAIN("aten::mm") "]", true },
		{ "[" A("1", "1") "]", false },
		{ "[" X("1", "1", ",\"cat\":\"toplevel\",\"name\":\"a\"") "]", false },
	};

	for (size_t i = 0; i < TS_NELEM(traces); i++) {
		struct memory_run mem;

		memory_run_init(&mem);
		assert_int_equal(
			memory_run_add_as(&mem, CHROME, ts_bytes_of(traces[i].text), "h", NULL),
			TS_OK);
		assert_int_equal(ts_profile_finish(&mem.run.profile, NULL), TS_OK);
		assert_int_equal(ts_profile_is_torch(&mem.run.profile), traces[i].is_torch);
		memory_run_release(&mem);
	}
}

/* As torch's Python writes a profile where it has no Kineto: a step is known by its name, and counts as one of the host. */
TEST(without_kineto_events_are_operators_and_steps)
{
	static const char text[] =
		"[" PLAIN("aten::mm") "," PLAIN("ProfilerStep#3") "," PLAIN("my range") "]";
	static const char *const categories[] = { "cpu_op", "user_annotation", "cpu_op" };
	struct memory_run mem;

	memory_run_init(&mem);
	assert_int_equal(memory_run_add_as(&mem, CHROME, ts_bytes_of(text), "h", NULL), TS_OK);
	assert_int_equal(ts_profile_finish(&mem.run.profile, NULL), TS_OK);
	for (size_t i = 0, known = 0; i < mem.run.profile.nr_ops; i++) {
		const struct ts_op *op = &mem.run.profile.ops[i];

		if (op->kind == TS_OP_STEP)
			continue;
		assert_true(known < TS_NELEM(categories));
		assert_true(ts_bytes_is(op->category, categories[known++]));
	}
	memory_run_release(&mem);
}

#define CARD(id, name, rest) "{\"id\":" id ",\"name\":\"" name "\",\"totalGlobalMem\":1000" rest "}"
#define ON(pid, args) \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":" pid \
	",\"tid\":7,\"ts\":1,\"dur\":1,\"args\":{" args "}}"
#define OF(list, cards, events) "{\"" list "\":[" cards "],\"traceEvents\":[" events "]}"

/* The kernels' own number decides, then the process's; what no number fits is of the only kind there is. */
TEST(devices_are_of_the_entry_that_their_kernels_name_or_of_the_only_kind)
{
	static const struct {
		const char *text, *kinds[2]; /* "": it is not known */
	} traces[] = {
		{ OF("deviceProperties", CARD("0", "A", ""), ON("9", "\"device\":9")), { "A" } },
		{ OF("deviceProperties", CARD("0", "A", "") "," CARD("1", "A", ""),
		     ON("5", "\"device\":5")),
		  { "A" } },
		{ OF("deviceProperties", CARD("0", "A", "") "," CARD("1", "B", ""),
		     ON("1", "\"device\":1")),
		  { "B" } },
		{ OF("deviceProperties", CARD("0", "A", "") "," CARD("1", "B", ""),
		     ON("9", "\"device\":9")),
		  { "" } },
		{ OF("deviceProperties", CARD("0", "A", ",\"numSms\":8") "," CARD("1", "A", ""),
		     ON("9", "\"device\":9")),
		  { "" } },
		{ OF("deviceProperties", CARD("0", "A", "") "," CARD("1", "B", ""),
		     ON("1", "\"stream\":7")),
		  { "B" } },
		{ OF("deviceProperties", CARD("0", "A", "") "," CARD("1", "B", ""),
		     ON("\"[TP00] 0\"", "\"device\":0") "," ON("\"[TP01] 0\"", "\"device\":1")),
		  { "A", "B" } },
		{ OF("computeProperties", CARD("0", "A", ""), ON("0", "\"device\":0")), { "A" } },
		{ "[" ON("0", "\"device\":0") "]", { "" } },
	};

	for (size_t i = 0; i < TS_NELEM(traces); i++) {
		struct memory_run mem;

		memory_run_init(&mem);
		assert_int_equal(
			memory_run_add_as(&mem, CHROME, ts_bytes_of(traces[i].text), "h", NULL),
			TS_OK);
		assert_int_equal(ts_profile_finish(&mem.run.profile, NULL), TS_OK);
		for (size_t d = 0; d < mem.run.profile.nr_devices; d++)
			assert_true(
				ts_bytes_is(mem.run.profile.devices[d].kind, traces[i].kinds[d]));
		memory_run_release(&mem);
	}
}

/* An event of a category (none: ""), and what a process is called and labelled. */
#define EVENT(cat, pid, tid, name, ts, dur)                                                         \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid \
	",\"ts\":" ts ",\"dur\":" dur ",\"args\":{}}"
#define CALLED(pid, name) \
	"{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":" pid ",\"args\":{\"name\":\"" name "\"}}"
#define LABEL(pid, label) \
	"{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":" pid ",\"args\":{\"labels\":\"" label "\"}}"
#define OPERATOR EVENT("cpu_op", "9", "9", "aten::mm", "0", "5")
#define HOST	 "host process 9|thread thread 9: aten::mm@0+5000\n"

/* Devices that are no GPUs, and GPUs of profilers other than Kineto. Devices come first. */
static const struct row device_rows[] = {
	/* MTIA: waits are none of its work, calls beside its streams are not either */
	{ "[" OPERATOR "," EVENT("mtia_ccp_events", "17", "1", "pe_exe", "10", "3") "," EVENT(
		  "mtia_ccp_events", "17", "1", "event_wait", "1",
		  "8") "," EVENT("mtia_runtime", "17", "2", "synchronize", "1", "8") "]",
	  "gpu /device:MTIA:17|ops stream 1: pe_exe@10000+3000\n"
	  "gpu /device:MTIA:17|other other 1: event_wait@1000+8000\n" HOST
	  "host process 17|thread thread 2: synchronize@1000+8000\n" },
	{ "[" OPERATOR "," EVENT("mtia_ccp_events", "17", "1", "pe_exe", "10",
				 "3") "," EVENT("mtia_runtime", "17", "2", "synchronize", "1",
						"8") "," LABEL("17", "MTIA 17") "]",
	  "gpu /device:MTIA:17|other stream 2: synchronize@1000+8000\n"
	  "gpu /device:MTIA:17|ops stream 1: pe_exe@10000+3000\n" HOST },
	/* HPU: its category is the device's in a process of its own, and a host's among operators */
	{ "[" OPERATOR "," EVENT("hpu_op", "0", "7", "gemm", "10", "3") "]",
	  "gpu /device:HPU:0|ops stream 7: gemm@10000+3000\n" HOST },
	{ "[" OPERATOR "," EVENT("hpu_op", "9", "7", "gemm", "10", "3") "]",
	  HOST "host process 9|thread thread 7: gemm@10000+3000\n" },
	/* Ascend: the hardware by its name; rows that show it once more are derived */
	{ "[" OPERATOR
	  "," CALLED("2", "Ascend Hardware") "," CALLED("3", "Overlap Analysis") "," CALLED(
		  "4", "CANN") "," EVENT("", "2", "5", "MatMulV2", "10",
					 "3") "," EVENT("", "2", "5", "EVENT_WAIT", "2",
							"3") "," EVENT("", "3", "1", "Computing",
								       "10",
								       "3") "," EVENT("", "4", "1",
										      "launch", "1",
										      "1") "]",
	  "gpu /device:NPU:2|ops stream 5: MatMulV2@10000+3000\n"
	  "gpu /device:NPU:2|other other 5: EVENT_WAIT@2000+3000\n" HOST
	  "other Overlap Analysis|derived thread 1: Computing@10000+3000\n"
	  "host CANN|thread thread 1: launch@1000+1000\n" },
	/* any word of a label, for Kineto's own categories and for unknown ones */
	{ "[" OPERATOR "," EVENT("kernel", "1", "7", "k", "10", "3") "," LABEL("1", "XPU 1") "]",
	  "gpu /device:XPU:1|ops stream 7: k@10000+3000\n" HOST },
	{ "[" OPERATOR "," EVENT("zpu_task", "1", "7", "k", "10", "3") "," LABEL("1", "ZPU 1") "]",
	  "gpu /device:ZPU:1|ops stream 7: k@10000+3000\n" HOST },
	{ "[" OPERATOR "," EVENT("zpu_task", "9", "7", "k", "10", "3") "," LABEL("9", "CPU") "]",
	  HOST "host process 9|thread thread 7: k@10000+3000\n" },
	/* rocprof's first version */
	{ "[" CALLED("6", "GPU0") "," CALLED("2", "CPU HIP API") "," CALLED("1", "COPY") "," EVENT(
		  "", "6", "1", "k", "10",
		  "3") "," EVENT("", "2", "8", "hipLaunchKernel", "1",
				 "3") "," EVENT("", "1", "0", "CopyHostToDevice", "4", "3") "]",
	  "gpu /device:GPU:6|ops stream 1: k@9000+3000\n"
	  "host CPU HIP API|thread thread 8: hipLaunchKernel@0+3000\n"
	  "other COPY|other thread 0: CopyHostToDevice@3000+3000\n" },
	/* autograd's profiler, without Kineto: a thread a GPU */
	{ "[" EVENT("", "\"CPU functions\"", "1", "mm", "0",
		    "3") "," EVENT("", "\"CUDA functions\"", "0", "k", "1",
				   "3") "," EVENT("", "\"CUDA functions\"", "1", "k", "2", "3") "]",
	  "gpu /device:GPU:0|ops stream 0: k@1000+3000\n"
	  "gpu /device:GPU:1|ops stream 1: k@2000+3000\n"
	  "host process CPU functions|thread thread 1: mm@0+3000\n" },
	/* counters by kernel: the device is there, and ran nothing that has a time */
	{ "[" OPERATOR "," EVENT("cuda_profiler_range", "0", "0", "k", "10", "3") "]",
	  "gpu /device:GPU:0|other other 0: k@10000+3000\n" HOST },
	/* a process that is neither a host nor a device, beside a host */
	{ "[" OPERATOR "," EVENT("zpu_task", "1", "7", "k", "10", "3") "]",
	  HOST "other process 1|other thread 7: k@10000+3000\n" },
	/* without operators nobody knows better: threads, as VizTracer writes them */
	{ "[" EVENT("FEE", "1", "7", "f", "10", "3") "]",
	  "host process 1|thread thread 7: f@0+3000\n" },
};

TEST(devices_of_all_makers_are_found)
{
	for (size_t i = 0; i < TS_NELEM(device_rows); i++)
		assert_read(ts_bytes_of(device_rows[i].text), NULL, device_rows[i].expected);
}

static struct ts_bytes unread_of(const struct ts_profile *profile)
{
	for (size_t i = 0; i < profile->nr_lines; i++)
		if (profile->lines[i].unread.n > 0)
			return profile->lines[i].unread;
	return TS_LIT("-");
}

TEST(what_no_rule_takes_is_named)
{
	static const struct row unread[] = {
		{ "[" OPERATOR "," EVENT("cuda_profiler_range", "0", "0", "k", "10", "3") "]",
		  "category cuda_profiler_range" },
		{ "[" OPERATOR "," EVENT("mtia_insight", "17", "0", "k", "10", "3") "]",
		  "category mtia_insight" },
		{ "[" OPERATOR "," EVENT("zpu_task", "1", "7", "k", "10", "3") "]",
		  "category zpu_task" },
		{ "[" OPERATOR "," EVENT("", "1", "7", "k", "10", "3") "]", "no category" },
		{ "[" OPERATOR "," EVENT("cuda_sync", "0", "7", "k", "10", "3") "]", "-" },
		{ "[" OPERATOR "," EVENT("kernel", "0", "7", "k", "10", "3") "]", "-" },
	};

	for (size_t i = 0; i < TS_NELEM(unread); i++) {
		struct memory_run mem;

		memory_run_init(&mem);
		assert_int_equal(
			memory_run_add_as(&mem, CHROME, ts_bytes_of(unread[i].text), "h", NULL),
			TS_OK);
		if (!ts_bytes_is(unread_of(&mem.run.profile), unread[i].expected))
			fail_msg("%s: %.*s", unread[i].text, TS_ARG(unread_of(&mem.run.profile)));
		memory_run_release(&mem);
	}
}
