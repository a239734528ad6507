"""Baselines of version 2 by question type: accuracy from one frame or without frame order.

A small network learns to choose among the answer options, from features of the scene (``glances``).
It learns on clips of the train split and is tested on the test split. There are three observers:
the **blind** one sees only the question and the options. The **still** one scores the options for
each frame alone and gives the answer of the frame for which it is most confident. The **shuffled**
one sees all frames without their order. All frames in order would give 100 %.

The figures that the benchmark prints are measured by
``python -m gleanvid.glimpse.questions.observers --out gleanvid/glimpse/questions/baselines.json``.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from gleanvid.glimpse.questions.baselines import KEPT, VIEWS, Baseline, read, table, write
from gleanvid.glimpse.questions.common import name
from gleanvid.glimpse.questions.glances import glances
from gleanvid.glimpse.questions.questions import FAMILIES2, Question, questions
from gleanvid.glimpse.world.scenes import sample_scene
from gleanvid.glimpse.world.world import ClipSettings, Scene, stream

_HIDDEN = 64
_STEPS = 600
_BATCH = 256
# The features of the view "shuffled" say how many different objects a clip has, up to this number.
_MOST = 6
_PATIENCE = 6000  # largest number of clips that are searched for questions


def baselines(
    settings: ClipSettings,
    learn: int = 600,
    ask: int = 300,
    seed: int = 0,
    families: Sequence[str] = FAMILIES2,
) -> list[Baseline]:
    """Measure the accuracy of the blind, still and shuffled observer on each question type.

    Of each type, ``learn`` questions are used for training and ``ask`` for the test.
    """
    train = _gather(settings, "train", learn, seed, families)
    test = _gather(settings, "test", ask, seed, families)
    found = []
    for family in train:
        if family in test:
            found.append(_baseline(family, train[family], test[family], seed))
    return found


Asked = list[tuple[Scene, Question]]


def _gather(
    settings: ClipSettings, split: str, count: int, seed: int, families: Sequence[str]
) -> dict[str, Asked]:
    """Collect ``count`` questions of each type, at most one of a type per clip."""
    found: dict[str, Asked] = defaultdict(list)
    for index in range(_PATIENCE):
        scene = sample_scene(seed, split, index, settings)
        rng = stream(seed, split, index, purpose=1, version=settings.version)
        asked = questions(scene, rng)
        order = np.random.default_rng(index).permutation(len(asked))
        for family, question in {asked[k].family: asked[k] for k in order}.items():
            if family in families and len(found[family]) < count:
                found[family].append((scene, question))
        if all(len(found[family]) == count for family in families):
            break
    return {family: found[family] for family in families if found[family]}


def _baseline(family: str, train: Asked, test: Asked, seed: int) -> Baseline:
    kinds: list[str] = []
    parts = (train, test)
    seen = [[glances(scene, question, kinds) for scene, question in part] for part in parts]
    right = [torch.tensor([q.options.index(q.answer) for _, q in part]) for part in parts]
    accuracies = {}
    for view in VIEWS:
        views = [_views(view, own, part) for own, part in zip(seen, parts, strict=True)]
        net = _learn(views[0], right[0], seed)
        accuracies[view] = _accuracy(net, views[1], right[1])
    return Baseline(family, len(test), **accuracies)


def _views(view: str, seen: list[np.ndarray], part: Asked) -> Tensor:
    pairs = zip(seen, part, strict=True)
    return torch.stack([_view(view, one, scene) for one, (scene, _) in pairs])


def _view(view: str, seen: np.ndarray, scene: Scene) -> Tensor:
    """Return what an observer sees of one question, [looks, 4 options, features].

    A look is what the observer sees at once: one temporal unit for "still", all units for
    "shuffled", no frame for "blind". ``seen`` [units, 4, features]: result of ``glances``.
    """
    if view == "blind":
        return torch.from_numpy(seen[:1] * (np.arange(seen.shape[2]) < 64))
    if view == "still":
        return torch.from_numpy(seen)
    in_all = np.zeros((len(seen[0]), _MOST), np.float32)
    in_all[:, min(len({name(thing) for thing in scene.things}), _MOST) - 1] = 1.0
    every = [seen.mean(0), seen.min(0), seen.max(0), seen.std(0), in_all]
    return torch.from_numpy(np.concatenate(every, -1)[None])


def _learn(views: Tensor, right: Tensor, seed: int) -> nn.Module:
    """Train a network to score the four options of Q questions.

    ``views`` [Q, looks, 4, features]: what the observer sees, from ``_view``. Every step uses one
    random look per question. ``right`` [Q]: index of the right option.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    net = nn.Sequential(
        nn.Linear(views.shape[-1], _HIDDEN),
        nn.ReLU(),
        nn.Linear(_HIDDEN, _HIDDEN),
        nn.ReLU(),
        nn.Linear(_HIDDEN, 1),
    )
    optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, _STEPS)
    for _ in range(_STEPS):
        chosen = rng.integers(len(views), size=_BATCH)
        looks = views[chosen, rng.integers(views.shape[1], size=_BATCH)]
        loss = nn.functional.cross_entropy(net(looks)[..., 0], right[chosen])
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return net


@torch.no_grad()
def _accuracy(net: nn.Module, views: Tensor, right: Tensor) -> float:
    """Return the fraction of Q questions that the network answers right.

    The network looks several times at a clip, and the answer of its surest look counts.
    """
    hits = []
    for looks, answer in zip(views, right, strict=True):
        odds = net(looks)[..., 0].softmax(-1)  # [looks, 4 options]
        surest = odds[odds.amax(1).argmax()]
        hits.append(float(surest.argmax() == answer))
    return sum(hits) / len(hits)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--num-frames", type=int, default=32)
    parser.add_argument("--learn", type=int, default=600)
    parser.add_argument("--ask", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--families", type=lambda text: tuple(text.split(",")), default=FAMILIES2)
    parser.add_argument("--out", type=Path, default=KEPT)
    options = vars(parser.parse_args())
    torch.set_num_threads(1)
    settings = ClipSettings(num_frames=options["num_frames"], version=2)
    how = {name: options[name] for name in ("learn", "ask", "seed", "families")}
    write(options["out"], baselines(settings, **how), options["num_frames"], options["learn"])
    print(table(read(options["out"])[1]))


if __name__ == "__main__":
    main()
