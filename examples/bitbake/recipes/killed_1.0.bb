# SPDX-License-Identifier: MIT
# As by the kernel when memory runs out: nothing is left to say anything.
python do_compile() {
    import os
    import signal
    os.kill(os.getpid(), signal.SIGKILL)
}
