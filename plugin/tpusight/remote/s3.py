# SPDX-License-Identifier: MIT
"""S3 and what speaks its protocol, called through s3fs (credentials, retries of aiobotocore).

A tail is added, or taken away, by a multipart upload whose first parts the store copies from the object itself (UploadPartCopy), so that
the profile does not travel. All parts but the last have at least 5 MiB: an object that is smaller is read and put whole. Readers see the
old object until the upload is completed, and it is completed only if the object is still the one that was copied (If-Match).

Numbers of our parts begin at FIRST, which no other program does: so uploads that a killed helper left are known, and aborted after a day.

Facts: docs.aws.amazon.com/AmazonS3/latest/userguide/qfacts.html (5 MiB to 5 GiB a part, 10,000 parts, numbers need not follow each other),
API pages UploadPartCopy, CompleteMultipartUpload, PutObject and DeleteObject (If-Match, If-None-Match).
"""
import asyncio
import contextlib
import time
from typing import Any, AsyncIterator, Callable, Dict, List, Optional, Tuple
from urllib.parse import urlencode

import aiohttp
import botocore.exceptions
import s3fs
from s3fs.core import S3_RETRYABLE_ERRORS

from .store import NOTHING, PIECE, Broken, File, Object, Parts, Store, cuts, in_parallel, ns_of, prefix_of, unmet
from .trouble import Trouble, not_found

LEAST_PART = 5 << 20
COPIED_PART = 512 << 20  # the store copies parts in parallel
MOST_PARTS = 2000
FIRST = 6971
OLD_S = 24 * 3600
_KEPT = ("CacheControl", "ContentDisposition", "ContentEncoding", "ContentLanguage", "ContentType", "Expires", "Metadata", "StorageClass",
         "WebsiteRedirectLocation", "ServerSideEncryption", "SSEKMSKeyId", "BucketKeyEnabled")
_LOGIN = ("run `aws sso login` or `aws configure`, or set AWS_PROFILE; the role needs s3:GetObject, s3:PutObject, s3:DeleteObject, "
          "s3:AbortMultipartUpload and s3:ListBucket")
_MISSING = ("404", "NoSuchKey", "NoSuchBucket", "NoSuchUpload", "NoSuchVersion")
_UNMET = ("412", "PreconditionFailed", "ConditionalRequestConflict", "416", "InvalidRange")
_DENIED = ("400", "401", "403", "AccessDenied", "AllAccessDisabled", "ExpiredToken", "InvalidAccessKeyId", "InvalidToken",
           "SignatureDoesNotMatch", "RequestTimeTooSkewed", "TokenRefreshRequired", "AccountProblem")
_BUSY = ("409", "429", "500", "503", "SlowDown", "ServiceUnavailable", "InternalError", "OperationAborted", "RequestTimeout", "Throttling")
_FOREIGN = ("501", "NotImplemented", "MethodNotAllowed", "InvalidObjectState")


def store(url: str) -> Store:
    return S3()


def _generation(etag: str) -> str:
    return etag.strip('"')


def _etag(generation: str) -> str:
    return f'"{generation}"'


def _object(raw: Dict[str, Any]) -> Object:
    size = raw["ContentLength"] if "ContentLength" in raw else raw["Size"]
    return Object(size, ns_of(raw.get("LastModified")), _generation(raw.get("ETag", "")), raw)


def _described(raw: Dict[str, Any]) -> Dict[str, Any]:
    return {key: raw[key] for key in _KEPT if raw.get(key)}


