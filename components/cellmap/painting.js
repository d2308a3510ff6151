// How the map of cells is laid out and painted.

const ROW = 40; // pixels; all sizes here are pixels of the page
const LANE = 34;
const GAP = 10;
const ROOM = { left: 72, right: 84, top: 8, bottom: 50 };
const LINE = 14; // of the notes below
const TICK_ROOM = 52;
const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

// The colours and the font of the page.
function lookOf(root) {
  const style = getComputedStyle(root);
  const of = (name) => style.getPropertyValue(name);
  const dark = getComputedStyle(root.querySelector(".spoken")).color === "rgb(255, 255, 255)"; // its style tells light from dark
  return { font: style.fontFamily, ink: style.color, faint: of("--faint"), paper: of("--st-background-color"), dark: Number(dark) };
}

// Where everything stands, and how values become pixels.
function layOut(data, width, look) {
  const [columns, rows] = [data.x.values.length, data.y.values.length];
  const plan = { width, columns, rows, left: ROOM.left, top: ROOM.top, across: width - ROOM.left - ROOM.right, down: rows * ROW };
  plan.bottom = plan.top + plan.down;
  plan.lane = plan.bottom + GAP;
  plan.foot = data.lane ? plan.lane + LANE : plan.bottom;
  plan.notes = data.notes.flatMap((note) => broken(note, width - 4, { ...look, size: 11 }));
  plan.words = broken(data.words, plan.across - 16, { ...look, size: 12 });
  plan.height = plan.foot + ROOM.bottom + plan.notes.length * LINE;
  const low = (axis) => axis.values[0] - step(axis) / 2;
  plan.x = (value) => plan.left + ((value - low(data.x)) / (columns * step(data.x))) * plan.across;
  plan.y = (value) => plan.bottom - ((value - low(data.y)) / (rows * step(data.y))) * plan.down;
  plan.column = (column) => plan.left + (column / columns) * plan.across;
  plan.row = (row) => plan.bottom - row * ROW;
  return plan;
}

const ruler = document.createElement("canvas").getContext("2d");

function widthOf(text, look) {
  ruler.font = fontOf(look);
  return ruler.measureText(text).width;
}

// A text in lines that fit: broken at spaces, and within what is longer than a line.
function broken(text, room, look) {
  const lines = [""];
  for (const piece of text.match(/\s+|\S+/gu) || []) {
    if (widthOf(lines.at(-1) + piece.trimEnd(), look) <= room) lines.push(lines.pop() + piece);
    else if (widthOf(piece, look) <= room) lines.push(piece.trimStart());
    else {
      for (const letter of piece) {
        if (widthOf(lines.at(-1) + letter, look) > room) lines.push("");
        lines.push(lines.pop() + letter);
      }
    }
  }
  return lines.filter(Boolean);
}

function step(axis) {
  return axis.values.length > 1 ? (axis.values.at(-1) - axis.values[0]) / (axis.values.length - 1) : 1;
}

function paint(context, data, plan, look) {
  paintCells(context, data, plan, look);
  paintLines(context, data, plan, look);
  if (data.lane) paintLane(context, data, plan, look);
  paintAxes(context, data, plan, look);
  if (data.legend) paintLegend(context, data, plan, look);
  paintWords(context, data, plan, look);
  paintMarks(context, data, plan, look);
  const below = plan.height - plan.notes.length * LINE + 4;
  plan.notes.forEach((line, place) => write(context, line, 2, below + place * LINE, { ...look, ink: look.faint, size: 11 }));
}

function paintCells(context, data, plan, look) {
  const scale = context.getTransform().a;
  const whole = (size) => Math.round(size * scale) / scale; // cells end where pixels end, so that no seams show
  const across = Array.from({ length: plan.columns + 1 }, (_, column) => whole(plan.column(column)));
  const up = Array.from({ length: plan.rows + 1 }, (_, row) => whole(plan.row(row)));
  const palette = data.palettes[look.dark];
  for (let column = 0; column < plan.columns; column += 1) {
    for (let row = 0; row < plan.rows; row += 1) {
      const tone = data.tones[column * plan.rows + row];
      context.fillStyle = tone < 0 ? data.undefined[look.dark] : palette[tone];
      context.fillRect(across[column], up[row + 1], across[column + 1] - across[column], up[row] - up[row + 1]);
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
    context.fillStyle = data.palettes[look.dark][Math.round(tone + ((share - place) / (upper - place)) * (last - tone))];
    context.fillRect(left, top + line, width, 1.5);
  }
  const places = stops.map(([place]) => top + (1 - place) * height);
  for (let stop = 1; stop < places.length - 1; stop += 1) {
    places[stop] = Math.min(Math.max(places[stop], places.at(-1) + 14), places[0] - 14); // labels do not cover each other
  }
  stops.forEach(([, , text], stop) => write(context, text, left + width + 6, places[stop], { ...look, ink: look.faint, size: 11 }));
}

// In the highest row: from the left, or up to the right where a mark stands on the left.
function paintWords(context, data, plan, look) {
  const size = { ...look, size: 12 };
  const width = Math.max(...plan.words.map((line) => widthOf(line, size)), 0);
  const taken = data.marks.some(({ x, y }) => plan.y(y) < plan.top + ROW && plan.x(x) < plan.left + 8 + width + 50);
  const [place, align] = taken ? [plan.left + plan.across - 8, "right"] : [plan.left + 8, "left"];
  const first = plan.top + ROW / 2 - ((plan.words.length - 1) * LINE) / 2;
  plan.words.forEach((line, number) => write(context, line, place, first + number * LINE, { ...size, align }));
}

function paintMarks(context, data, plan, look) {
  for (const mark of data.marks) paintRing(context, plan.x(mark.x), plan.y(mark.y), look);
  const bold = { ...look, size: 12, weight: 600, align: "center", halo: look.paper };
  const taken = [];
  for (const mark of data.marks) {
    const [half, y] = [widthOf(mark.text, bold) / 2 + 3, plan.y(mark.y)];
    const x = Math.min(Math.max(plan.x(mark.x), plan.left + half), plan.left + plan.across - half);
    const free = (height) => taken.every((other) => Math.abs(other.x - x) >= other.half + half || Math.abs(other.y - height) >= LINE);
    const height = free(y - 15) ? y - 15 : y + 15;
    taken.push({ x, half, y: height });
    write(context, mark.text, x, height, bold);
  }
}

function paintRing(context, x, y, look) {
  context.beginPath();
  context.arc(x, y, 5.5, 0, 2 * Math.PI);
  context.globalAlpha = 0.9;
  context.fillStyle = look.paper;
  context.fill();
  context.globalAlpha = 1;
  Object.assign(context, { strokeStyle: look.ink, lineWidth: 2 });
  context.stroke();
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
