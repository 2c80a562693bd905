/* How a session is annotated, as the command line says. */
#include "cli/annotate.h"

#include "cli/deeds.h"

/* What --perfetto may be. */
static const struct choice {
	const char *name;
	bool wants[TS_NR_TRACE_KINDS];
} choices[] = {
	{ "json", { [TS_TRACE_JSON] = true } },
	{ "pftrace", { [TS_TRACE_PFTRACE] = true } },
	{ "both", { [TS_TRACE_JSON] = true, [TS_TRACE_PFTRACE] = true } },
	{ "none", { false } },
};

enum ts_status ts_set_dry_run(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	(void)value;
	(void)err;
	cli->dry_run = true;
	return TS_OK;
}

enum ts_status ts_set_perfetto(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	for (size_t i = 0; i < TS_NELEM(choices); i++) {
		if (strcmp(value, choices[i].name) == 0) {
			memcpy(cli->traces, choices[i].wants, sizeof(cli->traces));
			return TS_OK;
		}
	}
	return ts_fail(err, TS_USAGE, "%s is none of json, pftrace, both and none", value);
}

static enum ts_status set_count(uint64_t *count, const char *value, struct ts_error *err)
{
	if (!ts_bytes_u64(ts_bytes_of(value), count) || *count > INT64_MAX)
		return ts_fail(err, TS_USAGE, "%s is no number of events", value);
	return TS_OK;
}

enum ts_status ts_set_trace_events(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	cli->has_max_trace_events = true;
	return set_count(&cli->max_trace_events, value, err);
}

enum ts_status ts_set_overlay_events(struct ts_cli *cli, const char *value, struct ts_error *err)
{
	return set_count(&cli->max_overlay_events, value, err);
}

struct ts_annotate_options ts_annotate_options_of(const struct ts_cli *cli)
{
	struct ts_annotate_options options = {
		.nr_threads = cli->nr_threads,
		.settings = &cli->settings,
		.max_overlay_events = cli->max_overlay_events,
		.has_max_trace_events = cli->has_max_trace_events,
		.max_trace_events = cli->max_trace_events,
		.dry_run = cli->dry_run,
		.version = PACKAGE_VERSION,
	};

	memcpy(options.traces, cli->traces, sizeof(options.traces));
	return options;
}

static void tell_damage(const struct ts_annotation *one)
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
	for (size_t i = 0; i < one->run.nr_problems; i++)
		ts_complain(one->run.problems[i]);
	tell_damage(one);
	return ts_deeds_failures(&one->report) > 0;
}
