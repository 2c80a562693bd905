/* SPDX-License-Identifier: MIT */
/*
 * Names as PyTorch 2.1 to 2.15 write them. From its sources: torch/_dynamo/utils.py (dynamo_timed,
 * ChromiumEventLogger), _dynamo/convert_frame.py and csrc/dynamo/eval_frame.c (regions),
 * _functorch/_aot_autograd/runtime_wrappers.py, _inductor/output_code.py, _inductor/utils.py
 * (get_fused_kernel_name), _guards.py (CompileId), _dynamo/resume_execution.py; and from traces.
 */
#include "model/torch_event.h"

#include "base/check.h"
#include "model/trace_class.h"

#define REGION "Torch-Compiled Region"
#define PHASE  " (dynamo_timed)"
#define ABOUT  "_data: "
#define RESUME "torch_dynamo_resume_in_"

struct name_row {
	const char *name;
	enum ts_match match;
	enum ts_torch_event event;
};

/* Of the host's ops and annotations. The first that fits counts. */
static const struct name_row names[] = {
	{ REGION, TS_PREFIX, TS_TORCH_REGION },
	{ "## Call CompiledFxGraph ", TS_PREFIX, TS_TORCH_GRAPH },
	{ "CompiledFunction", TS_WHOLE, TS_TORCH_FUNCTION },
	{ "CompiledFunctionBackward", TS_WHOLE, TS_TORCH_BACKWARD },
	{ "TorchDynamo Cache Lookup", TS_WHOLE, TS_TORCH_LOOKUP },
	{ "Pregraph bytecode", TS_WHOLE, TS_TORCH_OVERHEAD },
	{ "AOTDispatcher Runtime Wrapper Prologue", TS_WHOLE, TS_TORCH_OVERHEAD },
	{ PHASE, TS_SUFFIX, TS_TORCH_PHASE },
	{ "dynamo", TS_WHOLE, TS_TORCH_COMPILE },
	{ "entire_frame_compile", TS_WHOLE, TS_TORCH_COMPILE },
	{ "entire_backward_compile", TS_WHOLE, TS_TORCH_COMPILE },
	{ "backend_compile", TS_WHOLE, TS_TORCH_COMPILE },
	{ "inductor_compile", TS_WHOLE, TS_TORCH_COMPILE },
	{ "code_gen", TS_WHOLE, TS_TORCH_COMPILE },
};

/* Ops that hand on a view, make room or look: on a CPU no kernel runs for them. */
static const char *const idle_ops[] = {
	"empty",
	"empty_strided",
	"empty_like",
	"new_empty",
	"new_empty_strided",
	"as_strided",
	"view",
	"_unsafe_view",
	"reshape",
	"_reshape_alias",
	"expand",
	"t",
	"transpose",
	"permute",
	"select",
	"slice",
	"squeeze",
	"unsqueeze",
	"detach",
	"detach_",
	"alias",
	"resize_",
	"set_",
	"resolve_conj",
	"resolve_neg",
	"item",
	"_local_scalar_dense",
	"is_nonzero",
};

static bool computes(struct ts_bytes name)
{
	static const char *const libraries[] = { "aten::",   "mkldnn::",    "mkl::",
						 "onednn::", "quantized::", "torchvision::" };
	struct ts_bytes op = { NULL, 0 };

	for (size_t i = 0; i < TS_NELEM(libraries) && !op.p; i++)
		if (ts_bytes_starts(name, libraries[i]))
			op = ts_bytes_cut(name, strlen(libraries[i]), name.n);
	for (size_t i = 0; op.p && i < TS_NELEM(idle_ops); i++)
		if (ts_bytes_is(op, idle_ops[i]))
			return false;
	return op.p != NULL;
}

static enum ts_torch_event of_host(struct ts_bytes name)
{
	for (size_t i = 0; i < TS_NELEM(names); i++)
		if (ts_bytes_match(name, names[i].match, names[i].name))
			return names[i].event;
	if (ts_bytes_has(name, ABOUT) && ts_bytes_has(name, "compile_id="))
		return TS_TORCH_ABOUT;
	if (ts_torch_fused_ops(name) > 0)
		return TS_TORCH_KERNEL;
	return computes(name) ? TS_TORCH_OP : TS_TORCH_OTHER;
}

