/* SPDX-License-Identifier: MIT */
/*
 * A fuzz target without libFuzzer: replays every seed, its truncations and many changed copies,
 * always the same ones: damaged ones, and those of the target's own mutator. That is what
 * `make check` runs.
 *
 *	tests/fuzz/NAME_replay			seeds of NAME in tests/fuzz/seeds, and real profiles
 *	tests/fuzz/NAME_replay FILE...		these, each as it is: for what a campaign has found
 *
 * FUZZ_MUTATIONS (a number) and FUZZ_SECONDS bound the work; FUZZ_TRACE=1 says what is about to run,
 * so that its last line names the input of a crash. An input that takes half a minute is a hang.
 */
#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "io/input.h"
#include "tests/fuzz/mutate/mutator.h"
#include "tests/read/mutate.h"

#define MAX_SEEDS    256
#define MAX_CUTS     2000 /* of one seed: a short one is cut at every byte */
#define HANG_SECONDS 60
#define MAX_CHANGED  65536 /* bytes of an input that a mutator makes */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct seed {
	char path[PATH_MAX];
	struct ts_input input;
};

struct replay {
	struct seed seeds[MAX_SEEDS];
	size_t nr_seeds;
	long nr_runs;
	bool trace;
	time_t end; /* 0: no limit */
};

static struct replay replay; /* too large for the stack; a program's own, not the library's */

static void add_seed(const char *path)
{
	struct seed *seed = &replay.seeds[replay.nr_seeds];

	if (replay.nr_seeds == MAX_SEEDS)
		return;
	snprintf(seed->path, sizeof(seed->path), "%s", path);
	seed->input = (struct ts_input)TS_INPUT_INIT;
	if (ts_input_open(&seed->input, seed->path, NULL) == TS_OK)
		replay.nr_seeds++;
}

static int by_path(const void *a, const void *b)
{
	const struct seed *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* All files of the folder that end so; a folder that is not there has none. */
static void add_folder(const char *folder, const char *suffix)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	char path[PATH_MAX];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' || !ts_bytes_ends(ts_bytes_of(entry->d_name), suffix))
			continue;
		snprintf(path, sizeof(path), "%s/%s", folder, entry->d_name);
		add_seed(path);
	}
	if (dir)
		closedir(dir);
}

struct folder_row {
	const char *target, *folder, *suffix;
};

/* Real inputs, and seeds of others, beside the small seeds; ../shared is there for developers only. */
static const struct folder_row folders[] = {
	{ "xplane", "tests/data", ".xplane.pb" },
	{ "xplane", "tests/data/sample/train_step_simulated/plugins/profile/2026_01_01_00_00_00",
	  ".xplane.pb" },
	{ "xplane", "../shared/corpus/xplane", ".xplane.pb" },
	{ "hlo", "../shared/corpus/hlo", ".pb" },
	{ "overlay", "tests/data", ".xplane.pb" },
	{ "pb", "tests/data", ".xplane.pb" },
	{ "pprof", "tests/data", ".prof" },
	{ "xplane_classes", "tests/fuzz/seeds/xplane", "" },
	{ "slices", "tests/fuzz/seeds/xplane", "" },
	{ "pprof_classes", "tests/fuzz/seeds/pprof", "" },
	{ "gunzip_zlib", "tests/fuzz/seeds/gunzip", "" },
	{ "json_cjson", "tests/fuzz/seeds/chrome", "" },
	{ "json_cjson", "tests/fuzz/seeds/torch_trace", "" },
	{ "packed", "tests/fuzz/seeds/chrome", "" },
	{ "packed", "tests/fuzz/seeds/torch_trace", "" },
	{ "undo", "tests/fuzz/seeds/xplane", "" },
	{ "undo", "tests/fuzz/seeds/chrome", "" },
	{ "undo", "tests/fuzz/seeds/trace", "" },
	{ "again", "tests/fuzz/seeds/xplane", "" },
	{ "again", "tests/fuzz/seeds/chrome", "" },
	{ "again", "tests/fuzz/seeds/trace", "" },
	{ "commands", "tests/fuzz/seeds/xplane", "" },
	{ "commands", "tests/fuzz/seeds/chrome", "" },
	{ "commands", "tests/fuzz/seeds/trace", "" },
	{ "commands", "tests/fuzz/seeds/pprof", "" },
	{ "commands", "tests/fuzz/seeds/hlo", "" },
};

static void add_all(const char *srcdir, const char *target)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/tests/fuzz/seeds/%s", srcdir, target);
	add_folder(path, "");
	for (size_t i = 0; i < TS_NELEM(folders); i++) {
		if (strcmp(folders[i].target, target) != 0)
			continue;
		snprintf(path, sizeof(path), "%s/%s", srcdir, folders[i].folder);
		add_folder(path, folders[i].suffix);
	}
	qsort(replay.seeds, replay.nr_seeds, sizeof(replay.seeds[0]), by_path);
}

