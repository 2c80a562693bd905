/* SPDX-License-Identifier: MIT */
/*
 * Facts: PEP 405 (bin/ beside lib/pythonX.Y/site-packages), PEP 627 (NAME-VERSION.dist-info of what is installed, also
 * of editable packages); Debian's Python keeps its own in dist-packages.
 *
 * It claims nothing where TensorBoard's own record is not in that folder: another layout has the plugins elsewhere, too.
 */
#include "io/tensorboard.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/check.h"
#include "io/sys.h"

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* An empty entry of PATH is the current folder, which is not asked. */
static bool find_program(const char *path, char out[PATH_MAX])
{
	while (path && *path) {
		size_t n = strcspn(path, ":");
		char name[PATH_MAX];
		int length = snprintf(name, sizeof(name), "%.*s/tensorboard", (int)n, path);

		if (n > 0 && length > 0 && (size_t)length < sizeof(name) && is_program(name))
			return realpath(name, out) != NULL;
		path += n + (path[n] == ':');
	}
	return false;
}

/* Is an entry of the folder called PACKAGE-VERSION.dist-info? */
static bool has_package(const char *folder, const char *package)
{
	DIR *dir = ts_sys_opendir(folder);
	size_t n = strlen(package);
	bool has = false;

	for (struct dirent *entry; dir && !has && (entry = readdir(dir)) != NULL;)
		has = strncmp(entry->d_name, package, n) == 0 && entry->d_name[n] == '-' &&
		      ts_bytes_ends(ts_bytes_of(entry->d_name), ".dist-info");
	if (dir)
		closedir(dir);
	return has;
}

/* LIB/python3.N/site-packages or dist-packages, if TensorBoard's own record is there. */
static bool try_packages(const char *lib, const char *python, char out[PATH_MAX])
{
	static const char *const folders[] = { "site-packages", "dist-packages" };

	for (size_t i = 0; i < TS_NELEM(folders); i++) {
		int n = snprintf(out, PATH_MAX, "%s/%s/%s", lib, python, folders[i]);

		if (n > 0 && n < PATH_MAX && has_package(out, "tensorboard"))
			return true;
	}
	return false;
}

static bool find_packages(const char *program, char out[PATH_MAX])
{
	static const char bin[] = "/bin/tensorboard";
	size_t n = strlen(program) - TS_MIN(strlen(program), strlen(bin));
	char lib[PATH_MAX];
	DIR *dir = NULL;
	bool has = false;

	if (ts_bytes_ends(ts_bytes_of(program), bin) && n + sizeof("/lib") <= sizeof(lib)) {
		snprintf(lib, sizeof(lib), "%.*s/lib", (int)n, program);
		dir = ts_sys_opendir(lib);
	}
	for (struct dirent *entry; dir && !has && (entry = readdir(dir)) != NULL;)
		has = strncmp(entry->d_name, "python3", strlen("python3")) == 0 &&
		      try_packages(lib, entry->d_name, out);
	if (dir)
		closedir(dir);
	return has;
}

void ts_tensorboard_find(struct ts_tensorboard *found, const char *path)
{
	TS_ASSERT(found);
	*found = (struct ts_tensorboard){ .program = "" };
	if (!find_program(path, found->program) ||
	    !find_packages(found->program, found->packages)) {
		found->program[0] = '\0';
		return;
	}
	found->has_xprof = has_package(found->packages, "xprof") ||
			   has_package(found->packages, "xprof_nightly") ||
			   has_package(found->packages, "tensorboard_plugin_profile");
	found->has_tpusight = has_package(found->packages, "tpusight");
}
