# SPDX-License-Identifier: MIT
# symbols: names of code addresses, in a program of its own, as only that uses libelf and libdw
