/* SPDX-License-Identifier: MIT */
/* Rows of categories, then rows of names. */
#include "model/trace_class.h"

#include "base/check.h"
#include "model/kernel_name.h"

const char *const ts_trace_class_names[] = {
	[TS_TRACE_KERNEL] = "Kernel",	  [TS_TRACE_MEMCPY] = "Memcpy",
	[TS_TRACE_MEMSET] = "Memset",	  [TS_TRACE_COMMUNICATION] = "Communication",
	[TS_TRACE_RUNTIME] = "Runtime",	  [TS_TRACE_DATALOADER] = "DataLoader",
	[TS_TRACE_CPU_EXEC] = "CPU Exec", [TS_TRACE_OTHER] = "Other",
};

const char *const ts_kernel_type_names[] = {
	[TS_KERNEL_COMPUTATION] = "COMPUTATION",
	[TS_KERNEL_COMMUNICATION] = "COMMUNICATION",
	[TS_KERNEL_MEMORY] = "MEMORY",
	[TS_KERNEL_OTHER] = "OTHER",
};

struct row {
	const char *text;
	enum ts_trace_class class;
};

/* Of the host. JAX's traces have no categories: runtime calls go by their names. */
static const struct row host_names[] = {
	{ "enumerate(DataLoader)#", TS_TRACE_DATALOADER },
	{ "enumerate(DataPipe)#", TS_TRACE_DATALOADER },
	{ "DataLoader", TS_TRACE_DATALOADER },
	{ "nccl:", TS_TRACE_COMMUNICATION }, /* the call of a collective, as ranges name it */
	{ "gloo:", TS_TRACE_COMMUNICATION },
};
static const struct row runtime_names[] = {
	{ "cudaLaunch", TS_TRACE_RUNTIME },
	{ "cudaMem", TS_TRACE_RUNTIME },
	{ "cudaStream", TS_TRACE_RUNTIME },
	{ "cudaEvent", TS_TRACE_RUNTIME },
	{ "cudaDevice", TS_TRACE_RUNTIME },
	{ "cuLaunch", TS_TRACE_RUNTIME },
	{ "cuMem", TS_TRACE_RUNTIME },
	{ "cuStream", TS_TRACE_RUNTIME },
	{ "cuEvent", TS_TRACE_RUNTIME },
	{ "cuModule", TS_TRACE_RUNTIME },
	{ "hipLaunch", TS_TRACE_RUNTIME },
	{ "hipModuleLaunch", TS_TRACE_RUNTIME },
	{ "hipExtModuleLaunch", TS_TRACE_RUNTIME },
	{ "hipMem", TS_TRACE_RUNTIME },
	{ "hipStream", TS_TRACE_RUNTIME },
	{ "hipEvent", TS_TRACE_RUNTIME },
};

static enum ts_trace_class by_prefix(const struct row *rows, size_t nr, struct ts_bytes name)
{
	for (size_t i = 0; i < nr; i++)
		if (ts_bytes_starts(name, rows[i].text))
			return rows[i].class;
	return TS_TRACE_NONE;
}

enum ts_trace_class ts_trace_class_of_category(enum ts_opcode category)
{
	TS_ASSERT_HOT(category < TS_NR_OPCODES);
	if (TS_OPCODE_IN(category, TS_KINETO_CPU_OP, TS_KINETO_FIRST_OPERATOR))
		return TS_TRACE_CPU_EXEC;
	if (TS_OPCODE_IN(category, TS_KINETO_CUDA_RUNTIME, TS_KINETO_CUDA_DRIVER,
			 TS_KINETO_FIRST_RUNTIME, TS_KINETO_HIP_RUNTIME, TS_KINETO_MTIA_RUNTIME,
			 TS_KINETO_XPU_RUNTIME, TS_KINETO_XPU_DRIVER, TS_KINETO_PRIVATEUSE1_RUNTIME,
			 TS_KINETO_PRIVATEUSE1_DRIVER, TS_KINETO_GLOW_RUNTIME))
		return TS_TRACE_RUNTIME;
	if (TS_OPCODE_IN(category, TS_KINETO_KERNEL, TS_KINETO_CONCURRENT_KERNEL,
			 TS_KINETO_FIRST_KERNEL))
		return TS_TRACE_KERNEL;
	if (TS_OPCODE_IN(category, TS_KINETO_GPU_MEMCPY, TS_KINETO_FIRST_MEMCPY))
		return TS_TRACE_MEMCPY;
	if (TS_OPCODE_IN(category, TS_KINETO_GPU_MEMSET, TS_KINETO_FIRST_MEMSET))
		return TS_TRACE_MEMSET;
	return TS_TRACE_NONE;
}

static enum ts_trace_class on_core(const struct ts_op *op)
{
	switch (op->kind) {
	case TS_OP_CONTROL:    return TS_TRACE_NONE;
	case TS_OP_COLLECTIVE: return TS_TRACE_COMMUNICATION;
	case TS_OP_HOST:       return TS_TRACE_MEMCPY;
	default:	       return TS_TRACE_KERNEL;
	}
}

