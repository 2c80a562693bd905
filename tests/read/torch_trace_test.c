/* SPDX-License-Identifier: MIT */
/*
 * The log of PyTorch's compiler: what is read of it, what it is not taken for, and damage. The records
 * are as torch/_logging/_internal.py writes them; a real log is held against PyTorch's own counters
 * by tests/truth/torch_compile.py.
 */
#include "tests/test.h"
#include "io/gzip.h"
#include "tests/run/memory_run.h"
#include "tests/read/corpus.h"
#include "tests/read/mutate.h"

#define READER memory_run_reader("torch_trace")
#define HEAD   "V1121 15:03:11.119000 31397 torch/_dynamo/x.py:55] "
#define WHERE  "\"frame_id\": 3, \"frame_compile_id\": 1, \"attempt\": 2"

#define BREAK_RECORD                                                                   \
	HEAD "{\"artifact\": {\"name\": \"dynamo_graph_break_reason\", \"encoding\": " \
	     "\"string\"}, \"rank\": 5, " WHERE ", \"has_payload\": \"4c7b\"}\n"
#define NEW_STORY                                                                            \
	"\tGraph break in user code at /home/me/train.py:17\n"                               \
	"\tGraph Break Reason: Encountered graph break when attempting to trace CALL:\n"     \
	"\t\n"                                                                               \
	"\tCall to `torch._dynamo.graph_break()`\n"                                          \
	"\t  Explanation: User-inserted graph break. Message: None\n"                        \
	"\t  Hint: Remove the call.\n"                                                       \
	"\t  Hint: Or do not.\n"                                                             \
	"\t\n"                                                                               \
	"\tUser code traceback:\n"                                                           \
	"\t  File \"/home/me/train.py\", line 90, in main\n"                                 \
	"\t    net(x)\n"                                                                     \
	"\t  File \"/v/site-packages/torch/nn/modules/module.py\", line 17, in _call_impl\n" \
	"\t    return f(x)\n"                                                                \
	"\t  File \"/home/me/train.py\", line 17, in forward\n"                              \
	"\t    torch._dynamo.graph_break()\n"                                                \
	"\t\n"                                                                               \
	"\tTraceback (most recent call last):\n"                                             \
	"\t  File \"/v/other.py\", line 1, in inside\n"
#define OLD_STORY                                            \
	"\tGraph break in user code at C:\\me\\train.py:4\n" \
	"\tReason: Unsupported: builtin: print\n"            \
	"\tUser code traceback:\n"                           \
	"\t  File \"C:\\me\\train.py\", line 4, in step\n"
#define METRICS                                                                                 \
	HEAD "{\"compilation_metrics\": {\"compile_id\": \"3/1\", \"co_name\": \"forward\", "   \
	     "\"co_filename\": \"/home/me/train.py\", \"co_firstlineno\": 12, "                 \
	     "\"graph_op_count\": 7, \"guard_count\": 35, \"entire_frame_compile_time_s\": "    \
	     "1.25, \"backend_compile_time_s\": 1e0, \"inductor_compile_time_s\": 0.5, "        \
	     "\"code_gen_time_s\": null, \"fail_reason\": null, \"restart_reasons\": [\"a\"], " \
	     "\"duration_us\": 1250001, \"x\": {\"co_name\": \"inner\"}}, " WHERE "}\n"
#define BACKWARD                                                                           \
	HEAD "{\"bwd_compilation_metrics\": {\"compile_id\": \"3/1\", \"co_name\": null, " \
	     "\"inductor_compile_time_s\": 0.25}, " WHERE "}\n"

struct given {
	struct memory_run mem;
	const struct ts_torch_log *log;
};

static enum ts_status read_text(struct given *given, struct ts_bytes text)
{
	struct ts_error err = TS_ERROR_INIT;

	memory_run_init(&given->mem);
	given->log = &given->mem.run.profile.torch_log;
	return memory_run_add_as(&given->mem, READER, text, "log", &err);
}

static void given_log(struct given *given, const char *text)
{
	assert_int_equal(read_text(given, ts_bytes_of(text)), TS_OK);
	assert_int_equal(given->log->nr_files, 1);
	assert_int_equal(given->mem.run.profile.nr_hosts, 0);
}

static void done(struct given *given)
{
	memory_run_release(&given->mem);
}

static void assert_text(struct ts_bytes is, const char *expected)
{
	if (!ts_bytes_is(is, expected))
		fail_msg("\"%.*s\" is not \"%s\"", TS_ARG(is), expected);
}

TEST(a_graph_break_has_place_reason_and_the_users_frames)
{
	const struct ts_torch_break *row;
	struct given given;

	given_log(&given, BREAK_RECORD NEW_STORY);
	assert_int_equal(given.log->nr_breaks, 1);
	row = &given.log->breaks[0];
	assert_true(row->id.frame == 3 && row->id.compile == 1 && row->id.autograd == -1);
	assert_true(row->attempt == 2 && row->rank == 5 && row->line == 17);
	assert_text(row->file, "/home/me/train.py");
	assert_text(row->function, "forward");
	assert_text(row->reason, "Call to `torch._dynamo.graph_break()`");
	assert_text(row->explanation, "User-inserted graph break. Message: None");
	assert_text(row->hint, "Remove the call.\nOr do not.");
	assert_text(row->stack, "/home/me/train.py:90 in main\n/home/me/train.py:17 in forward");
	done(&given);
}

