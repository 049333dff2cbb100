# SPDX-License-Identifier: MIT
# Write a text file as the C string NAME, without indentation, empty lines and comments that have lines
# of their own or follow a tab; and of scripts, without the blanks beside operators.
# A line "/* DIRECTORY/FILE.js */", or FILE.css, stands for the content of that file.
# Usage: awk -v dir=SRCDIR -v name=NAME -v file=FILE [-v keep=1] -f c_string.awk
# keep: all of it, for text whose lines are counted.
# Not beside '>': "]]>" ends the script of a picture.
function dense(line) {
	gsub(/, /, ",", line)
	gsub(/; /, ";", line)
	gsub(/ \{$/, "{", line)
	gsub(/ = /, "=", line)
	gsub(/ === /, "===", line)
	gsub(/ !== /, "!==", line)
	gsub(/ \+= /, "+=", line)
	gsub(/ && /, "\\&\\&", line)
	gsub(/ \|\| /, "||", line)
	gsub(/ \* /, "*", line)
	gsub(/ \? /, "?", line)
	gsub(/ : /, ":", line)
	gsub(/ < /, "<", line)
	gsub(/if \(/, "if(", line)
	gsub(/for \(/, "for(", line)
	gsub(/while \(/, "while(", line)
	if (line !~ /[-+] ?[-+]/) {
		gsub(/ \+ /, "+", line)
		gsub(/ - /, "-", line)
	}
	return line
}

# The same outside of texts.
function outside(line, part, n, i) {
	n = split(line, part, "\"")
	line = dense(part[1])
	for (i = 2; i <= n; i++)
		line = line "\"" (i % 2 ? dense(part[i]) : part[i])
	return line
}

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
				sub(/\t+\/\*.*\*\/$/, "", line)
				if (file ~ /js$/ && line !~ /['`\/\\]/)
					line = outside(line)
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
