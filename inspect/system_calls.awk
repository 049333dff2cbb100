# SPDX-License-Identifier: MIT
# The numbers of system calls, as the preprocessor prints the macros of <sys/syscall.h>, as a C
# function.
BEGIN {
	print "#include \"inspect/system_call.h\"\n"
	print "const char *system_call_name(int64_t number)\n{\n\tswitch (number) {"
}
$1 == "#define" && $2 ~ /^__NR_[a-z0-9_]+$/ && $3 ~ /^[0-9]+$/ && !seen[$3]++ {
	print "\tcase " $3 ": return \"" substr($2, 6) "\";"
}
END {
	print "\tdefault: return NULL;\n\t}\n}"
}
