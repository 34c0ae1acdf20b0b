// Tells the page once that its first charts stand and the browser has nothing to draw, so that the charts below follow.
const waiting = new WeakSet();

export default function ({ data, setStateValue, parentElement }) {
  if (data.rests || waiting.has(parentElement)) return;
  waiting.add(parentElement);
  const until = performance.now() + 4000;
  (function look() {
    // The first time, the script that draws charts is still on its way.
    const stands = document.querySelector('[data-testid="stPlotlyChart"] .main-svg') || performance.now() > until;
    if (stands) requestIdleCallback(() => setStateValue("rests", true), { timeout: 100 });
    else setTimeout(look, 15);
  })();
}
