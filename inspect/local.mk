# SPDX-License-Identifier: MIT
# inspect: what one process has in memory, over time
noinst_LTLIBRARIES += inspect/libinspect.la
# one name a line: many add theirs at a time
inspect_libinspect_la_SOURCES = \
	inspect/freeze.c inspect/freeze.h \
	inspect/heap_image.h \
	inspect/inspection.h \
	inspect/rule.c inspect/rule.h \
	inspect/snapshot.c inspect/snapshot.h \
	inspect/symbolize.h \
	inspect/symbols_log.h

# Classes of memory
inspect_libinspect_la_SOURCES += \
	inspect/classify.h

# Archives
inspect_libinspect_la_SOURCES += \
	inspect/archive.h inspect/archive_list.h inspect/archive_progress.h
# Stacks as a tree of functions
inspect_libinspect_la_SOURCES += \
	inspect/call_tree.c inspect/call_tree.h

# Measuring
inspect_libinspect_la_SOURCES += \
	inspect/capabilities.h \
	inspect/elf_head.c inspect/elf_head.h \
	inspect/look.c inspect/look.h \
	inspect/look_modules.c \
	inspect/pages.c inspect/pages.h \
	inspect/process_list.h \
	inspect/recent.h \
	inspect/smaps.c inspect/smaps.h
