/* SPDX-License-Identifier: MIT */
/* Functions and their programs, over several samples. */
#include "live/programs.h"

#include "base/check.h"
#include "result/schema/ops.def"
#include "result/schema/cache.def"

#define MAX_KNOWN   65536
#define WINDOW_MS   10000
#define MAX_SHAPES  4
#define MANY	    3 /* programs of a function: growth to so many is reported at once */
#define FEW_GROWTHS 2 /* growths in the window, of a function with two programs */
/* Growths of a function of the framework: when a job begins, one is compiled for each weight's
 * shape. */
#define OWN_GROWTHS 6

/* Code outside of jit makes JAX compile a small function of its own for each shape. These are their
 * names; names that begin with "_" belong to them too. */
/* clang-format off */
static const char *const framework_names[] = {
	"abs", "add", "arange", "argmax", "argmin", "array", "astype", "broadcast_in_dim",
	"broadcast_to", "clip", "concatenate", "convert_element_type", "copy", "cos", "cumsum",
	"div", "divide", "dot", "dot_general", "dynamic_slice", "dynamic_update_slice", "einsum",
	"eq", "equal", "exp", "expand_dims", "eye", "fn", "floor_divide", "full", "gather",
	"greater", "integer_pow", "iota", "isfinite", "isnan", "less", "log", "matmul", "max",
	"maximum", "mean", "min", "minimum", "mul", "multiply", "neg", "negative", "normal", "ones",
	"pad", "pow", "power", "prod", "randint", "ravel", "remainder", "reshape", "rsqrt",
	"scatter", "select_n", "sign", "sin", "slice", "sort", "split", "sqrt", "square", "squeeze",
	"stack", "sub", "subtract", "sum", "swapaxes", "tanh", "threefry_2x32", "transpose",
	"true_divide", "uniform", "var", "where", "zeros", "zeros_like", "ones_like",
};
/* clang-format on */

void ts_programs_release(struct ts_programs *programs)
{
	TS_ASSERT(programs != NULL);
	ts_map_release(&programs->known);
}

void ts_programs_reset(struct ts_programs *programs)
{
	TS_ASSERT(programs != NULL);
	ts_map_release(&programs->known);
	memset(programs, 0, sizeof(*programs));
}

/* "train_step" of "jit_train_step" or "pmap_train_step". */
static struct ts_bytes called(struct ts_bytes name)
{
	static const char *const prefixes[] = { "jit_", "pmap_", "pjit_" };

	for (size_t i = 0; i < TS_NELEM(prefixes); i++)
		if (ts_bytes_starts(name, prefixes[i]))
			return ts_bytes_cut(name, strlen(prefixes[i]), name.n);
	return name;
}

static bool is_frameworks(struct ts_bytes name)
{
	name = called(name);
	for (size_t i = 0; i < TS_NELEM(framework_names); i++)
		if (ts_bytes_is(name, framework_names[i]))
			return true;
	return ts_bytes_starts(name, "_");
}

static struct ts_function *programs_get(struct ts_programs *programs, struct ts_bytes name)
{
	struct ts_function *function;

	TS_ASSERT(programs->nr <= TS_MAX_FUNCTIONS);
	name = ts_bytes_cut(name, 0, sizeof(function->name) - 1);
	for (size_t i = 0; i < programs->nr; i++)
		if (ts_bytes_is(name, programs->functions[i].name))
			return &programs->functions[i];
	if (name.n == 0 || programs->nr == TS_MAX_FUNCTIONS)
		return NULL;
	function = &programs->functions[programs->nr++];
	memset(function, 0, sizeof(*function));
	memcpy(function->name, name.p, name.n);
	return function;
}

static enum ts_status learn(struct ts_programs *programs, struct ts_bytes name, uint64_t id,
			    struct ts_error *err)
{
	uint64_t key = ts_hash(ts_module_stem(name), id);
	struct ts_function *function;

	if (ts_map_find(&programs->known, key) != TS_NONE)
		return TS_OK;
	if (!ts_map_set(&programs->known, key, 0))
		return ts_fail_nomem(err);
	function = programs_get(programs, ts_module_stem(name));
	if (function) {
		function->nr_programs++;
		function->nr_new++;
		function->nr_made += programs->is_primed;
	}
	return TS_OK;
}

