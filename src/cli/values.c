/* SPDX-License-Identifier: MIT */
/* Values of options, a function a kind. */
#include "cli/option.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/closest.h"

/* What a function of a kind works on. */
struct reading {
	const struct ts_option *option;
	const struct ts_command *command;
	void *field;
	const char *value;
	struct ts_error *err;
};

const char *ts_option_name(const struct ts_option *option, const struct ts_command *command,
			   size_t index)
{
	TS_ASSERT(option);
	if (option->name_at)
		return option->name_at(command, index);
	return option->names ? option->names[index] : NULL;
}

static enum ts_status values_read_flag(const struct reading *reading)
{
	memcpy(reading->field, &(bool){ true }, sizeof(bool));
	return TS_OK;
}

static enum ts_status read_preset(const struct reading *reading)
{
	memcpy(reading->field, &reading->option->names[0], sizeof(const char *));
	return TS_OK;
}

static enum ts_status values_read_text(const struct reading *reading)
{
	memcpy(reading->field, &reading->value, sizeof(reading->value));
	return TS_OK;
}

static enum ts_status read_texts(const struct reading *reading)
{
	struct ts_texts *texts = reading->field;

	if (texts->nr == (size_t)reading->option->high)
		return ts_fail(reading->err, TS_USAGE, "it is given more than %zu times",
			       texts->nr);
	texts->items[texts->nr++] = reading->value;
	return TS_OK;
}

/* A range that is the limit of a type says nothing to people. */
static enum ts_status not_in_range(const struct reading *reading)
{
	const struct ts_option *option = reading->option;
	const char *unit = option->unit ? option->unit : "";

	TS_ASSERT(option->what);
	if (option->high >= TS_OPTION_ANY)
		return ts_fail(reading->err, TS_USAGE, "%s is not %s", reading->value,
			       option->what);
	return ts_fail(reading->err, TS_USAGE, "%s is not %s (%.0f to %.0f%s)", reading->value,
		       option->what, option->low, option->high, unit);
}

/* The members are of several types; all are unsigned, or get no number that has a sign bit. */
static void values_store(void *field, size_t size, uint64_t number)
{
	switch (size) {
	case sizeof(uint16_t): memcpy(field, &(uint16_t){ (uint16_t)number }, size); break;
	case sizeof(uint32_t): memcpy(field, &(uint32_t){ (uint32_t)number }, size); break;
	case sizeof(uint64_t): memcpy(field, &number, size); break;
	default:	       TS_ASSERT(!"a member of that size"); break;
	}
}

static enum ts_status values_read_count(const struct reading *reading)
{
	const struct ts_option *option = reading->option;
	uint64_t number;

	if (!ts_bytes_u64(ts_bytes_of(reading->value), &number) || (double)number < option->low ||
	    (double)number > option->high)
		return not_in_range(reading);
	values_store(reading->field, option->size, number);
	return TS_OK;
}

static enum ts_status values_read_decimal(const struct reading *reading)
{
	const struct ts_option *option = reading->option;
	char *end;
	double number = strtod(reading->value, &end);
	int64_t scaled;

	if (end == reading->value || *end || !(number >= option->low && number <= option->high))
		return ts_fail(reading->err, TS_USAGE, "%s is not %s", reading->value,
			       option->what);
	scaled = llround(number * option->scale);
	memcpy(reading->field, &scaled, sizeof(scaled));
	return TS_OK;
}

/* "0.5", "500ms", "30s", "10m", "1h": a bare number counts seconds. False: it is not a time. */
static bool values_time_of(const char *value, double *ms)
{
	static const struct {
		const char *name;
		double ms;
	} units[] = { { "", 1e3 }, { "ms", 1 }, { "s", 1e3 }, { "m", 6e4 }, { "h", 3.6e6 } };
	char *end;
	double number = strtod(value, &end);

	for (size_t i = 0; i < TS_NELEM(units) && end != value; i++)
		if (strcmp(end, units[i].name) == 0) {
			*ms = number * units[i].ms;
			return number >= 0 && *ms < 1e12;
		}
	return false;
}

static enum ts_status read_time(const struct reading *reading)
{
	const struct ts_option *option = reading->option;
	double time = 0;
	int64_t ms;

