// The map of cells in the browser: says what stands under the pointer or the focus, sends what is chosen. painting.js paints it.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".mount");
  host.map = host.map || build(host);
  const map = host.map;
  map.data = data;
  map.choose = (cell) => setTriggerValue("picked", { x: data.x.values[cell.column], y: data.y.values[cell.row] });
  draw(map);
  if (map.stop) map.stop();
  map.stop = watch(map);
  return map.stop;
}

// `at` is the value under the keys, `pointer` where the pointer rests in the window; each is null where there is none.
function build(host) {
  const map = { root: make("div", "cellmap"), canvas: make("canvas"), field: make("div", "field"), at: null, pointer: null };
  Object.assign(map, { cursor: make("div", "cursor"), spoken: make("div", "spoken"), tip: makeTip() });
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
  document.fonts.ready.then(() => draw(map));
  return map;
}

// Draws again where the width, the density of the pixels or the theme changes; returns what ends that.
function watch(map) {
  const stop = new AbortController();
  const size = new ResizeObserver(() => {
    if (map.root.clientWidth !== map.width) draw(map);
  });
  const sharpen = () => {
    const query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    const again = () => {
      draw(map);
      sharpen();
    };
    query.addEventListener("change", again, { once: true, signal: stop.signal });
  };
  size.observe(map.root);
  sharpen();
  map.spoken.addEventListener("transitionend", () => draw(map), { signal: stop.signal }); // its colour is the theme's
  return () => {
    size.disconnect();
    stop.abort();
  };
}

function draw(map) {
  const { root, canvas, field, data } = map;
  map.width = root.clientWidth;
  if (!map.width) return;
  const look = lookOf(root);
  const plan = (map.plan = layOut(data, map.width, look));
  const scale = window.devicePixelRatio || 1;
  canvas.width = Math.round(plan.width * scale);
  canvas.height = Math.round(plan.height * scale);
  Object.assign(canvas.style, px({ width: canvas.width / scale, height: canvas.height / scale }));
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  paint(context, data, plan, look);
  Object.assign(field.style, px({ left: plan.left, top: plan.top, width: plan.across, height: plan.down }));
  field.setAttribute("aria-label", `${data.alt}. Arrow keys move from cell to cell, Enter chooses one.`);
  if (map.pointer) open(map, under(map));
  else if (map.tip.classList.contains("open")) say(map, cellAt(data, map.at));
}

function px(sizes) {
  return Object.fromEntries(Object.entries(sizes).map(([name, size]) => [name, `${size}px`]));
}

function paintImage(map) {
  const [canvas, context] = imageCanvas(map.root, map.plan.width, map.plan.height);
  paint(context, map.data, map.plan, lookOf(map.root));
  return canvas;
}

function listen(map) {
  const { field } = map;
  const point = (event) => {
    map.pointer = { x: event.clientX, y: event.clientY };
    return under(map);
  };
  field.addEventListener("pointermove", (event) => open(map, point(event)));
  field.addEventListener("pointerleave", () => {
    map.pointer = null;
    leave(map);
  });
  field.addEventListener("click", (event) => {
    const cell = point(event);
    map.at = valueOf(map.data, cell);
    open(map, cell);
    map.choose(cell);
  });
  field.addEventListener("focus", () => {
    if (field.matches(":focus-visible")) say(map, keyed(map));
  });
  field.addEventListener("blur", () => leave(map));
  field.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "Escape") {
      map.pointer = null;
      return leave(map);
    }
    const cell = keyed(map);
    const chosen = event.key === "Enter" || event.key === " ";
    if (!chosen && !move(map.data, cell, event.key)) return;
    map.pointer = null;
    say(map, cell);
    if (chosen) map.choose(cell);
    event.preventDefault();
    event.stopPropagation();
  });
}

// The cell under the pointer.
function under(map) {
  const { field, pointer, plan } = map;
  const box = field.getBoundingClientRect();
  const share = (size, all) => Math.min(all - 1, Math.max(0, Math.floor(size * all)));
  const row = share((pointer.y - box.top) / box.height, plan.rows);
  return { column: share((pointer.x - box.left) / box.width, plan.columns), row: plan.rows - 1 - row };
}

// The cell under the keys; they begin at the mark that was set last.
function keyed(map) {
  const { data, at } = map;
  return cellAt(data, at || data.marks.at(-1) || { x: data.x.values[data.x.values.length >> 1], y: data.y.values[0] });
}

function cellAt(data, { x, y }) {
  const nearest = (axis, value) => {
    const place = Math.round((value - axis.values[0]) / step(axis));
    return Math.min(axis.values.length - 1, Math.max(0, place));
  };
  return { column: nearest(data.x, x), row: nearest(data.y, y) };
}

function valueOf(data, { column, row }) {
  return { x: data.x.values[column], y: data.y.values[row] };
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

// Moves the keys to a cell; a screen reader hears it.
function say(map, cell) {
  map.at = valueOf(map.data, cell);
  open(map, cell);
  const said = tell(map.data, cell).map(([name, text]) => `${name} ${text}`).join(", ");
  if (map.spoken.textContent !== said) map.spoken.textContent = said;
}

function tell(data, { column, row }) {
  const rows = data.y.values.length;
  const told = data.tips.map(([name, texts]) => [name, texts[texts.length === data.x.values.length ? column : column * rows + row]]);
  return [[data.x.name, data.x.texts[column]], [data.y.name, data.y.texts[row]], ...told];
}

// Puts the cursor on a cell, and opens what it says.
function open(map, cell) {
  const { data, cursor, root, tip, plan } = map;
  const width = Math.max(6, plan.across / plan.columns);
  const left = plan.column(cell.column + 0.5) - width / 2;
  Object.assign(cursor.style, px({ left, top: plan.row(cell.row + 1), width, height: ROW }));
  cursor.classList.add("open");
  openTip(root, tip, cursor.getBoundingClientRect(), "", tell(data, cell));
}

function leave(map) {
  map.cursor.classList.remove("open");
  map.spoken.textContent = "";
  closeTip(map.tip);
}
