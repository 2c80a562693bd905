/* Prints the doctor's snippets for snippets_test.py: for each row of the advice "rule bytes", a line
 * end, and so many bytes of code. */
#include <stdio.h>

#include "analysis/doctor/doctor.h"

int main(void)
{
	for (size_t at = 0; ts_advice_at(at); at++) {
		const struct ts_advice *advice = ts_advice_at(at);

		if (advice->code[0])
			printf("%s %zu\n%s", advice->rule, strlen(advice->code), advice->code);
	}
	return 0;
}
