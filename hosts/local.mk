# hosts: what other build tools load that is not the plugin itself
bitbakedir = $(datadir)/buildbeat/bitbake
bitbakeconfdir = $(bitbakedir)/conf
bitbakeclassesdir = $(bitbakedir)/classes
bitbakelibdir = $(bitbakedir)/lib/buildbeat

dist_bitbakeconf_DATA = hosts/bitbake/conf/layer.conf
bitbakeclasses_DATA = hosts/bitbake/classes/buildbeat.bbclass
dist_bitbakelib_DATA = \
	hosts/bitbake/lib/buildbeat/__init__.py \
	hosts/bitbake/lib/buildbeat/abi.py \
	hosts/bitbake/lib/buildbeat/cooker.py \
	hosts/bitbake/lib/buildbeat/graph.py \
	hosts/bitbake/lib/buildbeat/layout.py \
	hosts/bitbake/lib/buildbeat/task.py \
	hosts/bitbake/lib/buildbeat/taskid.py
EXTRA_DIST += hosts/bitbake/classes/buildbeat.bbclass.in
CLEANFILES += hosts/bitbake/classes/buildbeat.bbclass

# The class knows where the plugin is: a directory of make's, not of configure's.
hosts/bitbake/classes/buildbeat.bbclass: hosts/bitbake/classes/buildbeat.bbclass.in Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && sed -e 's,@pkglibdir[@],$(pkglibdir),' \
		-e 's,@bindir[@],$(bindir),' $(srcdir)/hosts/bitbake/classes/buildbeat.bbclass.in >$@