TEST(an_older_story_is_read_too)
{
	struct given given;

	given_log(&given, BREAK_RECORD OLD_STORY);
	assert_text(given.log->breaks[0].file, "C:\\me\\train.py");
	assert_int_equal(given.log->breaks[0].line, 4);
	assert_text(given.log->breaks[0].reason, "Unsupported: builtin: print");
	assert_text(given.log->breaks[0].function, "step");
	done(&given);
}

struct guards_row {
	const char *payload, *reason;
};

static const struct guards_row guards_rows[] = {
	{ "\t0/0: tensor 'x' size mismatch at index 0. expected 4, actual 6\n",
	  "0/0: tensor 'x' size mismatch at index 0. expected 4, actual 6" },
	{ "\t[\n\t\"0/0: a == 1\",\n\t\"0/1: b == 2\"\n\t]\n", "0/0: a == 1\n0/1: b == 2" },
	{ "\t\n", "" },
	{ "", "" },
};

TEST(guards_that_failed_come_as_a_list_or_as_lines)
{
	for (size_t i = 0; i < TS_NELEM(guards_rows); i++) {
		struct ts_buf text = TS_BUF_INIT;
		struct given given;

		ts_buf_puts(&text,
			    HEAD "{\"artifact\": {\"name\": \"recompile_reasons\"}, " WHERE "}\n");
		ts_buf_puts(&text, guards_rows[i].payload);
		ts_buf_puts(&text, HEAD "{\"str\": [\"x\", 0]}\n");
		ts_buf_putc(&text, '\0');
		given_log(&given, (const char *)text.p);
		assert_int_equal(given.log->nr_recompiles, 1);
		assert_text(given.log->recompiles[0].reason, guards_rows[i].reason);
		done(&given);
		ts_buf_release(&text);
	}
}

TEST(metrics_give_times_in_the_finest_unit_said)
{
	const struct ts_torch_compilation *row;
	struct given given;

	given_log(&given, METRICS BACKWARD);
	assert_int_equal(given.log->nr_compilations, 2);
	row = &given.log->compilations[0];
	assert_true(row->id.frame == 3 && row->id.compile == 1 && !row->is_backward);
	assert_text(row->function, "forward");
	assert_true(row->line == 12 && row->nr_ops == 7 && row->nr_guards == 35);
	assert_true(row->total_ps == INT64_C(1250001000000));
	assert_true(row->backend_ps == INT64_C(1000000000000));
	assert_true(row->inductor_ps == INT64_C(500000000000));
	assert_true(row->codegen_ps == TS_UNKNOWN);
	assert_int_equal(row->failure.n, 0);
	assert_text(row->restart_reason, "a");
	row = &given.log->compilations[1];
	assert_true(row->is_backward && row->total_ps == INT64_C(250000000000));
	assert_int_equal(row->function.n, 0);
	done(&given);
}

TEST(lines_of_others_are_passed_over)
{
	struct given given;

	given_log(&given, "\tbefore the first record\nhello\n" HEAD "no object\n" METRICS
			  "\n\n\tpayload of nobody\nI1121 15:03:11 x] {]\n" HEAD "{}\n");
	assert_int_equal(given.log->nr_compilations, 1);
	assert_int_equal(given.mem.run.profile.nr_damage, 0);
	done(&given);
}

TEST(a_record_that_breaks_off_is_damage_with_its_byte)
{
	struct given given;

	given_log(&given, BACKWARD HEAD "{\"compilation_metrics\": {\"compile_id\": \"3/");
	assert_int_equal(given.log->nr_compilations, 1);
	assert_int_equal(given.mem.run.profile.nr_damage, 1);
	assert_int_equal(given.mem.run.profile.damage[0].offset, strlen(BACKWARD));
	done(&given);
}

TEST(long_texts_are_cut)
{
	struct ts_buf text = TS_BUF_INIT;
	struct given given;

	ts_buf_puts(&text, BREAK_RECORD "\tGraph Break Reason: ");
	ts_buf_pad(&text, 'r', 20000);
	ts_buf_puts(&text, "\n");
	for (int i = 0; i < 3000; i++)
		ts_buf_puts(&text,
			    "\t  Hint: and so on and on, on this line and on the next one\n");
	assert_int_equal(read_text(&given, ts_buf_bytes(&text)), TS_OK);
	assert_int_equal(given.log->breaks[0].reason.n, TS_LIMIT_TORCH_TEXT);
	assert_true(given.log->breaks[0].hint.n <= TS_LIMIT_TORCH_TEXT);
	done(&given);
	ts_buf_release(&text);
}

