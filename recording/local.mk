# recording: the recording's formats, written, read and found
noinst_LTLIBRARIES += recording/librecording.la
recording_librecording_la_SOURCES = \


