# SPDX-License-Identifier: MIT
# bisect: builds revisions until it is known which one changed a metric
noinst_LIBRARIES += bisect/libbisect.a
bisect_libbisect_a_SOURCES = \
	bisect/bisect.c bisect/bisect.h bisect/bisect_report.c bisect/bisect_report.h bisect/checkout.c \
	bisect/checkout.h bisect/rebuild.c bisect/rebuild.h bisect/tool.c bisect/tool.h



