# report: what compare found, written for people and programs
noinst_LTLIBRARIES += report/libreport.la
report_libreport_la_SOURCES = \
	report/amount.c report/amount.h \
	report/amount_read.c report/amount_read.h
report_libreport_la_LIBADD = compare/libcompare.la render/plot/libplot.la render/chart/libchart.la render/librender.la core/libcore.la -lm
