"""Prints a residual for each step, and a farewell."""

import sys

x = float(sys.argv[1])
for step in range(1, 4):
    print(f"residual after step {step}: {(x - 1) ** 2 + 10.0 ** -step:.9e}")
print("done, thank you")
