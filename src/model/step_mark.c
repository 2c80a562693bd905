/* SPDX-License-Identifier: MIT */
#include "model/step_mark.h"

#include "base/check.h"
#include "base/map.h"
#include "model/host_event.h"

#define EXECUTE "execute_"

struct row {
	const char *start, *also, *series; /* ALSO stands somewhere behind it */
};

static const struct row serving_rows[] = {
	{ EXECUTE, "context_", "execute_*" },
	{ EXECUTE "new_", "_cached_", "execute_*" },
	{ EXECUTE "diffusion_", NULL, "execute_diffusion_*" },
	{ "step[", "]", "step[*]" },
	{ "prefill[bs=", "]", "prefill[*], decode[*]" },
	{ "decode[bs=", "]", "prefill[*], decode[*]" },
};

/* Lightning: a batch of its loop; its training_step is the forward pass alone. */
static const char *const framework_names[] = { "[pl][profile]run_training_batch",
					       "run_training_batch" };

/* What torch and its libraries name by themselves, many times a step or around its parts. */
static const char *const library_starts[] = {
	"ProfilerStep#",
	"nccl:",
	"gloo:",
	"mpi:",
	"ucc:",
	"c10d::",
	"aten::",
	"torch::",
	"autograd::",
	"Optimizer.",
	"enumerate(",
	"DistributedDataParallel.",
	"FSDP::",
	"FullyShard",
	"DataParallel",
	"## Call CompiledFxGraph",
	"Torch-Compiled",
	"CompiledFunction",
	"[pl][module]",
	"capture_",
	"PyTorch Profiler",
};

static const struct row *serving_row(struct ts_bytes name)
{
	for (size_t i = 0; i < TS_NELEM(serving_rows); i++)
		if (ts_bytes_starts(name, serving_rows[i].start) &&
		    (!serving_rows[i].also || ts_bytes_has(name, serving_rows[i].also)))
			return &serving_rows[i];
	return NULL;
}

static bool is_library(struct ts_bytes name)
{
	for (size_t i = 0; i < TS_NELEM(library_starts); i++)
		if (ts_bytes_starts(name, library_starts[i]))
			return true;
	return false;
}

enum ts_step_mark ts_step_mark_of(const struct ts_profile *profile, const struct ts_op *op)
{
	TS_ASSERT_HOT(profile && op);
	if (profile->step_mark.n > 0 && ts_host_is_named(op->name, profile->step_mark))
		return TS_MARK_NAMED;
	if (op->category_id != TS_KINETO_USER_ANNOTATION || !op->is_event)
		return TS_MARK_NONE;
	if (ts_bytes_starts(op->name, "Optimizer.step#"))
		return TS_MARK_OPTIMIZER;
	if (serving_row(op->name))
		return TS_MARK_SERVING;
	for (size_t i = 0; i < TS_NELEM(framework_names); i++)
		if (ts_bytes_is(op->name, framework_names[i]))
			return TS_MARK_FRAMEWORK;
	return op->name.n == 0 || is_library(op->name) ? TS_MARK_NONE : TS_MARK_USER;
}

bool ts_step_mark_is_sure(enum ts_step_mark mark)
{
	return mark >= TS_MARK_FRAMEWORK;
}

static struct ts_bytes without_number(struct ts_bytes name)
{
	size_t n = name.n;

	while (n > 0 && name.p[n - 1] >= '0' && name.p[n - 1] <= '9')
		n--;
	return n > 0 ? ts_bytes_cut(name, 0, n) : name;
}

struct ts_bytes ts_step_mark_series(const struct ts_profile *profile, const struct ts_op *op)
{
	enum ts_step_mark mark = ts_step_mark_of(profile, op);

	TS_ASSERT(profile && op);
	if (mark == TS_MARK_NAMED)
		return ts_bytes_cut(profile->step_mark, 0, ts_bytes_find(profile->step_mark, "\n"));
	if (mark == TS_MARK_SERVING)
		return ts_bytes_of(serving_row(op->name)->series);
	return mark == TS_MARK_USER ? without_number(op->name) : op->name;
}

uint64_t ts_step_mark_number(struct ts_bytes name)
{
	struct ts_bytes series = without_number(name);
	uint64_t number;

	TS_ASSERT_HOT(name.p || name.n == 0);
	return ts_bytes_u64(ts_bytes_cut(name, series.n, name.n), &number) ? number : TS_NO_NUMBER;
}

