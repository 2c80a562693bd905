/* SPDX-License-Identifier: MIT */
/* Work of operators, by hand from their shapes and types. */
#include "tests/test.h"
#include <math.h>

#include "model/aten_work.h"

static const struct {
	const char *name, *dims, *values;
	double flops; /* below 0: unknown */
} rows[] = {
	{ "aten::mm", "[[64, 128], [128, 32]]", "", 2.0 * 64 * 128 * 32 },
	{ "aten::mm", "[[64,128],[128,32]]", "", 2.0 * 64 * 128 * 32 },
	{ "aten::bmm", "[[16, 5185, 64], [16, 64, 5185]]", "", 2.0 * 16 * 5185 * 64 * 5185 },
	{ "aten::addmm", "[[512], [1024, 1705], [1705, 512], [], []]", "",
	  2.0 * 1024 * 1705 * 512 },
	{ "aten::baddbmm", "[[8, 4, 6], [8, 4, 5], [8, 5, 6], [], []]", "", 2.0 * 8 * 4 * 5 * 6 },
	{ "aten::matmul", "[[1024, 96, 50], [50, 15]]", "", 2.0 * 1024 * 96 * 50 * 15 },
	{ "aten::matmul", "[[50], [50]]", "", -1 },
	{ "aten::linear", "[[1, 5185, 1024], [4096, 1024], [4096]]", "", 2.0 * 5185 * 1024 * 4096 },
	{ "aten::mm", "[[64, 128], [127, 32]]", "", -1 },
	{ "aten::mm", "[[64, 128]]", "", -1 },
	{ "aten::mm", "[[64, -1], [128, 32]]", "", -1 },
	{ "aten::mm", "[[64, 128", "", -1 },
	{ "aten::mm", "", "", -1 },
	{ "aten::add", "[[64, 128], [64, 128]]", "", -1 },
	/* 14 x 14, stride 2, padding 1, 3 x 3: 7 x 7 */
	{ "aten::conv2d", "[[10, 256, 14, 14], [512, 256, 3, 3], [], [], [], [], []]",
	  "[\"\", \"\", \"\", \"[2, 2]\", \"[1, 1]\", \"[1, 1]\", \"1\"]",
	  2.0 * 10 * 512 * 7 * 7 * 256 * 9 },
	{ "aten::miopen_convolution",
	  "[[10, 256, 14, 14], [512, 256, 3, 3], [], [], [], [], [], [], []]",
	  "[\"\", \"\", \"\", \"[1, 1]\", \"[2, 2]\", \"[1, 1]\", \"1\", \"False\", \"False\"]",
	  2.0 * 10 * 512 * 7 * 7 * 256 * 9 },
	{ "aten::cudnn_convolution",
	  "[[1, 3, 1008, 1008], [1024, 3, 14, 14], [], [], [], [], [], [], []]",
	  "[\"\", \"\", \"[0, 0]\", \"[14, 14]\", \"[1, 1]\", \"1\", \"False\", \"False\", "
	  "\"True\"]",
	  2.0 * 1024 * 72 * 72 * 3 * 196 },
	/* dilation 2: 3 x 3 reaches 5 x 5, so 8 x 8 becomes 4 x 4; two groups */
	{ "aten::convolution", "[[1, 8, 8, 8], [6, 4, 3, 3], [], [], [], [], [], [], []]",
	  "[\"\", \"\", \"\", \"[1]\", \"[0]\", \"[2]\", \"False\", \"[0, 0]\", \"2\"]",
	  2.0 * 6 * 4 * 4 * 4 * 9 },
	/* transposed: each of 8 x 5 x 5 meets 6 x 3 x 3 weights */
	{ "aten::convolution", "[[1, 8, 5, 5], [8, 6, 3, 3], [], [], [], [], [], [], []]",
	  "[\"\", \"\", \"\", \"[2, 2]\", \"[0, 0]\", \"[1, 1]\", \"True\", \"[0, 0]\", \"1\"]",
	  2.0 * 8 * 25 * 6 * 9 },
	{ "aten::conv2d", "[[10, 256, 14, 14], [512, 256, 3, 3], [], [], [], [], []]", "", -1 },
	{ "aten::convolution_backward",
	  "[[10, 512, 7, 7], [10, 512, 7, 7], [512, 512, 3, 3], [], [], [], [], [], [], [], []]",
	  "[\"\", \"\", \"\", \"[0]\", \"[1, 1]\", \"[1, 1]\", \"[1, 1]\", \"False\", \"[0, 0]\", "
	  "\"1\", "
	  "\"[True, True, False]\"]",
	  2 * 2.0 * 10 * 512 * 7 * 7 * 512 * 9 },
	{ "aten::convolution_backward",
	  "[[10, 64, 7, 7], [10, 3, 7, 7], [64, 3, 3, 3], [], [], [], [], [], [], [], []]",
	  "[\"\", \"\", \"\", \"[0]\", \"[1, 1]\", \"[1, 1]\", \"[1, 1]\", \"False\", \"[0, 0]\", "
	  "\"1\", "
	  "\"[False, True, False]\"]",
	  2.0 * 10 * 64 * 7 * 7 * 3 * 9 },
	{ "aten::scaled_dot_product_attention",
	  "[[2, 8, 128, 64], [2, 8, 256, 64], [2, 8, 256, 32]]", "",
	  2.0 * 2 * 8 * 128 * 256 * (64 + 32) },
	{ "aten::_scaled_dot_product_flash_attention_backward",
	  "[[2, 8, 128, 64], [2, 8, 128, 64], [2, 8, 256, 64], [2, 8, 256, 64]]", "",
	  5 * 2.0 * 2 * 8 * 128 * 256 * 64 },
};

