# SPDX-License-Identifier: MIT
# A sorted list of words -> a C function that finds them by bisection.
BEGIN {
	print "#include \"ix.h\"\n\n#include <string.h>\n"
	print "static const char *const words[] = {"
}
{ print "\t\"" $1 "\"," }
END {
	print "};\n"
	print "bool ix_is_stopword(const char *word)\n{"
	print "\tsize_t low = 0, high = sizeof words / sizeof *words;\n"
	print "\twhile (low < high) {"
	print "\t\tsize_t middle = (low + high) / 2;"
	print "\t\tint order = strcmp(word, words[middle]);\n"
	print "\t\tif (!order)\n\t\t\treturn true;"
	print "\t\tif (order < 0)\n\t\t\thigh = middle;"
	print "\t\telse\n\t\t\tlow = middle + 1;"
	print "\t}\n\treturn false;\n}"
}
