# SPDX-License-Identifier: MIT
# plugin: the shared object that build tools load
include_HEADERS += plugin/buildbeat_plugin.h

# What the launcher has in common with it.
noinst_LIBRARIES += plugin/libticket.a
plugin_libticket_a_SOURCES = \
	plugin/carry.c plugin/carry_elf.c plugin/carry_elf.h plugin/carry_env.c \
	plugin/carry_look.c plugin/carry.h \
	plugin/ticket.c plugin/ticket.h

# What the objects have in common.
noinst_LIBRARIES += plugin/libhosts.a
plugin_libhosts_a_SOURCES = plugin/counting.c plugin/counting.h plugin/pidtable.c plugin/pidtable.h

module_PROGRAMS += plugin/buildbeat.so
plugin_buildbeat_so_SOURCES = \
	plugin/api.c plugin/api.h plugin/api_spans.c plugin/api_tallies.c \
	plugin/buildbeat_plugin.h \
	plugin/beat.c plugin/beat.h \
	plugin/children.c plugin/children.h \
	plugin/collected.c plugin/collected.h \
	plugin/gmk.c \
	plugin/gmk_files.c plugin/gmk_files.h \
	plugin/got.c plugin/got.h \
	plugin/outputs.c plugin/outputs.h \
	plugin/session.c plugin/session.h \
	plugin/pipes.c plugin/pipes.h \
	plugin/procs.c plugin/procs.h plugin/procs_count.c plugin/procs_count.h \
	plugin/span.c plugin/span.h plugin/trace_env.c plugin/trace_env.h \
	plugin/tally_count.c plugin/tally_count.h plugin/tally_parts.h \
	plugin/tally_clock.c plugin/tally_clock.h plugin/tally_control.c plugin/tally_dump.c \
	plugin/tally_memory.c
# nodelete: our hooks and our thread outlive a dlclose(). gc-sections: of core only
# what is called; the sampler's library holds core too. norelro: every make loads it,
# and a table that is read-only afterwards costs a system call and a mapping each time.
plugin_buildbeat_so_LDFLAGS = $(LINK_MODULE) -pthread \
	-Wl,--version-script=$(srcdir)/plugin/buildbeat.map -Wl,-z,nodelete -Wl,-O1 -Wl,--gc-sections \
	-Wl,-z,noseparate-code -Wl,-z,norelro
plugin_buildbeat_so_LDADD = plugin/libticket.a plugin/libhosts.a sampler/libsampler.a recording/librecording.a command/libcommand.a base/libbase.a
EXTRA_plugin_buildbeat_so_DEPENDENCIES = plugin/buildbeat.map
EXTRA_DIST += plugin/buildbeat.map

# For build tools that load nothing by themselves: LD_PRELOAD.
module_PROGRAMS += plugin/buildbeat-preload.so
plugin_buildbeat_preload_so_SOURCES = \
	plugin/preload.c plugin/preload.h \
	plugin/preload_count.c plugin/preload_count.h \
	plugin/preload_ninja.c \
	plugin/preload_system.c \
	plugin/preload_tasks.c \
	plugin/preload_work.c
# now: what the loader takes to resolve a function when it is called first is some KiB of
# the stack of whatever thread that is.
plugin_buildbeat_preload_so_LDFLAGS = $(LINK_MODULE) \
	-Wl,--version-script=$(srcdir)/plugin/preload.map -Wl,-z,nodelete -Wl,-O1 -Wl,--gc-sections \
	-Wl,-z,noseparate-code -Wl,-z,now
plugin_buildbeat_preload_so_LDADD = plugin/libticket.a plugin/libhosts.a sampler/libsampler.a recording/librecording.a command/libcommand.a base/libbase.a
EXTRA_plugin_buildbeat_preload_so_DEPENDENCIES = plugin/preload.map
EXTRA_DIST += plugin/preload.map

# The class and the modules that bitbake loads.
bitbakedir = $(datadir)/buildbeat/bitbake
bitbakeconfdir = $(bitbakedir)/conf
bitbakeclassesdir = $(bitbakedir)/classes
bitbakelibdir = $(bitbakedir)/lib/buildbeat

dist_bitbakeconf_DATA = plugin/bitbake/conf/layer.conf
bitbakeclasses_DATA = plugin/bitbake/classes/buildbeat.bbclass
dist_bitbakelib_DATA = \
	plugin/bitbake/lib/buildbeat/__init__.py \
	plugin/bitbake/lib/buildbeat/abi.py \
	plugin/bitbake/lib/buildbeat/cooker.py \
	plugin/bitbake/lib/buildbeat/graph.py \
	plugin/bitbake/lib/buildbeat/layout.py \
	plugin/bitbake/lib/buildbeat/task.py \
	plugin/bitbake/lib/buildbeat/taskid.py \
	plugin/bitbake/lib/buildbeat/usage.py
EXTRA_DIST += plugin/bitbake/classes/buildbeat.bbclass.in
CLEANFILES += plugin/bitbake/classes/buildbeat.bbclass

# The class knows where the plugin is: a directory of make's, not of configure's.
plugin/bitbake/classes/buildbeat.bbclass: plugin/bitbake/classes/buildbeat.bbclass.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed -e 's,@pkglibdir[@],$(pkglibdir),' \
		-e 's,@bindir[@],$(bindir),' $(srcdir)/plugin/bitbake/classes/buildbeat.bbclass.in >$@
