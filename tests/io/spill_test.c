/* SPDX-License-Identifier: Apache-2.0 */
/* Memory in a temporary file: what was written stays, however much it is, and a full disk is no end of the program. */
#include "tmpdir.h"

#include "io/spill.h"

#include <signal.h>
#include <sys/resource.h>

#define NR 3000

static size_t size_of(size_t i)
{
	return i % 100 == 99 ? 5000000 : 1 + i * 7919 % 9000;
}

static void what_was_taken_holds_what_was_written(void **state)
{
	struct ts_spill spill = TS_SPILL_INIT;
	uint8_t *taken[NR];

	for (size_t i = 0; i < NR; i++) {
		taken[i] = ts_spill_take(&spill, size_of(i));
		if (!taken[i] && i == 0)
			skip(); /* this system cannot */
		assert_non_null(taken[i]);
		assert_int_equal((uintptr_t)taken[i] % sizeof(uint64_t), 0);
		memset(taken[i], (int)i, size_of(i));
	}
	for (size_t i = 0; i < NR; i++) {
		assert_int_equal(taken[i][0], (uint8_t)i);
		assert_int_equal(taken[i][size_of(i) - 1], (uint8_t)i);
	}
	ts_spill_release(&spill);
	ts_spill_release(&spill);
}

static void where_the_disk_is_full_nothing_is_taken(void **state)
{
	struct ts_spill spill = TS_SPILL_INIT;
	struct rlimit before, none;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	none = (struct rlimit){ 1000000, before.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
	assert_null(ts_spill_take(&spill, 100));
	assert_null(ts_spill_take(&spill, 100));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_null(ts_spill_take(&spill, SIZE_MAX));
	ts_spill_release(&spill);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_taken_holds_what_was_written),
		cmocka_unit_test(where_the_disk_is_full_nothing_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
