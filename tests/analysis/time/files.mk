unit_tests += tests/analysis/time/gaps_test
unit_tests += tests/analysis/time/time_test
