"""The payload rates of the links of drives, in bytes per second and direction.

Sources: Serial ATA Revision 3.0: 6 Gbit/s, 8b/10b encoding. PCI Express Base Specification: 8 GT/s (3.0), 16 GT/s (4.0)
or 32 GT/s (5.0) per lane, four lanes, 128b/130b encoding.
"""

SATA3 = 0.6e9
PCIE3_X4 = 3.94e9
PCIE4_X4 = 7.88e9
PCIE5_X4 = 15.75e9
"""No drive has a faster link."""
