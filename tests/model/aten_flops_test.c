/* SPDX-License-Identifier: Apache-2.0 */
/* FLOPs of operators, by hand from their shapes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "model/aten_flops.h"

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

static void flops_are_those_of_the_shapes(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		double flops = ts_aten_flops(ts_bytes_of(rows[i].name), ts_bytes_of(rows[i].dims),
					     ts_bytes_of(rows[i].values));

		if (rows[i].flops < 0 ? !isnan(flops) : flops != rows[i].flops)
			fail_msg("%s %s has %g, not %g", rows[i].name, rows[i].dims, flops,
				 rows[i].flops);
	}
}

static void convolutions_need_values(void **state)
{
	bool needs_values;

	assert_true(ts_aten_has_flops(TS_LIT("aten::conv2d"), &needs_values) && needs_values);
	assert_true(ts_aten_has_flops(TS_LIT("aten::mm"), &needs_values) && !needs_values);
	assert_false(ts_aten_has_flops(TS_LIT("aten::relu"), &needs_values));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flops_are_those_of_the_shapes),
		cmocka_unit_test(convolutions_need_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
