/* SPDX-License-Identifier: MIT */
/*
 * A build is the same with and without the plugin: output, exit status and files are
 * compared byte by byte, as the launcher loads it (MAKEFILES) and as a Makefile does
 * (-load), in every installed make. The recording has the right names.
 */
#include "base/array.h"
#include "tests/make_host.h"
#include "tests/support.h"

struct scene {
	const char *what;
	const char *setup;	/* shell, in the build's directory; may be NULL */
	const char *makefile;	/* from its second line on */
	const char *args;
	const char *before;	/* before make on the command line, or NULL */
	const char *makefiles;	/* the user's own MAKEFILES, or NULL */
	const char *tasks;	/* see tasks_summary(); NULL: not compared */
	bool dry;		/* without the launcher nothing is recorded */
	bool odd;		/* directories with odd names */
	const char *tasks_loaded;	/* where it differs with -load */
};

static const struct scene scenes[] = {
	{ .what = "plain", .args = "",
	  .makefile = "all: a b\n\t@echo all\na:\n\techo a > a\nb: a\n\tcat a; cp a b\n",
	  .tasks = "a+ b+ all+" },
	{ .what = "nothing to do", .args = "", .setup = "touch a",
	  .makefile = "a:\n\techo a\n", .tasks = "" , .dry = true },
	{ .what = "-n", .args = "-n", .dry = true,
	  .makefile = "all: a\n\t@echo all\na:\n\techo a\n\t+@echo plus\n", .tasks = "a+" },
	{ .what = "-q", .args = "-q", .dry = true,
	  .makefile = "a:\n\techo a > a\n", .tasks = "" },
	{ .what = "-t", .args = "-t", .dry = true,
	  .makefile = "all: a b\na:\n\techo a\nb:\n\t+echo b\n\techo no\n", .tasks = "b+" },
	{ .what = "-k", .args = "-k",
	  .makefile = "all: a b\n\t@echo all\na:\n\tfalse\nb:\n\techo b\n", .tasks = "a- b+" },
	{ .what = "-i", .args = "-i",
	  .makefile = "all: a\n\t@echo all\na:\n\tfalse\n\texit 3;\n", .tasks = "a- a- all+" },
	{ .what = "-s", .args = "-s",
	  .makefile = "a:\n\techo a\n\t@echo b\n", .tasks = "a+ a+" },
	{ .what = "--trace", .args = "--trace",
	  .makefile = "a: b\n\t@echo a\nb:\n\ttouch b\n", .tasks = "b+ a+" },
	{ .what = "-O", .args = "-O -j2",
	  .makefile = "a: b c\n\t@echo a; echo A >&2\nb:\n\t@sleep 0.1; echo b; echo B >&2\n"
		      "c: b\n\t@echo c\n",
	  .tasks = "b+ c+ a+" },
	{ .what = "-Oline", .args = "-Oline -j3",
	  .makefile = "a: b\n\t@echo a; echo A >&2\n\t@echo $(shell echo x)\nb:\n\t@echo b\n",
	  .tasks = "b+ a!+ a+ a+" },
	{ .what = "-j and files", .args = "-j3",
	  .makefile = "all: $(foreach i,1 2 3 4 5 6 7 8,f$i)\n\t@cat f*\nf%:\n\t@echo $@ > $@\n" },
	{ .what = "jobserver", .args = "-j3", .setup = "mkdir sub",
	  .makefile = "all:\n\t@+$(MAKE) --no-print-directory -f sub.mk\n\t@echo end\n"
		      "$(file >sub.mk,x: y z; @cat y z)$(file >>sub.mk,y z:; @echo $$@ > $$@)\n" },
	{ .what = ".ONESHELL", .args = "",
	  .makefile = ".ONESHELL:\na: b\n\t@cd /\n\tpwd\nb:\n\tx=1\n\techo $$x\n",
	  .tasks = "b+ a+" },
	{ .what = ".RECIPEPREFIX", .args = "",
	  .makefile = ".RECIPEPREFIX = >\na: b\n>@echo a\nb:\n>echo b;\\\n>echo c\n",
	  .tasks = "b+ a+" },
	{ .what = ".EXPORT_ALL_VARIABLES", .args = "V=1",
	  .makefile = ".EXPORT_ALL_VARIABLES:\nX = $@x\nY := y\n"
		      "a:\n\t@env | grep -v -e ^MAKEFILES= -e ^_= -e ^MAKEPARENT_PID= | LC_ALL=C sort\n"
		      "\t@env | grep -c ^IFS\n",
	  .tasks = "a+ a-" },
	{ .what = "env", .args = "",
	  .makefile = "export Z := $(shell echo z)\n"
		      "a:\n\t@env | grep -v -e ^MAKEFILES= -e ^_= -e ^MAKEPARENT_PID= | LC_ALL=C sort\n",
	  .tasks = "echo z!+ a+" },
	{ .what = "descriptors", .args = "-j2",
	  .makefile = "a:\n\t@+ls -l /proc/self/fd | grep -v -e /proc/ -e total | wc -l\n"
		      "\t@ulimit -a; umask; pwd; trap\n", .tasks = "a+ a+" },
	{ .what = "match anything", .args = "top",
	  .makefile = "%:\n\t@echo making $@\n\n%: %.in\n\t@cp $< $@; echo from $<\n",
	  .setup = "echo x > top.in" },
	{ .what = "match anything makes makefiles", .args = "",
	  .makefile = "include gen.mk\nall: ; @echo $(G)\n%.mk:\n\t@echo 'G := g' > $@\n"
		      "%::\n\t@echo any $@\n" },
	{ .what = "remade makefile", .args = "",
	  .makefile = "-include gen.mk\nall:\n\t@echo $(G) $(MAKE_RESTARTS) $(words $(MAKEFILE_LIST))\n"
		      "gen.mk:\n\t@echo 'G := g' > $@\n\t@echo made\n",
	  .tasks = "gen.mk+ gen.mk+ all+" },
	{ .what = "remade twice and -j", .args = "-j2",
	  .makefile = "-include g1.mk\n-include g2.mk\nall:\n\t@echo $(G)$(H) $(MAKE_RESTARTS)\n"
		      "g1.mk:\n\t@echo 'G := g' > $@\n"
		      "g2.mk: g1.mk\n\t@echo 'H := $(G)h' > $@\n" },
	{ .what = "grouped targets", .args = "a b",
	  .makefile = "a b &: c\n\ttouch a b\nc:\n\ttouch c\n", .tasks = "c+ a+" },
	{ .what = "failing", .args = "",
	  .makefile = "all: a\na:\n\t-false\n\t@exit 7;\n\t@echo never\n", .tasks = "a- a-" },
	{ .what = "missing command", .args = "",
	  .makefile = "all: a\na:\n\t-nosuchcommand x\n\t@nosuchcommand x > y\n",
	  .tasks = "a- a-" },
	{ .what = "not executable", .args = "", .setup = "echo x > cmd; mkdir d",
	  .makefile = "all: a\na:\n\t-./cmd\n\t-./d\n\t./nothere\n", .tasks = "a- a- a-" },
	{ .what = "script without #!", .args = "", .setup = "echo 'echo hello' > cmd; chmod +x cmd",
	  .makefile = "a:\n\t./cmd\n\t@echo after\n", .tasks = "a+ a+" },
	{ .what = "killed command", .args = "",
	  .makefile = "a:\n\t@kill -9 $$$$\n", .tasks = "ax" },
	{ .what = "SIGTERM", .args = "",
	  .makefile = "a: b\nb:\n\t@touch b; kill -TERM $$PPID; exec sleep 5\n", .tasks = "bx" },
	{ .what = "^C", .args = "", .before = "setsid -w",
	  .makefile = "a: b\nb:\n\t@touch b; trap '' INT; kill -INT 0; sleep 0.2\n", .tasks = "b+" },
	{ .what = "SHELL := bash", .args = "",
	  .makefile = "SHELL := /bin/bash\na:\n\t@echo {1,2}\n\techo $$SHELL $(SHELL) $(origin SHELL)\n",
	  .tasks = "a+ a+" },
	{ .what = "SHELL of a target", .args = "",
	  .makefile = "b: SHELL := /bin/bash\na: b\n\t@echo {1,2}\nb:\n\t@echo {1,2}\n"
		      "c := $(shell echo c)\n", .tasks = "echo c!+ b+ a+" },
	{ .what = ".SHELLFLAGS", .args = "",
	  .makefile = ".SHELLFLAGS := -eu -c\na:\n\t@false; echo on\n", .tasks = "a-" },
	{ .what = "SHELL that is no shell", .args = "",
	  .makefile = "SHELL := /bin/echo\n.SHELLFLAGS := -x\na:\n\t@one two\n", .tasks = "a+" },
	{ .what = "MAKEFILE_LIST", .args = "", .setup = "echo 'I := $(MAKEFILE_LIST)' > inc.mk",
	  .makefile = "$(info [$(MAKEFILE_LIST)])\ninclude inc.mk\n$(info [$(I)])\n"
		      "$(info [$(firstword $(MAKEFILE_LIST))] [$(lastword $(MAKEFILE_LIST))])\n"
		      "a:\n\t@echo '$(MAKEFILE_LIST)' '$(.DEFAULT_GOAL)' '$(MAKEFLAGS)'\n",
	  .tasks = "a+" },
	{ .what = "$(shell)", .args = "",
	  .makefile = "X := $(shell echo x; echo e >&2)\nY = $(shell cat b)\n"
		      "Z != echo z; exit 3\na: b\n\t@echo $(X) $(Y) $(Z) '$(.SHELLSTATUS)'\n"
		      "b:\n\t@echo in b > b\nQ := $(shell nosuchcommand)\n",
	  .tasks = "echo x!+ echo z!- !- b+ a!+ a+" },
	{ .what = "IFS in the environment", .args = "", .before = "env IFS=,",
	  .makefile = "a:\n\t@echo one\n\t@echo '$(IFS)'; printenv IFS\n",
	  .tasks = "a+ a+" },
	{ .what = "IFS on the command line", .args = "IFS=x", 
	  .makefile = "a: b\n\t@echo '$(IFS)'\nb:\n\t@printenv IFS; echo '$(MAKEFLAGS)'\n",
	  .tasks = "b+ a+" },
	{ .what = "IFS in the Makefile", .args = "",
	  .makefile = "IFS := ,\na: b\n\t@echo '$(IFS)' $(origin IFS)\nb: c\n\t@echo $(subst $(IFS), ,a,b)\n"
		      "c:\n\t@echo '$(value IFS)'\n",
	  .tasks = "c+ b+ a+" },
	{ .what = "IFS of a target", .args = "",
	  .makefile = "a: override IFS := ,\na: b\n\t@echo '$(IFS)'\nb: c\n\t@echo b; echo $(SHELL)\n"
		      "c: d\n\t@env | grep ^SHELL=; echo '$(IFS)'\nd:\n\t@echo d\n",
	  .tasks = "d+ c+ b+ a+" },
	{ .what = "IFS is not there", .args = "-f in.mk -f Makefile", .setup = "echo 'ifdef IFS' > in.mk; "
		   "echo '$(info set)' >> in.mk; echo endif >> in.mk",
	  .makefile = "$(info [$(origin IFS)] [$(flavor IFS)] [$(value IFS)] [$(filter %IFS,$(.VARIABLES))])\n"
		      "IFS ?= ,\n$(info [$(origin IFS)] [$(IFS)])\n"
		      "a: b\n\t@echo '$(origin IFS)' '$(IFS)'; printenv IFS\nb:\n\t@echo $(flavor IFS); env | grep ^IFS\n",
	  .tasks = "b-" },
	{ .what = "IFS is not there in a recipe", .args = "-k",
	  .makefile = "all: a b c d\na:\n\t@echo '[$(origin IFS)] [$(flavor IFS)] [$(value IFS)]' '$(if $(IFS),yes,no)'\n"
		      "b: ; @echo '$(filter %IFS,$(.VARIABLES))' '$(words $(.VARIABLES))'\n"
		      "c:\n\t@env | grep ^IFS\nd:\n\t@echo $(shell env | grep ^IFS)\n",
	  .tasks = "a+ b+ c- d!- d+" },
	{ .what = "IFS of a pattern", .args = "a.x b",
	  .makefile = "%.x: IFS = ,\n%: IFS ?= ;\n%.x: c\n\t@echo '$(IFS)' '$(origin IFS)'\n"
		      "b c:\n\t@echo '$(IFS)' '$(origin IFS)'\n",
	  .tasks = "c+ a.x+ b+" },
	{ .what = "IFS of a target, for what it needs", .args = "",
	  .makefile = "a: IFS = ,\na: private P = p\na: b c\n\t@echo '$(IFS)'\nb:\n\t@echo '$(IFS)'\n"
		      "c: IFS += ;\nc: d\n\t@echo '$(IFS)'; echo '$(P)'\nd: undefine IFS\nd:\n\t@echo '$(IFS)'\n" },
	{ .what = "IFS exported", .args = "",
	  .makefile = "export IFS = ,\na: b\n\t@printenv IFS\nb: IFS = ;\nb:\n\t@printenv IFS\n"
		      "\t@sh -c 'a=x,y; set -- $$a; echo $$#'\n",
	  .tasks = "b+ b+ a+" },
	{ .what = "IFS exported and not set", .args = "",
	  .makefile = "export IFS\nexport\na:\n\t@env | grep ^IFS\n", .tasks = "a+" },
	{ .what = "IFS set with override", .args = "IFS=c",
	  .makefile = "override IFS := ,\na: b\n\t@echo '$(IFS)' '$(origin IFS)'; printenv IFS\n"
		      "b:\n\t@echo one\n\techo two\n", .tasks = "b+ b+ a-" },
	{ .what = "IFS and -e", .args = "-e", .before = "env IFS=,",
	  .makefile = "IFS = ;\na: b\n\t@echo '$(IFS)' '$(origin IFS)'\nb:\n\t@echo b; printenv IFS\n",
	  .tasks = "b+ a+" },
	{ .what = "several lines and -j", .args = "-j4 2>/dev/null | LC_ALL=C sort",
	  .makefile = "T := $(foreach i,1 2 3 4 5 6 7 8 9,t$i)\nall: $(T)\n\t@cat $(T)\n"
		      "$(T):\n\t@echo $@ >$@\n\t@echo $@ >>$@; :\n\t@:\n\t@sleep 0.01\n"
		      "\t@echo $$NOT $@ >>$@\n" },
	{ .what = "::, several lines", .args = "a",
	  .makefile = "a:: b\n\t@echo one\n\t@echo two; true\na::\n\t@echo three\n\t@nosuch\n"
		      "b::\n\t-@nosuch\n\t-@nosuch\n\t@echo b\n",
	  .tasks = "b- b- b+ a+ a+ a+ a-" },
	{ .what = "MAKEFILES of a target", .args = "",
	  .makefile = "a b c: MAKEFILES = $@.mk\nall: d a b c\n\t@echo all\n\t@echo all, too\n"
		      "a b c: d\n\t@echo $@; printenv MAKEFILES\n\t@echo $@ $@\nd:\n\t@echo d\n\t@echo d d\n" },
	{ .what = "MAKEFILES set in the Makefile", .args = "",
	  .makefile = "MAKEFILES := x\na: b\n\t@printenv MAKEFILES\n\t@echo a\nb: c\n\t@echo '$(MAKEFILES)'\n"
		      "c:\n\t@echo c\n\t@nosuch c || :\n",
	  .tasks = "echo c+ c+ b+ a+ a+" },
	{ .what = "MAKEFILES not exported", .args = "",
	  .makefile = "unexport MAKEFILES\na: b\n\t@printenv MAKEFILES\nb: c\n\t@echo b\nc:\n\t@echo c\n",
	  .tasks = "echo c+ b+ a-" },
	{ .what = "MAKEFILES and -e", .args = "-e",
	  .makefile = "a: b\n\t@echo a\nb:\n\t@echo b\n\t@echo $(origin X)\n", .tasks = "b+ b+ a+" },
	{ .what = "$(shell) in recipes", .args = "",
	  .makefile = "a: b\n\t@echo $(shell echo x) $(shell cat b)\n\t@echo $(shell nosuchcommand)end\n"
		      "b:\n\t@echo $(shell echo 1)$(info [$(shell echo 2)]) > b\n",
	  .tasks = "b!+ b!+ b+ a!+ a!+ a!- a+ a+" },
	{ .what = "$(shell) in a deferred value", .args = "",
	  .makefile = ".SECONDEXPANSION:\nV = $(shell echo $@.v)\nexport E = $(shell echo $@.e)\n"
		      "a: $$(V)\n\t@echo '$(V)' $^; printenv E\n%.v:\n\t@echo $@ '$(V)'; printenv E\n" },
	{ .what = "-p", .args = "-p -rR | grep -v -e '^# Make data base' -e '^# Finished' -e MAKEFILES | grep -c IFS",
	  .makefile = "a:\n\t@echo a\n" },
	{ .what = ".POSIX", .args = "",
	  .makefile = ".POSIX:\na: b\n\t@false; echo on\nb:\n\techo b\n", .tasks = "b+ a-" },
	{ .what = "::", .args = "",
	  .makefile = "a:: b\n\t@echo one\na:: c\n\t@echo two\nb c:\n\t@echo $@\n",
	  .tasks = "b+ a+ c+ a+" },
	{ .what = "recursion", .args = "",
	  .setup = "mkdir s s/t; printf 'all:\\n\\t$(MAKE) -C t\\n\\t@echo s\\n' > s/Makefile;"
		   "printf 'all:\\n\\t@echo t $(MAKELEVEL) $(MAKEFLAGS)\\n' > s/t/Makefile",
	  .makefile = "a:\n\t$(MAKE) -C s\n\t@echo a\n", .tasks = "a+ all+ all+ all+ a+" },
	{ .what = "recursion without $(MAKE)", .args = "-j2",
	  .setup = "mkdir s; printf 'all:\\n\\t@echo s $(MAKELEVEL)\\n' > s/Makefile",
	  .makefile = "a:\n\tcd s && make\n\t@echo a\n", .tasks = "a+ all+ a+" },
	{ .what = "recursion that fails", .args = "-k",
	  .setup = "mkdir s; printf 'all: x y\\nx:\\n\\tfalse\\ny:\\n\\t@echo y\\n' > s/Makefile",
	  .makefile = "all: a b\na:\n\t$(MAKE) -C s\nb:\n\t@echo b\n", .tasks = "a- x- y+ b+" },
	{ .what = "dry recursion", .args = "-n", .dry = true,
	  .setup = "mkdir s; printf 'all:\\n\\techo s\\n' > s/Makefile",
	  .makefile = "a:\n\t$(MAKE) -C s\n\techo a\n", .tasks = "a+" },
	{ .what = "make in $(shell)", .args = "",
	  .setup = "printf 'all:\\n\\t@echo s\\n' > s.mk",
	  .makefile = "X := $(shell make -f s.mk)\na:\n\t@echo $(X)\n",
	  .tasks = "make!+ all+ a+", .tasks_loaded = "make!+ a+" },
	{ .what = "MAKEFILES of the user's", .args = "", .makefiles = "pre.mk none.mk",
	  .setup = "echo 'P := $(MAKEFILE_LIST)' > pre.mk",
	  .makefile = "a:\n\t@echo '$(P)' '$(MAKEFILE_LIST)'\n", .tasks = "a+" },
	{ .what = "--warn-undefined-variables", .args = "--warn-undefined-variables",
	  .makefile = "X := $(shell echo x)\na: b\n\t@echo $(NOT)$(X)\nb:\n\t@$(MAKE) -n nothing || echo b\n" },
	{ .what = "-e -rR", .args = "-e -rR", .before = "env X=env CFLAGS=none",
	  .makefile = "X := file\na: b.o\n\t@echo $(X) $(CFLAGS) $(CC)\nb.o:\n\t@echo $@ $(origin X)\n",
	  .tasks = "b.o+ a+" },
	{ .what = "VPATH", .args = "", .setup = "mkdir src; echo one > src/a.in",
	  .makefile = "VPATH = src\nall: a.out\n%.out: %.in\n\t@cp $< $@; echo $^ $?\n",
	  .tasks = "a.out+" },
	{ .what = "implicit rules", .args = "x.o",
	  .setup = "echo 'int x;' > x.c", .makefile = "CC = echo cc\n", .tasks = "x.o+" },
	{ .what = "archive", .args = "lib.a(x.o)", .setup = "echo x > x.o",
	  .makefile = "AR = echo ar\nARFLAGS = r\n" },
	{ .what = "secondary expansion", .args = "",
	  .makefile = ".SECONDEXPANSION:\na: $$(addsuffix .x,$$@)\n\t@echo $^\na.x:\n\t@echo $@\n",
	  .tasks = "a.x+ a+" },
	{ .what = "intermediate files", .args = "", .setup = "echo a > a.1",
	  .makefile = "all: a.3\n%.2: %.1\n\tcp $< $@\n%.3: %.2\n\tcp $< $@\n" },
	{ .what = "$(eval) and define", .args = "",
	  .makefile = "define R\n$(1): ; @echo $(1) '$$@'\nendef\n$(foreach t,a b,$(eval $(call R,$t)))\n"
		      "all: a b\n\t@$(eval V := v)echo $(V)\n.DEFAULT_GOAL := all\n",
	  .tasks = "a+ b+ all+" },
	{ .what = "no makefile", .args = "-f none.mk", .makefile = "x:\n", .dry = true },
	{ .what = "syntax error", .args = "", .makefile = "a:\n\t@echo a\nfoo bar\n", .dry = true },
	{ .what = "no rule", .args = "", .makefile = "a: b\n\t@echo a\n", .dry = true },
	{ .what = "$(error)", .args = "", .makefile = "a:\n\t@echo $(error stop)\n", .dry = true },
	{ .what = "names with odd bytes", .args = "",
	  .makefile = "all: a@b c\\#d e=f 'g \xc3\xa9\na@b c\\#d 'g \xc3\xa9:\n\t@echo \"$@\"\n"
		      "E := e=f\n$(E):\n\t@echo x\n",
	  .tasks = "a@b+ c#d+ e=f+ 'g+ \xc3\xa9+" },
	{ .what = "odd directories", .args = "", .odd = true,
	  .setup = "mkdir s; printf 'all:\\n\\t@echo s $(CURDIR)\\n' > s/Makefile",
	  .makefile = "a: ; @echo $(CURDIR); $(MAKE) -C s\n", .tasks = "a+ all+" },
	{ .what = "stdin is read", .args = "< in -j2", .setup = "printf 'one\\ntwo\\n' > in",
	  .makefile = "a:\n\t@+cat\n", .tasks = "a+" },
	{ .what = "makefile from stdin", .args = "-f - < Makefile",
	  .makefile = "a:\n\t@echo a\n", .tasks = "a+" },
	{ .what = "long names and lists", .args = "",
	  .makefile = "L := $(foreach i,0 1 2 3 4 5 6 7 8 9,$(foreach j,0 1 2 3 4 5 6 7 8 9,"
		      "a-rather-long-prerequisite-name-of-which-there-are-many-$i$j))\n"
		      "all: $(L)\n\t@echo $(words $^)\n$(L):\n" , .tasks = "all+" },
};

