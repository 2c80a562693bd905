/* SPDX-License-Identifier: MIT */
/*
 * Names are those of NCCL, RCCL, HCCL, NVSHMEM, MSCCL++, vLLM, FlashInfer, TensorRT-LLM, DeepEP and
 * PyTorch's symmetric memory; cuBLAS, CUTLASS, cuDNN, Triton's and vendors' attention, rocBLAS
 * (Tensile's "Cijk_"), MIOpen, composable_kernel, ATen, Inductor, triton_kernels, AOTriton; CUPTI's and
 * roctracer's for copies.
 */
#include "model/kernel_name.h"

#include "base/check.h"

const char *const ts_kernel_category_names[] = {
	[TS_CATEGORY_COMMUNICATION] = "Communication",
	[TS_CATEGORY_HOST_COPY] = "Host copy",
	[TS_CATEGORY_COPY] = "Copy",
	[TS_CATEGORY_FILL] = "Fill",
	[TS_CATEGORY_EMBEDDING] = "Embedding",
	[TS_CATEGORY_ATTENTION] = "Attention",
	[TS_CATEGORY_CONVOLUTION] = "Convolution",
	[TS_CATEGORY_GEMM] = "GEMM",
	[TS_CATEGORY_SOFTMAX] = "Softmax",
	[TS_CATEGORY_NORM] = "Norm",
	[TS_CATEGORY_OPTIMIZER] = "Optimizer",
	[TS_CATEGORY_REDUCTION] = "Reduction",
	[TS_CATEGORY_INDEXING] = "Indexing",
	[TS_CATEGORY_ELEMENTWISE] = "Elementwise",
	[TS_CATEGORY_OTHER] = "Other",
};

