"use strict";
/* Exact inference in networks of labels and numbers by strong elimination (Lauritzen, 1992), without any page around it;
 * it stands on inference.js.
 *
 * Labels have parents with labels alone. A number is intercept + coefficients' numbers + sd e, with e standard normal,
 * in each configuration of its parents' labels; where it has a scale, all that is meant on it. Numbers that arcs join are
 * a block: `numbers` (parents before children), each with its position `v`, its `labels` and `parents` and its `table`
 * (for each configuration of the labels the intercept, the coefficients and the sd); a `scope`, all labels on which one
 * of them depends; and a `home`, a clique that holds these (-1 where there are none).
 *
 * In a configuration of its scope a block is jointly normal. What is seen of it has a density there, a factor of the
 * labels' clique tree; what is not is, given all, a mixture of normals with the shares that the tree gives. Every number
 * is kept as a sum of noises. A number that is seen settles one of them: a reflection turns the noises so that it is the
 * last one alone, and no variance is ever a difference.
 */

const LOG_ROOT = 0.5 * Math.log(2 * Math.PI);
const TAIL = 3; // from where on a normal tail is a continued fraction
const NARROW = 0.05; // of a width times the density's slope, up to which a mass is a series
const FAR = 12; // standard deviations, beyond which nothing is looked for
const STEPS = 200; // of a search for a quantile, at most
const ROUNDED = 2e-16; // what rounding leaves of a probability

// ------------------------------------------------------------------------------------------------------------ scales

/** Return ((1 + u)^power - 1) / power, or its limit, of numbers from 0 on; and what undoes it. */
const boxcox = (u, power) => (power ? Math.expm1(power * Math.log1p(u)) / power : Math.log1p(u));
const unboxcox = (v, power) => (power ? Math.expm1(Math.log1p(power * v) / power) : Math.expm1(v));

/** Monotone maps on which regressions are, each with its inverse and the logarithm of its slope. */
const SCALES = {
  none: () => ({
    forward: (x) => x,
    inverse: (y) => y,
    logSlope: () => 0,
    moments: (mean, sd) => ({ mean, variance: sd * sd }),
  }),
  log: (shift, least) => ({
    forward: (x) => (x + shift < least ? Math.log(least) + (x + shift - least) / least : Math.log(x + shift)),
    inverse: (y) => (y < Math.log(least) ? least * (1 + y - Math.log(least)) : Math.exp(y)) - shift,
    logSlope: (x) => -Math.log(Math.max(x + shift, least)),
  }),
  power: (power, centre, width) => ({
    forward: (x) => (x < centre ? -boxcox((centre - x) / width, 2 - power) : boxcox((x - centre) / width, power)),
    inverse: (y) => centre + width * (y < 0 ? -unboxcox(-y, 2 - power) : unboxcox(y, power)),
    logSlope: (x) => (x < centre ? 1 - power : power - 1) * Math.log1p(Math.abs(x - centre) / width) - Math.log(width),
  }),
  arcsinh: (centre, width) => ({
    forward: (x) => Math.asinh((x - centre) / width),
    inverse: (y) => centre + width * Math.sinh(y),
    logSlope: (x) => -Math.log(Math.hypot(width, x - centre)),
  }),
  quantiles: (...knots) => {
    const last = knots.length / 2 - 1;
    const [at, to] = [knots.slice(0, last + 1), knots.slice(last + 1)];
    const slopes = at.slice(1).map((x, k) => (to[k + 1] - to[k]) / (x - at[k]));
    const [first, end] = [slopes[0], slopes[last - 1]];
    const piece = (ends, x) => Math.max(0, ends.slice(0, last).findLastIndex((from) => x >= from));
    return {
      forward(x) {
        if (x < at[0]) return to[0] - Math.log1p(first * (at[0] - x));
        if (x > at[last]) return to[last] + Math.log1p(end * (x - at[last]));
        return to[piece(at, x)] + slopes[piece(at, x)] * (x - at[piece(at, x)]);
      },
      inverse(y) {
        if (y < to[0]) return at[0] - Math.expm1(to[0] - y) / first;
        if (y > to[last]) return at[last] + Math.expm1(y - to[last]) / end;
        return at[piece(to, y)] + (y - to[piece(to, y)]) / slopes[piece(to, y)];
      },
      moments(mean, sd) {
        const centre = at[(last + 1) >> 1];
        const below = (z) => (z > 0 ? 1 - upperTail(z) : upperTail(-z));
        const density = (z) => Math.exp(-0.5 * z * z - LOG_ROOT);
        let [first, square] = [0, 0];
        for (let k = 0; k < last; k++) {
          const [a, b] = [(to[k] - mean) / sd, (to[k + 1] - mean) / sd];
          const [start, width] = [at[k] - centre + (mean - to[k]) / slopes[k], sd / slopes[k]];
          const [mass, once] = [below(b) - below(a), density(a) - density(b)];
          first += start * mass + width * once;
          const twice = mass + a * density(a) - b * density(b);
          square += start * start * mass + 2 * start * width * once + width * width * twice;
        }
        for (const [sign, k, slope] of [[-1, 0, slopes[0]], [1, last, end]]) {
          const [away, start] = [sign * (mean - to[k]), sign * (at[k] - centre) - 1 / slope];
          const once = Math.exp(away + (sd * sd) / 2) * below(away / sd + sd) / slope;
          const twice = Math.exp(2 * away + 2 * sd * sd) * below(away / sd + 2 * sd) / (slope * slope);
          first += sign * (start * below(away / sd) + once);
          square += start * start * below(away / sd) + 2 * start * once + twice;
        }
        return { mean: centre + first, variance: Math.max(0, square - first * first) };
      },
      logSlope(x) {
        const beyond = Math.max(first * (at[0] - x), end * (x - at[last]), 0);
        return Math.log(slopes[piece(at, x)]) - Math.log1p(beyond);
      },
    };
  },
};

