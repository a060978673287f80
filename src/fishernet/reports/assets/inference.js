"use strict";
/* Exact inference in a clique tree (Lauritzen and Spiegelhalter, 1988), without any page around it.
 *
 * A network comes as plain arrays: `cardinalities`; `factors`, each with a `scope` (positions of variables, the last one
 * fastest), a `table` (Float64Array) and a `child` (the variable whose conditional it is, -1 for a potential); and a tree:
 * `cliques` (ascending positions), `parents` (a clique's neighbour towards the root, which comes before it; -1 for none)
 * and `homes` (the clique that takes each factor).
 *
 * Messages towards the root are logarithms, so that evidence of probability 1e-300 and less is told apart from what is
 * impossible; what comes back are shares of the whole.
 * What is seen (`seen`) and what is set from outside (`done`) are Maps from a variable to a state. A variable that is set
 * loses its conditional: the tree of the whole graph is still one of the graph without the arcs into it.
 * A question may bring factors of its own (`more`), each with a `home`, the `cells` of that clique and their `logs`.
 * Variables in no clique are none of the tree's: they have no marginal (null), and the state -1.
 */

const ROUNDING = 1e-11; // logarithms that differ by less are equal

/** Return for every cell over `scope` the cell over `part` of it that it falls into. */
function projection(scope, part, cardinalities) {
  const size = scope.reduce((product, v) => product * cardinalities[v], 1);
  const strides = new Map();
  let stride = 1;
  for (const v of [...part].reverse()) {
    strides.set(v, stride);
    stride *= cardinalities[v];
  }
  const cells = new Int32Array(size);
  const digits = scope.map(() => 0);
  const steps = scope.map((v) => strides.get(v) || 0);
  let cell = 0;
  for (let at = 0; at < size; at++) {
    cells[at] = cell;
    for (let axis = scope.length - 1; axis >= 0; axis--) {
      cell += steps[axis];
      if (++digits[axis] < cardinalities[scope[axis]]) break;
      cell -= steps[axis] * digits[axis];
      digits[axis] = 0;
    }
  }
  return cells;
}

/**
 * Return log(sum(exp(values))) over the cells that fall into each of `size` places, and leave in `values` the share that
 * each cell has of its place: from the logarithms of a table they become its conditional distribution given a part of it.
 */
function conditioned(values, places, size) {
  const sums = new Float64Array(size);
  const top = largest(values, places, size);
  for (let at = 0; at < values.length; at++) {
    const place = places[at];
    values[at] = values[at] === -Infinity ? 0 : Math.exp(values[at] - top[place]);
    sums[place] += values[at];
  }
  for (let at = 0; at < values.length; at++) if (values[at] > 0) values[at] /= sums[places[at]];
  for (let place = 0; place < size; place++) if (sums[place] > 0) top[place] += Math.log(sums[place]);
  return top;
}

/** Return the largest value of the cells that fall into each of `size` places. */
function largest(values, places, size) {
  const top = new Float64Array(size).fill(-Infinity);
  for (let at = 0; at < values.length; at++) {
    if (values[at] > top[places[at]]) top[places[at]] = values[at];
  }
  return top;
}

/** Return the shares that the cells which fall into each of `size` places have of all. */
function sharesOf(table, places, size) {
  const sums = new Float64Array(size);
  for (let at = 0; at < table.length; at++) sums[places[at]] += table[at];
  const whole = sums.reduce((sum, mass) => sum + mass, 0);
  return sums.map((mass) => mass / whole);
}

class CliqueTree {
  constructor(network) {
    const { cardinalities, factors, cliques, parents, homes } = network;
    this.cardinalities = cardinalities;
    this.cliques = cliques.map((scope, number) => {
      const up = parents[number] < 0 ? [] : scope.filter((v) => cliques[parents[number]].includes(v));
      return {
        scope,
        parent: parents[number],
        size: scope.reduce((product, v) => product * cardinalities[v], 1),
        separator: up.reduce((product, v) => product * cardinalities[v], 1),
        toSeparator: projection(scope, up, cardinalities),
        fromParent: parents[number] < 0 ? null : projection(cliques[parents[number]], up, cardinalities),
        factors: [],
      };
    });
    factors.forEach((factor, number) => {
      const clique = this.cliques[homes[number]];
      const cells = projection(clique.scope, factor.scope, cardinalities);
      clique.factors.push({ child: factor.child, cells, logs: factor.table.map(Math.log) });
    });
    this.homes = cardinalities.map(() => -1); // the smallest clique that holds each variable
    this.cliques.forEach(({ scope, size }, number) => {
      for (const v of scope) {
        if (this.homes[v] < 0 || size < this.cliques[this.homes[v]].size) this.homes[v] = number;
      }
    });
    this.toVariable = this.homes.map((home, v) => (home < 0 ? null : projection(cliques[home], [v], cardinalities)));
    this.logWhole = this.total(this.collected(new Map(), new Map(), conditioned)); // 0 for conditionals, the log of the partition function for potentials
  }

