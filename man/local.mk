# SPDX-License-Identifier: MIT
# man
dist_man_MANS += man/buildbeat-check.1
dist_man_MANS += man/buildbeat-archive.1 man/buildbeat-archive.5
dist_man_MANS += man/buildbeat-diff.1 man/buildbeat-history.1
dist_man_MANS += man/buildbeat.1 man/buildbeat-record.1 man/buildbeat-task.1 man/buildbeat-doctor.1 \
	man/buildbeat.yaml.5 man/buildbeat-recording.5 man/buildbeat-inspection.5
dist_man_MANS += man/buildbeat-import.1 man/buildbeat-export.1
dist_man_MANS += man/buildbeat-chart.1 man/buildbeat-show.1 man/buildbeat-list.1 man/buildbeat-log.1 man/buildbeat-profile.1 man/buildbeat-advise.1 man/buildbeat-whatif.1 man/buildbeat-inspect.1
dist_man_MANS += man/buildbeat-plugin.3
dist_man_MANS += man/buildbeat-report.1
dist_man_MANS += man/buildbeat-bitbake.7
dist_man_MANS += man/buildbeat-prune.1 man/buildbeat-span.1
dist_man_MANS += man/buildbeat-ps.1 man/buildbeat-ci.7
dist_man_MANS += man/buildbeat-api.7
dist_man_MANS += man/buildbeat-top.1
dist_man_MANS += man/buildbeat-serve.1
dist_man_MANS += man/buildbeat-attach.1
