unit_tests += tests/codec/csv_test
unit_tests += tests/codec/json_test
unit_tests += tests/codec/pb_test
unit_tests += tests/codec/pbw_test
unit_tests += tests/codec/record_test
unit_tests += tests/codec/text_test
