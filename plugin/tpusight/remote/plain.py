# SPDX-License-Identifier: MIT
"""Whatever else fsspec knows: http, Hugging Face, SFTP, local files, memory.

These have no way to join objects, so that adding a tail reads the beginning of the object and puts all of it again, by way of a local
file. A generation is what the store says of an object that changes with it; it is looked at just before an object is written, not in one
step with writing (the store does not say `if_generation`). In folders of files the new file is renamed over the old one.
"""
import asyncio
import contextlib
import hashlib
import os
import secrets
import tempfile
from typing import Any, AsyncIterator, Dict, Optional

import aiohttp
from fsspec.core import url_to_fs
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper

from .store import PIECE, Broken, File, Object, Store, cuts, in_thread, ns_of, once, unmet
from .trouble import Trouble, not_found

READ_ONLY = ("http", "https", "zip", "tar", "data", "github", "gitlab", "git", "jsdelivr", "reference")
RENAMED = ("file", "local")  # where a rename takes the place of a file
_TIMES = ("mtime", "LastModified", "last_modified", "modified", "updated", "created")
_TOKENS = ("ETag", "etag", "generation", "sha256", "checksum", "blob_id", "size", "ino", *_TIMES)


def store(url: str) -> Store:
    return Plain(url)


def _object(found: Dict[str, Any]) -> Object:
    time = next((found[name] for name in _TIMES if found.get(name)), None)
    said = [f"{name} {found[name]}" for name in _TOKENS if found.get(name) is not None]
    return Object(int(found.get("size") or 0), ns_of(time), hashlib.sha256("\n".join(said).encode()).hexdigest()[:32], found)


