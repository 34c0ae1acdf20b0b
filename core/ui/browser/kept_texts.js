// Areas of text outside the forms that keep drafts, such as notes, reasons and letters: what is typed is noted in this
// tab, and put back once its page is opened again, after a reload, Back or a restart of the server, into an area that
// shows what it showed before: nothing, or a text to begin with that is still the same. It is forgotten once a press has
// taken the area away, or put another text into it.
const AREA = '[data-testid="stTextArea"] textarea';
const LOOK_EVERY = 300, RUNS_WITHIN = 300, RESTS_WITHIN = 60000, MOST_PUT = 5;

function pageOf() {
  return `${location.pathname}?${new URLSearchParams(location.search).get("id") ?? ""}`;
}

// The page with its record, the area, and what it is asked for: dialogs of one record share the names of their fields.
// Undefined for an area that has no name.
function placeOf(area) {
  const named = area.closest('[class*="st-key-"]');
  const field = [...(named?.classList ?? [])].find((name) => name.startsWith("st-key-"));
  if (!field || named.querySelectorAll(AREA).length > 1) return undefined;
  const dialog = area.closest('[role="dialog"]');
  const title = dialog?.getAttribute("aria-label") ?? dialog?.querySelector('[role="heading"], h1, h2')?.textContent ?? "";
  return `${pageOf()} ${field} ${title} ${area.getAttribute("aria-label") ?? ""}`;
}

function isOfDraft(area) {
  const form = window.coverdeskKeepers?.form;
  return form && area.closest(`[class*="st-key-${CSS.escape(form.prefix)}"]`) !== null;
}

function listenForTexts() {
  const find = () => [...document.querySelectorAll(AREA)].filter((area) => !area.disabled && !isOfDraft(area));
  // What the server has lost with the page that was left or loaded anew; what is typed from now on it has itself.
  let page, earlier = {}, put = {}, isPutting = false;
  const held = new Set(), before = new WeakMap();

  // Back may return to a page before the interval has seen the other one.
  addEventListener("popstate", () => { page = undefined; });
  setInterval(() => {
    if (page !== pageOf()) [page, earlier, put] = [pageOf(), { ...readTexts() }, {}];
    if (!Object.keys(earlier).some((place) => place.startsWith(`${page} `))) return;
    // A run may draw an area anew, without what was put into it: it waits for rest, and is done when a rest has kept it.
    if (isRunning()) return held.clear();
    for (const area of find()) {
      const place = placeOf(area), note = earlier[place];
      if (note === undefined) continue;
      if (area.value === note.text && held.has(place)) delete earlier[place];
      else if (area.value === note.text) held.add(place);
      else if (area.value === note.over && document.activeElement !== area && (put[place] ?? 0) < MOST_PUT) {
        put[place] = (put[place] ?? 0) + 1;
        isPutting = true;
        putText(area, note.text);
        isPutting = false;
      }
    }
  }, LOOK_EVERY);

  // What an area shows before it is typed into: its own text to begin with, or what was typed over that text.
  document.addEventListener("focusin", ({ target }) => {
    if (!target.matches?.(AREA)) return;
    const note = readTexts()[placeOf(target)];
    before.set(target, note?.text === target.value ? note.over : target.value);
  }, true);

  document.addEventListener("input", ({ target }) => {
    if (isPutting || !target.matches?.(AREA) || isOfDraft(target)) return;
    const place = placeOf(target);
    if (!place) return;
    delete earlier[place];
    noteTexts({ [place]: { text: target.value, over: before.get(target) ?? "" } });
  }, true);

  document.addEventListener("click", ({ target }) => {
    if (!target.closest?.('[data-testid="stMain"] button, [data-testid="stBottom"] button, [role="dialog"] button')) return;
    // A tab takes no text: what was just put back may be drawn anew without it, and is put back again.
    if (target.closest('[role="tab"]')) return;
    const read = () => Object.fromEntries(find().filter((area) => area.value).map((area) => [placeOf(area), area.value]));
    const shown = read();
    if (!Object.keys(shown).length) return;
    // The press takes what is shown: an area that it empties is not filled again.
    for (const place of Object.keys(shown)) delete earlier[place];
    const began = performance.now();
    let rests = 0;
    (function look() {
      rests = isRunning() || performance.now() - began < RUNS_WITHIN ? 0 : rests + 1;
      if (rests < 10 && performance.now() - began < RESTS_WITHIN) return requestAnimationFrame(look);
      // What was typed since the press is a note of its own.
      const now = read(), notes = readTexts();
      const gone = Object.keys(shown).filter((place) => now[place] !== shown[place] && notes[place]?.text === shown[place]);
      noteTexts(Object.fromEntries(gone.map((place) => [place, undefined])));
    })();
  }, true);
}
