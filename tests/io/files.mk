check_PROGRAMS += tests/io/archive_test
TESTS += tests/io/archive_test
tests_io_archive_test_SOURCES = tests/io/archive_test.c tests/io/tmpdir.h
tests_io_archive_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_io_archive_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/io/file_test
TESTS += tests/io/file_test
tests_io_file_test_SOURCES = tests/io/file_test.c tests/io/tmpdir.h
tests_io_file_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_io_file_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/io/gzip_test
TESTS += tests/io/gzip_test
tests_io_gzip_test_SOURCES = tests/io/gzip_test.c tests/io/tmpdir.h
tests_io_gzip_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_io_gzip_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/io/input_test
TESTS += tests/io/input_test
tests_io_input_test_SOURCES = tests/io/input_test.c tests/io/tmpdir.h
tests_io_input_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_io_input_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/io/newfile_test
TESTS += tests/io/newfile_test
tests_io_newfile_test_SOURCES = tests/io/newfile_test.c tests/io/tmpdir.h
tests_io_newfile_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_io_newfile_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/io/rundir_test
TESTS += tests/io/rundir_test
tests_io_rundir_test_SOURCES = tests/io/rundir_test.c tests/io/tmpdir.h
tests_io_rundir_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_io_rundir_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/io/siblings_test
TESTS += tests/io/siblings_test
tests_io_siblings_test_SOURCES = tests/io/siblings_test.c tests/io/tmpdir.h
tests_io_siblings_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_io_siblings_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/io/scratch_test
TESTS += tests/io/scratch_test
tests_io_scratch_test_SOURCES = tests/io/scratch_test.c tests/io/tmpdir.h
tests_io_scratch_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_io_scratch_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/io/sorter_test
TESTS += tests/io/sorter_test
tests_io_sorter_test_SOURCES = tests/io/sorter_test.c tests/io/tmpdir.h
tests_io_sorter_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_io_sorter_test_LDADD = libtpusight.a $(CMOCKA_LIBS)

check_PROGRAMS += tests/io/rpc_test
TESTS += tests/io/rpc_test
tests_io_rpc_test_SOURCES = tests/io/rpc_test.c tests/live/fake_service.h
tests_io_rpc_test_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)
tests_io_rpc_test_LDADD = libtpusight.a $(CMOCKA_LIBS)
