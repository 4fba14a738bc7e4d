# mmdebstrap runs this script as root of its namespace, with the root directory of the new system as $1. The script checks the
# modules that DKMS compiled, creates the initial RAM disk, and removes everything that only the build needed. BOOT and INIT
# contain the texts of boot.sh and init.sh, and MODULES contains the names of the modules.
set -eu
root=$1
NOT_NEEDED='^(linux-(headers|kbuild|compiler)|linux-libc-dev$|gcc|cpp|binutils|make$|(.*-)?dkms$|lib.*-dev$|lib(gcc|asan|tsan|lsan|ubsan|cc1|isl|mpc|mpfr|itm|quadmath|binutils|ctf|gprofng))'
kernel=$(basename "$root"/lib/modules/*)
for module in $MODULES; do
    version=$(chroot "$root" modinfo --set-version "$kernel" --field version "$module") || {
        echo "poolproof-lab: DKMS did not build the module $module; the end of its log:" >&2
        tail -n 30 "$root/var/lib/dkms/$module"/*/build/make.log >&2
        exit 1
    }
    echo "poolproof-lab: compiled $module $version for Linux $kernel" >&2
done

printf '%s' "$INIT" >"$root/sbin/lab-init"
chmod 755 "$root/sbin/lab-init"
echo lab >"$root/etc/hostname"
printf '127.0.0.1 localhost lab\n' >"$root/etc/hosts"
: >"$root/etc/fstab"

disk=$(mktemp -d "$root/tmp/initrd.XXXXXX")
mkdir "$disk/bin" "$disk/dev" "$disk/root" "$disk/modules"
cp "$root/bin/busybox" "$disk/bin/busybox"
printf '%s' "$BOOT" >"$disk/init"
chmod 755 "$disk/init"
number=10
chroot "$root" modprobe --set-version "$kernel" --show-depends --all virtio_pci virtio_blk ext4 |
    awk '$1 == "insmod" && !seen[$2]++ {print $2}' |
    while read -r path; do
        cp "$root$path" "$disk/modules/$number-$(basename "$path")"
        number=$((number + 1))
    done
inside=${disk#"$root"}
chroot "$root" sh -c "cd '$inside' && find . | cpio --quiet -o -H newc" | gzip -1 >"$root/boot/initrd"
rm -rf "$disk"
mv "$root/boot/vmlinuz-$kernel" "$root/boot/kernel"
rm -f "$root"/boot/initrd.img-* "$root"/boot/System.map-* "$root"/vmlinuz* "$root"/initrd.img*

# The files are removed without `dpkg --remove`, because the package of a module would also remove the compiled module. A
# directory in the list may be a link, such as /lib.
packages=$(chroot "$root" dpkg-query --show --showformat '${Package}\n' |
    grep -E "$NOT_NEEDED" | grep -vE '^(libgcc-s1|gcc-[0-9]+-base)$')
chroot "$root" dpkg-query --listfiles $packages | sort -u | while read -r path; do
    [ -z "$path" ] || [ -d "$root$path" ] || echo "$root$path"
done | xargs rm -f
rm -rf "$root"/usr/src/* "$root"/var/lib/dkms/* "$root"/usr/include "$root"/usr/lib/gcc \
    "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/doc/* "$root"/usr/share/man/* "$root"/var/log/*
for folder in sound drivers/gpu drivers/media drivers/infiniband drivers/usb; do
    rm -rf "$root/lib/modules/$kernel/kernel/$folder"
done
chroot "$root" depmod "$kernel"
