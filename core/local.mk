# core: what a recording is, written and read; libc alone
noinst_LTLIBRARIES += core/libcore.la
core_libcore_la_SOURCES = \
	core/buf.c core/buf.h \
	core/buildinfo.c core/buildinfo.h \
	core/clock.c core/clock.h \
	core/cursor.c core/cursor.h \
	core/error.c core/error.h \
	core/event.c core/event.h core/event_parse.c \
	core/field.c core/field.h \
	core/json.c core/json.h \
	core/layout.h \
	core/recording.h \
	core/series.c core/series.h \
	core/store.c core/store.h \
	core/usage_log.c core/usage_log.h
