unit_tests += tests/copy/redact_test
unit_tests += tests/copy/trim_test
EXTRA_DIST += tests/copy/trimmed.h
script_tests += tests/copy/redacted_test.py