/* The modules of the sample, kept ones too, and programs that ran on devices without a module. */
static enum ts_status learn_modules(struct ts_programs *programs, const struct ts_results *results,
				    struct ts_error *err)
{
	const struct ts_table *table = TS_FIND_TABLE(results, ops, modules);
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < ts_table_rows(table) && st == TS_OK; i++) {
		const struct ts_ops_modules_row *row = TS_ROW(table, ops_modules, i);

		if (row->program_id.type == TS_VALUE_ID)
			st = learn(programs, ts_value_text(row->name), row->program_id.as.u, err);
	}
	return st;
}

static void note_compilations(struct ts_programs *programs, const struct ts_results *results)
{
	const struct ts_result *cache = TS_FIND(results, cache);
	const struct ts_table *table = TS_RESULT_TABLE(cache, cache_compilations);

	for (size_t i = 0; table && i < table->nr_rows; i++) {
		struct ts_function *function =
			programs_get(programs, ts_module_stem(ts_value_text(TS_CELL_OF(
						       table, cache_compilations, i, module))));

		if (function &&
		    ts_bytes_is(ts_value_text(TS_CELL_OF(table, cache_compilations, i, outcome)),
				"compiled"))
			function->is_compiled = true;
	}
}

/* Did a program run, on a device or the CPU, that is not among the modules? */
static bool has_unknown(const struct ts_profile *profile, const struct ts_look *look)
{
	for (size_t i = 0; i < look->nr_programs; i++)
		if (ts_profile_module_of(profile, look->programs[i].id) == TS_NONE)
			return true;
	for (size_t i = 0; i < profile->nr_ops; i++)
		if (profile->ops[i].kind == TS_OP_MODULE && profile->ops[i].has_program &&
		    ts_profile_module_of(profile, profile->ops[i].program_id) == TS_NONE)
			return true;
	return false;
}

static void close_sample(struct ts_programs *programs, int64_t now_ms)
{
	for (size_t i = 0; i < programs->nr; i++) {
		struct ts_function *function = &programs->functions[i];
		bool has_grown =
			(programs->is_primed && function->nr_new > 0) || function->is_compiled;

		if (has_grown)
			function->grown_ms[function->nr_grown++ % TS_GROWTHS] = now_ms;
	}
}

enum ts_status ts_programs_sample(struct ts_programs *programs, const struct ts_profile *profile,
				  const struct ts_results *results, const struct ts_look *look,
				  bool has_modules, int64_t now_ms, bool *unknown,
				  struct ts_error *err)
{
	enum ts_status st;

	TS_ASSERT(programs != NULL && profile != NULL && results != NULL);
	TS_ASSERT(look != NULL && unknown != NULL);
	*unknown = has_unknown(profile, look);
	if (programs->known.nr > MAX_KNOWN)
		ts_programs_reset(programs);
	for (size_t i = 0; i < programs->nr; i++) {
		programs->functions[i].nr_new = 0;
		programs->functions[i].is_compiled = false;
	}
	st = learn_modules(programs, results, err);
	for (size_t i = 0; i < look->nr_programs && st == TS_OK; i++)
		st = learn(programs, look->programs[i].module, look->programs[i].id, err);
	if (st)
		return st;
	note_compilations(programs, results);
	close_sample(programs, now_ms);
	programs->was_primed = programs->is_primed;
	programs->is_primed |= has_modules;
	return TS_OK;
}

uint64_t ts_programs_nr_new(const struct ts_programs *programs)
{
	uint64_t nr = 0;

	TS_ASSERT(programs != NULL && programs->nr <= TS_MAX_FUNCTIONS);
	for (size_t i = 0; i < programs->nr; i++)
		nr += programs->functions[i].nr_new;
	return programs->was_primed ? nr : 0;
}

static size_t nr_recent(const struct ts_function *function, int64_t now_ms)
{
	size_t nr = 0;

	for (size_t i = 0; i < TS_MIN(function->nr_grown, TS_GROWTHS); i++)
		nr += now_ms - function->grown_ms[i] <= WINDOW_MS;
	return nr;
}

