# SPDX-License-Identifier: MIT
DEPENDS = "libix"

do_compile() {
	mkdir -p sysroot
	for program in ixcorpus ixbuild ixquery; do
		cc ${CFLAGS} -I${SYSROOT} -o sysroot/$program ${SOURCE}/src/$program.c ${SYSROOT}/libix.a
	done
}
