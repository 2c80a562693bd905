libtpusight_a_SOURCES += \
	src/io/archive.c src/io/archive.h \
	src/io/captures.c src/io/captures.h \
	src/io/file.c src/io/file.h \
	src/io/gzip.c src/io/gzip.h \
	src/io/input.c src/io/input.h \
	src/io/newfile.c src/io/newfile.h \
	src/io/rpc.c src/io/rpc.h \
	src/io/rundir.c src/io/rundir.h \
	src/io/runpath.c src/io/runpath.h \
	src/io/scratch.c src/io/scratch.h \
	src/io/sorter.c src/io/sorter.h \
	src/io/siblings.c src/io/siblings.h \
	src/io/torch_logs.c src/io/tracefile.c src/io/tracefile.h \
	src/io/window.c src/io/window.h
