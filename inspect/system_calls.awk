# SPDX-License-Identifier: MIT
# The numbers of system calls, as the preprocessor prints the macros of <sys/syscall.h>, as a C
# function. Where <asm-generic/unistd.h> is used, as on aarch64, some have the number in a macro for
# 32 and 64 bits: "#define __NR3264_fcntl 25".
BEGIN {
	print "#include \"inspect/system_call.h\"\n"
	print "const char *system_call_name(int64_t number)\n{\n\tswitch (number) {"
}
$1 == "#define" && $2 ~ /^__NR(3264)?_[a-z0-9_]+$/ && $3 ~ /^[0-9]+$/ && !seen[$3]++ {
	sub(/^__NR(3264)?_/, "", $2)
	print "\tcase " $3 ": return \"" $2 "\";"
}
END {
	print "\tdefault: return NULL;\n\t}\n}"
}