static const char *const makes[] = { "make", "remake" };

#define N_SCENES ((int)ARRAY_SIZE(scenes))
#define N_MAKES ((int)ARRAY_SIZE(makes))

struct outcome {
	struct run run;
	struct run files;	/* every file afterwards, and its content */
};

/* Always in the same directory, so that texts with paths compare. */
static void build(struct outcome *o, const struct scene *scene, const char *tool,
		  const char *first_line, const char *makefiles)
{
	const char *dir = support_path("%s/%s", support_tmpdir(),
				       scene->odd ? "wo rk $#:%" : "work");
	const char *assign = makefiles ? support_path("MAKEFILES='%s'", makefiles) : "";
	struct buf text = BUF_INIT;

	buf_addf(&text, "%s\n%s", first_line, scene->makefile);
	support_writes(support_path("%s/Makefile", support_tmpdir()), buf_str(&text));
	buf_release(&text);
	support_expect(NULL, 0, NULL, NULL,
		       "rm -rf '%s' && mkdir '%s' && cd '%s' && mv ../Makefile . && { %s; }",
		       dir, dir, dir, scene->setup ? scene->setup : ":");
	support_run(&o->run, dir, "unset MAKEFLAGS MAKELEVEL MAKEFILES MFLAGS;"
		    "BUILDBEAT_OUTPUT='%s/loaded' %s %s %s %s",
		    support_tmpdir(), assign, scene->before ? scene->before : "", tool, scene->args);
	support_run(&o->files, dir, "ls -AR; LC_ALL=C grep -ar --exclude=Makefile '' . | LC_ALL=C sort");
}

