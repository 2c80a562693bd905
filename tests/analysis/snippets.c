/* Prints the snippets of the doctor and of the capture's causes for snippets_test.py: for each "rule
 * bytes", a line end, and so many bytes of code. */
#include <stdio.h>

#include "analysis/capture.h"
#include "analysis/doctor/doctor.h"

static void print_code(const char *rule, const char *code)
{
	if (code[0])
		printf("%s %zu\n%s", rule, strlen(code), code);
}

int main(void)
{
	for (size_t at = 0; ts_advice_at(at); at++)
		print_code(ts_advice_at(at)->rule, ts_advice_at(at)->code);
	for (const struct capture_cause *cause = capture_causes; cause->id; cause++)
		print_code(cause->id, cause->code);
	return 0;
}
