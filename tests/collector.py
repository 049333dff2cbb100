# SPDX-License-Identifier: MIT
# A collector for check_send: collector.py DIRECTORY MODE... answers the first request as the first
# MODE says, and so on; the last MODE is for all that follow. Writes its port into DIRECTORY/port,
# each request into DIRECTORY/requests as a line of JSON, and the unpacked body of an accepted one
# into DIRECTORY/N.pb.
#   ok  401  503 ...  partial  warn  wait (503 and Retry-After: 1)  wait-long  stall (no answer)
#   close (before the answer)  half (in the middle of the answer)  redirect  garbage
import gzip
import http.server
import json
import os
import socket
import ssl
import sys
import threading
import time

directory, modes = sys.argv[1], sys.argv[2:]
lock = threading.Lock()
count = [0, 0]


def varint(field, n):
    return bytes([field << 3, n])


def text(field, s):
    return bytes([field << 3 | 2, len(s)]) + s


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.answer(200)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with lock:
            mode = modes[min(count[0], len(modes) - 1)]
            count[0] += 1
            number = count[0]
            good = mode in ("ok", "partial", "warn", "garbage")
            if good:
                count[1] += 1
                with open("%s/%d.pb" % (directory, count[1]), "wb") as f:
                    f.write(gzip.decompress(body))
            with open(directory + "/requests", "a") as f:
                f.write(json.dumps({"mode": mode, "path": self.path, "time": time.monotonic(),
                                    "bytes": len(body), "good": good,
                                    "headers": {k.lower(): v for k, v in self.headers.items()}}) + "\n")
        if mode == "ok":
            self.answer(200)
        elif mode == "garbage":
            self.answer(200, bytes(range(256)))
        elif mode == "partial":
            self.answer(200, text(1, varint(1, 3) + text(2, b"too\nold")))
        elif mode == "warn":
            self.answer(200, text(1, text(2, b"use gRPC")))
        elif mode == "wait":
            self.answer(503, b"", [("Retry-After", "1")])
        elif mode == "wait-long":
            self.answer(429, b"", [("Retry-After", "3600")])
        elif mode == "redirect":
            self.answer(307, b"", [("Location", "http://127.0.0.2:9/v1/traces")])
        elif mode == "redirect-controls":
            self.answer(307, b"", [("Location", "http://127.0.0.2:9/\x1b]0;owned\x07\x9b31m")])
        elif mode == "stall":
            time.sleep(60)
        elif mode == "half":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif mode == "close":
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        else:
            self.answer(int(mode), b"said the\ncollector")


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, address):
        pass


server = Server(("127.0.0.1", int(os.environ.get("COLLECTOR_PORT", "0"))), Handler)
if os.environ.get("COLLECTOR_TLS"):	# the key and certificate are in the directory
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(directory + "/cert.pem", directory + "/key.pem")
    server.socket = context.wrap_socket(server.socket, server_side=True)
with open(directory + "/port.new", "w") as f:
    f.write(str(server.server_port))
os.rename(directory + "/port.new", directory + "/port")
server.serve_forever()
