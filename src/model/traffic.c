/* SPDX-License-Identifier: MIT */
/*
 * Bytes by memory and way. The breakdown is libtpu's (XProf's op_metrics.proto, MemoryAccessBreakdown);
 * asynchronous copies have an empty one, and their module tells in which memory they begin and end.
 */
#include "model/traffic.h"

#include <math.h>

#include "base/check.h"
#include "model/op_kind.h"

static int64_t model_traffic_sum_of(const int64_t *bytes)
{
	int64_t sum = 0;

	for (int i = 0; i < TS_NR_MEMORIES; i++)
		if (i != TS_MEMORY_HOST)
			sum = ts_i64_add(sum, bytes[i]);
	return sum;
}

/*
 * Of ops that talk to the host without an array in its memory: what lands on the device came over the link, and
 * the other way round.
 */
static void add_link(struct ts_traffic *traffic, enum ts_opcode op)
{
	if (TS_OPCODE_IN(op, TS_OPCODE_INFEED, TS_XLA_HOST_RECV, TS_XLA_HOST_RECV_DONE))
		traffic->read_bytes[TS_MEMORY_HOST] = model_traffic_sum_of(traffic->written_bytes);
	if (TS_OPCODE_IN(op, TS_OPCODE_OUTFEED, TS_XLA_HOST_SEND, TS_XLA_HOST_SEND_DONE))
		traffic->written_bytes[TS_MEMORY_HOST] = model_traffic_sum_of(traffic->read_bytes);
}

struct ts_traffic ts_instr_traffic(const struct ts_hlo_module *module, uint32_t index)
{
	const struct ts_hlo_instr *instr = &module->instrs[index];
	struct ts_traffic traffic = { .source = TS_TRAFFIC_MODULE };
	struct ts_cost cost;

	TS_ASSERT(module);
	if (TS_OPCODE_IN(instr->opcode, TS_OPCODE_WHILE, TS_OPCODE_CONDITIONAL, TS_OPCODE_CALL))
		return (struct ts_traffic){ .source = TS_TRAFFIC_INSIDE };
	cost = ts_hlo_cost(module, index);
	if (cost.bytes_accessed < 0)
		return (struct ts_traffic){ .source = TS_TRAFFIC_UNKNOWN };
	memcpy(traffic.read_bytes, cost.read_bytes, sizeof(traffic.read_bytes));
	memcpy(traffic.written_bytes, cost.written_bytes, sizeof(traffic.written_bytes));
	add_link(&traffic, ts_opcode_of(ts_hlo_category(instr)));
	return traffic;
}

static int64_t model_traffic_known(int64_t bytes)
{
	return TS_MAX(bytes, 0);
}

/* It knows the device's memories only: the host's come from the module. */
static struct ts_traffic by_breakdown(const struct ts_profile *profile, const struct ts_op *op)
{
	struct ts_traffic traffic = { .source = TS_TRAFFIC_BREAKDOWN };

	traffic.read_bytes[TS_MEMORY_HBM] = model_traffic_known(op->hbm_read_bytes);
	traffic.read_bytes[TS_MEMORY_VMEM] = model_traffic_known(op->vmem_read_bytes);
	traffic.read_bytes[TS_MEMORY_CMEM] = model_traffic_known(op->cmem_read_bytes);
	traffic.written_bytes[TS_MEMORY_HBM] = model_traffic_known(op->hbm_write_bytes);
	traffic.written_bytes[TS_MEMORY_VMEM] = model_traffic_known(op->vmem_write_bytes);
	traffic.written_bytes[TS_MEMORY_CMEM] = model_traffic_known(op->cmem_write_bytes);
	add_link(&traffic, op->category_id);
	if (op->kind == TS_OP_HOST && op->instr != TS_NONE && op->module != TS_NONE) {
		struct ts_traffic compiled =
			ts_instr_traffic(&profile->modules[op->module], op->instr);

		traffic.read_bytes[TS_MEMORY_HOST] = compiled.read_bytes[TS_MEMORY_HOST];
		traffic.written_bytes[TS_MEMORY_HOST] = compiled.written_bytes[TS_MEMORY_HOST];
	}
	return traffic;
}

/*
 * A start reads its source; of other ops it is unknown. A done writes its target, and one of the two is on
 * the chip, as a rule: what the start moved in HBM is not counted again.
 */
static struct ts_traffic model_traffic_by_total(const struct ts_op *op)
{
	struct ts_traffic traffic = { .source = TS_TRAFFIC_TOTAL };
	bool copies = op->kind == TS_OP_MOVE || op->kind == TS_OP_HOST;

