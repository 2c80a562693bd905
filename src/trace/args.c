/* SPDX-License-Identifier: MIT */
/* Stats of an event -> args of its slice. */
#include "trace/args.h"

#include "base/check.h"
#include "base/limits.h"

#define EXACT_MAX (INT64_C(1) << 53) /* what every reader of JSON holds exactly */

/* A program's id is text wherever it stands, so that it can be compared. */
static enum ts_perfetto_arg_type trace_args_type_of(struct ts_bytes name,
						    const struct ts_stat *stat)
{
	if (stat->type == TS_STAT_TEXT)
		return TS_ARG_TEXT;
	if (stat->type == TS_STAT_REAL)
		return isfinite(stat->real) ? TS_ARG_REAL : TS_ARG_ID;
	if (stat->number > EXACT_MAX || stat->number < (stat->is_unsigned ? 0 : -EXACT_MAX))
		return TS_ARG_ID;
	return ts_bytes_is(name, ts_perfetto_keys[TS_KEY_PROGRAM_ID]) ? TS_ARG_ID : TS_ARG_COUNT;
}

static enum ts_perfetto_key trace_args_key_of(struct ts_trace_args *args, struct ts_bytes name)
{
	struct ts_trace_known *known = &args->known[(uintptr_t)name.p % TS_TRACE_KNOWN];

	if (name.n == 0)
		return TS_NR_KEYS;
	if (known->name.p != name.p || known->name.n != name.n) {
		*known = (struct ts_trace_known){ name, 0 };
		while (known->key < TS_NR_KEYS && !ts_bytes_is(name, ts_perfetto_keys[known->key]))
			known->key++;
	}
	return known->key;
}

/* The op's arg of that name; NULL: it has none. Few stats are called as one. */
static const struct ts_perfetto_arg *find_op_arg(struct ts_trace_args *args, struct ts_bytes name)
{
	enum ts_perfetto_key key = trace_args_key_of(args, name);

	if (key == TS_NR_KEYS)
		return NULL;
	if (args->nr_op_args == 0)
		args->nr_op_args = ts_perfetto_args(&args->op, args->op_args);
	for (size_t i = 0; i < args->nr_op_args; i++)
		if (args->op_args[i].key == key)
			return &args->op_args[i];
	return NULL;
}

/* A framework's op may end with a colon, which readers take away. */
static bool is_same_text(struct ts_bytes stat, struct ts_bytes arg)
{
	if (stat.n == arg.n + 1 && stat.p[arg.n] == ':')
		stat.n--;
	return ts_bytes_eq(stat, arg);
}

static bool trace_args_is_same(const struct ts_stat *stat, const struct ts_perfetto_arg *arg)
{
	if (stat->type == TS_STAT_TEXT)
		return arg->type == TS_ARG_TEXT &&
		       is_same_text(ts_perfetto_cut(stat->text), arg->text);
	return stat->type == TS_STAT_INT && arg->type != TS_ARG_TEXT &&
	       (uint64_t)stat->number == arg->number;
}

static bool has_name(const struct ts_trace_args *args, struct ts_bytes name)
{
	for (size_t i = 0; i < args->nr; i++)
		if (ts_bytes_eq(args->items[i].name, name))
			return true;
	return false;
}

/* The name that it has among the slice's args; empty: the slice has it already. */
static struct ts_bytes shown_name(struct ts_trace_args *args, struct ts_bytes name,
				  const struct ts_stat *stat)
{
	const struct ts_bytes none = { NULL, 0 };
	const struct ts_perfetto_arg *arg;

	arg = find_op_arg(args, name);
	if (arg && trace_args_is_same(stat, arg))
		return none;
	if (ts_bytes_is(name, "self_ns")) /* a name of ours */
		name = TS_LIT("event_self_ns");
	name = arg ? ts_bytes_of(ts_perfetto_event_keys[arg->key]) : ts_perfetto_cut(name);
	return has_name(args, name) ? none : name;
}

/* ts_stat_visit */
static void trace_args_see_stat(void *ctx, struct ts_bytes name, const struct ts_stat *stat)
{
	struct ts_trace_args *args = ctx;
	struct ts_bytes shown;

	if (args->op.profile->ops[args->op.index].has_variants &&
	    ts_bytes_is(name, "hlo_category")) {
		args->category = stat->text;
		return;
	}
	shown = shown_name(args, name, stat);
	if (shown.n == 0 || args->nr >= TS_LIMIT_EVENT_STATS)
		return;
	if (!ts_grow(&args->items, &args->cap, args->nr + 1, sizeof(*args->items))) {
		args->st = TS_NOMEM;
		return;
	}
	args->items[args->nr++] =
		(struct ts_perfetto_stat){ shown, trace_args_type_of(name, stat), *stat };
}

enum ts_status ts_trace_args_read(struct ts_trace_args *args, const struct ts_profile *profile,
				  const struct ts_line *line, uint32_t op, struct ts_bytes body,
				  ts_stats_each *each, struct ts_error *err)
{
	TS_ASSERT_HOT(args && profile && line);
	args->nr = args->nr_op_args = 0;
	args->category = (struct ts_bytes){ NULL, 0 };
	args->op = (struct ts_perfetto_op){ .profile = profile, .index = op, .is_first = true };
	if (each)
		each(profile, line, body, trace_args_see_stat, args);
	return args->st ? ts_fail_nomem(err) : TS_OK;
}

void ts_trace_args_release(struct ts_trace_args *args)
{
	TS_ASSERT(args);
	free(args->items);
	*args = (struct ts_trace_args){ 0 };
}
