# bisect: builds revisions until it is known which one changed a metric
noinst_LTLIBRARIES += bisect/libbisect.la
bisect_libbisect_la_SOURCES = \


