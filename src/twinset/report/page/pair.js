// Two texts side by side. They scroll together, level at the passage that is being read.

const panes = { left: at("left"), right: at("right") };
const other = side => (side === "left" ? "right" : "left");
const view = { pair: -1, passages: [], ends: {}, points: [], current: -1, driver: "left" };
const LEVEL = 0.25; // of a pane's height: where the line is that both sides are level at

function show(i) {
  const sides = { left: data.left[i], right: data.right[i] };
  Object.assign(view, { pair: i, passages: passagesOf(i), current: -1, driver: "left" });
  at("pair-title").textContent = `Pair ${i + 1}`;
  at("facts").textContent = facts(i);
  for (const side of ["left", "right"]) {
    const [name, size, note] = data.documents[sides[side]];
    at(`${side}-name`).textContent = name;
    at(`${side}-name`).title = name;
    const part = `${share(data[`containment_${side}`][i])} of this document is found in the other`;
    at(`${side}-share`).textContent = [part, `${whole(size)} shingles`, note].filter(Boolean).join(" · ");
    view.ends[side] = fill(panes[side], sides[side], view.passages, side);
    panes[side].scrollTop = 0;
  }
  legend();
  const place = list.order.indexOf(i);
  at("number").textContent = place < 0 ? "" : `${whole(place + 1)} of ${whole(list.order.length)} pairs`;
  at("before").disabled = place <= 0;
  at("after").disabled = place < 0 || place + 1 >= list.order.length;
  where();
  measure();
}

function facts(i) {
  const [low, high] = [data.low[i], data.high[i]];
  const range = high - low > 0.0005 ? ` (${share(low)} to ${share(high)})` : "";
  const count = view.passages.length;
  const shared = view.passages.reduce((sum, passage) => sum + passage.words, 0);
  const passages = count ? `${passageCount(count)} of ${words(shared)}${count === 1 ? "" : ` in all, the longest ${words(data.longest[i])}`}` : "no passage in common";
  return `Resemblance ${share(data.resemblance[i])}${range}; ${passages}.`;
}

function legend() {
  const template = ["left", "right"].some(side => panes[side].querySelector(".template"));
  const altered = panes.left.querySelector(".passage:not(.run)") || panes.right.querySelector(".passage:not(.run)");
  const entries = view.passages.length ? [["passage c0 run", "in both texts"]] : [];
  if (altered) entries.push(["passage c0", "differs within a passage"]);
  if (template) entries.push(["template", "template text, ignored"]);
  at("legend").replaceChildren(...entries.map(([kind, text]) => element("li", {}, element("span", { class: kind }, "Abc"), ` ${text}`)));
}

const passageCount = count => (count ? `${whole(count)} ${count === 1 ? "passage" : "passages"}` : "No passage");

function where() {
  const count = view.passages.length;
  at("where").textContent = view.current >= 0 ? `Passage ${view.current + 1} of ${count}` : passageCount(count);
  at("next").disabled = at("previous").disabled = !count;
}

const top = (pane, made) => made.getBoundingClientRect().top - pane.getBoundingClientRect().top + pane.scrollTop;
const bottom = (pane, made) => made.getBoundingClientRect().bottom - pane.getBoundingClientRect().top + pane.scrollTop;

// Where passages stand in both panes, as points (left, right) that ascend; and the map between the panes.
function measure() {
  if (view.pair < 0 || at("pair").hidden) return;
  const points = [[0, 0]];
  for (const k of chain(view.passages)) {
    const { left, right } = view.ends;
    points.push([top(panes.left, left.first[k]), top(panes.right, right.first[k])], [bottom(panes.left, left.last[k]), bottom(panes.right, right.last[k])]);
  }
  points.push([panes.left.firstChild.offsetHeight, panes.right.firstChild.offsetHeight]);
  view.points = points.filter((point, p) => p === 0 || (point[0] > points[p - 1][0] && point[1] > points[p - 1][1]));
  drawMap();
}

function drawMap() {
  const long = { left: textOf(data.left[view.pair]).text.length || 1, right: textOf(data.right[view.pair]).text.length || 1 };
  const y = (k, side, end) => (1000 * view.passages[k][side][end] / long[side]).toFixed(1);
  const shapes = view.passages.map((_, k) => {
    const [a, b, c, d] = [y(k, "left", 0), y(k, "left", 1), y(k, "right", 1), y(k, "right", 0)];
    return `<path class="c${k % HUES}" data-k="${k}" d="M0 ${a}H14C50 ${a} 50 ${d} 86 ${d}H100V${c}H86C50 ${c} 50 ${b} 14 ${b}H0Z"/>`;
  });
  at("map").innerHTML = `${shapes.join("")}<rect id="seen-left" x="0" width="5"/><rect id="seen-right" x="95" width="5"/>`;
  drawSeen();
}

