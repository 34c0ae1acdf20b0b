// Services of page_links.py: navigation requested by a screen after its work is done, a parameter put into the URL, and
// the menu's links, which keep the mode and open a person's start views, and of which that of the open screen is in sight;
// Back finds a page where it was left, and what somebody else has typed in this tab is forgotten; a press waits for files
// that are being sent, and texts are kept.
// State is kept per browser tab, as the component is mounted many times.
const desk = (window.coverdesk ??= { visited: new Set(), query: "", starts: {}, listens: false });

const NARROW = 1000;

function isRunning() {
  return document.querySelector('[data-testid="stApp"]')?.dataset.testScriptState !== "notRunning";
}

function onMenuClick(event) {
  const link = event.target.closest?.('[data-testid="stSidebarNavLink"]');
  if (link && isPlain(event)) setTimeout(closeMenu);
  if (!link || !isPlain(event)) return;
  const path = new URL(link.href).pathname;
  const query = [desk.starts[path], desk.query].filter(Boolean).join("&");
  // The framework does nothing on a click on the screen that is open: its filters are taken away.
  const isOpen = path === document.location.pathname && document.location.search;
  if (!query && !isOpen) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  visit(query ? `${link.href}?${query}` : link.href);
}

// The menu of many screens is scrolled to the one that was opened; whoever scrolls it afterwards is left alone. It may not
// be drawn yet when the desk is opened, and the page of a record has no entry.
function showOpenScreen(frames = 90) {
  const link = document.querySelector('[data-testid="stSidebarNavLink"][aria-current="page"]');
  if (!link) {
    if (frames) requestAnimationFrame(() => showOpenScreen(frames - 1));
    return;
  }
  if (link.href === desk.open) return;
  desk.open = link.href;
  const place = link.getBoundingClientRect(), seen = link.closest('[data-testid="stSidebarNav"]').getBoundingClientRect();
  if (place.top < seen.top || place.bottom > seen.bottom) link.scrollIntoView({ block: "center" });
}

// Links that the framework follows: Back finds the page that they leave where it was left.
function onLinkClick(event) {
  const main = document.querySelector('[data-testid="stMain"]');
  const link = event.target.closest?.("a[href]");
  if (!main || !link || !isPlain(event)) return;
  // A link to another record of the open page would leave the address as it is. That of the home has no path.
  const hasPath = !/^($|[?])/.test(link.getAttribute("href"));
  const path = hasPath ? new URL(link.href).pathname : "/";
  if (link.dataset.testid === "stPageLink-NavLink" && path === document.location.pathname) {
    event.preventDefault();
    event.stopImmediatePropagation();
    visit(link.href);
    return;
  }
  history.replaceState({ ...history.state, scrolled: main.scrollTop }, "");
}

// The page grows while it is drawn, and is shorter for a moment where a part takes the place that was held for it: it is
// scrolled to its place until it rests there drawn, or somebody moves it.
function restoreScroll({ state }) {
  const main = document.querySelector('[data-testid="stMain"]');
  if (!state?.scrolled || !main) return;
  const until = performance.now() + 30000, moved = new AbortController();
  let ran = false, rests = 0;
  for (const name of ["wheel", "touchstart", "pointerdown", "keydown"]) {
    document.addEventListener(name, () => moved.abort(), { capture: true, passive: true, signal: moved.signal });
  }
  requestAnimationFrame(function place() {
    if (moved.signal.aborted) return;
    const isAway = Math.abs(main.scrollTop - state.scrolled) > 1;
    if (rests > 10 || performance.now() > until) return moved.abort();
    if (isAway) main.scrollTo({ top: state.scrolled });
    ran ||= isRunning();
    const isDrawn = ran && !isRunning() && !main.querySelector('[data-testid="stSkeleton"]');
    rests = isDrawn && !isAway ? rests + 1 : 0;
    requestAnimationFrame(place);
  });
}

// On a narrow screen the menu would leave the page half the width: it is closed when the desk is opened, which may be
// before the menu is drawn, and after each choice.
function closeMenu(frames = 90) {
  if (window.innerWidth > NARROW || !frames) return;
  const button = document.querySelector('[data-testid="stSidebar"][data-collapsed="false"] [data-testid="stSidebarCollapseButton"] button');
  if (button) button.click();
  else requestAnimationFrame(() => closeMenu(frames - 1));
}

// Without an event in the history: the next run of the page reads the URL, and a run for this alone would take away what
// is being typed.
function put(parameters) {
  const url = new URL(document.location.href);
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  if (url.href !== document.location.href) history.replaceState({}, "", url.pathname + url.search);
}

export default function ({ data }) {
  if (data.query !== undefined) desk.query = data.query;
  if (data.starts !== undefined) desk.starts = data.starts;
  // At each page, as a session may have ended, or another person signed in, in another tab.
  if (data.person !== undefined) keepNotesOf(desk.person = data.person);
  if (!desk.listens) {
    document.addEventListener("click", onLinkClick, true);
    document.addEventListener("click", onMenuClick, true);
    window.addEventListener("popstate", restoreScroll);
    listenForFiles();
    listenForTexts();
    closeMenu();
    showOpenScreen();
    new MutationObserver(() => showOpenScreen(0)).observe(document.body, { subtree: true, attributeFilter: ["aria-current"] });
  }
  desk.listens = true;
  if (data.put) put(data.put);
  if (!data.href || desk.visited.has(data.token)) return;
  desk.visited.add(data.token);
  visit(data.href, { replaces: data.replaces });
}