class Plain(Store):
    def __init__(self, url: str) -> None:
        super().__init__()
        self.name = url.split("://", 1)[0].lower()
        self.can = () if self.name in READ_ONLY else ("append", "cut")
        try:
            fs, _ = url_to_fs(url, use_listings_cache=False, skip_instance_cache=True)
        except ValueError as e:
            raise Trouble("unsupported", f"{url}: {e} (fsspec has no such store; copy the folder)") from e
        if fs.async_impl:
            fs, _ = url_to_fs(url, asynchronous=True, use_listings_cache=False, skip_instance_cache=True)
        self.fs = fs if fs.async_impl else AsyncFileSystemWrapper(fs, asynchronous=True)
        self.session: Any = None

    async def call(self, url: str, method: str, *args: Any, **kwargs: Any) -> Any:
        if self.session is None and hasattr(self.fs, "set_session"):
            self.session = await self.fs.set_session()
        try:
            return await getattr(self.fs, method)(*args, **kwargs)
        except FileNotFoundError as e:
            raise not_found(url) from e
        except PermissionError as e:
            raise Trouble("denied", f"{url}: {e} (log in as its package of fsspec says)") from e
        except NotImplementedError as e:
            raise Trouble("unsupported", f"{url}: fsspec cannot do this there (copy the folder)") from e
        except (ConnectionError, TimeoutError, asyncio.TimeoutError, aiohttp.ClientPayloadError, aiohttp.ClientConnectionError) as e:
            raise Broken(f"{type(e).__name__}: {e}") from e
        except aiohttp.ClientResponseError as e:
            code = {401: "denied", 403: "denied", 404: "not_found", 412: "changed", 416: "changed"}.get(e.status, "io")
            raise Trouble(code, f"{url}: the server answers {e.status} {e.message}") from e
        except OSError as e:
            raise Trouble("io", f"{url}: {e}") from e

    async def once(self, url: str, method: str, *args: Any, **kwargs: Any) -> Any:
        return await once(url, self.call(url, method, *args, **kwargs))

    def path(self, url: str) -> str:
        return str(self.fs._strip_protocol(url))

    async def entries(self, url: str, recursive: bool) -> AsyncIterator[Dict[str, Any]]:
        path = self.path(url).rstrip("/") + "/"  # without it a server of files sends elsewhere
        if recursive:
            found = await self.once(url, "_find", path, detail=True)
            rows = list(found.values())
        else:
            rows = await self.once(url, "_ls", path, detail=True)
        for row in rows:
            name = str(row["name"])[len(path) - 1:].strip("/")
            if row.get("type") == "directory":
                if name and not recursive:
                    yield {"name": name + "/", "is_folder": True}
            elif name:
                it = _object(row if row.get("size") is not None else await self.once(url, "_info", row["name"]))
                yield {"name": name, **it.told}

    async def look(self, url: str) -> Object:
        found = await self.once(url, "_info", self.path(url))
        if found.get("type") == "directory":
            raise not_found(url)
        return _object(found)

    async def range(self, url: str, start: int, size: int, generation: str) -> bytes:
        data = await self.call(url, "_cat_file", self.path(url), start=start, end=start + size)
        if len(data) > size:
            raise Trouble("unsupported", f"{url}: the server does not serve ranges (download the file, and give its path)")
        return bytes(data)

    async def read(self, opened: Any, url: str, file: str, offset: int = 0, size: Optional[int] = None, at: int = 0,
                   generation: Optional[str] = None) -> Dict[str, Any]:
        """A range cannot be bound to a generation: the object is looked at before and after."""
        before = await self.look(url)
        if generation not in (None, before.generation) or size is not None and offset + size > before.size:
            raise unmet(url, before.generation)
        done = await super().read(opened, url, file, offset, size, at, before.generation)
        if (await self.look(url)).generation != before.generation:
            raise unmet(url, before.generation)
        return done

    async def upload(self, url: str, file: File, generation: Optional[str], opened: Any) -> str:
        await self.writable(url, generation)
        await self.laid(url, file.path)
        opened.advance(file.size)
        return (await self.look(url)).generation

    async def writable(self, url: str, generation: Optional[str]) -> None:
        """Raises where the store is only read, or where the object is not that generation."""
        if not self.can:
            raise Trouble("unsupported", f"{url}: nothing can be written to {self.name} (download the folder, and give its path)")
        if generation is None:
            return
        try:
            now = (await self.look(url)).generation
        except Trouble as trouble:
            if trouble.code != "not_found":
                raise
            now = ""
        if now != generation:
            raise unmet(url, generation)

    async def laid(self, url: str, file: str) -> None:
        path = self.path(url)
        if self.name not in RENAMED:
            await self.once(url, "_put_file", file, path)
            return
        beside = f"{path}.tpusight-tail.{secrets.token_hex(8)}"
        try:
            await self.once(url, "_put_file", file, beside)
            await in_thread(os.replace, beside, path)
        finally:
            with contextlib.suppress(OSError):
                os.unlink(beside)

    async def remove(self, url: str, generation: Optional[str]) -> None:
        await self.writable(url, generation)
        await self.once(url, "_rm_file", self.path(url))

    async def add(self, url: str, old: Object, size: int, tail: File, opened: Any) -> Dict[str, Any]:
        return await self.rewritten(url, old, size, tail, opened)

    async def shorten(self, url: str, old: Object, size: int, native: Optional[str], opened: Any) -> Dict[str, Any]:
        return await self.rewritten(url, old, size, None, opened)

    async def rewritten(self, url: str, old: Object, size: int, tail: Optional[File], opened: Any) -> Dict[str, Any]:
        await self.writable(url, old.generation)
        whole = tempfile.NamedTemporaryFile(prefix="tpusight-", delete=False)
        try:
            with whole:
                for start, length in cuts(0, size, PIECE):
                    await in_thread(whole.write, await self.piece(url, start, length, old.generation))
                if tail:
                    for start, length in cuts(0, tail.size, PIECE):
                        await in_thread(whole.write, await tail.piece(start, length))
            put = File(whole.name)
            return {"generation": await self.upload(url, put, old.generation, opened), "uploaded": put.size, "how": "upload"}
        except OSError as e:
            raise Trouble("no_space", f"{whole.name}: {e.strerror} (make room, or name a folder on another disk in TMPDIR)") from e
        finally:
            os.unlink(whole.name)
