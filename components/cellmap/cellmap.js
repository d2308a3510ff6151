// The map of cells in the browser: paints the cells, says what stands under the pointer or the focus, sends what is chosen.

const ROW = 40; // pixels; all sizes here are pixels of the page
const LANE = 34;
const GAP = 10;
const ROOM = { left: 72, right: 84, top: 8, bottom: 50 };
const LINE = 14; // of the notes below
const TICK_ROOM = 52;
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".mount");
  host.map = host.map || build(host);
  const map = host.map;
  map.data = data;
  map.choose = (cell) => setTriggerValue("picked", { x: data.x.values[cell.column], y: data.y.values[cell.row] });
  draw(map);
  map.size.observe(map.root);
  return () => map.size.disconnect();
}

function build(host) {
  const map = { root: make("div", "cellmap"), canvas: make("canvas"), field: make("div", "field") };
  Object.assign(map, { cursor: make("div", "cursor"), spoken: make("div", "spoken"), tip: makeTip(), at: null, width: 0 });
  map.canvas.setAttribute("aria-hidden", "true");
  map.field.tabIndex = 0;
  map.field.setAttribute("role", "application");
  map.field.setAttribute("aria-roledescription", "map of cells");
  map.spoken.setAttribute("aria-live", "polite");
  const tools = make("div", "tools");
  tools.append(makeButton("Image", "Download as PNG", () => saveImage(paintImage(map), map.data.file)));
  map.root.append(map.canvas, map.field, map.cursor, map.spoken, tools, map.tip);
  host.replaceChildren(map.root);
  listen(map);
  map.size = new ResizeObserver(() => {
    if (map.root.clientWidth !== map.width) draw(map);
  });
  document.fonts.ready.then(() => draw(map));
  return map;
}

// ---- what is seen ----

function draw(map) {
  const { root, canvas, field, data } = map;
  map.width = root.clientWidth;
  if (!map.width) return;
  const plan = layOut(data, map.width);
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(map.width * scale);
  canvas.height = Math.round(plan.height * scale);
  canvas.style.height = `${plan.height}px`;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  paint(context, data, plan, getComputedStyle(root));
  Object.assign(field.style, px({ left: plan.left, top: plan.top, width: plan.across, height: plan.down }));
  field.setAttribute("aria-label", `${data.alt}. Arrow keys move from cell to cell, Enter chooses one.`);
  if (map.at) look(map, cellAt(data, map.at.x, map.at.y), root.querySelector(".tip.open") !== null);
  map.plan = plan;
}

function px(sizes) {
  return Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, `${size}px`]));
}

// Where everything stands, and how values become pixels.
function layOut(data, width) {
  const [columns, rows] = [data.x.values.length, data.y.values.length];
  const plan = { width, columns, rows, left: ROOM.left, top: ROOM.top, across: width - ROOM.left - ROOM.right, down: rows * ROW };
  plan.bottom = plan.top + plan.down;
  plan.lane = plan.bottom + GAP;
  plan.foot = data.lane ? plan.lane + LANE : plan.bottom;
  plan.height = plan.foot + ROOM.bottom + data.notes.length * LINE;
  const low = (axis) => axis.values[0] - step(axis) / 2;
  plan.x = (value) => plan.left + ((value - low(data.x)) / (columns * step(data.x))) * plan.across;
  plan.y = (value) => plan.bottom - ((value - low(data.y)) / (rows * step(data.y))) * plan.down;
  plan.column = (column) => plan.left + (column / columns) * plan.across;
  return plan;
}

function step(axis) {
  return axis.values.length > 1 ? (axis.values.at(-1) - axis.values[0]) / (axis.values.length - 1) : 1;
}

function paint(context, data, plan, style) {
  const look = { font: style.fontFamily, ink: style.color, faint: style.getPropertyValue("--faint") };
  look.paper = style.getPropertyValue("--st-background-color");
  paintCells(context, data, plan);
  paintLines(context, data, plan, look);
  if (data.lane) paintLane(context, data, plan, look);
  paintAxes(context, data, plan, look);
  if (data.legend) paintLegend(context, data, plan, look);
  write(context, data.words, plan.left + 8, plan.top + ROW / 2, { ...look, size: 12 });
  for (const mark of data.marks) paintMark(context, mark, plan, look);
  const below = plan.height - data.notes.length * LINE + 4;
  data.notes.forEach((line, place) => write(context, line, 2, below + place * LINE, { ...look, ink: look.faint, size: 11 }));
}

