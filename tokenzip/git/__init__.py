"""The gateway to git: the only package that runs the git executable or touches pygit2.

`GitRepository.discover(path)` is the way in; `docs/git.md` says what happens in each shape that a repository can have.
"""

from tokenzip.errors import MissingObject
from tokenzip.git.merging import Merge, MergedFile, TextConflict
from tokenzip.git.objects import TreeEntry
from tokenzip.git.process import LOCAL_VARIABLES, clean_environment
from tokenzip.git.repository import Commit, GitRepository, Setting, Touched, Worktree
from tokenzip.git.trees import DIRECTORY, EXECUTABLE, GITLINK, REGULAR, SYMLINK, FileEntry, TreeChange
from tokenzip.git.worktree import FileState, IndexEntry

__all__ = [
    "DIRECTORY", "EXECUTABLE", "GITLINK", "LOCAL_VARIABLES", "REGULAR", "SYMLINK", "Commit", "FileEntry", "FileState",
    "GitRepository", "IndexEntry", "Merge", "MergedFile", "MissingObject", "Setting", "TextConflict", "Touched", "TreeChange",
    "TreeEntry", "Worktree", "clean_environment",
]  # fmt: skip
