libtpusight_a_SOURCES += \
	src/read/list.h src/read/reader.h src/read/registry.c src/read/seams.h src/read/trace.h \
	src/read/walk.c src/read/walk.h \
	src/read/chrome/args.c src/read/chrome/chrome.c src/read/chrome/chrome.h \
	src/read/chrome/event.c \
	src/read/chrome/model.c \
	src/read/chrome/names.c \
	src/read/chrome/scan.c \
	src/read/chrome/seams.c \
	src/read/chrome/store.c \
	src/read/chrome/stream.c \
	src/read/chrome/trace.c \
	src/read/xplane/events.c \
	src/read/xplane/index.c \
	src/read/xplane/meta.c \
	src/read/xplane/xplane.h
libtpusight_a_SOURCES += src/read/pprof/pprof.c
libtpusight_a_SOURCES += src/read/torch_trace/torch_trace.c src/read/torch_trace/torch_trace.h src/read/torch_trace/reasons.c
libtpusight_a_SOURCES += \
	src/read/hlo.h src/read/hlo/parts.h \
	src/read/hlo/backend.c \
	src/read/hlo/buffers.c \
	src/read/hlo/copy.c \
	src/read/hlo/hlo.c \
	src/read/hlo/instr.c \
	src/read/hlo/scan.c
