# SPDX-License-Identifier: MIT
# Write a text file as the C string NAME, without indentation, empty lines and lines of licence.
# A line "/* DIRECTORY/FILE.js */", or FILE.css, stands for the content of that file.
# Usage: awk -v dir=SRCDIR -v name=NAME -v file=FILE [-v keep=1] -f c_string.awk
# keep: indentation and all lines, for text whose lines are counted.
function add(file, line, word, status) {
	while ((status = getline line <(dir "/" file)) > 0) {
		if (line ~ /^\/\* [a-z_\/]+\.(js|css) \*\/$/) {
			split(line, word, " ")
			add(word[2])
		} else if (keep || line !~ /SPDX-License-Identifier/) {
			if (!keep)
				sub(/^[ \t]+/, "", line)
			gsub(/[\\"]/, "\\\\&", line)
			if (keep || line != "")
				print "\"" line "\\n\""
		}
	}
	if (status < 0) {
		print "cannot read " dir "/" file >"/dev/stderr"
		exit 1
	}
}

BEGIN {
	print "const char " name "[] ="
	add(file)
	print ";"
}
