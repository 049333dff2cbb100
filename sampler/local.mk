# sampler: /proc and /sys -> proc_*.log
noinst_LTLIBRARIES += sampler/libsampler.la
sampler_libsampler_la_SOURCES = \
	sampler/sampler.h
sampler_libsampler_la_LIBADD = core/libcore.la
