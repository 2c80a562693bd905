unit_tests += tests/flow/annotated_test
unit_tests += tests/flow/merge_test
unit_tests += tests/flow/steps_test
unit_tests += tests/flow/trace_test
EXTRA_DIST += tests/flow/memory_run.h
EXTRA_DIST += tests/flow/trace_run.h
