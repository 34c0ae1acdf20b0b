// A visit to an address of our own: one history entry, no reload. The framework looks at the address when the history
// moves, so Back and Forward lead through these entries like through any other.
function visit(href, { replaces = false } = {}) {
  const url = new URL(href, document.location.href);
  history[replaces ? "replaceState" : "pushState"]({}, "", url.pathname + url.search);
  window.dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}

// Clicks that ask for a new tab or window belong to the browser.
function isPlain(event) {
  return event.button === 0 && !event.ctrlKey && !event.metaKey && !event.shiftKey && !event.altKey;
}
