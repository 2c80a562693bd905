/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the profile of a session: annotated, annotated again, and the annotation taken out. The second time
 * changes nothing, and in the end every file is there with the bytes that it had, and no other.
 */
#include "tests/fuzz/session.h"
#include "tests/fuzz/mutate/mutator.h"

FUZZ_MUTATOR(profile)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char *const annotate[] = {
	"annotate", "-q", "-j", "1", "--perfetto=both", FOLDER, NULL
};
static const char *const strip[] = { "annotate", "-q", "-j", "1", "--strip", FOLDER, NULL };

/* The status of the command; the files that are there afterwards go to FILES. */
static int run(const struct session *session, const char *const *words, struct ts_buf *files)
{
	struct said said;
	int status = session_run(session, words, &said);

	if (status != TS_EXIT_DONE && status != TS_EXIT_NOTHING && status != TS_EXIT_SOME)
		broken("a status that the manual does not have");
	if (status != TS_EXIT_DONE && !ts_bytes_starts(ts_buf_bytes(&said.err), "tpusight: "))
		broken("a failure without a word");
	said_release(&said);
	session_list(session, files);
	return status;
}

static bool same(const struct ts_buf *a, const struct ts_buf *b)
{
	return ts_bytes_eq(ts_buf_bytes(a), ts_buf_bytes(b));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct ts_buf files[4] = { TS_BUF_INIT, TS_BUF_INIT, TS_BUF_INIT, TS_BUF_INIT };
	struct session session;
	int once, twice;

	session_fill(&session, (struct ts_bytes){ data, n });
	session_list(&session, &files[0]);
	once = run(&session, annotate, &files[1]);
	twice = run(&session, annotate, &files[2]);
	if (once == TS_EXIT_NOTHING && !same(&files[0], &files[1]))
		broken("nothing could be annotated, and something was written");
	if (once != twice || !same(&files[1], &files[2]))
		broken("the second annotation is another one");
	run(&session, strip, &files[3]);
	if (!same(&files[0], &files[3]))
		broken("what was annotated and stripped is not as it was");
	for (size_t i = 0; i < TS_NELEM(files); i++)
		ts_buf_release(&files[i]);
	return 0;
}
