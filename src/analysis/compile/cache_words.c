/* SPDX-License-Identifier: MIT */
/*
 * What the variants of a family differ in, in words: the kinds of difference, the shapes of the
 * parameters that change, where the dimensions of an axis are, and the sizes to pad them to.
 */
#include "analysis/compile/cache.h"

#include "base/buf.h"
#include "base/units.h"

#define MAX_PARAMS 8 /* shapes of a variant that are written */

struct writer {
	const struct ts_profile *profile;
	struct ts_arena *arena;
	struct ts_buf text;
	bool failed;
};

/* What was written since the last time, in the arena. */
static struct ts_bytes cache_words_keep_text(struct writer *writer)
{
	struct ts_bytes text = ts_arena_copy(writer->arena, ts_buf_bytes(&writer->text));

	writer->failed |= writer->text.failed || !text.p;
	ts_buf_clear(&writer->text);
	return text;
}

static const struct {
	unsigned bit;
	const char *words;
} difference_names[] = {
	{ TS_DIFFERS_FUNCTION, "source" },
	{ TS_DIFFERS_COUNT, "number of parameters" },
	{ TS_DIFFERS_RANK, "rank" },
	{ TS_DIFFERS_SHAPE, "shape" },
	{ TS_DIFFERS_DTYPE, "dtype" },
	{ TS_DIFFERS_LAYOUT, "layout" },
	{ TS_DIFFERS_RESULT, "shape of the result" },
	{ TS_DIFFERS_CODE, "static argument or code" },
	{ TS_DIFFERS_CONSTANT, "constant, sharding or donation" },
};

static struct ts_bytes write_differences(struct writer *writer, unsigned differences)
{
	for (size_t i = 0; i < TS_NELEM(difference_names); i++)
		if (differences & difference_names[i].bit)
			ts_buf_printf(&writer->text, "%s%s", writer->text.n ? ", " : "",
				      difference_names[i].words);
	return cache_words_keep_text(writer);
}

static bool same_shape(const struct ts_shape *a, const struct ts_shape *b)
{
	return a && b && a->dtype == b->dtype && ts_shape_same_dims(a, b);
}

/* Is the parameter not the same in all variants? */
static bool parameter_changes(const struct ts_profile *profile,
			      const struct ts_cache_family *family, uint32_t number)
{
	const struct ts_hlo_module *modules = profile->modules;
	const struct ts_shape *first =
		ts_cache_parameter(&modules[family->variants[0].module], number);

	for (size_t i = 1; i < family->nr_known; i++)
		if (!same_shape(first,
				ts_cache_parameter(&modules[family->variants[i].module], number)))
			return true;
	return false;
}

/* The parameters that change; all of them where all stay the same. */
static struct ts_bytes write_parameters(struct writer *writer, const struct ts_cache_family *family,
					const struct ts_cache_variant *variant)
{
	const struct ts_hlo_module *module = &writer->profile->modules[variant->module];
	uint32_t nr = ts_cache_nr_parameters(module), nr_written = 0;
	bool sizes = family->differences & (TS_DIFFERS_SHAPE | TS_DIFFERS_DTYPE | TS_DIFFERS_RANK);

	for (uint32_t p = 0; p < nr; p++) {
		const struct ts_shape *shape = ts_cache_parameter(module, p);

		if (!shape || (sizes && !parameter_changes(writer->profile, family, p)))
			continue;
		if (nr_written++ == MAX_PARAMS) {
			ts_buf_puts(&writer->text, ", ...");
			break;
		}
		if (nr_written > 1)
			ts_buf_puts(&writer->text, ", ");
		ts_buf_printf(&writer->text, "%s[", ts_dtype_name(shape->dtype));
		for (uint32_t d = 0; d < shape->rank; d++)
			ts_buf_printf(&writer->text, "%s%lld", d ? "," : "",
				      (long long)shape->dims[d]);
		ts_buf_putc(&writer->text, ']');
	}
	return cache_words_keep_text(writer);
}

static void write_shapes(struct writer *writer, struct ts_cache_family *family)
{
	size_t nr = TS_MIN(family->nr_known, CACHE_MAX_SHAPES);
	struct ts_bytes *shapes = ts_arena_array(writer->arena, nr + 1, sizeof(*shapes));

	writer->failed |= !shapes;
	for (size_t i = 0; shapes && i < nr; i++)
		shapes[i] = write_parameters(writer, family, &family->variants[i]);
	family->shapes = shapes;
	family->nr_shapes = shapes ? nr : 0;
}

static struct ts_bytes write_places(struct writer *writer, const struct ts_cache_axis *axis)
{
	for (size_t i = 0; i < axis->nr_places; i++)
		ts_buf_printf(&writer->text, "%sparameter %u dimension %u", i ? ", " : "",
			      axis->places[i].parameter, axis->places[i].dim);
	if (axis->nr_all_places > axis->nr_places)
		ts_buf_printf(&writer->text, " and %zu more",
			      axis->nr_all_places - axis->nr_places);
	return cache_words_keep_text(writer);
}

/* The axes once more, with their places in words. */
static const struct ts_cache_axis *with_places(struct writer *writer,
					       const struct ts_cache_family *family)
{
	struct ts_cache_axis *axes =
		ts_arena_array(writer->arena, family->nr_axes + 1, sizeof(*axes));

	writer->failed |= !axes;
	for (size_t i = 0; axes && i < family->nr_axes; i++) {
		axes[i] = family->axes[i];
		axes[i].where = write_places(writer, &axes[i]);
	}
	return axes;
}

enum ts_status ts_cache_describe(struct cache_families *families, const struct ts_profile *profile,
				 struct ts_error *err)
{
	struct writer writer = { .profile = profile,
				 .arena = families->arena,
				 .text = TS_BUF_INIT };

	TS_ASSERT(families->arena && profile);
	for (size_t i = 0; i < families->nr && !writer.failed; i++) {
		struct ts_cache_family *family = &families->items[i];

		family->differs = write_differences(&writer, family->differences);
		write_shapes(&writer, family);
		family->axes = with_places(&writer, family);
	}
	ts_buf_release(&writer.text);
	return writer.failed ? ts_fail_nomem(err) : TS_OK;
}

struct ts_bytes ts_cache_bucket_advice(const struct ts_cache_family *family,
				       struct ts_result *result)
{
	struct writer writer = { .arena = &result->owner->arena, .text = TS_BUF_INIT };
	struct ts_bytes advice;

	TS_ASSERT(family->axes || family->nr_axes == 0);
	for (size_t i = 0; i < family->nr_axes; i++) {
		const struct ts_cache_axis *axis = &family->axes[i];
		char text[TS_UNIT_MAX];

		if (axis->nr_buckets == 0)
			continue;
		if (writer.text.n)
			ts_buf_puts(&writer.text, "; ");
		for (size_t b = 0; b < axis->nr_buckets; b++)
			ts_buf_printf(&writer.text, "%s%lld", b ? ", " : "",
				      (long long)axis->buckets[b]);
		ts_buf_printf(&writer.text, " (%s padding)",
			      ts_fmt_pct(text, axis->waste_share * 100));
	}
	advice = cache_words_keep_text(&writer);
	result->owner->failed |= writer.failed;
	ts_buf_release(&writer.text);
	return advice;
}
