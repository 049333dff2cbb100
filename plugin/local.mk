# plugin: the shared object that build tools load
include_HEADERS += plugin/buildbeat_plugin.h

# What the launcher has in common with it.
noinst_LTLIBRARIES += plugin/libticket.la
plugin_libticket_la_SOURCES = plugin/ticket.c plugin/ticket.h
