# SPDX-License-Identifier: MIT
# inspect: what one process has in memory, over time
noinst_LIBRARIES += inspect/libinspect.a
# one name a line: many add theirs at a time
inspect_libinspect_a_SOURCES = \
	inspect/call_tree.c inspect/call_tree.h \
	inspect/freeze.c inspect/freeze.h \
	inspect/heap_image.c inspect/heap_image.h \
	inspect/inspection.h \
	inspect/rule.c inspect/rule.h \
	inspect/snapshot.c inspect/snapshot.h \
	inspect/symbolize.c inspect/symbolize.h \
	inspect/symbols_log.c inspect/symbols_log.h \
	inspect/uncounted.c inspect/uncounted.h

# Classes of memory
inspect_libinspect_a_SOURCES += \
	inspect/call_names.c inspect/call_names.h inspect/calls.c inspect/calls.h \
	inspect/class_nodes.c inspect/class_nodes.h inspect/class_paths.c inspect/class_paths.h \
	inspect/class_tree.c inspect/class_tree.h inspect/classify.c inspect/classify.h \
	inspect/call_sites.c inspect/call_sites.h inspect/heap_tree.c inspect/heap_tree.h \
	inspect/memory_parts.c inspect/memory_parts.h inspect/inspect_view.c inspect/inspect_view.h

# Archives
inspect_libinspect_a_SOURCES += \
	inspect/archive_files.h \
	inspect/archive_decode.c \
	inspect/archive_encode.c \
	inspect/archive_format.h \
	inspect/archive_list.c inspect/archive_list.h \
	inspect/archive_merge.c \
	inspect/archive_merge.h \
	inspect/archive_meta.c \
	inspect/archive_meta.h \
	inspect/archive_progress.c \
	inspect/archive_progress.h \
	inspect/archive_read.c \
	inspect/archive_valid.c \
	inspect/archive_write.c

# Measuring
inspect_libinspect_a_SOURCES += \
	inspect/capabilities.c inspect/capabilities.h \
	inspect/elf_head.c inspect/elf_head.h \
	inspect/live_build.c inspect/live_build.h \
	inspect/look.c inspect/look.h \
	inspect/look_modules.c \
	inspect/whole_machine.c inspect/whole_machine.h \
	inspect/process_list.c inspect/process_list.h \
	inspect/process_table.c inspect/process_table.h \
	inspect/recent.c inspect/recent.h \
	inspect/smaps.c inspect/smaps.h \
	inspect/system_call.h \
	inspect/waiting.c inspect/waiting.h

# Names of system calls, of this machine's headers.
nodist_inspect_libinspect_a_SOURCES = inspect/system_calls.c
CLEANFILES += inspect/system_calls.c
inspect/system_calls.c: inspect/system_calls.awk
	$(AM_V_GEN)$(MKDIR_P) inspect && echo '#include <sys/syscall.h>' | $(CPP) -dM - | \
		LC_ALL=C awk -f $(srcdir)/inspect/system_calls.awk >$@-t && mv $@-t $@
EXTRA_DIST += inspect/system_calls.awk

# Rules for programs, as C strings, in the order in which a program is looked for; installed to be
# read and copied.
class_rules = gcc clang lld mold ld rustc jvm python default
class_rules_files = \
	inspect/rules/gcc.yaml inspect/rules/clang.yaml inspect/rules/lld.yaml \
	inspect/rules/mold.yaml inspect/rules/ld.yaml inspect/rules/rustc.yaml \
	inspect/rules/jvm.yaml inspect/rules/python.yaml inspect/rules/default.yaml
class_rulesdir = $(docdir)/rules
dist_class_rules_DATA = $(class_rules_files)
inspect_libinspect_a_SOURCES += inspect/shipped_rules.h
nodist_inspect_libinspect_a_SOURCES += inspect/shipped_rules.c
CLEANFILES += inspect/shipped_rules.c

inspect/shipped_rules.c: $(class_rules_files) render/c_string.awk
	$(AM_V_GEN)$(MKDIR_P) inspect && { \
		echo '#include "inspect/shipped_rules.h"' && \
		for name in $(class_rules); do printf 'static ' && awk -v dir=$(srcdir) -v keep=1 \
			-v name=text_of_$$name -v file=inspect/rules/$$name.yaml \
			-f $(srcdir)/render/c_string.awk || exit; done && \
		echo 'const struct shipped_rules shipped_rules[] = {' && \
		for name in $(class_rules); do echo "{ \"$$name\", text_of_$$name },"; done && \
		echo '{ 0, 0 } };'; \
	} >$@-t && mv $@-t $@
# Running inspections
inspect_libinspect_a_SOURCES += \
	inspect/background.c inspect/background.h \
	inspect/below.c inspect/below.h \
	inspect/budget.c inspect/budget.h \
	inspect/run.c inspect/run.h \
	inspect/watch.c inspect/watch.h
