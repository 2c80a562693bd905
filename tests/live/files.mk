unit_tests += tests/live/alert_test
unit_tests += tests/live/history_test
unit_tests += tests/live/alert_command_test
unit_tests += tests/live/live_test
unit_tests += tests/live/look_test
unit_tests += tests/live/programs_test
unit_tests += tests/live/watch_test
unit_tests += tests/live/whole_test
script_tests += tests/live/folder_test.py
script_tests += tests/live/job_test.py
script_tests += tests/live/service_test.py
EXTRA_DIST += tests/live/fake_service.h tests/live/job.py

# The servers that scripts talk to.
EXTRA_PROGRAMS += tests/live/fake_server
tests/live/service_test.log: tests/live/fake_server$(EXEEXT)
