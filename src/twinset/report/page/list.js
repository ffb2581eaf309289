// The list of pairs: filtered, sorted, and of its rows only those in the document that can be seen.

const COLUMNS = [
  { key: "names", label: "Documents", of: i => places[data.left[i]] * rankCount + places[data.right[i]], ascending: true },
  { key: "resemblance", label: "Resemblance", of: i => data.resemblance[i] },
  { key: "containment", label: "Found in the other", of: containment },
  { key: "longest", label: "Longest passage", of: i => data.longest[i] },
  { key: "group", label: "Group", of: i => data.group[i] ?? Infinity, ascending: true },
].filter(column => column.key !== "group" || data.group.some(group => group !== null));
const ROW = 68; // pixels, as the style sheet says
const SPARE = 8; // rows drawn above and below what is seen

const collator = new Intl.Collator(undefined, { numeric: true });
const rankCount = Object.keys(data.documents).length;
const places = {}; // of documents by name
Object.keys(data.documents).sort((a, b) => collator.compare(nameOf(a), nameOf(b))).forEach((d, rank) => { places[d] = rank; });
const plainText = text => text.normalize("NFKC").toLowerCase();
const searched = data.left.map((_, i) => plainText(`${nameOf(data.left[i])}\n${nameOf(data.right[i])}\n${data.group[i] === null ? "" : `group ${data.group[i]}`}`));

const list = { order: [], active: 0, sort: data.by, down: true, whole: false, drawn: "" };

function select() {
  const text = plainText(at("find").value.trim());
  const resemblance = at("least-resemblance").value / 100;
  const contained = at("least-containment").value / 100;
  const group = /^group \d+$/.test(text);
  const passes = i => data.resemblance[i] >= resemblance && containment(i) >= contained
    && (group ? searched[i].endsWith(`\n${text}`) : searched[i].includes(text));
  const kept = list.order[list.active];
  const { of } = COLUMNS.find(column => column.key === list.sort);
  const keys = data.left.map((_, i) => of(i));
  const sign = list.down ? -1 : 1;
  list.order = [...keys.keys()].filter(passes).sort((a, b) => (keys[a] === keys[b] ? a - b : keys[a] < keys[b] ? -sign : sign));
  list.active = Math.max(0, list.order.indexOf(kept));
  const all = data.left.length;
  at("count").textContent = list.order.length === all ? `${whole(all)} pairs` : `${whole(list.order.length)} of ${whole(all)} pairs`;
  at("none").hidden = list.order.length > 0;
  at("grid").setAttribute("aria-rowcount", list.order.length + 1);
  at("rows").style.height = `${ROW * list.order.length}px`;
  list.drawn = "";
  draw();
}

function heads() {
  const cells = COLUMNS.map(({ key, label }) => {
    const button = element("button", { type: "button", "data-sort": key, tabindex: "-1" }, label);
    button.addEventListener("click", () => sortBy(key));
    return element("div", { role: "columnheader", class: key }, button);
  });
  at("head").replaceChildren(...cells);
  showSort();
}

function showSort() {
  for (const cell of at("head").children) {
    const own = cell.classList.contains(list.sort);
    cell.setAttribute("aria-sort", own ? (list.down ? "descending" : "ascending") : "none");
  }
}

function sortBy(key) {
  const column = COLUMNS.find(other => other.key === key);
  list.down = list.sort === key ? !list.down : !column.ascending;
  list.sort = key;
  list.active = 0;
  showSort();
  select();
}

function row(place) {
  const i = list.order[place];
  const [low, high] = [data.low[i], data.high[i]];
  const bar = element("span", { class: "bar" }, element("i"));
  bar.firstChild.style.width = `${100 * data.resemblance[i]}%`;
  const cells = {
    names: [element("span", { class: "name", title: nameOf(data.left[i]) }, nameOf(data.left[i])), element("span", { class: "name", title: nameOf(data.right[i]) }, nameOf(data.right[i]))],
    resemblance: [element("b", {}, share(data.resemblance[i])), bar, ...(high - low > 0.0005 ? [element("small", {}, `${share(low).slice(0, -2)}–${share(high)}`)] : [])],
    containment: [element("span", {}, share(data.containment_left[i])), element("span", {}, share(data.containment_right[i]))],
    longest: [element("span", {}, data.longest[i] ? words(data.longest[i]) : "–")],
    group: [element("span", {}, data.group[i] === null ? "–" : String(data.group[i]))],
  };
  const made = element("div", { role: "row", id: `row-${i}`, "data-place": place, "aria-rowindex": place + 2, "aria-selected": place === list.active });
  made.append(...COLUMNS.map(({ key }) => element("div", { role: "gridcell", class: key }, ...cells[key])));
  made.style.top = `${ROW * place}px`;
  return made;
}

// Draws the rows that can be seen, or for printing all of them.
function draw() {
  const top = at("rows").getBoundingClientRect().top;
  const first = list.whole ? 0 : Math.max(0, Math.floor(-top / ROW) - SPARE);
  const last = list.whole ? list.order.length : Math.min(list.order.length, Math.ceil((innerHeight - top) / ROW) + SPARE);
  const wanted = `${first} ${last} ${list.active}`;
  if (wanted === list.drawn) return;
  list.drawn = wanted;
  const rows = [];
  for (let place = first; place < last; place++) rows.push(row(place));
  at("rows").replaceChildren(...rows);
  const active = list.order[list.active];
  if (at(`row-${active}`)) at("grid").setAttribute("aria-activedescendant", `row-${active}`);
  else at("grid").removeAttribute("aria-activedescendant");
}

function activate(place) {
  if (!list.order.length) return;
  list.active = Math.max(0, Math.min(list.order.length - 1, place));
  const above = document.querySelector(".tools").offsetHeight + at("head").offsetHeight;
  const top = at("rows").getBoundingClientRect().top + ROW * list.active;
  if (top < above) scrollBy(0, top - above);
  else if (top + ROW > innerHeight) scrollBy(0, top + ROW - innerHeight);
  draw();
}

const MOVES = {
  ArrowDown: () => list.active + 1, j: () => list.active + 1, ArrowUp: () => list.active - 1, k: () => list.active - 1,
  PageDown: () => list.active + Math.floor(innerHeight / ROW) - 3, PageUp: () => list.active - Math.floor(innerHeight / ROW) + 3,
  Home: () => 0, End: () => list.order.length - 1,
};

function listKey(event) {
  const target = event.target;
  const control = target.closest("input, button, summary, a");
  const inGrid = target === at("grid");
  if (event.key === "/" && target.type !== "search") at("find").focus();
  else if (event.key === "Escape" && target.id === "find") { target.value = ""; select(); at("grid").focus(); }
  else if (event.key === "Enter" && target.id === "find") at("grid").focus();
  else if (control) return;
  else if (event.key === "Enter" && list.order.length) open(list.order[list.active]);
  else if (MOVES[event.key] && (inGrid || event.key.length === 1)) { at("grid").focus({ preventScroll: true }); activate(MOVES[event.key]()); }
  else return;
  event.preventDefault();
}
