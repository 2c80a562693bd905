/* SPDX-License-Identifier: MIT */
/* hlo: what compiled modules say by themselves, without a run and without a device. */
#include "cli/hlo_programs.h"
#include "cli/mount.h"

#include "base/buf.h"
#include "io/rundir.h"
#include "cli/report.h"
#include "result/schema/overview.def"
#include "result/schema/ops.def"
#include "result/schema/remat.def"
#include "result/schema/systolic.def"
#include "result/schema/padding.def"
#include "result/schema/fusion.def"
#include "result/schema/memory.def"
#include "result/schema/custom_calls.def"
#include "result/schema/resharding.def"
#include "result/schema/capacity.def"
#include "result/schema/memory_timeline.def"
#include "result/schema/prediction.def"
#include "result/schema/doctor.def"
#include "run/predict.h"
#include "run/run.h"

static bool is_twice(const struct ts_profile *profile, size_t index, struct ts_bytes name)
{
	for (size_t i = 0; i < profile->nr_modules; i++)
		if (i != index && ts_bytes_eq(profile->modules[i].name, name))
			return true;
	return false;
}

/* "jit_f (v5e_attn)": of files whose modules have one name, the rows say which they are of. */
static void name_modules_apart(struct ts_profile *profile)
{
	struct ts_bytes *names = calloc(profile->nr_modules + 1, sizeof(*names));

	profile->arena.failed |= !names;
	for (size_t i = 0; names && i < profile->nr_modules; i++) {
		struct ts_bytes file = profile->modules[i].file;
		size_t from = file.n, dot;

		names[i] = profile->modules[i].name;
		if (!is_twice(profile, i, names[i]))
			continue;
		while (from > 0 && file.p[from - 1] != '/')
			from--;
		file = ts_bytes_cut(file, from, file.n);
		dot = ts_bytes_find(file, ".");
		names[i] = ts_arena_printf(&profile->arena, "%.*s (%.*s)", TS_ARG(names[i]),
					   TS_ARG(ts_bytes_cut(file, 0, dot ? dot : file.n)));
	}
	for (size_t i = 0; names && i < profile->nr_modules; i++)
		profile->modules[i].name = names[i];
	free(names);
}

static bool open_module(const struct ts_cli *cli, struct ts_run *run, const char *path)
{
	struct ts_error err = TS_ERROR_INIT, whole = TS_ERROR_INIT;
	enum ts_status st = ts_mount_file(cli, path, &err);

	if (st == TS_OK)
		st = ts_run_open_module(run, path, &err);
	if (st == TS_FORMAT)
		ts_fail(&whole, st, "%s (is it an *.hlo_proto.pb, and was it copied whole?)",
			err.text);
	if (st)
		ts_complain(st == TS_FORMAT ? whole.text : err.text);
	return st == TS_OK;
}

static enum ts_status note_modules(const struct ts_cli *cli, struct ts_error *err)
{
	enum ts_status st = TS_OK;

	for (size_t i = 0; i < cli->nr_paths && st == TS_OK; i++)
		st = ts_note_input(cli, cli->paths[i], err);
	return st ? st : ts_check_output(cli, err);
}

struct hlo_options {
	struct ts_print_options print;
	const char *chip, *topology, *libtpu;
	const char *predict; /* a folder; NULL: no profile is wanted */
	struct ts_dump_options dump;
};

/* "v5e:2x4" names the chip as well. */
static struct ts_bytes cmd_hlo_chip_of(const struct hlo_options *own)
{
	return own->chip ? ts_bytes_of(own->chip) : ts_topology_chip(ts_bytes_of(own->topology));
}

static enum ts_status check_predict(const struct hlo_options *own, struct ts_error *err)
{
	if (own->predict && (cmd_hlo_chip_of(own).n == 0 || !own->topology))
		return ts_fail(err, TS_USAGE,
			       "--predict needs the chip and the slice (--topology v5e:2x4, for "
			       "instance)");
	return TS_OK;
}

/* The profile that was written, read again: what its step leads to is found in it alone. */
struct predicted {
	struct ts_runs runs;
	struct ts_run run;
	bool is_examined;
};

static enum ts_status examine_predicted(struct predicted *predicted, const char *path,
					const struct ts_run_options *like, struct ts_error *err)
{
	struct ts_run_options options = { .nr_threads = like->nr_threads,
					  .settings = like->settings,
					  .xla_dump = like->xla_dump,
					  .mesh = like->mesh };
	enum ts_status st = ts_runs_find(&predicted->runs, path, err);

	if (st == TS_OK)
		st = ts_run_open(&predicted->run, &predicted->runs.sessions[0], &options, err);
	if (st == TS_OK)
		st = ts_run_analyse(&predicted->run, &options, err);
	predicted->is_examined = st == TS_OK;
	return st;
}