// ---------------------------------------------------------------------------------------------------------- mixtures

/** Return the probability that a standard normal number is below z. */
function normalBelow(z) {
  if (Math.abs(z) >= TAIL) {
    const tail = upperTail(Math.abs(z));
    return z < 0 ? tail : 1 - tail;
  }
  let term = z; // z + z^3 / 3 + z^5 / (3 5) + ...
  let sum = z;
  for (let k = 3; Math.abs(term) > 1e-17 * Math.abs(sum); k += 2) {
    term *= (z * z) / k;
    sum += term;
  }
  return 0.5 + sum * Math.exp(-0.5 * z * z - LOG_ROOT);
}

/** Return the probability that a standard normal number is above z, which is large. */
const upperTail = (z) => Math.exp(logUpperTail(z));

/** Return its logarithm, of any z from 0 on. */
function logUpperTail(z) {
  if (z < TAIL) return Math.log(1 - normalBelow(z));
  return -0.5 * z * z - LOG_ROOT - Math.log(hazard(z));
}

/** Return the density at z, which is large, over the probability above it: z + 1 / (z + 2 / (z + ...)). */
function hazard(z) {
  let below = z;
  for (let k = Math.ceil(400 / (z * z)) + 20; k > 0; k--) below = z + k / below;
  return below;
}

/** Return the logarithm of the probability that a standard normal number is at most half a width from a middle. */
function logNormalMass(middle, width) {
  const z = Math.abs(middle);
  if (width * Math.max(z, 1) < NARROW) {
    const square = z * z;
    const half = (width * width) / 24;
    const bend = half * (square - 1) + half * half * 0.3 * (square * square - 6 * square + 3);
    return -0.5 * square - LOG_ROOT + Math.log(width) + Math.log1p(bend);
  }
  const low = z - width / 2;
  if (low <= 0) return Math.log(normalBelow(z + width / 2) - normalBelow(low));
  const above = logUpperTail(low);
  if (above === -Infinity) return above;
  const high = z + width / 2; // far out the squares of both ends would cancel
  const drop = low < TAIL ? above - logUpperTail(high) : z * width + Math.log(hazard(high) / hazard(low));
  return above + Math.log(-Math.expm1(-drop));
}

/** A mixture of normals on a scale, whose answers are in the unit of the number. */
class Mixture {
  constructor(weights, means, sds, scale, hermite) {
    Object.assign(this, { weights, means, sds, scale, hermite });
  }

