# SPDX-License-Identifier: MIT
# write: documents, and how they are written: terminal, Markdown, HTML, JSON
noinst_LIBRARIES += write/libwrite.a
write_libwrite_a_SOURCES = write/markdown.c write/markdown.h write/markup.c write/markup.h
