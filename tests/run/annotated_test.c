/* SPDX-License-Identifier: MIT */
/*
 * The annotated copy of a trace: every byte of the trace is in it, it is JSON also where the trace was
 * not, and our events stand on the trace's clock under ids of their own.
 */
#include <stdio.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "run/annotated.h"
#include "io/gzip.h"
#include "io/tracefile.h"
#include "read/seams.h"
#include "result/schema/doctor.def"
#include "tests/run/memory_run.h"
#include "tests/read/corpus.h"
#include "tests/test.h"

#define CHROME	 memory_run_reader("chrome")
#define TARGET	 "annotated_test.json.gz"
#define TEXT_MAX (64 << 20)

#define A	 "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":5,\"name\":\"a\"}"

/* A trace read, with one finding; or nothing, when it could not be read. */
struct given {
	struct memory_run mem;
	enum ts_status st;
};

static void given_init(struct given *given, struct ts_bytes text)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_finding *finding;

	memory_run_init(&given->mem);
	given->st = memory_run_add_as(&given->mem, CHROME, text, "host", &err);
	if (given->st == TS_OK)
		given->st = ts_profile_finish(&given->mem.run.profile, &err);
	finding = ts_result_finding(TS_ADD(&given->mem.run.results, doctor));
	finding->title = TS_LIT("found");
	finding->impact_ps = -1;
	finding->severity = TS_WARNING;
}

static void given_release(struct given *given)
{
	memory_run_release(&given->mem);
}

/* The packed copy of HOST's trace. */
static void write_copy_as(const struct given *given, uint32_t host, size_t nr_threads, bool exact,
			  struct ts_buf *packed)
{
	struct ts_annotated_options options = {
		.nr_threads = nr_threads, .exact = exact, .version = "1.2.3", .source = "x.json"
	};
	struct ts_newfile file = TS_NEWFILE_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct ts_input in = TS_INPUT_INIT;

	assert_int_equal(ts_newfile_open(&file, TARGET, &err), TS_OK);
	assert_int_equal(ts_annotated_write(&file, &given->mem.run.profile, host,
					    &given->mem.run.results, &options, NULL, &err),
			 TS_OK);
	assert_int_equal(ts_newfile_commit(&file, &err), TS_OK);
	ts_newfile_release(&file);
	assert_int_equal(ts_input_open(&in, TARGET, &err), TS_OK);
	ts_buf_clear(packed);
	ts_buf_put(packed, in.bytes);
	ts_input_release(&in);
	unlink(TARGET);
}

static void write_copy(const struct given *given, uint32_t host, size_t nr_threads,
		       struct ts_buf *packed)
{
	write_copy_as(given, host, nr_threads, false, packed);
}

static void copy_as(const struct given *given, bool exact, struct ts_buf *text)
{
	struct ts_buf packed = TS_BUF_INIT;

	write_copy_as(given, 0, 2, exact, &packed);
	ts_buf_clear(text);
	assert_int_equal(ts_gunzip_head(ts_buf_bytes(&packed), text, TEXT_MAX, NULL), TS_OK);
	ts_buf_release(&packed);
}

static void copy_of(const struct given *given, struct ts_buf *text)
{
	copy_as(given, true, text);
}

/* Puts SIGN in the place of what stands from FROM to the end of UNTIL. */
static void replace(struct ts_buf *text, size_t from, const char *until, const char *sign)
{
	struct ts_bytes rest = ts_bytes_cut(ts_buf_bytes(text), from, text->n);
	size_t n = ts_bytes_find(rest, until);
	struct ts_buf out = TS_BUF_INIT;

	assert_true(n < rest.n);
	ts_buf_put(&out, ts_bytes_cut(ts_buf_bytes(text), 0, from));
	ts_buf_puts(&out, sign);
	ts_buf_put(&out, ts_bytes_cut(rest, n + strlen(until), rest.n));
	ts_buf_release(text);
	*text = out;
}