/* The first row that fits. */
static const struct row {
	const char *part;
	enum ts_kernel_category category;
	bool is_word; /* it begins a word: "smallreduce" does not have "allreduce" */
} rows[] = {
	{ "nccl", TS_CATEGORY_COMMUNICATION },
	{ "Nccl", TS_CATEGORY_COMMUNICATION },
	{ "rccl", TS_CATEGORY_COMMUNICATION },
	{ "nvshmem", TS_CATEGORY_COMMUNICATION },
	{ "rocshmem", TS_CATEGORY_COMMUNICATION },
	{ "mscclpp", TS_CATEGORY_COMMUNICATION },
	{ "msccl", TS_CATEGORY_COMMUNICATION },
	{ "deep_ep::", TS_CATEGORY_COMMUNICATION },
	{ "multimem_", TS_CATEGORY_COMMUNICATION },
	{ "cross_device_reduce", TS_CATEGORY_COMMUNICATION },
	{ "one_shot_all_reduce", TS_CATEGORY_COMMUNICATION },
	{ "two_shot_all_reduce", TS_CATEGORY_COMMUNICATION },
	{ "all_reduce", TS_CATEGORY_COMMUNICATION, true },
	{ "allreduce", TS_CATEGORY_COMMUNICATION, true },
	{ "AllReduce", TS_CATEGORY_COMMUNICATION },
	{ "all_gather", TS_CATEGORY_COMMUNICATION, true },
	{ "allgather", TS_CATEGORY_COMMUNICATION, true },
	{ "AllGather", TS_CATEGORY_COMMUNICATION },
	{ "reduce_scatter", TS_CATEGORY_COMMUNICATION, true },
	{ "reducescatter", TS_CATEGORY_COMMUNICATION, true },
	{ "ReduceScatter", TS_CATEGORY_COMMUNICATION },
	{ "all_to_all", TS_CATEGORY_COMMUNICATION, true },
	{ "alltoall", TS_CATEGORY_COMMUNICATION, true },
	{ "hcom_", TS_CATEGORY_COMMUNICATION, true },
	{ "hccl", TS_CATEGORY_COMMUNICATION, true },
	{ "AllToAll", TS_CATEGORY_COMMUNICATION },
	{ "Memcpy HtoD", TS_CATEGORY_HOST_COPY },
	{ "Memcpy DtoH", TS_CATEGORY_HOST_COPY },
	{ "Memcpy HtoH", TS_CATEGORY_HOST_COPY },
	{ "MemcpyH2D", TS_CATEGORY_HOST_COPY },
	{ "MemcpyD2H", TS_CATEGORY_HOST_COPY },
	{ "MemcpyHToD", TS_CATEGORY_HOST_COPY },
	{ "MemcpyDToH", TS_CATEGORY_HOST_COPY },
	{ "CopyHostToDevice", TS_CATEGORY_HOST_COPY },
	{ "CopyDeviceToHost", TS_CATEGORY_HOST_COPY },
	{ "Memcpy", TS_CATEGORY_COPY },
	{ "MEMCPY", TS_CATEGORY_COPY },
	{ "copyBuffer", TS_CATEGORY_COPY },
	{ "dma_request", TS_CATEGORY_COPY },
	{ "CopyDeviceTo", TS_CATEGORY_COPY },
	{ "__amd_rocclr_copy", TS_CATEGORY_COPY },
	{ "Memset", TS_CATEGORY_FILL },
	{ "MEMSET", TS_CATEGORY_FILL },
	{ "memset", TS_CATEGORY_FILL },
	{ "fillBuffer", TS_CATEGORY_FILL },
	{ "FillBuffer", TS_CATEGORY_FILL },
	{ "__amd_rocclr_fill", TS_CATEGORY_FILL },
	{ "fbgemm_gpu::", TS_CATEGORY_EMBEDDING }, /* a library: of embeddings, mostly */
	{ "embedding", TS_CATEGORY_EMBEDDING },
	{ "flash_fwd", TS_CATEGORY_ATTENTION },
	{ "flash_bwd", TS_CATEGORY_ATTENTION },
	{ "fmha", TS_CATEGORY_ATTENTION },
	{ "attn_fwd", TS_CATEGORY_ATTENTION },
	{ "attention", TS_CATEGORY_ATTENTION },
	{ "Attention", TS_CATEGORY_ATTENTION },
	{ "winograd", TS_CATEGORY_CONVOLUTION },
	{ "implicit_convolve", TS_CATEGORY_CONVOLUTION },
	{ "implicit_gemm", TS_CATEGORY_CONVOLUTION },
	{ "fprop", TS_CATEGORY_CONVOLUTION },
	{ "dgrad", TS_CATEGORY_CONVOLUTION },
	{ "wgrad", TS_CATEGORY_CONVOLUTION },
	{ "scudnn", TS_CATEGORY_CONVOLUTION },
	{ "hcudnn", TS_CATEGORY_CONVOLUTION },
	{ "naive_conv", TS_CATEGORY_CONVOLUTION },
	{ "MIOpenConv", TS_CATEGORY_CONVOLUTION },
	{ "gemm", TS_CATEGORY_GEMM },
	{ "Gemm", TS_CATEGORY_GEMM },
	{ "GEMM", TS_CATEGORY_GEMM },
	{ "gemv", TS_CATEGORY_GEMM },
	{ "bmm_", TS_CATEGORY_GEMM, true },
	{ "cutlass::Kernel", TS_CATEGORY_GEMM }, /* cutlass::half_t is a type of any kernel */
	{ "cutlass::device_kernel", TS_CATEGORY_GEMM },
	{ "cutlass_", TS_CATEGORY_GEMM },
	{ "Cijk_", TS_CATEGORY_GEMM },
	{ "xmma", TS_CATEGORY_GEMM },
	{ "nvjet", TS_CATEGORY_GEMM },
	{ "splitKreduce", TS_CATEGORY_GEMM },
	{ "softmax", TS_CATEGORY_SOFTMAX },
	{ "SoftMax", TS_CATEGORY_SOFTMAX },
	{ "Softmax", TS_CATEGORY_SOFTMAX },
	{ "layer_norm", TS_CATEGORY_NORM },
	{ "LayerNorm", TS_CATEGORY_NORM },
	{ "rms_norm", TS_CATEGORY_NORM },
	{ "rmsnorm", TS_CATEGORY_NORM },
	{ "RMSNorm", TS_CATEGORY_NORM },
	{ "Rmsnorm", TS_CATEGORY_NORM },
	{ "batch_norm", TS_CATEGORY_NORM },
	{ "BatchNorm", TS_CATEGORY_NORM },
	{ "bn_fw", TS_CATEGORY_NORM },
	{ "bn_bw", TS_CATEGORY_NORM },
	{ "group_norm", TS_CATEGORY_NORM },
	{ "GroupNorm", TS_CATEGORY_NORM },
	{ "RowwiseMoments", TS_CATEGORY_NORM },
	{ "multi_tensor_apply", TS_CATEGORY_OPTIMIZER },
	{ "adam", TS_CATEGORY_OPTIMIZER, true },
	{ "Adam", TS_CATEGORY_OPTIMIZER },
	{ "reduce_kernel", TS_CATEGORY_REDUCTION },
	{ "DeviceReduce", TS_CATEGORY_REDUCTION },
	{ "triton_red_", TS_CATEGORY_REDUCTION },
	{ "triton_per_", TS_CATEGORY_REDUCTION },
	{ "index", TS_CATEGORY_INDEXING, true },
	{ "gather", TS_CATEGORY_INDEXING, true },
	{ "scatter", TS_CATEGORY_INDEXING, true },
	{ "DeviceRadixSort", TS_CATEGORY_INDEXING },
	{ "DeviceScan", TS_CATEGORY_INDEXING },
	{ "DeviceSelect", TS_CATEGORY_INDEXING },
	{ "elementwise", TS_CATEGORY_ELEMENTWISE },
	{ "triton_poi_", TS_CATEGORY_ELEMENTWISE },
	{ "CatArrayBatchedCopy", TS_CATEGORY_ELEMENTWISE },
	{ "act_and_mul", TS_CATEGORY_ELEMENTWISE },
	{ "SubTensorOp", TS_CATEGORY_ELEMENTWISE },
	{ "matmul", TS_CATEGORY_GEMM,
	  true }, /* what Inductor fuses has it in its name, too: the last */
};

static bool kernel_name_is_letter(uint8_t byte)
{
	return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

static bool has_word(struct ts_bytes name, const char *word)
{
	struct ts_bytes left = name;
	size_t at;

	while ((at = ts_bytes_find(left, word)) < left.n) {
		if (left.p + at == name.p || !kernel_name_is_letter(*(left.p + at - 1)))
			return true;
		left = ts_bytes_cut(left, at + 1, left.n);
	}
	return false;
}

struct ts_kernel_class ts_kernel_class_of(struct ts_bytes name)
{
	TS_ASSERT_HOT(name.p || name.n == 0);
	for (size_t i = 0; i < TS_NELEM(rows); i++)
		if (rows[i].is_word ? has_word(name, rows[i].part)
				    : ts_bytes_has(name, rows[i].part))
			return (struct ts_kernel_class){ rows[i].category, rows[i].part };
	return (struct ts_kernel_class){ TS_CATEGORY_OTHER, NULL };
}
