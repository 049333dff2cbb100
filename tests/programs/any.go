// SPDX-License-Identifier: MIT

// Threads of its own, each with a stack of its own, and an allocator without the C library.
package main

import (
	"fmt"
	"os"
)

func more() {}

func main() {
	done := make(chan int)
	for i := 0; i < 20; i++ {
		go func() {
			s := [][]byte{}
			for k := 0; k < 200; k++ {
				s = append(s, make([]byte, 1000+k))
				more()
			}
			done <- len(s)
		}()
	}
	sum := 0
	for i := 0; i < 20; i++ {
		sum += <-done
	}
	fmt.Println(sum, os.Args[1:])
	fmt.Fprintln(os.Stderr, "an error")
	os.Exit(3)
}
