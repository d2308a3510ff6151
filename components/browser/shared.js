// What the components in the browser share. Every text of the user goes through textContent.

function make(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined && text !== null) element.textContent = text;
  return element;
}

function makeTip() {
  const tip = make("div", "tip");
  tip.setAttribute("role", "tooltip");
  return tip;
}

// Opens the tooltip beside a box of the window: above it, or below it where there is no room. `root` holds the tooltip.
function openTip(root, tip, box, name, rows) {
  tip.replaceChildren();
  if (name) tip.append(make("bdi", "name", name));
  if (rows.length) {
    const list = make("dl");
    for (const [term, value] of rows) list.append(make("dt", "", term), make("dd", "", value));
    tip.append(list);
  }
  tip.classList.add("open");
  const frame = root.getBoundingClientRect();
  const size = tip.getBoundingClientRect();
  const left = Math.min(Math.max(0, box.left - frame.left), Math.max(0, frame.width - size.width));
  const above = box.top - frame.top - size.height - 8;
  const clear = box.top - size.height - 8 > 64;
  tip.style.left = `${left}px`;
  tip.style.top = `${clear ? above : box.bottom - frame.top + 8}px`;
}

function closeTip(tip) {
  tip.classList.remove("open");
  tip.replaceChildren();
}

function makeButton(label, help, act) {
  const button = make("button", "", label);
  button.type = "button";
  if (help) button.title = help;
  button.addEventListener("click", () => act(button));
  return button;
}

async function saveImage(canvas, name) {
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${name}.png`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// A canvas with a margin and the page's background, whose context counts in pixels of the page.
function imageCanvas(element, width, height) {
  const margin = 16;
  const scale = 2;
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil((width + 2 * margin) * scale);
  canvas.height = Math.ceil((height + 2 * margin) * scale);
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.fillStyle = getComputedStyle(element).getPropertyValue("--st-background-color") || "white";
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.translate(margin, margin);
  return [canvas, context];
}
