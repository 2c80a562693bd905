/* What the forms of a Perfetto trace share. */
#include "write/perfetto/perfetto.h"

#include "base/check.h"

#define TEXT_MAX 4096 /* of one arg: an HLO text may be as long as its tuple */

const char *const ts_perfetto_keys[TS_NR_KEYS] = {
	[TS_KEY_TF_OP] = "tf_op",
	[TS_KEY_SOURCE] = "source",
	[TS_KEY_FLOPS] = "flops",
	[TS_KEY_BYTES_ACCESSED] = "bytes_accessed",
	[TS_KEY_LONG_NAME] = "long_name",
	[TS_KEY_SHAPE] = "shape_with_layout",
	[TS_KEY_SOURCE_STACK] = "source_stack",
	[TS_KEY_HLO_MODULE] = "hlo_module",
	[TS_KEY_PROGRAM_ID] = "program_id",
};

const char ts_perfetto_note[] =
	"native events and TPUsight's tracks; where events were left out, the longest "
	"of the run were kept, and steps and modules first";

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

static size_t add_text(struct ts_perfetto_arg *arg, enum ts_perfetto_key key, struct ts_bytes text)
{
	*arg = (struct ts_perfetto_arg){ .key = key, .text = ts_perfetto_cut(text) };
	return text.n > 0;
}

static size_t add_count(struct ts_perfetto_arg *arg, enum ts_perfetto_key key, int64_t count)
{
	*arg = (struct ts_perfetto_arg){ key, TS_ARG_COUNT, { NULL, 0 }, (uint64_t)count };
	return count >= 0;
}

static size_t add_full(const struct ts_profile *profile, const struct ts_op *op,
		       struct ts_perfetto_arg *args)
{
	size_t n = add_text(args, TS_KEY_LONG_NAME, op->text);

	n += add_text(args + n, TS_KEY_SHAPE, op->shape);
	n += add_text(args + n, TS_KEY_SOURCE_STACK, op->source_stack);
	if (op->module != TS_NONE && op->module < profile->nr_modules)
		n += add_text(args + n, TS_KEY_HLO_MODULE, profile->modules[op->module].name);
	if (op->has_program)
		args[n++] = (struct ts_perfetto_arg){ .key = TS_KEY_PROGRAM_ID,
						      .type = TS_ARG_ID,
						      .number = op->program_id };
	return n;
}

size_t ts_perfetto_args(const struct ts_profile *profile, uint32_t index, bool full,
			struct ts_perfetto_arg args[TS_NR_KEYS])
{
	const struct ts_op *op = &profile->ops[index];
	size_t n = add_text(args, TS_KEY_TF_OP, op->framework_op);

	TS_ASSERT(profile && args);
	n += add_text(args + n, TS_KEY_SOURCE, op->source);
	n += add_count(args + n, TS_KEY_FLOPS, op->flops);
	n += add_count(args + n, TS_KEY_BYTES_ACCESSED, op->bytes_accessed);
	return full ? n + add_full(profile, op, args + n) : n;
}
