// The live editor in the browser: sends the texts to Python when the typing pauses, and never overwrites what is being typed.

export default function (component) {
  const { data, parentElement, setStateValue } = component;
  const host = parentElement.querySelector(".mount");
  if (host.dataset.version === data.version) return;
  host.dataset.version = data.version;
  const editor = make("div", "editor");
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
  const box = make("div", "field");
  const label = make("label", "", field.label);
  label.htmlFor = `field-${field.name}`;
  const area = make("textarea");
  area.id = `field-${field.name}`;
  area.dir = "auto";
  area.lang = field.lang;
  area.value = field.value;
  area.spellcheck = false;
  const row = make("div", "row");
  const reset = makeButton("Undo edits", "", () => {
    area.value = field.original;
    reset.hidden = true;
    later();
  });
  reset.hidden = field.value === field.original;
  area.addEventListener("input", () => {
    reset.hidden = area.value === field.original;
    later();
  });
  row.append(make("span", "", field.hint), reset);
  box.append(label, area, row);
  areas.set(field.name, area);
  return box;
}
