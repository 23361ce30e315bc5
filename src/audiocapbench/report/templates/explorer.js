// The explorer: ties the controls, the list and the open clip together, and follows #clip=ID.

const at = (id) => document.getElementById(id);

function fill(select, options, first) {
  if (first !== undefined) select.append(new Option(first, ANY));
  options.forEach((words, number) => select.append(new Option(words, number)));
}

function numberIn(input) {
  return input.value.trim() === "" || Number.isNaN(input.valueAsNumber) ? null : input.valueAsNumber;
}

// A page opened from a disk may be refused a memory; the choice then holds while it is open.
const LETTERS = "audiocapbench-letters";

function rememberLetters() {
  try {
    at("letters").checked = localStorage.getItem(LETTERS) !== "off";
  } catch {
    return;
  }
  at("letters").addEventListener("change", () => {
    localStorage.setItem(LETTERS, at("letters").checked ? "on" : "off");
  });
}

class Explorer {
  constructor(report) {
    this.report = report;
    this.wish = {};
    this.list = new ClipList(report, at("list"), at("spacer"), (clip) => this.open(clip));
    this.view = new ClipView(report, at("clip"), {
      previous: () => this.step(-1),
      next: () => this.step(1),
      back: () => this.back(),
    });
    this.controls();
    rememberLetters();
    addEventListener("hashchange", () => this.follow());
    addEventListener("keydown", (event) => this.key(event));
  }

  controls() {
    const { report } = this;
    fill(at("category"), report.categories, "all");
    const present = new Set(report.columns.status);
    fill(at("status"), report.statuses, "any");
    for (const option of [...at("status").options]) {
      if (Number(option.value) !== ANY && !present.has(Number(option.value))) option.remove();
    }
    fill(at("measure"), report.measures.map((one) => one.label));
    at("measure").options[report.headline].defaultSelected = true;
    fill(at("model"), report.models, "all shown models");
    for (const words of Object.keys(SORTS)) at("sort").append(new Option(words, words));
    report.models.forEach((name, number) => {
      const label = make("label");
      const box = make("input");
      box.type = "checkbox";
      box.value = number;
      box.defaultChecked = true;
      label.append(box, foreign("span", "", name));
      at("models").append(label);
    });
    const form = at("controls");
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", () => this.refresh());
    // A form resets its fields only after the event.
    form.addEventListener("reset", () => setTimeout(() => this.refresh()));
    for (const [id, checked] of [["all", true], ["none", false]]) {
      at(id).addEventListener("click", () => {
        for (const box of this.boxes()) box.checked = checked;
        this.refresh();
      });
    }
  }

  boxes() {
    return [...at("models").querySelectorAll("input")];
  }

  refresh() {
    this.wish = {
      search: at("search").value,
      category: Number(at("category").value),
      status: Number(at("status").value),
      measure: Number(at("measure").value),
      model: Number(at("model").value),
      low: numberIn(at("low")),
      high: numberIn(at("high")),
      sort: at("sort").value,
      shown: this.boxes().filter((box) => box.checked).map((box) => Number(box.value)),
    };
    const clips = chosenClips(this.report, this.wish);
    const all = this.report.clips.toLocaleString("en");
    at("count").textContent = `${clips.length.toLocaleString("en")} of ${all} samples`;
    at("shown-count").textContent = `${this.wish.shown.length} of ${this.report.models.length}`;
    this.list.show(clips, this.wish);
    if (this.view.clip !== null) this.view.show(this.view.clip, this.wish);
  }

  open(clip, quietly = false) {
    at("trouble").hidden = true;
    this.view.show(clip, this.wish);
    at("app").classList.add("reading");
    this.list.follow(clip);
    const address = `#clip=${encodeURIComponent(this.report.id(clip).toWellFormed())}`;
    if (location.hash !== address) history.replaceState(null, "", address);
    if (!quietly) at("clip").querySelector("h3").focus({ preventScroll: true });
    const top = at("clip").getBoundingClientRect().top;
    if (top < 0 || top > innerHeight * 0.6) at("clip").scrollIntoView({ block: "start" });
  }

  step(by) {
    const place = this.list.clips.indexOf(this.view.clip);
    this.list.choose(place < 0 ? 0 : place + by);
  }

  back() {
    if (this.view.clip === null) return;
    this.view.close();
    at("app").classList.remove("reading");
    this.list.opened = null;
    this.list.draw();
    history.replaceState(null, "", "#explorer");
    at("list").focus();
  }

  follow() {
    const found = /^#clip=(.*)$/s.exec(location.hash);
    if (!found) return;
    let id = found[1];
    try {
      id = decodeURIComponent(id);
    } catch {
      // A stray per cent sign: the id as it stands.
    }
    const clip = this.report.places.get(id);
    at("trouble").hidden = clip !== undefined;
    if (clip === undefined) {
      at("trouble").textContent = `This report has no sample ${beginning(id, 80)}.`;
      at("trouble").scrollIntoView({ block: "center" });
    } else if (clip !== this.view.clip) this.open(clip);
  }

  key(event) {
    const typing = event.target.closest("input, select, textarea");
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (typing && typing.type === "search" && typing.value) return;
      if (typing) at("list").focus();
      else this.back();
    } else if (typing || !at("letters").checked) return;
    else if (event.key === "/") {
      if (at("app").classList.contains("reading") && !at("search").checkVisibility()) this.back();
      at("search").focus();
    } else if (event.key === "p") this.view.play();
    else return;
    event.preventDefault();
  }
}

try {
  const report = await unpack(at("data"));
  at("app").hidden = false;
  const explorer = new Explorer(report);
  explorer.refresh();
  // The page was shorter when the browser looked for this place.
  if (location.hash === "#explorer") at("explorer").scrollIntoView();
  explorer.follow();
  performance.mark("explorer-ready");
} catch (error) {
  at("trouble").hidden = false;
  at("trouble").textContent = `The explorer cannot be shown: ${error.message}. A newer browser may help.`;
  throw error;
}
