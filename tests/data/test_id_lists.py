"""The ID lists: taken as they stand, verified when downloaded, refused with every reason."""

import hashlib
from pathlib import Path

import pytest

from audiocapbench.data.build import id_lists
from audiocapbench.data.build.id_lists import (
    ADDRESS_VARIABLE,
    COMMIT,
    MUSIC,
    SPEECH,
    aspect_list,
    metadata_fields,
    read_id_lists,
)
from audiocapbench.data.problems import InvalidDataError
from audiocapbench.errors import DatasetError
from fakes.faults import Plan, half, reset, status
from fakes.http_server import HttpServer, Request, Response
from fakes.hub_repositories import SOUND_NAMES, VIDEOS, write_lists


def serve(folder: Path, plan: Plan | None = None) -> HttpServer:
    def respond(request: Request) -> Response:
        path = folder / request.path.rsplit("/", 1)[-1]
        return Response(path.read_bytes()) if path.is_file() else Response(b"", 404)

    return HttpServer(respond, plan)


def test_the_published_lists_name_a_thousand_clips_in_order(shared: Path) -> None:
    lists = read_id_lists(shared / "audiocapbench")
    assert [one.source.name for one in lists] == ["clotho", "audiocaps", "music", "speech"]
    assert [len(one.entries) for one in lists] == [200, 200, 300, 300]
    assert all(one.sha256 == one.source.sha256 for one in lists)
    entries = [entry for one in lists for entry in one.entries]
    assert [entry.position for entry in entries] == list(range(1000))
    assert entries[0].id == "clotho_0"
    assert entries[999].id == "speech_299"
    keys = {entry.key for entry in lists[0].entries}
    assert {"Unseathing &amp; Wobble", "San Francisco Traffic at Powell And O&#39;Farrell"} <= keys


def test_the_published_lists_give_the_references_of_the_protocol(shared: Path) -> None:
    lists = read_id_lists(shared / "audiocapbench")
    for entry in lists[2].entries:
        caption, aspects = metadata_fields(MUSIC, entry, [])["references"]
        assert caption == entry.fields["caption"]
        assert aspects.split(", ")[0] in entry.fields["aspect_list"]
    for entry in lists[3].entries:
        caption, said = metadata_fields(SPEECH, entry, [])["references"]
        assert said == f'{caption} The speaker says: "{entry.key}"'


def test_keys_are_never_stripped_or_unescaped(tmp_path: Path) -> None:
    lists = read_id_lists(write_lists(tmp_path))
    assert [entry.key for entry in lists[0].entries] == SOUND_NAMES
    assert [entry.key for entry in lists[1].entries] == VIDEOS
    assert not any(one.sha256 == one.source.sha256 for one in lists)


def test_a_downloaded_list_is_verified_and_kept(
    tmp_path: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(shared / "audiocapbench", Plan([status(503), half(), reset()])) as server:
        monkeypatch.setenv(ADDRESS_VARIABLE, server.url)
        lists = read_id_lists(cache_dir=tmp_path)
        assert all(one.sha256 == one.source.sha256 for one in lists)
        asked = len(server.requests)
        kept = tmp_path / "audiocapbench-ids" / COMMIT / "speech_eval.csv"
        assert hashlib.sha256(kept.read_bytes()).hexdigest() == SPEECH.sha256
        assert read_id_lists(cache_dir=tmp_path) == lists
        assert len(server.requests) == asked
        kept.write_text("index,transcript,caption\n0,a,b\n")
        assert read_id_lists(cache_dir=tmp_path) == lists
        assert len(server.requests) == asked + 1


def test_another_list_than_the_published_one_is_not_taken_from_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve(write_lists(tmp_path / "other")) as server:
        monkeypatch.setenv(ADDRESS_VARIABLE, server.url)
        with pytest.raises(DatasetError, match="what was downloaded has the SHA-256"):
            read_id_lists(cache_dir=tmp_path / "cache")
    assert not [one for one in (tmp_path / "cache").rglob("*") if one.is_file()]


@pytest.mark.parametrize("there", [True, False])
def test_lists_that_cannot_be_downloaded_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: bool
) -> None:
    with serve(tmp_path) as server:
        monkeypatch.setenv(ADDRESS_VARIABLE, server.url)
        if not there:
            server.plan = Plan(always=reset())
        with pytest.raises(DatasetError, match=r"clotho_eval.csv cannot be downloaded") as raised:
            read_id_lists(cache_dir=tmp_path / "cache")
    assert "--ids-dir" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_an_address_that_is_no_web_address_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ADDRESS_VARIABLE, "file:///etc")
    with pytest.raises(DatasetError, match="is no http address"):
        read_id_lists(cache_dir=tmp_path)


