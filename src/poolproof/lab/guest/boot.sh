#!/bin/busybox sh
# The initial RAM disk's only program: load what the root disk needs, mount it, go there.
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
