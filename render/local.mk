# SPDX-License-Identifier: MIT
# render: numbers in, pictures out. chart/ is the bootchart: its layout is decided in
# plain structs (chart.h), then written; plot/ has the charts that gnuplot draws.
noinst_LIBRARIES += render/librender.a
render_librender_a_SOURCES = \
	render/graph_layout.c render/graph_layout.h \
	render/chart/axis.c render/chart/axis.h render/chart/bootchart.c \
	render/chart/bootchart.h render/chart/bootchart_lanes.c render/chart/bootchart_marks.c \
	render/chart/bootchart_names.c render/chart/bootchart_pulse.c render/chart/bootchart_other.c render/chart/bootchart_panel.c \
	render/chart/bootchart_stretch.c \
	render/chart/bootchart_parts.h render/chart/bootchart_path.c render/chart/bootchart_phases.c \
	render/chart/bootchart_style.c render/chart/bar_name.c render/chart/bar_name.h \
	render/chart/chart.c render/chart/chart_place.c \
	render/chart/chart.h render/chart/lane_group.c render/chart/lane_group.h \
	render/chart/lane_pack.c render/chart/lane_pack.h render/chart/lanes.c \
	render/chart/lanes.h render/chart/legend.c render/chart/legend.h \
	render/chart/pack_chart.c render/chart/pack_chart.h render/chart/pack_code.c \
	render/chart/pack_code.h render/chart/pack_detail.c render/chart/pack_detail.h render/chart/pack_other.c render/chart/pack_other.h \
	render/chart/pack_tasks.c render/chart/pack_tasks.h \
	render/chart/difference.c render/chart/difference.h \
	render/chart/differences.c render/chart/differences.h \
	render/chart/palette.c render/chart/palette.h render/chart/panel_bands.c \
	render/chart/panel_bands.h render/chart/panel_plan.c render/chart/panels.c render/chart/panels.h \
	render/chart/pieces.c render/chart/pieces.h \
	render/chart/pulse.c render/chart/pulse.h render/chart/spark.c render/chart/spark.h \
	render/chart/svg.c render/chart/svg.h render/chart/works.c render/chart/works.h \
	render/plot/drawing.c render/plot/drawing.h render/plot/gnuplot.c render/plot/gnuplot.h \
	render/plot/plot_page.c render/plot/plot_page.h render/plot/page_tasks.c render/plot/plot.c \
	render/plot/plot.h render/plot/script.c render/plot/script.h render/plot/sheet.c \
	render/plot/sheet.h render/plot/term.c render/plot/trend.c render/plot/trend.h \
	render/plot/trend_axis.c render/plot/trend_axis.h

nodist_render_librender_a_SOURCES = render/chart/bootchart_text.c

# The style and the script of the bootchart, as C strings.
EXTRA_DIST += $(bootchart_js) render/chart/bootchart.css render/chart/app.css render/c_string.awk
CLEANFILES += render/chart/bootchart_text.c
bootchart_js = \
	render/chart/app.js render/chart/common.js render/chart/unpack.js \
	render/chart/app_data.js render/chart/app_view.js render/chart/app_page.js \
	render/chart/app_search.js render/chart/app_colour.js render/chart/app_compare.js \
	render/chart/app_range.js render/chart/app_table.js render/chart/table.js \
	render/chart/app_names.js render/chart/app_pieces.js render/chart/app_path.js \
	render/chart/app_lanes.js render/chart/app_flame.js render/chart/app_detail.js \
	render/chart/app_tree.js render/chart/app_icicle.js render/chart/app_panels.js \
	render/chart/app_axis.js render/chart/app_input.js \
	render/chart/app_update.js render/chart/app_live.js

c_string = awk -v dir=$(srcdir) -f $(srcdir)/render/c_string.awk

render/chart/bootchart_text.c: $(bootchart_js) render/chart/bootchart.css \
		render/chart/app.css render/c_string.awk
	$(AM_V_GEN)$(MKDIR_P) render/chart && { \
		echo '#include "render/chart/bootchart.h"' && echo '#include "render/chart/bootchart_parts.h"' && \
		$(c_string) -v name=bootchart_css -v file=render/chart/bootchart.css && \
		$(c_string) -v name=bootchart_app_css -v file=render/chart/app.css && \
		$(c_string) -v name=bootchart_js -v file=render/chart/app.js; \
	} >$@-t && mv $@-t $@
