// Which of the two views is shown: the address says it, so that the browser's way back works.

const kept = { scroll: 0 };

function open(i) {
  location.hash = `pair=${i + 1}`;
}

function close() {
  location.hash = "";
}

function route() {
  const chosen = /^#pair=(\d+)$/.exec(location.hash);
  const i = chosen ? Number(chosen[1]) - 1 : -1;
  const opened = i >= 0 && i < data.left.length;
  if (opened && at("pair").hidden) kept.scroll = scrollY;
  at("pair").hidden = !opened;
  at("overview").hidden = opened;
  document.body.classList.toggle("reading", opened);
  if (opened) {
    show(i);
    panes.left.focus({ preventScroll: true });
  } else if (view.pair >= 0) {
    const place = list.order.indexOf(view.pair);
    view.pair = -1;
    scrollTo(0, kept.scroll);
    if (place >= 0) activate(place);
    at("grid").focus({ preventScroll: true });
  }
}

// The heads of the columns stay below the tools, however high these are.
function fit() {
  document.documentElement.style.setProperty("--tools", `${document.querySelector(".tools").offsetHeight}px`);
  draw();
}

// On paper: every row, and what was folded away.
function forPrint(begins) {
  list.whole = begins;
  draw();
  for (const made of document.querySelectorAll("details")) {
    if (begins) made.dataset.open = made.open;
    made.open = begins || made.dataset.open === "true";
  }
}

function start() {
  document.querySelector(".pairs").hidden = data.left.length === 0;
  document.body.classList.toggle("ungrouped", !COLUMNS.some(column => column.key === "group"));
  heads();
  select();
  fit();
  at("filter").addEventListener("submit", event => event.preventDefault());
  at("filter").addEventListener("input", () => {
    for (const output of at("filter").querySelectorAll("output")) output.textContent = `${at(output.htmlFor.value).value}\u00a0%`;
    select();
  });
  at("rows").addEventListener("click", event => {
    const made = event.target.closest("[role=row]");
    if (made && getSelection().isCollapsed) open(list.order[made.dataset.place]);
  });
  at("close").addEventListener("click", close);
  at("next").addEventListener("click", () => step(1));
  at("previous").addEventListener("click", () => step(-1));
  at("before").addEventListener("click", () => goTo(-1));
  at("after").addEventListener("click", () => goTo(1));
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    (at("pair").hidden ? listKey : pairKey)(event);
  });
  watchPanes();
  addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
  addEventListener("resize", () => requestAnimationFrame(fit));
  addEventListener("beforeprint", () => forPrint(true));
  addEventListener("afterprint", () => forPrint(false));
  addEventListener("hashchange", route);
  route();
}

start();