/* The number behind KEY in TEXT, or the next one that has a digit: "context_2(" or "(sq6144sk"; -1: there is none. */
static int64_t number_behind(struct ts_bytes text, const char *key)
{
	size_t at = ts_bytes_find(text, key) + strlen(key), end;
	int64_t number;

	if (at > text.n)
		return -1;
	for (end = at; end < text.n && text.p[end] >= '0' && text.p[end] <= '9';)
		end++;
	return end > at && ts_bytes_i64(ts_bytes_cut(text, at, end - at), &number) ? number : -1;
}

struct work {
	int64_t prefill_requests, prefill_tokens, decode_requests, decode_tokens; /* -1: unknown */
};

/* "context_2(6144)" or "context_2(sq6144sk...)": from KEY on. */
static void part_of_execute(struct ts_bytes name, const char *key, int64_t *requests,
			    int64_t *tokens)
{
	struct ts_bytes part = ts_bytes_cut(name, ts_bytes_find(name, key), name.n);

	*requests = number_behind(part, key);
	part = ts_bytes_cut(part, ts_bytes_find(part, "("), part.n);
	*tokens = number_behind(part, ts_bytes_starts(part, "(sq") ? "(sq" : "(");
}

/* Of what tokens are not said, one a request is decoded. */
static int64_t first_known(int64_t a, int64_t b)
{
	return a >= 0 ? a : b;
}

static struct work work_of_step(struct ts_bytes name)
{
	int64_t batch = number_behind(name, " bs="), prefill = number_behind(name, " c_sq=");
	int64_t decode = number_behind(name, " g_sq=");

	prefill = first_known(prefill, number_behind(name, " toks="));
	if (ts_bytes_starts(name, "step[EXTEND"))
		return (struct work){ batch, prefill, 0, 0 };
	if (ts_bytes_starts(name, "step[DECODE"))
		return (struct work){ 0, 0, batch, first_known(decode, batch) };
	if (ts_bytes_starts(name, "step[MIXED"))
		return (struct work){ first_known(number_behind(name, " c="), 1), prefill,
				      first_known(number_behind(name, " g="), 1), decode };
	return (struct work){ -1, -1, -1, -1 };
}

static struct work work_of(struct ts_bytes name)
{
	struct work work = { -1, -1, -1, -1 };

	if (ts_bytes_starts(name, EXECUTE "new_")) {
		work.prefill_requests = number_behind(name, "_new_");
		work.decode_requests = number_behind(name, "_cached_");
		work.prefill_tokens = work.prefill_requests == 0 ? 0 : -1;
		work.decode_tokens = work.decode_requests;
	} else if (ts_bytes_starts(name, EXECUTE) && ts_bytes_has(name, "context_")) {
		part_of_execute(name, "context_", &work.prefill_requests, &work.prefill_tokens);
		part_of_execute(name, "generation_", &work.decode_requests, &work.decode_tokens);
	} else if (ts_bytes_starts(name, "prefill[bs=")) {
		work = (struct work){ number_behind(name, "bs="), number_behind(name, " tok="), 0,
				      0 };
	} else if (ts_bytes_starts(name, "decode[bs=")) {
		work = (struct work){ 0, 0, number_behind(name, "bs="),
				      number_behind(name, " tok=") };
	} else if (ts_bytes_starts(name, "step[")) {
		work = work_of_step(name);
	}
	return work;
}

static uint32_t kept_tokens(int64_t tokens)
{
	return tokens < 0 || tokens >= TS_TOKENS_UNKNOWN ? TS_TOKENS_UNKNOWN : (uint32_t)tokens;
}

/* Prefills of as many tokens are alike; a decode's time hardly depends on the batch, so those of one magnitude are. */
static uint32_t kind_of(const struct ts_step_work *step)
{
	uint32_t magnitude = 0, tokens = step->decode_tokens;
	uint64_t words[3] = { step->phase, step->prefill_tokens, 0 };

	for (; tokens > 0; tokens /= 2)
		magnitude++;
	words[2] = magnitude;
	return (uint32_t)ts_hash((struct ts_bytes){ (const uint8_t *)words, sizeof(words) }, 0) | 1;
}

struct ts_step_work ts_step_mark_work(struct ts_bytes name)
{
	const struct work work = work_of(name);
	bool fills = work.prefill_requests > 0 || work.prefill_tokens > 0;
	bool decodes = work.decode_requests > 0 || work.decode_tokens > 0;
	struct ts_step_work of = { .kind = 0 };

	TS_ASSERT_HOT(name.p || name.n == 0);
	if (!fills && !decodes)
		return of;
	of.phase = fills && decodes ? TS_DOES_MIXED : fills ? TS_DOES_PREFILL : TS_DOES_DECODE;
	of.prefill_tokens = kept_tokens(work.prefill_tokens);
	of.decode_tokens = kept_tokens(work.decode_tokens);
	of.kind = kind_of(&of);
	return of;
}