	if (!values_time_of(reading->value, &time))
		return ts_fail(reading->err, TS_USAGE,
			       "%s is not a time (0.5, 500ms, 30s, 10m, 1h)", reading->value);
	ms = (int64_t)(time + 0.5);
	if ((double)ms < option->low || (double)ms > option->high)
		return ts_fail(reading->err, TS_USAGE, "%s is out of bounds (%.0f ms to %.0f ms)",
			       reading->value, option->low, option->high);
	memcpy(reading->field, &ms, sizeof(ms));
	return TS_OK;
}

static enum ts_status not_a_name(const struct reading *reading)
{
	struct ts_closest closest = ts_closest_to(ts_bytes_of(reading->value));
	struct ts_buf names = TS_BUF_INIT;
	const char *name;

	for (size_t i = 0; (name = ts_option_name(reading->option, reading->command, i)); i++) {
		ts_buf_printf(&names, "%s%s", i ? ", " : "", name);
		ts_closest_try(&closest, name);
	}
	if (closest.name[0])
		ts_fail(reading->err, TS_USAGE, "%s is not one of %.*s (did you mean %s?)",
			reading->value, TS_ARG(ts_buf_bytes(&names)), closest.name);
	else
		ts_fail(reading->err, TS_USAGE, "%s is not one of %.*s", reading->value,
			TS_ARG(ts_buf_bytes(&names)));
	ts_buf_release(&names);
	return TS_USAGE;
}

static enum ts_status read_choice(const struct reading *reading)
{
	const char *name;

	for (unsigned i = 0; (name = ts_option_name(reading->option, reading->command, i)); i++)
		if (strcmp(name, reading->value) == 0) {
			values_store(reading->field, reading->option->size, i);
			return TS_OK;
		}
	return not_a_name(reading);
}

static enum ts_status values_read_name(const struct reading *reading)
{
	const char *name;

	for (size_t i = 0; (name = ts_option_name(reading->option, reading->command, i)); i++)
		if (strcmp(name, reading->value) == 0) {
			memcpy(reading->field, &name, sizeof(name));
			return TS_OK;
		}
	return not_a_name(reading);
}

static enum ts_status read_call(const struct reading *reading)
{
	return reading->option->call(reading->field, reading->value, reading->err);
}

static const struct kind {
	bool has_value;
	enum ts_status (*read)(const struct reading *reading); /* NULL: options.c does it */
} kinds[TS_NR_OPTION_KINDS] = {
	[TS_OPTION_FLAG] = { false, values_read_flag },
	[TS_OPTION_PRESET] = { false, read_preset },
	[TS_OPTION_VERSION] = { false, NULL },
	[TS_OPTION_HELP] = { false, NULL },
	[TS_OPTION_LICENSES] = { false, NULL },
	[TS_OPTION_TEXT] = { true, values_read_text },
	[TS_OPTION_TEXTS] = { true, read_texts },
	[TS_OPTION_COUNT] = { true, values_read_count },
	[TS_OPTION_DECIMAL] = { true, values_read_decimal },
	[TS_OPTION_TIME] = { true, read_time },
	[TS_OPTION_CHOICE] = { true, read_choice },
	[TS_OPTION_NAME] = { true, values_read_name },
	[TS_OPTION_CALL] = { true, read_call },
};

bool ts_option_has_value(const struct ts_option *option)
{
	TS_ASSERT(option && option->kind < TS_NR_OPTION_KINDS);
	return kinds[option->kind].has_value;
}

enum ts_status ts_option_read(const struct ts_option *option, const struct ts_command *command,
			      void *base, const char *value, struct ts_error *err)
{
	struct reading reading = { .option = option,
				   .command = command,
				   .field = (char *)base + option->offset,
				   .value = value,
				   .err = err };
	const struct kind *kind = &kinds[option->kind];

	TS_ASSERT(option);
	TS_ASSERT(base && kind->read);
	TS_ASSERT((value != NULL) == kind->has_value);
	if (option->given)
		memcpy((char *)base + option->given - 1, &(bool){ true }, sizeof(bool));
	return kind->read(&reading);
}
