// Two services for long forms: `typed` is triggered when what was typed has been left for a moment, so that the page
// runs with it; and links to fields that are still missing. Payload documented in form_keeper.py.
const PAUSE = 700;
const keepers = (window.coverdeskKeepers ??= { typed: null, listens: false });

function inPage(event) {
  return event.target.closest?.('[data-testid="stMain"], [data-testid="stBottom"], [data-testid="stSelectboxVirtualDropdown"], [role="listbox"], [role="dialog"]');
}

if (!keepers.listens) {
  keepers.listens = true;
  let dirty = false, waiting = null;
  const settle = () => {
    clearTimeout(waiting);
    if (dirty && keepers.typed) waiting = setTimeout(() => {
      dirty = false;
      keepers.typed?.();
    }, PAUSE);
  };
  document.addEventListener("input", (event) => { if (inPage(event)) dirty = true; }, true);
  document.addEventListener("click", (event) => {
    if (!inPage(event) || !event.target.closest('[role="option"], [role="radio"], [role="gridcell"], [role="checkbox"], button[data-variant]')) return;
    dirty = true;
    settle();
  }, true);
  document.addEventListener("focusout", settle, true);
  document.addEventListener("keydown", (event) => { if (event.key === "Enter") settle(); }, true);
}

function jump(field) {
  const place = document.querySelector(`.st-key-${CSS.escape(field)}`);
  if (!place) return;
  place.scrollIntoView({ block: "center", behavior: "instant" });
  place.querySelector('input, textarea, button, [tabindex="0"]')?.focus({ preventScroll: true });
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  if (data.watches) {
    keepers.typed = () => setTriggerValue("typed", Date.now());
    return () => { keepers.typed = null; };
  }
  const line = document.createElement("span");
  line.className = "said";
  line.textContent = data.says;
  const links = data.fields.map((field) => {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = field.label;
    button.onclick = () => jump(field.key);
    return button;
  });
  root.replaceChildren(line, ...links);
}
