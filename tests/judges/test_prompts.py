"""The published prompts, word for word, and where a case's texts stand in them."""

import re
from typing import Literal

import pytest

from audiocapbench.benchmarks import Traits
from audiocapbench.errors import JudgeError
from audiocapbench.judges import ModelJudge, create_judges
from audiocapbench.judges.contract import JudgeInput
from audiocapbench.judges.published import audiocapbench_contract, mecat_contract
from audiocapbench.store.upgrades import traits_of_0_1
from needs import needs_shared


def seed(number: str) -> str:
    return next(needs_shared(papers=True).glob(f"{number}_*.txt")).read_text(encoding="utf-8")


def words(text: str) -> list[str]:
    """Words alone: what is left when typesetting is taken away."""
    return re.findall(r"[\w/-]+", text.replace("---", " ").replace("—", " "))


SPEECH = JudgeInput(
    "s1",
    "A man talks.",
    ("A man speaks calmly.", 'He says "hello".'),
    "speech",
    transcript="hello there",
)


def test_the_prompt_of_audiocapbench_is_the_papers() -> None:
    paper = seed("002").replace("\\_", "_")
    start = paper.index("You are an expert evaluator for audio captioning")
    printed = paper[start : paper.index("### A.2. Category-Specific Guidance")]
    printed = "\n".join(line.rstrip() for line in printed.splitlines()).strip()
    guidance = next(line for line in paper.splitlines() if line.startswith("For speech, evaluate"))
    label = "Actual transcript of the speech:"
    assert f"*{label}* “{{transcript}}”" in paper
    filled = (
        printed.replace("{category_guidance}", f"{guidance}\n{label} “hello there”")
        .replace("{refs_text}", '  - A man speaks calmly.\n  - He says "hello".')
        .replace("{prediction}", "A man talks.")
    )
    assert audiocapbench_contract().prompt(SPEECH) == filled


@pytest.mark.parametrize(
    ("category", "opening"),
    [
        ("sound", "For general/environmental sound"),
        ("music", "For music, evaluate"),
        ("speech", "For speech, evaluate"),
        ("mixed", "For general/environmental sound"),
    ],
)
def test_each_category_has_the_papers_guidance(category: str, opening: str) -> None:
    paper = seed("002")
    guidance = next(line for line in paper.splitlines() if line.startswith(opening))
    case = JudgeInput("a", "x", ("y",), category)
    assert f"\n\n{guidance}\n\nReference captions" in audiocapbench_contract().prompt(case)


def test_both_prints_of_the_paper_have_the_same_words() -> None:
    other = seed("000")
    start = other.index("Given the ground-truth reference captions and a model’s predicted")
    printed = other[start : other.index("A.2 Category-Specific Guidance")]
    prompt = audiocapbench_contract().prompt(JudgeInput("a", "PREDICTION", ("REFERENCE",), "sound"))
    ours = prompt[prompt.index("Given the") :].replace("**", "").replace(" – ", " ")
    guidance = "For general/environmental sound, evaluate whether the prediction correctly "
    guidance += "identifies: sound sources, events, acoustic environment, and temporal patterns."
    assert guidance in other
    expected = printed.replace("{category_guidance}", guidance)
    expected = expected.replace("{refs_text}", "REFERENCE").replace("{prediction}", "PREDICTION")
    skipped = {"-"}
    assert [w for w in words(ours) if w not in skipped] == [
        w for w in words(expected) if w not in skipped
    ]


def test_the_transcript_is_for_speech_alone() -> None:
    music = JudgeInput("a", "x", ("y",), "music", transcript="la la")
    assert "la la" not in audiocapbench_contract().prompt(music)


def mecat_table(paper: str, start: str, end: str) -> dict[str, tuple[str, list[str]]]:
    part = paper[paper.index(start) : paper.index(end)]
    rows = {}
    for line in part.splitlines():
        found = re.search(r"([A-Z][A-Za-z ]+)\t<p>Description: (.+?)</p>.*?<ul[^>]*> (.+)", line)
        if found:
            rows[found[1]] = (found[2], re.split(r" (?=[bc]\) )", found[3].strip()))
    return rows


@pytest.mark.parametrize(
    ("task", "said", "start", "end", "names"),
    [
        (
            "caption",
            "audio captioning",
            "Table G.1. Category",
            "Table G.2. Category",
            "Short Long Speech Music Sound Environment".split(),
        ),
        (
            "qa",
            "audio question-answering",
            "Table G.2. Category",
            "H. Validation of LLM",
            "Direct Perception,Sound Characteristics,Quality Assessment,Environment Reasoning,"
            "Inference Judgment,Application Context".split(","),
        ),
    ],
)
def test_the_prompts_of_mecat_are_the_papers(
    task: Literal["caption", "qa"], said: str, start: str, end: str, names: list[str]
) -> None:
    paper = seed("004")
    assert said in paper
    table = mecat_table(paper, start, end)
    assert list(table) == names
    printed = paper[paper.index("You are tasked with") : paper.index("Table G.1. Category")]
    printed = printed.strip().replace("`", "")
    for name in names:
        category = name.lower().replace(" ", "_").replace("judgment", "judgement")
        case = JudgeInput(
            "clip 7", "A hum.", ("A low hum.", "Humming."), category, "What is heard?"
        )
        description, aspects = table[name]
        question = "question: “What is heard?”\n" if task == "qa" else ""
        sample = (
            f"\nsample_id: clip 7\n{question}reference answers:\n  - A low hum.\n  - Humming.\n"
            "candidate answer: “A hum.”"
        )
        expected = (
            printed.replace("{tasks}", said)
            .replace("{description}", description)
            .replace("{subtask}", name)
            .replace("{scoring_aspects}", "\n".join(aspects))
            .replace("{ref_texts}", sample)
        )
        assert mecat_contract(task).prompt(case) == expected