  /** Return every clique's table: the product of its factors, and 0 (its log) where it disagrees with what is known. */
  potentials(seen, done, more) {
    const tables = this.cliques.map((clique) => {
      const table = new Float64Array(clique.size);
      let stride = clique.size;
      for (const v of clique.scope) {
        const block = stride;
        stride /= this.cardinalities[v];
        const state = done.has(v) ? done.get(v) : seen.get(v);
        if (state === undefined) continue;
        for (let first = 0; first < table.length; first += block) {
          table.fill(-Infinity, first, first + state * stride);
          table.fill(-Infinity, first + (state + 1) * stride, first + block);
        }
      }
      for (const { child, cells, logs } of clique.factors) {
        if (done.has(child)) continue;
        for (let at = 0; at < table.length; at++) table[at] += logs[cells[at]];
      }
      return table;
    });
    for (const { home, cells, logs } of more) {
      for (let at = 0; at < cells.length; at++) tables[home][at] += logs[cells[at]];
    }
    return tables;
  }

  /** Send messages from the leaves to the roots; return the tables as `reduce` leaves them, and the roots' own messages. */
  collected(seen, done, reduce, more = []) {
    const tables = this.potentials(seen, done, more);
    const ofRoots = [];
    for (let number = this.cliques.length - 1; number >= 0; number--) {
      const { parent, separator, toSeparator, fromParent } = this.cliques[number];
      const message = reduce(tables[number], toSeparator, separator);
      if (parent < 0) ofRoots.push(message[0]);
      const above = parent < 0 ? [] : tables[parent];
      for (let at = 0; at < above.length; at++) above[at] += message[fromParent[at]];
    }
    return { tables, ofRoots };
  }

  /** Return the logarithm of the sum (or of the maximum) over all states. */
  total({ ofRoots }) {
    return ofRoots.reduce((sum, log) => sum + log, 0);
  }

  /** Whether two things that are known contradict each other: a variable that is set has the state that it was set to. */
  contradicts(seen, done) {
    return [...seen].some(([v, state]) => done.has(v) && done.get(v) !== state);
  }

  /**
   * Return `logEvidence`, the log-probability of what is seen, `marginals`, one Float64Array a variable, and `tables`,
   * the joint distribution of every clique.
   *
   * Where what is seen is impossible, `logEvidence` is -Infinity, and the others are null.
   */
  propagate(seen, done = new Map(), more = []) {
    const found = this.collected(seen, done, conditioned, more);
    const logEvidence = this.contradicts(seen, done) ? -Infinity : this.total(found) - this.logWhole;
    if (!(logEvidence > -Infinity)) return { logEvidence: -Infinity, marginals: null, tables: null };
    const { tables } = found; // of each clique given what it shares with its parent; from the root on they become joint
    this.cliques.forEach(({ parent, separator, toSeparator, fromParent }, number) => {
      if (parent < 0) return;
      const [table, above] = [tables[number], tables[parent]];
      const shares = new Float64Array(separator);
      for (let at = 0; at < above.length; at++) shares[fromParent[at]] += above[at];
      for (let at = 0; at < table.length; at++) table[at] *= shares[toSeparator[at]];
    });
    const marginals = this.homes.map((home, v) => (home < 0 ? null : this.marginal(tables[home], v)));
    return { logEvidence, marginals, tables };
  }

  marginal(table, v) {
    return sharesOf(table, this.toVariable[v], this.cardinalities[v]);
  }

  /**
   * Return `states`, the most probable states of all variables together given what is known, and `logProbability`, that
   * of all of them together. Of states that are equally probable but for rounding the first are taken. `states` is null
   * where what is seen is impossible.
   */
  explain(seen, done = new Map(), more = []) {
    const found = this.collected(seen, done, largest, more);
    const logProbability = this.contradicts(seen, done) ? -Infinity : this.total(found) - this.logWhole;
    if (!(logProbability > -Infinity)) return { logProbability: -Infinity, states: null };
    const states = this.cardinalities.map(() => -1);
    this.cliques.forEach(({ scope }, number) => {
      const cell = this.bestCell(found.tables[number], scope, states);
      let stride = found.tables[number].length;
      for (const v of scope) {
        stride /= this.cardinalities[v];
        states[v] = Math.floor(cell / stride) % this.cardinalities[v];
      }
    });
    return { logProbability, states };
  }

  /** Return the first of the best cells among those that agree with the states that are settled. */
  bestCell(table, scope, states) {
    const settled = [];
    let stride = table.length;
    for (const v of scope) {
      stride /= this.cardinalities[v];
      if (states[v] >= 0) settled.push([stride, this.cardinalities[v], states[v]]);
    }
    let best = -1;
    for (let cell = 0; cell < table.length; cell++) {
      if (table[cell] === -Infinity) continue;
      if (!settled.every(([step, r, state]) => Math.floor(cell / step) % r === state)) continue;
      if (best < 0 || table[cell] > table[best] + ROUNDING) best = cell;
    }
    return best;
  }
}

/** Return the numbers that a text in base64 holds, eight bytes each, the least significant first. */
function decoded(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float64Array.from({ length: bytes.length / 8 }, (_, at) => view.getFloat64(8 * at, true));
}

/** Return the clique tree of a network as it is written in the page. */
function treeOf(data) {
  const factors = data.factors.map((factor) => ({ ...factor, table: decoded(factor.table) }));
  return new CliqueTree({ ...data, cardinalities: data.states.map((states) => states.length), factors });
}
