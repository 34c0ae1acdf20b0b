// Services for forms: `focus` puts the cursor into a field; `typed` is triggered when what was typed has been left for
// a moment, so that the page runs with it; and links to fields that are still missing. Payload documented in form_keeper.py.
const PAUSE = 700, DRAWN_WITHIN = 5000;
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

// The field is drawn after this component.
function focusWhenDrawn(field, until) {
  if (!jump(field) && performance.now() < until) requestAnimationFrame(() => focusWhenDrawn(field, until));
}

function jump(field) {
  const place = document.querySelector(`.st-key-${CSS.escape(field)}`);
  if (!place) return false;
  place.scrollIntoView({ block: "center", behavior: "instant" });
  // A label may have a button of its own, for its help.
  const input = place.querySelector("input, textarea") ?? place.querySelector('button, [tabindex="0"]');
  input?.focus({ preventScroll: true });
  return true;
}

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".root");
  if (data.watches) {
    keepers.typed = () => setTriggerValue("typed", Date.now());
    return () => { keepers.typed = null; };
  }
  if (data.focus) {
    if (keepers.focused !== data.token) {
      keepers.focused = data.token;
      focusWhenDrawn(data.focus, performance.now() + DRAWN_WITHIN);
    }
    return undefined;
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
