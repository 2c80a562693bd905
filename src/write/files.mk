libtpusight_a_SOURCES += \
	src/write/breakdown.c src/write/breakdown.h src/write/brief.c src/write/brief.h \
	src/write/check.c src/write/check.h \
	src/write/flame.h src/write/flame_folded.c src/write/flame_json.c src/write/flame_outputs.h \
	src/write/flame_speedscope.c src/write/flame_text.c src/write/flame_graph.c \
	src/write/json_head.c src/write/json_head.h \
	src/write/list.h \
	src/write/output.h \
	src/write/perfetto.c src/write/perfetto.h \
	src/write/perfetto_json.c \
	src/write/perfetto_pb.c \
	src/write/registry.c \
	src/write/report_csv.c src/write/report_csv.h \
	src/write/page.h \
	src/write/report_html.c src/write/report_html.h \
	src/write/report_json.c src/write/report_json.h \
	src/write/report_tracks.c src/write/report_tracks.h \
	src/write/report_text.c src/write/report_text.h \
	src/write/summary.c src/write/summary.h \
	src/write/text_table.c src/write/text_table.h