static void compare(const struct scene *scene, const char *how, const struct outcome *plain,
		    const struct outcome *with)
{
	ck_assert_msg(plain->run.status == with->run.status, "%s, %s: status %d, not %d",
		      scene->what, how, with->run.status, plain->run.status);
	ck_assert_msg(!strcmp(plain->run.out.data, with->run.out.data),
		      "%s, %s: stdout\n%.1500s---- not\n%.1500s", scene->what, how,
		      with->run.out.data, plain->run.out.data);
	ck_assert_msg(!strcmp(plain->run.err.data, with->run.err.data),
		      "%s, %s: stderr\n%.1500s---- not\n%.1500s", scene->what, how,
		      with->run.err.data, plain->run.err.data);
	ck_assert_msg(!strcmp(plain->files.out.data, with->files.out.data),
		      "%s, %s: files\n%.1500s---- not\n%.1500s", scene->what, how,
		      with->files.out.data, plain->files.out.data);
}

static void compare_tasks(const struct scene *scene, const char *how, const char *dir,
			  const char *tasks)
{
	struct buf told;
	bool any = tasks_summary(&told, dir);

	if (tasks)
		ck_assert_msg(!strcmp(any ? told.data : "", tasks), "%s, %s: tasks [%s], not [%s]",
			      scene->what, how, any ? told.data : "no recording", tasks);
	buf_release(&told);
}