static enum ts_torch_event of_runtime(struct ts_bytes name)
{
	if (ts_bytes_is(name, "cudaGraphLaunch") || ts_bytes_is(name, "hipGraphLaunch"))
		return TS_TORCH_GRAPH_LAUNCH;
	if (ts_bytes_starts(name, "cudaLaunch") || ts_bytes_starts(name, "cuLaunchKernel") ||
	    ts_bytes_starts(name, "hipLaunch") || ts_bytes_starts(name, "hipExtLaunch") ||
	    ts_bytes_starts(name, "hipModuleLaunch") || ts_bytes_starts(name, "hipExtModuleLaunch"))
		return TS_TORCH_KERNEL_LAUNCH;
	return TS_TORCH_OTHER;
}

enum ts_torch_event ts_torch_event_of(struct ts_bytes name, enum ts_opcode category)
{
	TS_ASSERT_HOT(name.p || name.n == 0);
	if (ts_trace_class_of_category(category) == TS_TRACE_RUNTIME)
		return of_runtime(name);
	if (TS_OPCODE_IN(category, TS_KINETO_CPU_OP, TS_KINETO_USER_ANNOTATION,
			 TS_KINETO_DYNAMO_TIMED))
		return of_host(name);
	return TS_TORCH_OTHER;
}

/* Takes a number off TEXT. */
static bool torch_event_take_number(struct ts_bytes *text, int64_t *value)
{
	size_t n = 0;

	while (n < text->n && text->p[n] >= '0' && text->p[n] <= '9')
		n++;
	if (n == 0 || n > 9 || !ts_bytes_i64(ts_bytes_cut(*text, 0, n), value))
		return false;
	*text = ts_bytes_cut(*text, n, text->n);
	return true;
}

static bool torch_event_take(struct ts_bytes *text, char c)
{
	if (text->n == 0 || text->p[0] != (uint8_t)c)
		return false;
	*text = ts_bytes_cut(*text, 1, text->n);
	return true;
}

bool ts_compile_id_parse(struct ts_bytes text, struct ts_compile_id *id)
{
	struct ts_bytes rest = text;

	TS_ASSERT_HOT(id);
	TS_ASSERT_HOT(text.p || text.n == 0);
	*id = TS_COMPILE_ID_NONE;
	if (torch_event_take(&rest, '!')) {
		if (!torch_event_take_number(&rest, &id->autograd))
			return false;
		if (rest.n == 0)
			return true;
		if (!torch_event_take(&rest, '/'))
			return false;
	}
	return torch_event_take_number(&rest, &id->frame) && torch_event_take(&rest, '/') &&
	       torch_event_take_number(&rest, &id->compile) && rest.n == 0;
}

bool ts_compile_id_of(struct ts_bytes name, struct ts_compile_id *id)
{
	size_t about = ts_bytes_find(name, "compile_id=");
	struct ts_bytes text;

	TS_ASSERT_HOT(id);
	TS_ASSERT_HOT(name.p || name.n == 0);
	*id = TS_COMPILE_ID_NONE;
	if (ts_bytes_starts(name, REGION ": "))
		return ts_compile_id_parse(ts_bytes_cut(name, strlen(REGION ": "), name.n), id);
	if (about == name.n)
		return false;
	text = ts_bytes_cut(name, about + strlen("compile_id="), name.n);
	return ts_compile_id_parse(ts_bytes_cut(text, 0, ts_bytes_find(text, ",")), id);
}

uint64_t ts_compile_id_key(struct ts_compile_id id)
{
	int64_t parts[] = { id.autograd, id.frame, id.compile };

	return ts_hash((struct ts_bytes){ (const uint8_t *)parts, sizeof(parts) }, 0);
}

struct ts_bytes ts_torch_phase(struct ts_bytes name)
{
	TS_ASSERT_HOT(name.p || name.n == 0);
	return ts_bytes_ends(name, PHASE) ? ts_bytes_cut(name, 0, name.n - strlen(PHASE)) : name;
}

bool ts_torch_frame_of(struct ts_bytes name, struct ts_torch_frame *frame)
{
	size_t colon = ts_bytes_find(name, "): "), open = colon;
	struct ts_bytes number;

	TS_ASSERT_HOT(frame);
	TS_ASSERT_HOT(name.p || name.n == 0);
	while (open > 0 && name.p[open - 1] != '(')
		open--;
	if (colon == name.n || open == 0)
		return false;
	number = ts_bytes_cut(name, open, colon - open);
	frame->file = ts_bytes_cut(name, 0, open - 1);
	frame->function = ts_bytes_cut(name, colon + strlen("): "), name.n);
	return ts_bytes_i64(number, &frame->line) && frame->file.n > 0;
}

