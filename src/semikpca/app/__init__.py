"""The labeling page: a local web page on which a table gets its labels. Needs the extra ``app``."""

from semikpca.app._addresses import addresses_for_others
from semikpca.app._folder import Folder
from semikpca.app._opening import EXAMPLES, OpenTable, open_example, open_table
from semikpca.app._server import PageServer, make_app, serve
from semikpca.app._session import LabelingSession
from semikpca.app._snapshot import Snapshot
from semikpca.app._token import NO_TOKEN
from semikpca.app._workspace import Workspace, pending_file

__all__ = [
    "EXAMPLES",
    "NO_TOKEN",
    "Folder",
    "LabelingSession",
    "OpenTable",
    "PageServer",
    "Snapshot",
    "Workspace",
    "addresses_for_others",
    "make_app",
    "open_example",
    "open_table",
    "pending_file",
    "serve",
]
