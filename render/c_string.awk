# SPDX-License-Identifier: MIT
# Write a text file as the C string NAME, without indentation, empty lines and comments that have lines
# of their own.
# A line "/* DIRECTORY/FILE.js */", or FILE.css, stands for the content of that file.
# Usage: awk -v dir=SRCDIR -v name=NAME -v file=FILE [-v keep=1] -f c_string.awk
# keep: all of it, for text whose lines are counted.
function add(file, line, word, status, comment) {
	while ((status = getline line <(dir "/" file)) > 0) {
		if (line ~ /^\/\* [a-z_\/]+\.(js|css) \*\/$/) {
			split(line, word, " ")
			add(word[2])
		} else {
			if (!keep) {
				sub(/^[ \t]+/, "", line)
				comment = comment || line ~ /^\/\*/
				if (comment) {
					comment = line !~ /\*\/$/
					continue
				}
			}
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
