// The live editor in the browser: sends the texts to Python when the typing pauses, and never overwrites what is being typed.

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const host = parentElement.querySelector(".mount");
  if (host.dataset.version === data.version) return;
  host.dataset.version = data.version;
  const editor = document.createElement("div");
  editor.className = "editor";
  const areas = new Map();
  let timer = 0;
  const send = () => {
    const texts = {};
    for (const [name, area] of areas) texts[name] = area.value;
    setStateValue("texts", { version: data.version, ...texts });
  };
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(send, data.delay);
  };
  for (const field of data.fields) editor.append(drawField(field, areas, later));
  host.replaceChildren(editor);
}

function drawField(field, areas, later) {
  const box = document.createElement("div");
  box.className = "field";
  const label = document.createElement("label");
  label.textContent = field.label;
  label.htmlFor = `field-${field.name}`;
  const area = document.createElement("textarea");
  area.id = `field-${field.name}`;
  area.dir = "auto";
  area.lang = field.lang;
  area.value = field.value;
  area.spellcheck = false;
  const row = document.createElement("div");
  row.className = "row";
  const hint = document.createElement("span");
  hint.textContent = field.hint;
  const reset = document.createElement("button");
  reset.type = "button";
  reset.textContent = "Undo edits";
  reset.hidden = field.value === field.original;
  area.addEventListener("input", () => {
    reset.hidden = area.value === field.original;
    later();
  });
  reset.addEventListener("click", () => {
    area.value = field.original;
    reset.hidden = true;
    later();
  });
  row.append(hint, reset);
  box.append(label, area, row);
  areas.set(field.name, area);
  return box;
}
