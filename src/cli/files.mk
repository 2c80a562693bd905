cli_sources += \
	src/cli/cli.h src/cli/list.h \
	src/cli/annotate.c src/cli/annotate.h \
	src/cli/cmd_annotate.c \
	src/cli/cmd_check.c \
	src/cli/cmd_compare.c \
	src/cli/cmd_flame.c \
	src/cli/cmd_hlo.c \
	src/cli/cmd_hta.c \
	src/cli/cmd_compile.c src/cli/cmd_kernels.c src/cli/cmd_memory.c \
	src/cli/cmd_redact.c \
	src/cli/cmd_live.c src/cli/live_print.c src/cli/live_print.h \
	src/cli/live_session.c src/cli/live_session.h \
	src/cli/cmd_report.c \
	src/cli/cmd_serve.c \
	src/cli/cmd_timeline.c \
	src/cli/cmd_trim.c \
	src/cli/config.c src/cli/config.h \
	src/cli/console.c \
	src/cli/copies.c src/cli/copies.h \
	src/cli/deeds.c src/cli/deeds.h \
	src/cli/help.c src/cli/options.c src/cli/option.h src/cli/values.c \
	src/cli/program.c src/cli/registry.c src/cli/shared.c \
	src/cli/report.h \
	src/cli/serving.c src/cli/serving.h \
	src/cli/open_runs.c src/cli/open_runs.h \
	src/cli/suite.c src/cli/suite.h