static struct ts_result **cmd_hlo_findings_of(struct ts_run *run)
{
	size_t at = 0;

	while (strcmp(run->results.items[at]->name, TS_RESULT_NAME(doctor)) != 0)
		at++;
	return &run->results.items[at];
}

/* The findings of the modules are those of a step without events: those of the predicted one are shown for them. Once more: back
 * to their owners. */
static void swap_findings(struct ts_run *run, struct predicted *predicted)
{
	struct ts_result **own, **other, *kept;

	if (!predicted->is_examined)
		return;
	own = cmd_hlo_findings_of(run);
	other = cmd_hlo_findings_of(&predicted->run);
	kept = *own;
	*own = *other;
	*other = kept;
}

static enum ts_status write_predicted(const struct ts_cli *cli, const struct ts_run *run,
				      const struct ts_run_options *like,
				      struct predicted *predicted, struct ts_error *err)
{
	const struct hlo_options *own = cli->own;
	struct ts_predict_options options = { .chip = cmd_hlo_chip_of(own),
					      .topology = ts_bytes_of(own->topology),
					      .libtpu = ts_bytes_of(own->libtpu),
					      .folder = own->predict,
					      .version = PACKAGE_VERSION };
	struct ts_error said = TS_ERROR_INIT;
	char *path = NULL;
	enum ts_status st;

	if (!own->predict)
		return TS_OK;
	st = ts_predict(run, &options, &path, err);
	ts_fail(&said, TS_OK, "%s: a predicted profile (tpusight report %s shows it)",
		path ? path : "", own->predict);
	if (st == TS_OK && !cli->quiet)
		ts_complain(said.text);
	if (st == TS_OK)
		st = examine_predicted(predicted, path, like, err);
	free(path);
	return st;
}

static enum ts_exit run_hlo(struct ts_cli *cli)
{
	const struct hlo_options *own = cli->own;
	struct ts_run_options options = { .nr_threads = cli->nr_threads,
					  .settings = cli->settings,
					  .chip = cmd_hlo_chip_of(own),
					  .topology = ts_bytes_of(own->topology),
					  .libtpu = ts_bytes_of(own->libtpu),
					  .xla_dump = own->dump.folder,
					  .mesh = ts_mesh_given(&own->dump) };
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf out = TS_BUF_INIT;
	enum ts_status st;
	enum ts_exit code;
	struct predicted predicted = { .runs = TS_RUNS_INIT };
	struct ts_run run;
	size_t nr_bad = 0;

	ts_run_init(&run);
	ts_run_init(&predicted.run);
	run.keeps_protos = own->predict != NULL;
	st = check_predict(own, &err);
	if (st == TS_OK)
		st = note_modules(cli, &err);
	for (size_t i = 0; i < cli->nr_paths && st == TS_OK; i++)
		if (!open_module(cli, &run, cli->paths[i]))
			nr_bad++;
	name_modules_apart(&run.profile);
	code = run.profile.nr_modules == 0 ? TS_EXIT_NOTHING : nr_bad ? TS_EXIT_SOME : TS_EXIT_DONE;
	if (run.profile.nr_modules > 0)
		st = ts_run_analyse(&run, &options, &err);
	if (run.profile.nr_modules > 0 && st == TS_OK)
		st = write_predicted(cli, &run, &options, &predicted, &err);
	swap_findings(&run, &predicted);
	if (run.profile.nr_modules > 0 && st == TS_OK)
		st = ts_emit_report(cli, &own->print, &run.results, &out, &err);
	swap_findings(&run, &predicted);
	if (st) {
		ts_complain(err.text);
		code = ts_exit_of(st);
	} else if (run.profile.nr_modules > 0 &&
		   !ts_print_to(cli, own->print.output, ts_buf_bytes(&out))) {
		code = TS_EXIT_SOME;
	}
	ts_buf_release(&out);
	ts_run_release(&predicted.run);
	ts_runs_release(&predicted.runs);
	ts_run_release(&run);
	return code;
}

static enum ts_status set_chip(void *chip, const char *value, struct ts_error *err)
{
	struct ts_chip_query query = { .kind = ts_bytes_of(value),
				       .clock_khz = -1,
				       .core_count = -1,
				       .cc_major = -1,
				       .cc_minor = -1,
				       .memory_bytes = -1 };

	if (!ts_chip_find(&query))
		return ts_fail(err, TS_USAGE, "%s is not in the chip table (v5e, for instance)",
			       value);
	memcpy(chip, &value, sizeof(value));
	return TS_OK;
}

static enum ts_status cmd_hlo_set_topology(void *topology, const char *value, struct ts_error *err)
{
	struct ts_bytes chip = ts_topology_chip(ts_bytes_of(value));
	struct ts_topology found;
	const char *name;
	char kind[64];

