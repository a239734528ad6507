from gleanvid.compressors.base import Compressor


class Chain(Compressor):
    """Compressor that applies other compressors, each before one layer of the language model.

    ``pairs`` lists (layer, compressor). Layer 0 is the input of the language model.
    """

    paper = "none"

    def __init__(self, name, pairs):
        super().__init__(pairs[0][1].retention_ratio)
        needs = frozenset().union(*(stage.needs for _, stage in pairs))
        vars(self).update(name=name, title=name, pairs=pairs, needs=needs)

    @property
    def stages(self):
        return self.pairs

    def _compress(self, tokens):
        raise NotImplementedError("the stages compress")

    def __eq__(self, other):
        return isinstance(other, Chain) and self.pairs == other.pairs

    def __hash__(self):
        return hash(self.pairs)