/* An op of a program has the program's name and not the kernel's. */
static enum ts_trace_class on_gpu(const struct ts_op *op)
{
	static const enum ts_trace_class classes[TS_NR_KERNEL_CATEGORIES] = {
		[TS_CATEGORY_COMMUNICATION] = TS_TRACE_COMMUNICATION,
		[TS_CATEGORY_HOST_COPY] = TS_TRACE_MEMCPY,
		[TS_CATEGORY_COPY] = TS_TRACE_MEMCPY,
		[TS_CATEGORY_FILL] = TS_TRACE_MEMSET,
	}; /* the others: TS_TRACE_KERNEL, which is 0 */

	if (op->has_program)
		return op->kind == TS_OP_COLLECTIVE ? TS_TRACE_COMMUNICATION : TS_TRACE_KERNEL;
	return classes[ts_kernel_class_of(op->name).category];
}

static enum ts_trace_class on_host(const struct ts_op *op)
{
	enum ts_trace_class class = by_prefix(host_names, TS_NELEM(host_names), op->name);

	if (class == TS_TRACE_NONE)
		class = ts_trace_class_of_category(op->category_id);
	if (class == TS_TRACE_NONE && op->category.n == 0)
		class = by_prefix(runtime_names, TS_NELEM(runtime_names), op->name);
	return class;
}

enum ts_trace_class ts_trace_class_of(const struct ts_profile *profile, const struct ts_line *line,
				      const struct ts_op *op)
{
	TS_ASSERT_HOT(profile && line && op);
	if (ts_line_is_core(profile, line))
		return profile->planes[line->plane].kind == TS_PLANE_GPU ? on_gpu(op) : on_core(op);
	return line->kind == TS_LINE_THREAD ? on_host(op) : TS_TRACE_NONE;
}

enum ts_trace_side ts_trace_side_of(const struct ts_profile *profile, const struct ts_line *line)
{
	TS_ASSERT(profile && line);
	if (ts_line_is_core(profile, line))
		return TS_SIDE_DEVICE;
	if (line->kind == TS_LINE_THREAD && profile->planes[line->plane].kind == TS_PLANE_HOST)
		return TS_SIDE_HOST;
	return TS_SIDE_NONE;
}

bool ts_trace_is_python(const struct ts_op *op)
{
	TS_ASSERT_HOT(op);
	return op->category_id == TS_KINETO_PYTHON_FUNCTION ||
	       (op->category.n == 0 && ts_bytes_starts(op->name, "$"));
}

bool ts_profile_is_torch(const struct ts_profile *profile)
{
	TS_ASSERT(profile);
	for (size_t i = 0; i < profile->nr_ops; i++) {
		const struct ts_op *op = &profile->ops[i];

		if (op->is_event && (op->category_id == TS_KINETO_PYTHON_FUNCTION ||
				     ts_trace_class_of_category(op->category_id) != TS_TRACE_NONE))
			return true;
	}
	return false;
}

enum ts_kernel_type ts_kernel_type_of(const struct ts_op *op)
{
	TS_ASSERT_HOT(op);
	switch (on_gpu(op)) {
	case TS_TRACE_COMMUNICATION: return TS_KERNEL_COMMUNICATION;
	case TS_TRACE_MEMCPY:
	case TS_TRACE_MEMSET:	     return TS_KERNEL_MEMORY;
	default:		     return TS_KERNEL_COMPUTATION;
	}
}

enum ts_kernel_type ts_hta_type_of(struct ts_bytes name)
{
	TS_ASSERT_HOT(name.p || name.n == 0);
	if (ts_bytes_starts(name, "nccl") && ts_bytes_has(name, "Kernel"))
		return TS_KERNEL_COMMUNICATION;
	if (ts_bytes_starts(name, "Memcpy") || ts_bytes_starts(name, "Memset") ||
	    ts_bytes_starts(name, "dma"))
		return TS_KERNEL_MEMORY;
	if (ts_bytes_has(name, "Memcpy") || ts_bytes_has(name, "Sync"))
		return TS_KERNEL_OTHER;
	return TS_KERNEL_COMPUTATION;
}

/* Parts of names: torch_tb_profiler's list (tensor_core.py, after NVIDIA's PyProf), which XProf has
 * too, and what came later: Ampere's and Hopper's instructions, cuBLAS' newest kernels, and the matrix
 * cores of AMD in the names of Tensile, which is behind rocBLAS and hipBLASLt. */
bool ts_kernel_uses_tensor_cores(struct ts_bytes name)
{
	static const char *const parts[] = {
		"h884",
		"s884",
		"h1688",
		"s1688",
		"hmma",
		"i8816",
		"16816",
		"c1688",
		"dgrad_1x1_stride_2x2",
		"first_layer_wgrad_kernel",
		"conv1x1",
		"conv2d_c1_k1",
		"direct_group",
		"xmma_implicit_gemm",
		"xmma_sparse_conv",
		"xmma_warp_specialized_implicit_gemm",
		"xmma_gemm",
		"xmma_sparse_gemm",
		"i16832",
		"tensorop",
		"gmma",
		"nvjet",
		"_MI16x16x",
		"_MI32x32x",
		"mfma",
	};

	TS_ASSERT_HOT(name.p || name.n == 0);
	for (size_t i = 0; i < TS_NELEM(parts); i++)
		if (ts_bytes_has(name, parts[i]))
			return true;
	return false;
}
