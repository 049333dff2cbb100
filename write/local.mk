# SPDX-License-Identifier: MIT
# write: documents, and how they are written: terminal, Markdown, HTML, JSON
noinst_LIBRARIES += write/libwrite.a
write_libwrite_a_SOURCES = \
	write/doc.c write/doc.h write/doc_html.c write/doc_json.c write/doc_markdown.c write/doc_terminal.c \
	write/doc_writer.h write/junit.c write/junit.h write/markdown.c write/markdown.h write/markup.c write/markup.h
