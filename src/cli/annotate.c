/* SPDX-License-Identifier: MIT */
/* How a session is annotated, as the command line says. */
#include "cli/annotate.h"

#include "base/check.h"
#include "cli/deeds.h"

const char *const ts_perfetto_names[] = { "json", "pftrace", "both", "none", NULL };

struct ts_annotate_options ts_annotate_options_of(const struct ts_cli *cli,
						  const struct ts_annotate_choice *choice)
{
	static const bool wanted[][TS_NR_TRACE_KINDS] = {
		[TS_PERFETTO_JSON] = { [TS_TRACE_JSON] = true },
		[TS_PERFETTO_PFTRACE] = { [TS_TRACE_PFTRACE] = true },
		[TS_PERFETTO_BOTH] = { [TS_TRACE_JSON] = true, [TS_TRACE_PFTRACE] = true },
		[TS_PERFETTO_NONE] = { false },
	};
	struct ts_annotate_options options = {
		.nr_threads = cli->nr_threads,
		.settings = cli->settings,
		.max_overlay_events = choice->max_overlay_events,
		.max_ops = choice->all ? SIZE_MAX : choice->max_ops,
		.max_steps = choice->all ? SIZE_MAX : choice->max_steps,
		.has_max_trace_events = choice->has_max_trace_events,
		.max_trace_events = choice->max_trace_events,
		.ranks = choice->perfetto_zip,
		.exact_copies = choice->copy == TS_COPY_EXACT,
		.dry_run = choice->dry_run,
		.version = PACKAGE_VERSION,
	};

	TS_ASSERT(cli);
	TS_ASSERT(choice->perfetto < TS_NELEM(wanted));
	memcpy(options.traces, wanted[choice->perfetto], sizeof(options.traces));
	return options;
}

static void cli_annotate_complain_of_damage(const struct ts_annotation *one)
{
	const struct ts_profile *profile = &one->run.profile;
	const char *remedy = one->of_traces ? "copy it again; the annotated trace ends there too"
					    : "copy the profile again";

	for (size_t i = 0; one->is_analysed && i < profile->nr_damage; i++)
		if (!profile->damage[i].minor)
			ts_complain_of_damage(&profile->damage[i], remedy);
}

bool ts_annotation_complain(const struct ts_annotation *one)
{
	TS_ASSERT(one);
	for (size_t i = 0; i < one->run.nr_problems; i++)
		ts_complain(one->run.problems[i]);
	cli_annotate_complain_of_damage(one);
	return ts_deeds_failures(&one->report) > 0;
}
