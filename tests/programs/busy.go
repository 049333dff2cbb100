// SPDX-License-Identifier: MIT

// Threads of its own, each with a stack of its own. more() is in any.go or in cgo.go.
package main

import (
	"fmt"
	"os"
)

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
