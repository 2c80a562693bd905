/* Prints the snippets of the doctor and of the capture's causes for snippets_test.py: for each "rule
 * bytes", a line end, and so many bytes of code. */
#include <stdio.h>

#include "analysis/run/capture.h"
#include "analysis/doctor/doctor.h"

static void print_code(const char *rule, const char *code)
{
	if (code[0])
		printf("%s %zu\n%s", rule, strlen(code), code);
}

int main(void)
{
	for (int framework = 0; framework < TS_NR_FRAMEWORKS; framework++) {
		const struct ts_advice *row = ts_advice_at((enum ts_framework)framework, 0);

		for (; row->rule; row++)
			print_code(row->rule, row->code);
	}
	for (const struct capture_cause *cause = capture_causes; cause->id; cause++)
		print_code(cause->id, cause->code);
	for (const struct capture_fix *fix = capture_torch_fixes; fix->id; fix++)
		print_code(fix->id, fix->code);
	return 0;
}
