"""Shards as they come from strangers: only pairs of a clip and its JSON come out of them."""

import gzip
import io
import tarfile

import pytest

from audiocapbench.data.build import shards
from audiocapbench.data.build.shards import (
    ShardError,
    ShardPair,
    read_pairs,
    split_name,
)
from fakes.mecat_shards import tar


def read(content: bytes) -> list[ShardPair]:
    return list(read_pairs(io.BytesIO(content)))


def special(name: str, kind: bytes, size: int = 0, target: str = "/etc/passwd") -> bytes:
    member = tarfile.TarInfo(name)
    member.type, member.size, member.linkname = kind, size, target
    return member.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.parametrize("zipped", [True, False])
def test_pairs_come_in_order_whether_or_not_a_shard_is_zipped(zipped: bool) -> None:
    files = [("a.flac", b"A"), ("a.json", b"{}"), ("folder/b.json", b"[]"), ("b.flac", b"B")]
    assert read(tar(files, zipped=zipped)) == [
        ShardPair("a", 0, b"A", b"{}"),
        ShardPair("b", 1, b"B", b"[]"),
    ]


def test_pairs_need_not_stand_together() -> None:
    files = [("a.flac", b"A"), ("b.flac", b"B"), ("b.json", b"2"), ("a.json", b"1")]
    assert read(tar(files)) == [ShardPair("b", 1, b"B", b"2"), ShardPair("a", 0, b"A", b"1")]


def test_halves_and_repetitions_are_told() -> None:
    files = [("a.flac", b"A"), ("b.json", b"2"), ("c.flac", b"C"), ("c.json", b"3")]
    found = read(tar([*files, ("c.json", b"4"), ("a.flac", b"X")]))
    assert found == [
        ShardPair("c", 2, b"C", b"3"),
        ShardPair("c", 3, problem="its json comes twice in the shard"),
        ShardPair("a", 0, problem="its audio comes twice in the shard"),
        ShardPair("a", 0, problem="the shard has no JSON for it"),
        ShardPair("b", 1, problem="the shard has no audio for it"),
    ]


@pytest.mark.parametrize(
    "name",
    ["../a.flac", "/a.flac", "x/../../a.json", "C:a.json", "..\\a.json", "a b.json", "a", ".json"],
)
def test_a_name_that_leads_elsewhere_or_is_none_is_not_used(name: str) -> None:
    assert split_name(name)[0] is None
    (found,) = read(tar([(name, b"x")]))
    assert "KEY.flac or KEY.json" in found.problem


@pytest.mark.parametrize(
    "kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE]
)
def test_links_and_devices_are_told_and_not_followed(kind: bytes) -> None:
    content = special("a.flac", kind) + tar([("b.flac", b"B"), ("b.json", b"{}")], zipped=False)
    link, good = read(content)
    assert link == ShardPair("a.flac", 0, problem="it is a link or a device, not a file")
    assert good == ShardPair("b", 0, b"B", b"{}")


def test_a_member_that_claims_to_be_huge_ends_the_shard() -> None:
    content = tar([("a.flac", b"A"), ("a.json", b"{}")], zipped=False)[:2048]
    stream = read_pairs(io.BytesIO(content + special("b.flac", tarfile.REGTYPE, 1 << 40)))
    assert next(stream) == ShardPair("a", 0, b"A", b"{}")
    with pytest.raises(ShardError, match=r"claims that 'b\.flac' has 1,099,511,627,776 bytes"):
        next(stream)


def test_a_bomb_of_zeros_is_refused_by_its_header() -> None:
    head = special("a.flac", tarfile.REGTYPE, shards.LARGEST_MEMBER + 1)
    with pytest.raises(ShardError, match="claims that"):
        read(gzip.compress(head + bytes(1 << 20)))


@pytest.mark.parametrize("part", [0.0, 0.1, 0.5, 0.9, 0.999])
@pytest.mark.parametrize("zipped", [True, False])
def test_a_shard_that_is_cut_short_says_so(part: float, zipped: bool) -> None:
    whole = tar([(f"{key}.{kind}", bytes(3000)) for key in "ab" for kind in ("flac", "json")])
    content = whole if zipped else gzip.decompress(whole).rstrip(b"\0")
    with pytest.raises(ShardError, match="damaged or cut short"):
        read(content[: int(part * len(content))])


def test_a_shard_whose_checksum_is_wrong_says_so() -> None:
    content = bytearray(tar([("a.flac", b"A"), ("a.json", b"{}")]))
    content[-6] ^= 1
    with pytest.raises(ShardError, match="CRC"):
        read(bytes(content))


def test_long_and_foreign_names_are_read_as_tar_keeps_them() -> None:
    long = "k" * 150
    found = read(tar([(f"{long}.flac", b"A"), (f"{long}.json", b"{}"), ("ü\u202e.json", b"")]))
    assert found[0] == ShardPair(long, 0, b"A", b"{}")
    assert found[1].problem
    assert found[1].key == "ü?.json"


def test_no_tar_is_one_sentence() -> None:
    with pytest.raises(ShardError, match="damaged or cut short"):
        read(b"<html>not found</html>" * 100)
