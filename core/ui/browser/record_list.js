// Draws a list of records from `data`, the payload documented in record_list.py. Text is never set as markup.
const drawn = new WeakMap();

function element(name, className, text) {
  const made = document.createElement(name);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function header(column) {
  const cell = element("th", column.classes);
  cell.scope = "col";
  if (column.sorted) cell.setAttribute("aria-sort", column.sorted);
  if (column.says) cell.title = column.says;
  if (!column.href) {
    cell.append(element("span", "", column.label));
    return cell;
  }
  const link = element("a", "order", column.label);
  link.href = column.href;
  link.dataset.focus = `order ${column.name}`;
  const arrow = { ascending: " ↑", descending: " ↓" }[column.sorted] ?? " ↕";
  const mark = element("span", column.sorted ? "arrow" : "arrow faint", arrow);
  mark.setAttribute("aria-hidden", "true");
  link.append(mark);
  cell.append(link);
  return cell;
}

function body(column, value, row, isFirst) {
  const [text, colour] = Array.isArray(value) ? value : [value, null];
  const cell = element(isFirst ? "th" : "td", column.classes);
  if (isFirst) cell.scope = "row";
  // `width` fits a list beside the menu at 1280 pixels; on wider screens columns grow in proportion.
  if (column.width) cell.style.maxWidth = `max(${column.width}px, ${column.width / 8.5}cqi)`;
  const inside = element(isFirst && row.href ? "a" : "span", colour ? `word ${colour}` : "", text);
  if (isFirst && row.href) {
    inside.href = row.href;
    inside.classList.add("record");
    inside.dataset.focus = `row ${row.key}`;
    inside.setAttribute("aria-label", row.name);
  }
  cell.append(inside);
  return cell;
}

function box(label, checked, focus) {
  const made = element("input");
  made.type = "checkbox";
  made.checked = checked;
  made.dataset.focus = focus;
  made.setAttribute("aria-label", label);
  return made;
}

function table(data, picked) {
  const made = element("table");
  made.append(element("caption", "unseen", data.alt));
  const head = made.createTHead().insertRow();
  if (data.choosing) {
    const all = box("Choose all rows of this page", data.rows.every((row) => picked.has(row.key)), "all");
    all.dataset.all = "1";
    head.append(element("th", "pick first"));
    head.lastChild.append(all);
  }
  head.append(...data.columns.map(header));
  if (data.acts) head.append(element("th", "act"));
  const rows = made.createTBody();
  for (const row of data.rows) {
    const line = rows.insertRow();
    line.dataset.key = row.key;
    if (row.href) line.className = "linked";
    if (data.choosing) {
      line.append(element("td", "pick first"));
      line.lastChild.append(box(`Choose ${row.name}`, picked.has(row.key), `pick ${row.key}`));
      line.classList.toggle("picked", picked.has(row.key));
    }
    line.append(...data.columns.map((column, place) => body(column, row.cells[place], row, place === 0)));
    if (data.acts) line.append(actsOf(row));
  }
  return made;
}

function actsOf(row) {
  const cell = element("td", "act");
  for (const act of row.acts) {
    const button = element("button", "", act);
    button.type = "button";
    button.dataset.act = act;
    button.dataset.focus = `${act} ${row.key}`;
    button.setAttribute("aria-label", `${act} ${row.name}`);
    cell.append(button);
  }
  return cell;
}

// How long a dialog may take to open after a click, in milliseconds.
const OPENS_WITHIN = 10_000;

// Gives a button the focus again once the dialog that it opened is gone: the framework cannot, as it sees the list alone.
function returnFocus(root, focus) {
  let wasOpen = false;
  const watching = new MutationObserver(() => {
    const isOpen = document.querySelector('[role="dialog"]') !== null;
    wasOpen ||= isOpen;
    if (isOpen || !wasOpen) return;
    watching.disconnect();
    requestAnimationFrame(() => {
      if (document.activeElement !== document.body) return;
      root.querySelector(`[data-focus="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
    });
  });
  watching.observe(document.body, { childList: true, subtree: true });
  setTimeout(() => wasOpen || watching.disconnect(), OPENS_WITHIN);
}

export default function ({ data, parentElement, setStateValue, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  const said = JSON.stringify(data);
  const before = drawn.get(root);
  // Ticks are kept while the same rows are shown: the response to the first click must not undo the second.
  const picked = before && before.mark === data.mark ? before.picked : new Set(data.chosen);
  drawn.set(root, { said, mark: data.mark, picked });

  if (before?.said !== said) {
    const focused = root.getRootNode().activeElement?.dataset?.focus;
    const scroller = element("div", "scroller");
    scroller.append(table(data, picked));
    // With nothing inside that takes the focus, whoever has only a keyboard could not scroll it.
    if (!scroller.querySelector("a, button, input")) scroller.tabIndex = 0;
    root.replaceChildren(scroller);
    fitting.observe(scroller);
    if (focused) root.querySelector(`[data-focus="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  }

  root.onclick = (event) => {
    const link = event.target.closest("a");
    if (link) {
      if (!isPlain(event)) return;
      event.preventDefault();
      visit(link.href);
      return;
    }
    const line = event.target.closest("tbody tr");
    const button = event.target.closest("button");
    if (button) {
      returnFocus(root, button.dataset.focus);
      setTriggerValue("acted", { key: line.dataset.key, act: button.dataset.act });
      return;
    }
    if (event.target.closest(".pick, input")) return;
    const record = line?.querySelector("a.record");
    // Selecting text to copy it must not open the record.
    if (!record || !window.getSelection().isCollapsed) return;
    if (isPlain(event)) visit(record.href);
    else if (event.ctrlKey || event.metaKey || event.shiftKey) window.open(record.href, "_blank", "noopener");
  };
  root.onauxclick = (event) => {
    const record = event.button === 1 && !event.target.closest("a") && event.target.closest("tbody tr.linked");
    if (record) window.open(record.querySelector("a.record").href, "_blank", "noopener");
  };
  root.onchange = (event) => {
    const keys = event.target.dataset.all ? data.rows.map((row) => row.key) : [event.target.closest("tr").dataset.key];
    keys.forEach((key) => (event.target.checked ? picked.add(key) : picked.delete(key)));
    root.querySelectorAll("tbody tr").forEach((line) => {
      line.querySelector("input").checked = picked.has(line.dataset.key);
      line.classList.toggle("picked", picked.has(line.dataset.key));
    });
    root.querySelector("[data-all]").checked = data.rows.every((row) => picked.has(row.key));
    setStateValue("picked", { mark: data.mark, keys: [...picked] });
  };
  root.onkeydown = (event) => {
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    const next = step && event.target.closest("tbody tr")?.[step];
    if (!next || !isPlainKey(event)) return;
    event.preventDefault();
    const again = event.target.closest(".pick") ? "input" : event.target.closest(".act") ? "button" : "a.record";
    (next.querySelector(again) ?? next.querySelector("a.record"))?.focus();
  };
  root.onmouseover = (event) => {
    const cell = event.target.closest("tbody td, tbody th");
    if (cell) cell.title = cell.scrollWidth > cell.clientWidth ? cell.textContent : "";
  };
}

// The page scrolls, and the header stays in sight. Only a table wider than its place scrolls sideways, by itself.
const fitting = new ResizeObserver((seen) => {
  for (const { target } of seen) {
    target.classList.remove("wide");
    target.classList.toggle("wide", target.scrollWidth > target.clientWidth + 1);
  }
});

function isPlainKey(event) {
  return !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
}
