"""Objects as bytes and back: skops, with the names of the registry in place of modules."""

import json
from collections.abc import Callable
from io import BytesIO
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from semikpca.exceptions import ModelFileError
from semikpca.tables import listed
from semikpca.workflow._migrations import FORMAT_1_NAMES, FORMAT_VERSION, FORMER_NAMES, FormerType
from semikpca.workflow._registry import FOREIGN_TYPES, Kind, registered_types

_SCHEMA = "schema.json"  # in which skops keeps the tree of objects, with module and class of each
_KINDS = {kind.value: kind for kind in Kind}


class RefusedTypesError(Exception):
    """Types that no model holds, or names that are not registered; nothing was made of them."""


def write_objects(objects: Any) -> bytes:
    """Return objects as bytes that :func:`read_objects` reads; a type that no file can hold is refused."""
    from skops.io import dumps, get_untrusted_types

    types = registered_types()
    names = {_path(found): name for name, found in types.items()}
    archive = dumps(objects)
    strangers = set(get_untrusted_types(data=archive)) - set(FOREIGN_TYPES) - set(names)
    if strangers:
        raise ModelFileError(
            f"The model holds {listed(sorted(strangers), 8)}, which no file can hold. Use kernels that are classes, "
            "derived from semikpca.kernels.Kernel and defined in a module, not functions."
        )

    def rename(node: dict[str, Any]) -> None:
        name = names.get(f"{node['__module__']}.{node['__class__']}")
        if name is not None:
            node["__module__"], node["__class__"] = name[0].value, name[1]

    return _with_nodes_changed(archive, rename, compression=ZIP_DEFLATED, compresslevel=1)


def read_objects(archive: bytes, format_version: int = FORMAT_VERSION) -> Any:
    """Return the objects that were written in this format or an earlier one, with the attributes that they had then.

    RefusedTypesError is raised for a type or a name that no model holds, before anything is made of it.
    """
    from skops.io import get_untrusted_types, loads

    types: dict[tuple[Kind, str], type] = {**dict.fromkeys(FORMER_NAMES, FormerType), **registered_types()}
    unknown: set[tuple[Kind, str]] = set()
    refused: set[str] = set()

    def rename(node: dict[str, Any]) -> None:
        written = f"{node['__module__']}.{node['__class__']}"
        if format_version == 1:
            name = FORMAT_1_NAMES.get(written)
        else:
            kind = _KINDS.get(node["__module__"])
            name = None if kind is None else (kind, node["__class__"])
        if name in types:
            found = types[name]
            node["__module__"], node["__class__"] = found.__module__, found.__name__
        elif name is not None:
            unknown.add(name)
        elif node["__module__"].partition(".")[0] == "semikpca":
            refused.add(written)  # a module of the package that no name stands for

    archive = _with_nodes_changed(archive, rename, compression=ZIP_STORED)
    if kernels := sorted(name for kind, name in unknown if kind is Kind.KERNEL):
        remedy = "import the module that defines it before the model is loaded"
        raise RefusedTypesError(f"names the kernel {listed(kernels, 8)}, which is not known here; {remedy}")
    if unknown:
        names = listed(sorted(name for _, name in unknown), 8)
        raise RefusedTypesError(f"names {names}, which this version of semikpca does not know")
    trusted = {*FOREIGN_TYPES, *map(_path, types.values())}
    refused |= set(get_untrusted_types(data=archive)) - trusted
    if refused:
        raise RefusedTypesError(f"holds {listed(sorted(refused), 8)}, which no model holds")
    return loads(archive, trusted=sorted(trusted))


def _path(found: type) -> str:
    return f"{found.__module__}.{found.__name__}"


def _with_nodes_changed(archive: bytes, change: Callable[[dict[str, Any]], None], **compression: Any) -> bytes:
    """Return an archive of skops in which each part of the tree that names a type went through a function."""

    def changed(part: dict[str, Any]) -> dict[str, Any]:
        if isinstance(part.get("__module__"), str) and isinstance(part.get("__class__"), str):
            change(part)
        return part

    result = BytesIO()
    with ZipFile(BytesIO(archive)) as before, ZipFile(result, "w", **compression) as after:
        for name in dict.fromkeys(before.namelist()):
            content = before.read(name)
            if name == _SCHEMA:
                content = json.dumps(json.loads(content, object_hook=changed)).encode()
            after.writestr(name, content)
    return result.getvalue()
