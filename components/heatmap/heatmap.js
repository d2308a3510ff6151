// The token heatmap in the browser: draws words, moves the focus with the arrow keys, shows values, paints an image.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".mount");
  const kept = readState(host);
  const root = make("div", "heatmap");
  root.classList.toggle("errors", kept.errors);
  root.classList.toggle("values", kept.values);
  for (const panels of data.rows) {
    const row = make("div", "row");
    row.append(...panels.map((panel) => drawPanel(panel, data)));
    root.append(row);
  }
  root.append(drawFoot(data, root));
  const caption = make("div", "caption");
  caption.append(...data.caption.map((line) => make("div", "", line)));
  root.append(caption);
  const tip = makeTip();
  root.append(tip);
  host.replaceChildren(root);
  const stop = listen(root, tip, setTriggerValue);
  refocus(root, kept.focus);
  return stop;
}

function readState(host) {
  const old = host.querySelector(".heatmap");
  const active = host.getRootNode().activeElement;
  return {
    errors: old ? old.classList.contains("errors") : true,
    values: old ? old.classList.contains("values") : false,
    focus: old && active && old.contains(active) && active.dataset.place ? active.dataset.place : null,
  };
}

function refocus(root, place) {
  if (!place) return;
  const word = [...root.querySelectorAll(".word")].find((item) => item.dataset.place === place);
  if (word) word.focus({ preventScroll: true });
}

function drawPanel(panel, data) {
  const box = make("section", "panel");
  box.dataset.panel = panel.id;
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", [panel.tag, panel.title, panel.kind, panel.meta].filter(Boolean).join(", "));
  const tone = data.tones[panel.tone];
  if (tone) {
    box.classList.add(panel.tone);
    box.style.setProperty("--tone", `light-dark(${tone.light[0]}, ${tone.dark[0]})`);
    box.style.setProperty("--tone-text", `light-dark(${tone.light[1]}, ${tone.dark[1]})`);
  }
  const head = make("div", "head");
  if (panel.tag) head.append(make("span", "tag", panel.tag));
  if (panel.title) head.append(make("bdi", "title", panel.title));
  if (panel.kind) head.append(make("span", "kind", panel.kind));
  if (panel.meta) head.append(make("span", "meta", panel.meta));
  box.append(head, drawText(panel));
  if (panel.note) box.append(make("div", "note", panel.note));
  return box;
}

function drawText(panel) {
  const text = make("div", panel.coloured ? "text" : "text bare");
  text.dir = "auto";
  if (panel.lang) text.lang = panel.lang;
  if (!panel.runs.length) {
    text.classList.add("empty");
    text.textContent = panel.empty;
    return text;
  }
  let first = true;
  for (const run of panel.runs) {
    if (run.caret !== undefined) {
      text.append(drawCaret(run));
    } else if (run.word === undefined) {
      appendPieces(text, run.pieces);
    } else {
      text.append(drawWord(panel, run, first));
      first = false;
    }
  }
  return text;
}

function drawCaret(run) {
  const caret = make("span", "caret", "\u2038");
  caret.tip = { name: run.caret, rows: [] };
  caret.setAttribute("role", "img");
  caret.setAttribute("aria-label", run.caret);
  return caret;
}

function drawWord(panel, run, first) {
  const word = make("span", "word");
  appendPieces(word, run.pieces);
  word.dataset.place = `${panel.id}:${run.word}`;
  word.dataset.position = run.word;
  word.dataset.twin = `${panel.side}:${run.word}`;
  word.tabIndex = first ? 0 : -1;
  word.setAttribute("role", "img");
  word.setAttribute("aria-label", run.label);
  if (run.light) {
    word.style.backgroundColor = `light-dark(${run.light[0]}, ${run.dark[0]})`;
    word.style.color = `light-dark(${run.light[1]}, ${run.dark[1]})`;
  } else {
    word.classList.add("plain");
  }
  if (run.changed) word.classList.add("changed");
  if (run.value) word.dataset.value = run.value;
  word.tip = { name: run.pieces.map((piece) => piece[0]).join(""), rows: run.tip };
  return word;
}

