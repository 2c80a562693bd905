unit_tests += tests/analysis/run/capture_test
unit_tests += tests/analysis/run/overview_test
