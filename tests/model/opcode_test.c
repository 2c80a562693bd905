/* SPDX-License-Identifier: MIT */
/* Given each word of the list, it is found again; the list is in the order that the search needs. */
#include "model/opcode.h"
#include "tests/test.h"

TEST(each_word_is_found)
{
	for (int i = 1; i < TS_NR_OPCODES; i++) {
		const char *text = ts_opcode_text((enum ts_opcode)i);

		if (ts_opcode_of(ts_bytes_of(text)) != (enum ts_opcode)i)
			fail_msg("%s is not found: is it in order?", text);
	}
}

TEST(a_word_of_a_newer_writer_is_other)
{
	static const char *const words[] = { "", "opcode-of-next-year", "all-reduces", "all-reduc",
					     "Abs" };

	for (size_t i = 0; i < TS_NELEM(words); i++)
		assert_int_equal(ts_opcode_of(ts_bytes_of(words[i])), TS_OPCODE_OTHER);
	assert_string_equal(ts_opcode_text(TS_OPCODE_OTHER), "");
}

/* The text says it, and the table must say the same. */
TEST(each_phase_is_known)
{
	static const char *const ends[] = { [TS_PHASE_START] = "-start",
					    [TS_PHASE_UPDATE] = "-update",
					    [TS_PHASE_DONE] = "-done" };

	for (int i = 1; i < TS_NR_OPCODES; i++) {
		struct ts_bytes text = ts_bytes_of(ts_opcode_text((enum ts_opcode)i));
		enum ts_phase phase = ts_opcode_phase((enum ts_opcode)i), said = TS_PHASE_WHOLE;
		struct ts_bytes whole = text;

		for (enum ts_phase p = TS_PHASE_START; p <= TS_PHASE_DONE; p++)
			if (ts_bytes_ends(text, ends[p]))
				said = p;
		if (phase != said)
			fail_msg("%s: phase %d", (const char *)text.p, phase);
		if (said != TS_PHASE_WHOLE)
			whole.n -= strlen(ends[said]);
		assert_int_equal(ts_opcode_whole((enum ts_opcode)i), ts_opcode_of(whole));
	}
}

TEST(phases_of_collectives_are_collectives)
{
	assert_true(ts_opcode_is_collective(TS_OPCODE_ALL_REDUCE));
	assert_true(ts_opcode_is_collective(TS_OPCODE_COLLECTIVE_PERMUTE_DONE));
	assert_true(ts_opcode_is_collective(TS_OPCODE_SEND_DONE));
	assert_false(ts_opcode_is_collective(TS_OPCODE_COPY_START));
	assert_false(ts_opcode_is_collective(TS_OPCODE_ASYNC_START));
	assert_false(ts_opcode_is_collective(TS_OPCODE_OTHER));
}