/* Longer than any window: that line alone is lost. */
TEST(a_line_without_end_is_left_out)
{
	struct ts_buf text = TS_BUF_INIT, packed = TS_BUF_INIT;
	struct ts_gzip gz = TS_GZIP_INIT;
	struct given given;

	ts_buf_puts(&text, METRICS HEAD "{\"str\": [\"");
	ts_buf_pad(&text, 'x', 9u << 20);
	ts_buf_puts(&text, "\", 0]}\n" BACKWARD);
	assert_int_equal(ts_gzip_init(&gz, NULL), TS_OK);
	assert_int_equal(ts_gzip_member(&gz, &packed, ts_buf_bytes(&text), NULL, NULL), TS_OK);
	assert_int_equal(read_text(&given, ts_buf_bytes(&packed)), TS_OK);
	assert_int_equal(given.log->nr_compilations, 2);
	assert_int_equal(given.mem.run.profile.nr_damage, 1);
	done(&given);
	ts_gzip_release(&gz);
	ts_buf_release(&text);
	ts_buf_release(&packed);
}

TEST(more_records_than_are_kept_are_counted)
{
	struct ts_buf text = TS_BUF_INIT;
	struct given given;

	for (size_t i = 0; i < TS_LIMIT_TORCH_ROWS + 3; i++)
		ts_buf_puts(&text, HEAD "{\"compilation_metrics\": {}}\n");
	assert_int_equal(read_text(&given, ts_buf_bytes(&text)), TS_OK);
	assert_int_equal(given.log->nr_compilations, TS_LIMIT_TORCH_ROWS + 3);
	assert_int_equal(memory_run_analyse(&given.mem, 0, NULL), TS_OK);
	done(&given);
	ts_buf_release(&text);
}

TEST(only_a_log_is_taken_for_one)
{
	static const char *const others[] = {
		"",
		"V1121",
		"{\"traceEvents\": []}",
		"V1121 15:03:11.119000 31397 x.py:55] hello\n",
		"X1121 15:03:11.119000 31397 x.py:55] {}\n",
		"V11a1 15:03:11.119000 31397 x:5] {}\n",
	};
	const struct ts_reader *reader = ts_reader_find("torch_trace");

	for (size_t i = 0; i < TS_NELEM(others); i++)
		assert_int_equal(reader->probe(TS_LIT("x.log"), ts_bytes_of(others[i])), 0);
	assert_ptr_equal(ts_reader_for(TS_LIT("x.log"), TS_LIT(HEAD "{\"str\": [\"a\", 0]}\n")),
			 reader);
}

/* A log alone says what a trace cannot. */
TEST(a_log_alone_makes_a_report)
{
	const struct ts_result *result;
	const struct ts_table *table;
	struct given given;

	given_log(&given, METRICS BACKWARD BREAK_RECORD NEW_STORY BREAK_RECORD NEW_STORY
				  BREAK_RECORD OLD_STORY);
	assert_int_equal(memory_run_analyse(&given.mem, 0, NULL), TS_OK);
	result = ts_results_find(&given.mem.run.results, "compile");
	assert_int_equal(ts_value_int(ts_result_get(result, "graph_breaks")), 2);
	assert_int_equal(ts_value_int(ts_result_get(result, "recompilations")), 1);
	assert_true(ts_value_number(ts_result_get(result, "compile_time_ms")) > 1500.0009 &&
		    ts_value_number(ts_result_get(result, "compile_time_ms")) < 1500.0011);
	table = ts_result_find_table(result, "graph_break_places");
	assert_int_equal(table->nr_rows, 2);
	assert_int_equal(ts_cell_int(table, 0, "compilations"), 2);
	assert_text(ts_cell_text(table, 0, "source"), "/home/me/train.py:17");
	assert_text(ts_cell_text(table, 0, "known_from"), "log");
	assert_int_equal(ts_result_get(result, "region_calls").type, TS_VALUE_NULL);
	done(&given);
}

TEST(every_truncation_and_mutation_is_survived)
{
	struct ts_bytes whole =
		TS_LIT(METRICS BREAK_RECORD NEW_STORY BACKWARD BREAK_RECORD OLD_STORY HEAD
		       "{\"artifact\": {\"name\": \"torch_version\"}}\n"
		       "\t{\n\t\"pytorch_version\": \"2.15.0\"\n\t}\n");
	struct rng rng = { 7 };
	struct ts_buf damaged = TS_BUF_INIT;
	struct given given;

	for (size_t n = 0; n <= whole.n; n++) {
		uint8_t *exact = malloc(n + 1); /* so that a tool sees a step too far */

		assert_non_null(exact);
		memcpy(exact, whole.p, n);
		exact = realloc(exact, n ? n : 1);
		assert_int_equal(read_text(&given, (struct ts_bytes){ exact, n }), TS_OK);
		done(&given);
		free(exact);
	}
	for (int i = 0; i < 5000; i++) {
		mutate(&rng, whole, &damaged);
		assert_int_equal(read_text(&given, ts_buf_bytes(&damaged)), TS_OK);
		if (i % 16 == 0)
			assert_int_equal(memory_run_analyse(&given.mem, 0, NULL), TS_OK);
		done(&given);
	}
	ts_buf_release(&damaged);
}
