unit_tests += tests/analysis/doctor/doctor_kpis_test
unit_tests += tests/analysis/doctor/doctor_places_test
unit_tests += tests/analysis/doctor/doctor_random_test
unit_tests += tests/analysis/doctor/doctor_test
EXTRA_DIST += tests/analysis/doctor/doctor_given.h
script_tests += tests/analysis/doctor/snippets_test.py
script_tests += tests/analysis/doctor/findings_test.py

# The program that prints the snippets, which the script runs.
EXTRA_PROGRAMS += tests/analysis/doctor/snippets
tests/analysis/doctor/snippets_test.log: tests/analysis/doctor/snippets$(EXEEXT)

include tests/analysis/doctor/rules/files.mk
