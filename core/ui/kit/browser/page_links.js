// Two services of page_links.py: navigation requested by a screen after its work is done, and the menu's links, which
// keep the mode. State is kept per browser tab, because the component is mounted many times.
const desk = (window.coverdesk ??= { visited: new Set(), query: "", listens: false });

function onMenuClick(event) {
  const link = event.target.closest?.('[data-testid="stSidebarNavLink"]');
  if (!link || !desk.query || !isPlain(event)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  visit(`${link.href}?${desk.query}`);
}

export default function ({ data }) {
  if (data.query !== undefined) desk.query = data.query;
  if (!desk.listens) document.addEventListener("click", onMenuClick, true);
  desk.listens = true;
  if (!data.href || desk.visited.has(data.token)) return;
  desk.visited.add(data.token);
  visit(data.href, { replaces: data.replaces });
}
