/* The card of a number: its distribution in figures and as a picture, and a field in which what is known of it is typed.
 * Dates and times are numbers that count days or seconds; they are typed and shown as dates and times. */

const PICTURE = { width: 200, height: 44 };
const PLACES = 60; // of a picture where densities are computed, from end to end and again where most of it is
const PEAKS = 12; // components whose peaks are looked at, too
const RIM = 0.6; // of the way from the median to where 95 % are, that a picture goes on: to 99.6 % where that is normal
const DIGITS = 5; // of a number that is shown
const LAST = 86399; // seconds of a day, beyond which there is no time of that day
const FIELDS = { days: ["date", 86400000], seconds: ["datetime-local", 1000], time: ["time", 1000] };

/** Return a number as people read it, with a few digits; dates and times by their unit. */
function shortText(x, unit) {
  if (!Number.isFinite(x)) return "–";
  return unit ? wholeText(Math.round(x), unit).replace("T", " ") : String(Number(x.toPrecision(DIGITS)));
}

/** Return a length of numbers: of dates in days, of times in seconds. */
function lengthText(x, unit) {
  return shortText(x) + (unit === "days" ? " days" : unit ? " s" : "");
}

/** Return a number with all its digits; dates and times, in their unit, as ISO 8601 has them. */
function wholeText(x, unit) {
  if (!unit) return String(x);
  const [kind, milliseconds] = FIELDS[unit];
  const within = unit === "time" ? Math.min(Math.max(x, 0), LAST) : unit === "days" ? Math.round(x) : x;
  const moment = new Date(Math.round(within * milliseconds));
  if (Number.isNaN(moment.getTime())) return String(x);
  const [day, time] = moment.toISOString().split("T");
  const clock = time.replace(/(\.0+)?Z$/, "");
  return { date: day, "datetime-local": `${day}T${clock}`, time: clock }[kind];
}

/** Return the number that a text means, NaN where it means none: what `wholeText` writes, or a number. */
function numberOf(text, unit) {
  if (text.trim() === "") return NaN;
  if (!unit || Number.isFinite(Number(text))) return Number(text);
  const words = text.trim().replace(" ", "T");
  const whole = { days: `${words}T00:00Z`, seconds: `${words}Z`, time: `1970-01-01T${words}Z` }[unit];
  return Date.parse(whole) / FIELDS[unit][1];
}

/** Say how likely what is seen is, where numbers are among it: these have a density and no probability. */
function densityText(log) {
  return `Log-density of what is seen: ${log.toFixed(3).replace("-", "−")}.`;
}

class NumberCard {
  constructor(page, v) {
    this.page = page;
    this.v = v;
    this.unit = page.network.units[v];
    Object.assign(this, page.frame(v));
    this.prior = this.described(page.prior.mixtures[v]);
    this.figures = element("p", { class: "figures" });
    this.picture = svgElement("svg", {
      viewBox: `0 0 ${PICTURE.width} ${PICTURE.height}`, preserveAspectRatio: "none", "aria-hidden": "true",
    });
    this.shape = svgElement("path", { class: "shape" });
    this.outline = svgElement("path", { class: "outline" });
    this.mark = svgElement("line", { class: "mark", y1: 0, y2: PICTURE.height });
    this.picture.append(this.shape, this.outline, this.mark);
    this.ends = element("p", { class: "ends", "aria-hidden": "true" }, element("span"), element("span"));
    this.first = this.field();
    this.box.classList.add("number");
    this.box.append(this.figures, this.picture, this.ends, this.first);
  }

  /** Return the field in which a number is typed; an empty one takes it back. */
  field() {
    const { names } = this.page.network;
    const kind = this.unit ? FIELDS[this.unit][0] : "number";
    const field = element("input", { type: kind, step: "any", placeholder: "type a number" });
    field.setAttribute("aria-label", `${names[this.v]}: what it is known to be`);
    field.addEventListener("change", () => {
      const x = numberOf(field.value, this.unit);
      if (Number.isFinite(x)) this.page.choose(this.v, x, false);
      else this.page.forget(this.v);
    });
    return field;
  }

  /** Return a mixture with what is said of it, and where its picture begins and ends. */
  described(mixture) {
    const said = mixture.summary();
    const { forward, inverse } = mixture.scale;
    const [low, middle, high] = [said.low, said.median, said.high].map(forward);
    return { mixture, ...said, from: inverse(low - RIM * (middle - low)), to: inverse(high + RIM * (high - middle)) };
  }