	if ((copies && op->async == TS_ASYNC_START) || op->category_id == TS_OPCODE_OUTFEED)
		traffic.read_bytes[TS_MEMORY_HBM] = op->bytes_accessed;
	else if (copies && op->async == TS_ASYNC_DONE && op->kind == TS_OP_MOVE)
		return traffic;
	else if ((copies && op->async == TS_ASYNC_DONE) || op->category_id == TS_OPCODE_INFEED)
		traffic.written_bytes[TS_MEMORY_HBM] = op->bytes_accessed;
	else
		traffic.unsplit_bytes = op->bytes_accessed;
	if (copies && op->kind == TS_OP_HOST) { /* the other end lies in the host's memory */
		traffic.written_bytes[TS_MEMORY_HOST] = traffic.read_bytes[TS_MEMORY_HBM];
		traffic.read_bytes[TS_MEMORY_HOST] = traffic.written_bytes[TS_MEMORY_HBM];
	}
	add_link(&traffic, op->category_id);
	return traffic;
}

struct ts_traffic ts_op_traffic(const struct ts_profile *profile, const struct ts_op *op)
{
	struct ts_traffic traffic = { .source = TS_TRAFFIC_UNKNOWN };

	TS_ASSERT_HOT(profile && op);
	if (op->kind == TS_OP_CONTROL || op->kind == TS_OP_MODULE || op->kind == TS_OP_STEP)
		return (struct ts_traffic){ .source = TS_TRAFFIC_INSIDE };
	if (op->hbm_read_bytes >= 0 || op->hbm_write_bytes >= 0 || op->onchip_bytes >= 0)
		return by_breakdown(profile, op);
	if (op->instr != TS_NONE && op->module != TS_NONE)
		traffic = ts_instr_traffic(&profile->modules[op->module], op->instr);
	if (traffic.source != TS_TRAFFIC_UNKNOWN || op->bytes_accessed < 0)
		return traffic;
	if (op->bytes_accessed == 0 && op->category_id == TS_OPCODE_CUSTOM_CALL)
		return traffic; /* libtpu's 0 for a kernel that it does not know */
	return model_traffic_by_total(op);
}

double ts_op_hbm_bytes(const struct ts_profile *profile, const struct ts_op *op)
{
	struct ts_traffic traffic;

	TS_ASSERT(profile && op);
	if (op->hbm_read_bytes != TS_UNKNOWN || op->hbm_write_bytes != TS_UNKNOWN)
		return (double)model_traffic_known(op->hbm_read_bytes) +
		       (double)model_traffic_known(op->hbm_write_bytes);
	traffic = ts_op_traffic(profile, op);
	return traffic.source <= TS_TRAFFIC_INSIDE ? NAN : (double)ts_traffic_hbm_bytes(&traffic);
}

int64_t ts_traffic_hbm_bytes(const struct ts_traffic *traffic)
{
	TS_ASSERT_HOT(traffic);
	return ts_i64_add(traffic->unsplit_bytes,
			  ts_i64_add(traffic->read_bytes[TS_MEMORY_HBM],
				     traffic->written_bytes[TS_MEMORY_HBM]));
}

int64_t ts_traffic_host_bytes(const struct ts_traffic *traffic)
{
	TS_ASSERT_HOT(traffic);
	return ts_i64_add(traffic->read_bytes[TS_MEMORY_HOST],
			  traffic->written_bytes[TS_MEMORY_HOST]);
}

void ts_traffic_add(struct ts_traffic *sum, const struct ts_traffic *traffic)
{
	TS_ASSERT_HOT(sum && traffic);
	if (sum->source <= TS_TRAFFIC_INSIDE)
		sum->source = traffic->source;
	for (int i = 0; i < TS_NR_MEMORIES; i++) {
		sum->read_bytes[i] = ts_i64_add(sum->read_bytes[i], traffic->read_bytes[i]);
		sum->written_bytes[i] =
			ts_i64_add(sum->written_bytes[i], traffic->written_bytes[i]);
	}
	sum->unsplit_bytes = ts_i64_add(sum->unsplit_bytes, traffic->unsplit_bytes);
}

struct ts_traffic ts_traffic_times(const struct ts_traffic *traffic, int64_t n)
{
	struct ts_traffic all = *traffic;

	TS_ASSERT_HOT(traffic);
	for (int i = 0; i < TS_NR_MEMORIES; i++) {
		all.read_bytes[i] = ts_i64_mul(all.read_bytes[i], n);
		all.written_bytes[i] = ts_i64_mul(all.written_bytes[i], n);
	}
	all.unsplit_bytes = ts_i64_mul(all.unsplit_bytes, n);
	return all;
}

const char *ts_traffic_source_name(enum ts_traffic_source source)
{
	static const char *const names[] = { NULL, NULL, "breakdown", "module", "bytes_accessed" };

	return names[source];
}
