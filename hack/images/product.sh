# The product: Node, ffmpeg with what it links, the production modules, the code. hack/images/product.json is its description.
product=$root/hack/images/product.json
# said EXPRESSION: of the description, as `p`.
said() { node -p "const p = require('$product'); $1"; }

product_programs() { readlink -f "$(command -v node)"; for word in ffmpeg ffprobe prlimit nice setpriv unshare; do command -v "$word"; done; }

base_layer() {
  local into=$1 programs
  minimal_root "$into"
  mapfile -t programs < <(product_programs | tail -n +2)
  install_programs "$into" "${programs[@]}"
  install -m755 "$(readlink -f "$(command -v node)")" "$into/usr/local/bin/node"
  libraries "$(readlink -f "$(command -v node)")" | while read -r file; do [ -e "$into$file" ] || install -D -m755 "$(readlink -f "$file")" "$into$file"; done
  # For text drawn into the picture: fontconfig's rules and one family.
  if [ -d /etc/fonts ]; then cp -rL /etc/fonts "$into/etc/fonts"; fi
  if [ -d /usr/share/fonts/truetype/dejavu ]; then
    mkdir -p "$into/usr/share/fonts/truetype"
    cp -rL /usr/share/fonts/truetype/dejavu "$into/usr/share/fonts/truetype/"
  fi
}

modules_layer() {
  mkdir -p "$1/app"
  (cd "$tree" && node -e '
    const { packages } = require("./package-lock.json");
    const without = JSON.parse(process.argv[1]).map((name) => `node_modules/${name}`);
    const left = (path) => without.some((name) => path === name || path.startsWith(`${name}/`));
    const wanted = Object.entries(packages).filter(([path, entry]) => path && !entry.dev && !left(path)).map(([path]) => path);
    console.log(wanted.filter((path) => require("node:fs").existsSync(path)).join("\n"));
  ' "$(said 'JSON.stringify(p.without)')") | while read -r path; do
    mkdir -p "$1/app/$path"
    # A package's own node_modules are packages of the list themselves.
    tar -C "$tree/$path" --exclude=./node_modules -cf - . | tar -C "$1/app/$path" -xf -
  done
  # What native modules link beside what Node itself does.
  find "$1/app" -name '*.node' | while read -r addon; do libraries "$addon"; done | sort -u | while read -r file; do
    [ -e "$1$file" ] || install -D -m755 "$(readlink -f "$file")" "$1$file"
  done
}

code_layer() {
  mkdir -p "$1/app"
  local copies
  mapfile -t copies < <(said 'p.copy.join("\n")')
  (cd "$tree" && cp -a --parents "${copies[@]}" "$1/app/" && node "$root/hack/bundle.ts" "$1/app")
  chmod -R u=rwX,go=rX "$1/app"
}

# product_layers: sets base, modules and code.
product_layers() {
  local copies
  [ -d "$tree/node_modules" ] || ln -s "$root/node_modules" "$tree/node_modules"
  build_web "$tree"
  mapfile -t copies < <(said 'p.copy.join("\n")')
  # shellcheck disable=SC2046
  base=$(layer base "$({ cat "$root/hack/images/product.sh" "$root/hack/images/root.sh"; state_of $(product_programs) $(libraries $(product_programs)); } | key)" base_layer)
  modules=$(layer modules "$({ cat "$tree/package-lock.json" "$product" "$root/hack/images/product.sh"; cat "$tree/node_modules/.package-lock.json"; } | key)" modules_layer)
  code=$(layer code "$({ cat "$product" "$root/hack/bundle.ts"; cd "$tree" && find "${copies[@]}" -type f -print0 | sort -z | xargs -0 sha256sum; } | key)" code_layer)
}

# product_config ENV: the config of the image with this environment, an expression.
product_config() { said "JSON.stringify({ User: p.user, WorkingDir: p.workdir, Env: Object.entries($1).map((e) => e.join('=')), Entrypoint: p.entrypoint, Cmd: p.cmd, ExposedPorts: Object.fromEntries(p.ports.map((n) => [n + '/tcp', {}])) })"; }

image_product() {
  local base modules code config
  product_layers
  config=$(product_config p.env)
  image "${tag:-foyer:$(node -p "require('$tree/package.json').version")}" "$config" "$base" "$modules" "$code"
}