function appendPieces(parent, pieces) {
  for (const [text, mark] of pieces) {
    if (mark) parent.append(make("span", mark, text));
    else parent.append(document.createTextNode(text));
  }
}

function drawFoot(data, root) {
  const foot = make("div", "foot");
  if (data.legend) foot.append(drawLegend(data.legend));
  for (const mark of data.marks) foot.append(make("span", `sample ${mark.style}`, mark.label));
  const tools = make("div", "tools");
  tools.append(toggle("Values", "values", root, "Write the value beside each word"));
  if (data.marks.some((mark) => mark.style !== "lone")) tools.append(toggle("Errors", "errors", root, "Underline marked errors"));
  tools.append(makeButton("Image", "Download as PNG", () => savePng(root, data.file)));
  foot.append(tools);
  return foot;
}

function drawLegend(legend) {
  const box = make("div", "legend");
  const bar = make("span", "bar");
  const scale = make("span", "scale");
  for (const stop of legend.stops) {
    const item = make("span", "stop");
    const swatch = make("i");
    swatch.style.backgroundColor = `light-dark(${stop.light}, ${stop.dark})`;
    item.append(swatch, make("span", "", stop.label));
    scale.append(item);
  }
  bar.append(make("span", "", legend.low), scale, make("span", "", legend.high));
  box.append(make("b", "", legend.title), bar);
  return box;
}

function toggle(label, name, root, help) {
  const button = makeButton(label, help, () => button.setAttribute("aria-pressed", String(root.classList.toggle(name))));
  button.setAttribute("aria-pressed", String(root.classList.contains(name)));
  return button;
}

function listen(root, tip, setTriggerValue) {
  const wordOf = (event) => event.composedPath().find((item) => item.tip);
  const show = (event) => {
    const word = wordOf(event);
    if (word) showWord(root, tip, word);
  };
  const hide = () => hideWord(root, tip);
  root.addEventListener("pointerover", (event) => (wordOf(event) ? show(event) : hide()));
  root.addEventListener("pointerleave", hide);
  root.addEventListener("focusin", show);
  root.addEventListener("focusout", hide);
  root.addEventListener("click", (event) => pick(wordOf(event), setTriggerValue));
  root.addEventListener("keydown", (event) => {
    const word = wordOf(event);
    if (!word || !word.dataset.place) return;
    if (event.key === "Escape") return hide();
    if (event.key === "Enter") return pick(word, setTriggerValue);
    const next = neighbour(root, word, event.key);
    if (next) {
      event.preventDefault();
      event.stopPropagation();
      move(word, next);
    }
  });
  return hide;
}

function pick(word, setTriggerValue) {
  if (word && word.dataset.place) {
    setTriggerValue("picked", { place: word.dataset.place, at: Date.now() });
  }
}

function move(from, to) {
  const same = from.closest(".text") === to.closest(".text");
  if (same) from.tabIndex = -1;
  to.closest(".text").querySelectorAll('.word[tabindex="0"]').forEach((word) => (word.tabIndex = -1));
  to.tabIndex = 0;
  to.focus();
}

function neighbour(root, word, key) {
  const text = word.closest(".text");
  const words = [...text.querySelectorAll(".word")];
  const index = words.indexOf(word);
  const forward = getComputedStyle(text).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
  if (key === "Home") return words[0];
  if (key === "End") return words[words.length - 1];
  if (key === "ArrowLeft" || key === "ArrowRight") return words[index + (key === forward ? 1 : -1)];
  if (key === "ArrowUp" || key === "ArrowDown") return lineNeighbour(root, word, key === "ArrowDown" ? 1 : -1);
  return null;
}

function lineNeighbour(root, word, way) {
  const from = word.getBoundingClientRect();
  const middle = (from.left + from.right) / 2;
  let best = null;
  let least = Infinity;
  for (const other of root.querySelectorAll(".word")) {
    const box = other.getBoundingClientRect();
    const drop = way * ((box.top + box.bottom) / 2 - (from.top + from.bottom) / 2);
    if (drop < from.height / 2) continue;
    const aside = Math.max(0, box.left - middle, middle - box.right);
    const distance = drop * 4 + aside;
    if (distance < least) [best, least] = [other, distance];
  }
  return best;
}