static struct ts_aten_work work_of(const char *name, const char *dims, const char *types,
				   const char *values)
{
	struct ts_aten_call call = { ts_aten_formula_of(ts_bytes_of(name)), ts_bytes_of(dims),
				     ts_bytes_of(types), ts_bytes_of(values) };

	return ts_aten_work_of(&call);
}

TEST(flops_are_those_of_the_shapes)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		double flops = work_of(rows[i].name, rows[i].dims, "", rows[i].values).flops;

		if (rows[i].flops < 0 ? !isnan(flops) : flops != rows[i].flops)
			fail_msg("%s %s has %g, not %g", rows[i].name, rows[i].dims, flops,
				 rows[i].flops);
	}
}

/* 2 x 2 x 8 x 16 x 16 x 4 x 2 FLOPs as a whole; the argument that says whether it is causal stands elsewhere in each. */
static const struct {
	const char *name, *dims, *values;
	double flops;
} masked[] = {
	{ "aten::_scaled_dot_product_flash_attention", "[[2,8,16,4],[2,8,16,4],[2,8,16,4]]",
	  "[\"\",\"\",\"\",\"0.\",\"True\",\"False\",\"\"]", 32768 },
	{ "aten::_scaled_dot_product_flash_attention", "[[2,8,16,4],[2,8,16,4],[2,8,16,4]]",
	  "[\"\",\"\",\"\",\"0.\",\"False\",\"False\",\"\"]", 65536 },
	/* values, and none where the mask is said */
	{ "aten::_scaled_dot_product_flash_attention", "[[2,8,16,4],[2,8,16,4],[2,8,16,4]]",
	  "[\"\",\"\",\"\",\"0.\"]", -1 },
	{ "aten::_flash_attention_forward", "[[2,16,8,4],[2,16,8,4],[2,16,8,4]]",
	  "[\"\",\"\",\"\",\"\",\"\",\"16\",\"16\",\"0.\",\"True\",\"False\"]", 32768 },
	{ "aten::_efficient_attention_forward", "[[2,16,8,4],[2,16,8,4],[2,16,8,4]]",
	  "[\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"0.\",\"1\",\"True\"]", 32768 },
	{ "aten::_scaled_dot_product_efficient_attention", "[[2,8,16,4],[2,8,16,4],[2,8,16,4]]",
	  "[\"\",\"\",\"\",\"\",\"True\",\"0.\",\"True\"]", 32768 },
	/* two heads of keys for eight of queries */
	{ "flash_attn::_flash_attn_forward", "[[2,16,8,4],[2,16,2,4],[2,16,2,4]]",
	  "[\"\",\"\",\"\",\"0.\",\"0.5\",\"True\"]", 32768 },
	/* one query behind fifteen keys meets nearly all of them: 1 - 1 / 16 / 2 */
	{ "flash_attn::_flash_attn_forward", "[[2,1,8,4],[2,16,8,4],[2,16,8,4]]",
	  "[\"\",\"\",\"\",\"0.\",\"0.5\",\"True\"]", 65536 / 16 * (1 - 1.0 / 32) },
};