def _part_size(size: int) -> int:
    """For an upload of SIZE bytes."""
    return max(2 * PIECE, -(-size // MOST_PARTS))


class Upload:
    """A multipart upload: the parts that were sent, and how it ends."""

    def __init__(self, store: "S3", url: str, where: Dict[str, str], number: str) -> None:
        self.store, self.url, self.where = store, url, {**where, "UploadId": number}
        self.parts: List[Dict[str, Any]] = []

    async def put(self, index: int, data: bytes) -> None:
        found = await self.store.call(self.url, "upload_part", **self.where, PartNumber=FIRST + index, Body=data)
        self.parts.append({"PartNumber": FIRST + index, "ETag": found["ETag"]})

    async def copy(self, index: int, start: int, size: int, generation: str) -> None:
        source = {"Bucket": self.where["Bucket"], "Key": self.where["Key"]}
        found = await self.store.call(self.url, "upload_part_copy", **self.where, PartNumber=FIRST + index, CopySource=source,
                                      CopySourceRange=f"bytes={start}-{start + size - 1}", CopySourceIfMatch=_etag(generation))
        self.parts.append({"PartNumber": FIRST + index, "ETag": found["CopyPartResult"]["ETag"]})

    async def complete(self, condition: Dict[str, str], generation: Optional[str]) -> str:
        parts = sorted(self.parts, key=lambda part: int(part["PartNumber"]))
        found = await self.store.call(self.url, "complete_multipart_upload", generation, **self.where, **condition,
                                      MultipartUpload={"Parts": parts})
        return _generation(found["ETag"])

    async def abort(self) -> None:
        with contextlib.suppress(Exception):  # what failed before is told; sweep() tries again in a day
            await self.store.call(self.url, "abort_multipart_upload", **self.where)


class S3(Store):
    name = "s3"
    can = ("append", "cut", "if_generation")

    def __init__(self) -> None:
        super().__init__()
        self.fs = s3fs.S3FileSystem(asynchronous=True, use_listings_cache=False, skip_instance_cache=True)

    def where(self, url: str) -> Dict[str, str]:
        bucket, _, key = url.split("://", 1)[1].partition("/")
        if not bucket:
            raise Trouble("not_found", f"{url}: the address has no bucket (write s3://BUCKET/FOLDER)")
        return {"Bucket": bucket, "Key": key}

    async def call(self, url: str, method: str, bound: Optional[str] = None, **kwargs: Any) -> Any:
        """What the store answers. BOUND is the generation that the request is bound to."""
        try:
            return await self.fs._call_s3(method, **kwargs)
        except botocore.exceptions.NoCredentialsError as e:
            raise Trouble("denied", f"{url}: {e} ({_LOGIN})") from e
        except (botocore.exceptions.ClientError, OSError) as e:
            raise _of_answer(url, bound, e) from e
        except (*S3_RETRYABLE_ERRORS, botocore.exceptions.BotoCoreError) as e:
            raise Trouble("io", f"{url}: {e} (run the command again)") from e

    async def entries(self, url: str, recursive: bool) -> AsyncIterator[Dict[str, Any]]:
        where = self.where(url)
        prefix = prefix_of(where["Key"])
        more = {"Bucket": where["Bucket"], "Prefix": prefix, **({} if recursive else {"Delimiter": "/"})}
        while True:
            found = await self.call(url, "list_objects_v2", **more)
            for folder in found.get("CommonPrefixes", []):
                yield {"name": folder["Prefix"][len(prefix):], "is_folder": True}
            for raw in found.get("Contents", []):
                if not raw["Key"].endswith("/"):
                    yield {"name": raw["Key"][len(prefix):], **_object(raw).told}
            if not found.get("IsTruncated"):
                return
            more["ContinuationToken"] = found["NextContinuationToken"]

    async def look(self, url: str) -> Object:
        where = self.where(url)
        if not where["Key"] or url.endswith("/"):
            raise not_found(url)
        return _object(await self.call(url, "head_object", **where))

    async def range(self, url: str, start: int, size: int, generation: str) -> bytes:
        found = await self.call(url, "get_object", generation, **self.where(url), Range=f"bytes={start}-{start + size - 1}",
                                IfMatch=_etag(generation))
        try:
            async with found["Body"] as body:
                return bytes(await body.read())
        except (*S3_RETRYABLE_ERRORS, aiohttp.ClientError, OSError) as e:
            raise Broken(f"{type(e).__name__}: {e}") from e

    # Whole objects.
    async def upload(self, url: str, file: File, generation: Optional[str], opened: Any) -> str:
        return await self.send(url, Parts(url, NOTHING, 0, file), {}, generation, opened)

    async def send(self, url: str, parts: Parts, described: Dict[str, Any], generation: Optional[str], opened: Any) -> str:
        part = _part_size(parts.size)
        if parts.size <= part:
            async with self.turns:
                data = await self.bytes_of(parts, 0, parts.size)
                found = await self.call(url, "put_object", generation, **self.where(url), **described, **_condition(generation), Body=data)
            opened.advance(parts.size)
            return _generation(found["ETag"])

        async def fill(upload: Upload) -> None:
            async def put(item: Tuple[int, Tuple[int, int]]) -> None:
                index, (at, size) = item
                async with self.turns:
                    await upload.put(index, await self.bytes_of(parts, at, size))
                opened.advance(size)
            await in_parallel(enumerate(cuts(0, parts.size, part)), put, self.jobs)
        return await self.multipart(url, described, generation, fill)

    async def multipart(self, url: str, described: Dict[str, Any], generation: Optional[str], fill: Any) -> str:
        """An upload that FILL gives its parts; nothing of it is left when it fails."""
        where = self.where(url)
        upload = Upload(self, url, where, (await self.call(url, "create_multipart_upload", **where, **described))["UploadId"])
        try:
            await fill(upload)
            return await upload.complete(_condition(generation), generation)
        except BaseException:
            await asyncio.shield(upload.abort())
            raise

    async def remove(self, url: str, generation: Optional[str]) -> None:
        await self.look(url)  # the store says of a name that is not there that it was deleted
        await self.call(url, "delete_object", generation, **self.where(url), **({"IfMatch": _etag(generation)} if generation else {}))

    # A tail more, or less.
    async def described(self, url: str, old: Object) -> Dict[str, Any]:
        """What the object keeps; its tags are kept where they may be read."""
        found = _described(old.raw)
        if old.raw.get("TagCount", 1):
            with contextlib.suppress(Trouble):
                tags = (await self.call(url, "get_object_tagging", **self.where(url))).get("TagSet", [])
                if tags:
                    found["Tagging"] = urlencode([(tag["Key"], tag["Value"]) for tag in tags])
        return found

    async def add(self, url: str, old: Object, size: int, tail: File, opened: Any) -> Dict[str, Any]:
        await self.sweep(url)
        described = await self.described(url, old)
        if size < LEAST_PART:
            done = await self.send(url, Parts(url, old, size, tail), described, old.generation, opened)
            return {"generation": done, "uploaded": size + tail.size, "how": "upload"}
        done = await self.copied(url, old, size, tail, described, opened)
        return {"generation": done, "uploaded": tail.size, "how": "copy-part"}

    async def shorten(self, url: str, old: Object, size: int, native: Optional[str], opened: Any) -> Dict[str, Any]:
        await self.sweep(url)
        described = await self.described(url, old)
        if size == 0:
            done = await self.send(url, Parts(url, old, 0, None), described, old.generation, opened)
        else:
            done = await self.copied(url, old, size, None, described, opened)
        return {"generation": done, "uploaded": 0, "how": "copy-part"}

    async def copied(self, url: str, old: Object, size: int, tail: Optional[File], described: Dict[str, Any], opened: Any) -> str:
        copies = list(cuts(0, size, COPIED_PART))
        pieces = list(cuts(0, tail.size, _part_size(tail.size))) if tail else []

        async def fill(upload: Upload) -> None:
            async def copy(item: Tuple[int, Tuple[int, int]]) -> None:
                index, (start, length) = item
                await upload.copy(index, start, length, old.generation)

            async def put(item: Tuple[int, Tuple[int, int]]) -> None:
                index, (at, length) = item
                async with self.turns:
                    assert tail
                    await upload.put(len(copies) + index, await tail.piece(at, length))
                opened.advance(length)
            await in_parallel(enumerate(copies), copy, self.jobs)
            await in_parallel(enumerate(pieces), put, self.jobs)
        return await self.multipart(url, described, old.generation, fill)

    async def sweep(self, url: str) -> None:
        """Aborts uploads of ours to this object that are a day old: what killed helpers left."""
        where = self.where(url)
        with contextlib.suppress(Trouble):
            found = await self.call(url, "list_multipart_uploads", Bucket=where["Bucket"], Prefix=where["Key"])
            for raw in found.get("Uploads", []):
                if raw["Key"] == where["Key"] and time.time() - ns_of(raw["Initiated"]) / 1e9 > OLD_S:
                    left = Upload(self, url, where, raw["UploadId"])
                    parts = (await self.call(url, "list_parts", **left.where, MaxParts=1)).get("Parts", [])
                    if parts and parts[0]["PartNumber"] >= FIRST:
                        await left.abort()


def _condition(generation: Optional[str]) -> Dict[str, str]:
    if generation is None:
        return {}
    return {"IfMatch": _etag(generation)} if generation else {"IfNoneMatch": "*"}


def _of_answer(url: str, bound: Optional[str], e: BaseException) -> Trouble:
    """S3fs makes an error of Python of what the store answers, and leaves the answer behind it."""
    cause = e if isinstance(e, botocore.exceptions.ClientError) else e.__cause__
    answer = getattr(cause, "response", {})
    code, text = str(answer.get("Error", {}).get("Code", "")), str(answer.get("Error", {}).get("Message") or e)
    if code == "400":  # of HEAD, whose answers have no body
        text = "Bad Request, as stores answer when a login has expired"
    table: Tuple[Tuple[Tuple[str, ...], Callable[[], Trouble]], ...] = ((_MISSING, lambda: not_found(url)),
             (_UNMET, lambda: unmet(url, bound)),
             (_DENIED, lambda: Trouble("denied", f"{url}: {text} ({_LOGIN})")),
             (_BUSY, lambda: Trouble("busy", f"{url}: {text} (run the command again in some minutes)")),
             (_FOREIGN, lambda: Trouble("unsupported", f"{url}: the store refuses this request: {text} (copy the folder, and copy what is "
                                        "written back)")))
    for codes, trouble in table:
        if code in codes:
            return trouble()
    return Trouble("io", f"{url}: {code} {text} (run the command again)")