  /** Return the sum over components of their weight times a function of their mean and standard deviation. */
  sum(of) {
    let total = 0;
    for (let k = 0; k < this.weights.length; k++) total += this.weights[k] * of(this.means[k], this.sds[k], k);
    return total;
  }

  /** Return the mean of a function of a number that is normal on the scale; the rule of Gauss and Hermite has points. */
  expected(mean, sd, of) {
    const { points, weights } = this.hermite;
    let total = 0;
    for (let at = 0; at < points.length; at++) total += weights[at] * of(this.scale.inverse(mean + points[at] * sd));
    return total;
  }

  /** Return the mean and the variance of a number that is normal on the scale. */
  momentsOf(mean, sd) {
    if (this.scale.moments) return this.scale.moments(mean, sd);
    const centre = this.expected(mean, sd, (x) => x);
    return { mean: centre, variance: this.expected(mean, sd, (x) => (x - centre) ** 2) };
  }

  moments() {
    const each = Array.from(this.means, (mean, k) => this.momentsOf(mean, this.sds[k]));
    const mean = this.sum((_, __, k) => each[k].mean);
    const variance = this.sum((_, __, k) => each[k].variance + (each[k].mean - mean) ** 2);
    return { mean, sd: Math.sqrt(variance) };
  }

  /** Return the density at a place on the scale, per unit there. */
  densityOnScale(y) {
    return this.sum((mean, sd) => Math.exp(-0.5 * ((y - mean) / sd) ** 2 - LOG_ROOT) / sd);
  }

  /** Return the density at a number, per its unit. */
  density(x) {
    return this.densityOnScale(this.scale.forward(x)) * Math.exp(this.scale.logSlope(x));
  }

  /** Return the number below which it is with a probability: by Newton's steps, halved where they leave the interval. */
  quantile(q) {
    let low = Infinity;
    let high = -Infinity;
    this.sum((mean, sd) => {
      low = Math.min(low, mean - FAR * sd);
      high = Math.max(high, mean + FAR * sd);
    });
    let y = low + (high - low) / 2;
    for (let step = 0; step < STEPS && low < high; step++) {
      const off = this.sum((mean, sd) => normalBelow((y - mean) / sd)) - q;
      const next = y - off / this.densityOnScale(y);
      if (Math.abs(off) < ROUNDED || Math.abs(next - y) <= ROUNDED * Math.abs(y)) break;
      if (off < 0) low = y;
      else high = y;
      y = low < next && next < high ? next : low + (high - low) / 2;
    }
    return this.scale.inverse(y);
  }

  /** Return what a page says: the mean and the standard deviation, the median, and where 90 % are. */
  summary() {
    return { ...this.moments(), low: this.quantile(0.05), median: this.quantile(0.5), high: this.quantile(0.95) };
  }
}

/** Return the components that have some weight; equal ones, of labels that tell nothing of the number, are one. */
function merged(weights, means, sds) {
  const places = new Map();
  const found = { weights: [], means: [], sds: [] };
  for (let at = 0; at < weights.length; at++) {
    if (!(weights[at] > 0)) continue;
    if (!places.has(means[at])) places.set(means[at], new Map());
    const same = places.get(means[at]);
    if (!same.has(sds[at])) {
      same.set(sds[at], found.weights.length);
      found.weights.push(0);
      found.means.push(means[at]);
      found.sds.push(sds[at]);
    }
    found.weights[same.get(sds[at])] += weights[at];
  }
  return found;
}

// ------------------------------------------------------------------------------------------------------------ blocks

/** Numbers that arcs join, in every configuration of the labels on which they depend. */
class Block {
  constructor({ scope, home, numbers }, cardinalities) {
    Object.assign(this, { scope, home, cardinalities });
    const places = new Map(numbers.map(({ v }, at) => [v, at]));
    this.numbers = numbers.map(({ v, labels, parents, table }) => {
      const cells = projection(scope, labels, cardinalities);
      return { v, cells, parents: parents.map((parent) => places.get(parent)), table, width: parents.length + 2 };
    });
    this.size = scope.reduce((product, v) => product * cardinalities[v], 1);
    this.means = new Float64Array(numbers.length);
    this.noises = numbers.map(() => new Float64Array(numbers.length)); // how much each number has of each noise
  }

