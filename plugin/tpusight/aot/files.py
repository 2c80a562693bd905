# SPDX-License-Identifier: MIT
"""Programs that are files: StableHLO, what jax.export wrote, and what XLA dumped as text. Runs in the compiler's process."""
import glob
import os
from typing import Any, Dict, List, Optional, Tuple

from .._program import TpusightError

MLIR, EXPORT, TEXT, PROTO = "mlir", "export", "text", "proto"
_ENDS = {".mlir": MLIR, ".stablehlo": MLIR, ".mlirbc": MLIR, ".bc": MLIR, ".jax_export": EXPORT, ".jaxexport": EXPORT, ".txt": TEXT,
         ".hlo": TEXT, ".pb": PROTO}
_BYTECODE = b"ML\xefR"
#: Of a folder of --xla_dump_to the module as it runs, else the last one before.
_DUMPED = ("after_codegen.hlo.pb", "after_codegen.txt", "after_optimizations.hlo.pb", "after_optimizations.txt")


def kind_of(path: str) -> Optional[str]:
    """Which kind of file a program is by its name; None: it is none of them."""
    return _ENDS.get(os.path.splitext(path)[1].lower())


def in_folder(folder: str) -> str:
    """The file of the largest module in a folder of dumps."""
    for end in _DUMPED:
        found = max(glob.glob(os.path.join(folder, "*." + end)), key=os.path.getsize, default="")
        if found:
            return found
    raise TpusightError(f"{folder}: has no module as XLA dumps it after its passes (--xla_dump_to, *.{_DUMPED[-1]})")


def _read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def exported(path: str) -> Tuple[Any, Tuple[Any, ...], Dict[str, Any]]:
    """(function, arguments, keywords) of a file of jax.export."""
    try:
        from jax import export
        found = export.deserialize(bytearray(_read(path)))
    except ImportError as e:
        raise TpusightError(f"{path}: {e} (pip install 'tpusight[before]')") from e
    except Exception as e:
        raise TpusightError(f"{path}: is not what jax.export.export(...)(...).serialize() gives: {e}") from e
    if "tpu" not in found.platforms:
        raise TpusightError(f"{path}: was exported for {', '.join(found.platforms)} (export it with platforms=[\"tpu\"])")
    import jax
    args, keywords = jax.tree.unflatten(found.in_tree, [jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in found.in_avals])
    return found.call, args, keywords


class Compiled:
    """What the client's compiler gives, asked as what jax's own compilation gives."""

    def __init__(self, executable: Any) -> None:
        self._executable = executable

    def memory_analysis(self) -> Any:
        return self._executable.get_compiled_memory_stats()

    def cost_analysis(self) -> Any:
        return self._executable.cost_analysis()


def _parsed(data: bytes, context: Any) -> Any:
    """A module of MLIR: text, bytecode, or bytecode in the form that is portable between versions."""
    from jax._src.lib.mlir import ir
    from jax._src.lib.mlir.dialects import hlo
    if data.startswith(_BYTECODE):
        try:
            return hlo.deserialize_portable_artifact(context, data)
        except Exception:  # it is of one version
            pass
    return ir.Module.parse(data)


class Module:
    """StableHLO, compiled as jax's own lowered programs are."""

    def __init__(self, path: str, devices: List[Any]) -> None:
        from jax._src.interpreters import mlir
        try:
            with mlir.make_ir_context() as context:
                self._module = _parsed(_read(path), context)
        except Exception as e:
            raise TpusightError(f"{path}: is not StableHLO that jax reads: {str(e).splitlines()[-1]}") from e
        attributes = self._module.operation.attributes
        count = int(attributes["mhlo.num_partitions"]) if "mhlo.num_partitions" in attributes else 1
        if count > len(devices):
            raise TpusightError(f"{path}: is made for {count} devices, and the topology has {len(devices)}")
        self.devices = devices[:count]

    def compile(self, compiler_options: Dict[str, Any]) -> Compiled:
        import numpy as np
        from jax._src import compiler
        from jaxlib import xla_client
        options = compiler.get_compile_options(num_replicas=1, num_partitions=len(self.devices),
                                               device_assignment=np.array([[device.id for device in self.devices]]))
        options.env_option_overrides = list(compiler_options.items())
        return Compiled(self.devices[0].client.compile(self._module, xla_client.DeviceList(tuple(self.devices)), options))


def proto_of_text(path: str) -> bytes:
    """A module that XLA dumped as text, as an HloProto."""
    from jaxlib import _hlo
    try:
        data: bytes = _hlo.hlo_module_from_text(_read(path).decode("utf-8", "replace")).as_serialized_hlo_module_proto()
    except Exception as e:
        raise TpusightError(f"{path}: is not HLO in text as XLA dumps it: {str(e).splitlines()[0]}") from e
    length, left = bytearray(), len(data)
    while left >= 0x80:
        length.append(left & 0x7f | 0x80)
        left >>= 7
    length.append(left)
    return b"\x0a" + bytes(length) + data
