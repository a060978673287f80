/* The page: states are chosen in cards, numbers typed (cards.js), and distributions move in cards and in the graph. What
 * comes from data is only ever set as text. What is known can be read from the address (#see:NAME=STATE&do:NAME=STATE),
 * and is written there. */

const FEW = 12; // states of a variable that are all shown
const SOME = 6; // that are shown of more
const MOST_NAMED = 3; // in the description of a node
const MOST_BEHIND = 5; // rows that raise an answer, and that lower it; and configurations
const MOST_CELLS = 8; // of a row behind an answer

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function svgElement(tag, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function percent(p) {
  if (p > 0 && p < 0.0005) return "< 0.1 %";
  if (p < 1 && p > 0.9995) return "> 99.9 %";
  return `${(100 * p).toFixed(1)} %`;
}

/** Return a probability in words, from its natural logarithm: also one that is too small for a number. */
function probabilityText(log) {
  if (log >= Math.log(1e-4)) return String(Number(Math.min(1, Math.exp(log)).toPrecision(4)));
  const decimal = log / Math.LN10;
  let exponent = Math.floor(decimal);
  let digits = (10 ** (decimal - exponent)).toFixed(3);
  if (digits === "10.000") [digits, exponent] = ["1.000", exponent + 1];
  const raised = [...String(exponent)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit] || "⁻").join("");
  return `${digits} × 10${raised}`;
}

/** Let one of some elements have the focus of the Tab key, and the arrow keys move it. */
function rove(container, items, next) {
  const stop = (item) => items().forEach((other) => other.setAttribute("tabindex", other === item ? "0" : "-1"));
  if (items().length) stop(items()[0]);
  container.addEventListener("focusin", (event) => {
    const item = items().find((one) => one.contains(event.target));
    if (item) stop(item);
  });
  container.addEventListener("keydown", (event) => {
    const item = items().find((one) => one.contains(event.target));
    const to = item && next(items(), item, event.key);
    if (!to) return;
    event.preventDefault();
    to.focus();
  });
}

function upAndDown(items, item, key) {
  const at = items.indexOf(item);
  const step = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[key];
  if (step) return items[(at + step + items.length) % items.length];
  return { Home: items[0], End: items[items.length - 1] }[key];
}