static bool grew_now(const struct ts_function *function, int64_t now_ms)
{
	return function->nr_grown > 0 &&
	       function->grown_ms[(function->nr_grown - 1) % TS_GROWTHS] == now_ms;
}

static bool is_too_much(const struct ts_function *function, int64_t now_ms)
{
	size_t nr = nr_recent(function, now_ms);

	if (!grew_now(function, now_ms) || function->nr_programs < 2)
		return false;
	if (is_frameworks(ts_bytes_of(function->name)))
		return nr >= OWN_GROWTHS;
	return function->nr_programs >= MANY || nr >= FEW_GROWTHS;
}

/* "They differ in shape: f32[68,64], f32[32,64] and 35 more. Buckets: 40, 48 (8 % padding)." */
static void programs_put_family(struct ts_buf *out, const struct ts_table *families, size_t row)
{
	TS_ASSERT(families != NULL && row < families->nr_rows);

	struct ts_value shapes = TS_CELL_OF(families, cache_families, row, parameter_shapes);
	struct ts_bytes differs = ts_value_text(TS_CELL_OF(families, cache_families, row, differs));
	struct ts_bytes advice =
		ts_value_text(TS_CELL_OF(families, cache_families, row, bucket_advice));
	size_t nr = shapes.type == TS_VALUE_LIST ? shapes.as.list->nr : 0;

	if (differs.n > 0)
		ts_buf_printf(out, " They differ in %.*s", TS_ARG(differs));
	for (size_t i = 0; i < TS_MIN(nr, MAX_SHAPES); i++)
		ts_buf_printf(out, "%s%.*s",
			      i		  ? ", "
			      : differs.n ? ": "
					  : " Shapes: ",
			      TS_ARG(shapes.as.list->items[i].as.s));
	if (nr > MAX_SHAPES)
		ts_buf_printf(out, " and %zu more", nr - MAX_SHAPES);
	if (differs.n > 0 || nr > 0)
		ts_buf_putc(out, '.');
	if (advice.n > 0)
		ts_buf_printf(out, " Padding to these sizes would end it: %.*s.", TS_ARG(advice));
}

static const struct ts_shape *parameter(const struct ts_hlo_module *module, uint32_t number)
{
	const struct ts_hlo_comp *entry;

	if (module->entry >= module->nr_comps)
		return NULL;
	entry = &module->comps[module->entry];
	if (number >= entry->nr_params || entry->params[number] >= module->nr_instrs)
		return NULL;
	return &module->instrs[entry->params[number]].shape;
}

/* "f32[68,64]": without the layout, which is not what differs. */
static void put_shape(struct ts_buf *out, const struct ts_shape *shape)
{
	size_t start = out->n;

	ts_shape_print(out, shape);
	if (!out->failed)
		out->n = start + ts_bytes_find(ts_bytes_cut(ts_buf_bytes(out), start, out->n), "{");
}

/* The first parameter in which two modules differ, or TS_NONE. */
static uint32_t differing(const struct ts_hlo_module *a, const struct ts_hlo_module *b)
{
	for (uint32_t i = 0; parameter(a, i) && parameter(b, i); i++) {
		const struct ts_shape *x = parameter(a, i), *y = parameter(b, i);

		if (x->rank != y->rank || x->dtype != y->dtype)
			return i;
		for (uint32_t d = 0; d < x->rank; d++)
			if (x->dims[d] != y->dims[d])
				return i;
	}
	return TS_NONE;
}

/* The analysis of variants has the functions that ran in the sample. For another function the
 * modules show the difference: the newest ones, by the first parameter that changes. */
static void programs_put_modules(struct ts_buf *out, const struct ts_profile *profile,
				 struct ts_bytes name)
{
	const struct ts_hlo_module *last = NULL;
	uint32_t which = TS_NONE;
	size_t nr = 0;

