// A press of a primary button waits for the files that are still being sent, as the work would be done without them; it
// is dropped if one of them fails, which its chip says.
const PRIMARY = '[data-testid="stBaseButton-primary"]', CHIP = '[data-testid="stFileChip"]';
const SENDING = '[data-testid="stFileChipIconSpinner"]', FAILED = '[data-testid="stFileChipIconError"]';
// A file that is refused at once may never get a chip.
const CHIP_WITHIN = 10000;

function listenForFiles() {
  const beginning = new Set();
  const isSending = () => beginning.size > 0 || document.querySelector(SENDING) !== null;
  let awaited = null;

  function begin(event) {
    const place = event.target.closest?.('[data-testid="stFileUploader"]');
    if (!place || (event.type === "change" && !event.target.files?.length)) return;
    const until = performance.now() + CHIP_WITHIN;
    beginning.add(place);
    (function look() {
      if (place.isConnected && !place.querySelector(CHIP) && performance.now() < until) requestAnimationFrame(look);
      else beginning.delete(place);
    })();
  }

  function hold(event) {
    const button = event.target.closest?.(PRIMARY);
    if (!button || !isSending()) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    if (awaited) return;
    const says = awaited = button.textContent;
    // The run of the file may draw the button anew.
    const find = () => [...document.querySelectorAll(PRIMARY)].find((each) => each.textContent === says);
    let rests = 0;
    (function look() {
      const shown = find();
      // The value of a file that has arrived is sent a frame after its chip is drawn.
      rests = isSending() ? 0 : rests + 1;
      shown?.setAttribute("aria-busy", "true");
      if (shown && rests < 5) return requestAnimationFrame(look);
      awaited = null;
      shown?.removeAttribute("aria-busy");
      if (shown && !document.querySelector(FAILED)) shown.click();
    })();
  }

  document.addEventListener("change", begin, true);
  document.addEventListener("drop", begin, true);
  document.addEventListener("click", hold, true);
}
