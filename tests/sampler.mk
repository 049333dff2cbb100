# tests of sampler
SAMPLER_LIBS = tests/libsupport.la sampler/libsampler.la core/libcore.la $(CHECK_LIBS)

check_PROGRAMS += tests/check_sampler
TESTS += tests/check_sampler
tests_check_sampler_SOURCES = tests/check_sampler.c tests/machine.c tests/machine.h
tests_check_sampler_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_sampler_LDADD = $(SAMPLER_LIBS)

check_PROGRAMS += tests/check_tasks
TESTS += tests/check_tasks
tests_check_tasks_SOURCES = tests/check_tasks.c tests/machine.c tests/machine.h
tests_check_tasks_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_tasks_LDADD = $(SAMPLER_LIBS)

check_PROGRAMS += tests/check_processes
TESTS += tests/check_processes
tests_check_processes_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_processes_LDADD = sampler/libprocesses.la $(SAMPLER_LIBS)

check_PROGRAMS += tests/check_netlink
TESTS += tests/check_netlink
tests_check_netlink_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_netlink_LDADD = sampler/libprocesses.la $(SAMPLER_LIBS)

check_PROGRAMS += tests/check_usage_log
TESTS += tests/check_usage_log
tests_check_usage_log_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_usage_log_LDADD = $(TEST_LIBS)

BENCHES += tests/bench_processes
check_PROGRAMS += tests/bench_processes
tests_bench_processes_CPPFLAGS = $(TEST_CPPFLAGS)
tests_bench_processes_LDADD = sampler/libprocesses.la $(SAMPLER_LIBS)

BENCHES += tests/bench_sample
check_PROGRAMS += tests/bench_sample
tests_bench_sample_LDADD = sampler/libsampler.la core/libcore.la

EXTRA_DIST += \
	tests/data/proc-cgroup1 \
	tests/data/proc-container \
	tests/data/proc-nopsi \
	tests/data/proc-nvme \
	tests/data/proc-xvda
