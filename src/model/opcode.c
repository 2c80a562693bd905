/* SPDX-License-Identifier: MIT */
#include "model/opcode.h"

#include "base/check.h"

static const char *const texts[TS_NR_OPCODES] = { [TS_OPCODE_OTHER] = "",
#define TEXT(id, text) [id] = text,
						  TS_OPCODES(TEXT) };

#define PHASES(X, whole) \
	[X##_START] = { TS_PHASE_START, whole }, [X##_DONE] = { TS_PHASE_DONE, whole }
static const struct {
	enum ts_phase phase;
	enum ts_opcode whole;
} phases[TS_NR_OPCODES] = {
	PHASES(TS_OPCODE_ALL_GATHER, TS_OPCODE_ALL_GATHER),
	PHASES(TS_OPCODE_ALL_REDUCE, TS_OPCODE_ALL_REDUCE),
	PHASES(TS_OPCODE_ASYNC, TS_OPCODE_OTHER),
	PHASES(TS_OPCODE_COLLECTIVE_PERMUTE, TS_OPCODE_COLLECTIVE_PERMUTE),
	PHASES(TS_OPCODE_COPY, TS_OPCODE_COPY),
	PHASES(TS_XLA_ALL_TO_ALL, TS_OPCODE_ALL_TO_ALL),
	PHASES(TS_XLA_DYNAMIC_SLICE, TS_OPCODE_DYNAMIC_SLICE),
	PHASES(TS_XLA_DYNAMIC_UPDATE_SLICE, TS_OPCODE_DYNAMIC_UPDATE_SLICE),
	PHASES(TS_XLA_RAGGED_ALL_TO_ALL, TS_OPCODE_RAGGED_ALL_TO_ALL),
	PHASES(TS_XLA_REDUCE_SCATTER, TS_OPCODE_REDUCE_SCATTER),
	PHASES(TS_XLA_SLICE, TS_OPCODE_SLICE),
	[TS_OPCODE_ASYNC_UPDATE] = { TS_PHASE_UPDATE, TS_OPCODE_OTHER },
	[TS_OPCODE_RECV_DONE] = { TS_PHASE_DONE, TS_OPCODE_RECV },
	[TS_OPCODE_SEND_DONE] = { TS_PHASE_DONE, TS_OPCODE_SEND },
	[TS_XLA_HOST_RECV_DONE] = { TS_PHASE_DONE, TS_XLA_HOST_RECV },
	[TS_XLA_HOST_SEND_DONE] = { TS_PHASE_DONE, TS_XLA_HOST_SEND },
};

enum ts_opcode ts_opcode_of(struct ts_bytes text)
{
	size_t low = 1, high = TS_NR_OPCODES;

	TS_ASSERT_HOT(text.p || text.n == 0);
	while (low < high) {
		size_t mid = (low + high) / 2;
		int order = ts_bytes_cmp(text, ts_bytes_of(texts[mid]));

		if (order == 0)
			return (enum ts_opcode)mid;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return TS_OPCODE_OTHER;
}

const char *ts_opcode_text(enum ts_opcode opcode)
{
	TS_ASSERT_HOT(opcode < TS_NR_OPCODES);
	return texts[opcode];
}

enum ts_phase ts_opcode_phase(enum ts_opcode opcode)
{
	TS_ASSERT_HOT(opcode < TS_NR_OPCODES);
	return phases[opcode].phase;
}

enum ts_opcode ts_opcode_whole(enum ts_opcode opcode)
{
	TS_ASSERT_HOT(opcode < TS_NR_OPCODES);
	return phases[opcode].phase == TS_PHASE_WHOLE ? opcode : phases[opcode].whole;
}

bool ts_opcode_is_collective(enum ts_opcode opcode)
{
	return TS_OPCODE_IN(ts_opcode_whole(opcode), TS_OPCODE_ALL_GATHER, TS_OPCODE_ALL_REDUCE,
			    TS_OPCODE_ALL_TO_ALL, TS_OPCODE_RAGGED_ALL_TO_ALL,
			    TS_OPCODE_REDUCE_SCATTER, TS_OPCODE_COLLECTIVE_BROADCAST,
			    TS_OPCODE_COLLECTIVE_PERMUTE, TS_OPCODE_COLLECTIVE_REDUCE,
			    TS_OPCODE_SEND, TS_OPCODE_RECV);
}
