/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as the profile of a session, and one of the commands on it: which one, the number of bytes says, so that the
 * cuts of a seed meet all of them. The status is one that the manual has; a failure says a word, and a command that is
 * done has printed or written something.
 */
#include <cjson/cJSON.h>

#include "tests/fuzz/session.h"
#include "tests/fuzz/mutate/mutator.h"

FUZZ_MUTATOR(profile)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct row {
	const char *words[12];
	bool is_json;  /* what it prints */
	bool may_lack; /* it may be asked for what the input does not have: wrong usage */
	bool is_gate;
	bool may_be_empty; /* no line, where there is nothing to say a line of */
};

static const struct row rows[] = {
	{ { "check", FOLDER }, .is_gate = true },
	{ { "check", "--json", FOLDER }, .is_json = true, .is_gate = true },
	{ { "hta", FOLDER } },
	{ { "hta", "--json", FOLDER }, .is_json = true },
	{ { "kernels", FOLDER } },
	{ { "kernels", "--json", FOLDER }, .is_json = true },
	{ { "timeline", FOLDER } },
	{ { "timeline", "--json", FOLDER }, .is_json = true },
	{ { "flame", FOLDER }, .may_lack = true },
	{ { "flame", "--format", "json", FOLDER }, .may_lack = true, .is_json = true },
	{ { "flame", "--format", "folded", FOLDER }, .may_lack = true, .may_be_empty = true },
	{ { "flame", "--format", "speedscope", FOLDER }, .may_lack = true, .is_json = true },
	{ { "memory", FOLDER } },
	{ { "memory", "--json", FOLDER }, .is_json = true },
	{ { "compile", FOLDER } },
	{ { "compile", "--json", FOLDER }, .is_json = true },
	{ { "compare", FOLDER, FILE_NAME } },
	{ { "compare", "--json", FOLDER, FILE_NAME }, .is_json = true },
	{ { "hlo", FILE_NAME } },
	{ { "hlo", "--json", FILE_NAME }, .is_json = true },
	{ { "trim", "--to-ms", "0.5", "-o", OUTPUT, FOLDER }, .may_lack = true },
	{ { "trim", "--steps", "1-2", "-o", OUTPUT, FOLDER }, .may_lack = true },
	{ { "redact", "-o", OUTPUT, FOLDER } },
	{ { "memory", FILE_NAME } },
	{ { "report", FOLDER } },
	{ { "report", "--json", FILE_NAME }, .is_json = true },
};

static bool has_output(const struct session *session)
{
	return access(session->output, F_OK) == 0;
}

static void look(const struct session *session, const struct row *row, const struct said *said)
{
	struct ts_bytes out = ts_buf_bytes(&said->out);
	cJSON *json;

	switch (said->status) {
	case TS_EXIT_DONE:
		if (!out.n && !said->err.n && !row->may_be_empty && !has_output(session))
			broken("done, without a word or a file");
		break;
	case TS_EXIT_GATE:
		if (!row->is_gate)
			broken("a gate, where there is none");
		break;
	case TS_EXIT_USAGE:
		if (!row->may_lack)
			broken("wrong usage, of a command that nothing is wrong with");
		break;
	case TS_EXIT_NOTHING:
	case TS_EXIT_SOME:    break;
	default:	      broken("a status that the manual does not have");
	}
	if (said->status > TS_EXIT_GATE && !ts_bytes_starts(ts_buf_bytes(&said->err), "tpusight: "))
		broken("a failure without a word");
	if (!row->is_json || !out.n)
		return;
	json = cJSON_ParseWithLength((const char *)out.p, out.n);
	if (!json)
		broken("what is printed is not JSON");
	cJSON_Delete(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct row *row = &rows[n % TS_NELEM(rows)];
	struct session session;
	struct said said;

	if (strcmp(row->words[0], "hlo") == 0)
		session_fill_as(&session, "module.hlo_proto.pb", (struct ts_bytes){ data, n });
	else
		session_fill(&session, (struct ts_bytes){ data, n });
	session_run(&session, row->words, &said);
	look(&session, row, &said);
	said_release(&said);
	return 0;
}
