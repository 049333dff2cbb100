/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_RENDER_CHART_PACK_CHART_H
#define BUILDBEAT_RENDER_CHART_PACK_CHART_H

#include "base/buf.h"
#include "render/chart/chart.h"

/*
 * The data of a chart for its script: a line of JSON, a newline, then columns of
 * numbers and texts in characters that need no escaping.
 *
 * JSON, all times but those named _us in units:
 *	tasks		how many ran
 *	host, recipes	the outermost build tool, "make", or ""; are its tasks those of recipes
 *	cores, cpu_us	of the machine (null: not known), CPU time of the build
 *	step_us		all times of tasks are multiples of it: 1, 10 ... 1000000
 *	critical_us	time in the tasks of "path"
 *	has_dependencies, dependency_us	see analyse/chain.h; null: not known
 *	bound		where it takes dependency_us at least, "on free cores"
 *	facts		label (null: the headline), text, alarm
 *	verdict		the sentences of analyse/answer.h: about, text, from, until (null: the
 *			whole build), task (null: none)
 *	kinds, tools, rows
 *	archives, inspected	only with inspected processes: what is before their paths in a
 *			link; lists of task, program, pid, number of snapshots (null: not
 *			known) and path of the archive in the recording
 *	running, instances	only with chart_input.served: the build still runs; ids of
 *			instances
 *	ghost		the build to compare with, or null: tasks, lanes, wall_us, common,
 *			only_here, only_there, warning; scale: label and colour of each enum
 *			difference; top: what differs most: task and other, null where it is not,
 *			change_us
 *	panels		the ticks of an axis are [value, label]
 *	numbers, texts	the columns in the order in which they follow: lists of [name, type,
 *			how many] and of [name, bytes]
 * Nothing in it is '<', '>' or '&': they are \u003c and so on. The bytes are
 * "packed": those of the numbers, then of a raw deflate stream (RFC 1951) of
 * all texts, written 13 bits a pair of characters of 91: 23 % more than the bytes.
 * (Deflating the numbers would take longer than all the rest and save little.)
 *
 * A column of numbers comes in blocks of 64 (the last may be shorter): the smallest,
 * LEB128; the width in bits of the differences to it, a byte; the differences, the
 * lowest bit first, filled up to a byte. A width + 128 means that some differences are
 * larger: how many, a byte, follows, then of each its place in the block, a byte, and
 * what is above the width, LEB128. What they are when unpacked:
 *	u	unsigned numbers
 *	s	signed numbers, zigzag
 *	d	changes since the number before (0 at first), zigzag
 * A column without any number but 0 is not there: how many is 0. A text is ended by
 * a newline.
 *
 * Times are in units of unit_us, the smallest of 1, 10, 100 ... in which the
 * build has less than 2^26; so that they add up, the end of a task is start + wall of
 * the rounded values. Times
 * of CPU are in microseconds. Sizes are in KiB, those of files in bytes. Below 1000
 * they are as they are. A larger one is v * 1024^i with v below 999.5. Its code is
 * 1000 + (i - 1) * 3700, plus floor(100 v) if v < 10, 900 + floor(10 v) if v < 100,
 * and 1700 + floor(2 v) otherwise. The middle of the sizes of one code (at least
 * 999.5 / 1024 of the next unit) is within 0.5 %, and all of them are printed alike.
 *
 * Of all tasks that ran, by their start; "task" is the index in this order:
 *	start		since the end of the task before it in its lane; 0 is the
 *			start of the recording
 *	wall
 *	lane, kind	the kind an index into "kinds", which are works (works.h)
 *	marks		enum task_mark
 *	status		of those that failed or were killed alone: exit status, signal
 *	cpu		user and system, + 1; 0: not known; the lower 32 bits, then
 *	cpu_high	the rest
 *	system		of cpu, in the same way, and system_high; 0: not known
 *	memory		the largest, or its upper bound, a size; 0: not known
 *	read, written	of storage, sizes
 *	queued		before its start
 *	ready		how long before its start it was ready (analyse/wait.h):
 *			1 + round(8 * log2(1 + units)), within 5 %; 0: not known
 *	place		1 + an index into places; 0: that of the task before it in its lane
 *	name		0: the next of names not yet seen, else 1 + an index into them
 *	program		that did its work, as its command shows; coded as names, "" is not
 *			known
 *	parent		2 + the task it ran inside, 1: none; 0: that of the task before
 *			it in its lane (at first none)
 *	wait		enum wait; + 16: for the task it runs in, + 32: for the one
 *			before it in its lane, + 48: for the next of before
 *	before		task - the one it waited for, of those alone
 *	ghost_start, ghost_wall	of those the other build has: its less ours
 *	spark_task	tasks with memory over their life, the longest first; then
 *			spark_length: how many levels of each are in spark, in
 *			1/SPARK_FULL of its memory
 *	pulse_task	tasks of which it is known when they computed, the longest first; then
 *			pulse_length: how many levels of each are in pulse, in 1/PULSE_CPU of a
 *			CPU: of equal stretches of its life (pulse.h); of all of it: 1 level
 *	command_task	tasks of which the command is known, the longest first
 *	lines_task	tasks with lines of output on the page CHART_LOG_PAGE; then
 *			lines: how many
 *	path, path_link	what the end of the build waited for, in time's order: tasks, and enum
 *			chain_link to the one before it
 *	dependency	tasks of the longest chain of dependencies, in time's order
 *	tool		an index into "tools"
 *	files		the size of the files that it made, in the recording of --task-files
 *	cache		enum task_cache (recording.h), if it is known of a task
 *	instance, seq	only with chart_input.served: an index into "instances", and the number
 *			in its instance: together the task's id
 *	waited_task	of the longest tasks, those that waited after they were ready; then
 *			waited_worker, _pool, _load, _delayed, _other, _order: how long for what
 *			(analyse/wait.h)
 *	depend_task	of the longest tasks, those that depended on others; then depend_all: on
 *			how many, depend_length: how many of them are in depend, those that
 *			ended last first: task - that one
 *	difference	enum difference (difference.h); only with another build, as all of these:
 *	other_start	of each task of the other build, by start; then other_wall, other_lane
 *	other_task	1 + an index of the same task of ours, 0: none
 *	other_name	of those only: as name
 *	log_task	of each line of "log": the task that wrote it
 *	phase_task	of the (20,000 longest) phases: the task or -1; then start, wall,
 *			name (as of tasks)
 * Of a panel WORD:
 *	WORD.time, WORD.gap	the times; indices of the samples after a gap
 *	WORD.ID		of each band: 0 where it is absent, else 1 + the value in
 *			1/"steps" of its axis
 * The script makes the band "tasks" of "running" of the tasks; only waiting tasks are here.
 * Texts: names, places (directories; "" the build's), programs, phases, commands, log
 * (lines that tasks wrote).
 */

/* 0 or -ENOMEM. */
int pack_chart(struct buf *out, const struct chart *c);

#endif
