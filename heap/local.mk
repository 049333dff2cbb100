# SPDX-License-Identifier: MIT
# heap: the shared objects that count the memory of a process, loaded into that process
noinst_HEADERS += heap/heap_env.h heap/image.h heap/unwind.h