static void check_launched(const struct scene *scene, const char *tool,
			   const struct outcome *plain)
{
	const char *name = scene->odd ? "re c'$#:%\t" : "launched";
	struct outcome with;
	struct fixture f;

	fixture_begin(&f, support_tmpdir(), scene->odd ? "re c$#:%\t" : name, 0,
		      scene->makefiles, NULL);
	build(&with, scene, tool, "# by itself", f.makefiles.data);
	compare(scene, "MAKEFILES", plain, &with);
	compare_tasks(scene, "MAKEFILES", f.store.path, scene->tasks);
	fixture_end(&f);
}

static void check_loaded(const struct scene *scene, const char *tool,
			 const struct outcome *plain)
{
	const char *dir = support_path("%s/loaded/latest", support_tmpdir());
	const char *tasks = scene->tasks_loaded ? scene->tasks_loaded : scene->tasks;
	struct outcome with;

	build(&with, scene, tool, "-load " PLUGIN, scene->makefiles);
	compare(scene, "-load", plain, &with);
	if (scene->dry)
		ck_assert_msg(!support_exists(dir), "%s: there is a recording", scene->what);
	else
		compare_tasks(scene, "-load", dir, tasks);
}

TEST_LOOP(transparent, N_SCENES * N_MAKES)
{
	const struct scene *scene = &scenes[_i % N_SCENES];
	const char *tool = makes[_i / N_SCENES];
	struct outcome plain;

	SKIP_IF(!support_has(tool));
	build(&plain, scene, tool, "# by itself", scene->makefiles);
	check_launched(scene, tool, &plain);
	check_loaded(scene, tool, &plain);
}

TEST_PROGRAM(make_transparent)
{
	SKIP_PROGRAM_IF(!make_host_can());
	return support_main();
}
