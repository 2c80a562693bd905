/* SPDX-License-Identifier: MIT */
/*
 * backend_config: the JSON text a compiler keeps at an instruction. libtpu's fields: window_config,
 * convolution_algorithm_config, used_scoped_memory_configs, custom_call_config.cost_estimate. Those
 * of XLA's GPU compiler: gemm_backend_config.dot_dimension_numbers, which older ones write at the
 * top. All 64-bit numbers in it are strings.
 */
#include "read/hlo/parts.h"

#include "base/check.h"

#include <cjson/cJSON.h>
#include <math.h>

static int64_t backend_number_of(const cJSON *item)
{
	int64_t value = TS_HLO_UNKNOWN;

	if (cJSON_IsString(item))
		return ts_bytes_i64(ts_bytes_of(item->valuestring), &value) ? value
									    : TS_HLO_UNKNOWN;
	if (cJSON_IsNumber(item) && fabs(item->valuedouble) < 9.2e18)
		return (int64_t)item->valuedouble;
	return TS_HLO_UNKNOWN;
}

static int64_t backend_number_in(const cJSON *object, const char *name)
{
	return backend_number_of(cJSON_GetObjectItemCaseSensitive(object, name));
}

/* An estimate below zero is not an estimate. */
static int64_t count_in(const cJSON *object, const char *name)
{
	return TS_MAX(backend_number_in(object, name), TS_HLO_UNKNOWN);
}

static const int64_t *numbers_in(struct ts_hlo_reader *reader, const cJSON *object,
				 const char *name, uint32_t *nr)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(object, name), *item;
	int n = cJSON_IsArray(list) ? cJSON_GetArraySize(list) : 0;
	int64_t *numbers = n > 0 ? ts_hlo_array(reader, (size_t)n, sizeof(*numbers)) : NULL;
	uint32_t at = 0;

	*nr = 0;
	if (!numbers)
		return NULL;
	cJSON_ArrayForEach(item, list) numbers[at++] = backend_number_of(item);
	*nr = at;
	return numbers;
}

static void convert_window_config(struct ts_hlo_reader *reader, const cJSON *root,
				  struct ts_hlo_backend *to)
{
	const cJSON *window = cJSON_GetObjectItemCaseSensitive(root, "window_config");

	to->estimated_cycles = count_in(window, "estimated_cycles");
	to->iteration_bounds =
		numbers_in(reader, window, "iteration_bounds", &to->nr_iteration_bounds);
	to->output_bounds =
		numbers_in(reader, window, "output_window_bounds", &to->nr_output_bounds);
}

static void convert_emitter(struct ts_hlo_reader *reader, const cJSON *root,
			    struct ts_hlo_backend *to)
{
	const cJSON *config =
		cJSON_GetObjectItemCaseSensitive(root, "convolution_algorithm_config");
	const cJSON *emitter = cJSON_GetObjectItemCaseSensitive(config, "emitter");

	if (cJSON_IsString(emitter))
		to->emitter = ts_hlo_text(reader, emitter->valuestring);
}

static void convert_scoped_memory(const cJSON *root, struct ts_hlo_backend *to)
{
	const cJSON *list = cJSON_GetObjectItemCaseSensitive(root, "used_scoped_memory_configs"),
		    *item;

	cJSON_ArrayForEach(item, list)
	{
		int64_t size = backend_number_in(item, "size");

		if (backend_number_in(item, "memory_space") != TS_SPACE_VMEM || size < 0)
			continue;
		to->scoped_vmem_bytes = ts_i64_add(TS_MAX(to->scoped_vmem_bytes, 0), size);
	}
}

static void convert_estimate(const cJSON *root, struct ts_hlo_backend *to)
{
	const cJSON *call = cJSON_GetObjectItemCaseSensitive(root, "custom_call_config");
	const cJSON *estimate = cJSON_GetObjectItemCaseSensitive(call, "cost_estimate");

	to->cost_flops = count_in(estimate, "flops");
	to->cost_transcendentals = count_in(estimate, "transcendentals");
	to->cost_bytes = count_in(estimate, "bytes_accessed");
}

static void convert_gemm(struct ts_hlo_reader *reader, const cJSON *root, struct ts_hlo_instr *to)
{
	const cJSON *gemm = cJSON_GetObjectItemCaseSensitive(root, "gemm_backend_config");
	const cJSON *from =
		cJSON_GetObjectItemCaseSensitive(gemm ? gemm : root, "dot_dimension_numbers");
	struct ts_dot_dims *dims;

	if (!cJSON_IsObject(from) || to->dot)
		return;
	dims = ts_hlo_array(reader, 1, sizeof(*dims));
	if (!dims)
		return;
	dims->lhs_contracting =
		numbers_in(reader, from, "lhs_contracting_dimensions", &dims->nr_lhs_contracting);
	dims->rhs_contracting =
		numbers_in(reader, from, "rhs_contracting_dimensions", &dims->nr_rhs_contracting);
	dims->lhs_batch = numbers_in(reader, from, "lhs_batch_dimensions", &dims->nr_lhs_batch);
	dims->rhs_batch = numbers_in(reader, from, "rhs_batch_dimensions", &dims->nr_rhs_batch);
	to->dot = dims;
}

void ts_hlo_convert_backend(struct ts_hlo_reader *reader, struct ts_bytes text,
			    struct ts_hlo_instr *to)
{
	struct ts_hlo_backend *backend = &to->backend;
	cJSON *root;

	TS_ASSERT(reader && to);
	TS_ASSERT(text.p || text.n == 0);
	*backend = (struct ts_hlo_backend){
		.estimated_cycles = TS_HLO_UNKNOWN,
		.scoped_vmem_bytes = TS_HLO_UNKNOWN,
		.cost_flops = TS_HLO_UNKNOWN,
		.cost_transcendentals = TS_HLO_UNKNOWN,
		.cost_bytes = TS_HLO_UNKNOWN,
		.known_trips = TS_HLO_UNKNOWN,
	};
	if (text.n == 0 || text.n > TS_LIMIT_HLO_CONFIG || text.p[0] != '{')
		return;
	root = cJSON_ParseWithLength((const char *)text.p, text.n);
	convert_window_config(reader, root, backend);
	convert_emitter(reader, root, backend);
	convert_scoped_memory(root, backend);
	convert_estimate(root, backend);
	backend->known_trips =
		count_in(cJSON_GetObjectItemCaseSensitive(root, "known_trip_count"), "n");
	if (to->opcode == TS_OPCODE_CUSTOM_CALL)
		convert_gemm(reader, root, to);
	cJSON_Delete(root);
}
