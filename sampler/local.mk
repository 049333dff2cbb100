# SPDX-License-Identifier: MIT
# sampler: /proc and /sys -> proc_*.log
noinst_LIBRARIES += sampler/libsampler.a
sampler_libsampler_a_SOURCES = \
	sampler/ancestors.c sampler/ancestors.h sampler/buildinfo.c sampler/buildinfo.h \
	sampler/calibration.c sampler/calibration.h sampler/cgroup.c \
	sampler/cores.c sampler/counter.c sampler/counter.h sampler/diskstats.c sampler/log.c sampler/log.h sampler/meminfo.c sampler/net.c \
	sampler/parse.c sampler/parse.h sampler/parse_cgroup.c sampler/parse_devices.c sampler/peak.c \
	sampler/peak.h sampler/pressure.c sampler/pressure.h sampler/root.c sampler/root.h \
	sampler/roster.c sampler/roster.h sampler/running.c sampler/running.h sampler/sampler.c \
	sampler/sampler.h sampler/source_proc.c sampler/source_proc.h sampler/stat.c sampler/table.c sampler/table.h sampler/tail.c \
	sampler/tail.h sampler/tasks.c sampler/tasks.h sampler/tree.c sampler/tree.h sampler/vmstat.c

# The processes of a build, for its launcher alone: not for the plugin
noinst_LIBRARIES += sampler/libprocesses.a
sampler_libprocesses_a_SOURCES = \
	sampler/census.c sampler/census.h sampler/connector.c sampler/connector.h sampler/cputime.c \
	sampler/cputime.h sampler/family.c sampler/family.h sampler/netlink.c sampler/netlink.h \
	sampler/own.c sampler/pidserver.c sampler/pidserver.h sampler/processes.c sampler/processes.h sampler/taskstats.c sampler/taskstats.h sampler/thread.c \
	sampler/thread.h
