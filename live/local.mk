# SPDX-License-Identifier: MIT
# live: a recording over HTTP, in programs of their own: only they use libwebsockets and ncurses
noinst_LIBRARIES += live/liblive.a
# one name a line: many add theirs at a time
live_liblive_a_SOURCES = \
	live/api_chart.c \
	live/api_graph.c \
	live/api_inspections.c \
	live/api_parts.h \
	live/api_process.c \
	live/api_races.c \
	live/api_recorded.c \
	live/process_facts.c \
	live/process_facts.h \
	live/process_view.c \
	live/process_view.h \
	live/api_overview.c \
	live/api_archive.c \
	live/api_compare.c \
	live/api_log.c \
	live/log_lines.c \
	live/log_lines.h \
	live/api_now.c \
	live/api_profile.c \
	live/api_recording.c \
	live/api_remaining.c \
	live/api_task.c \
	live/api_trend.c \
	live/api_table.c \
	live/api_tracker.c \
	live/assets.c \
	live/assets.h \
	live/catalogue.c \
	live/catalogue.h \
	live/channel.c \
	live/channel.h \
	live/earlier.c \
	live/earlier.h \
	live/compressed.c \
	live/compressed.h \
	live/comparison.c \
	live/comparison.h \
	live/guard.c \
	live/guard.h \
	live/now.c \
	live/listener.c \
	live/listener.h \
	live/job.c \
	live/job.h \
	live/job_place.c \
	live/job_place.h \
	live/job_plan.c \
	live/job_plan.h \
	live/now.h \
	live/now_json.c \
	live/now_lost.c live/now_samples.c \
	live/now_state.h \
	live/page_text.h \
	live/parameters.c \
	live/parameters.h \
	live/query.c \
	live/query.h \
	live/reader_pool.c \
	live/reader_pool.h \
	live/reader_child.c \
	live/registry.c \
	live/registry.h \
	live/reply.c \
	live/reply.h \
	live/route.h \
	live/routes.c \
	live/page_shell.c \
	live/page_shell.h \
	live/stream.c \
	live/stream.h \
	live/site.c \
	live/site_inspection.c \
	live/source.c \
	live/source.h \
	live/task_json.c \
	live/task_json.h

# The server
pkglibexec_PROGRAMS += live/buildbeat-serve
live_buildbeat_serve_SOURCES = \
	live/connection.c \
	live/attach.c \
	live/attach.h \
	live/endpoints.c \
	live/main.c \
	live/server.c \
	live/server.h \
	live/server_http.c \
	live/server_jobs.c \
	live/server_listen.c \
	live/server_private.h \
	live/server_reply.c \
	live/server_state.c \
	live/server_stream.c \
	live/server_stream.h \
	live/server_watch.c
live_buildbeat_serve_CPPFLAGS = $(AM_CPPFLAGS) $(WEBSOCKETS_CFLAGS)
live_buildbeat_serve_LDADD = $(PROGRAM_LIBS) $(WEBSOCKETS_LIBS)

# In a terminal
pkglibexec_PROGRAMS += live/buildbeat-top
live_buildbeat_top_SOURCES = \
	live/top/helper.c \
	live/top/helper.h \
	live/top/main.c \
	live/top/mirror.c \
	live/top/mirror.h \
	live/top/model.c \
	live/top/model.h \
	live/top/rows.c \
	live/top/rows.h \
	live/top/screen.c \
	live/top/screen.h \
	live/top/terminal.c \
	live/top/terminal.h
live_buildbeat_top_CPPFLAGS = $(AM_CPPFLAGS) $(NCURSES_CFLAGS)
live_buildbeat_top_LDADD = $(PROGRAM_LIBS) $(NCURSES_LIBS)

nodist_live_liblive_a_SOURCES = live/page_text.c

# The script and the style of the live pages, as C strings (render/local.mk). A page is a file
# live/page/page_NAME.js, listed here and taken in by live/page/live.js.
EXTRA_DIST += $(live_page_from)
CLEANFILES += live/page_text.c
live_page_from = \
	live/page/live.css \
	live/page/live.js \
	live/page/core.js \
	live/page/source.js \
	live/page/streams.js \
	live/page/parts.js \
	live/page/page_chart.js \
	live/page/page_compare.js \
	live/page/page_help.js \
	live/page/page_history.js \
	live/page/page_machine.js \
	live/page/page_overview.js \
	live/page/page_ended.js \
	live/page/long_list.js \
	live/page/page_output.js \
	live/page/page_wall.js \
	live/page/page_inspections.js \
	live/page/page_process.js \
	live/page/page_processes.js \
	live/page/page_tasks.js \
	live/page/page_races.js \
	live/page/page_settings.js \
	live/page/page_table.js \
	live/page/page_task.js \
	live/page/page_tracker.js \
	live/page/page_class.js \
	live/page/page_graph.js

live/page_text.c: $(live_page_from) render/chart/common.js render/chart/table.js report/ansi.css report/areas.css report/areas.js report/elements.js report/zoom.js render/c_string.awk
	$(AM_V_GEN)$(MKDIR_P) live && { \
		echo '#include "live/page_text.h"' && \
		$(c_string) -v name=page_live_css -v file=live/page/live.css && \
		$(c_string) -v name=page_live_js -v file=live/page/live.js && \
		$(c_string) -v name=page_streams_js -v file=live/page/streams.js; \
	} >$@-t && mv $@-t $@
