// SPDX-License-Identifier: MIT

// The same, with a C library beside.
package main

// #include <stdlib.h>
// static void more(void) { char *volatile p = malloc(3000); *p = 1; free(p); }
import "C"
import (
	"fmt"
	"os"
)

func more() { C.more() }

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
