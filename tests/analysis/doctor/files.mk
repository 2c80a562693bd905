unit_tests += tests/analysis/doctor/doctor_kpis_test
unit_tests += tests/analysis/doctor/doctor_places_test
unit_tests += tests/analysis/doctor/doctor_random_test
unit_tests += tests/analysis/doctor/doctor_test
unit_tests += tests/analysis/doctor/words_test
EXTRA_DIST += tests/analysis/doctor/doctor_given.h
script_tests += tests/analysis/doctor/snippets_test.py
script_tests += tests/analysis/doctor/findings_test.py
script_tests += tests/analysis/doctor/templates_test.py

include tests/analysis/doctor/rules/files.mk