	for (size_t i = profile->nr_modules; i-- > 0 && nr < MAX_SHAPES;) {
		const struct ts_hlo_module *module = &profile->modules[i];

		if (!ts_bytes_eq(ts_module_stem(module->name), name))
			continue;
		if (!last) {
			last = module;
			continue;
		}
		which = which == TS_NONE ? differing(last, module) : which;
		if (which == TS_NONE || !parameter(module, which))
			continue;
		ts_buf_puts(out, nr ? ", " : " They differ in shape: ");
		if (nr == 0) {
			put_shape(out, parameter(last, which));
			ts_buf_puts(out, ", ");
		}
		put_shape(out, parameter(module, which));
		nr++;
	}
	if (nr > 0)
		ts_buf_puts(out, " ...");
}

static void put_differences(struct ts_buf *out, const struct ts_profile *profile,
			    const struct ts_results *results, struct ts_bytes name)
{
	const struct ts_table *families = TS_FIND_TABLE(results, cache, families);

	for (size_t i = 0; families && i < families->nr_rows; i++)
		if (ts_bytes_eq(ts_value_text(TS_CELL_OF(families, cache_families, i, name)),
				name)) {
			programs_put_family(out, families, i);
			return;
		}
	programs_put_modules(out, profile, name);
}

/* The line that the newest module of the function with a source comes from. */
static void put_source(struct ts_buf *out, const struct ts_profile *profile, struct ts_bytes name)
{
	for (size_t i = profile->nr_modules; i-- > 0;) {
		const struct ts_hlo_module *module = &profile->modules[i];
		const struct ts_hlo_instr *code;

		if (!ts_bytes_eq(ts_module_stem(module->name), name))
			continue;
		code = ts_hlo_sourced(module);
		if (!code)
			continue;
		ts_buf_printf(out, " Its code is at %.*s:%d.", TS_ARG(code->source_file),
			      code->source_line);
		return;
	}
}

static enum ts_status programs_raise_alert(struct ts_function *function, struct ts_alerts *alerts,
					   const struct ts_profile *profile,
					   const struct ts_results *results, struct ts_error *err)
{
	struct ts_bytes name = ts_bytes_of(function->name), short_name = called(name);
	struct ts_buf title = TS_BUF_INIT, evidence = TS_BUF_INIT, shapes = TS_BUF_INIT;
	struct ts_condition condition = { .rule = "recompilation",
					  .severity = TS_WARNING,
					  .value = (double)function->nr_programs,
					  .threshold = NAN,
					  .at_once = true };
	enum ts_status st;

	ts_buf_printf(&title, "%.*s was recompiled while the job ran", TS_ARG(short_name));
	ts_buf_printf(&evidence, "%.*s has %llu programs, %llu of them made while it was watched.",
		      TS_ARG(name), (unsigned long long)function->nr_programs,
		      (unsigned long long)function->nr_made);
	put_differences(&shapes, profile, results, name);
	ts_buf_put(&evidence, ts_buf_bytes(&shapes));
	put_source(&evidence, profile, name);
	condition.title = ts_buf_bytes(&title);
	condition.evidence = ts_buf_bytes(&evidence);
	condition.advice = TS_LIT("Give the function arguments of few shapes and types: pad to "
				  "buckets, and pass what changes as an array.");
	st = title.failed || evidence.failed || shapes.failed ? ts_fail_nomem(err) : TS_OK;
	function->is_pending = shapes.n == 0 && !function->is_pending;
	if (st == TS_OK && !function->is_pending)
		ts_alerts_hold(alerts, &condition);
	ts_buf_release(&title);
	ts_buf_release(&evidence);
	ts_buf_release(&shapes);
	return st;
}

enum ts_status ts_programs_judge(struct ts_programs *programs, struct ts_alerts *alerts,
				 const struct ts_profile *profile, const struct ts_results *results,
				 int64_t now_ms, struct ts_error *err)
{
	struct ts_function *worst = NULL;

	TS_ASSERT(programs != NULL && alerts != NULL);
	TS_ASSERT(profile != NULL && results != NULL);
	for (size_t i = 0; i < programs->nr; i++) {
		struct ts_function *function = &programs->functions[i];

		if ((function->is_pending || is_too_much(function, now_ms)) &&
		    (!worst || function->nr_programs > worst->nr_programs))
			worst = function;
	}
	return worst ? programs_raise_alert(worst, alerts, profile, results, err) : TS_OK;
}
