# SPDX-License-Identifier: MIT
# inspect: what one process has in memory, over time
noinst_LTLIBRARIES += inspect/libinspect.la
inspect_libinspect_la_SOURCES = \
	inspect/inspection.h inspect/snapshot.c inspect/snapshot.h
