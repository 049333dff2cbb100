# SPDX-License-Identifier: MIT
"""Just enough PNG to look at a screenshot: 8 bits, RGB or RGBA, not interlaced."""
import struct
import zlib


def _chunks(data):
    assert data[:8] == b'\x89PNG\r\n\x1a\n'
    at = 8
    while at < len(data):
        size, kind = struct.unpack('>I4s', data[at:at + 8])
        yield kind, data[at + 8:at + 8 + size]
        at += 12 + size


def _paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def _unfilter(kind, line, above, step):
    if kind == 2:
        return bytearray((v + a) & 255 for v, a in zip(line, above))
    for i in range(len(line)) if kind else ():
        left = line[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        line[i] = (line[i] + (left if kind == 1 else (left + above[i]) // 2 if kind == 3
                              else _paeth(left, above[i], corner))) & 255
    return line


class Picture:
    def __init__(self, data):
        body = b''
        for kind, chunk in _chunks(data):
            if kind == b'IHDR':
                self.width, self.height, depth, colour, _, _, interlaced = \
                    struct.unpack('>IIBBBBB', chunk)
                assert depth == 8 and colour in (2, 6) and not interlaced
                self.step = 3 if colour == 2 else 4
            elif kind == b'IDAT':
                body += chunk
        raw = zlib.decompress(body)
        size = self.width * self.step
        self.rows = []
        above = bytearray(size)
        for at in range(0, len(raw), size + 1):
            above = _unfilter(raw[at], bytearray(raw[at + 1:at + 1 + size]), above, self.step)
            self.rows.append(above)

    def pixel(self, x, y):
        return tuple(self.rows[y][x * self.step:x * self.step + 3])

    def colours(self, every=3):
        """How often each colour is there, in a grid of pixels."""
        count = {}
        for y in range(0, self.height, every):
            for x in range(0, self.width, every):
                pixel = self.pixel(x, y)
                count[pixel] = count.get(pixel, 0) + 1
        return count
