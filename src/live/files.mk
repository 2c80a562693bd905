libtpusight_a_SOURCES += \
	src/live/alert.c src/live/alert.h \
	src/live/overhead.c src/live/overhead.h \
	src/live/feed.c src/live/feed.h \
	src/live/kept_modules.c src/live/kept_modules.h \
	src/live/alert_command.c src/live/alert_command.h \
	src/live/live.c src/live/live.h \
	src/live/look.c src/live/look.h \
	src/live/metrics.c src/live/metrics.h \
	src/live/notify.c src/live/notify.h \
	src/live/session_files.c src/live/session_files.h \
	src/live/profiler.c src/live/profiler.h \
	src/live/programs.c src/live/programs.h \
	src/live/ring.c src/live/ring.h \
	src/live/inside.c src/live/inside.h src/live/sessions.c \
	src/live/repository.c src/live/repository.h \
	src/live/sampler.c src/live/sampler.h \
	src/live/watch.c src/live/watch.h \
	src/live/whole.c src/live/whole.h
