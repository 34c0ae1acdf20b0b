// What is typed and not yet stored, in this tab's storage: {holder, forms: {form: {field: {text, left}}}}, with `holder`
// the id of a person and the mode, and `left` the moment its field was left. form_keeper.js writes it.
const NOTES = "coverdesk typed";

function readNotes() {
  return JSON.parse(sessionStorage.getItem(NOTES) ?? "null");
}

// Drop what anybody but this person has typed; of "", who is nobody, everything.
function keepNotesOf(person) {
  const notes = readNotes();
  if (notes && !(person && notes.holder.startsWith(`${person} `))) sessionStorage.removeItem(NOTES);
}