function paintCells(context, data, plan) {
  const scale = context.getTransform().a;
  const edges = Array.from({ length: plan.columns + 1 }, (_, column) => Math.round(plan.column(column) * scale) / scale);
  for (let column = 0; column < plan.columns; column += 1) {
    for (let row = 0; row < plan.rows; row += 1) {
      const tone = data.tones[column * plan.rows + row];
      context.fillStyle = tone < 0 ? data.undefined : data.palette[tone];
      context.fillRect(edges[column], plan.bottom - (row + 1) * ROW, edges[column + 1] - edges[column], ROW);
    }
  }
}

function paintLines(context, data, plan, look) {
  context.beginPath();
  for (const [x1, y1, x2, y2] of data.lines) {
    context.moveTo(plan.x(x1), plan.y(y1));
    context.lineTo(plan.x(x2), plan.y(y2));
  }
  Object.assign(context, { strokeStyle: look.ink, lineWidth: 1.2, lineCap: "square" });
  context.stroke();
}

function paintLane(context, data, plan, look) {
  context.fillStyle = look.faint;
  context.globalAlpha = 0.12;
  context.fillRect(plan.left, plan.lane, plan.across, LANE);
  context.globalAlpha = 0.55;
  context.beginPath();
  context.moveTo(plan.left, plan.foot);
  data.lane.shares.forEach((share, column) => {
    context.lineTo(plan.column(column), plan.foot - share * LANE);
    context.lineTo(plan.column(column + 1), plan.foot - share * LANE);
  });
  context.lineTo(plan.left + plan.across, plan.foot);
  context.fill();
  context.globalAlpha = 1;
}

function paintAxes(context, data, plan, look) {
  const label = { ...look, ink: look.faint, size: 12 };
  data.y.texts.forEach((text, row) => write(context, text, plan.left - 8, plan.bottom - (row + 0.5) * ROW, { ...label, align: "right" }));
  if (data.lane) write(context, data.lane.name, plan.left - 8, plan.lane + LANE / 2, { ...label, align: "right" });
  context.fillStyle = look.faint;
  for (const column of ticks(data.x, plan)) {
    const place = plan.x(data.x.values[column]);
    context.fillRect(Math.round(place) - 0.5, plan.foot, 1, 5);
    write(context, trimmed(data.x.texts[column]), place, plan.foot + 15, { ...label, align: "center" });
  }
  const title = { ...look, size: 12, weight: 600, align: "center" };
  write(context, data.x.title, plan.left + plan.across / 2, plan.foot + 36, title);
  context.save();
  context.translate(10, plan.top + plan.down / 2);
  context.rotate(-Math.PI / 2);
  write(context, data.y.title, 0, 0, title);
  context.restore();
}

// Columns that carry a number: multiples of the smallest round step that leaves room between them.
function ticks(axis, plan) {
  const room = plan.across / TICK_ROOM;
  const span = axis.values.at(-1) - axis.values[0];
  const size = STEPS.find((item) => span / item <= room) || span;
  const even = (value) => Math.abs(value / size - Math.round(value / size)) < 1e-6;
  return axis.values.flatMap((value, column) => (even(value) ? [column] : []));
}

function trimmed(text) {
  return text.replace(/\.0+$/, "");
}

function paintLegend(context, data, plan, look) {
  const [left, top, width] = [plan.left + plan.across + 18, plan.top + 50, 12];
  const height = plan.down - 60;
  const { title, stops } = data.legend;
  write(context, title, left, top - 16, { ...look, size: 12, weight: 600 });
  for (let line = 0; line < height; line += 1) {
    const share = 1 - (line + 0.5) / height;
    const next = Math.max(1, stops.findIndex(([place]) => place >= share));
    const [[place, tone], [upper, last]] = [stops[next - 1], stops[next]];
    context.fillStyle = data.palette[Math.round(tone + ((share - place) / (upper - place)) * (last - tone))];
    context.fillRect(left, top + line, width, 1.5);
  }
  const places = stops.map(([place]) => top + (1 - place) * height);
  for (let stop = 1; stop < places.length - 1; stop += 1) {
    places[stop] = Math.min(Math.max(places[stop], places.at(-1) + 14), places[0] - 14); // labels do not cover each other
  }
  stops.forEach(([, , text], stop) => write(context, text, left + width + 6, places[stop], { ...look, ink: look.faint, size: 11 }));
}

function paintMark(context, mark, plan, look) {
  const [x, y] = [plan.x(mark.x), plan.y(mark.y)];
  context.beginPath();
  context.arc(x, y, 5.5, 0, 2 * Math.PI);
  context.globalAlpha = 0.9;
  context.fillStyle = look.paper;
  context.fill();
  context.globalAlpha = 1;
  Object.assign(context, { strokeStyle: look.ink, lineWidth: 2 });
  context.stroke();
  const bold = { ...look, size: 12, weight: 600, align: "center", halo: look.paper };
  context.font = fontOf(bold);
  const half = context.measureText(mark.text).width / 2 + 3;
  const middle = Math.min(Math.max(x, plan.left + half), plan.left + plan.across - half);
  write(context, mark.text, middle, y - 15, bold);
}

