unit_tests += tests/analysis/waits/async_test
unit_tests += tests/analysis/waits/collectives_test
unit_tests += tests/analysis/waits/sparsecore_test