/* What we put in becomes '@' (the mark with its comma) and '#' (our events, their commas stay). */
static void sign(struct ts_buf *text)
{
	static const char first[] = "{\"ph\":\"M\",\"pid\":1000000000,";
	size_t at = ts_bytes_find(ts_buf_bytes(text), TS_ANNOTATED_OBJECT);

	if (at == text->n)
		at = ts_bytes_find(ts_buf_bytes(text), TS_ANNOTATED_ARRAY);
	replace(text, at, ",\n", "@");
	at = ts_bytes_find(ts_buf_bytes(text), first);
	assert_true(at < text->n && text->p[at - 1] == '\n');
	assert_true(text->p[at - 2] == ',' || text->p[at - 2] == ' ');
	replace(text, at - 2, "\"events\":1}}", text->p[at - 2] == ',' ? ",#" : "#");
	ts_buf_putc(text, '\0');
}

static const struct row {
	const char *text, *copy;
} rows[] = {
	{ "[" A "]", "[@" A ",#]" },
	{ " [ " A ",\n" A " ]\n", " [@ " A ",\n" A " ,#]\n" },
	{ "\xef\xbb\xbf[" A "]", "\xef\xbb\xbf[@" A ",#]" },
	{ "{\"traceEvents\":[" A "]}", "{@\"traceEvents\":[" A ",#]}" },
	{ "{\"z\":1,\"traceEvents\": [\n" A "\n]\n, \"y\":[2]}\n",
	  "{@\"z\":1,\"traceEvents\": [\n" A "\n,#]\n, \"y\":[2]}\n" },
	{ "{\"z\":{\"traceEvents\":[]},\"traceEvents\":[" A "]}",
	  "{@\"z\":{\"traceEvents\":[]},\"traceEvents\":[" A ",#]}" },
	{ "{\"traceEvents\":[" A "],\"traceEvents\":[" A "]}",
	  "{@\"traceEvents\":[" A ",#],\"traceEvents\":[" A "]}" },
	/* a comma too much is made good use of */
	{ "{\"traceEvents\":[" A ",]}", "{@\"traceEvents\":[" A ",#]}" },
	{ "[" A ",\n", "[@" A ",\n#]" },
	/* the bracket that may be missing, and what ends in the middle */
	{ "[" A, "[@" A ",#]" },
	{ "[" A "\n", "[@" A "\n,#]" },
	{ "[" A ",{\"ph\":\"X\",\"na", "[@" A ",#]" },
	{ "{\"traceEvents\":[" A, "{@\"traceEvents\":[" A ",#]}" },
	{ "{\"traceEvents\":[" A ", {\"ph\":", "{@\"traceEvents\":[" A ", #]}" },
	{ "{\"traceEvents\":[" A ",what]}", "{@\"traceEvents\":[" A ",#]}" },
	{ "{\"traceEvents\":[" A "]", "{@\"traceEvents\":[" A ",#]}" },
	{ "{\"traceEvents\":[" A "],", "{@\"traceEvents\":[" A ",#]}" },
	{ "{\"traceEvents\":[" A "],\"z\":[1,2", "{@\"traceEvents\":[" A ",#]}" },
	{ "{\"traceEvents\":[" A "],\"y\":1,\"z", "{@\"traceEvents\":[" A ",#],\"y\":1}" },
	{ "{\"traceEvents\":[" A "],\"y\":1 what", "{@\"traceEvents\":[" A ",#],\"y\":1}" },
};

TEST(what_stands_in_the_trace_stays_and_ours_is_put_into_it)
{
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_buf text = TS_BUF_INIT;
		struct given given;

		given_init(&given, ts_bytes_of(rows[i].text));
		assert_int_equal(given.st, TS_OK);
		copy_of(&given, &text);
		assert_true(ts_tracefile_is_annotated(ts_buf_bytes(&text), NULL));
		sign(&text);
		assert_string_equal((char *)text.p, rows[i].copy);
		ts_buf_release(&text);
		given_release(&given);
	}
}

#define NAN_A "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":5,\"name\":\"a\",\"args\":{\"x\":nan}}"
#define NULL_A "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":5,\"name\":\"a\",\"args\":{\"x\":null}}"
#define BYTE_A "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":5,\"name\":\"a\x9f\x01\"}"
#define TEXT_A "{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":10,\"dur\":5,\"name\":\"a\\ufffd\\u0001\"}"

