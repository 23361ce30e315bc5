// Charts of the board, as SVG: scores with intervals on fixed axes, points with names that cover nothing.

const COLOURS = 8;
const [MOST_NAMED, FIRST_NAMED] = [20, 8];

const colourOf = (number) => `c${number % COLOURS}`;

function modelMark(one) {
  return draw("svg", { class: `key ${colourOf(one.mark)}`, width: 14, height: 14, viewBox: "-7 -7 14 14", "aria-hidden": "true" }, draw("path", { d: one.shape }));
}

function words(text, x, y, name = "", anchor = "start") {
  return draw("text", { x, y, class: name, "text-anchor": anchor }, text);
}

// Round numbers, at most so many, between two ends.
function ticks(low, high, most = 6) {
  const span = Math.max(high - low, 1e-9);
  const unit = 10 ** Math.floor(Math.log10(span / most));
  const step = [1, 2, 5, 10].map((factor) => factor * unit).find((one) => span / one <= most);
  const found = [];
  for (let tick = Math.ceil(low / step - 1e-9) * step; tick <= high + step * 1e-6; tick += step) found.push(Number(tick.toPrecision(6)));
  return found;
}

// The mark of a score, its interval behind it, on an axis from 0 to the best possible.
// Dashed lines are what it has to be seen beside: {name, value}.
function intervalBar(cell, scorer, references = []) {
  const bar = make("div", { className: "bar", ariaHidden: "true" });
  const part = (value) => `${(100 * Math.min(1, Math.max(0, value / scorer.max_value))).toFixed(2)}%`;
  for (const one of references) {
    const line = make("s", { className: "reference", title: `${one.name} ${one.value.toFixed(scorer.digits)}` });
    line.style.left = part(one.value);
    bar.append(line);
  }
  if (!cell) return bar;
  const fill = make("b", "fill");
  fill.style.width = part(cell.value);
  bar.append(fill);
  if (cell.interval) {
    const band = make("b", "band");
    band.style.left = part(cell.interval[0]);
    band.style.right = `calc(100% - ${part(cell.interval[1])})`;
    bar.append(band);
  }
  const tick = make("i", cell.printed ? "score printed" : "score");
  tick.style.left = part(cell.value);
  bar.append(tick);
  return bar;
}

function span(cell, digits) {
  return cell?.interval ? `${cell.interval[0].toFixed(digits)}–${cell.interval[1].toFixed(digits)}` : "";
}

// Where names stand beside their points so that they cover neither points, nor intervals, nor each other.
function placeNames(points, bounds) {
  const taken = points.flatMap((one) => [[one.x - 7, one.y - 7, one.x + 7, one.y + 7], ...one.lines.map(([a, b, c, d]) => [a - 1, b - 1, c + 1, d + 1])]);
  const overlap = (a, b) => Math.max(0, Math.min(a[2], b[2]) - Math.max(a[0], b[0])) * Math.max(0, Math.min(a[3], b[3]) - Math.max(a[1], b[1]));
  return points.map((one) => {
    let best = null;
    for (const step of [0, -1, 1, -2, 2, -3, 3, -4.5, 4.5, -6, 6]) {
      for (const side of [1, -1]) {
        for (const gap of [10, 28, 60]) {
          const left = side > 0 ? one.x + gap : one.x - gap - one.width;
          const middle = one.y + 11 * step;
          const box = [left, middle - 8, left + one.width, middle + 6];
          const outside = Math.max(0, bounds[0] - box[0]) + Math.max(0, box[2] - bounds[2]) + Math.max(0, bounds[1] - box[1]) + Math.max(0, box[3] - bounds[3]);
          const cost = taken.reduce((sum, other) => sum + overlap(box, other), 0) + 60 * outside + 0.4 * Math.abs(step) + 0.03 * gap;
          if (!best || cost < best.cost) best = { cost, box, x: side > 0 ? left : left + one.width, y: middle + 4, anchor: side > 0 ? "start" : "end", far: gap > 10 || Math.abs(step) > 1 };
        }
      }
    }
    taken.push(best.box);
    return best;
  });
}

