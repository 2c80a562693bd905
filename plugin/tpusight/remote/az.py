# SPDX-License-Identifier: MIT
"""Azure Blob Storage, called through the client that adlfs makes (credentials, retries, workload identity).

A block blob is a list of blocks, and a list may name blocks that the blob has already. So a tail is added by staging its blocks and
committing the blob's own list with them, and taken away by committing the list without them: no byte of the profile moves. What was not
uploaded as blocks, or ends within one, is copied by the store from the blob's own address (Put Block From URL); only where the store
refuses that it is read and uploaded. A list is committed if the blob still has its ETag. Blocks that were staged and not committed vanish
within a week.

Facts: learn.microsoft.com/rest/api/storageservices: put-block, put-block-from-url (100 MiB in older versions), put-block-list,
get-block-list; ids of blocks of one blob are of one length.
"""
import base64
import contextlib
import secrets
from datetime import datetime, timedelta, timezone
from typing import Any, AsyncIterator, Dict, List, NamedTuple, Optional, Tuple

import adlfs
from azure.core import MatchConditions
from azure.core.exceptions import AzureError, ClientAuthenticationError, HttpResponseError, IncompleteReadError, ServiceResponseError
from azure.storage.blob import BlobBlock, BlobSasPermissions, BlobType, ContentSettings, StandardBlobTier, generate_blob_sas

from .store import NOTHING, PIECE, Broken, File, Object, Parts, Store, cuts, in_parallel, ns_of, prefix_of, unmet
from .trouble import Trouble, changed, not_found

COPIED_BLOCK = 100 << 20
MOST_BLOCKS = 40000
ID_LENGTH = 32
LEAST_ID = 12  # of a shorter one two could be the same by chance
_HOSTS = (".dfs.core.windows.net", ".blob.core.windows.net")
_LOGIN = ("run `az login`, or set AZURE_STORAGE_CONNECTION_STRING, or AZURE_STORAGE_ACCOUNT_NAME with a key or a SAS token; an identity "
          "needs the role Storage Blob Data Contributor on the container")
_UNNAMED = ("InvalidBlockList", "InvalidBlockId", "InvalidBlobOrBlock")
_HELD = ("LeaseIdMissing", "LeaseIdMismatchWithBlobOperation", "BlobImmutableDueToPolicy")


def store(url: str) -> Store:
    return Az(url)


class Unnamed(Trouble):
    """The store does not know a block by the id that it was given."""


class Block(NamedTuple):
    id: str
    size: int


class Stretch(NamedTuple):
    """A block to be: which bytes of what is put together."""
    id: str
    at: int
    size: int


def _object(raw: Any) -> Object:
    return Object(raw.size, ns_of(raw.last_modified), (raw.etag or "").strip('"'), raw)


def _condition(generation: Optional[str]) -> Dict[str, Any]:
    if generation is None:
        return {}
    if generation == "":
        return {"match_condition": MatchConditions.IfMissing}
    return {"etag": f'"{generation}"', "match_condition": MatchConditions.IfNotModified}


