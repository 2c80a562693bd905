# SPDX-License-Identifier: MIT
"""Google Cloud Storage, by its JSON API, called through gcsfs (credentials, retries).

A tail is added by compose: the tail is uploaded under a name beside the object, the store joins both under the object's name, and the
tail is deleted. Compose takes whole objects, so to shorten one, or to change its tail, the store has to have kept the generation before it
was annotated: as a noncurrent version, or deleted softly, as buckets do for seven days if nobody turned it off. Where it has not, the
bytes are read and uploaded again. Which generation it was stands in the metadata of the object, under MARK, as long as it has a tail.

Facts: cloud.google.com/storage/docs/json_api/v1/objects (compose, rewrite, restore), /docs/composite-objects: 1 to 32 sources of one
bucket and one storage class, component counts have no limit, a source may name its generation; /docs/performing-resumable-uploads: chunks
are multiples of 256 KiB, and bytes that were stored are passed over when they are sent again.
"""
import asyncio
import contextlib
import json
import time
from datetime import datetime, timezone
from typing import Any, AsyncIterator, Dict, NamedTuple, Optional, Tuple
from urllib.parse import quote

import aiohttp
import gcsfs
import google.auth.exceptions
from gcsfs.retry import HttpError

from .store import NOTHING, PIECE, Broken, File, Object, Parts, Store, ns_of, once, prefix_of, unmet
from .trouble import Trouble, changed, not_found

MARK = "tpusight-native"
TAIL = ".tpusight-tail."
OLD_S = 24 * 3600
CHUNK = 2 * PIECE
_FIELDS = "nextPageToken,prefixes,items(name,size,updated,generation)"
_KEPT = ("contentType", "contentEncoding", "contentDisposition", "contentLanguage", "cacheControl", "storageClass", "customTime",
         "temporaryHold", "eventBasedHold")
_LOGIN = ("run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS; a service account needs the role "
          "Storage Object User on the bucket")


def store(url: str) -> Store:
    return Gs()


class Mark(NamedTuple):
    """What MARK holds: the generation without a tail, and which tail was added to it."""
    native: str
    tail: str

    @classmethod
    def of(cls, raw: Dict[str, Any]) -> Optional["Mark"]:
        words = str(raw.get("metadata", {}).get(MARK, "")).split(" ")
        return cls(*words) if len(words) == 2 and words[0].isdigit() else None


def _time(text: str) -> datetime:
    for form in ("%Y-%m-%dT%H:%M:%S.%fZ", "%Y-%m-%dT%H:%M:%SZ"):
        try:
            return datetime.strptime(text, form).replace(tzinfo=timezone.utc)
        except ValueError:
            continue
    return datetime.fromtimestamp(0, timezone.utc)


def _object(raw: Dict[str, Any]) -> Object:
    return Object(int(raw.get("size", 0)), ns_of(_time(raw.get("updated", ""))), str(raw.get("generation", "")), raw)


def _described(raw: Dict[str, Any], mark: Optional[Mark]) -> Dict[str, Any]:
    """What an object that takes the place of RAW is to keep of it."""
    found = {key: raw[key] for key in _KEPT if raw.get(key)}
    metadata = {key: value for key, value in raw.get("metadata", {}).items() if key != MARK}
    if mark:
        metadata[MARK] = f"{mark.native} {mark.tail}"
    return {**found, "metadata": metadata} if metadata else found


def _key_of(raw: Dict[str, Any]) -> Optional[str]:
    """The key of Cloud KMS that it is encrypted with; an object names its version, a request the key."""
    name = raw.get("kmsKeyName")
    return name.split("/cryptoKeyVersions/")[0] if name else None


class Base(NamedTuple):
    """A generation without a tail; `softly`: it was deleted, and can be restored."""
    object: Object
    softly: bool


