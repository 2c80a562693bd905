# SPDX-License-Identifier: MIT
EXTRA_DIST += tests/live/fake_service.h tests/live/job.py

# The servers that scripts talk to.
EXTRA_PROGRAMS += tests/live/fake_server
tests/live/service_test.log: tests/live/fake_server$(EXEEXT)
