# SPDX-License-Identifier: MIT
# Write messages.yaml as C: a text with a line "KIND<tab>TOOL<tab>TEMPLATE" for each template. It reads the
# YAML that we write there, a list item a line; a test compares it with what libyaml reads.
# Usage: awk -f messages.awk messages.yaml
function text(s) {
	q = substr(s, 1, 1)
	if (q == "'" || q == "\"")
		s = substr(s, 2, length(s) - 2)
	if (q == "'")
		gsub(/''/, "'", s)
	return s
}

BEGIN {
	print "#include \"analyse/shipped_messages.h\"\n\nconst char shipped_messages[] ="
}

/^  - tool: / { tool = text(substr($0, 11)) }

/^    [a-z]+:$/ { kind = substr($1, 1, length($1) - 1) }

/^      - / {
	line = text(substr($0, 9))
	gsub(/[\\"]/, "\\\\&", line)
	print "\t\"" kind "\\t" tool "\\t" line "\\n\""
}

END { print ";" }