class Gs(Store):
    name = "gs"
    can = ("append", "cut", "if_generation")

    def __init__(self) -> None:
        super().__init__()
        # Objects that are stored packed by gzip come as they are stored: their ranges are ranges of those bytes.
        session = {"auto_decompress": False, "headers": {"Accept-Encoding": "identity"}}
        self.fs = gcsfs.GCSFileSystem(asynchronous=True, session_kwargs=session, use_listings_cache=False, skip_instance_cache=True)

    def split(self, url: str) -> Tuple[str, str]:
        bucket, _, key = url.split("://", 1)[1].partition("/")
        if not bucket:
            raise Trouble("not_found", f"{url}: the address has no bucket (write gs://BUCKET/FOLDER)")
        return bucket, key

    def path(self, url: str) -> str:
        bucket, key = self.split(url)
        return f"b/{quote(bucket, safe='')}/o/{quote(key, safe='')}"

    async def call(self, url: str, method: str, path: str, bound: Optional[str] = None, **kwargs: Any) -> Tuple[Any, bytes]:
        """(headers, body). A failure is one about URL; BOUND is the generation that the request was bound to."""
        try:
            headers, body = await self.fs._call(method, path, **kwargs)
            return headers, body
        except FileNotFoundError as e:
            raise not_found(url) from e
        except FileExistsError as e:  # 412
            raise unmet(url, bound) from e
        except HttpError as e:
            raise _of_status(url, e) from e
        except google.auth.exceptions.GoogleAuthError as e:
            raise Trouble("denied", f"{url}: {e} ({_LOGIN})") from e
        except (aiohttp.ClientError, ConnectionError) as e:
            raise Broken(f"{type(e).__name__}: {e}") from e
        except (OSError, ValueError) as e:
            if str(e).startswith("Forbidden"):
                raise Trouble("denied", f"{url}: {_last(e)} ({_LOGIN})") from e
            raise Trouble("io", f"{url}: {_last(e)}") from e

    async def once(self, url: str, *args: Any, **kwargs: Any) -> Tuple[Any, bytes]:
        return await once(url, self.call(url, *args, **kwargs))

    async def ask(self, url: str, method: str, path: str, bound: Optional[str] = None, **kwargs: Any) -> Dict[str, Any]:
        _, body = await self.once(url, method, path, bound, **kwargs)
        return json.loads(body) if body else {}

    async def entries(self, url: str, recursive: bool) -> AsyncIterator[Dict[str, Any]]:
        bucket, key = self.split(url)
        prefix = prefix_of(key)
        page: Optional[str] = None
        while True:
            found = await self.ask(url, "GET", f"b/{quote(bucket, safe='')}/o", prefix=prefix, delimiter=None if recursive else "/",
                                   pageToken=page, fields=_FIELDS)
            for name in found.get("prefixes", []):
                yield {"name": name[len(prefix):], "is_folder": True}
            for raw in found.get("items", []):
                if not raw["name"].endswith("/"):
                    yield {"name": raw["name"][len(prefix):], **_object(raw).told}
            page = found.get("nextPageToken")
            if not page:
                return

    async def look(self, url: str) -> Object:
        if not self.split(url)[1] or url.endswith("/"):
            raise not_found(url)
        return _object(await self.ask(url, "GET", self.path(url)))

    async def range(self, url: str, start: int, size: int, generation: str) -> bytes:
        head = {"Range": f"bytes={start}-{start + size - 1}", "Accept-Encoding": "gzip"}
        headers, body = await self.call(url, "GET", f"{self.fs._location}/download/storage/v1/{self.path(url)}", generation,
                                        alt="media", ifGenerationMatch=generation, headers=head)
        if headers.get("X-Goog-Generation", generation) != generation:
            raise changed(url)
        return body

    # Whole objects.
    async def upload(self, url: str, file: File, generation: Optional[str], opened: Any) -> str:
        return (await self.send(url, Parts(url, NOTHING, 0, file), {}, generation, opened)).generation

    async def send(self, url: str, parts: Parts, described: Dict[str, Any], generation: Optional[str], opened: Any,
                   key: Optional[str] = None) -> Object:
        """Uploads what PARTS are, chunk by chunk; the object is there after the last one."""
        bucket, name = self.split(url)
        headers, _ = await self.once(url, "POST", f"{self.fs._location}/upload/storage/v1/b/{quote(bucket, safe='')}/o", generation,
                                     uploadType="resumable", name=name, ifGenerationMatch="0" if generation == "" else generation,
                                     kmsKeyName=key, json=described)
        session = headers["Location"]
        try:
            return await self.sent(url, parts, session, described.get("contentType", "application/octet-stream"), generation, opened)
        except BaseException:
            await asyncio.shield(self.forget(session))
            raise

    async def sent(self, url: str, parts: Parts, session: str, kind: str, generation: Optional[str], opened: Any) -> Object:
        at = 0
        while True:
            async with self.turns:
                data = await self.bytes_of(parts, at, min(CHUNK, parts.size - at))
                end = at + len(data)
                span = f"{at}-{end - 1}" if data else "*"
                total = parts.size if end == parts.size else "*"
                headers, body = await self.once(url, "PUT", session, generation, data=data,
                                                headers={"Content-Range": f"bytes {span}/{total}", "Content-Type": kind})
            if end == parts.size:
                opened.advance(len(data))
                return _object(json.loads(body))
            stored = int(headers["Range"].rpartition("-")[2]) + 1 if "Range" in headers else end
            opened.advance(stored - at)
            at = stored

    async def forget(self, session: str) -> None:
        """Ends an upload that will not be finished; the store does so too, after a week."""
        with contextlib.suppress(Exception):  # 499 is what it answers, and what failed before is told
            await self.fs._call("DELETE", session)

    async def remove(self, url: str, generation: Optional[str]) -> None:
        await self.ask(url, "DELETE", self.path(url), generation, ifGenerationMatch=generation or None)

    # A tail more, or less.
    async def base(self, url: str, old: Object, size: int, native: Optional[str]) -> Optional[Base]:
        """The generation that has the first SIZE bytes of the object and no others, if the store has it."""
        if old.size == size:
            return Base(old, False)
        mark = Mark.of(old.raw)
        generation = native or (mark.native if mark else None)
        for softly in (False, True) if generation else ():
            with contextlib.suppress(Trouble):
                found = _object(await self.ask(url, "GET", self.path(url), generation=generation,
                                               softDeleted="true" if softly else None))
                if (found.generation, found.size) == (generation, size):
                    return Base(found, softly)
        return None

    async def restored(self, url: str, old: Object, base: Object) -> Object:
        return _object(await self.ask(url, "POST", self.path(url) + "/restore", old.generation, generation=base.generation,
                                      ifGenerationMatch=old.generation))

    async def add(self, url: str, old: Object, size: int, tail: File, opened: Any) -> Dict[str, Any]:
        base = await self.base(url, old, size, None)
        if base is None:
            done = await self.send(url, Parts(url, old, size, tail), _described(old.raw, None), old.generation, opened, _key_of(old.raw))
            return {"generation": done.generation, "uploaded": size + tail.size, "how": "upload"}
        if base.softly:
            old = await self.restored(url, old, base.object)
            base = Base(old, False)
        done = await self.joined(url, old, base.object, tail, opened)
        return {"generation": done.generation, "uploaded": tail.size, "how": "compose"}

    async def joined(self, url: str, old: Object, base: Object, tail: File, opened: Any) -> Object:
        """BASE with the tail in the place of OLD. The tail's name follows from its bytes: what a killed helper left is used again."""
        mark = Mark(base.generation, await tail.digest())
        await self.sweep(url)
        beside = url + TAIL + mark.tail
        described = {key: base.raw[key] for key in ("storageClass",) if base.raw.get(key)}
        laid = await self.send(beside, Parts(beside, NOTHING, 0, tail), described, None, opened, _key_of(base.raw))
        try:
            return await self.composed(url, old, base, mark, laid)
        finally:
            await asyncio.shield(self.clear(beside, laid.generation))

    async def composed(self, url: str, old: Object, base: Object, mark: Mark, laid: Object) -> Object:
        name = self.split(url)[1]
        sources = [{"name": name, "generation": base.generation}, {"name": name + TAIL + mark.tail}]
        try:
            return _object(await self.ask(url, "POST", self.path(url) + "/compose", old.generation,
                                          ifGenerationMatch=old.generation, kmsKeyName=_key_of(old.raw),
                                          json={"sourceObjects": sources, "destination": _described(old.raw, mark)}))
        except Trouble as trouble:
            now = await self.look(url)
            if Mark.of(now.raw) == mark and now.size == base.size + laid.size:
                return now  # it was done, and the answer was lost
            if trouble.code == "not_found" and now.generation == old.generation:
                raise Trouble("busy", f"{url}: another run of tpusight annotates it (run the command again)") from trouble
            raise

    async def clear(self, url: str, generation: str) -> None:
        with contextlib.suppress(Trouble):  # another helper's sweep finds it in a day
            await self.ask(url, "DELETE", self.path(url), generation=generation)

    async def sweep(self, url: str) -> None:
        """Deletes tails of this object that killed helpers left a day ago."""
        bucket, key = self.split(url)
        with contextlib.suppress(Trouble):
            found = await self.ask(url, "GET", f"b/{quote(bucket, safe='')}/o", prefix=key + TAIL, fields=_FIELDS)
            for raw in found.get("items", []):
                if time.time() - _object(raw).mtime_ns / 1e9 > OLD_S:
                    await self.clear(f"gs://{bucket}/{raw['name']}", str(raw["generation"]))

    async def shorten(self, url: str, old: Object, size: int, native: Optional[str], opened: Any) -> Dict[str, Any]:
        base = await self.base(url, old, size, native)
        if base is None:
            done = await self.send(url, Parts(url, old, size, None), _described(old.raw, None), old.generation, opened, _key_of(old.raw))
            return {"generation": done.generation, "uploaded": size, "how": "upload"}
        done = await (self.restored if base.softly else self.copied)(url, old, base.object)
        return {"generation": done.generation, "uploaded": 0, "how": "generation"}

    async def copied(self, url: str, old: Object, base: Object) -> Object:
        """BASE, a noncurrent version, in the place of OLD; of large objects the store copies a part a call."""
        token: Optional[str] = None
        while True:
            found = await self.ask(url, "POST", f"{self.path(url)}/rewriteTo/{self.path(url)}", old.generation, rewriteToken=token,
                                   sourceGeneration=base.generation, ifGenerationMatch=old.generation,
                                   destinationKmsKeyName=_key_of(old.raw), json=_described(old.raw, None))
            if found.get("done"):
                return _object(found["resource"])
            token = found["rewriteToken"]


def _last(e: BaseException) -> str:
    """What a package says at the end: before it stands the address of the request."""
    lines = str(e).strip().splitlines()
    return lines[-1] if lines else type(e).__name__


def _of_status(url: str, e: HttpError) -> Trouble:
    code = int(e.code) if str(e.code).isdigit() else 0
    if code == 401:
        return Trouble("denied", f"{url}: the store does not know you, or you were logged out: {e.message} ({_LOGIN})")
    if code == 416:
        return changed(url)
    if code in (408, 429) or code >= 500:
        return Trouble("busy", f"{url}: the store answers {code}: {e.message} (run the command again in some minutes)")
    return Trouble("io", f"{url}: the store answers {code}: {e.message}")
