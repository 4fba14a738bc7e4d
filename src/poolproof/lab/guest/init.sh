#!/bin/sh
# The first process of a lab. It sets up the devices and the network, starts sshd, and then prints `poolproof-lab: ready`.
# From then on, it only reaps its children, including orphans.
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs -o mode=0755,nosuid run /run
mkdir -p /run/lock /run/sshd /run/mount /dev/pts /dev/shm
mount -t devpts -o gid=5,mode=620 pts /dev/pts
mount -t tmpfs -o mode=1777 shm /dev/shm
mount -t cgroup2 cgroup /sys/fs/cgroup
hostname lab

modprobe -a virtio_net virtio_scsi sd_mod
ip link set lo up
ip address add 10.0.2.15/24 dev eth0
ip link set eth0 up

# In a lab, only poolproof assembles arrays, volume groups and pools. Each of these udev rules would start programs for each
# event, and a single `zpool create` causes dozens of events.
mkdir -p /run/udev/rules.d
for rules in 64-md-raid-assembly 69-lvm 69-vdev 90-zfs; do
    ln -s /dev/null "/run/udev/rules.d/$rules.rules"
done
/lib/systemd/systemd-udevd --daemon
# Only disks: with emulation, loading the drivers of all other devices would double the boot time.
udevadm trigger --action=add --subsystem-match=block
# These modules create device nodes that programs look for when they start, such as /dev/loop-control and /dev/fuse.
modprobe -a loop fuse dm_mod
modprobe zfs &

umask 077
mkdir -p /root/.ssh
key=$(sed -n 's/.*poolproof\.key=\([^ ]*\).*/\1/p' /proc/cmdline)
echo "ssh-ed25519 $key" >/root/.ssh/authorized_keys
umask 022
ssh-keygen -q -t ed25519 -N '' -f /run/ssh_host_key
/usr/sbin/sshd -h /run/ssh_host_key -o UsePAM=no -o UseDNS=no -o PasswordAuthentication=no -o MaxSessions=100 \
    -o MaxStartups=100 -o PidFile=/run/sshd.pid
udevadm settle --timeout=30
wait

echo "poolproof-lab: ready" >/dev/console
while :; do sleep 3600; done