TEST(a_causal_mask_leaves_half_of_attention)
{
	for (size_t i = 0; i < sizeof(masked) / sizeof(*masked); i++) {
		struct ts_aten_work work =
			work_of(masked[i].name, masked[i].dims, "", masked[i].values);

		if (masked[i].flops < 0 ? !isnan(work.flops) : work.flops != masked[i].flops)
			fail_msg("row %zu has %g, not %g", i, work.flops, masked[i].flops);
		assert_true(work.flops_dense == (i == 7 ? 4096 : 65536));
	}
}

#define TYPES(a, b) "[\"" a "\", \"" b "\", \"Scalar\", \"\"]"

/* By hand: elements of what goes in and comes out, and their sizes. */
static const struct {
	const char *name, *dims, *types, *values;
	double bytes; /* below 0: unknown */
	enum ts_aten_type type;
} sized[] = {
	{ "aten::mm", "[[64, 128], [128, 32]]", TYPES("c10::BFloat16", "c10::BFloat16"), "",
	  2.0 * (64 * 128 + 128 * 32 + 64 * 32), TS_ATEN_BF16 },
	{ "aten::mm", "[[64, 128], [128, 32]]", TYPES("float", "c10::BFloat16"), "",
	  4.0 * 64 * 128 + 2.0 * 128 * 32 + 4.0 * 64 * 32, TS_ATEN_MIXED },
	{ "aten::mm", "[[64, 128], [128, 32]]", TYPES("float", "strange"), "", -1,
	  TS_ATEN_UNKNOWN },
	{ "aten::mm", "[[64, 128], [128, 32]]", "", "", -1, TS_ATEN_UNKNOWN },
	{ "aten::mm", "[[64, 128], [127, 32]]", TYPES("float", "float"), "", -1, TS_ATEN_F32 },
	{ "aten::bmm", "[[16, 10, 64], [16, 64, 20]]", TYPES("c10::Half", "c10::Half"), "",
	  2.0 * 16 * (10 * 64 + 64 * 20 + 10 * 20), TS_ATEN_F16 },
	/* the sum is as small as a row */
	{ "aten::addmm", "[[512], [1024, 17], [17, 512], [], []]",
	  "[\"float\", \"float\", \"float\", \"Scalar\", \"Scalar\"]", "",
	  4.0 * (512 + 1024 * 17 + 17 * 512 + 1024 * 512), TS_ATEN_F32 },
	{ "aten::linear", "[[1, 51, 10], [40, 10], []]", "[\"float\", \"float\", \"\"]", "",
	  4.0 * (51 * 10 + 400 + 51 * 40), TS_ATEN_F32 },
	{ "aten::_int_mm", "[[64, 128], [128, 32]]", TYPES("signed char", "signed char"), "",
	  64 * 128 + 128 * 32 + 4.0 * 64 * 32, TS_ATEN_INT8 },
	/* fp8 in, bf16 (15) out */
	{ "aten::_scaled_mm", "[[64, 128], [128, 32], [], [], [], [], [], []]",
	  "[\"c10::Float8_e4m3fn\", \"c10::Float8_e4m3fn\", \"float\", \"float\", \"\", \"\", "
	  "\"Scalar\"]",
	  "[\"\", \"\", \"\", \"\", \"\", \"\", \"15\", \"True\"]",
	  64 * 128 + 128 * 32 + 2.0 * 64 * 32, TS_ATEN_FP8 },
	/* 14 x 14, stride 2, padding 1, 3 x 3: 7 x 7 */
	{ "aten::conv2d", "[[10, 256, 14, 14], [512, 256, 3, 3], [512], [], [], [], []]",
	  "[\"float\", \"float\", \"float\"]",
	  "[\"\", \"\", \"\", \"[2, 2]\", \"[1, 1]\", \"[1, 1]\", \"1\"]",
	  4.0 * (10 * 256 * 196 + 512 * 256 * 9 + 512 + 10 * 512 * 49), TS_ATEN_F32 },
	{ "aten::convolution", "[[1, 8, 5, 5], [8, 6, 3, 3], [], [], [], [], [], [], []]",
	  TYPES("float", "float"),
	  "[\"\", \"\", \"\", \"[2, 2]\", \"[0, 0]\", \"[1, 1]\", \"True\", \"[0, 0]\", \"1\"]", -1,
	  TS_ATEN_F32 },
	{ "aten::convolution_backward",
	  "[[10, 64, 7, 7], [10, 3, 7, 7], [64, 3, 3, 3], [], [], [], [], [], [], [], []]",
	  "[\"float\", \"float\", \"float\"]",
	  "[\"\", \"\", \"\", \"[0]\", \"[1, 1]\", \"[1, 1]\", \"[1, 1]\", \"False\", \"[0, 0]\", "
	  "\"1\", "
	  "\"[True, True, False]\"]",
	  2 * 4.0 * (10 * 64 * 49 + 10 * 3 * 49 + 64 * 3 * 9), TS_ATEN_F32 },
	{ "aten::scaled_dot_product_attention",
	  "[[2, 8, 128, 64], [2, 8, 256, 64], [2, 8, 256, 32]]",
	  "[\"c10::Half\", \"c10::Half\", \"c10::Half\"]", "",
	  2.0 * 16 * (128 * 64 + 256 * 64 + 256 * 32 + 128 * 32), TS_ATEN_F16 },
	{ "aten::_scaled_dot_product_flash_attention_backward",
	  "[[2, 8, 128, 64], [2, 8, 128, 64], [2, 8, 256, 64], [2, 8, 256, 64]]",
	  "[\"c10::Half\", \"c10::Half\", \"c10::Half\", \"c10::Half\"]", "",
	  2.0 * 16 * 64 * (2 * (128 + 256 + 256) + 128), TS_ATEN_F16 },
	{ "aten::add", "[[64, 128], [64, 128]]", TYPES("float", "float"), "", 3 * 4.0 * 64 * 128,
	  TS_ATEN_UNKNOWN },
	/* broadcast, of the wider type; a scalar's does not count */
	{ "aten::mul", "[[4, 1, 8], [6, 8]]", TYPES("c10::BFloat16", "float"), "",
	  2.0 * 32 + 4.0 * 48 + 4.0 * 4 * 6 * 8, TS_ATEN_UNKNOWN },
	{ "aten::mul_", "[[16, 8], []]", TYPES("c10::BFloat16", "double"), "", 2 * 2.0 * 128 + 8,
	  TS_ATEN_UNKNOWN },
	{ "aten::eq", "[[16, 8], []]", "[\"long int\", \"Scalar\"]", "", 9.0 * 128,
	  TS_ATEN_UNKNOWN },
	{ "aten::add", "[[16, 8], [16, 8]]", TYPES("float", "c10::complex<float>"), "", -1,
	  TS_ATEN_UNKNOWN },
	/* a result that was given, and that of clamp_min(self, min) */
	{ "aten::mul", "[[16], [], [16]]", "[\"float\", \"double\", \"float\"]", "",
	  2 * 4.0 * 16 + 8, TS_ATEN_UNKNOWN },
	{ "aten::add", "[[16], [16], [], [16]]", "[\"float\", \"float\", \"Scalar\", \"float\"]",
	  "", 3 * 4.0 * 16, TS_ATEN_UNKNOWN },
	{ "aten::relu", "[[16]]", "[\"float\"]", "", 2 * 4.0 * 16, TS_ATEN_UNKNOWN },
	/* keys and values of three tokens, and where they go */
	{ "sglang::store_cache", "[[3, 8], [3, 8], [999, 8], [999, 8], [3], [], []]",
	  "[\"float\", \"float\", \"float\", \"float\", \"long int\", \"Scalar\", "
	  "\"Scalar\"]",
	  "", 2 * 2 * 4.0 * 24 + 8 * 3, TS_ATEN_UNKNOWN },
	/* bf16 from f32 */
	{ "aten::copy_", "[[16, 8], [16, 8], []]", TYPES("c10::BFloat16", "float"), "", 6.0 * 128,
	  TS_ATEN_UNKNOWN },
	{ "aten::zero_", "[[16, 8]]", "[\"float\"]", "", 4.0 * 128, TS_ATEN_UNKNOWN },
	{ "aten::_softmax", "[[16, 8], [], []]", "[\"c10::Half\", \"Scalar\", \"Scalar\"]",
	  "[\"\", \"-1\", \"False\"]", 4.0 * 128, TS_ATEN_UNKNOWN },
	{ "aten::_softmax", "[[16, 8], [], []]", "[\"c10::Half\", \"Scalar\", \"Scalar\"]",
	  "[\"\", \"-1\", \"True\"]", 6.0 * 128, TS_ATEN_UNKNOWN },
	{ "aten::native_layer_norm", "[[16, 8], [], [8], [8], []]",
	  "[\"float\", \"ScalarList\", \"float\", \"float\", \"Scalar\"]", "", 4.0 * (2 * 128 + 16),
	  TS_ATEN_UNKNOWN },
	{ "aten::sum", "[[4, 6, 8], [], [], []]", "[\"float\", \"ScalarList\", \"Scalar\", \"\"]",
	  "[\"\", \"[-1, 0]\", \"False\", \"\"]", 4.0 * (192 + 6), TS_ATEN_UNKNOWN },
	{ "aten::argmax", "[[4, 8], [], []]", "[\"float\", \"Scalar\", \"Scalar\"]",
	  "[\"\", \"-1\", \"False\"]", 4.0 * 32 + 8 * 4, TS_ATEN_UNKNOWN },
	{ "aten::mean", "[[4, 8], []]", "[\"float\", \"\"]", "[\"\", \"\"]", 4.0 * 33,
	  TS_ATEN_UNKNOWN },
	/* 10 rows of 8, and where they are */
	{ "aten::embedding", "[[1000, 8], [2, 5], [], [], []]",
	  "[\"c10::Half\", \"long int\", \"Scalar\", \"Scalar\", \"Scalar\"]", "",
	  2 * 2.0 * 80 + 8 * 10, TS_ATEN_UNKNOWN },
	/* gate and value go in */
	{ "_C::silu_and_mul", "[[16, 8], [16, 16]]", TYPES("c10::Half", "c10::Half"), "",
	  2.0 * (128 + 256), TS_ATEN_UNKNOWN },
	/* query and key are read and written, the table looked up */
	{ "_C::rotary_embedding", "[[16], [16, 8], [16, 4], [], [999, 8], []]",
	  "[\"long int\", \"float\", \"float\", \"Scalar\", \"float\", \"Scalar\"]", "",
	  8.0 * 16 + 2 * 4.0 * (128 + 64), TS_ATEN_UNKNOWN },
	{ "triton_poi_fused_add_0", "[[16, 8], [16, 8], []]", "[\"float\", \"float\", \"Scalar\"]",
	  "", 8.0 * 128, TS_ATEN_UNKNOWN },
	/* what it is for is known, and not how much */
	{ "aten::cat", "[[[1, 8], [2, 8]], []]", "[\"TensorList\", \"Scalar\"]", "", -1,
	  TS_ATEN_UNKNOWN },
	{ "aten::_grouped_mm", "[[16, 8], [2, 8, 4], [2]]",
	  "[\"c10::Half\", \"c10::Half\", \"int\"]", "", 2.0 * (128 + 64 + 64), TS_ATEN_F16 },
};