	snprintf(kind, sizeof(kind), "%.*s", TS_ARG(chip));
	if (chip.n > 0 && set_chip(&name, kind, err))
		return TS_USAGE;
	if (!ts_topology_parse(ts_bytes_of(value), NULL, &found))
		return ts_fail(err, TS_USAGE,
			       "%s is not a slice of chips (2x4 or v5e:2x4, for instance)", value);
	memcpy(topology, &value, sizeof(value));
	return TS_OK;
}

static enum ts_status cmd_hlo_set_libtpu(void *libtpu, const char *value, struct ts_error *err)
{
	if (value[0] < '0' || value[0] > '9')
		return ts_fail(err, TS_USAGE,
			       "%s is not a version of libtpu (0.0.42, for instance)", value);
	memcpy(libtpu, &value, sizeof(value));
	return TS_OK;
}

static bool cmd_hlo_hand_over(const struct ts_cli *cli, enum ts_exit *code)
{
	const struct hlo_options *own = cli->own;
	struct ts_buf slice = TS_BUF_INIT;
	bool is_over;

	if (own->topology && ts_topology_chip(ts_bytes_of(own->topology)).n == 0 && own->chip)
		ts_buf_printf(&slice, "%s:", own->chip);
	ts_buf_puts(&slice, own->topology ? own->topology : "");
	ts_buf_putc(&slice, '\0');
	is_over = ts_hlo_programs_hand_over(cli, slice.failed ? "" : (const char *)slice.p, code);
	ts_buf_release(&slice);
	return is_over;
}

/* What a module alone can say. */
static const char *cmd_hlo_view_at(const struct ts_command *command, size_t index)
{
	static const char *const views[] = {
		TS_RESULT_NAME(overview),	 TS_RESULT_NAME(ops),
		TS_TABLE_NAME(ops, modules),	 TS_RESULT_NAME(remat),
		TS_RESULT_NAME(systolic),	 TS_RESULT_NAME(padding),
		TS_RESULT_NAME(fusion),		 TS_RESULT_NAME(memory),
		TS_RESULT_NAME(custom_calls),	 TS_RESULT_NAME(capacity),
		TS_RESULT_NAME(memory_timeline), TS_RESULT_NAME(prediction),
		TS_RESULT_NAME(doctor),		 NULL
	};

	return views[index];
}

#define OWN struct hlo_options
static const struct ts_option options[] = {
	TS_OPTION_FORMAT(OWN, print, ts_format_at),
	TS_OPTION_OUTPUT(OWN, print),
	TS_OPTION_JSON(OWN, print),
	TS_OPTION_ALL(OWN, print, "with --view: every row"),
	TS_OPTION_ROWS(OWN, print),
	TS_OPT_TEXT(OWN, print.form.view, "view", 0, "NAME", "one view: %s",
		    .name_at = cmd_hlo_view_at),
	TS_OPT_CALL(OWN, chip, "chip", "NAME", set_chip,
		    "the chip the module was compiled for (it does not say)"),
	TS_OPT_CALL(OWN, topology, "topology", "SLICE", cmd_hlo_set_topology,
		    "the slice of chips it was compiled for: v5e:2x4"),
	TS_OPT_CALL(OWN, libtpu, "libtpu", "VERSION", cmd_hlo_set_libtpu,
		    "the version that compiled it: where temporaries stand depends on it"),
	TS_OPTION_XLA_DUMP(OWN, dump),
	TS_OPT_TEXT(OWN, predict, "predict", 0, "FOLDER",
		    "write a predicted step into FOLDER, as a profile", .place = TS_PLACE_WRITTEN),
	TS_OPT_END,
};

const struct ts_command ts_command_hlo = {
	.name = "hlo",
	.summary = "Analyse compiled modules alone: FLOPs, bytes, padding, matrix products.",
	.arguments = "FILE|FOLDER...",
	.help = "FILE is a serialized HloProto or HloModuleProto (*.hlo_proto.pb). What needs a "
		"run (times) is\n"
		"unknown; what needs the chip (matrix-unit size, rates) is too unless --chip names "
		"it. With --topology a step is predicted, by the compiler's estimates and the "
		"chip's\n"
		"rates (view prediction).\n"
		"\n"
		"StableHLO (text or bytecode) and files of jax.export are compiled first, for the "
		"slice of\n"
		"--topology; modules as text, and folders, of --xla_dump_to are read as well. "
		"These need the\n"
		"Python package (pip install 'tpusight[before]').",
	.options = options,
	.own_size = sizeof(OWN),
	.has_thresholds = true,
	.hand_over = cmd_hlo_hand_over,
	.run = run_hlo,
};
