"""The manifest: which tasks are done, so that a run can be killed at any moment and continued.

Rule 1  A task writes its files first and its entry last; the entry is the commit. Files without an entry are written
        again, under the same names, so nothing is delivered twice.
Rule 2  An output folder belongs to one question: the same subscriptions, ontology, converters, mapping. To ask another
        one there is an error, unless it may start anew.
Rule 3  A file that changed since is another file: its old results go, then it is processed.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from conceptpubsub.archive.summary import Counts
from conceptpubsub.archive.tasks import Task
from conceptpubsub.archive.writing import write_text
from conceptpubsub.errors import ArchiveError

FOLDERS = ("deliveries", "dead_letters", "enriched", "manifest")


@dataclass(frozen=True, slots=True)
class Entry:
    """What a finished task did: its files, relative to the output folder, and its counts."""

    task: str
    path: str
    stamp: str
    files: tuple[str, ...]
    counts: Counts
    failed: bool = False
    """Whether the file, or a part of it, could not be read; it is tried again next time."""

    def to_json(self) -> str:
        """As it is written."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        return json.dumps({**own, "counts": self.counts.tree()}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str) -> Entry:
        """Read it back."""
        tree = json.loads(text)
        return cls(**{**tree, "files": tuple(tree["files"]), "counts": Counts(**tree["counts"])})


class Manifest:
    """The entries of an output folder."""

    def __init__(self, out: Path) -> None:
        self.out = out
        self.folder = out / "manifest"

    def open(self, question: str, resume: bool) -> None:
        """Claim the output folder for a question, or start it anew."""
        head = self.folder / "_question.json"
        if head.exists() and not resume:
            self.clear()
        if head.exists():
            known = json.loads(head.read_text("utf-8")).get("question")
            if known != question:
                raise ArchiveError(
                    f"{self.out} holds the answer to another question (other subscriptions, ontology, converters or "
                    "mapping); name another folder, or start anew with resume=False (--restart)",
                    path=str(self.out),
                )
        elif self.out.exists() and any(self.out.iterdir()):
            raise ArchiveError(f"{self.out} is not empty and not ours; name another folder", path=str(self.out))
        for left in self.out.rglob(".*.part"):
            left.unlink(missing_ok=True)
        write_text(json.dumps({"question": question}), head)

    def clear(self) -> None:
        """Forget everything that was written here by us."""
        for name in FOLDERS:
            shutil.rmtree(self.out / name, ignore_errors=True)
        (self.out / "summary.json").unlink(missing_ok=True)

    def entries(self) -> dict[str, Entry]:
        """The tasks that are done, by name."""
        return {task: self.entry(task) for task in sorted(self.done())}

    def entry(self, task: str) -> Entry:
        """What a task that is done did."""
        return Entry.from_json((self.folder / f"{task}.json").read_text("utf-8"))

    def done(self) -> set[str]:
        """The names of the tasks that are done."""
        return {path.stem for path in self.folder.glob("[!_.]*.json")}

    def todo(self, tasks: Sequence[Task]) -> tuple[list[Task], dict[str, Entry]]:
        """The tasks that remain, and the entries that stand; what is stale is taken away."""
        entries = self.entries()
        stamps = {task.path: task.stamp for task in tasks}
        for name, entry in list(entries.items()):
            if entry.failed or stamps.get(entry.path, entry.stamp) != entry.stamp:
                self.drop(entry)
                del entries[name]
        return [task for task in tasks if task.name not in entries], entries

    def drop(self, entry: Entry) -> None:
        """Take a task's results away: first the entry, then its files."""
        (self.folder / f"{entry.task}.json").unlink(missing_ok=True)
        for name in entry.files:
            (self.out / name).unlink(missing_ok=True)

    def record(self, entry: Entry) -> None:
        """Commit a task."""
        write_text(entry.to_json(), self.folder / f"{entry.task}.json")