/* The target gets a block of exactly N bytes, so that a sanitizer sees a read behind it. */
static void run(const struct seed *seed, const char *what, uint64_t number, struct ts_bytes bytes)
{
	uint8_t *copy = malloc(bytes.n ? bytes.n : 1);

	if (!copy)
		return;
	if (bytes.n)
		memcpy(copy, bytes.p, bytes.n);
	if (replay.trace)
		fprintf(stderr, "%s: %s %llu\n", seed->path, what, (unsigned long long)number);
	alarm(HANG_SECONDS);
	LLVMFuzzerTestOneInput(copy, bytes.n);
	alarm(0);
	free(copy);
	replay.nr_runs++;
}

static bool is_late(void)
{
	return replay.end && time(NULL) >= replay.end;
}

static void run_cuts(const struct seed *seed)
{
	struct ts_bytes bytes = seed->input.bytes;
	size_t step = bytes.n / MAX_CUTS + 1;

	if (bytes.n > 65536) /* a large one takes long each time */
		step = bytes.n / 50 + 1;
	for (size_t n = 0; n < bytes.n && !is_late(); n += step)
		run(seed, "the first bytes:", n, ts_bytes_cut(bytes, 0, n));
}

/* In libFuzzer's place: for the texts inside an input. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t n, size_t max)
{
	static struct rng rng = { 1 };

	if (n < max && rng_below(&rng, 4) == 0)
		data[n++] = (uint8_t)rng_next(&rng);
	if (n > 0)
		mutate_bytes(&rng, data, n);
	return n;
}

/* By the target's mutator; one in four has a piece of another seed. */
static void change(const struct seed *seed, unsigned i)
{
	static uint8_t changed[MAX_CHANGED];
	const struct seed *other = &replay.seeds[(i / 4) % replay.nr_seeds];
	struct ts_bytes in = seed->input.bytes;
	size_t n;

	if (in.n > MAX_CHANGED)
		return;
	if (i % 4 == 0) {
		n = LLVMFuzzerCustomCrossOver(in.p, in.n, other->input.bytes.p,
					      other->input.bytes.n, changed, MAX_CHANGED, i);
	} else {
		memcpy(changed, in.p, in.n);
		n = LLVMFuzzerCustomMutator(changed, in.n, MAX_CHANGED, i);
	}
	run(seed, "change", i, (struct ts_bytes){ changed, n });
}

static void damage(const struct seed *seed, uint64_t i)
{
	struct ts_buf damaged = TS_BUF_INIT;
	struct rng rng = rng_of(i);

	mutate(&rng, seed->input.bytes, &damaged);
	if (!damaged.failed)
		run(seed, "mutation", i, ts_buf_bytes(&damaged));
	ts_buf_release(&damaged);
}

static void run_mutations(long nr)
{
	for (long i = 0; i < nr && !is_late(); i++) {
		const struct seed *seed = &replay.seeds[(size_t)(i / 2) % replay.nr_seeds];

		if (i % 2)
			change(seed, (unsigned)i);
		else
			damage(seed, (uint64_t)i + 1);
	}
}

/* tests/fuzz/NAME_replay -> NAME */
static const char *target_of(char *program)
{
	char *name = strrchr(program, '/'), *end;

	name = name ? name + 1 : program;
	end = strstr(name, "_replay");
	if (end)
		*end = '\0';
	return name;
}

static long setting(const char *name, long otherwise)
{
	const char *text = getenv(name);

	return text ? strtol(text, NULL, 10) : otherwise;
}

int main(int argc, char **argv)
{
	const char *target = target_of(argv[0]);
	long seconds = setting("FUZZ_SECONDS", 20);

	replay.trace = setting("FUZZ_TRACE", 0) != 0;
	for (int i = 1; i < argc; i++)
		add_seed(argv[i]);
	if (argc == 1)
		add_all(TS_SRCDIR, target);
	if (replay.nr_seeds == 0) {
		fprintf(stderr, "%s: no seeds\n", target);
		return 1;
	}
	for (size_t i = 0; i < replay.nr_seeds; i++)
		run(&replay.seeds[i], "as it is", 0, replay.seeds[i].input.bytes);
	if (argc == 1) {
		if (seconds >
		    0) /* half for the cuts, so that there are mutations whatever the machine */
			replay.end = time(NULL) + (seconds + 1) / 2;
		for (size_t i = 0; i < replay.nr_seeds; i++)
			run_cuts(&replay.seeds[i]);
		if (seconds > 0)
			replay.end = time(NULL) + (seconds + 1) / 2;
		run_mutations(setting("FUZZ_MUTATIONS", 4000));
	}
	printf("%s: %zu seeds, %ld inputs\n", target, replay.nr_seeds, replay.nr_runs);
	for (size_t i = 0; i < replay.nr_seeds; i++)
		ts_input_release(&replay.seeds[i].input);
	return 0;
}
