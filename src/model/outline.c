/* The outline's small parts: steps by time, and what host events' names mean. */
#include "model/outline.h"

void ts_steps_release(struct ts_steps *steps)
{
	for (size_t i = 0; i < steps->nr_devices; i++)
		free(steps->devices[i].items);
	free(steps->devices);
	memset(steps, 0, sizeof(*steps));
}

void ts_outline_release(struct ts_outline *outline)
{
	ts_steps_release(&outline->steps);
	ts_spans_release(&outline->compile);
	ts_spans_release(&outline->input);
}

uint32_t ts_steps_at(const struct ts_device_steps *steps, int64_t t, size_t *hint)
{
	size_t lo = 0, hi = steps->nr;

	if (*hint < steps->nr && steps->items[*hint].start_ps <= t) {
		for (lo = *hint; lo < steps->nr && lo < *hint + 4; lo++)
			if (steps->items[lo].end_ps > t)
				goto found;
	}
	while (lo < hi) { /* the first step that ends after T */
		size_t mid = lo + (hi - lo) / 2;

		if (steps->items[mid].end_ps <= t)
			lo = mid + 1;
		else
			hi = mid;
	}
found:
	*hint = lo;
	return lo < steps->nr && steps->items[lo].start_ps <= t ? (uint32_t)lo : TS_NONE;
}

struct activity_row {
	const char *name;
	bool prefix;
	enum ts_host_activity activity;
};

/* Backend compilation of JAX, PyTorch/XLA and XLA's own; the input pipeline and transfers in of JAX,
 * tf.data and TPU runtimes. Only outermost names are needed: what runs inside is covered. */
static const struct activity_row activities[] = {
	{ "backend_compile", true, TS_HOST_COMPILE },
	{ "TfrtTpuCompiler::Compile", true, TS_HOST_COMPILE },
	{ "PjRtCpuClient::Compile", true, TS_HOST_COMPILE },
	{ "TfrtCpuClient::Compile", true, TS_HOST_COMPILE },
	{ "PjRtStreamExecutorClient::Compile", true, TS_HOST_COMPILE },
	{ "PjRtComputationClient::Compile", true, TS_HOST_COMPILE },
	{ "XLAGraphExecutor::Compile", true, TS_HOST_COMPILE },
	{ "XlaCompile", true, TS_HOST_COMPILE },
	{ "XLA::TPU", true, TS_HOST_COMPILE },
	{ "InfeedEnqueue", true, TS_HOST_INPUT },
	{ "Iterator::", true, TS_HOST_INPUT },
	{ "IteratorGetNext", true, TS_HOST_INPUT },
	{ "PrefetchProduce", true, TS_HOST_INPUT },
	{ "PrefetchConsume", true, TS_HOST_INPUT },
	{ "ParallelInterleave", true, TS_HOST_INPUT },
	{ "ParallelMap", true, TS_HOST_INPUT },
	{ "MapAndBatch", true, TS_HOST_INPUT },
	{ "H2D Dispatch", true, TS_HOST_INPUT },
	{ "TfrtTpuClient::BufferFromHostBuffer", true, TS_HOST_INPUT },
	{ "shard_args", false, TS_HOST_INPUT },
	{ "Linearize", false, TS_HOST_INPUT },
	{ "XlaLinearize", false, TS_HOST_INPUT },
	{ "TransferH2DRequest", true, TS_HOST_INPUT },
	{ "tpu::System::TransferToDevice", true, TS_HOST_INPUT },
	{ "PjRtComputationClient::TransferToDevice", true, TS_HOST_INPUT },
	{ "MemcpyHToD", true, TS_HOST_INPUT },
	{ "MemcpyH2D", true, TS_HOST_INPUT },
	{ "TransferToDevice", true, TS_HOST_INPUT },
};

enum ts_host_activity ts_host_activity_of(struct ts_bytes name)
{
	for (size_t i = 0; i < TS_NELEM(activities); i++)
		if (activities[i].prefix ? ts_bytes_starts(name, activities[i].name) :
					   ts_bytes_is(name, activities[i].name))
			return activities[i].activity;
	return TS_HOST_OTHER;
}
