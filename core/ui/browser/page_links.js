// Services of page_links.py: navigation requested by a screen after its work is done, a parameter put into the URL, and
// the menu's links, which keep the mode and open a person's start views. State is kept per browser tab, because the component is mounted many times.
const desk = (window.coverdesk ??= { visited: new Set(), query: "", starts: {}, listens: false });

const NARROW = 1000;

function onMenuClick(event) {
  const link = event.target.closest?.('[data-testid="stSidebarNavLink"]');
  if (link && isPlain(event)) setTimeout(closeMenu);
  if (!link || !isPlain(event)) return;
  const query = [desk.starts[new URL(link.href).pathname], desk.query].filter(Boolean).join("&");
  if (!query) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  visit(`${link.href}?${query}`);
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
  if (!desk.listens) {
    document.addEventListener("click", onMenuClick, true);
    closeMenu();
  }
  desk.listens = true;
  if (data.put) put(data.put);
  if (!data.href || desk.visited.has(data.token)) return;
  desk.visited.add(data.token);
  visit(data.href, { replaces: data.replaces });
}
