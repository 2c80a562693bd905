/* SPDX-License-Identifier: MIT */
/*
 * Names that PyTorch's compiler writes. Names of kernels are held against get_fused_kernel_name() of
 * torch/_inductor/utils.py: its ops, sorted and joined by underscores, were joined here by hand.
 */
#include "tests/test.h"
#include "model/torch_event.h"

struct name_row {
	const char *name, *category;
	enum ts_torch_event event;
};

static const struct name_row name_rows[] = {
	{ "Torch-Compiled Region: 0/1", "cpu_op", TS_TORCH_REGION },
	{ "Torch-Compiled Region", "cpu_op", TS_TORCH_REGION },
	{ "Torch-Compiled Region: 0/1", "", TS_TORCH_OTHER },
	{ "## Call CompiledFxGraph fabc ##", "user_annotation", TS_TORCH_GRAPH },
	{ "CompiledFunction", "cpu_op", TS_TORCH_FUNCTION },
	{ "CompiledFunctionBackward", "cpu_op", TS_TORCH_BACKWARD },
	{ "autograd::engine::evaluate_function: CompiledFunctionBackward", "cpu_op",
	  TS_TORCH_OTHER },
	{ "TorchDynamo Cache Lookup", "cpu_op", TS_TORCH_LOOKUP },
	{ "Pregraph bytecode", "cpu_op", TS_TORCH_OVERHEAD },
	{ "dynamo", "cpu_op", TS_TORCH_COMPILE },
	{ "backend_compile", "cpu_op", TS_TORCH_COMPILE },
	{ "backend_compile", "", TS_TORCH_OTHER }, /* JAX's */
	{ "_compile.<locals>.compile_inner (dynamo_timed)", "user_annotation", TS_TORCH_PHASE },
	{ "inductor_compile_data: fn_name=compile_fx_inner, compile_id=0/0", "user_annotation",
	  TS_TORCH_ABOUT },
	{ "graph_0_cpp_fused_mul_relu_threshold_backward_0", "cpu_op", TS_TORCH_KERNEL },
	{ "aten::addmm", "cpu_op", TS_TORCH_OP },
	{ "aten::empty_strided", "cpu_op", TS_TORCH_OTHER },
	{ "train.py(12): forward", "python_function", TS_TORCH_OTHER },
	{ "cudaGraphLaunch", "cuda_runtime", TS_TORCH_GRAPH_LAUNCH },
	{ "hipGraphLaunch", "cuda_runtime", TS_TORCH_GRAPH_LAUNCH },
	{ "cudaLaunchKernelExC", "cuda_runtime", TS_TORCH_KERNEL_LAUNCH },
	{ "cuLaunchKernel", "cuda_driver", TS_TORCH_KERNEL_LAUNCH },
	{ "cudaDeviceSynchronize", "cuda_runtime", TS_TORCH_OTHER },
	{ "", "cpu_op", TS_TORCH_OTHER },
};

TEST(events_are_known_by_name_and_category)
{
	for (size_t i = 0; i < TS_NELEM(name_rows); i++) {
		const struct name_row *row = &name_rows[i];
		enum ts_torch_event is = ts_torch_event_of(
			ts_bytes_of(row->name), ts_opcode_of(ts_bytes_of(row->category)));

		if (is != row->event)
			fail_msg("%s is %d, not %d", row->name, (int)is, (int)row->event);
	}
}

struct id_row {
	const char *text;
	bool good;
	int64_t autograd, frame, compile;
};

static const struct id_row id_rows[] = {
	{ "0/0", true, -1, 0, 0 },     { "12/3", true, -1, 12, 3 },
	{ "!7", true, 7, -1, -1 },     { "!7/2/1", true, 7, 2, 1 },
	{ "", false, 0, 0, 0 },	       { "0", false, 0, 0, 0 },
	{ "0/", false, 0, 0, 0 },      { "/0", false, 0, 0, 0 },
	{ "!", false, 0, 0, 0 },       { "0/0_1", false, 0, 0, 0 },
	{ "0/0/0", false, 0, 0, 0 },   { "-1/0", false, 0, 0, 0 },
	{ "None", false, 0, 0, 0 },    { "99999999999999999999/0", false, 0, 0, 0 },
	{ "Unknown", false, 0, 0, 0 },
};

TEST(a_compile_id_has_two_or_three_numbers)
{
	for (size_t i = 0; i < TS_NELEM(id_rows); i++) {
		const struct id_row *row = &id_rows[i];
		struct ts_compile_id id;

		if (ts_compile_id_parse(ts_bytes_of(row->text), &id) != row->good)
			fail_msg("%s is %sgood", row->text, row->good ? "not " : "");
		if (!row->good)
			continue;
		assert_int_equal(id.autograd, row->autograd);
		assert_int_equal(id.frame, row->frame);
		assert_int_equal(id.compile, row->compile);
	}
}

TEST(ids_stand_in_names_of_regions_and_annotations)
{
	struct ts_compile_id id;

	assert_true(ts_compile_id_of(TS_LIT("Torch-Compiled Region: 3/2"), &id));
	assert_true(id.frame == 3 && id.compile == 2);
	assert_true(ts_compile_id_of(TS_LIT("x_data: compile_id=4/1, fn_name=f"), &id));
	assert_true(id.frame == 4 && id.compile == 1);
	assert_false(ts_compile_id_of(TS_LIT("Torch-Compiled Region"), &id));
	assert_int_equal(id.frame, -1);
}

