/* SPDX-License-Identifier: MIT */
/* Flame graphs: traces written down with what their frames must have; trees that are full. */
#include "analysis/gpu/flame.h"
#include "base/record.h"
#include "base/units.h"
#include "tests/run/memory_run.h"
#include "write/flame_outputs.h"
#include "tests/test.h"

#define US     TS_PS_PER_US
#define CHROME memory_run_reader("chrome")

#define X(cat, name, tid, ts, dur)                                                        \
	"{\"ph\":\"X\",\"cat\":\"" cat "\",\"name\":\"" name "\",\"pid\":9,\"tid\":" #tid \
	",\"ts\":" #ts ",\"dur\":" #dur "},"
#define LAUNCH(tid, ts, dur, link)                                                        \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":9," \
	"\"tid\":" #tid ",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{\"correlation\":" #link "}},"
#define KERNEL(name, ts, dur, link)                                                              \
	"{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"" name "\",\"pid\":0,\"tid\":7,\"ts\":" #ts \
	",\"dur\":" #dur ",\"args\":{\"stream\":7,\"correlation\":" #link "}},"
#define TRACE(events) "{\"schemaVersion\":1,\"traceEvents\":[" events "{\"ph\":\"M\"}]}"

static void analyse(struct memory_run *mem, const char *trace)
{
	struct ts_error err = TS_ERROR_INIT;

	memory_run_init(mem);
	if (memory_run_add_as(mem, CHROME, ts_bytes_of(trace), "host", &err) ||
	    memory_run_analyse(mem, 0, &err))
		fail_msg("%s", err.text);
}

static const struct ts_table *tree_of(const struct memory_run *mem, const char *kind)
{
	const struct ts_table *table =
		ts_result_find_table(ts_results_find(&mem->run.results, "flame"), kind);

	assert_non_null(table);
	return table;
}

/* "a>b cpu/device/count" of each row, times in us. */
static void assert_rows(const struct memory_run *mem, const char *kind, const char *expected)
{
	const struct ts_table *table = tree_of(mem, kind);
	struct ts_buf text = TS_BUF_INIT;

	for (size_t i = 0; i < table->nr_rows; i++) {
		struct ts_bytes path[16];
		int64_t at = (int64_t)i;
		size_t nr = 0;

		for (; at >= 0 && nr < TS_NELEM(path);
		     at = ts_cell_int(table, (size_t)at, "parent"))
			path[nr++] = ts_cell_text(table, (size_t)at, "name");
		while (nr-- > 0)
			ts_buf_printf(&text, "%.*s%s", TS_ARG(path[nr]), nr ? ">" : "");
		ts_buf_printf(&text, " %lld/%lld/%lld\n",
			      (long long)(ts_cell_int(table, i, "cpu_self_ps") / US),
			      (long long)(ts_cell_int(table, i, "device_self_ps") / US),
			      (long long)ts_cell_int(table, i, "count"));
	}
	ts_buf_putc(&text, '\0');
	assert_string_equal((const char *)text.p, expected);
	ts_buf_release(&text);
}

static const char launched[] = TRACE(
	X("python_function", "train.py(3): main", 1, 0, 100) X("cpu_op", "aten::mm", 1, 10, 40)
		LAUNCH(1, 20, 5, 1) X("cpu_op", "aten::mm", 1, 60, 20) LAUNCH(1, 65, 5, 2)
			KERNEL("gemm", 30, 50, 1) KERNEL("gemm", 90, 7, 2));

TEST(time_of_kernels_goes_below_the_call_that_launched_them)
{
	struct memory_run mem;

	analyse(&mem, launched);
	assert_rows(&mem, "stacks",
		    "train.py(3): main 40/0/1\n"
		    "train.py(3): main>aten::mm 50/0/2\n"
		    "train.py(3): main>aten::mm>gemm 0/57/2\n"
		    "train.py(3): main>aten::mm>cudaLaunchKernel 10/0/2\n");
	memory_run_release(&mem);
}

TEST(a_launch_of_another_thread_counts_there)
{
	struct memory_run mem;

	analyse(&mem, TRACE(X("cpu_op", "forward", 1, 0, 100) X("cpu_op", "backward", 2, 10, 50)
				    LAUNCH(2, 20, 5, 4) KERNEL("k", 30, 200, 4)));
	assert_rows(&mem, "stacks",
		    "backward 45/0/1\n"
		    "backward>k 0/200/1\n"
		    "backward>cudaLaunchKernel 5/0/1\n"
		    "forward 100/0/1\n");
	memory_run_release(&mem);
}

