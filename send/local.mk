# SPDX-License-Identifier: MIT
# send: requests to a collector, kept in a spool and sent by a program of its own, as only that
# uses libcurl
noinst_LIBRARIES += send/libsend.a
send_libsend_a_SOURCES = \
	send/endpoint.c send/endpoint.h send/partial.c send/partial.h send/spool.c send/spool.h

pkglibexec_PROGRAMS += send/buildbeat-send
send_buildbeat_send_SOURCES = send/http.c send/http.h send/main.c
send_buildbeat_send_CPPFLAGS = $(AM_CPPFLAGS) $(CURL_CFLAGS)
send_buildbeat_send_LDADD = send/libsend.a base/libbase.a $(CURL_LIBS) $(ZLIB_LIBS)