class Az(Store):
    name = "az"
    can = ("append", "cut", "if_generation")

    def __init__(self, url: str) -> None:
        super().__init__()
        try:
            self.fs = adlfs.AzureBlobFileSystem(asynchronous=True, use_listings_cache=False, skip_instance_cache=True,
                                                **adlfs.AzureBlobFileSystem._get_kwargs_from_urls(url))
        except ValueError as e:
            raise Trouble("denied", f"{url}: {e} ({_LOGIN})") from e

    def split(self, url: str) -> Tuple[str, str]:
        """(container, name) of az://CONTAINER/NAME, abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/NAME, az://ACCOUNT.blob.core.windows.net/..."""
        host, _, name = url.split("://", 1)[1].partition("/")
        container = host.partition("@")[0] if "@" in host else host
        if container.endswith(_HOSTS):
            container, _, name = name.partition("/")
        if not container:
            raise Trouble("not_found", f"{url}: the address has no container (write az://CONTAINER/FOLDER)")
        return container, name

    def blob(self, url: str) -> Any:
        container, name = self.split(url)
        if not name or name.endswith("/"):
            raise not_found(url)
        return self.fs.service_client.get_blob_client(container, name)

    async def call(self, url: str, work: Any, bound: Optional[str] = None) -> Any:
        try:
            return await work
        except (AzureError, OSError) as e:
            raise _of_answer(url, bound, e) from e

    async def entries(self, url: str, recursive: bool) -> AsyncIterator[Dict[str, Any]]:
        container, name = self.split(url)
        prefix = prefix_of(name)
        client = self.fs.service_client.get_container_client(container)
        pages = client.list_blobs(name_starts_with=prefix) if recursive else client.walk_blobs(name_starts_with=prefix, delimiter="/")
        found = pages.__aiter__()
        while True:
            try:
                raw = await self.call(url, found.__anext__())
            except StopAsyncIteration:
                return
            if not recursive and raw.name.endswith("/"):
                yield {"name": raw.name[len(prefix):], "is_folder": True}
            elif not raw.name.endswith("/") and (raw.metadata or {}).get("hdi_isfolder") != "true":
                yield {"name": raw.name[len(prefix):], **_object(raw).told}

    async def look(self, url: str) -> Object:
        found = _object(await self.call(url, self.blob(url).get_blob_properties()))
        if (found.raw.metadata or {}).get("hdi_isfolder") == "true":
            raise not_found(url)
        return found

    async def range(self, url: str, start: int, size: int, generation: str) -> bytes:
        async def fetch() -> bytes:
            stream = await self.blob(url).download_blob(offset=start, length=size, max_concurrency=1, **_condition(generation))
            return bytes(await stream.readall())
        return bytes(await self.call(url, fetch(), generation))

    # Whole objects.
    async def upload(self, url: str, file: File, generation: Optional[str], opened: Any) -> str:
        parts = Parts(url, NOTHING, 0, file)
        new = self.stretches(0, parts.size, _block_size(parts.size), ID_LENGTH)
        await self.stage(url, parts, new, opened)
        return await self.commit(url, [stretch.id for stretch in new], {}, generation)

    def stretches(self, at: int, size: int, most: int, length: int) -> List[Stretch]:
        return [Stretch(secrets.token_hex(length)[:length], start, n) for start, n in cuts(at, size, most)]

    async def stage(self, url: str, parts: Parts, new: List[Stretch], opened: Any) -> None:
        blob = self.blob(url)

        async def put(stretch: Stretch) -> None:
            async with self.turns:
                data = await self.bytes_of(parts, stretch.at, stretch.size)
                await self.call(url, blob.stage_block(stretch.id, data, length=len(data)))
            opened.advance(stretch.size)
        await in_parallel(new, put, self.jobs)

    async def commit(self, url: str, ids: List[str], described: Dict[str, Any], generation: Optional[str]) -> str:
        blocks = [BlobBlock(block_id=name) for name in ids]
        found = await self.call(url, self.blob(url).commit_block_list(blocks, **described, **_condition(generation)), generation)
        return str(found["etag"]).strip('"')

    async def remove(self, url: str, generation: Optional[str]) -> None:
        await self.call(url, self.blob(url).delete_blob(delete_snapshots="include", **_condition(generation or None)), generation)

    # A tail more, or less.
    async def described(self, url: str, raw: Any) -> Dict[str, Any]:
        """What the blob keeps. Its MD5 is that of other bytes."""
        is_block_blob(url, raw)
        old = raw.content_settings
        settings = ContentSettings(content_type=old.content_type, content_encoding=old.content_encoding, cache_control=old.cache_control,
                                   content_language=old.content_language, content_disposition=old.content_disposition)
        found: Dict[str, Any] = {"content_settings": settings, "metadata": raw.metadata or None}
        if raw.blob_tier and not raw.blob_tier_inferred:
            found["standard_blob_tier"] = StandardBlobTier(raw.blob_tier)
        if raw.encryption_scope:
            found["encryption_scope"] = raw.encryption_scope
        if raw.tag_count:
            found["tags"] = await self.call(url, self.blob(url).get_blob_tags())
        return found

    async def blocks(self, url: str) -> Tuple[List[Block], int]:
        """(the blocks of the blob, the length that ids of new ones have to have)"""
        committed, staged = await self.call(url, self.blob(url).get_block_list("all"))
        lengths = {len(str(block.id).encode()) for block in [*committed, *staged]}
        if len(lengths) != 1 or min(lengths) < LEAST_ID:
            return [], ID_LENGTH
        return [Block(block.id, block.size) for block in committed], lengths.pop()

    async def add(self, url: str, old: Object, size: int, tail: File, opened: Any) -> Dict[str, Any]:
        return await self.written(url, old, Parts(url, old, size, tail), opened)

    async def shorten(self, url: str, old: Object, size: int, native: Optional[str], opened: Any) -> Dict[str, Any]:
        return await self.written(url, old, Parts(url, old, size, None), opened)

    async def written(self, url: str, old: Object, parts: Parts, opened: Any) -> Dict[str, Any]:
        """PARTS in the place of OLD. The client hands out ids that are not text in another form, and blocks cannot be named by it: then all
        of it is copied, into blocks whose ids are as long as those that wait, or else as those of the blob."""
        described = await self.described(url, old.raw)
        blocks, length = await self.blocks(url)
        for first, id_length in ((blocks, length), ([], length)) if blocks else ():
            with contextlib.suppress(Unnamed):
                return await self.committed(url, old, parts, described, first, id_length, opened)
        return await self.committed(url, old, parts, described, [], _packed_length(blocks[0].id) if blocks else length, opened)

    async def committed(self, url: str, old: Object, parts: Parts, described: Dict[str, Any], blocks: List[Block], length: int,
                        opened: Any) -> Dict[str, Any]:
        ids, moved = await self.first(url, parts, blocks, length, opened)
        if parts.tail:
            new = self.stretches(parts.base_size, parts.tail.size, _block_size(parts.tail.size), length)
            await self.stage(url, parts, new, opened)
            ids = ids + [stretch.id for stretch in new]
        done = await self.commit(url, ids, described, old.generation)
        return {"generation": done, "uploaded": moved + (parts.tail.size if parts.tail else 0), "how": "upload" if moved else "blocks"}

    async def first(self, url: str, parts: Parts, blocks: List[Block], length: int, opened: Any) -> Tuple[List[str], int]:
        """(ids of blocks that hold the base, bytes of it that had to be uploaded)"""
        ids, end, size = [], 0, parts.base_size
        for block in blocks:
            if end + block.size > size:
                break
            ids.append(block.id)
            end += block.size
        rest = self.stretches(end, size - end, COPIED_BLOCK, length)
        if rest and not await self.copied(url, rest):
            rest = self.stretches(end, size - end, _block_size(size), length)
            await self.stage(url, parts, rest, opened)
            return ids + [stretch.id for stretch in rest], size - end
        return ids + [stretch.id for stretch in rest], 0

    async def copied(self, url: str, rest: List[Stretch]) -> bool:
        """Whether the store copied these bytes of the blob into blocks."""
        blob, source = self.blob(url), await self.source(url)

        async def copy(stretch: Stretch) -> None:
            await blob.stage_block_from_url(stretch.id, source_offset=stretch.at, source_length=stretch.size, **source)
        try:
            await in_parallel(rest, copy, self.jobs)
        except HttpResponseError:  # whatever the store has against it, there is another way
            return False
        return True

    async def source(self, url: str) -> Dict[str, str]:
        """The blob's address for the store itself, and what lets it read there."""
        blob, (container, name) = self.blob(url), self.split(url)
        key = getattr(self.fs.service_client.credential, "account_key", None)
        if key:
            until = datetime.now(timezone.utc) + timedelta(hours=1)
            sas = generate_blob_sas(blob.account_name, container, name, account_key=key, expiry=until,
                                    permission=BlobSasPermissions(read=True))
            return {"source_url": f"{blob.url}?{sas}"}
        if self.fs.credential is not None:
            token = await self.call(url, self.fs.credential.get_token("https://storage.azure.com/.default"))
            return {"source_url": blob.url, "source_authorization": f"Bearer {token.token}"}
        return {"source_url": blob.url}


