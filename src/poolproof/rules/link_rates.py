"""The payload rates of the links of drives and of networks, in bytes per second and direction.

Sources: Serial ATA Revision 3.0: 6 Gbit/s, 8b/10b encoding. PCI Express Base Specification: 8 GT/s (3.0), 16 GT/s (4.0)
or 32 GT/s (5.0) per lane, four lanes, 128b/130b encoding.
USB 2.0: 480 Mbit/s. USB 3.2: 5 Gbit/s with 8b/10b encoding, 10 or 20 Gbit/s with 128b/132b encoding. SD 6.0: 104 MB/s
for UHS-I and 312 MB/s for UHS-II. JEDEC JESD84-B51 (eMMC 5.1): HS400.
"""

USB2 = 60e6
SD_UHS1 = 104e6
GIGABIT = 125e6
SD_UHS2 = 312e6
EMMC = 0.4e9
USB3_5G = 0.5e9
SATA3 = 0.6e9
SATA3_IOPS = 150e3  # I/Os per second. The fastest drives are rated at 100,000
USB3_10G = 1.21e9
USB3_20G = 2.42e9
PCIE3_X4 = 3.94e9
PCIE4_X4 = 7.88e9
PCIE5_X4 = 15.75e9
"""No drive has a faster link."""
