# render: one recording in, one picture out
noinst_LTLIBRARIES += render/librender.la
render_librender_la_SOURCES = \
	render/column.c render/column.h \
	render/cost.c render/cost.h \
	render/curve.c render/curve.h \
	render/facts.c render/facts.h \
	render/host.c render/host.h \
	render/json_list.c \
	render/json_show.c \
	render/listing.c render/listing.h \
	render/names.c render/names.h \
	render/saturate.h \
	render/show.h \
	render/sort.c render/sort.h \
	render/summary.c render/summary.h \
	render/targets.c render/targets.h \
	render/text.c render/text.h \
	render/text_facts.c \
	render/text_list.c \
	render/text_rows.c \
	render/text_show.c render/text_show.h \
	render/view.c render/view.h
render_librender_la_LIBADD = core/libcore.la
