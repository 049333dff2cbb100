# SPDX-License-Identifier: MIT
# The tasks every recipe has. What do_populate_sysroot made is kept below SSTATE_DIR and
# taken from there, by do_populate_sysroot_setscene, if nothing it depends on changed.

do_unpack() {
	mkdir -p "${B}"
}
addtask unpack

do_compile() {
	:
}
do_compile[dirs] = "${B}"
do_compile[deptask] = "do_populate_sysroot"
addtask compile after do_unpack

do_populate_sysroot() {
	mkdir -p "${SYSROOT}" "${SSTATE_DIR}"
	if [ -d "${B}/sysroot" ]; then
		cp -r "${B}/sysroot/." "${SYSROOT}"
	else
		mkdir "${B}/sysroot"
	fi
	tar -C "${B}/sysroot" -cf "${SSTATE_DIR}/${PF}-${BB_TASKHASH}.tar" .
}
addtask populate_sysroot after do_compile

do_populate_sysroot_setscene() {
	mkdir -p "${SYSROOT}"
	tar -C "${SYSROOT}" -xf "${SSTATE_DIR}/${PF}-${BB_TASKHASH}.tar"
}
addtask populate_sysroot_setscene

do_build() {
	:
}
do_build[noexec] = "1"
addtask build after do_populate_sysroot

# Which of the results asked for are there.
def sstate_check(sq_data, d, **kwargs):
    import glob
    import os
    there = os.path.join(d.getVar("SSTATE_DIR"), "*-%s.tar")
    return {tid for tid in sq_data["hash"] if glob.glob(there % sq_data["hash"][tid])}
