/* SPDX-License-Identifier: MIT */
/* Names of servers' steps, as vLLM, SGLang and ATOM write them: what the step works on, counted by hand. */
#include "model/step_mark.h"
#include "tests/test.h"

#define UNKNOWN TS_TOKENS_UNKNOWN

TEST(names_of_steps_say_what_is_worked_on)
{
	static const struct {
		const char *name;
		uint32_t phase, prefill_tokens, decode_tokens;
	} rows[] = {
		{ "execute_context_2(6144)_generation_3(3)", TS_DOES_MIXED, 6144, 3 },
		{ "execute_context_0(0)_generation_32(128)", TS_DOES_DECODE, 0, 128 },
		{ "execute_14721_context_2(sq14721sk14721sqsq1sqsk1)_generation_0("
		  "sq0sk0sqsq0sqsk0)",
		  TS_DOES_PREFILL, 14721, 0 },
		{ "execute_37_context_0(sq0sk0)_generation_37(sq37sk151552)", TS_DOES_DECODE, 0,
		  37 },
		{ "execute_new_0_cached_32", TS_DOES_DECODE, 0, 32 },
		{ "execute_new_2_cached_0", TS_DOES_PREFILL, UNKNOWN, 0 },
		{ "step[EXTEND bs=2 toks=14721]", TS_DOES_PREFILL, 14721, 0 },
		{ "step[DECODE bs=64]", TS_DOES_DECODE, 0, 64 },
		{ "step[DECODE bs=64 g_sq=128 g_sqsq=256 g_sqsk=262144 g_sk=131072]",
		  TS_DOES_DECODE, 0, 128 },
		{ "step[MIXED bs=2 c=1 g=1 c_sq=5 c_sk=8 g_sq=1 g_sk=12]", TS_DOES_MIXED, 5, 1 },
		{ "step[MIXED bs=2]", TS_DOES_MIXED, UNKNOWN, UNKNOWN },
		{ "prefill[bs=2 tok=14721 ctx=[7803, 6918]]", TS_DOES_PREFILL, 14721, 0 },
		{ "decode[bs=117/128 tok=117 d=117]", TS_DOES_DECODE, 0, 117 },
		{ "execute_context_0(0)_generation_0(0)", TS_DOES_ANYTHING, 0, 0 },
		{ "execute_context_(", TS_DOES_ANYTHING, 0, 0 },
		{ "step[", TS_DOES_ANYTHING, 0, 0 },
		{ "", TS_DOES_ANYTHING, 0, 0 },
	};

	for (size_t i = 0; i < TS_NELEM(rows); i++) {
		struct ts_step_work work = ts_step_mark_work(ts_bytes_of(rows[i].name));

		if (work.phase != rows[i].phase || work.prefill_tokens != rows[i].prefill_tokens ||
		    work.decode_tokens != rows[i].decode_tokens)
			fail_msg("%s: phase %u, %u and %u tokens", rows[i].name, work.phase,
				 work.prefill_tokens, work.decode_tokens);
	}
}

/* Prefills of different lengths are not alike, decodes of a few more requests are. */
TEST(steps_of_like_work_are_of_one_kind)
{
#define KIND(name) ts_step_mark_work(TS_LIT(name)).kind
	assert_true(KIND("step[DECODE bs=33]") == KIND("step[DECODE bs=32]"));
	assert_true(KIND("step[DECODE bs=64]") != KIND("step[DECODE bs=8]"));
	assert_true(KIND("step[EXTEND bs=2 toks=90]") != KIND("step[EXTEND bs=2 toks=900]"));
	assert_true(KIND("step[DECODE bs=32]") != KIND("step[EXTEND bs=2 toks=32]"));
}
