// The command palette: opened by Ctrl+K or its button, finds screens in `data` and records by asking the server.
// `data` is documented in palette.py. Text is never set as markup. Keys are listened to once per browser tab.
const palette = (window.coverdeskPalette ??= { mounted: null });
const LEAST = 2, PAUSE = 180;

function made(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

if (!palette.listens) {
  palette.listens = true;
  document.addEventListener("keydown", (event) => {
    if (event.key?.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.shiftKey || event.altKey) return;
    event.preventDefault();
    palette.mounted?.open();
  }, true);
}

function matches(screen, words) {
  const said = `${screen.title} ${screen.detail} ${screen.words ?? ""}`.toLowerCase();
  return words.every((word) => said.includes(word));
}

function address(hit, data) {
  const query = new URLSearchParams({ id: hit.id, ...(data.test ? { mode: "test" } : {}) });
  return `${data.pages[hit.kind].path}?${query}`;
}

class Palette {
  constructor(root, data) {
    this.data = data;
    this.dialog = made("dialog");
    this.dialog.setAttribute("aria-label", "Find anything");
    this.input = made("input");
    Object.assign(this.input, { type: "text", autocomplete: "off", spellcheck: false, maxLength: data.longest });
    this.input.placeholder = data.placeholder;
    for (const [name, value] of Object.entries({
      role: "combobox", "aria-expanded": "true", "aria-controls": "found", "aria-autocomplete": "list",
      "aria-label": "Number, name, plate, screen or action",
    })) this.input.setAttribute(name, value);
    this.list = made("div", "found");
    this.list.id = "found";
    this.list.setAttribute("role", "listbox");
    this.list.setAttribute("aria-label", "Found");
    this.state = made("p", "state");
    this.state.setAttribute("role", "status");
    this.dialog.append(this.input, this.list, this.state);
    const button = made("button", "open");
    button.type = "button";
    button.append(made("span", "", "Find anything"), made("kbd", "", "Ctrl K"));
    button.setAttribute("aria-keyshortcuts", "Control+K");
    button.onclick = () => this.open();
    root.replaceChildren(button, this.dialog);
    this.input.oninput = () => this.typed();
    this.dialog.onkeydown = (event) => this.pressed(event);
    this.dialog.onclick = (event) => this.clicked(event);
    this.dialog.onclose = () => this.asking?.abort();
  }

  open(text) {
    if (!this.dialog.open) this.dialog.showModal();
    if (text === undefined) this.input.select();
    else this.input.value = text;
    this.typed();
  }

  typed() {
    clearTimeout(this.waiting);
    this.asking?.abort();
    const text = this.input.value.trim(), words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const screens = this.data.screens.filter((screen) => matches(screen, words));
    this.show(screens.slice(0, words.length ? 6 : 12), []);
    this.state.textContent = "";
    if (text.length < LEAST) return;
    this.state.textContent = "Searching records…";
    this.waiting = setTimeout(() => this.ask(text, screens.slice(0, 6)), PAUSE);
  }

  async ask(text, screens) {
    this.asking = new AbortController();
    const query = new URLSearchParams({ q: text, ...(this.data.test ? { mode: "test" } : {}) });
    try {
      const answer = await fetch(`${this.data.find}?${query}`, { signal: this.asking.signal });
      if (!answer.ok) {
        this.state.textContent = answer.status === 401
          ? "Your sign-in has ended. Reload the page to sign in again."
          : "The search did not answer. Try again in a moment.";
        return;
      }
      const { found } = await answer.json();
      this.show(screens, found);
      this.state.textContent = found.length || screens.length
        ? "" : `Nothing is called “${text}” among the ${this.data.test ? "test" : "live"} records that you may open.`;
    } catch (error) {
      if (error.name !== "AbortError") this.state.textContent = "The search did not answer. Try again in a moment.";
    }
  }

  show(screens, found) {
    const hits = found.map((hit) => ({
      kind: this.data.pages[hit.kind].label, title: hit.title, detail: hit.detail, href: address(hit, this.data),
    }));
    const items = [...hits, ...screens.map((screen) => ({ ...screen, kind: screen.kind }))];
    this.list.replaceChildren(...items.map((item, place) => {
      const link = made("a");
      link.href = item.href;
      link.id = `found-${place}`;
      link.tabIndex = -1;
      link.setAttribute("role", "option");
      link.append(made("span", "kind", item.kind), made("span", "title", item.title), made("span", "detail", item.detail));
      link.onmousemove = () => this.select(place);
      return link;
    }));
    this.select(0);
  }

  select(place) {
    const links = [...this.list.children];
    this.chosen = links.length ? (place + links.length) % links.length : -1;
    links.forEach((link, at) => link.setAttribute("aria-selected", String(at === this.chosen)));
    if (this.chosen < 0) return this.input.removeAttribute("aria-activedescendant");
    links[this.chosen].scrollIntoView({ block: "nearest" });
    this.input.setAttribute("aria-activedescendant", links[this.chosen].id);
  }

  pressed(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      this.select(this.chosen + step);
    } else if (event.key === "Enter" && this.list.children[this.chosen]) {
      event.preventDefault();
      this.go(this.list.children[this.chosen].href, event.ctrlKey || event.metaKey);
    }
    // The framework has shortcuts of its own, which are not for what is typed here.
    event.stopPropagation();
  }

  clicked(event) {
    if (event.target === this.dialog) return this.dialog.close();
    const link = event.target.closest("a");
    if (!link || !isPlain(event)) return;
    event.preventDefault();
    this.go(link.href, false);
  }

  go(href, apart) {
    this.dialog.close();
    if (apart) window.open(href, "_blank", "noopener");
    else visit(href);
  }
}

const built = new WeakMap();

// The framework mounts a component again when another part of the page takes its place: what is typed stays.
function mount(root, data) {
  const before = palette.mounted, mounted = new Palette(root, data);
  built.set(root, mounted);
  if (before?.dialog.open) mounted.open(before.input.value);
  return mounted;
}

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".root");
  palette.mounted = built.get(root) ?? mount(root, data);
  palette.mounted.data = data;
}