TEST(different_ids_have_different_keys)
{
	struct ts_compile_id ids[] = { { -1, 0, 0 },  { -1, 0, 1 }, { -1, 1, 0 },
				       { 0, -1, -1 }, { 0, 0, 0 },  { -1, -1, -1 } };

	for (size_t i = 0; i < TS_NELEM(ids); i++)
		for (size_t k = 0; k < i; k++)
			assert_true(ts_compile_id_key(ids[i]) != ts_compile_id_key(ids[k]));
}

struct kernel_row {
	const char *kernel, *ops; /* ops: joined by spaces; NULL: Inductor did not make it */
};

static const struct kernel_row kernel_rows[] = {
	{ "triton_poi_fused_add_relu_0", "add relu" },
	{ "triton_poi_fused_mul_relu_threshold_backward_0", "mul relu threshold_backward" },
	{ "triton_per_fused__softmax_add_12", "_softmax add" },
	{ "triton_poi_fused__to_copy__unsafe_view_mul_3", "_to_copy _unsafe_view mul" },
	{ "triton_red_fused_add_native_layer_norm_native_layer_norm_backward_7",
	  "add native_layer_norm native_layer_norm_backward" },
	{ "triton_poi_fused_upsample_nearest2d_0", "upsample_nearest2d" },
	{ "triton_tem_fused_addmm_relu_5", "addmm relu" },
	{ "triton_tem_fused_mm_0", "mm" },
	{ "triton_for_fused__foreach_add_1", "_foreach_add" },
	{ "triton_poi_fused_add_moe_forward_0", "add moe_forward" }, /* of vLLM */
	{ "triton_red_fused_mul_unified_attention_with_output_2",
	  "mul unified_attention_with_output" },
	{ "triton_poi_fused_0", "" },
	{ "triton_poi_fused_linear_relu_0", "linear relu" },
	{ "triton_poi_fused_add_0_0d1d2de3de", "add" }, /* Triton 2's signature */
	{ "graph_3_cpp_fused_gt_sum_0", "gt sum" },
	{ "cpp_fused_mul_0", "mul" },
	{ "model__2_triton_poi_fused_add_1", "add" },
	{ "triton_mm", NULL },
	{ "fused_add_rms_norm_kernel", NULL },
	{ "void at::native::vectorized_elementwise_kernel<4, at::native::relu>", NULL },
	{ "", NULL },
};

TEST(the_name_of_a_kernel_has_its_ops)
{
	for (size_t i = 0; i < TS_NELEM(kernel_rows); i++) {
		const struct kernel_row *row = &kernel_rows[i];
		struct ts_bytes kernel = ts_bytes_of(row->kernel), rest, op;
		int64_t nr = ts_torch_fused_ops(kernel), told = 0;
		char ops[256] = "";

		if ((nr == 0) != (row->ops == NULL))
			fail_msg("%s: %d ops", row->kernel, (int)nr);
		rest = ts_torch_fused_part(kernel);
		while (row->ops && (op = ts_torch_next_op(&rest)).n > 0 && told < 10)
			snprintf(ops + strlen(ops), sizeof(ops) - strlen(ops), "%s%.*s",
				 told++ ? " " : "", TS_ARG(op));
		if (row->ops && (strcmp(ops, row->ops) != 0 || nr != TS_MAX(told, 1)))
			fail_msg("%s: %d ops, \"%s\"", row->kernel, (int)nr, ops);
	}
}

TEST(names_of_frames_and_of_functions_that_go_on_are_taken_apart)
{
	struct ts_torch_frame frame;
	struct ts_bytes broken;
	int64_t line;

	assert_true(ts_torch_frame_of(TS_LIT("a (b)/train.py(12): forward"), &frame));
	assert_true(ts_bytes_is(frame.file, "a (b)/train.py") && frame.line == 12 &&
		    ts_bytes_is(frame.function, "forward"));
	assert_false(ts_torch_frame_of(TS_LIT("<built-in function getattr>"), &frame));
	assert_false(ts_torch_frame_of(TS_LIT("(12): f"), &frame));
	assert_false(ts_torch_frame_of(TS_LIT("f.py(x): f"), &frame));
	assert_true(
		ts_torch_computes_again(TS_LIT("/a/torch/utils/checkpoint.py(1): recompute_fn")));
	assert_false(
		ts_torch_computes_again(TS_LIT("/a/torch/utils/checkpoint.py(1): checkpoint")));
	assert_false(ts_torch_computes_again(TS_LIT("/a/checkpoint.py(1): recompute_fn")));
	assert_true(
		ts_torch_resume_of(TS_LIT("torch_dynamo_resume_in_forward_at_17"), &broken, &line));
	assert_true(ts_bytes_is(broken, "forward") && line == 17);
	assert_true(
		ts_torch_resume_of(TS_LIT("torch_dynamo_resume_in_f_at_2_at_3"), &broken, &line));
	assert_true(ts_bytes_is(broken, "f_at_2") && line == 3);
	assert_false(ts_torch_resume_of(TS_LIT("torch_dynamo_resume_in_f"), &broken, &line));
	assert_false(ts_torch_resume_of(TS_LIT("torch_dynamo_resume_in__at_1"), &broken, &line));
	assert_false(ts_torch_resume_of(TS_LIT("forward"), &broken, &line));
}
