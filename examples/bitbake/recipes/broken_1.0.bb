# SPDX-License-Identifier: MIT
# How tasks end badly: bitbake -k broken killed stale
do_compile() {
	echo "no rule to make this"
	exit 3
}
