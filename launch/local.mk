# SPDX-License-Identifier: MIT
# launch: runs a build and records it
noinst_LIBRARIES += launch/liblaunch.a
launch_liblaunch_a_SOURCES = \
	launch/arm.c launch/arm.h launch/aside.c launch/aside.h launch/capture.c launch/capture.h launch/cache_log.c \
	launch/cache_log.h launch/cache_words.c launch/cache_words.h launch/compiler_cache.c launch/compiler_cache.h launch/find_plugin.c launch/find_plugin.h \
	launch/gitstamp.c launch/gitstamp.h launch/hold.c launch/hold.h launch/inspector.c launch/inspector.h launch/instructions.c launch/instructions.h \
	launch/launch.c launch/launch.h launch/notice.c launch/notice.h launch/oelayout.c \
	launch/oelayout.h launch/pause.c launch/pause.h launch/whereabouts.c launch/whereabouts.h launch/progress.c launch/progress.h launch/relay.c launch/relay.h launch/relay_process.c launch/relay_log.c launch/relay_parts.h launch/relay_pipes.c launch/relay_pool.c launch/relay_pool.h \
	launch/relay_tty.c launch/relay_tty.h launch/serving.c launch/serving.h launch/recorder.c launch/recorder.h launch/repetition.c launch/repetition.h \
	launch/made_files.c launch/made_files.h launch/make_words.c launch/make_words.h launch/results_write.c launch/results_write.h launch/settings.h launch/spanrun.c launch/spanrun.h launch/tasklog.c launch/tasklog.h launch/taskrun.c launch/taskrun.h \
	launch/tracer.c launch/tracer.h launch/witness.c launch/witness.h



