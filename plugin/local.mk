# plugin: the shared object that build tools load
include_HEADERS += plugin/buildbeat_plugin.h
