/* SPDX-License-Identifier: MIT */
/* Kernels of a GPU by name: rows of names as libraries have them, and what they are for. */
#include "model/kernel_name.h"

#include <stdlib.h>

#include "tests/test.h"

static const struct {
	const char *name;
	enum ts_kernel_category category;
	const char *rule;
} rows[] = {
	{ "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", TS_CATEGORY_COMMUNICATION, "nccl" },
	{ "void rccl_main_kernel<true>", TS_CATEGORY_COMMUNICATION, "rccl" },
	{ "void multimem_all_reduce_kernel<c10::BFloat16, 16>", TS_CATEGORY_COMMUNICATION,
	  "multimem_" },
	{ "one_shot_all_reduce_kernel", TS_CATEGORY_COMMUNICATION, "one_shot_all_reduce" },
	{ "void two_shot_all_reduce_kernel_inplace<float>", TS_CATEGORY_COMMUNICATION,
	  "two_shot_all_reduce" },
	{ "void vllm::cross_device_reduce_1stage<__half, 8>", TS_CATEGORY_COMMUNICATION,
	  "cross_device_reduce" },
	{ "nvshmemi_transfer_rma", TS_CATEGORY_COMMUNICATION, "nvshmem" },
	{ "mscclpp::allreduce6<float>", TS_CATEGORY_COMMUNICATION, "mscclpp" },
	{ "void tensorrt_llm::kernels::oneShotAllReduceKernel<__half>", TS_CATEGORY_COMMUNICATION,
	  "AllReduce" },
	{ "flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport",
	  TS_CATEGORY_COMMUNICATION, "allreduce" },
	{ "void deep_ep::internode::dispatch<false>", TS_CATEGORY_COMMUNICATION, "deep_ep::" },
	{ "smallreduce2", TS_CATEGORY_OTHER, NULL },
	{ "Memcpy DtoH (Device -> Pinned)", TS_CATEGORY_HOST_COPY, "Memcpy DtoH" },
	{ "Memcpy PtoP (Device -> Device)", TS_CATEGORY_COPY, "Memcpy" },
	{ "__amd_rocclr_copyBuffer", TS_CATEGORY_COPY, "copyBuffer" },
	{ "Memset (Device)", TS_CATEGORY_FILL, "Memset" },
	{ "__amd_rocclr_fillBufferAligned.kd", TS_CATEGORY_FILL, "fillBuffer" },
	{ "void pytorch_flash::flash_fwd_kernel<cutlass::half_t>", TS_CATEGORY_ATTENTION,
	  "flash_fwd" },
	{ "fmha_cutlassF_f16_aligned_64x64_rf_sm80", TS_CATEGORY_ATTENTION, "fmha" },
	{ "sm80_xmma_wgrad_implicit_gemm_indexed_tf32", TS_CATEGORY_CONVOLUTION, "implicit_gemm" },
	{ "ampere_bf16_s16816gemm_bf16_128x64_ldg8", TS_CATEGORY_GEMM, "gemm" },
	{ "bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x16x256u2", TS_CATEGORY_GEMM, "bmm_" },
	{ "void finalizeKernelVecLoad<cutlass::bfloat16_t>", TS_CATEGORY_OTHER, NULL },
	{ "Cijk_Ailk_Bljk_BBS_BH_MT128x128x32", TS_CATEGORY_GEMM, "Cijk_" },
	{ "void (anonymous namespace)::softmax_warp_forward<float>", TS_CATEGORY_SOFTMAX,
	  "softmax" },
	{ "void vectorized_layer_norm_kernel<float>", TS_CATEGORY_NORM, "layer_norm" },
	{ "void at::native::multi_tensor_apply_kernel<T>", TS_CATEGORY_OPTIMIZER,
	  "multi_tensor_apply" },
	{ "void at::native::reduce_kernel<512, 1>", TS_CATEGORY_REDUCTION, "reduce_kernel" },
	{ "triton_per_fused_sum_3", TS_CATEGORY_REDUCTION, "triton_per_" },
	{ "void at::native::indexSelectSmallIndex<float>", TS_CATEGORY_INDEXING, "index" },
	{ "void at::native::vectorized_elementwise_kernel<4>", TS_CATEGORY_ELEMENTWISE,
	  "elementwise" },
	{ "triton_poi_fused_relu_0", TS_CATEGORY_ELEMENTWISE, "triton_poi_" },
	{ "triton_poi_fused_matmul_mul_1", TS_CATEGORY_ELEMENTWISE, "triton_poi_" },
	{ "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1", TS_CATEGORY_GEMM, "matmul" },
	{ "attn_fwd", TS_CATEGORY_ATTENTION, "attn_fwd" },
	{ "_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipeline", TS_CATEGORY_NORM,
	  "Rmsnorm" },
	{ "_ZN7sgl_hip10activation18act_and_mul_kernelI14__hip_bfloat16", TS_CATEGORY_ELEMENTWISE,
	  "act_and_mul" },
	{ "SubTensorOpWithCastTensor1d", TS_CATEGORY_ELEMENTWISE, "SubTensorOp" },
	{ "my_kernel", TS_CATEGORY_OTHER, NULL },
	{ "", TS_CATEGORY_OTHER, NULL },
};

TEST(a_name_says_what_a_kernel_is_for_and_which_part_said_it)
{
	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_kernel_class class = ts_kernel_class_of(ts_bytes_of(rows[i].name));

		if (class.category != rows[i].category)
			fail_msg("%s: %s", rows[i].name, ts_kernel_category_names[class.category]);
		if (!rows[i].rule != !class.rule ||
		    (class.rule && strcmp(class.rule, rows[i].rule) != 0))
			fail_msg("%s: by %s", rows[i].name, class.rule ? class.rule : "no rule");
	}
}
