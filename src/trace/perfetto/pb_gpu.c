/* SPDX-License-Identifier: MIT */
/*
 * GPUs: what ran on their streams a second time, as GPU render stages, which Perfetto's pages of
 * compute kernels and its GPU queries (gpu_slice) know, and slices do not have.
 *
 * Beside the slices of the rows and not in their place: the importer gives a render stage no
 * category, no correlation id, no call stack and none of TrackEvent's flows, names its args without
 * "debug.", and puts it on a track of type gpu_render_stage outside its process; so nothing that asks for
 * a line's slices would find them, nor would the rows of one process stand together. Whoever counts all
 * of `slice` must leave that type out. Kernels that overlap get lanes from the importer itself.
 *
 * protos/perfetto/trace/: gpu/gpu_render_stage_event.proto, gpu/gpu_interned_data.proto,
 * gpu/gpu_track_event.proto, system_info/gpu_info.proto. Args have the names that
 * ui/src/plugins/com.meta.GpuCompute asks for.
 */
#include "trace/perfetto/pb.h"

enum { GPU_INFO_GPUS = 1, GPU_NAME = 1, GPU_VENDOR = 2, GPU_MODEL = 3 };
enum { CONTEXT_IID = 1, CONTEXT_PID = 2, CONTEXT_API = 3 };
enum { API_CUDA = 4, API_HIP = 5 };
enum { SPECIFICATION_IID = 1, SPECIFICATION_NAME = 2, SPECIFICATION_CATEGORY = 4 };
enum { CATEGORY_OTHER = 0, CATEGORY_COMPUTE = 2 };
enum stage_field {
	STAGE_EVENT_ID = 1,
	STAGE_DURATION = 2,
	STAGE_CONTEXT = 5,
	STAGE_GPU_ID = 11,
	STAGE_QUEUE_IID = 13,
	STAGE_STAGE_IID = 14,
	STAGE_KERNEL_IID = 19,
	STAGE_NAME_IID = 20,
	STAGE_LAUNCH = 21,
};
enum { LAUNCH_GRID = 1, LAUNCH_BLOCK = 2 };
enum { KERNEL_IID = 1, KERNEL_NAME = 2, KERNEL_ARGS = 5 };
enum { ARG_NAME_IID = 1, ARG_UINT = 4 };

/* Ids of gpu_specifications: the two stages, then one queue for each row of the file. */
enum { IID_COMPUTE = 1, IID_COPY, IID_QUEUES };

static const char *const kernel_args[] = { "grid_size",		"workgroup_size",
					   "thread_count",	"registers_per_thread",
					   "shared_mem_static", "shared_mem_dynamic" };

static void pb_gpu_put_text(struct ts_buf *out, uint32_t field, struct ts_bytes text)
{
	if (text.n)
		ts_pbw_text(out, field, text);
}

static void pb_gpu_put_gpu(struct ts_buf *out, const struct ts_perfetto_gpu *gpu)
{
	size_t mark = ts_pbw_begin(out, GPU_INFO_GPUS);

	pb_gpu_put_text(out, GPU_NAME, gpu->name);
	pb_gpu_put_text(out, GPU_VENDOR, gpu->vendor);
	pb_gpu_put_text(out, GPU_MODEL, gpu->model);
	ts_pbw_end(out, mark);
}

/* All of a machine in one packet, as their places in it are their numbers. */
void ts_perfetto_pb_gpus(struct ts_buf *out, const struct ts_perfetto_head *head, uint32_t machine)
{
	size_t before = out->n, packet = begin_packet(out, HEAD_SEQUENCE, machine);
	size_t info = ts_pbw_begin(out, PACKET_GPU_INFO);
	bool has_any = false;

	for (size_t i = 0; i < head->nr_gpus; i++) {
		if (head->gpus[i].machine != machine)
			continue;
		pb_gpu_put_gpu(out, &head->gpus[i]);
		has_any = true;
	}
	ts_pbw_end(out, info);
	ts_pbw_end(out, packet);
	if (!has_any && !out->failed)
		out->n = before;
}

static void put_context(struct ts_buf *out, const struct ts_perfetto_gpu *gpu)
{
	size_t context = ts_pbw_begin(out, INTERNED_CONTEXTS);

	ts_pbw_u64(out, CONTEXT_IID, gpu->pid);
	ts_pbw_u64(out, CONTEXT_PID, gpu->pid);
	ts_pbw_u64(out, CONTEXT_API,
		   ts_bytes_is(gpu->vendor, "AMD")	? API_HIP
		   : ts_bytes_is(gpu->vendor, "Nvidia") ? API_CUDA
							: 0);
	ts_pbw_end(out, context);
}

static void put_specification(struct ts_buf *out, uint64_t iid, struct ts_bytes name,
			      uint32_t category)
{
	size_t specification = ts_pbw_begin(out, INTERNED_GPU_SPECIFICATIONS);

	ts_pbw_u64(out, SPECIFICATION_IID, iid);
	ts_pbw_text(out, SPECIFICATION_NAME, name);
	ts_pbw_u64(out, SPECIFICATION_CATEGORY, category);
	ts_pbw_end(out, specification);
}

