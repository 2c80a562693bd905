unit_tests += tests/base/arena_test
unit_tests += tests/base/bytes_test
unit_tests += tests/base/map_test
unit_tests += tests/base/siphash_test
unit_tests += tests/base/spans_test
unit_tests += tests/base/units_test
unit_tests += tests/base/work_test
EXTRA_DIST += tests/base/rng.h
