/* SPDX-License-Identifier: MIT */
/* Commands that are programs of their own. */
#include "cli/external.h"

#include <errno.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "cli/mount.h"

const struct ts_external ts_externals[] = {
	{ .name = "profile",
	  .summary = "Run a Python script under the profiler of JAX or PyTorch, and report.",
	  .source = "the Python package: pip install tpusight" },
	{ .name = "before",
	  .summary = "Judge a JAX program for a TPU, without one: does it fit, how long is a step.",
	  .source = "the Python package: pip install 'tpusight[before]'" },
	{ .name = "pod",
	  .summary = "One report of many hosts, made where their profiles lie (Ray).",
	  .source = "the Python package: pip install 'tpusight[ray]'" },
	{ .name = "mcp",
	  .summary = "Answer an agent's questions about profiles (Model Context Protocol).",
	  .source = "the Python package: pip install 'tpusight[agent]'" },
	{ .name = NULL },
};

const struct ts_external *ts_external_find(const char *name)
{
	for (size_t i = 0; name && ts_externals[i].name; i++)
		if (strcmp(ts_externals[i].name, name) == 0)
			return &ts_externals[i];
	return NULL;
}

enum ts_exit ts_external_run(const struct ts_external *external, char **argv)
{
	struct ts_error err = TS_ERROR_INIT;
	struct ts_buf beside = TS_BUF_INIT, own = TS_BUF_INIT;
	char folder[PATH_MAX], name[64];

	TS_ASSERT(external && argv);
	snprintf(name, sizeof(name), "tpusight-%s", external->name);
	argv[0] = name;
	ts_own_folder(folder);
	ts_buf_printf(&beside, "%s/%s%c", folder, name, '\0');
	ts_buf_printf(&own, "%s/tpusight%c", folder, '\0');
	if (!beside.failed && !own.failed && folder[0]) {
		setenv("TPUSIGHT", (const char *)own.p, 0);
		execv((const char *)beside.p, argv);
	}
	execvp(name, argv);
	if (errno == ENOENT)
		ts_fail(&err, TS_NOTFOUND, "the program %s is not there (it comes with %s)", name,
			external->source);
	else
		ts_fail_errno(&err, errno, name, "run it");
	ts_complain(err.text);
	ts_buf_release(&beside);
	ts_buf_release(&own);
	return TS_EXIT_NOTHING;
}