/* Where "_NUMBER" at the end begins; .n: the name has no number. */
static size_t torch_event_number_at(struct ts_bytes text)
{
	size_t at = text.n;

	while (at > 0 && text.p[at - 1] >= '0' && text.p[at - 1] <= '9')
		at--;
	return at < text.n && at > 0 && text.p[at - 1] == '_' ? at - 1 : text.n;
}

bool ts_torch_computes_again(struct ts_bytes name)
{
	struct ts_torch_frame frame;

	return ts_torch_frame_of(name, &frame) && ts_bytes_is(frame.function, "recompute_fn") &&
	       ts_bytes_ends(frame.file, "torch/utils/checkpoint.py");
}

bool ts_torch_resume_of(struct ts_bytes function, struct ts_bytes *broken, int64_t *line)
{
	struct ts_bytes rest;
	size_t at;

	TS_ASSERT_HOT(broken && line);
	TS_ASSERT_HOT(function.p || function.n == 0);
	if (!ts_bytes_starts(function, RESUME))
		return false;
	rest = ts_bytes_cut(function, strlen(RESUME), function.n);
	at = torch_event_number_at(rest);
	*broken = ts_bytes_cut(rest, 0, at);
	if (at == rest.n || !ts_bytes_ends(*broken, "_at") ||
	    !ts_bytes_i64(ts_bytes_cut(rest, at + 1, rest.n), line))
		return false;
	*broken = ts_bytes_cut(*broken, 0, broken->n - strlen("_at"));
	return broken->n > 0;
}

/* Triton before 3 put a signature behind a kernel's name: _0d1d2de3de. */
static struct ts_bytes without_signature(struct ts_bytes name)
{
	size_t at = name.n;

	while (at > 0 && ((name.p[at - 1] >= '0' && name.p[at - 1] <= '9') ||
			  (name.p[at - 1] >= 'c' && name.p[at - 1] <= 'e')))
		at--;
	if (at == 0 || at + 1 >= name.n || name.p[at - 1] != '_' || name.p[at] != '0' ||
	    name.p[at + 1] < 'c' || name.p[at + 1] > 'e')
		return name;
	return ts_bytes_cut(name, 0, at - 1);
}

static bool is_inductor(struct ts_bytes name)
{
	return ts_bytes_starts(name, "triton_") || ts_bytes_has(name, "_triton_") ||
	       ts_bytes_starts(name, "cpp_fused") || ts_bytes_has(name, "_cpp_fused") ||
	       ts_bytes_starts(name, "pallas_fused");
}

/* Behind "fused"; .n of the name: Inductor did not make it. */
static size_t fused_at(struct ts_bytes kernel)
{
	size_t at = is_inductor(kernel) ? ts_bytes_find(kernel, "_fused") : kernel.n;

	return at == kernel.n ? at : at + strlen("_fused");
}

struct ts_bytes ts_torch_fused_part(struct ts_bytes kernel)
{
	struct ts_bytes name = without_signature(kernel), part;
	size_t at = fused_at(name);

	TS_ASSERT_HOT(kernel.p || kernel.n == 0);
	part = ts_bytes_cut(name, at, name.n);
	part = ts_bytes_cut(part, 0, torch_event_number_at(part));
	return part.n > 0 && part.p[0] == '_' ? ts_bytes_cut(part, 1, part.n)
					      : (struct ts_bytes){ NULL, 0 };
}

struct ts_bytes ts_torch_next_op(struct ts_bytes *rest)
{
	struct ts_bytes op;
	size_t n = ts_aten_prefix(*rest);

	TS_ASSERT_HOT(rest);
	if (n == 0)
		for (n = rest->n > 0; n < rest->n && rest->p[n] != '_'; n++)
			;
	op = ts_bytes_cut(*rest, 0, n);
	*rest = ts_bytes_cut(*rest, n + 1, rest->n);
	return op;
}

int64_t ts_torch_fused_ops(struct ts_bytes kernel)
{
	struct ts_bytes rest = ts_torch_fused_part(kernel);
	int64_t nr = 0;

	TS_ASSERT_HOT(kernel.p || kernel.n == 0);
	if (fused_at(kernel) == kernel.n)
		return 0;
	while (rest.n > 0 && ts_torch_next_op(&rest).n > 0)
		nr++;
	return TS_MAX(nr, 1);
}
