# SPDX-License-Identifier: MIT
do_compile() {
	mkdir -p sysroot
	awk -f ${SOURCE}/lib/stopwords.awk ${SOURCE}/lib/stopwords.txt >stopwords.c
	for source in ${SOURCE}/lib/*.c stopwords.c; do
		cc ${CFLAGS} -I${SOURCE}/lib -c $source
	done
	ar rc sysroot/libix.a *.o
	cp ${SOURCE}/lib/ix.h sysroot
}