static const struct refused {
	const char *text, *copy, *said;
} refused[] = {
	{ "[" NAN_A "]", "[@" NULL_A ",#]", "byte 66: nan, which is no number of JSON" },
	{ "[" BYTE_A "]", "[@" TEXT_A ",#]", "byte 52: a byte that is not UTF-8; 2 places in all" },
	{ "{\"traceEvents\":[" A ", " A ",]}", "{@\"traceEvents\":[" A ", " A ",#]}",
	  "byte 125: a comma before a closing bracket" },
	{ "{\"traceEvents\":[" A "],\"z\":007,}", "{@\"traceEvents\":[" A ",#],\"z\":7}",
	  "byte 75: a number with digits or a sign that JSON does not have; 2 places in all" },
	{ "\xef\xbb\xbf[" A "]", "[@" A ",#]", "byte 0: a byte-order mark" },
	{ "[" A, "[@" A ",#]", "byte 54: the text ends in the middle" },
	/* what is cut ends where it ends, and is said as damage */
	{ "[" NAN_A "," A ",{\"ph", "[@" NULL_A "," A ",#]",
	  "byte 66: nan, which is no number of JSON" },
	{ "[" A "," A ",{\"ph", "[@" A "," A ",#]", "" },
	/* good */
	{ "[" A ",\n" A " ]\n", "[@" A ",\n" A " ,#]\n", "" },
};

TEST(what_viewers_refuse_is_said_and_mended_in_the_copy)
{
	for (size_t i = 0; i < TS_NELEM(refused); i++) {
		struct ts_buf text = TS_BUF_INIT;
		struct given given;

		given_init(&given, ts_bytes_of(refused[i].text));
		assert_int_equal(given.st, TS_OK);
		assert_string_equal(
			given.mem.run.profile.hosts[0].not_strict.n
				? (const char *)given.mem.run.profile.hosts[0].not_strict.p
				: "",
			refused[i].said);
		copy_as(&given, false, &text);
		sign(&text);
		assert_string_equal((char *)text.p, refused[i].copy);
		ts_buf_release(&text);
		given_release(&given);
	}
}

static const cJSON *events_of(const cJSON *root)
{
	return cJSON_IsArray(root) ? root : cJSON_GetObjectItem(root, "traceEvents");
}

static struct ts_bytes hand_made(struct ts_arena *arena)
{
	FILE *file = fopen(TS_SRCDIR "/tests/data/hand_made.pt.trace.json", "rb");
	uint8_t *bytes = ts_arena_alloc(arena, 1 << 16);
	size_t n;

	assert_non_null(file);
	n = fread(bytes, 1, 1 << 16, file);
	fclose(file);
	return (struct ts_bytes){ bytes, n };
}

/* The first events of the copy are the first ones of the trace; gives how many. */
static int assert_same_events(const cJSON *copy, const cJSON *trace)
{
	const cJSON *a = events_of(copy)->child, *b = events_of(trace)->child;
	int nr = 0;

	if (cJSON_IsArray(copy))
		a = a->next; /* the mark */
	for (; a && b && cJSON_Compare(a, b, true); a = a->next, b = b->next)
		nr++;
	assert_non_null(a);
	assert_true(cJSON_GetObjectItem(a, "pid")->valuedouble >= 1e9);
	return nr;
}

TEST(wherever_a_trace_was_cut_its_copy_is_json_with_all_whole_events)
{
	struct ts_arena arena = TS_ARENA_INIT;
	struct ts_bytes whole = hand_made(&arena);
	cJSON *trace = cJSON_ParseWithLength((const char *)whole.p, whole.n);
	int nr_before = 0, nr_whole = cJSON_GetArraySize(events_of(trace));
	struct ts_buf text = TS_BUF_INIT;

	for (size_t n = 0; n <= whole.n; n++) {
		struct given given;
		cJSON *copy;
		int nr;

		given_init(&given, ts_bytes_cut(whole, 0, n));
		if (given.st == TS_OK) {
			copy_of(&given, &text);
			copy = cJSON_ParseWithLength((const char *)text.p, text.n);
			assert_non_null(copy);
			nr = assert_same_events(copy, trace);
			assert_true(nr == nr_before || nr == nr_before + 1);
			nr_before = nr;
			cJSON_Delete(copy);
		}
		given_release(&given);
	}
	assert_int_equal(nr_before, nr_whole);
	ts_buf_release(&text);
	cJSON_Delete(trace);
	ts_arena_release(&arena);
}

