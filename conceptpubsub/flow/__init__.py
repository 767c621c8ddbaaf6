"""Information flow graphs: select, transform, collapse, expand; rewritten, proven and run."""

from conceptpubsub.flow.graph import FlowGraph

__all__ = ["FlowGraph"]
