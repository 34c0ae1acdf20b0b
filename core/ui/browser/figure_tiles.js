// Draws figures as small tiles from `data`, the payload documented in figure_tiles.py. Text is never set as markup.
const SVG = "http://www.w3.org/2000/svg";

function made(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

function line(values) {
  const low = Math.min(0, ...values), high = Math.max(...values), span = high - low || 1;
  const svg = document.createElementNS(SVG, "svg"), path = document.createElementNS(SVG, "polyline");
  svg.setAttribute("viewBox", "0 0 100 100");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  const step = 100 / Math.max(1, values.length - 1);
  path.setAttribute("points", values.map((value, n) => `${n * step},${100 - ((value - low) / span) * 100}`).join(" "));
  svg.append(path);
  return svg;
}

function help(tile) {
  const button = made("button", "help", "?"), panel = made("div");
  button.type = "button";
  button.setAttribute("aria-label", `What ${tile.label} counts`);
  panel.popover = "auto";
  for (const [heading, text] of tile.help) {
    const paragraph = made("p");
    paragraph.append(made("b", "", heading), ` ${text}`);
    panel.append(paragraph);
  }
  button.popoverTargetElement = panel;
  panel.addEventListener("toggle", (event) => {
    if (event.newState !== "open") return;
    const at = button.getBoundingClientRect(), own = panel.getBoundingClientRect();
    panel.style.left = `${Math.max(8, Math.min(at.right - own.width, innerWidth - own.width - 8))}px`;
    panel.style.top = `${Math.min(at.bottom + 6, innerHeight - own.height - 8)}px`;
  });
  return [button, panel];
}

function drawTile(tile) {
  const item = made("li"), label = made("div", "label"), change = made("div", "change");
  const [button, panel] = help(tile);
  label.append(made("span", "", tile.label), button);
  label.firstChild.title = tile.label;
  if (tile.badge) change.append(made("span", `badge ${tile.tone}`, tile.badge));
  if (tile.from) change.append(made("span", "from", tile.from));
  change.title = tile.compared;
  const amount = made("div", "amount");
  amount.append(made("div", "value", tile.value));
  if (tile.trend.length > 1) amount.append(line(tile.trend));
  item.append(label, amount, change, panel);
  return item;
}

function drawList(tiles, alt) {
  const list = made("ul");
  list.setAttribute("aria-label", alt);
  list.append(...tiles.map(drawTile));
  return list;
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root"), more = made("details");
  // Drawn anew with other figures, it stays as the reader left it.
  more.open = root.querySelector("details")?.open ?? false;
  more.append(made("summary", "", "More"), drawList(data.tiles.slice(data.first), `More: ${data.alt}`));
  root.replaceChildren(drawList(data.tiles.slice(0, data.first), data.alt));
  if (data.tiles.length > data.first) root.append(more);
}
