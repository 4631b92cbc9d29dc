"""npy.py FILE DESCR SHAPE [BYTES]: a .npy file of zeros, with BYTES more (or fewer) than the shape says."""
import math
import re
import struct
import sys

path, descr, shape = sys.argv[1], sys.argv[2], sys.argv[3]
size = math.prod(int(n) for n in re.findall(r"\d+", shape)) * int(descr[2:])
size += int(sys.argv[4]) if len(sys.argv) > 4 else 0
header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}\n".encode()
with open(path, "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + bytes(size))
