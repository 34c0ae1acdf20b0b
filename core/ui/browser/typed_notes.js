// What is typed and not yet stored, in this tab's storage. Of forms that keep drafts: {holder, forms: {form: {field:
// {text, left}}}}, with `holder` the id of a person and the mode, and `left` the moment its field was left; written by
// form_keeper.js. Of areas of text: {person, texts: {place: {text, over}}},
// with `over` what the area showed before; written by kept_texts.js.
const NOTES = "coverdesk typed", TEXTS = "coverdesk texts";

function readNotes() {
  return JSON.parse(sessionStorage.getItem(NOTES) ?? "null");
}

function readTexts() {
  return JSON.parse(sessionStorage.getItem(TEXTS) ?? "null")?.texts ?? {};
}

// Note texts of this tab's person, each with what its field showed before; an empty one is forgotten.
function noteTexts(changed) {
  const person = window.coverdesk?.person;
  if (!person) return;
  const texts = Object.fromEntries(Object.entries({ ...readTexts(), ...changed }).filter(([, note]) => note?.text));
  sessionStorage.setItem(TEXTS, JSON.stringify({ person, texts }));
}

// Drop what anybody but this person has typed; of "", who is nobody, everything.
function keepNotesOf(person) {
  const notes = readNotes(), texts = JSON.parse(sessionStorage.getItem(TEXTS) ?? "null");
  if (notes && !(person && notes.holder.startsWith(`${person} `))) sessionStorage.removeItem(NOTES);
  if (texts && !(person && texts.person === person)) sessionStorage.removeItem(TEXTS);
}

// Write into a field of the page as if it was typed and left, which the framework takes as its value.
function putText(input, text) {
  const kind = input instanceof HTMLTextAreaElement ? HTMLTextAreaElement : HTMLInputElement;
  Object.getOwnPropertyDescriptor(kind.prototype, "value").set.call(input, text);
  input.dispatchEvent(new Event("input", { bubbles: true }));
  // Its value is taken as that of a field that was left, once it is drawn with it.
  setTimeout(() => { if (document.activeElement !== input) input.dispatchEvent(new FocusEvent("focusout", { bubbles: true })); }, 50);
}