/* Two MiB and more of events, so that there are pieces. */
static void many_events(struct ts_buf *text)
{
	ts_buf_puts(text, "{\"traceEvents\":[");
	for (int i = 0; i < 40000; i++)
		ts_buf_printf(text,
			      "%s\n{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%d.%03d,\"dur\":2.5,"
			      "\"name\":\"op %d\"}",
			      i ? "," : "", i % 7, i, i % 1000, i % 100);
	ts_buf_puts(text, "],\"rest\":[");
	for (int i = 0; i < 200000; i++)
		ts_buf_printf(text, "%d,", i);
	ts_buf_puts(text, "0]}");
}

TEST(neither_threads_nor_packing_change_a_byte)
{
	struct ts_buf text = TS_BUF_INIT, packed = TS_BUF_INIT, one = TS_BUF_INIT,
		      four = TS_BUF_INIT, of_packed = TS_BUF_INIT;
	struct ts_gzip gz = TS_GZIP_INIT;
	struct given plain, zipped;

	many_events(&text);
	assert_int_equal(ts_gzip_init(&gz, NULL), TS_OK);
	assert_int_equal(ts_gzip_member(&gz, &packed, ts_buf_bytes(&text), NULL, NULL), TS_OK);
	ts_gzip_release(&gz);
	given_init(&plain, ts_buf_bytes(&text));
	given_init(&zipped, ts_buf_bytes(&packed));
	write_copy(&plain, 0, 1, &one);
	write_copy(&plain, 0, 4, &four);
	write_copy(&zipped, 0, 3, &of_packed);
	assert_true(ts_bytes_eq(ts_buf_bytes(&one), ts_buf_bytes(&four)));
	assert_true(ts_bytes_eq(ts_buf_bytes(&one), ts_buf_bytes(&of_packed)));
	given_release(&plain);
	given_release(&zipped);
	ts_buf_release(&text);
	ts_buf_release(&packed);
	ts_buf_release(&one);
	ts_buf_release(&four);
	ts_buf_release(&of_packed);
}

/* The text of a number in the copy's last slice. */
static void assert_number(const struct ts_buf *text, const char *key, const char *expected)
{
	struct ts_bytes rest = ts_buf_bytes(text);
	char shown[64];

	rest = ts_bytes_cut(rest, ts_bytes_find(rest, "{\"ph\":\"X\",\"pid\":10"), rest.n);
	rest = ts_bytes_cut(rest, ts_bytes_find(rest, key) + strlen(key), rest.n);
	snprintf(shown, sizeof(shown), "%.*s", (int)ts_bytes_find(rest, ","), (const char *)rest.p);
	assert_string_equal(shown, expected);
}

#define T(ts, dur) \
	"[{\"ph\":\"X\",\"pid\":1,\"tid\":2,\"ts\":" ts ",\"dur\":" dur ",\"name\":\"a\"}]"

/* Where a slice over the whole trace begins, and how long it lasts: as the trace says, to the ns. */
TEST(times_are_on_the_clock_of_the_trace)
{
	static const struct {
		const char *text, *ts, *dur;
	} clocks[] = {
		{ T("10", "5"), "10.000", "5.000" },
		/* as long as what the importer makes of its ends: it has quarters of a us there */
		{ T("1669783687352244.123", "0.877"), "1669783687352244.123", "1.000" },
		{ T("\"7.5\"", "2.25"), "7.500", "2.250" },
		{ T("1.9999", "0.0002"), "1.999", "0.001" }, /* both ends are cut to whole ns */
		{ T("-3.5", "1"), "-3.500", "1.000" },
		{ T("0", "1"), "0.000", "1.000" },
	};

	for (size_t i = 0; i < TS_NELEM(clocks); i++) {
		struct ts_buf text = TS_BUF_INIT;
		struct given given;

		given_init(&given, ts_bytes_of(clocks[i].text));
		copy_of(&given, &text);
		assert_number(&text, "\"ts\":", clocks[i].ts);
		assert_number(&text, "\"dur\":", clocks[i].dur);
		ts_buf_release(&text);
		given_release(&given);
	}
}

