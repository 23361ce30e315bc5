// Copies of what is shown: every table and chart has one menu. Tables are rows of cells, {text, small, best, num}.

const LATEX = { "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}", "<": "\\textless{}", ">": "\\textgreater{}", "|": "\\textbar{}", "…": "\\ldots{}", '"': "''", "−": "$-$", "–": "--", "—": "---" };
const PAINT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linejoin", "opacity", "paint-order", "font-family", "font-size", "font-style", "font-weight"];
const PNG_SCALE = 3;

// A cell as a reader sees it; of a picture alone, what is said of it to those who do not see it.
function cellOf(element) {
  const copy = element.cloneNode(true);
  for (const one of copy.querySelectorAll("[aria-hidden]")) one.remove();
  const smalls = [...copy.querySelectorAll("small")];
  for (const one of smalls) one.remove();
  const text = copy.textContent.trim();
  const small = smalls.map((one) => one.textContent.trim()).filter(Boolean).join(" ");
  const has = (name) => element.classList.contains(name);
  return { text: text || small || (copy.querySelector("[role=img]")?.getAttribute("aria-label") ?? ""), small: text ? small : "", best: has("best"), num: has("num") };
}

// All cells of a table but columns that have no words, such as bars.
function rowsOf(element) {
  const rows = [...element.rows].map((line) => [...line.cells].map(cellOf));
  const kept = rows[0].map((_, place) => rows.slice(1).some((line) => line[place]?.text));
  return rows.map((line) => line.filter((_, place) => kept[place]));
}

const lineOf = ({ text, small }) => [text, small && (small.startsWith("(") ? small : `(${small})`)].filter(Boolean).join(" ").replace(/\s+/g, " ");

function markdownOf(rows) {
  const cells = rows.map((line) => line.map((one) => (one.best ? ["**", "**"] : ["", ""]).join(lineOf(one).replace(/[\\`*_{}[\]<>|#~&$]/g, "\\$&"))));
  const [head, ...body] = cells.map((line) => `| ${line.join(" | ")} |`);
  return [head, `|${rows[0].map((one) => (one.num ? "---:" : "---")).join("|")}|`, ...body, ""].join("\n");
}

function latexOf(rows) {
  const texts = rows.map((line) => line.map((one) => (one.best ? ["\\textbf{", "}"] : ["", ""]).join(lineOf(one).replace(/[\\{}&%$#_~^<>|…"−–—]/g, (letter) => LATEX[letter] ?? `\\${letter}`))));
  // A cell that begins with a bracket would be read as the option of the line break before.
  const [head, ...body] = texts.map((line) => `${line.map((one) => `{}${one}`).join(" & ")} \\\\`);
  const columns = rows[0].map((one) => (one.num ? "r" : "l")).join("");
  return ["% Needs \\usepackage{booktabs}", `\\begin{tabular}{${columns}}`, "\\toprule", head, "\\midrule", ...body, "\\bottomrule", "\\end{tabular}", ""].join("\n");
}

// Numbers as numbers; a text that a spreadsheet would run gets an apostrophe in front, as in files that commands write.
function csvCell(text) {
  const number = text.replace("−", "-").replace(/^\+/, "");
  if (/^-?(\d+|\d{1,3}(,\d{3})+)(\.\d+)?$/.test(number)) return number.replaceAll(",", "");
  const safe = text === "–" ? "" : /^'*[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function csvOf(rows) {
  const split = rows[0].map((_, place) => rows.slice(1).some((line) => line[place].small));
  const cells = (line, more) => line.flatMap((one, place) => (split[place] ? [one.text, more(one)] : [lineOf(one)])).map(csvCell).join(",");
  const [head, ...body] = rows;
  return [cells(head, (one) => `${one.text}, more`), ...body.map((line) => cells(line, (one) => one.small)), ""].join("\r\n");
}

// A chart by itself, with the colours and letters that the page gives it.
function svgOf(shown) {
  const copy = shown.cloneNode(true);
  const [own, all] = [[shown, ...shown.querySelectorAll("*")], [copy, ...copy.querySelectorAll("*")]];
  all.forEach((one, place) => {
    const style = getComputedStyle(own[place]);
    for (const name of PAINT) one.setAttribute(name, style.getPropertyValue(name));
    one.removeAttribute("class");
  });
  const [, , width, height] = shown.getAttribute("viewBox").split(" ");
  for (const [name, value] of [["width", width], ["height", height]]) copy.setAttribute(name, value);
  copy.prepend(draw("rect", { width, height, fill: getComputedStyle(shown.closest(".card") ?? document.body).backgroundColor }));
  return new XMLSerializer().serializeToString(copy);
}

async function pngOf(shown) {
  const picture = new Image();
  picture.src = `data:image/svg+xml,${encodeURIComponent(svgOf(shown))}`;
  await picture.decode();
  const canvas = make("canvas", { width: PNG_SCALE * picture.width, height: PNG_SCALE * picture.height });
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

// A file that the browser keeps where it keeps what is fetched.
function save(blob, file) {
  const link = make("a", { href: URL.createObjectURL(blob), download: file });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}

// On the clipboard; where the browser keeps that to itself, as a file. Returns what was done.
async function give(blob, file) {
  try {
    const text = blob.type === "text/plain" ? await blob.text() : null;
    await (text === null ? navigator.clipboard.write([new ClipboardItem({ [blob.type]: blob })]) : navigator.clipboard.writeText(text));
    return "copied";
  } catch {
    save(blob, file);
    return `saved as ${file}`;
  }
}

// The menu of a table or chart: `rows()` are its cells, or texts; a chart has an `svg` too.
function share(name, rows, svg) {
  const told = make("span", { className: "soft", role: "status" });
  const file = name.replace(/[^\p{L}\p{N}]+/gu, "-").slice(0, 60);
  const plainText = (content) => new Blob([content], { type: "text/plain" });
  const form = (make_) => async () => plainText(make_((await rows()).map((line) => line.map((one) => (typeof one === "string" ? { text: one, small: "" } : one)))));
  const ways = [["Markdown", "md", form(markdownOf)], ["LaTeX", "tex", form(latexOf)], ["CSV", "csv", form(csvOf)]];
  if (svg) ways.push(["PNG", "png", () => pngOf(svg)], ["SVG", "svg", async () => plainText(svgOf(svg))]);
  const buttons = ways.map(([words_, ending, made]) => button(words_, async () => (told.textContent = `${words_}: ${await give(await made(), `${file}.${ending}`)}`)));
  return make("details", "menu share", make("summary", "", "Copy", make("span", "hidden", ` ${name}`)), make("div", "boxes", ...buttons, told));
}

// A menu closes when something else is clicked, and by Escape, which leads back to what opened it.
addEventListener("click", ({ target }) => {
  for (const one of document.querySelectorAll(".menu[open]")) if (!one.contains(target)) one.open = false;
});
addEventListener("keydown", ({ key }) => {
  for (const one of key === "Escape" ? document.querySelectorAll(".menu[open]") : []) {
    if (one.contains(document.activeElement)) one.firstChild.focus();
    one.open = false;
  }
});
