EXTRA_DIST += tests/result/named.h
unit_tests += tests/result/bins_test
unit_tests += tests/result/levels_test
unit_tests += tests/result/result_test
unit_tests += tests/result/slices_test
