# SPDX-License-Identifier: MIT
DEPENDS = "ixtools"

do_compile() {
	mkdir -p sysroot
	${SYSROOT}/ixcorpus 400000 1 >part1.txt
	${SYSROOT}/ixcorpus 400000 2 >part2.txt
	${SYSROOT}/ixbuild sysroot/corpus.idx part1.txt part2.txt
}

python do_report() {
    import os
    import subprocess
    sysroot = d.getVar("SYSROOT")
    words = subprocess.run([os.path.join(sysroot, "ixquery"), os.path.join(sysroot, "corpus.idx"),
                            "top", "20"], stdout=subprocess.PIPE, check=True).stdout
    with open(os.path.join(d.getVar("B"), "top.txt"), "wb") as f:
        f.write(words)
}
do_report[dirs] = "${B}"
addtask report after do_populate_sysroot before do_build
