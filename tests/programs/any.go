// SPDX-License-Identifier: MIT

// busy.go with an allocator without the C library.
package main

func more() {}
