/* SPDX-License-Identifier: MIT */
/*
 * Programs that are not compiled yet, or are text, by their bytes. MLIR bytecode begins with its magic number and names
 * its producer (mlir.llvm.org, BytecodeFormat); a file of jax.export is a FlatBuffer (jax, _src/export/serialization.fbs),
 * which begins with an offset that is a multiple of 4, and has such bytecode in it; a proto begins with tag 0x0a.
 */
#include "read/hlo.h"

#include "base/check.h"

#define HEAD	 ((size_t)64 << 10) /* of a text: what says what it is stands in front */
#define BYTECODE "ML\xef" "R"

static struct ts_bytes without_blanks(struct ts_bytes text)
{
	size_t at = 0;

	while (at < text.n && strchr(" \t\r\n", text.p[at]) && text.p[at])
		at++;
	return ts_bytes_cut(text, at, text.n);
}

static bool hlo_program_is_text(struct ts_bytes head)
{
	return head.n > 0 && !memchr(head.p, '\0', head.n);
}

/* "module @jit_f ... stablehlo.add"; what names places of the source may stand before it. */
static bool is_mlir(struct ts_bytes head)
{
	return ts_bytes_has(head, "module") &&
	       (ts_bytes_has(head, "stablehlo.") || ts_bytes_has(head, "func.func"));
}

static bool is_export(struct ts_bytes bytes)
{
	size_t at = ts_bytes_find(bytes, BYTECODE);

	return bytes.n > 8 && bytes.p[0] % 4 == 0 && at < bytes.n &&
	       ts_bytes_has(ts_bytes_cut(bytes, at, TS_MIN(at + 64, bytes.n)), "StableHLO");
}

enum ts_hlo_program ts_hlo_program_of(struct ts_bytes bytes)
{
	struct ts_bytes head = without_blanks(ts_bytes_cut(bytes, 0, HEAD));

	TS_ASSERT(bytes.p || bytes.n == 0);
	if (ts_bytes_starts(bytes, BYTECODE))
		return TS_HLO_STABLEHLO;
	if (hlo_program_is_text(head) && ts_bytes_starts(head, "HloModule "))
		return TS_HLO_TEXT;
	if (hlo_program_is_text(head) && is_mlir(head))
		return TS_HLO_STABLEHLO;
	return is_export(bytes) ? TS_HLO_EXPORT : TS_HLO_COMPILED;
}
