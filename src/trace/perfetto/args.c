/* SPDX-License-Identifier: MIT */
/* What the forms of a Perfetto trace share. */
#include "trace/perfetto/perfetto.h"

#include "base/check.h"

#define TEXT_MAX 4096 /* of one arg: an HLO text may be as long as its tuple */

#define KEYS(X)                              \
	X(OP_ID, "op_id")                    \
	X(TF_OP, "tf_op")                    \
	X(SOURCE, "source")                  \
	X(FLOPS, "flops")                    \
	X(BYTES_ACCESSED, "bytes_accessed")  \
	X(HLO_MODULE, "hlo_module")          \
	X(PROGRAM_ID, "program_id")          \
	X(LONG_NAME, "long_name")            \
	X(SHAPE, "shape_with_layout")        \
	X(SOURCE_STACK, "source_stack")      \
	X(MODEL_FLOPS, "model_flops")        \
	X(HBM_READ, "hbm_read_bytes")        \
	X(HBM_WRITE, "hbm_write_bytes")      \
	X(VMEM_READ, "vmem_read_bytes")      \
	X(VMEM_WRITE, "vmem_write_bytes")    \
	X(CMEM_READ, "cmem_read_bytes")      \
	X(CMEM_WRITE, "cmem_write_bytes")
#define NAME(key, name)	      [TS_KEY_##key] = name,
#define EVENT_NAME(key, name) [TS_KEY_##key] = "event_" name,

const char *const ts_perfetto_keys[TS_NR_KEYS] = { KEYS(NAME) };
const char *const ts_perfetto_event_keys[TS_NR_KEYS] = { KEYS(EVENT_NAME) };

const char ts_perfetto_note[] = "native events and TPUsight's tracks; where events were left out, "
				"the longest of the run were kept, and steps and modules first";

struct ts_bytes ts_perfetto_cut(struct ts_bytes text)
{
	size_t n = TEXT_MAX;

	if (text.n <= TEXT_MAX)
		return text;
	while (n > TEXT_MAX - 4 && (text.p[n] & 0xC0) == 0x80)
		n--;
	return ts_bytes_cut(text, 0, n);
}

void ts_perfetto_unit(const struct ts_track *track, struct ts_bytes *name, struct ts_bytes *unit)
{
	struct ts_bytes all = ts_bytes_of(track->name);
	size_t cut = ts_bytes_find(all, " (");

	TS_ASSERT(track && name && unit);
	*name = ts_bytes_cut(all, 0, cut);
	*unit = cut < all.n ? ts_bytes_cut(all, cut + 1, all.n) : (struct ts_bytes){ NULL, 0 };
}

struct ts_bytes ts_perfetto_id(const struct ts_stat *stat, char text[TS_ID_MAX])
{
	TS_ASSERT_HOT(stat && text);
	if (stat->type == TS_STAT_REAL)
		snprintf(text, TS_ID_MAX, "%g", stat->real);
	else if (stat->is_unsigned)
		snprintf(text, TS_ID_MAX, "%llu", (unsigned long long)stat->number);
	else
		snprintf(text, TS_ID_MAX, "%lld", (long long)stat->number);
	return ts_bytes_of(text);
}

void ts_perfetto_seen_release(struct ts_perfetto_seen *seen)
{
	TS_ASSERT(seen);
	ts_strmap_release(&seen->names);
	ts_strmap_release(&seen->categories);
	ts_strmap_release(&seen->frames);
	for (size_t i = 0; i < TS_NELEM(seen->stacks); i++)
		ts_strmap_release(&seen->stacks[i]);
	ts_map_release(&seen->ids);
	ts_strmap_release(&seen->texts);
	ts_buf_release(&seen->scratch);
	*seen = (struct ts_perfetto_seen){ .scratch = TS_BUF_INIT };
}

/* The args in the making: what is unknown is not added. */
struct list {
	struct ts_perfetto_arg *args;
	size_t nr;
};

static void perfetto_args_add_text(struct list *list, enum ts_perfetto_key key,
				   struct ts_bytes text)
{
	if (text.n > 0)
		list->args[list->nr++] =
			(struct ts_perfetto_arg){ .key = key, .text = ts_perfetto_cut(text) };
}

static void perfetto_args_add_number(struct list *list, enum ts_perfetto_key key,
				     enum ts_perfetto_arg_type type, uint64_t number)
{
	list->args[list->nr++] =
		(struct ts_perfetto_arg){ .key = key, .type = type, .number = number };
}

static void add_count(struct list *list, enum ts_perfetto_key key, int64_t count)
{
	if (count >= 0)
		perfetto_args_add_number(list, key, TS_ARG_COUNT, (uint64_t)count);
}

static void perfetto_args_add_own(struct list *list, const struct ts_op *op, bool is_first)
{
	add_count(list, TS_KEY_FLOPS, op->flops);
	add_count(list, TS_KEY_BYTES_ACCESSED, op->bytes_accessed);
	if (!is_first)
		return;
	if (op->model_flops != op->flops)
		add_count(list, TS_KEY_MODEL_FLOPS, op->model_flops);
	perfetto_args_add_text(list, TS_KEY_SHAPE, op->shape);
	perfetto_args_add_text(list, TS_KEY_LONG_NAME, op->text);
}

/* What ops have in common stands first: packed, it takes less where it follows itself. */
size_t ts_perfetto_args(const struct ts_perfetto_op *of, struct ts_perfetto_arg args[TS_NR_KEYS])
{
	const struct ts_profile *profile = of->profile;
	const struct ts_op *op = &profile->ops[of->index];
	struct list list = { .args = args };

	TS_ASSERT(args);
	if (op->module != TS_NONE && op->module < profile->nr_modules)
		perfetto_args_add_text(&list, TS_KEY_HLO_MODULE, profile->modules[op->module].name);
	if (op->has_program)
		perfetto_args_add_number(&list, TS_KEY_PROGRAM_ID, TS_ARG_ID, op->program_id);
	if (!op->has_variants) {
		perfetto_args_add_text(&list, TS_KEY_TF_OP, op->framework_op);
		perfetto_args_add_text(&list, TS_KEY_SOURCE, op->source);
		if (of->is_first)
			perfetto_args_add_text(&list, TS_KEY_SOURCE_STACK, op->source_stack);
	}
	add_count(&list, TS_KEY_OP_ID, of->index);
	if (!op->has_variants)
		perfetto_args_add_own(&list, op, of->is_first);
	if (!op->has_variants && of->is_first) {
		add_count(&list, TS_KEY_HBM_READ, op->hbm_read_bytes);
		add_count(&list, TS_KEY_HBM_WRITE, op->hbm_write_bytes);
		add_count(&list, TS_KEY_VMEM_READ, op->vmem_read_bytes);
		add_count(&list, TS_KEY_VMEM_WRITE, op->vmem_write_bytes);
		add_count(&list, TS_KEY_CMEM_READ, op->cmem_read_bytes);
		add_count(&list, TS_KEY_CMEM_WRITE, op->cmem_write_bytes);
	}
	return list.nr;
}
