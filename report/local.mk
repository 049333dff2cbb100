# report: what compare found, written for people and programs
noinst_LTLIBRARIES += report/libreport.la
report_libreport_la_SOURCES = \
	report/amount.c report/amount.h \
	report/amount_read.c report/amount_read.h \
	report/html.c report/html.h
nodist_report_libreport_la_SOURCES = report/page_text.c
report_libreport_la_LIBADD = compare/libcompare.la render/plot/libplot.la render/chart/libchart.la render/librender.la core/libcore.la -lm

# The style of its pages, as a C string.
EXTRA_DIST += report/page.css
CLEANFILES += report/page_text.c

report/page_text.c: report/page.css report/local.mk
	$(AM_V_GEN)$(MKDIR_P) report && { \
		echo '#include "html.h"'; \
		echo 'const char page_css[] ='; \
		sed -e 's/^[	 ]*//' -e '/^$$/d' -e '/^\/\*.*\*\/$$/d' -e 's/[\"]/\\&/g' -e 's/.*/"&\\n"/' \
			$(srcdir)/report/page.css; \
		echo ';'; \
	} >$@-t && mv $@-t $@
