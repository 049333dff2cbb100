# SPDX-License-Identifier: MIT
# archive: builds in a git repository
noinst_LIBRARIES += archive/libarchive.a
archive_libarchive_a_SOURCES = \
	archive/archive.h archive/columns.c archive/columns.h archive/commit_count.c \
	archive/commit_count.h archive/fsck.c archive/fsck.h archive/fsck_commits.c \
	archive/fsck_left.c archive/fsck_notes.c archive/fsck_series.c archive/git.h \
	archive/import_oe.c archive/import_oe.h archive/import_oe_run.c \
	archive/import_oe_run.h archive/loose.c archive/loose.h \
	archive/message.c archive/message.h archive/build.c archive/build.h archive/build_read.c \
	archive/build_recording.c archive/build_recording.h archive/build_tasks.c archive/build_tasks.h \
	archive/build_write.c archive/builds_notes.c archive/builds_notes.h archive/builds_read.c archive/notes.c archive/notes.h archive/notes_text.c \
	archive/notes_text.h archive/pack.c archive/pack.h archive/packs.c archive/packs.h \
	archive/pair.c archive/pair.h archive/prune.c archive/ref_lock.c archive/ref_lock.h archive/refs.c archive/remote.c \
	archive/remote.h archive/remote_parts.h archive/remote_send.c archive/remote_settle.c \
	archive/repo.c archive/repo.h archive/repo_create.c archive/rewrite.c archive/rewrite.h archive/seen.c archive/seen.h \
	archive/sync.c archive/sync.h archive/sync_child.c archive/sync_child.h archive/sys.c archive/sys.h archive/union.c archive/union.h \
	archive/url.c archive/url.h archive/writing.c archive/writing.h