def _packed_length(text: str) -> int:
    """The length of an id that is no text, and came in base64."""
    try:
        return len(base64.b64decode(text, validate=True))
    except ValueError:
        return ID_LENGTH


def _block_size(size: int) -> int:
    return max(2 * PIECE, -(-size // MOST_BLOCKS))


def is_block_blob(url: str, raw: Any) -> None:
    if raw.blob_type != BlobType.BLOCKBLOB:
        raise Trouble("unsupported", f"{url}: it is not a block blob: nothing can be added to it (copy it to a new blob)")


def _of_answer(url: str, bound: Optional[str], e: BaseException) -> BaseException:
    status, code = getattr(e, "status_code", None), getattr(e, "error_code", None)
    code = str(getattr(code, "value", code))
    text = (str(e).strip().splitlines() or [type(e).__name__])[0]
    if isinstance(e, (IncompleteReadError, ServiceResponseError)):
        return Broken(text)
    if code in _UNNAMED:
        return Unnamed("io", f"{url}: {text} (run the command again)")
    if code in _HELD:
        return Trouble("denied", f"{url}: {text} (it is leased, or may not be changed: end the lease, or copy the folder)")
    if isinstance(e, ClientAuthenticationError) or status in (401, 403):
        return Trouble("denied", f"{url}: {text} ({_LOGIN})")
    if status == 404:
        return not_found(url)
    if status == 416:
        return changed(url)
    if status in (409, 412):
        return unmet(url, bound)
    if status in (429, 500, 503):
        return Trouble("busy", f"{url}: {text} (run the command again in some minutes)")
    if status == 501:
        return Trouble("unsupported", f"{url}: the store refuses this request: {text}")
    return Trouble("io", f"{url}: {text} (run the command again)")