TEST(kernels_without_a_launch_stand_by_themselves_and_get_a_note)
{
	struct memory_run mem;
	const struct ts_result *flame;

	analyse(&mem, TRACE(X("cpu_op", "op", 1, 0, 10) KERNEL("k", 5, 30, 99)));
	assert_rows(&mem, "stacks",
		    "(no launch in the trace) 0/0/0\n"
		    "(no launch in the trace)>k 0/30/1\n"
		    "op 10/0/1\n");
	flame = ts_results_find(&mem.run.results, "flame");
	assert_int_equal(flame->nr_notes, 1);
	assert_true(ts_bytes_starts(flame->notes[0], "the launches of 1 kernels"));
	memory_run_release(&mem);
}

/* Clocks of host and device differ: the kernel seems to begin first. */
TEST(a_kernel_may_begin_before_its_launch)
{
	struct memory_run mem;

	analyse(&mem, TRACE(X("cpu_op", "op", 1, 0, 40) KERNEL("early", 10, 3, 1) KERNEL(
			      "early", 14, 3, 1) LAUNCH(1, 20, 5, 1) KERNEL("late", 30, 4, 1)));
	assert_rows(&mem, "stacks",
		    "op 35/0/1\n"
		    "op>early 0/6/2\n"
		    "op>late 0/4/1\n"
		    "op>cudaLaunchKernel 5/0/1\n");
	memory_run_release(&mem);
}

/* b begins in a and ends after it: each moment is the later one's, and none counts twice. */
TEST(calls_that_overlap_sum_to_the_time_the_thread_was_busy)
{
	struct memory_run mem;

	analyse(&mem, TRACE(X("cpu_op", "a", 1, 0, 20) X("cpu_op", "b", 1, 15, 15)
				    X("cpu_op", "c", 1, 22, 3) X("cpu_op", "d", 1, 40, 10)));
	assert_rows(&mem, "stacks", "a 15/0/1\na>b 12/0/1\na>b>c 3/0/1\nd 10/0/1\n");
	assert_int_equal(ts_value_int(ts_result_get(ts_results_find(&mem.run.results, "flame"),
						    "cpu_time_ps")),
			 40 * US);
	memory_run_release(&mem);
}

TEST(modules_are_those_of_nn_and_their_kernels)
{
	struct memory_run mem;

	analyse(&mem, TRACE(X("python_function", "nn.Module: Net_0", 1, 0,
			      50) X("python_function", "module.py(9): forward", 1, 5,
				    40) X("python_function", "nn.Module: Linear_0", 1, 10, 20)
				    LAUNCH(1, 15, 5, 1) X("cpu_op", "step", 1, 60, 10)
					    KERNEL("gemm", 20, 8, 1) KERNEL("lost", 70, 2, 5)));
	assert_rows(&mem, "modules",
		    "Net_0 30/0/1\n"
		    "Net_0>Linear_0 20/0/1\n"
		    "Net_0>Linear_0>gemm 0/8/1\n"
		    "(no launch in the trace) 0/0/0\n"
		    "(no launch in the trace)>lost 0/2/1\n"
		    "(outside modules) 10/0/0\n");
	memory_run_release(&mem);
}

#define OP(name, tid, ts, dur, number)                                                   \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":9,\"tid\":" #tid \
	",\"ts\":" #ts ",\"dur\":" #dur ",\"args\":{\"Sequence number\":" #number "}},"

TEST(the_backward_of_an_op_belongs_to_its_module)
{
	struct memory_run mem;

	analyse(&mem, TRACE(X("python_function", "nn.Module: Net_0", 1, 0,
			      50) X("python_function", "nn.Module: Linear_0", 1, 10,
				    20) OP("aten::addmm", 1, 12, 5, 7) OP("aten::sum", 1, 60, 5, 8)
				    OP("autograd::engine::evaluate_function: Sum", 2, 70, 10, 8)
					    OP("autograd::engine::evaluate_function: Addmm", 2, 80,
					       10, 7) OP("AddmmBackward0", 2, 82, 6, 7)
						    LAUNCH(2, 84, 2, 1) KERNEL("gemm", 90, 8, 1)));
	assert_rows(&mem, "modules",
		    "Net_0 30/0/1\n"
		    "Net_0>Linear_0 20/0/1\n"
		    "Net_0>Linear_0>(backward) 10/0/1\n"
		    "Net_0>Linear_0>(backward)>gemm 0/8/1\n"
		    "(outside modules) 15/0/0\n");
	memory_run_release(&mem);
}

