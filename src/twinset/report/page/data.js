// What the report holds, and how numbers are said.

const data = JSON.parse(document.getElementById("data").textContent);
const at = id => document.getElementById(id);
const texts = new Map();

// A text and the places of template text in it, read when it is first wanted.
function textOf(d) {
  if (!texts.has(d)) texts.set(d, JSON.parse(at(`text-${d}`).textContent));
  return texts.get(d);
}

// Passages of a pair: words, and runs [left first, left last, right first, right last].
function passagesOf(i) {
  return data.passages[i].split(";").filter(Boolean).map(line => {
    const [words, ...places] = line.split(" ").map(Number);
    const runs = [];
    for (let p = 0; p < places.length; p += 4) runs.push(places.slice(p, p + 4));
    const last = runs[runs.length - 1];
    return { words, runs, left: [runs[0][0], last[1]], right: [runs[0][2], last[3]] };
  });
}

const nameOf = d => data.documents[d][0];
const containment = i => Math.max(data.containment_left[i], data.containment_right[i]);
const whole = n => String(n).replace(/\B(?=(\d{3})+$)/g, "\u202f");
const words = n => `${whole(n)} ${n === 1 ? data.unit.replace(/s$/, "") : data.unit}`;

// A share in per cent; only what is 0 or 1 is shown as 0 % or 100 %.
function share(value) {
  if (value > 0 && value < 0.005) return "<1\u00a0%";
  if (value >= 0.995 && value < 1) return ">99\u00a0%";
  return `${Math.round(100 * value)}\u00a0%`;
}

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}