  /**
   * Return `logs`, the log-density of what is seen in every configuration, and `mean` and `sd` of each number there.
   * Configurations that disagree with the labels that are known stay empty. Numbers are on their scales: a `value`, and
   * of rounded ones the `middle` and the `width` of the interval from which they come, of which it is the mass.
   */
  given(seen, done, labels) {
    const logs = new Float64Array(this.size);
    const mean = this.numbers.map(() => new Float64Array(this.size));
    const sd = this.numbers.map(() => new Float64Array(this.size));
    const agrees = this.agreement(labels);
    for (let cell = 0; cell < this.size; cell++) {
      if (!agrees(cell)) continue;
      logs[cell] = this.compose(cell, seen, done);
      this.numbers.forEach((_, at) => {
        mean[at][cell] = this.means[at];
        sd[at][cell] = norm(this.noises[at], this.noises.length);
      });
    }
    return { logs, mean, sd };
  }

  agreement(labels) {
    const known = [];
    let stride = this.size;
    for (const v of this.scope) {
      stride /= this.cardinalities[v];
      if (labels.has(v)) known.push([stride, this.cardinalities[v], labels.get(v)]);
    }
    return (cell) => known.every(([step, r, state]) => Math.floor(cell / step) % r === state);
  }

  /** Make the numbers of one configuration one after the other, and return the log-density of those that are seen. */
  compose(cell, seen, done) {
    let log = 0;
    let count = 0; // of noises that are not settled
    this.numbers.forEach(({ v, cells, parents, table, width }, at) => {
      const own = this.noises[at].fill(0);
      this.means[at] = done.get(v)?.value;
      if (done.has(v)) return;
      const first = cells[cell] * width;
      this.means[at] = table[first];
      parents.forEach((parent, n) => {
        const slope = table[first + 1 + n];
        this.means[at] += slope * this.means[parent];
        for (let k = 0; k < count; k++) own[k] += slope * this.noises[parent][k];
      });
      own[count++] = table[first + width - 1];
      if (seen.has(v)) log += this.settle(at, seen.get(v), count--);
    });
    return log;
  }

  /** Turn the noises so that a number that is seen has the last of them alone, which is known then. */
  settle(at, { value, middle, width }, count) {
    const own = this.noises[at];
    const last = count - 1;
    const length = norm(own, count);
    const turned = own[last] > 0 ? -length : length; // what the number has of the last noise afterwards
    const axis = own.slice(0, count);
    axis[last] -= turned;
    const square = 2 / dot(axis, axis, count);
    const noise = (value - this.means[at]) / turned;
    const off = (middle - this.means[at]) / length;
    for (let other = 0; other < at; other++) {
      const row = this.noises[other];
      const share = square * dot(axis, row, count);
      for (let k = 0; k < count; k++) row[k] -= share * axis[k];
      this.means[other] += row[last] * noise;
      row[last] = 0;
    }
    this.means[at] = value;
    own.fill(0);
    return width ? logNormalMass(off, width / length) : -0.5 * noise * noise - Math.log(length) - LOG_ROOT;
  }
}

function dot(a, b, count) {
  let sum = 0;
  for (let k = 0; k < count; k++) sum += a[k] * b[k];
  return sum;
}

function norm(a, count) {
  return Math.sqrt(dot(a, a, count));
}

// ----------------------------------------------------------------------------------------------------------- answers

/** A network of labels and numbers, which answers as a clique tree does; `seen` and `done` hold numbers, too. */
class MixedTree {
  constructor(tree, { blocks, scales, resolutions, hermite, cardinalities }) {
    this.tree = tree;
    this.resolutions = resolutions;
    this.hermite = hermite;
    this.scales = scales.map((scale) => {
      const [kind, ...parameters] = scale || ["none"];
      return { kind, ...SCALES[kind](...parameters) };
    });
    this.blocks = blocks.map((block) => new Block(block, cardinalities));
    this.places = this.blocks.map(({ home, scope }) => {
      return home < 0 ? null : projection(tree.cliques[home].scope, scope, cardinalities);
    });
    this.numbers = new Set(this.blocks.flatMap((block) => block.numbers.map(({ v }) => v)));
  }

