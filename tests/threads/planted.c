/* SPDX-License-Identifier: MIT */
/*
 * A race that is planted: two threads add to one number without a lock. races_test.py must find it, so
 * that a clean run of the program means something.
 */
#include <stdio.h>

#include "base/work.h"

static enum ts_status add(void *sum, size_t job, size_t thread, struct ts_error *err)
{
	(void)thread, (void)err;
	*(size_t *)sum += job;
	return TS_OK;
}

int main(void)
{
	size_t sum = 0;
	enum ts_status st = ts_work_run(4, 100000, add, &sum, NULL);

	printf("%zu\n", sum);
	return st ? 1 : 0;
}