function showWord(root, tip, word) {
  hideWord(root, tip);
  openTip(root, tip, word.getClientRects()[0] || word.getBoundingClientRect(), word.tip.name, word.tip.rows);
  if (word.dataset.twin) {
    for (const other of root.querySelectorAll(".word")) {
      if (other !== word && other.dataset.twin === word.dataset.twin) other.classList.add("twin");
    }
  }
}

function hideWord(root, tip) {
  closeTip(tip);
  root.querySelectorAll(".twin").forEach((word) => word.classList.remove("twin"));
}

// ---- the image: what stands on the screen, painted again on a canvas ----

async function savePng(root, name) {
  root.classList.add("painting");
  const values = root.classList.contains("values") ? writeValues(root) : [];
  const canvas = paint(root);
  values.forEach((value) => value.remove());
  root.classList.remove("painting");
  await saveImage(canvas, name);
}

// On the screen values come from the style sheet, where a canvas cannot read them.
function writeValues(root) {
  return [...root.querySelectorAll(".word[data-value]")].map((word) => {
    const value = make("span", "value", `\u2060${word.dataset.value}`);
    word.append(value);
    return value;
  });
}

function paint(root) {
  const frame = root.getBoundingClientRect();
  const [canvas, context] = imageCanvas(root, frame.width, frame.height);
  context.translate(-frame.left, -frame.top);
  paintElement(context, root);
  return canvas;
}

function paintElement(context, element) {
  if (element.matches(".tools, .tip")) return;
  const style = getComputedStyle(element);
  if (style.display === "none") return;
  paintBox(context, element, style);
  for (const child of element.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) paintText(context, child, style);
    else if (child.nodeType === Node.ELEMENT_NODE) paintElement(context, child);
  }
}

function paintBox(context, element, style) {
  const radius = parseFloat(style.borderTopLeftRadius) || 0;
  for (const box of element.getClientRects()) {
    context.beginPath();
    context.roundRect(box.left, box.top, box.width, box.height, radius);
    if (style.backgroundColor !== "rgba(0, 0, 0, 0)") {
      context.fillStyle = style.backgroundColor;
      context.fill();
    }
    if (parseFloat(style.borderLeftWidth) > 0) {
      context.strokeStyle = style.borderLeftColor;
      context.lineWidth = parseFloat(style.borderLeftWidth);
      context.stroke();
    }
    if (parseFloat(style.borderTopWidth) > 2) {
      context.fillStyle = style.borderTopColor;
      context.fillRect(box.left + radius / 2, box.top, box.width - radius, parseFloat(style.borderTopWidth));
    }
  }
}

function paintText(context, node, style) {
  context.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  context.fillStyle = style.color;
  context.direction = style.direction;
  context.textAlign = "left";
  context.textBaseline = "middle";
  const range = document.createRange();
  for (const match of node.data.matchAll(/\S+/gu)) {
    range.setStart(node, match.index);
    range.setEnd(node, match.index + match[0].length);
    const box = range.getBoundingClientRect();
    context.fillText(match[0], box.left, (box.top + box.bottom) / 2 + 1);
    if (style.textDecorationLine.includes("underline")) paintUnderline(context, box, style);
  }
}

function paintUnderline(context, box, style) {
  const base = box.bottom + 1;
  context.strokeStyle = style.color;
  context.lineWidth = 1.5;
  context.setLineDash(style.textDecorationStyle === "dotted" ? [1.5, 2.5] : []);
  context.beginPath();
  for (let x = box.left; x <= box.right; x += 1) {
    const y = style.textDecorationStyle === "wavy" ? base + 1.3 * Math.sin(((x - box.left) * Math.PI) / 3) : base;
    if (x === box.left) context.moveTo(x, y);
    else context.lineTo(x, y);
  }
  context.stroke();
  context.setLineDash([]);
}
