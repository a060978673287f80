"use strict";
/* The rows behind an answer (fishernet.explain): by how much one more row would change the logarithm of a probability,
 * from the clique tree's own tables. `network.behind` has the weight of every configuration of each conditional. */

/** Return the numbers that a text in base64 holds, four bytes each. */
function codesOf(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Uint32Array.from({ length: bytes.length / 4 }, (_, at) => view.getUint32(4 * at, true));
}

class Why {
  constructor(tree, network) {
    this.tree = tree;
    this.cardinalities = tree.cardinalities;
    this.conditionals = network.factors.map((factor, number) => {
      const clique = tree.cliques[network.homes[number]];
      return {
        child: factor.child,
        scope: factor.scope,
        home: network.homes[number],
        cells: projection(clique.scope, factor.scope, tree.cardinalities),
        table: decoded(factor.table),
        weights: decoded(network.behind.weights[number]),
        rows: decoded(network.behind.rows[number]),
      };
    });
    const { kinds } = network.behind;
    this.kinds = kinds && { ...kinds, states: kinds.states.map(codesOf) };
  }

  /**
   * Return by how much one more row in each cell of every conditional changes log P(v = state | what is known), null
   * where that is impossible, or known. `before` is what the tree answers to what is known.
   */
  cells(before, seen, done, v, state) {
    if (!before.tables || seen.has(v) || done.has(v)) return null;
    const after = this.tree.propagate(new Map([...seen, [v, state]]), done);
    if (!after.tables) return null;
    return this.conditionals.map(({ child, home, cells, table, weights }) => {
      const changes = new Float64Array(table.length);
      if (done.has(child)) return changes;
      const r = this.cardinalities[child];
      for (let at = 0; at < cells.length; at++) changes[cells[at]] += after.tables[home][at] - before.tables[home][at];
      for (let first = 0; first < table.length; first += r) {
        let sum = 0;
        for (let cell = first; cell < first + r; cell++) sum += changes[cell];
        for (let cell = first; cell < first + r; cell++) {
          const pull = weights[first / r] * table[cell];
          changes[cell] = pull > 0 ? (changes[cell] - table[cell] * sum) / pull : 0;
        }
      }
      return changes;
    });
  }

  /** Return the influence of each kind of row. */
  ofKinds(cells) {
    return Float64Array.from(this.kinds.first, (_, kind) => {
      let sum = 0;
      this.conditionals.forEach(({ scope }, number) => {
        let cell = 0;
        for (const v of scope) cell = cell * this.cardinalities[v] + this.kinds.states[v][kind];
        sum += cells[number][cell];
      });
      return sum;
    });
  }

  /**
   * Return the configurations on which an answer rests, the heaviest first: `child`, `parents` and their `states`, the
   * `rows` that have it, and its `weight`: what all its rows together move, in absolute value.
   */
  configurations(cells) {
    const found = [];
    this.conditionals.forEach(({ child, scope, table, weights, rows }, number) => {
      const r = this.cardinalities[child];
      for (let first = 0; first < table.length; first += r) {
        let weight = 0;
        for (let cell = first; cell < first + r; cell++) {
          weight += Math.abs(cells[number][cell]) * table[cell] * weights[first / r];
        }
        if (!(weight > 1e-12)) continue;
        const states = [];
        let rest = first / r;
        for (const v of scope.slice(0, -1).reverse()) {
          states.unshift(rest % this.cardinalities[v]);
          rest = Math.floor(rest / this.cardinalities[v]);
        }
        found.push({ child, parents: scope.slice(0, -1), states, rows: rows[first / r], weight });
      }
    });
    return found.sort((a, b) => b.weight - a.weight);
  }
}
