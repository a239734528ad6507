#!/usr/bin/env bash
# The figures that need a GPU, but no weights, data or network, in at most 8 minutes:
#
#   OUT=results/h200 bash results/gpu.sh [--dry] [--device cpu --tiny]
#
# Runs with torch, torchvision, transformers, accelerate, timm and numpy alone. At most 8 files in
# OUT: a JSON file a step (see tools/gpu.py), a trace, a log, and an archive of these. A step that
# fails or runs out of time is named at the end, and the others run all the same. --dry prints the
# steps; --device cpu --tiny rehearses them in a minute.
set -uo pipefail
cd "$(dirname "$0")/.."
OUT=${OUT:-results/gpu}
DRY='' OPTIONS=() FAILED=()
for word; do if [ "$word" = --dry ]; then DRY=1; else OPTIONS+=("$word"); fi; done

# step NAME SECONDS: the most telling first; each ends after its seconds
step() {
    local command=("${PYTHON:-python3}" -u -m tools.gpu "$1" --out "$OUT" "${OPTIONS[@]}")
    echo "at most $2 s: ${command[*]}"
    if [ -z "$DRY" ] && ! timeout -k 5 "$2" "${command[@]}" 2>&1 | tee -a "$OUT/log.txt"; then
        FAILED+=("$1")
    fi
}

# Where bytecode is not kept, every step would compile torch and transformers anew.
export HF_HUB_OFFLINE=1 HF_HUB_DISABLE_PROGRESS_BARS=1 PYTHONDONTWRITEBYTECODE=
[ "$DRY" ] || mkdir -p "$OUT"
step right 60
step compress 60
step qwen3-vl-8b 230
step llava-onevision-7b 70
step more 60
[ "$DRY" ] && exit
rm -f "$OUT"/*.part
(cd "$OUT" && tar -czf gpu.tar.gz log.txt ./*.json*)
echo "written to $OUT in $SECONDS s; failed: ${FAILED[*]:-none}"
[ ${#FAILED[@]} = 0 ]