/** Return the node that lies nearest in the direction of an arrow key; straight ahead counts more than aside. */
function nearestNode(items, item, key) {
  const direction = { ArrowDown: [0, 1], ArrowUp: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[key];
  if (!direction) return { Home: items[0], End: items[items.length - 1] }[key];
  const centre = (node) => {
    const box = node.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const [x, y] = centre(item);
  let best = null;
  let least = Infinity;
  for (const other of items) {
    const [dx, dy] = [centre(other)[0] - x, centre(other)[1] - y];
    const ahead = dx * direction[0] + dy * direction[1];
    const aside = Math.abs(dx * direction[1] - dy * direction[0]);
    if (other !== item && ahead > 1 && ahead + 2 * aside < least) [best, least] = [other, ahead + 2 * aside];
  }
  return best;
}

class Page {
  constructor(network) {
    this.network = network;
    this.tree = answering(network);
    this.canDo = Boolean(network.blocks) || network.factors.some((factor) => factor.child >= 0);
    this.seen = new Map();
    this.done = new Map();
    this.explaining = false;
    this.prior = this.tree.propagate(this.seen);
    this.nodes = [...document.querySelectorAll("#drawing .node")];
    this.edges = [...document.querySelectorAll("#drawing .edge")];
    this.cards = network.names.map((_, v) => (this.isNumber(v) ? new NumberCard(this, v) : this.card(v)));
    document.getElementById("cards").append(...this.cards.map((card) => card.box));
    this.controls();
    this.graph();
    this.whyControls();
    this.readAddress();
    this.update(false);
  }

  // ------------------------------------------------------------------------------------------------ what is made once

  isNumber(v) {
    return this.network.states[v].length === 0;
  }

  /** Return the frame of a card, with the name of its variable, and where it says how that is known. */
  frame(v) {
    const how = element("span", { class: "how" });
    const name = element("h3", { id: `name-${v}` }, element("span", {}, this.network.names[v]), how);
    const box = element("article", { class: "card", "aria-labelledby": `name-${v}` }, name);
    box.addEventListener("focusin", () => this.light(v));
    box.addEventListener("mouseenter", () => this.light(v));
    box.addEventListener("mouseleave", () => this.light(-1));
    return { box, how };
  }

  card(v) {
    const { states } = this.network;
    const { box, how } = this.frame(v);
    const group = element("div", { class: "states", role: "group", "aria-labelledby": `name-${v}` });
    const rows = Array.from({ length: states[v].length > FEW ? SOME : states[v].length }, () => this.row(v));
    group.append(...rows.map((row) => row.button));
    box.append(group);
    rove(group, () => rows.map((row) => row.button), upAndDown);
    const choice = states[v].length > FEW ? this.choice(v) : null;
    if (choice) box.append(choice);
    return { box, how, rows, choice, first: rows[0].button };
  }

  row(v) {
    const [fill, prior, label, share] = ["fill", "prior", "label", "share"].map((name) => element("span", { class: name }));
    const track = element("span", { class: "track", "aria-hidden": "true" }, fill, prior);
    const button = element("button", { type: "button", class: "state", "aria-pressed": "false" }, label, " ", share, track);
    const row = { button, fill, prior, label, share, state: -1 };
    button.addEventListener("click", () => this.choose(v, row.state));
    return row;
  }

  /** Of many states the likeliest are shown, and the others are in a list. */
  choice(v) {
    const { names, states } = this.network;
    const list = element("select", { "aria-label": `${names[v]}: all ${states[v].length} states` });
    list.append(element("option", { value: "" }, `all ${states[v].length} states …`));
    list.append(...states[v].map((state, code) => element("option", { value: String(code) }, state)));
    list.addEventListener("change", () => {
      if (list.value === "") this.forget(v);
      else this.choose(v, Number(list.value), false);
    });
    return list;
  }

  controls() {
    const at = (id) => document.getElementById(id);
    this.status = at("evidence");
    this.list = at("known");
    this.link = at("link");
    at("mode").hidden = !this.canDo;
    at("mode").addEventListener("keydown", (event) => event.stopPropagation());
    at("explain").hidden = this.cards.every((_, v) => this.isNumber(v));
    at("explain").addEventListener("click", () => {
      this.explaining = !this.explaining;
      at("explain").setAttribute("aria-pressed", String(this.explaining));
      this.update();
    });
    at("reset").addEventListener("click", () => {
      this.seen.clear();
      this.done.clear();
      this.update();
    });
    at("share").addEventListener("click", () => this.share());
    const filter = at("filter");
    filter.hidden = this.cards.length <= FEW;
    filter.addEventListener("input", () => {
      const wanted = filter.value.trim().toLowerCase();
      this.cards.forEach((card, v) => {
        card.box.hidden = !this.network.names[v].toLowerCase().includes(wanted);
      });
    });
    addEventListener("hashchange", () => this.readAddress() && this.update(false));
    at("panel").hidden = false;
  }

  graph() {
    const drawing = document.getElementById("drawing");
    if (!drawing) return;
    for (const node of this.nodes) {
      const v = Number(node.dataset.v);
      node.setAttribute("role", "button");
      node.addEventListener("click", () => this.show(v));
      node.addEventListener("focus", () => this.light(v));
      node.addEventListener("mouseenter", () => this.light(v));
      node.addEventListener("mouseleave", () => this.light(-1));
      node.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        this.show(v);
      });
    }
    rove(drawing, () => this.nodes, nearestNode);
  }

  // ----------------------------------------------------------------------------------------------------- what happens

  /** Take a state as seen or as set, by what is chosen above; the same once more takes it back. */
  choose(v, state, toggles = true) {
    const how = document.querySelector('input[name="mode"]:checked').value === "do" && this.canDo ? this.done : this.seen;
    const again = toggles && (this.seen.get(v) === state || this.done.get(v) === state);
    this.seen.delete(v);
    this.done.delete(v);
    if (!again) how.set(v, state);
    this.update();
  }

  forget(v) {
    this.seen.delete(v);
    this.done.delete(v);
    this.update();
  }

  /** Go from a node to its card. */
  show(v) {
    this.cards[v].box.hidden = false;
    this.cards[v].box.scrollIntoView({ block: "center" });
    this.cards[v].first.focus({ preventScroll: true });
  }

  light(v) {
    for (const edge of this.edges) {
      edge.classList.toggle("lit", Number(edge.dataset.from) === v || Number(edge.dataset.to) === v);
    }
  }

  share() {
    this.link.value = location.href;
    this.link.hidden = false;
    this.link.focus();
    this.link.select();
    const said = (words) => (document.getElementById("share").textContent = words);
    if (!navigator.clipboard) return;
    navigator.clipboard.writeText(location.href).then(
      () => said("Copied"),
      () => said("Copy link"),
    );
    setTimeout(() => said("Copy link"), 2000);
  }

  readAddress() {
    const text = location.hash.slice(1);
    if (text !== "" && !/^(see|do)(:|%3A)/i.test(text)) return false; // a section's
    const { names, states } = this.network;
    this.seen.clear();
    this.done.clear();
    for (const [key, label] of new URLSearchParams(text)) {
      const [, how, name] = /^(see|do):([^]*)$/.exec(key) || [];
      const v = names.indexOf(name);
      const state = v < 0 ? NaN : this.isNumber(v) ? numberOf(label, this.network.units[v]) : states[v].indexOf(label);
      if (Number.isFinite(state) && (state >= 0 || this.isNumber(v))) (how === "do" && this.canDo ? this.done : this.seen).set(v, state);
    }
    return true;
  }

  /** Return a state, or a number with all its digits, as the address has it. */
  textOf(v, state) {
    return this.isNumber(v) ? wholeText(state, this.network.units[v]) : this.network.states[v][state];
  }

  writeAddress() {
    const { names } = this.network;
    const words = new URLSearchParams();
    for (const [v, state] of this.seen) words.append(`see:${names[v]}`, this.textOf(v, state));
    for (const [v, state] of this.done) words.append(`do:${names[v]}`, this.textOf(v, state));
    try {
      history.replaceState(null, "", `#${words}`);
    } catch {
      // a frame in a notebook has no address of its own
    }
  }

  // ----------------------------------------------------------------------------------------------------- what is shown

  update(writes = true) {
    const start = performance.now();
    const found = this.tree.propagate(this.seen, this.done);
    const { logEvidence, marginals } = found;
    const explained = this.explaining ? this.tree.explain(this.seen, this.done) : null;
    performance.measure("inference", { start });
    this.cards.forEach((card, v) => {
      if (this.isNumber(v)) card.update(found.mixtures && found.mixtures[v]);
      else this.updateCard(card, v, marginals, explained && explained.states);
    });
    this.nodes.forEach((node) => this.updateNode(node, Number(node.dataset.v), marginals));
    this.updateKnown();
    this.updateWhy(found);
    this.say(logEvidence, explained);
    this.link.hidden = true;
    if (writes) this.writeAddress();
    performance.measure("update", { start });
  }

  how(v) {
    return this.done.has(v) ? "done" : this.seen.has(v) ? "seen" : "";
  }

  /** Return the state or the number that a variable is known to have; undefined where it is not. */
  known(v) {
    return this.done.has(v) ? this.done.get(v) : this.seen.get(v);
  }

  updateFrame({ box, how }, known, possible) {
    box.className = `card ${known} ${possible ? "" : "impossible"}`;
    how.textContent = { done: "set", seen: "seen", "": "" }[known];
  }

  updateCard(card, v, marginals, best) {
    const how = this.how(v);
    const chosen = this.known(v);
    this.updateFrame(card, how, marginals);
    const shown = this.shownStates(v, marginals || this.prior.marginals, [chosen, best && best[v]]);
    card.rows.forEach((row, at) => {
      const state = shown[at];
      const p = marginals ? marginals[v][state] : 0;
      if (row.state !== state) {
        row.state = state;
        row.label.textContent = this.network.states[v][state];
        row.label.title = this.network.states[v][state];
        row.prior.style.left = `${100 * this.prior.marginals[v][state]}%`;
      }
      row.fill.style.width = `${100 * p}%`;
      row.share.textContent = marginals ? percent(p) : "–";
      row.share.title = marginals ? String(p) : "";
      row.button.setAttribute("aria-pressed", String(state === chosen));
      row.button.classList.toggle("best", Boolean(best) && best[v] === state);
      if (best && best[v] === state) row.button.setAttribute("aria-description", "in the most probable explanation");
      else row.button.removeAttribute("aria-description");
    });
    if (card.choice) card.choice.value = chosen === undefined ? "" : String(chosen);
  }

  /** Return the states that a card shows: all, or the likeliest with those that must be there, in their own order. */
  shownStates(v, marginals, needed) {
    const every = this.network.states[v].map((_, state) => state);
    if (every.length <= FEW) return every;
    const must = new Set(needed.filter((state) => state !== undefined && state !== null));
    const rank = (state) => (must.has(state) ? 2 : 0) + marginals[v][state];
    return every.sort((a, b) => rank(b) - rank(a) || a - b).slice(0, SOME).sort((a, b) => a - b);
  }

  updateNode(node, v, marginals) {
    const how = this.how(v);
    node.setAttribute("class", `node ${how}`);
    const bar = node.querySelector(".bar");
    const width = Number(bar.dataset.width);
    if (this.isNumber(v)) {
      bar.replaceChildren(...this.cards[v].bar(width));
      node.setAttribute("aria-label", this.words(v, how, this.cards[v].said));
      return;
    }
    const shares = marginals ? Array.from(marginals[v]) : [];
    const pieces = [];
    let x = 0;
    shares.slice(0, 7).forEach((p, state) => {
      pieces.push(svgElement("rect", { class: `s${state}`, x: x.toFixed(2), width: (p * width).toFixed(2), height: 5 }));
      x += p * width;
    });
    if (shares.length > 7) pieces.push(svgElement("rect", { class: "s7", x, width: Math.max(0, width - x), height: 5 }));
    bar.replaceChildren(...pieces);
    node.setAttribute("aria-label", this.description(v, how, shares));
  }

  description(v, how, shares) {
    const { states } = this.network;
    const order = shares.map((_, state) => state).sort((a, b) => shares[b] - shares[a]);
    const named = order.slice(0, MOST_NAMED).map((state) => `${states[v][state]} ${percent(shares[state])}`);
    return this.words(v, how, named.join(", "));
  }

  words(v, how, said) {
    return `${this.network.names[v]}${{ done: ", set", seen: ", seen", "": "" }[how]}: ${said || "impossible"}`;
  }

  updateKnown() {
    const item = ([v, state], how) => {
      const words = `${how === "done" ? "do " : ""}${this.network.names[v]} = ${this.textOf(v, state)}`;
      const button = element("button", { type: "button", "aria-label": `Take back: ${words}`, title: words }, `${words}  ×`);
      button.addEventListener("click", () => {
        this.forget(v);
        (this.list.querySelector("button") || document.getElementById("reset")).focus();
      });
      return element("li", { class: how }, button);
    };
    this.list.replaceChildren(
      ...[...this.seen].map((pair) => item(pair, "seen")),
      ...[...this.done].map((pair) => item(pair, "done")),
    );
    document.getElementById("reset").disabled = this.seen.size + this.done.size === 0;
  }

  // ---------------------------------------------------------------------------------------------------------- why

  /** Let the reader choose an answer, the likeliest state of the last variable at first. */
  whyControls() {
    const section = document.getElementById("why");
    if (!section || !this.network.behind) return;
    section.hidden = false;
    this.why = new Why(this.tree, this.network);
    this.whyVariable = document.getElementById("why-variable");
    this.whyState = document.getElementById("why-state");
    const { names } = this.network;
    this.whyVariable.append(...names.map((name, v) => element("option", { value: String(v) }, name)));
    const target = Number(section.dataset.target);
    this.whyVariable.value = String(target >= 0 ? target : names.length - 1);
    this.whyVariable.addEventListener("change", () => {
      this.fillStates();
      this.update(false);
    });
    this.whyState.addEventListener("change", () => this.update(false));
    this.fillStates();
  }

  fillStates() {
    const v = Number(this.whyVariable.value);
    this.whyState.replaceChildren(
      ...this.network.states[v].map((state, code) => element("option", { value: String(code) }, state)),
    );
    const prior = this.prior.marginals[v];
    this.whyState.value = String(prior.indexOf(Math.max(...prior)));
  }

  updateWhy(found) {
    if (!this.why) return;
    const { names, states } = this.network;
    const [v, state] = [Number(this.whyVariable.value), Number(this.whyState.value)];
    const { marginals } = found;
    const cells = this.why.cells(found, this.seen, this.done, v, state);
    const said = document.getElementById("why-said");
    const shown = document.getElementById("why-shown");
    if (!cells) {
      shown.replaceChildren();
      const why = this.how(v) ? `${names[v]} is known: there is nothing to explain.` : "That is impossible.";
      said.textContent = marginals ? why : "What is known is impossible.";
      return;
    }
    said.textContent = `P(${names[v]} = ${states[v][state]}${this.seen.size + this.done.size ? " | what is known" : ""}) = ${percent(marginals[v][state])}`;
    shown.replaceChildren(...(this.why.kinds ? this.kindTables(cells) : []), this.configurationTable(cells));
  }

  table(caption, heads, rows, right) {
    const side = (at) => (right.includes(at) ? { class: "n" } : {});
    const head = (scope) => (text, at) => element("th", { scope, ...side(at) }, text);
    const line = (row) => element("tr", {}, ...row.map((text, at) => (at ? element("td", side(at), text) : head("row")(text, 0))));
    const made = element("table", {}, element("caption", {}, caption));
    made.append(element("thead", {}, element("tr", {}, ...heads.map(head("col")))), element("tbody", {}, ...rows.map(line)));
    return element("div", { class: "wide", tabindex: "0", role: "region", "aria-label": caption }, made);
  }

  /** Return the rows that raise the answer most, and those that lower it, with the cells that make them do so. */
  kindTables(cells) {
    const { names, states } = this.network;
    const { kinds } = this.why;
    const values = this.why.ofKinds(cells);
    const moved = names.map(() => 0);
    this.why.conditionals.forEach(({ scope }, number) => {
      const most = cells[number].reduce((top, value) => Math.max(top, Math.abs(value)), 0);
      for (const v of scope) moved[v] = Math.max(moved[v], most);
    });
    const columns = names.map((_, v) => v).filter((v) => moved[v] > 1e-12);
    columns.sort((a, b) => moved[b] - moved[a]);
    const shown = columns.slice(0, MOST_CELLS).sort((a, b) => a - b);
    const least = 1e-9 * values.reduce((top, value) => Math.max(top, Math.abs(value)), 0); // below it is rounding
    const alike = new Map(); // rows that differ in nothing that is shown, nor in their influence
    kinds.first.forEach((first, kind) => {
      const cellsOf = shown.map((v) => states[v][kinds.states[v][kind]]);
      const value = Math.abs(values[kind]) < least ? 0 : values[kind];
      const key = JSON.stringify([value.toPrecision(9), cellsOf]);
      const one = alike.get(key) || { first, count: 0, value, cells: cellsOf };
      one.count += kinds.counts[kind];
      one.first = Math.min(one.first, first);
      alike.set(key, one);
    });
    const order = [...alike.values()].sort((a, b) => b.value - a.value || a.first - b.first);
    const line = ({ first, count, value, cells: of }) => {
      return [String(first), String(count), `${value > 0 ? "+" : "−"}${Math.abs(value).toPrecision(3)}`, ...of];
    };
    const heads = ["first row", "such rows", "influence", ...shown.map((v) => names[v])];
    const up = order.slice(0, MOST_BEHIND).filter(({ value }) => value > 0);
    const down = order.slice(-MOST_BEHIND).reverse().filter(({ value }) => value < 0);
    return [
      this.table("Rows that make it more probable", heads, up.map(line), [0, 1, 2]),
      this.table("Rows that make it less probable", heads, down.map(line), [0, 1, 2]),
    ];
  }

  configurationTable(cells) {
    const { names, states } = this.network;
    const rows = this.why.configurations(cells).slice(0, MOST_BEHIND);
    const line = ({ child, parents, states: of, rows: n, weight }) => [
      names[child],
      parents.map((v, at) => `${names[v]} = ${states[v][of[at]]}`).join(", ") || "(all rows)",
      String(Number(n.toFixed(1))),
      weight.toPrecision(3),
    ];
    return this.table("What it rests on", ["distribution of", "among", "rows", "weight"], rows.map(line), [2, 3]);
  }

  /** Say how probable it is, in words that are read out. */
  say(logEvidence, explained) {
    const impossible = logEvidence === -Infinity;
    this.status.classList.toggle("impossible", impossible);
    let words = "Nothing is known yet.";
    if (impossible) words = "What is known has probability 0 in this network: take something back.";
    else if ([...this.seen.keys()].some((v) => this.isNumber(v))) words = densityText(logEvidence);
    else if (this.seen.size) words = `Probability of what is seen: ${probabilityText(logEvidence)}.`;
    else if (this.done.size) words = "Nothing is seen; what is set from outside is certain.";
    if (explained && explained.states) {
      const share = probabilityText(explained.logProbability - logEvidence);
      const what = this.network.blocks ? "Most probable labels together" : "Most probable explanation";
      words += ` ${what} (●): ${share}.`;
    }
    this.status.textContent = words;
  }
}

const holder = document.getElementById("network");
const written = holder && JSON.parse(holder.textContent);
if (written && written.factors) new Page(written);