TEST(the_clock_of_a_rank_that_began_later_is_its_own)
{
	static const char early[] = "{\"baseTimeNanoseconds\":1000000000,\"traceEvents\":[" A "]}";
	static const char late[] = "{\"baseTimeNanoseconds\":1000002000,\"traceEvents\":[" A "]}";
	struct ts_buf packed = TS_BUF_INIT, text = TS_BUF_INIT;
	struct ts_seams seams;
	struct given given;

	given_init(&given, ts_bytes_of(early));
	assert_int_equal(memory_run_add_as(&given.mem, CHROME, ts_bytes_of(late), "b", NULL),
			 TS_OK);
	assert_int_equal(ts_profile_finish(&given.mem.run.profile, NULL), TS_OK);
	assert_true(ts_seams_of(&given.mem.run.profile, 1, &seams));
	assert_int_equal(seams.first_ps, 2000000); /* 2 us behind the first */
	assert_int_equal(seams.last_ps, 7000000);
	write_copy(&given, 1, 1, &packed);
	assert_int_equal(ts_gunzip_head(ts_buf_bytes(&packed), &text, TEXT_MAX, NULL), TS_OK);
	assert_number(&text, "\"ts\":", "10.000");
	ts_buf_release(&packed);
	ts_buf_release(&text);
	given_release(&given);
}

TEST(a_copy_says_the_findings_as_every_trace_does)
{
	static const struct ts_when when = { TS_NONE, false, 1 * TS_PS_PER_US, 3 * TS_PS_PER_US };
	struct ts_buf text = TS_BUF_INIT;
	struct ts_finding *finding;
	struct given given;

	given_init(&given, TS_LIT("[" A "]"));
	finding = ts_results_find(&given.mem.run.results, "doctor")->findings;
	finding->id = TS_LIT("idle-1");
	finding->impact_ps = 2 * TS_PS_PER_US;
	finding->impact_share = 0.25;
	finding->when = &when;
	finding->nr_when = 1;
	copy_of(&given, &text);
	assert_number(&text, "\"ts\":", "11.000");
	assert_number(&text, "\"dur\":", "2.000");
	assert_number(&text, "\"finding\":", "\"idle-1\"");
	assert_number(&text, "\"severity\":", "\"warning\"");
	assert_number(&text, "\"rank\":", "1");
	assert_number(&text, "\"title\":", "\"found\"");
	assert_number(&text, "\"impact_ns\":", "2000");
	assert_number(&text, "\"impact_pct\":", "25.0");
	assert_number(&text, "\"own_ns\":", "2000");
	ts_buf_release(&text);
	given_release(&given);
}

TEST(our_ids_are_none_of_the_trace)
{
	struct ts_seams seams;
	struct given given;

	given_init(&given,
		   TS_LIT("[{\"ph\":\"X\",\"pid\":1000000007,\"tid\":1,\"ts\":1,\"name\":\"a\"},"
			  "{\"ph\":\"X\",\"pid\":1,\"tid\":\"1010000000\",\"ts\":1},"
			  "{\"ph\":\"M\",\"pid\":1029999999,\"name\":\"process_name\"}]"));
	assert_int_equal(given.st, TS_OK);
	assert_true(ts_seams_of(&given.mem.run.profile, 0, &seams));
	assert_int_equal(seams.free_id, 1030000000);
	given_release(&given);
}

TEST(a_copy_is_no_input)
{
	struct ts_buf packed = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	struct given given;
	struct memory_run mem;

	given_init(&given, TS_LIT("[" A "]"));
	write_copy(&given, 0, 1, &packed);
	assert_true(ts_tracefile_is_annotated(ts_buf_bytes(&packed), NULL));
	memory_run_init(&mem);
	assert_int_equal(memory_run_add_as(&mem, CHROME, ts_buf_bytes(&packed), "h", &err),
			 TS_UNSUPPORTED);
	assert_non_null(strstr(err.text, "TPUsight annotated"));
	memory_run_release(&mem);
	ts_buf_release(&packed);
	given_release(&given);
}