TEST(steps_and_objects_do_not_part_paths)
{
	struct memory_run mem;

	analyse(&mem,
		TRACE(X("user_annotation", "ProfilerStep#7", 1, 0,
			10) X("python_function", "<built-in method to of Tensor object at 0x7f01>",
			      1, 2, 3) X("user_annotation", "ProfilerStep#8", 1, 10, 10)
			      X("python_function",
				"<built-in method to of Tensor object at 0x7fA2>", 1, 12, 4)));
	assert_rows(&mem, "stacks",
		    "ProfilerStep#* 13/0/2\n"
		    "ProfilerStep#*><built-in method to of Tensor object> 7/0/2\n");
	memory_run_release(&mem);
}

/* --- outputs */

static void emitted(const struct memory_run *mem, const struct ts_output *output,
		    struct ts_report form, const char *expected)
{
	struct ts_buf out = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;

	form.generator = "tpusight";
	form.version = "0";
	if (output->emit(&out, &mem->run.results, &form, &err))
		fail_msg("%s", err.text);
	ts_buf_putc(&out, '\0');
	assert_string_equal((const char *)out.p, expected);
	ts_buf_release(&out);
}

TEST(folded_lines_have_paths_and_nanoseconds)
{
	struct memory_run mem;

	analyse(&mem, launched);
	emitted(&mem, &ts_output_flame_folded, (struct ts_report){ .max_depth = 0 },
		"train.py(3): main 40000\n"
		"train.py(3): main;aten::mm 50000\n"
		"train.py(3): main;aten::mm;cudaLaunchKernel 10000\n");
	emitted(&mem, &ts_output_flame_folded, (struct ts_report){ .weight = "device" },
		"train.py(3): main;aten::mm;gemm 57000\n");
	emitted(&mem, &ts_output_flame_folded, (struct ts_report){ .weight = "count" },
		"train.py(3): main 1\ntrain.py(3): main;aten::mm 2\n"
		"train.py(3): main;aten::mm;gemm 2\n"
		"train.py(3): main;aten::mm;cudaLaunchKernel 2\n");
	memory_run_release(&mem);
}

TEST(what_is_cut_counts_as_its_parents)
{
	struct memory_run mem;

	analyse(&mem, launched);
	emitted(&mem, &ts_output_flame_folded, (struct ts_report){ .min_duration_ps = 11 * US },
		"train.py(3): main 40000\ntrain.py(3): main;aten::mm 60000\n");
	emitted(&mem, &ts_output_flame_folded, (struct ts_report){ .max_depth = 1 },
		"train.py(3): main 100000\n");
	emitted(&mem, &ts_output_flame_folded,
		(struct ts_report){
			.weight = "device", .min_duration_ps = 40 * US, .group_small = true },
		"train.py(3): main;aten::mm;(small kernels) 57000\n");
	emitted(&mem, &ts_output_flame_folded, (struct ts_report){ .min_duration_ps = 200 * US },
		"(short) 100000\n");
	memory_run_release(&mem);
}

TEST(names_cannot_break_a_folded_line)
{
	struct memory_run mem;

	analyse(&mem, TRACE(X("cpu_op", "a;b\\nc\\u0001 7", 1, 0, 5)));
	emitted(&mem, &ts_output_flame_folded, (struct ts_report){ .max_depth = 0 },
		"a:b c\xEF\xBF\xBD 7 5000\n");
	memory_run_release(&mem);
}

TEST(a_tree_that_is_not_there_is_an_error)
{
	struct memory_run mem;
	struct ts_buf out = TS_BUF_INIT;
	struct ts_error err = TS_ERROR_INIT;
	const struct ts_report form = { .tree = "scopes", .generator = "t", .version = "0" };
	const struct ts_output *const outputs[] = { &ts_output_flame_text, &ts_output_flame_json,
						    &ts_output_flame_folded,
						    &ts_output_flame_speedscope };

	analyse(&mem, launched);
	for (size_t i = 0; i < TS_NELEM(outputs); i++) {
		assert_int_equal(outputs[i]->emit(&out, &mem.run.results, &form, &err), TS_USAGE);
		assert_string_equal(err.text, "the profile has no scopes");
	}
	ts_buf_release(&out);
	memory_run_release(&mem);
}

/* --- full trees */

static int64_t sum_of(const struct flame_tree *tree)
{
	int64_t sum = 0;

	for (size_t i = 0; i < tree->nr; i++)
		sum += tree->nodes[i].cpu_ps + tree->nodes[i].device_ps;
	return sum;
}

static uint32_t child_of(struct flame_tree *tree, uint32_t parent, uint32_t name)
{
	uint32_t child;

	assert_int_equal(ts_flame_tree_child(tree, parent, name, &child, NULL), TS_OK);
	return child;
}

