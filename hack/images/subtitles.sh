# The image of the speech workers: the product's, with Python and faster-whisper. manifests/image/subtitles.Dockerfile makes the same.
# shellcheck source=hack/images/product.sh
. "$root/hack/images/product.sh"
# shellcheck source=hack/speech.sh
. "$root/hack/speech.sh"
# The parts of Python that no worker uses.
python_without=(test idlelib tkinter turtledemo lib2to3 ensurepip site-packages dist-packages 'config-*' __pycache__)

python_says() { python3 -c "import os, sys, sysconfig; print($1)"; }
python_program() { python_says 'os.path.realpath(sys.executable)'; }

# Python itself in /opt/python, the packages in /opt/speech, and what both link. The archive has no times, so that compiled files
# must not depend on them.
speech_layer() {
  local into=$1 name site stdlib
  name=python$(python_says 'sysconfig.get_python_version()')
  site=$into/opt/speech/lib/$name/site-packages
  stdlib=$into/opt/python/lib/$name
  mkdir -p "$site" "$stdlib" "$into/opt/python/bin" "$into/opt/speech/bin"
  install -m755 "$(python_program)" "$into/opt/python/bin/python3"
  tar -C "$(python_says 'sysconfig.get_path("stdlib")')" "${python_without[@]/#/--exclude=}" -cf - . | tar -C "$stdlib" -xf -
  python3 -m pip install -q --disable-pip-version-check --root-user-action=ignore --no-compile --target "$site" "${speech_packages[@]}" >&2
  rm -rf "$site/bin"
  python3 -m compileall -q --invalidation-mode unchecked-hash -s "$into" "$stdlib" "$site" >&2 || true # a package has a file for a newer Python
  ln -s /opt/python/bin/python3 "$into/opt/speech/bin/python3"
  printf 'home = /opt/python/bin\ninclude-system-site-packages = false\n' >"$into/opt/speech/pyvenv.cfg"
  { echo "$(python_program)"; find "$into" -name '*.so*' -type f; } | while read -r file; do libraries "$file" || true; done | sort -u |
    { grep -v "^$into" || true; } | while read -r file; do [ -e "$into$file" ] || install -D -m755 "$(readlink -f "$file")" "$into$file"; done
  chmod -R u=rwX,go=rX "$into"
}

image_subtitles() {
  local base modules code speech config name
  product_layers
  speech=$(layer speech "$({ cat "${BASH_SOURCE[0]}" "$root/hack/speech.sh"; state_of "$(python_program)"; } | key)" speech_layer)
  config=$(product_config 'Object.assign(p.env, { FOYER_SUBTITLES_PYTHON: "/opt/speech/bin/python3" })')
  name=${tag:-foyer:$(node -p "require('$tree/package.json').version")}
  # shellcheck disable=SC2154 # of product_layers
  image "${name%:*}-subtitles:${name##*:}" "$config" "$base" "$modules" "$speech" "$code"
}