def test_an_address_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(ADDRESS_VARIABLE, "http://[::1")
    with pytest.raises(DatasetError, match=r"http://\[::1/clotho_eval.csv cannot be downloaded \("):
        read_id_lists(cache_dir=tmp_path)


def test_what_is_larger_than_any_list_is_not_read_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(id_lists, "_LARGEST", 100)
    with serve(write_lists(tmp_path / "lists")) as server:
        monkeypatch.setenv(ADDRESS_VARIABLE, server.url)
        with pytest.raises(DatasetError, match=r"clotho_eval.csv is too large: over 100 bytes"):
            read_id_lists(cache_dir=tmp_path / "cache")
    assert len(server.requests) == 1


def test_a_folder_without_lists_says_which_are_needed(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"No such file.*clotho_eval.csv, audiocaps_eval.csv"):
        read_id_lists(tmp_path)


def test_every_wrong_line_is_listed(tmp_path: Path) -> None:
    fine = {"start_s": 0, "end_s": 10, "caption": "Fine.", "aspect_list": "['a']"}
    rows = [
        {"ytid": "fine", **fine},
        {"ytid": "fine", **fine},
        {"ytid": " ", **fine},
        {"ytid": "late", **fine, "start_s": 10},
        {"ytid": "when", **fine, "end_s": "soon"},
        {"ytid": "code", **fine, "aspect_list": "__import__('os').getcwd()"},
        {"ytid": "dict", **fine, "aspect_list": "{'a': 1}"},
    ]
    with pytest.raises(InvalidDataError) as raised:
        read_id_lists(write_lists(tmp_path, musiccaps=rows))
    assert [str(one) for one in raised.value.problems] == [
        "musiccaps_eval.csv line 3: ytid: is already on musiccaps_eval.csv line 2",
        "musiccaps_eval.csv line 4: ytid: is blank",
        "musiccaps_eval.csv line 5: end_s: is not after start_s",
        "musiccaps_eval.csv line 6: 'soon' is not a number of seconds",
        "musiccaps_eval.csv line 7: aspect_list \"__import__('os').getcwd()\" is not a list of "
        "texts",
        "musiccaps_eval.csv line 8: aspect_list \"{'a': 1}\" is not a list of texts",
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "has no column 'audio_name'; its first line has nothing"),
        (b"name\nx\n", "has no column 'audio_name'; its first line has name"),
        (b"audio_name\n", "names no clips"),
        (b"audio_name\n\xff\n", "is not UTF-8"),
        (b"audio_name,x\na\n", "has 1 fields and not 2"),
        (b"audio_name\na,b\n", "has 2 fields and not 1"),
    ],
)
def test_a_file_that_is_no_list_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    write_lists(tmp_path)
    (tmp_path / "clotho_eval.csv").write_bytes(content)
    with pytest.raises(DatasetError, match=reason):
        read_id_lists(tmp_path)


@pytest.mark.parametrize(
    ("text", "aspects"),
    [
        ("slow, singer's voice , 80s", ["slow", "singer's voice", "80s"]),
        ("drums (live), calm", ["drums (live)", "calm"]),
        ("slow", ["slow"]),
        ('["slow", "calm"]', ["slow", "calm"]),
        ("'slow', 'calm'", ["slow", "calm"]),
        (" ['slow', ' ', 'calm'] ", ["slow", " ", "calm"]),
        ("['slow' 'calm']", ["slow", "calm"]),
        ("['slow'\n \"it's\"]", ["slow", "it's"]),
        ("[]", []),
        ("['slow', 'calm'", None),
        ("[slow, calm]", None),
        ("nan", None),
        (",", None),
    ],
)
def test_aspects_are_a_list_or_stand_between_commas(text: str, aspects: list[str] | None) -> None:
    if aspects is None:
        with pytest.raises(DatasetError, match="is not a list of texts"):
            aspect_list(text)
    else:
        assert aspect_list(text) == aspects


def test_aspects_are_parsed_and_never_run(tmp_path: Path) -> None:
    assert aspect_list("['low quality', \"singer's voice\"]") == ["low quality", "singer's voice"]
    trace = tmp_path / "ran"
    for hostile in (f"[open({str(trace)!r}, 'w')]", "[" * 5_000, "'text'", "", "[1]"):
        with pytest.raises(DatasetError, match="is not a list of texts"):
            aspect_list(hostile)
    assert not trace.exists()