  /** Return what is known of labels, and of numbers, which are on their scales. */
  apart(known) {
    const labels = [...known].filter(([v]) => !this.numbers.has(v));
    const numbers = [...known].filter(([v]) => this.numbers.has(v));
    return [new Map(labels), new Map(numbers.map(([v, x]) => [v, this.onScale(v, x)]))];
  }

  /** Return a number on its scale, with the interval there from which it was rounded. */
  onScale(v, x) {
    const { kind, forward, logSlope } = this.scales[v];
    const value = forward(x);
    const unit = this.resolutions[v];
    if (!unit) return { value, middle: value, width: 0 };
    if (kind === "none") return { value, middle: x, width: unit };
    const [low, high] = [forward(x - unit / 2), forward(x + unit / 2)];
    const middle = (low + high) / 2;
    const cancelled = high - low < 1e-6 * Math.abs(middle);
    return { value, middle, width: cancelled ? unit * Math.exp(logSlope(x)) : high - low };
  }

  /** Return what is known apart, each block given it, the factors that these are, and what all configurations share. */
  asked(seen, done) {
    const [labels, numbers] = this.apart(seen);
    const [labelsDone, numbersDone] = this.apart(done);
    const found = this.blocks.map((block) => block.given(numbers, numbersDone, new Map([...labels, ...labelsDone])));
    const factors = [];
    let shared = 0;
    for (const v of numbers.keys()) {
      shared += this.resolutions[v] ? -Math.log(this.resolutions[v]) : this.scales[v].logSlope(seen.get(v));
    }
    this.blocks.forEach(({ home, numbers: members }, at) => {
      if (home < 0) shared += found[at].logs[0];
      else if (members.some(({ v }) => numbers.has(v))) {
        factors.push({ home, cells: this.places[at], logs: found[at].logs });
      }
    });
    return { labels, labelsDone, found, factors, shared };
  }

  /**
   * Return `logEvidence`, the log-probability of the labels seen and the log-density of the numbers, `marginals` (of
   * labels) and `mixtures` (of numbers that are not known), null elsewhere; both are null where it is impossible.
   */
  propagate(seen, done = new Map()) {
    const { labels, labelsDone, found, factors, shared } = this.asked(seen, done);
    const { logEvidence, marginals, tables } = this.tree.propagate(labels, labelsDone, factors);
    if (!(logEvidence + shared > -Infinity)) return { logEvidence: -Infinity, marginals: null, mixtures: null };
    const mixtures = marginals.map(() => null);
    this.blocks.forEach((block, at) => {
      const weights = block.home < 0 ? [1] : sharesOf(tables[block.home], this.places[at], block.size);
      block.numbers.forEach(({ v }, number) => {
        if (seen.has(v) || done.has(v)) return;
        const of = merged(weights, found[at].mean[number], found[at].sd[number]);
        mixtures[v] = new Mixture(of.weights, of.means, of.sds, this.scales[v], this.hermite);
      });
    });
    return { logEvidence: logEvidence + shared, marginals, mixtures };
  }

  /** Return the labels that are most probable together, numbers integrated out: `states` and `logProbability`. */
  explain(seen, done = new Map()) {
    const { labels, labelsDone, factors, shared } = this.asked(seen, done);
    const { logProbability, states } = this.tree.explain(labels, labelsDone, factors);
    return { logProbability: logProbability + shared, states };
  }
}

/** Return what answers for a network as it is written in the page. */
function answering(data) {
  const tree = treeOf(data);
  if (!data.blocks) return tree;
  const blocks = data.blocks.map((block) => {
    return { ...block, numbers: block.numbers.map((one) => ({ ...one, table: decoded(one.table) })) };
  });
  const hermite = { points: decoded(data.hermite.points), weights: decoded(data.hermite.weights) };
  return new MixedTree(tree, { ...data, blocks, hermite, cardinalities: tree.cardinalities });
}
