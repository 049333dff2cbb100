# SPDX-License-Identifier: MIT
# examples: one small real project a build tool
EXTRA_DIST += \
	examples/make/Makefile \
	examples/make/lib/Makefile \
	examples/make/lib/arena.c \
	examples/make/lib/corpus.c \
	examples/make/lib/index.c \
	examples/make/lib/ix.h \
	examples/make/lib/postings.c \
	examples/make/lib/rank.c \
	examples/make/lib/stopwords.awk \
	examples/make/lib/stopwords.txt \
	examples/make/lib/store.c \
	examples/make/lib/table.c \
	examples/make/lib/token.c \
	examples/make/lib/varint.c \
	examples/make/src/Makefile \
	examples/make/src/ixbuild.c \
	examples/make/src/ixcorpus.c \
	examples/make/src/ixquery.c \
	examples/make/data/Makefile \
	examples/make/test/Makefile
EXTRA_DIST += examples/make/annotated.svg examples/make/bootchart.svg
EXTRA_DIST += examples/host/host.c
EXTRA_DIST += \
	examples/automake/Makefile.am \
	examples/automake/configure.ac \
	examples/automake/lib/Makefile.am \
	examples/automake/src/Makefile.am \
	examples/bitbake/classes/base.bbclass \
	examples/bitbake/conf/bitbake.conf \
	examples/bitbake/conf/multiconfig/small.conf \
	examples/bitbake/recipes/broken_1.0.bb \
	examples/bitbake/recipes/index_1.0.bb \
	examples/bitbake/recipes/ixtools_1.0.bb \
	examples/bitbake/recipes/killed_1.0.bb \
	examples/bitbake/recipes/libix_1.0.bb \
	examples/bitbake/recipes/stale_1.0.bb \
	examples/cargo/Cargo.lock \
	examples/cargo/Cargo.toml \
	examples/cargo/ask/Cargo.toml \
	examples/cargo/ask/src/main.rs \
	examples/cargo/index/Cargo.toml \
	examples/cargo/index/build.rs \
	examples/cargo/index/src/lib.rs \
	examples/cmake/CMakeLists.txt \
	examples/meson/meson.build \
	examples/nightly/gitlab-ci.yml \
	examples/nightly/nightly.sh \
	examples/scons/SConstruct \
	examples/script/build.sh
