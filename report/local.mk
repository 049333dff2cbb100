# SPDX-License-Identifier: MIT
# report: what compare found, written for people and programs
noinst_LIBRARIES += report/libreport.a
report_libreport_a_SOURCES = \
	report/amount.c report/amount.h report/build_page.c report/build_page.h report/check_json.c \
	report/check_against.c report/check_against.h report/check_limits.c report/check_limits.h \
	report/check_power.c report/check_power.h report/check_power_json.c \
	report/check_replay.c report/check_replay.h report/check_replay_json.c report/check_replay_svg.c \
	report/check_population.c report/check_population.h \
	report/check_doc.c report/check_junit.c report/check_next.c report/check_output.h \
	report/command_line.c report/command_line.h report/culprit_names.c report/culprit_names.h \
	report/culprits.c report/culprits.h \
	report/diff_doc.c report/diff_html.c report/diff_json.c report/diff_lanes.c report/diff_picture.c report/diff_picture.h report/diff_output.h \
	report/diff_view.c report/diff_view.h report/group_table.c report/group_table.h \
	report/history_json.c report/history_output.h report/history_parts.h \
	report/history_series.c report/history_trend.c report/history_doc.c report/list_doc.c report/list_json.c report/list_output.h report/error_text.c report/error_text.h report/log_text.c report/log_text.h \
	report/inspect_heap.c report/inspect_page_maps.c report/inspect_page.c report/inspect_page.h \
	report/inspect_page_parts.h report/inspect_words.c report/inspected_find.c report/inspected_find.h report/idle_look.c report/idle_look.h report/packed.c report/packed.h \
	report/html.c report/html.h report/kept_builds.c report/kept_builds.h report/log_page.c report/log_page.h \
	report/page.c report/page.h report/page_data.c report/page_events.c \
	report/page_parts.h report/page_static.h report/page_verdict.c report/profile_doc.c report/profile_json.c report/profile_output.h report/profile_page.c report/profile_page.h report/picture.c report/picture.h \
	report/show_doc.c report/show_json.c report/show_json_parts.h report/show_json_why.c report/show_output.h report/show_parts.c report/show_parts.h \
	report/revisions.c report/revisions.h report/fix_look.c report/fix_look.h report/source_log.c report/source_log.h report/sparkline.c \
	report/sparkline.h report/advise_output.c report/advise_output.h report/whatif_doc.c report/whatif_json.c report/whatif_output.h report/trends.c report/trends.h report/words_change.c report/words_change.h
nodist_report_libreport_a_SOURCES = report/page_static.c

# The style of its pages and the script of the report, as C strings (render/local.mk).
EXTRA_DIST += $(page_static_from)
CLEANFILES += report/page_static.c
page_static_from = \
	report/ansi.css report/areas.css report/areas.js report/diff.js report/elements.js report/inspect.css report/inspect.js report/inspect_data.js \
	report/inspect_areas.js report/inspect_icicle.js report/inspect_lists.js report/inspect_page.js report/log.css report/log.js report/page.css \
	report/page.js report/page_data.js report/page_rows.js report/page_trends.js \
	report/profile.js report/profile_rows.js report/profile_table.js report/site.js report/zoom.js

report/page_static.c: $(page_static_from) render/chart/common.js render/chart/table.js render/chart/unpack.js render/c_string.awk
	$(AM_V_GEN)$(MKDIR_P) report && { \
		echo '#include "report/page_static.h"' && \
		$(c_string) -v name=page_css -v file=report/page.css && \
		$(c_string) -v name=page_js -v file=report/page.js && \
		$(c_string) -v name=page_diff_js -v file=report/diff.js && \
		$(c_string) -v name=page_profile_js -v file=report/profile.js && \
		$(c_string) -v name=page_inspect_css -v file=report/inspect.css && \
		$(c_string) -v name=page_inspect_js -v file=report/inspect.js && \
		$(c_string) -v name=page_log_css -v file=report/log.css && \
		$(c_string) -v name=page_log_js -v file=report/log.js && \
		$(c_string) -v name=page_site_js -v file=report/site.js; \
	} >$@-t && mv $@-t $@

# The outputs of inspect, maps, ps and stats
report_libreport_a_SOURCES += \
	report/inspect/capabilities_view.c report/inspect/capabilities_view.h \
	report/inspect/inspect_stats.h report/inspect/stats_machine.c report/inspect/stats_process.c \
	report/inspect/archives_json.c report/inspect/archives_json.h \
	report/inspect/resident.c report/inspect/resident.h \
	report/inspect/processes_doc.c report/inspect/processes_doc.h \
	report/inspect/class_plot.c report/inspect/class_plot.h \
	report/inspect/class_shares.c report/inspect/class_shares.h \
	report/inspect/collapsed.c report/inspect/collapsed.h report/inspect/heaptrack.c report/inspect/heaptrack.h \
	report/inspect/pprof.c report/inspect/pprof.h \
	report/inspect/inspect_outputs.h report/inspect/inspect_cells.c report/inspect/inspect_classes.c \
	report/inspect/inspect_json.c report/inspect/inspect_parts.h report/inspect/inspect_sites.c \
	report/inspect/inspect_text.c report/inspect/maps.c report/inspect/maps.h