TEST(bytes_are_those_of_shapes_and_types)
{
	for (size_t i = 0; i < sizeof(sized) / sizeof(*sized); i++) {
		struct ts_aten_work work =
			work_of(sized[i].name, sized[i].dims, sized[i].types, sized[i].values);
		double bytes = work.bytes;

		if (sized[i].bytes < 0 ? !isnan(bytes) : bytes != sized[i].bytes)
			fail_msg("%s %s has %g bytes, not %g", sized[i].name, sized[i].dims, bytes,
				 sized[i].bytes);
		assert_int_equal(work.type, sized[i].type);
	}
}

static enum ts_kernel_category category_of(const char *name)
{
	return ts_aten_category(ts_aten_formula_of(ts_bytes_of(name)));
}

TEST(categories_are_those_of_formulas)
{
	assert_int_equal(category_of("aten::addmm"), TS_CATEGORY_GEMM);
	assert_int_equal(category_of("aten::convolution_backward"), TS_CATEGORY_CONVOLUTION);
	assert_int_equal(category_of("aten::scaled_dot_product_attention"), TS_CATEGORY_ATTENTION);
	assert_int_equal(category_of("aten::add_"), TS_CATEGORY_ELEMENTWISE);
	assert_int_equal(category_of("sgl_kernel::rotary_embedding"), TS_CATEGORY_ELEMENTWISE);
	assert_int_equal(category_of("aten::view"), TS_CATEGORY_OTHER);
	assert_int_equal(category_of("add"), TS_CATEGORY_OTHER); /* somebody's own */
}
