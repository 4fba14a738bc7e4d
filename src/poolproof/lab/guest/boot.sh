#!/bin/busybox sh
# The only program of the initial RAM disk. It loads the modules that the root disk needs, mounts the root disk and starts
# lab-init on it.
export PATH=/bin
busybox mount -t devtmpfs dev /dev
for module in /modules/*; do
    busybox insmod "$module" || echo "poolproof-lab: $module cannot be loaded"
done
for _ in 1 2 3 4 5 6 7 8 9 10; do
    [ -b /dev/vda ] && break
    busybox sleep 0.2
done
busybox mount -t ext4 -o rw,noatime /dev/vda /root || {
    echo "poolproof-lab: the root disk cannot be mounted"
    busybox reboot -f
}
busybox mount -o move /dev /root/dev
exec busybox switch_root /root /sbin/lab-init