void ts_perfetto_pb_gpu_row(struct ts_buf *out, const struct ts_perfetto_row *row)
{
	size_t packet, data;

	if (!row->gpu)
		return;
	packet = begin_row_packet(out, row);
	ts_pbw_u64(out, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	data = ts_pbw_begin(out, PACKET_INTERNED_DATA);
	put_context(out, row->gpu);
	put_specification(out, IID_COMPUTE, TS_LIT("Kernel"), CATEGORY_COMPUTE);
	put_specification(out, IID_COPY, TS_LIT("Copy or fill"), CATEGORY_OTHER);
	put_specification(out, IID_QUEUES + (uint64_t)row->number, ts_perfetto_cut(row->name),
			  CATEGORY_OTHER);
	for (uint32_t i = 0; i < TS_NELEM(kernel_args); i++)
		intern(out, INTERNED_KERNEL_ARGS, i + 1, ts_bytes_of(kernel_args[i]));
	ts_pbw_end(out, data);
	ts_pbw_end(out, packet);
}

/* Kernels */

static int64_t pb_gpu_product(const uint32_t dimensions[3])
{
	uint64_t area = (uint64_t)dimensions[0] * dimensions[1], all;

	if (area == 0 || dimensions[2] == 0)
		return TS_UNKNOWN;
	return __builtin_mul_overflow(area, dimensions[2], &all) || all > INT64_MAX ? TS_UNKNOWN
										    : (int64_t)all;
}

static int64_t threads_of(int64_t blocks, int64_t size)
{
	int64_t all;

	return blocks < 0 || size < 0 || __builtin_mul_overflow(blocks, size, &all) ? TS_UNKNOWN
										    : all;
}

/* Each launch that differs is a kernel of its own: what it was launched with stands in its args. */
static void intern_kernel(struct ts_buf *out, const struct ts_perfetto_kernel *kernel,
			  uint32_t number)
{
	int64_t blocks = pb_gpu_product(kernel->grid), size = pb_gpu_product(kernel->block);
	int64_t values[TS_NELEM(kernel_args)] = { blocks,
						  size,
						  threads_of(blocks, size),
						  kernel->registers,
						  kernel->static_shared,
						  kernel->dynamic_shared };
	size_t entry = ts_pbw_begin(out, INTERNED_KERNELS);

	ts_pbw_u64(out, KERNEL_IID, number);
	pb_gpu_put_text(out, KERNEL_NAME, ts_perfetto_cut(kernel->name));
	for (uint32_t i = 0; i < TS_NELEM(values); i++) {
		size_t arg;

		if (values[i] < 0)
			continue;
		arg = ts_pbw_begin(out, KERNEL_ARGS);
		ts_pbw_u64(out, ARG_NAME_IID, i + 1);
		ts_pbw_i64(out, ARG_UINT, values[i]);
		ts_pbw_end(out, arg);
	}
	ts_pbw_end(out, entry);
}

static void put_dimensions(struct ts_buf *out, uint32_t field, const uint32_t dimensions[3])
{
	size_t mark;

	if (pb_gpu_product(dimensions) < 0)
		return;
	mark = ts_pbw_begin(out, field);
	for (uint32_t i = 0; i < 3; i++)
		ts_pbw_u64(out, i + 1, dimensions[i]);
	ts_pbw_end(out, mark);
}

void ts_perfetto_pb_kernel_tail(struct ts_buf *out, struct ts_buf *tail,
				const struct ts_perfetto_lane *lane,
				const struct ts_perfetto_kernel *kernel, uint32_t number)
{
	const struct ts_perfetto_row *row = lane->row;
	size_t packet = begin_row_packet(out, row), data, launch;

	ts_pbw_u64(out, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	data = ts_pbw_begin(out, PACKET_INTERNED_DATA);
	intern_kernel(out, kernel, number);
	ts_pbw_end(out, data);
	ts_pbw_end(out, packet);
	ts_pbw_u64(tail, STAGE_CONTEXT, row->gpu->pid);
	ts_pbw_u64(tail, STAGE_GPU_ID, row->gpu->number);
	ts_pbw_u64(tail, STAGE_QUEUE_IID, IID_QUEUES + (uint64_t)row->number);
	ts_pbw_u64(tail, STAGE_STAGE_IID, kernel->is_compute ? IID_COMPUTE : IID_COPY);
	ts_pbw_u64(tail, STAGE_NAME_IID, (uint64_t)kernel->op + 1);
	ts_pbw_u64(tail, STAGE_KERNEL_IID, number);
	if (pb_gpu_product(kernel->grid) < 0 && pb_gpu_product(kernel->block) < 0)
		return;
	launch = ts_pbw_begin(tail, STAGE_LAUNCH);
	put_dimensions(tail, LAUNCH_GRID, kernel->grid);
	put_dimensions(tail, LAUNCH_BLOCK, kernel->block);
	ts_pbw_end(tail, launch);
}

void ts_perfetto_pb_render_stage(struct ts_buf *out, const struct ts_perfetto_lane *lane,
				 const struct ts_perfetto_slice *slice)
{
	size_t packet = ts_pbw_begin(out, TRACE_PACKET), event;

	ts_perfetto_pb_time(out, lane->row, slice->start_ns);
	ts_buf_put(out, (struct ts_bytes){ (const uint8_t *)lane->packet.p, lane->packet.n });
	event = ts_pbw_begin(out, PACKET_RENDER_STAGE);
	ts_pbw_i64(out, STAGE_DURATION, slice->dur_ns);
	ts_pbw_u64(out, STAGE_EVENT_ID, slice->stage_id);
	ts_buf_put(out, slice->kernel);
	ts_pbw_end(out, event);
	ts_pbw_end(out, packet);
}