// Points by two scores, each with its interval: {label, title, x: cell, y: cell, mark, shape, muted, open}. Axes are as wide as
// what is on them; of many models only the first are named.
function scatter(name, points, axes, size = { width: 560, height: 420 }) {
  const frame = { left: 46, top: 14, right: size.width - 14, bottom: size.height - 42 };
  for (const side of ["x", "y"]) {
    const ends = points.flatMap((one) => [one[side].value, ...(one[side].interval ?? [])]);
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const room = 0.06 * (high - low) || 0.5 * Math.abs(high) || 1;
    axes[side] = { lines: [], ...axes[side], low: low >= 0 ? Math.max(0, low - room) : low - room, high: high + room };
  }
  const across = (value) => frame.left + ((value - axes.x.low) / (axes.x.high - axes.x.low)) * (frame.right - frame.left);
  const up = (value) => frame.bottom - ((value - axes.y.low) / (axes.y.high - axes.y.low)) * (frame.bottom - frame.top);
  const svg = draw("svg", { class: "figure", role: "img", "aria-label": name, viewBox: `0 0 ${size.width} ${size.height}`, width: "100%", height: size.height });
  for (const tick of ticks(axes.x.low, axes.x.high)) {
    svg.append(draw("line", { class: "grid", x1: across(tick), x2: across(tick), y1: frame.top, y2: frame.bottom }), words(`${tick}`, across(tick), frame.bottom + 16, "tick", "middle"));
  }
  for (const tick of ticks(axes.y.low, axes.y.high)) {
    svg.append(draw("line", { class: "grid", x1: frame.left, x2: frame.right, y1: up(tick), y2: up(tick) }), words(`${tick}`, frame.left - 6, up(tick) + 4, "tick", "end"));
  }
  const within = (axis) => axis.lines.filter((one) => one.value >= axis.low && one.value <= axis.high);
  for (const one of within(axes.x)) svg.append(draw("line", { class: "reference", x1: across(one.value), x2: across(one.value), y1: frame.top, y2: frame.bottom }), words(one.name, across(one.value) + 4, frame.top + 10, "tick"));
  for (const one of within(axes.y)) svg.append(draw("line", { class: "reference", x1: frame.left, x2: frame.right, y1: up(one.value), y2: up(one.value) }), words(one.name, frame.left + 4, up(one.value) - 4, "tick"));
  svg.append(words(`${axes.x.name} →`, frame.right, frame.bottom + 34, "axis-name", "end"), words(`↑ ${axes.y.name}`, frame.left, frame.top - 3, "axis-name"));
  const placed = points.map((one, place) => {
    const [x, y] = [across(one.x.value), up(one.y.value)];
    const lines = [];
    if (one.x.interval) lines.push([across(one.x.interval[0]), y, across(one.x.interval[1]), y]);
    if (one.y.interval) lines.push([x, up(one.y.interval[1]), x, up(one.y.interval[0])]);
    const label = points.length <= MOST_NAMED || place < FIRST_NAMED ? shortName(one.label, 26) : "";
    return { ...one, cx: x, cy: y, px: x, lines, point: { x, y, lines, width: 6.6 * label.length + 4 }, short: label };
  });
  const places = placeNames(placed.map((one) => one.point), [frame.left, frame.top - 6, size.width - 2, frame.bottom]);
  placed.forEach((one, number) => {
    const place = places[number];
    const group = draw("g", { class: `point ${colourOf(one.mark)} ${one.muted ? "muted" : ""}` });
    for (const [x1, y1, x2, y2] of one.lines) group.append(draw("line", { class: "spread", x1, y1, x2, y2 }));
    if (place.far && one.short) group.append(draw("line", { class: "lead", x1: one.cx, y1: one.cy, x2: place.x, y2: place.y - 4 }));
    group.append(draw("path", { d: one.shape, transform: `translate(${one.cx} ${one.cy})`, class: "mark" }));
    if (one.short) group.append(words(one.short, place.x, place.y, "name", place.anchor));
    group.append(draw("title", {}, one.title));
    if (one.open) group.addEventListener("click", one.open);
    svg.append(group);
  });
  return svg;
}

// Parts of a whole, one beside the other: [name, number, class].
function stacked(parts, name) {
  const whole = parts.reduce((sum, one) => sum + one[1], 0) || 1;
  const said = parts.map(([words_, number]) => `${number.toLocaleString("en")} ${words_}`);
  const bar = make("div", { className: "stacked", role: "img", ariaLabel: `${name}: ${said.join(", ")}` });
  parts.forEach(([, number, kind], place) => {
    const piece = make("i", { className: kind, title: said[place] });
    piece.style.width = `${(100 * number) / whole}%`;
    if (number) bar.append(piece);
  });
  return bar;
}
