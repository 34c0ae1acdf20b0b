// Services for forms: `focus` puts the cursor into a field; `typed` is triggered when what was typed has been left for
// a moment, so that the page runs with it; and links to fields that are missing or wrong. Payload documented in form_keeper.py.
// What is typed and not yet stored is noted in this tab, and put back when the form is opened again; personal numbers,
// which the store seals, are never noted: the server has them a moment after their field was left.
const PAUSE = 700, CHOSEN = 100, DRAWN_WITHIN = 5000;
const open = new WeakMap();
const keepers = (window.coverdeskKeepers ??= { typed: null, form: null, listens: false });
const WRITTEN = ["stTextInput", "stTextArea", "stNumberInput"].map((kind) => `[data-testid="${kind}"]`).join();

function inPage(event) {
  return event.target.closest?.('[data-testid="stMain"], [data-testid="stBottom"], [data-testid="stSelectboxVirtualDropdown"], [role="listbox"], [role="dialog"]');
}

if (!keepers.listens) {
  keepers.listens = true;
  const inputsIn = (place) => [...document.querySelectorAll(`${place} :is(input, textarea)`)];
  // What was typed before anything listened counts as typed and left.
  let dirty = true, waiting = null;
  let left = new WeakSet(inputsIn(":root").filter((input) => input.value && input !== document.activeElement));
  const settle = (pause) => {
    clearTimeout(waiting);
    if (dirty) waiting = setTimeout(() => {
      if (!keepers.typed) return;
      beginAnew();
      keepers.typed();
    }, pause);
  };
  const beginAnew = () => {
    clearTimeout(waiting);
    [dirty, left] = [false, new WeakSet()];
  };
  // A form is watched a moment after its fields are drawn: one of them that was left by then has not run the page.
  keepers.resume = ({ prefix }) => {
    if (inputsIn(`[class*="st-key-${CSS.escape(prefix)}"]`).some((input) => left.has(input))) settle(CHOSEN);
  };
  document.addEventListener("input", (event) => {
    if (!inPage(event)) return;
    dirty = true;
    note(event.target, { text: event.target.value, left: null });
  }, true);
  document.addEventListener("click", (event) => {
    if (!inPage(event)) return;
    // A press runs the page with all that was typed; a run after it would bring back what the press has cleared.
    if (event.target.closest('[data-testid="stMain"] [data-testid="stButton"]')) return beginAnew();
    if (!event.target.closest('[role="option"], [role="radio"], [role="gridcell"], [role="checkbox"], button[data-variant]')) return;
    dirty = true;
    settle(CHOSEN);
  }, true);
  document.addEventListener("focusout", (event) => {
    left.add(event.target);
    note(event.target, { left: Date.now() });
    settle(keepers.form?.personal.includes(classOf(event.target, keepers.form)) ? CHOSEN : PAUSE);
  }, true);
  document.addEventListener("keydown", (event) => { if (event.key === "Enter") settle(PAUSE); }, true);
  // Whoever signs in next in this tab reads nothing of this person's.
  document.addEventListener("submit", (event) => {
    if (event.target.action?.endsWith?.("/auth/sign-out")) keepNotesOf("");
  }, true);
}

function change(holder, edit) {
  let notes = readNotes();
  if (notes?.holder !== holder) notes = { holder, forms: {} };
  const result = edit(notes.forms);
  sessionStorage.setItem(NOTES, JSON.stringify(notes));
  return result;
}

function nameOf(prefix, draft) {
  return `${prefix} ${draft}`;
}

function classOf(input, form) {
  return input.closest?.(WRITTEN) && [...(input.closest('[class*="st-key-"]')?.classList ?? [])]
    .find((name) => name.startsWith(`st-key-${form.prefix}`));
}

function note(input, noted) {
  const form = keepers.form;
  const field = form && classOf(input, form);
  if (!field || form.personal.includes(field)) return;
  change(form.holder, (forms) => {
    const fields = (forms[form.name] ??= {});
    if ("text" in noted || fields[field]) fields[field] = { ...fields[field], ...noted };
  });
}

function putBack(form) {
  const found = change(form.holder, (forms) => Object.entries(forms[form.name] ?? {}));
  const until = performance.now() + DRAWN_WITHIN;
  for (const [field, { text }] of found) whenDrawn(`.${CSS.escape(field)} :is(input, textarea)`, until, (input) => {
    if (input.value !== text && document.activeElement !== input) putText(input, text);
  });
}

function whenDrawn(selector, until, act) {
  const found = document.querySelector(selector);
  if (found) act(found);
  else if (performance.now() < until) requestAnimationFrame(() => whenDrawn(selector, until, act));
}

// A form was opened, or drawn anew: `kept` is the moment up to which the server has stored what was typed.
function follow(data, place) {
  const before = open.get(place);
  const name = nameOf(data.prefix, data.draft);
  const form = before?.name === name ? before : { holder: data.holder, prefix: data.prefix, personal: data.personal, name };
  open.set(place, form);
  keepers.form = form;
  const first = nameOf(data.prefix, "");
  const isBegun = form !== before && before?.name === first && data.begun;
  if (isBegun) change(form.holder, (forms) => {
    forms[name] = { ...forms[name], ...forms[first] };
    delete forms[first];
  });
  // Of a form that is opened again `kept` may be of a run that drew another page, and stored nothing of it.
  if (form === before || isBegun) change(form.holder, (forms) => {
    for (const [field, each] of Object.entries(forms[name] ?? {})) {
      if (each.left !== null && each.left <= data.kept) delete forms[name][field];
    }
  });
  // At each run: the one before may have drawn a field with what is stored, over what was put back.
  putBack(form);
}

// What was typed is sold, lodged or under review: nothing of it is put back.
function forget({ holder, prefix, draft }) {
  const first = nameOf(prefix, "");
  change(holder, (forms) => {
    for (const name of Object.keys(forms)) {
      if (draft === null ? name.startsWith(first) : [first, nameOf(prefix, draft)].includes(name)) delete forms[name];
    }
  });
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
    follow(data, parentElement);
    keepers.resume(data);
    return () => {
      keepers.typed = null;
      if (keepers.form === open.get(parentElement)) keepers.form = null;
    };
  }
  if (data.settled) {
    forget(data);
    return undefined;
  }
  if (data.focus) {
    if (keepers.focused !== data.token) {
      keepers.focused = data.token;
      // The field is drawn after this component.
      whenDrawn(`.st-key-${CSS.escape(data.focus)}`, performance.now() + DRAWN_WITHIN, () => jump(data.focus));
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
