# SPDX-License-Identifier: MIT
# analyse: one recording in, numbers out
noinst_LIBRARIES += analyse/libanalyse.a
analyse_libanalyse_a_SOURCES = \
	analyse/answer.c analyse/answer.h analyse/answer_ended.c analyse/answer_late.c analyse/answer_machine.c \
	analyse/answer_parts.h analyse/answer_tasks.c analyse/answer_times.c analyse/answer_times.h analyse/answer_waited.c \
	analyse/build_output.c analyse/build_output.h analyse/cache_counts.c analyse/cache_counts.h analyse/chain.c analyse/chain.h analyse/chain_bound.c analyse/chain_bound.h \
	analyse/cmake_target.c analyse/cmake_target.h analyse/directories.c analyse/directories.h \
	analyse/facts.c analyse/facts.h analyse/free_cores.c analyse/free_cores.h analyse/tool_count.c analyse/tool_count.h analyse/idle.c analyse/idle.h analyse/first_error.c analyse/first_error.h analyse/groups.c analyse/groups.h \
	analyse/needs.c analyse/needs.h analyse/needs_names.c analyse/needs_names.h analyse/cost.c analyse/cost.h \
	analyse/curve.c analyse/curve.h analyse/host.c analyse/host.h analyse/inspected.c analyse/inspected.h \
	analyse/listing.c analyse/listing.h analyse/message.c analyse/message.h analyse/runs.c analyse/runs.h analyse/metric.c analyse/metric.h analyse/names.c \
	analyse/names.h analyse/path.c analyse/path.h analyse/summary.c analyse/summary.h \
	analyse/largest.c analyse/largest.h analyse/lto.c analyse/lto.h analyse/used.c analyse/used.h \
	analyse/value.c analyse/value.h \
	analyse/values.c analyse/values.h analyse/values_runs.c analyse/view.c analyse/view.h analyse/words.c analyse/words.h \
	analyse/workers.c analyse/workers.h analyse/wait.c analyse/wait.h analyse/wait_room.c analyse/wait_room.h analyse/races.c analyse/races.h \
	analyse/capacity.c analyse/capacity.h analyse/profile.c analyse/profile.h \
	analyse/profile_column.c analyse/profile_match.c analyse/profile_match.h \
	analyse/profile_tally.c analyse/profile_tasks.c analyse/profile_view.c analyse/profile_view.h \
	analyse/output.c analyse/output.h analyse/output_bitbake.c analyse/output_bitbake.h \
	analyse/output_evidence.c analyse/output_evidence.h analyse/output_excerpt.c analyse/output_excerpt.h \
	analyse/output_marks.c analyse/output_marks.h analyse/output_named.c analyse/output_named.h analyse/output_nearby.c \
	analyse/output_nearby.h analyse/output_ninja.c analyse/output_pipes.c analyse/output_pipes.h analyse/output_text.c \
	analyse/output_says.c analyse/output_says.h \
	analyse/inner.c analyse/inner.h analyse/process_tree.c analyse/process_tree.h \
	analyse/tracker.c analyse/tracker.h analyse/tracker_class.c analyse/tracker_class.h analyse/tracker_names.c analyse/tracker_parts.h \
	analyse/tracker_pieces.c \
	analyse/unread.c analyse/unread.h analyse/graph.c analyse/graph.h analyse/graph_components.c analyse/cycles.c analyse/cycles.h

# How tools say what went wrong
messagesdir = $(docdir)/rules
dist_messages_DATA = analyse/messages.yaml
analyse_libanalyse_a_SOURCES += analyse/shipped_messages.h
nodist_analyse_libanalyse_a_SOURCES = analyse/shipped_messages.c
CLEANFILES += analyse/shipped_messages.c

EXTRA_DIST += analyse/messages.awk
analyse/shipped_messages.c: analyse/messages.yaml analyse/messages.awk
	$(AM_V_GEN)$(MKDIR_P) analyse && awk -f $(srcdir)/analyse/messages.awk \
		$(srcdir)/analyse/messages.yaml >$@-t && mv $@-t $@