function fontOf(look) {
  return `${look.weight || 400} ${look.size}px ${look.font}`;
}

function write(context, text, x, y, look) {
  Object.assign(context, { font: fontOf(look), textAlign: look.align || "left", textBaseline: "middle", fillStyle: look.ink });
  if (look.halo) {
    Object.assign(context, { strokeStyle: look.halo, lineWidth: 4, lineJoin: "round" });
    context.strokeText(text, x, y);
  }
  context.fillText(text, x, y);
}

function paintImage(map) {
  const plan = layOut(map.data, map.width);
  const [canvas, context] = imageCanvas(map.root, plan.width, plan.height);
  paint(context, map.data, plan, getComputedStyle(map.root));
  return canvas;
}

// ---- what is looked at and chosen ----

function listen(map) {
  const { field } = map;
  const under = (event) => {
    const box = field.getBoundingClientRect();
    const share = (size, all) => Math.min(all - 1, Math.max(0, Math.floor(size * all)));
    const { columns, rows } = layOut(map.data, map.width);
    return {
      column: share((event.clientX - box.left) / box.width, columns),
      row: rows - 1 - share((event.clientY - box.top) / box.height, rows),
    };
  };
  field.addEventListener("pointermove", (event) => look(map, under(event), true));
  field.addEventListener("pointerleave", () => leave(map));
  field.addEventListener("click", (event) => map.choose(under(event)));
  field.addEventListener("focus", () => {
    if (field.matches(":focus-visible")) say(map, map.at ? cellAt(map.data, map.at.x, map.at.y) : start(map.data));
  });
  field.addEventListener("blur", () => leave(map));
  field.addEventListener("keydown", (event) => {
    const cell = map.at ? cellAt(map.data, map.at.x, map.at.y) : start(map.data);
    if (event.key === "Escape") return leave(map);
    if (event.key === "Enter" || event.key === " ") map.choose(cell);
    else if (!move(map.data, cell, event.key)) return;
    else say(map, cell);
    event.preventDefault();
    event.stopPropagation();
  });
}

// The cell that the keys begin at: the mark that was set last.
function start(data) {
  const mark = data.marks.at(-1);
  return mark ? cellAt(data, mark.x, mark.y) : { column: Math.floor(data.x.values.length / 2), row: 0 };
}

function cellAt(data, x, y) {
  const nearest = (axis, value) => {
    const place = Math.round((value - axis.values[0]) / step(axis));
    return Math.min(axis.values.length - 1, Math.max(0, place));
  };
  return { column: nearest(data.x, x), row: nearest(data.y, y) };
}

// Moves a cell; false where the key moves nothing.
function move(data, cell, key) {
  const [last, top] = [data.x.values.length - 1, data.y.values.length - 1];
  const across = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10, Home: -last, End: last }[key];
  const up = { ArrowUp: 1, ArrowDown: -1 }[key];
  if (across === undefined && up === undefined) return false;
  cell.column = Math.min(last, Math.max(0, cell.column + (across || 0)));
  cell.row = Math.min(top, Math.max(0, cell.row + (up || 0)));
  return true;
}

function say(map, cell) {
  look(map, cell, true);
  map.spoken.textContent = tell(map.data, cell).map(([name, text]) => `${name} ${text}`).join(", ");
}

function tell(data, { column, row }) {
  const rows = data.y.values.length;
  const told = data.tips.map(([name, texts]) => [name, texts[texts.length === data.x.values.length ? column : column * rows + row]]);
  return [[data.x.name, data.x.texts[column]], [data.y.name, data.y.texts[row]], ...told];
}

// Puts the cursor on a cell, and opens what it says.
function look(map, cell, open) {
  const { data, cursor, root, tip } = map;
  const plan = layOut(data, map.width);
  map.at = { x: data.x.values[cell.column], y: data.y.values[cell.row] };
  const width = Math.max(6, plan.across / plan.columns);
  const left = plan.column(cell.column + 0.5) - width / 2;
  Object.assign(cursor.style, px({ left, top: plan.bottom - (cell.row + 1) * ROW, width, height: ROW }));
  if (!open) return;
  cursor.classList.add("open");
  openTip(root, tip, cursor.getBoundingClientRect(), "", tell(data, cell));
}

function leave(map) {
  map.cursor.classList.remove("open");
  closeTip(map.tip);
}
