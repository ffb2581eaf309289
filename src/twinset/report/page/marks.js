// A text with its passages marked. Whatever the text holds becomes text nodes: nothing of it is ever read as markup.

const HUES = 8;

// Cuts a text where passages, their runs and template text begin and end: [first, last, passage or -1, whether in a run, whether template].
// Where passages overlap, which happens on the right, the one of most words is shown.
function cut(text, passages, side, ignored) {
  const edges = [];
  passages.forEach((passage, k) => {
    edges.push([passage[side][0], 1, k], [passage[side][1], -1, k]);
    for (const run of passage.runs) edges.push([run[side === "left" ? 0 : 2], 2, k], [run[side === "left" ? 1 : 3], -2, k]);
  });
  for (let i = 0; i < ignored.length; i += 2) edges.push([ignored[i], 3, 0], [ignored[i + 1], -3, 0]);
  edges.sort((a, b) => a[0] - b[0]);
  const within = new Set(), running = new Map(), pieces = [];
  let place = 0, template = 0;
  const upTo = end => {
    if (end <= place) return;
    let shown = -1;
    for (const k of within) if (shown < 0 || passages[k].words > passages[shown].words) shown = k;
    pieces.push([place, end, shown, (running.get(shown) ?? 0) > 0, template > 0]);
    place = end;
  };
  for (const [where, kind, k] of edges) {
    upTo(where);
    if (kind === 1) within.add(k);
    else if (kind === -1) within.delete(k);
    else if (Math.abs(kind) === 2) running.set(k, (running.get(k) ?? 0) + Math.sign(kind));
    else template += Math.sign(kind);
  }
  upTo(text.length);
  return pieces;
}

// Fills a pane, and returns for each passage the element in which it begins and that in which it ends.
function fill(pane, d, passages, side) {
  const { text, ignored } = textOf(d);
  const starts = new Map(), ends = new Map(), first = [], last = [], seen = new Set();
  const nodes = cut(text, passages, side, ignored).map(([begin, end, k, run, template]) => {
    const kind = k < 0 ? (template ? "template" : "") : `passage c${k % HUES}${run ? " run" : ""}`;
    const made = element("span", kind ? { class: kind } : {}, text.slice(begin, end));
    if (k >= 0) {
      made.dataset.k = k;
      if (!seen.has(k)) made.dataset.number = k + 1;
      seen.add(k);
    }
    starts.set(begin, made);
    ends.set(end, made);
    return made;
  });
  pane.replaceChildren(element("div", { class: "inner" }, ...nodes));
  passages.forEach((passage, k) => {
    first[k] = starts.get(passage[side][0]);
    last[k] = ends.get(passage[side][1]);
  });
  return { first, last };
}

// The heaviest set of passages that come in the same order on both sides: what two texts scroll together by.
function chain(passages) {
  const best = passages.map(passage => passage.words), before = passages.map(() => -1);
  let top = -1;
  passages.forEach((passage, k) => {
    for (let i = 0; i < k; i++) {
      if (passages[i].right[1] <= passage.right[0] && best[i] + passage.words > best[k]) { best[k] = best[i] + passage.words; before[k] = i; }
    }
    if (top < 0 || best[k] > best[top]) top = k;
  });
  const chosen = [];
  for (let k = top; k >= 0; k = before[k]) chosen.unshift(k);
  return chosen;
}
