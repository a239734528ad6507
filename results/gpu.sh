#!/usr/bin/env bash
# The first session on a GPU: every table of results/README.md that needs no weights and no data.
#
#   bash results/gpu.sh NAME-OF-THE-GPU [CHECKPOINT]
#
# CHECKPOINT, a hub id or a folder, is checked too; without it nothing is downloaded. A step that
# fails is named at the end and the others run all the same. Steps are stopped so that all of it
# takes 25 minutes at most.
set -uo pipefail
cd "$(dirname "$0")/.."
NAME=${1:?name the GPU, for example: bash results/gpu.sh h200}
OUT=results/$NAME
BIN=${BIN:-.venv/bin}
END=$((SECONDS + 25 * 60))
FAILED=()
mkdir -p "$OUT"

# step NAME SECONDS COMMAND...: stdout to OUT/NAME, what it says to OUT/NAME.log
step() {
    local name=$1 most=$2 left=$((END - SECONDS))
    shift 2
    echo "$name ..."
    if ((left < 10)) || ! timeout "$((most < left ? most : left))" "$@" >"$OUT/$name" 2>"$OUT/$name.log"; then
        FAILED+=("$name")
    fi
}


# Right? The laws on every family, then on the built-in model with its times.
step half_precision.txt 180 "$BIN/python" -m pytest tests/models/test_half_precision.py -rs
step check_builtin.md 90 "$BIN/python" -m gleanvid.cli check assets/clips/glimpse_1.mp4 --device cuda --out "$OUT/check-builtin"
step check_builtin_bfloat16.md 90 "$BIN/python" -m gleanvid.cli check assets/clips/glimpse_1.mp4 --device cuda --dtype bfloat16 --out "$OUT/check-builtin-bfloat16"
if [ -n "${2:-}" ]; then
    step check.md 300 "$BIN/python" -m gleanvid.cli check assets/clips/city.mp4 --model "$2" --out "$OUT/check"
fi

# Fast? Choosing tokens alone, then whole models of the real shape.
step compress.json 90 "$BIN/python" -m gleanvid.cli bench compress --grid 32x14x14 --width 3584 --all --repeats 20 --json
step model_qwen.md 300 "$BIN/python" -m gleanvid.cli bench model --config qwen3-vl-8b --random-weights --frames 32,64 \
    --retention-ratio 0.25,0.15 --repeats 3 --out "$OUT" \
    --compressor "gleanvid,vidcom2,vcast,visionzip,holitom,fastvid,flashvid(inner=true,layer=28,inner_retention=0.1,num_layers=36)"
step model_llava_onevision.md 150 "$BIN/python" -m gleanvid.cli bench model --config llava-onevision-7b --random-weights --frames 32 \
    --retention-ratio 0.25,0.15 --repeats 3 \
    --compressor "gleanvid,vidcom2,vcast,fastvid(variant=llava_onevision),flashvid(version=v2,min_segments=8,inner=true)" --out "$OUT"
step model_llava_video.md 150 "$BIN/python" -m gleanvid.cli bench model --config llava-video-7b --random-weights --frames 64 \
    --retention-ratio 0.25,0.15 --repeats 3 --out "$OUT" \
    --compressor "gleanvid,vidcom2,vcast,holitom(inner=true),fastvid(variant=llava_video),flashvid(version=v2,min_segments=8,inner=true)"

# What no CPU shows: FlashAttention's own kernels, and layers on several GPUs.
step flash.md 90 "$BIN/python" -m gleanvid.cli check --device cuda --dtype bfloat16 --attn-implementation flash_attention_2
step several_gpus.md 90 "$BIN/python" -m gleanvid.cli check --device-map auto --dtype bfloat16

if ((${#FAILED[@]})); then
    printf 'failed: %s (see %s/*.log)\n' "${FAILED[*]}" "$OUT"
    exit 1
fi
echo "written to $OUT in $((SECONDS / 60)) minutes"