def test_groups_of_mecat_find_their_sub_category() -> None:
    contract = mecat_contract("caption")
    music = contract.prompt(JudgeInput("a", "x", ("y",), "music"))
    assert contract.prompt(JudgeInput("a", "x", ("y",), "pure_music")) == music
    assert (
        contract.prompt(JudgeInput("a", "x", ("y",), "0M0", details={"subtask": "music"})) == music
    )
    with pytest.raises(JudgeError, match="this sample is 'bells'"):
        contract.prompt(JudgeInput("a", "x", ("y",), "bells"))


def test_another_wording_has_another_hash() -> None:
    hashes = {audiocapbench_contract().prompt_hash, mecat_contract("qa").prompt_hash}
    assert len(hashes) == 2


@pytest.mark.parametrize(
    ("benchmark", "contract"),
    [
        ("audiocapbench", "audiocapbench"),
        ("demo", "audiocapbench"),
        ("folder/mine", "audiocapbench"),
        ("mecat-caption", "mecat-caption"),
        ("mecat-caption[prompts=i1]", "mecat-caption"),
        ("mecat-qa", "mecat-qa"),
    ],
)
def test_a_benchmark_s_answers_are_judged_by_its_own_contract(
    benchmark: str, contract: str
) -> None:
    traits = Traits.from_dict(traits_of_0_1(benchmark))
    judge, rules = create_judges(
        ["control/safe", "elements", "control/safe"], traits.judge, hears=False
    )
    assert isinstance(judge, ModelJudge)
    assert judge.contract.name == contract
    assert rules.name == "elements"


def sentences(text: str) -> str:
    """What a prompt says, whatever its layout: straight quotes, plain hyphens, single spaces."""
    plain = text.translate(str.maketrans("“”’–—", '""\'--'))
    return " ".join(re.sub(r"^ *- ", "", line) for line in plain.split("\n")).replace("  ", " ")


def test_the_tools_layout_has_the_papers_sentences() -> None:
    for category in ("sound", "music", "speech"):
        case = JudgeInput("s1", "A man talks.", ("A man speaks.",), category, transcript="hello")
        paper = audiocapbench_contract().prompt(case)
        tool = audiocapbench_contract(prompt="tool").prompt(case)
        assert sentences(tool).split() == sentences(paper).split()


def test_the_tools_layout_is_as_described() -> None:
    lines = audiocapbench_contract(protocol="published").prompt(SPEECH).split("\n")
    assert max(map(len, lines[:-1])) <= 100, "all but the form of the reply"
    at = lines.index("Model prediction:")
    assert lines[at + 1] == '  "A man talks."'
    at = lines.index("Important:")
    assert [line[:2] for line in lines[at + 1 : at + 4]] == ["- ", "- ", "- "]
    assert 'Actual transcript of the speech: "hello there"' in lines
    first = next(at for at, line in enumerate(lines) if line.startswith("1. "))
    assert lines[first + 1].startswith("   ")
    assert not set("“”’–—") & set("\n".join(lines))


def test_published_judges_get_texts_as_they_are_and_say_so() -> None:
    odd = JudgeInput("s1", "A “dog”\n{barks}", ("A dog.",), "sound")
    assert '  "A “dog”\n{barks}"' in audiocapbench_contract(protocol="published").prompt(odd)
    assert 'A "dog" (barks)' in audiocapbench_contract().prompt(odd)
    judges = create_judges(
        ["control/right", "control/right[protocol=published]", "control/right[prompt=tool]"],
        "audiocapbench",
    )
    ours, published, tool = (one.signature for one in judges)
    assert (published.get("reading"), published.get("data")) == ("published", "as-is")
    assert (ours.get("reading"), tool.get("data")) == ("", ours.get("data"))
    assert len({one.get("prompt") for one in (ours, published)}) == 2
    assert published.get("prompt") == tool.get("prompt")
    with pytest.raises(JudgeError, match="has no prompt"):
        create_judges(["control/right[prompt=tool]"], "mecat-qa")
    with pytest.raises(JudgeError, match="protocol is ours or published"):
        create_judges(["control/right[protocol=theirs]"], "audiocapbench")
