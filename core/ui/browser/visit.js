// Navigates within the application: one history entry, no reload. Streamlit reads the URL on history events, so Back
// and Forward work with these entries too.
function visit(href, { replaces = false } = {}) {
  const url = new URL(href, document.location.href);
  const main = document.querySelector('[data-testid="stMain"]');
  // Back finds the list where it was left.
  if (main && !replaces) history.replaceState({ ...history.state, scrolled: main.scrollTop }, "");
  history[replaces ? "replaceState" : "pushState"]({}, "", url.pathname + url.search);
  window.dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}

// Clicks that open a new tab or window are left to the browser.
function isPlain(event) {
  return event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
}
