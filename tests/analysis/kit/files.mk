unit_tests += tests/analysis/kit/spread_test