// Which part of each text is in sight.
function drawSeen() {
  for (const side of ["left", "right"]) {
    const mark = at(`seen-${side}`), pane = panes[side], all = Math.max(1, pane.firstChild.offsetHeight);
    if (!mark) continue;
    const from = Math.min(1, pane.scrollTop / all), to = Math.min(1, (pane.scrollTop + pane.clientHeight) / all);
    mark.setAttribute("y", 1000 * from);
    mark.setAttribute("height", Math.max(4, 1000 * (to - from)));
  }
}

// The place in the other pane that belongs to place y of this one.
function across(y, side) {
  const [mine, theirs] = side === "left" ? [0, 1] : [1, 0];
  const points = view.points;
  let p = 1;
  while (p < points.length - 1 && points[p][mine] < y) p++;
  const [from, to] = [points[p - 1], points[p]];
  const part = to[mine] > from[mine] ? (y - from[mine]) / (to[mine] - from[mine]) : 0;
  return from[theirs] + (part > 1 ? y - to[mine] + to[theirs] - from[theirs] : part * (to[theirs] - from[theirs]));
}

function follow(side) {
  if (side === view.driver && at("together").checked && view.points.length > 1) {
    const pane = panes[side], level = Math.min(LEVEL * pane.clientHeight, pane.scrollTop);
    panes[other(side)].scrollTop = Math.max(0, across(pane.scrollTop + level, side) - level);
  }
  drawSeen();
}

// Brings both ends of a passage level: where it stands on the side it was chosen on, if that can be.
function meet(k, side, level) {
  const mine = panes[side], theirs = panes[other(side)];
  const [here, there] = [top(mine, view.ends[side].first[k]), top(theirs, view.ends[other(side)].first[k])];
  const height = Math.max(0, Math.min(level, here, there));
  view.driver = "";
  mine.scrollTop = here - height;
  theirs.scrollTop = there - height;
  view.current = k;
  light(k, "current");
  where();
}

function light(k, kind) {
  for (const made of document.querySelectorAll(`#pair .${kind}`)) made.classList.remove(kind);
  if (k >= 0) for (const made of document.querySelectorAll(`#pair [data-k="${k}"]`)) made.classList.add(kind);
}

function step(by) {
  const count = view.passages.length;
  if (!count) return;
  const k = view.current < 0 ? (by > 0 ? 0 : count - 1) : (view.current + by + count) % count;
  meet(k, "left", LEVEL * panes.left.clientHeight);
}

function goTo(by) {
  const place = list.order.indexOf(view.pair) + by;
  if (list.order.includes(view.pair) && place >= 0 && place < list.order.length) {
    list.active = place;
    location.replace(`#pair=${list.order[place] + 1}`);
  }
}

function pairKey(event) {
  const steps = { n: () => step(1), p: () => step(-1), "]": () => goTo(1), "[": () => goTo(-1), Escape: close };
  if (!steps[event.key]) return;
  steps[event.key]();
  event.preventDefault();
}

function watchPanes() {
  for (const side of ["left", "right"]) {
    const pane = panes[side];
    for (const kind of ["wheel", "pointerdown", "touchstart", "keydown", "focusin"]) pane.addEventListener(kind, () => { view.driver = side; }, { passive: true });
    pane.addEventListener("scroll", () => follow(side), { passive: true });
    pane.addEventListener("click", event => {
      const made = event.target.closest("[data-k]");
      if (made && getSelection().isCollapsed) meet(Number(made.dataset.k), side, top(pane, view.ends[side].first[made.dataset.k]) - pane.scrollTop);
    });
    pane.addEventListener("mouseover", event => light(Number(event.target.dataset.k ?? -1), "near"));
    pane.addEventListener("mouseleave", () => light(-1, "near"));
    new ResizeObserver(measure).observe(pane);
  }
  at("map").addEventListener("click", event => {
    if (event.target.dataset.k) meet(Number(event.target.dataset.k), "left", LEVEL * panes.left.clientHeight);
  });
}
