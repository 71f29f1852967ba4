# What the images are put together from; sourced by hack/image, which set `root`, `cache` (hack/install.sh), `tree` and `tag`.
images=$cache/images
export PATH=$root/node_modules/.bin:$PATH

# install_for_images NAME...: what the images of these names are made from, in a fresh clone too.
install_for_images() {
  local missing=() pair
  install_for_running
  for pair in busybox:busybox-static prlimit:util-linux; do have "${pair%%:*}" || missing+=("${pair#*:}"); done
  [ ${#missing[@]} -eq 0 ] || apt_install "${missing[@]}" || die "Images need ${missing[*]}: have them installed"
  case " $* " in *' minio '*) have go || die 'The image of MinIO is built from its Go module, and needs Go 1.24 or newer: https://go.dev/dl' ;; esac
}

# key FILE_OR_TEXT...: a short hash of standard input.
key() { sha256sum | cut -c1-16; }

# libraries PROGRAM...: the dynamic loader and each library of the programs, as the paths at which they are looked for.
libraries() { ldd "$@" 2>/dev/null | grep -o '/[^ :]*' | grep -v ':$' | sort -u; }

# state_of PATH...: what changes when one of the files does.
state_of() { readlink -f "$@" | sort -u | xargs stat -c '%n %s %Y'; }

# install_programs ROOT PROGRAM...: programs at their own paths, with what they link.
install_programs() {
  local into=$1 file; shift
  { printf '%s\n' "$@"; libraries "$@"; } | sort -u | while read -r file; do
    [ -e "$into$file" ] || install -D -m755 "$(readlink -f "$file")" "$into$file"
  done
}

# minimal_root ROOT: users, folders, certificates and busybox's words.
minimal_root() {
  local into=$1 word busybox
  busybox=$(command -v busybox) || die 'busybox is missing: have busybox-static installed'
  mkdir -p "$into"/{bin,usr/bin,usr/local/bin,etc/ssl/certs,tmp,run,var/run,proc,sys,dev,lib64}
  chmod 755 "$into"
  chmod 1777 "$into/tmp"
  install -m755 "$busybox" "$into/bin/busybox"
  for word in sh cat ls ps sleep env id nc mkdir chmod mv rm head tr tar test expr true false; do ln -sf busybox "$into/bin/$word"; done
  if [ -d /usr/lib/locale/C.utf8 ]; then mkdir -p "$into/usr/lib/locale" && cp -rL /usr/lib/locale/C.utf8 "$into/usr/lib/locale/"; fi
  cp /etc/ssl/certs/ca-certificates.crt "$into/etc/ssl/certs/" 2>/dev/null || true
  printf 'root:x:0:0::/root:/bin/sh\nredis:x:998:998::/data:/bin/sh\npostgres:x:999:999::/var/lib/postgresql:/bin/sh\nnode:x:1000:1000::/app:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n' >"$into/etc/passwd"
  printf 'root:x:0:\nredis:x:998:\npostgres:x:999:\nnode:x:1000:\nnogroup:x:65534:\n' >"$into/etc/group"
  printf 'hosts: files dns\n' >"$into/etc/nsswitch.conf"
}

# layer NAME KEY FUNCTION: the tar of the folder that FUNCTION fills, kept under KEY.
layer() {
  local tar=$images/layer-$1-$2.tar
  if [ ! -e "$tar" ]; then
    work=$(mktemp -d "$images/.root-XXXXXX")
    trap 'rm -rf "$work"' EXIT # of the subshell in which this runs
    "$3" "$work"
    "$root/hack/kube/mkimage.sh" --layer "$work" "$tar"
    forget "layer-$1-" 4
  fi
  touch -a "$tar"
  echo "$tar"
}

# forget PREFIX KEEP: only the newest KEEP of such files stay.
forget() { find "$images" -maxdepth 1 -regextype posix-extended -regex ".*/$1[0-9a-f]{16}\.tar" -printf '%A@ %p\n' | sort -rn | tail -n +"$(($2 + 1))" | cut -d' ' -f2- | while read -r f; do rm -f "$f" "$f.sha256"; done; }

# image NAME:TAG CONFIG LAYER...: the docker-save tar; prints its line.
image() {
  local ref=$1 config=$2 file; shift 2
  file=$images/${ref%%:*}-$({ echo "$ref $config $*"; cat "$root/hack/kube/mkimage.sh"; } | key).tar
  if [ ! -e "$file" ]; then
    "$root/hack/kube/mkimage.sh" "$ref" "$file" "$config" "$@"
    forget "${ref%%:*}-" 3
  fi
  touch -a "$file"
  echo "$ref $file"
}
