# SPDX-License-Identifier: MIT
# rerun: a recorded build under other conditions
noinst_LIBRARIES += rerun/librerun.a
rerun_librerun_a_SOURCES = \
	rerun/advise.c rerun/advise.h rerun/change.c rerun/change.h rerun/model.c rerun/model.h rerun/model_hosts.c rerun/model_parts.h rerun/model_ranks.c rerun/model_ranks.h rerun/simulate.c rerun/simulate.h rerun/curve.c rerun/curve.h rerun/forecast.c rerun/forecast.h