  /** Show the distribution of a number that is not known, or the number that is; null where all is impossible. */
  update(mixture) {
    const how = this.page.how(this.v);
    const known = this.page.known(this.v);
    this.page.updateFrame(this, how, mixture || how);
    this.box.classList.add("number");
    this.now = mixture ? this.described(mixture) : null;
    this.known = known;
    this.said = how ? shortText(known, this.unit) : this.now ? this.inWords(this.now) : "";
    this.figures.replaceChildren(...(this.now ? this.terms(this.now) : [this.said || "–"]));
    this.first.value = known === undefined ? "" : wholeText(known, this.unit);
    this.draw();
  }

  inWords({ mean, low, high }) {
    return `mean ${shortText(mean, this.unit)}, 90 % from ${shortText(low, this.unit)} to ${shortText(high, this.unit)}`;
  }

  terms({ mean, sd, median, low, high }) {
    const said = [
      ["mean", shortText(mean, this.unit), mean],
      ["sd", lengthText(sd, this.unit), sd],
      ["median", shortText(median, this.unit), median],
      ["90 %", `${shortText(low, this.unit)} to ${shortText(high, this.unit)}`, `${low} ${high}`],
    ];
    return said.map(([name, words, title]) => element("span", { title: String(title) }, element("i", {}, name), ` ${words} `));
  }

  /** Return where the picture begins and ends: it holds what was expected before, and what is now. */
  range() {
    const ends = [this.prior.from, this.prior.to];
    if (this.now) ends.push(this.now.from, this.now.to);
    if (this.known !== undefined) ends.push(this.known);
    const finite = ends.filter(Number.isFinite);
    const [from, to] = [Math.min(...finite), Math.max(...finite)];
    return from < to ? [from, to] : [from - 1, from + 1];
  }

  draw() {
    const [from, to] = this.range();
    const before = this.points(this.prior, from, to);
    const now = this.now ? this.points(this.now, from, to) : [];
    const top = Math.max(...before.map(([, y]) => y), ...now.map(([, y]) => y));
    const path = (points) => {
      const places = points.map(([x, y]) => {
        const across = (PICTURE.width * (x - from)) / (to - from);
        return `${across.toFixed(2)} ${(PICTURE.height * (1 - (0.96 * y) / top)).toFixed(2)}`;
      });
      return places.length && top > 0 ? `M${places.join("L")}` : "";
    };
    const line = path(now);
    this.shape.setAttribute("d", line && `${line}L${PICTURE.width} ${PICTURE.height}L0 ${PICTURE.height}Z`);
    this.outline.setAttribute("d", path(before));
    const at = (PICTURE.width * (this.known - from)) / (to - from);
    this.mark.setAttribute("visibility", this.known === undefined ? "hidden" : "visible");
    for (const end of ["x1", "x2"]) this.mark.setAttribute(end, Number.isFinite(at) ? at.toFixed(2) : "0");
    const [first, last] = this.ends.children;
    first.textContent = shortText(from, this.unit);
    last.textContent = shortText(to, this.unit);
  }

  /** Return where a picture's line goes: numbers from one end to the other, with their densities. */
  points({ mixture, from, to }, first, last) {
    const { weights, means, sds, scale } = mixture;
    const places = [];
    for (let at = 0; at <= PLACES; at++) {
      places.push(first + ((last - first) * at) / PLACES, from + ((to - from) * at) / PLACES);
    }
    const order = Array.from(weights, (_, k) => k).sort((a, b) => weights[b] - weights[a]);
    for (const k of order.slice(0, PEAKS)) {
      for (const away of [-2, -1, 0, 1, 2]) places.push(scale.inverse(means[k] + away * sds[k]));
    }
    const within = places.filter((x) => x >= first && x <= last).sort((a, b) => a - b);
    return within.map((x) => [x, mixture.density(x)]).filter(([, y]) => Number.isFinite(y));
  }

  /** Return what a node of the graph shows: where 90 % are, and the median, or the number that is known. */
  bar(width) {
    const [from, to] = this.range();
    const place = (x) => Math.min(1, Math.max(0, (x - from) / (to - from))) * width;
    const pieces = [svgElement("rect", { class: "track", x: 0, width: width.toFixed(2), height: 5 })];
    const add = (name, x, end) => {
      const wide = Math.max(2, end - x);
      pieces.push(svgElement("rect", { class: name, x: Math.min(x, width - wide).toFixed(2), width: wide.toFixed(2), height: 5 }));
    };
    if (this.now) add("s0", place(this.now.low), place(this.now.high));
    const middle = this.known !== undefined ? this.known : this.now ? this.now.median : NaN;
    if (Number.isFinite(middle)) add("middle", place(middle) - 1, place(middle) + 1);
    return pieces;
  }
}
