# SPDX-License-Identifier: MIT
# A result that is there, but no good: bitbake fails in silence and builds it.
python do_populate_sysroot_setscene() {
    raise OSError("not a tar archive")
}
