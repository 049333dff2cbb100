/* SPDX-License-Identifier: MIT */
#include "sampler/calibration.h"

#include "analyse/values.h"
#include "tests/launched.h"
#include "tests/make_host.h"
#include "tests/recorded.h"

#include <errno.h>
#include <string.h>

/* The speed of the machine: measured, recorded and read. */

START_TEST(measured)
{
	struct calibration c = CALIBRATION_INIT;

	errno = EXDEV;
	calibration_run(&c);
	ck_assert_int_eq(errno, EXDEV);
	ck_assert_int_gt(c.cpu_ns, 0);
	ck_assert_int_gt(c.mhz, 0);
	/* of the shortest loop and of all of them */
	ck_assert_int_gt(c.wall_ns, c.cpu_ns / 2);
}
END_TEST

static const struct {
	struct calibration value;
	const char *lines;
} written[] = {
	{ { 25027, 27603, 3831 }, "calibration_end_cpu_ns: 25027\n"
		"calibration_end_wall_ns: 27603\ncalibration_end_mhz: 3831\n" },
	{ { 1, 2, -1 }, "calibration_end_cpu_ns: 1\ncalibration_end_wall_ns: 2\n" },
	{ CALIBRATION_INIT, "" },
	{ { 0, 0, 0 }, "" },
};

START_TEST(lines)
{
	struct buf b = BUF_INIT;

	calibration_add(&b, "end", &written[_i].value);
	ck_assert_str_eq(buf_str(&b), written[_i].lines);
	buf_release(&b);
}
END_TEST

/* Values of calibration_start_cpu_ns, and what is read. */
static const struct {
	const char *text;
	int64_t cpu_ns;
} values[] = {
	{ "25027", 25027 }, { "1", 1 }, { "1000000000", 1000000000 },
	{ "0", -1 }, { "-5", -1 }, { "1000000001", -1 }, { "9223372036854775807", -1 },
	{ "99999999999999999999999", -1 }, { "", -1 }, { "fast", -1 }, { "25027 ns", -1 },
	{ "2.5", -1 }, { "\t", -1 },
};

START_TEST(read_back)
{
	struct buf b = BUF_INIT;
	struct recorded r;
	struct values v;

	buf_addf(&b, "buildbeat build 1\nend_us: 5000\nstatus: 0\n"
		 "calibration_start_cpu_ns: %s\ncalibration_start_wall_ns: 7\n"
		 "calibration_start_mhz: %s\n", values[_i].text, values[_i].text);
	recorded_make(&r, buf_str(&b), NULL, NULL);
	ck_assert_int_eq(r.sum.host.start.cpu_ns, values[_i].cpu_ns);
	ck_assert_int_eq(r.sum.host.start.wall_ns, 7);
	ck_assert_int_eq(r.sum.host.start.mhz, values[_i].cpu_ns > 100000 ? -1 : values[_i].cpu_ns);
	ck_assert_int_eq(r.sum.host.end.cpu_ns, -1);
	ck_assert_int_eq(values_make(&v, &r.rec), 0);
	ck_assert_int_eq(v.total[TOTAL_HOST_CALIBRATION_START_US], values[_i].cpu_ns);
	ck_assert_int_eq(v.total[TOTAL_HOST_CALIBRATION_END_US], -1);
	values_release(&v);
	recorded_release(&r);
	buf_release(&b);
}
END_TEST

static unsigned lines_of(const char *path)
{
	unsigned n = 0;

	for (const char *p = support_text(path); (p = strstr(p, "\ncalibration_")); p++)
		n++;
	return n;
}

static void is_calibrated(const char *path)
{
	struct recorded r;

	ck_assert_uint_eq(lines_of(support_path("%s/build", path)), 6);
	recorded_read(&r, path);
	ck_assert_uint_eq(r.rec.n_warnings, 0);
	ck_assert_int_gt(r.sum.host.start.cpu_ns, 0);
	ck_assert_int_gt(r.sum.host.end.cpu_ns, 0);
	ck_assert_int_gt(r.sum.host.start.wall_ns, 0);
	ck_assert_int_gt(r.sum.host.end.wall_ns, 0);
	recorded_release(&r);
}

static const char makefile[] =
	"all: own sub; @" BUILDBEAT " task one -- true; " BUILDBEAT " record -- true\n"
	"own: ; @true\n"
	"sub: ; @$(MAKE) -s -f /dev/null --eval='x:;@true'\n";

/* By the process that began the recording, and by no other. */
START_TEST(launched)
{
	if (!make_host_can())
		return;
	support_writes(support_path("%s/Makefile", support_tmpdir()), makefile);
	support_expect(support_tmpdir(), 0, NULL, "", RECORD "-n one -- make");
	is_calibrated(support_path("%s/stats/one", support_tmpdir()));
}
END_TEST

START_TEST(loaded)
{
	if (!make_host_can())
		return;
	support_writes(support_path("%s/Makefile", support_tmpdir()), makefile);
	support_expect(support_tmpdir(), 0, NULL, "",
		       "make --eval='load %s/plugin/.libs/buildbeat.so'", TOP_BUILDDIR);
	is_calibrated(support_path("%s/buildstats/latest", support_tmpdir()));
}
END_TEST

int main(void)
{
	return support_main("calibration", TEST(measured), TEST_EACH(lines, written),
			    TEST_EACH(read_back, values), TEST(launched), TEST(loaded));
}