TEST(a_shrunk_tree_keeps_the_heaviest_and_every_picosecond)
{
	struct flame_tree tree = { .nr = 0 };
	uint32_t *moved, heavy, light = TS_NONE;
	int64_t before;

	heavy = child_of(&tree, child_of(&tree, TS_NONE, 1), 2);
	tree.nodes[heavy].cpu_ps = 1000000;
	for (uint32_t i = 0; i < 1000; i++) {
		light = child_of(&tree, child_of(&tree, heavy, 10 + i % 50), i);
		tree.nodes[light].cpu_ps += i;
		tree.nodes[light].device_ps += 7;
	}
	before = sum_of(&tree);

	assert_int_equal(ts_flame_tree_shrink(&tree, 20, &moved, NULL), TS_OK);

	assert_true(tree.nr <= 40);
	assert_int_equal(sum_of(&tree), before);
	assert_int_equal(tree.nodes[moved[heavy]].name, 2);
	assert_int_equal(tree.nodes[moved[light]].name, FLAME_OTHERS);
	assert_true(tree.nr_folded > 900);
	for (uint32_t i = 0; i < tree.nr; i++)
		assert_true(tree.nodes[i].parent == TS_NONE || tree.nodes[i].parent < i);
	free(moved);
	ts_flame_tree_release(&tree);
}

TEST(below_others_is_others)
{
	struct flame_tree tree = { .nr = 0 };
	uint32_t others = child_of(&tree, TS_NONE, FLAME_OTHERS);

	assert_int_equal(child_of(&tree, others, 3), others);
	assert_int_equal(tree.nr, 1);
	ts_flame_tree_release(&tree);
}

/* The tree is shrunk while main is open, and between a launch in it and its kernel. */
TEST(more_paths_than_a_tree_holds_sum_to_the_same_and_keep_open_calls)
{
	const int64_t nr = FLAME_NODES + 20000;
	struct ts_buf trace = TS_BUF_INIT;
	const struct ts_table *stacks;
	struct memory_run mem;
	int64_t cpu_ps = 0;

	ts_buf_printf(&trace,
		      "{\"schemaVersion\":1,\"traceEvents\":["
		      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"main\",\"pid\":9,"
		      "\"tid\":1,\"ts\":0,\"dur\":%lld}," LAUNCH(1, 0, 1, 5),
		      (long long)nr + 10);
	for (int64_t i = 0; i < nr; i++)
		ts_buf_printf(&trace,
			      "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%lld\","
			      "\"pid\":9,\"tid\":1,\"ts\":%lld,\"dur\":1},",
			      (long long)i, (long long)i + 1);
	ts_buf_printf(&trace,
		      "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"k\",\"pid\":0,\"tid\":7,"
		      "\"ts\":%lld,\"dur\":4,\"args\":{\"stream\":7,\"correlation\":5}}]}",
		      (long long)nr + 5);
	ts_buf_putc(&trace, '\0');

	analyse(&mem, (const char *)trace.p);

	stacks = tree_of(&mem, "stacks");
	for (size_t i = 0; i < stacks->nr_rows; i++)
		cpu_ps += ts_cell_int(stacks, i, "cpu_self_ps");
	assert_int_equal(cpu_ps, (nr + 10) * US);
	assert_true(ts_bytes_is(ts_cell_text(stacks, 0, "name"), "main"));
	assert_int_equal(ts_cell_int(stacks, 0, "cpu_total_ps"), (nr + 10) * US);
	assert_int_equal(ts_cell_int(stacks, 0, "device_total_ps"), 4 * US);
	assert_int_equal(ts_cell_int(stacks, 0, "count"), 1);
	memory_run_release(&mem);
	ts_buf_release(&trace);
}

TEST(old_launches_are_forgotten_and_new_ones_known)
{
	struct flame_links links = { .nr_waiting = 0 };

	for (uint32_t i = 0; i < 3 * FLAME_LAUNCHES; i++) {
		const struct flame_launch launch = { i, { i, TS_NONE } };

		assert_int_equal(ts_flame_links_add(&links, &launch, NULL), TS_OK);
		assert_non_null(ts_flame_links_find(&links, i > 1000 ? i - 1000 : 0));
	}
	assert_null(ts_flame_links_find(&links, 5));
	assert_int_equal(ts_flame_links_find(&links, 3 * FLAME_LAUNCHES - 1)->node[0],
			 3 * FLAME_LAUNCHES - 1);
	ts_record_release(&ts_flame_links_record, &links);
}
