"""What the commands refuse: each line ends with status 1 and one sentence on stderr, and writes nothing."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from tests.cli.running import ASIA, ROWS, chain, coin, patients, refused, saved, written

REFUSED = [  # a word in capitals stands for a file
    # learn, a Bayesian network
    ("learn TABLE --score nope", "'bic'"),
    ("learn TABLE --search nope", "'hill-climb'"),
    ("learn TABLE --restarts -1", "restarts must be"),
    ("learn TABLE --candidates 0", "candidates must be"),
    ("learn TABLE --search tabu --tenure 0", "tenure must be"),
    ("learn TABLE --patience 3", "search 'order' takes no patience; searches that do: 'tabu'"),
    ("learn TABLE --search hill-climb --perturb 3", "perturb is how much a restart changes"),
    ("learn TABLE --max-cells 0", "max_cells must be a positive number or None, got 0.0 (option --max-cells)"),
    ("learn TABLE --max-cells 3 --require age,smoke", "4 cells, more than max_cells = 3"),
    ("learn TABLE --max-memory 0", "max_memory must be a number above 0, got 0"),
    ("learn TABLE --max-memory 1", "takes no max_memory"),
    ("learn TABLE --checkpoint nowhere/state", "nowhere/state: cannot be written; there is no directory"),
    ("learn TABLE --checkpoint .", "cannot be written; it is a directory"),
    ("learn TABLE --checkpoint TABLE", "this is no checkpoint of a search, or a damaged one; name another file"),
    ("learn TABLE --checkpoint TABLE", "(option --checkpoint)"),
    (
        "learn GAPS --missing em --checkpoint state",
        "take missing='node-average', or no checkpoint (option --checkpoint)",
    ),
    ("learn TABLE --binning nope", "'equal-width'"),
    ("learn TABLE --smoothing nope", "snml"),
    ("learn TABLE --smoothing -1", "from 0 on"),
    ("learn TABLE --smoothing nan", "from 0 on"),
    ("learn TABLE --ess 0", "ess must be"),
    ("learn TABLE --max-parents -1", "max_parents must be"),
    ("learn TABLE --max-seconds -1", "max_seconds must"),
    ("learn TABLE --seed -1", "seed must not"),
    ("learn TABLE --holdout 1", "below 1"),
    ("learn TABLE --holdout nan", "below 1"),
    ("learn TABLE --holdout 0.999", "no rows to learn from"),
    ("learn TABLE --require age", "PARENT,CHILD"),
    ("learn TABLE --require age,nope", "'nope'"),
    ("learn TABLE --require age,smoke --require smoke,age", "age -> smoke -> age"),
    ("learn TABLE --require age,smoke --forbid age,smoke", "both required and forbidden"),
    ("learn TABLE --tiers nope.txt", "'nope.txt'"),
    ("learn TABLE --bins x", "--bins takes"),
    ("learn TABLE --bins nope=3", "as bins asks"),
    ("learn TABLE --weights nope", "as weights asks"),
    ("learn TABLE --weights age", "weight must be a number"),
    ("learn GAPS --missing error", "'smoke' (10)"),
    ("learn GAPS --missing error", "; type --missing keep to keep them and sum them out, --missing drop to leave out"),
    ("learn GAPS --missing em --smoothing snml", "'snml' is for complete counts"),
    ("learn GAPS --missing node-average --score bdeu", "is a score of its own; other scores go with missing='em'"),
    (
        "learn GAPS --missing em --columns smoke,cough --exclude cough --score fractional",
        "--missing em is for a Bayesi",
    ),
    ("learn ABSENT -o model.txt", ".json, .bif, .xdsl, .net, "),
    ("learn ABSENT -o .", ".json, .bif, .xdsl, .net, "),
    ("learn ABSENT --plot graph.jpg", "ending in .png, .svg, .pdf"),
    ("learn ABSENT --plot nowhere/graph.svg", "no directory"),
    ("learn WIDE --search exact --score loglik --max-memory 0.001", "an exact search over 22 variables"),
    ("learn WIDE --search exact --score loglik --max-memory 0.001", "allow fewer parents or forbid arcs"),
    # learn, from files of any length, or on a cluster
    ("learn NO-FILES", "the folder holds no Parquet, Arrow or text files"),
    ("learn NO-FILES --no-scan", "a folder is always read as a stream; leave --no-scan out"),
    ("learn nope*.csv", "nope*.csv: no file matches this pattern"),
    ("learn TABLE --cache TABLE", "cache must be a folder"),
    ("learn TABLE --cache .", "holds other things; name a new or empty folder as cache (option --cache)"),
    ("learn TABLE --no-scan --cache store", "--cache keeps what a stream has encoded; it does not go with --no-scan"),
    ("learn TABLE --scheduler tcp://h:1 --scan", "--scan is for files that are read here; it does not go with --sch"),
    ("learn TABLE --scheduler tcp://h:1 --holdout 0.2", "--holdout 0.2 needs the rows, which the workers of a cluster"),
    ("learn NUMBERS --scheduler tcp://h:1 --model markov", "leave --scheduler out"),
    ("score MODEL TABLE --scheduler tcp://h:1 --terms", "--terms needs the rows, which the workers of a cluster keep"),
    ("score TABLE --scheduler tcp://h:1 --folds 2", "--folds needs the rows, which the workers of a cluster keep"),
    ("compare TABLE NO-FILES", "the folder holds no Parquet, Arrow or text files"),
    ("select MODEL NO-FILES -k 1", "the folder holds no Parquet, Arrow or text files"),
    # learn, a form of it
    (
        "learn TABLE --model tan",
        "a tree-augmented classifier needs a target, the class to be predicted (option --target)",
    ),
    ("learn TABLE --model kdb --k 2", "a k-dependence classifier needs a target"),
    ("learn TABLE --model tan --target nope", "no column 'nope'"),
    ("learn TABLE --model kdb --target age --k -1", "k must be an integer of at least 0, got -1"),
    ("learn TABLE --model tan --target age --k 2", "--k is for a k-dependence classifier (--model kdb)"),
    ("learn TABLE --model chow-liu --target age", "--target is for a naive Bayes classifier"),
    ("learn TABLE --target age", "it does not go with a Bayesian network (--model bn)"),
    ("learn TABLE --model tan --target age --score aic", "--score is for a Bayesian network (--model bn)"),
    ("learn TABLE --model tan --target age --search hill-climb", "--search is for a Bayesian network"),
    ("learn TABLE --model tan --target age --max-cells 9", "--max-cells is for a Bayesian network (--model bn)"),
    ("learn TABLE --model naive-bayes --target age --require age,cough", "--require is for a Bayesian network"),
    ("learn TABLE --model tan --target age --max-inputs 2", "--max-inputs is for a dependency network"),
    # learn, a dependency network
    ("learn TABLE --model dn --score nope", "'bic'"),
    ("learn TABLE --model dn --search nope", "'greedy', 'tabu'"),
    ("learn TABLE --model dn --search hill-climb", "'greedy', 'tabu'"),
    ("learn TABLE --model dn --smoothing nope", "'zeros', got 'nope' (option --smoothing)"),
    ("learn TABLE --model dn --smoothing -1", "from 0 on"),
    ("learn TABLE --model dn --max-inputs -1", "max_inputs must be"),
    ("learn TABLE --model dn --seed -1", "seed must not"),
    ("learn TABLE --model dn --holdout 1", "below 1"),
    ("learn TABLE --model dn --max-parents 2", "--max-parents is for a Bayesian network (--model bn)"),
    ("learn TABLE --model dn --ess 2", "--ess is for a Bayesian network (--model bn)"),
    ("learn TABLE --model dn --max-seconds 2", "--max-seconds is for a Bayesian network (--model bn)"),
    ("learn TABLE --model dn --checkpoint state", "--checkpoint is for a Bayesian network (--model bn)"),
    ("learn TABLE --model tan --checkpoint state", "--checkpoint is for a Bayesian network (--model bn)"),
    ("learn TABLE --model dn --require age,smoke", "--require is for a Bayesian network (--model bn)"),
    ("learn TABLE --model dn --forbid age,smoke", "--forbid is for a Bayesian network (--model bn)"),
    ("learn TABLE --model dn --tiers age;smoke", "--tiers is for a Bayesian network (--model bn)"),
    ("learn TABLE --max-inputs 0", "--max-inputs is for a dependency network (--model dn)"),
    ("learn ABSENT --model dn -o m.bif.gz", "only a Bayesian network is written to .bif; use .json"),
    (
        "learn GAPS --model gaussian --missing em",
        "--missing em is for a Bayesian network (--model bn); it does not go with a",
    ),
    ("learn GAPS --model markov --missing node-average", "--missing node-average is for a Bayesian network"),
    # learn, from numbers
    ("learn NUMBERS --model gaussian --rule maybe", "unknown rule 'maybe'; there are 'hc', 'and', 'or'"),
    ("learn NUMBERS --model gaussian --bins 4", "--bins makes states of numbers"),
    ("learn NUMBERS --model gaussian --score bic", "(--model bn); it does not go with a Gaussian"),
    ("learn NUMBERS --model gaussian --test fisher-z", "--test is for a graph found by tests (--model markov)"),
    ("learn NUMBERS --model gaussian --max-memory 1", "--max-memory is for a Bayesian network"),
    ("learn NUMBERS --model gaussian -o x.bif", "only a Bayesian network is written to .bif; use .json"),
    ("learn NUMBERS --model gaussian --holdout 1", "holdout must be from 0 to below 1"),
    ("learn NUMBERS --model gaussian --missing state", "takes --missing drop"),
    ("learn NUMBERS --model gaussian --columns a,z", "no column 'z', as columns asks"),
    ("learn TABLE --rule and", "--rule is for a Gaussian Markov network (--model gaussian)"),
    ("learn TABLE --no-prior", "--no-prior is for a Gaussian Markov network"),
    ("learn TABLE --prior --model dn", "--prior is for a Gaussian Markov network"),
    ("learn NUMBERS --score fractional --smoothing 1", "--smoothing is for a Bayesian network (--model bn)"),
    ("learn NUMBERS --score fractional --max-cells 9", "--max-cells is for a Bayesian network (--model bn)"),
    ("learn NUMBERS --score fractional --model dn", "--score fractional is for a Bayesian network"),
    ("learn NUMBERS --score fractional -o x.bif", "use .json"),
    ("learn TABLE --score fractional", "--score fractional needs columns of numbers; 'age' holds text (row 0: 'young'"),
    ("learn NUMBERS --model markov --test fisher", "'fisher'; there are 'knn-mi', 'fisher-z', 'g-squared', 'chi-sq"),
    ("learn NUMBERS --model markov --rule hc", "unknown rule 'hc'; there are 'and', 'or'"),
    ("learn NUMBERS --model markov --search tabu", "unknown search 'tabu'; there are 'iamb', 'inter-iamb'"),
    ("learn NUMBERS --model markov --alpha 0 --test fisher-z", "alpha must be strictly between 0 and 1"),
    ("learn NUMBERS --model markov --alpha 1", "alpha must be strictly between 0 and 1"),
    ("learn NUMBERS --model markov --k 0", "k must be an integer of at least 1"),
    ("learn NUMBERS --model markov --k 119", "120 rows are too few"),
    ("learn NUMBERS --model markov --permutations 0", "permutations must be an integer from 1"),
    ("learn NUMBERS --model markov --scheme x", "unknown scheme 'x'"),
    (
        "learn NUMBERS --model markov --k 3 --test fisher-z",
        "k is for test='knn-mi'; it does not go with test='fisher-z' (option --k)",
    ),
    ("learn NUMBERS --model markov --scheme local --test g-squared", "scheme is for test='knn-mi'"),
    ("learn NUMBERS --model markov --bins 3", "--bins makes states of numbers; --test knn-mi takes them as they"),
    ("learn NUMBERS --model markov --holdout 0.1", "--holdout is for a Bayesian network"),
    ("learn NUMBERS --model markov --no-prior", "--no-prior is for a Gaussian Markov network"),
    ("learn NUMBERS --model markov -o g.bif", "use .json"),
    ("learn DISCRETE --model markov", "'a' is discrete"),
    ("learn DISCRETE --model markov", "'g-squared'"),
    # score
    ("score MODEL TABLE --score nope", "'bic'"),
    ("score MODEL TABLE --terms --top 0", "top must be an integer of at least 1"),
    ("score DN TABLE --score bic", "--score needs a Bayesian network, whose graph has no cycles"),
    ("score MARKOV TABLE", "this is a Markov network; score needs a Bayesian network or a dependency network"),
    ("score GRAPH TABLE", "this is an undirected graph"),
    ("score MIXTURE TABLE", "this is a mixture of normal distributions"),
    ("score TABLE --folds 1", "from 2 to 100"),
    ("score TABLE --folds 101", "from 2 to 100"),
    ("score TABLE --folds 3 --score nope", "unknown score 'nope'"),
    ("score TABLE --folds 3 --score fractional", "'fractional' is for continuous columns"),
    ("score TABLE --folds 3 --search nope", "unknown search 'nope'"),
    ("score TABLE --folds 3 --smoothing -1", "smoothing must be a number"),
    ("score TABLE --folds 3 --ess -1", "ess must be a positive number"),
    ("score TABLE --folds 3 --seed -1", "seed must not be negative"),
    ("score TABLE --folds 3 --patience 2", "takes no patience"),
    ("score TABLE --folds 3 --max-cells -1", "max_cells must be a positive number"),
    ("score TABLE --folds 3 --max-memory 0", "max_memory must be a number above 0"),
    ("score TABLE --folds 3 --terms", "--terms is about one model"),
    ("score TABLE --folds 3 --require age,age", "to itself"),
    *(
        (f"score MODEL TABLE {words}", f"{words.split()[0]} goes with --folds; without it")
        for words in (
            *("--seed 0", "--search hill-climb", "--max-parents 0", "--smoothing 1", "--ess 1", "--max-seconds 1"),
            *("--candidates 2", "--restarts 1", "--perturb 1", "--tenure 1", "--patience 1", "--max-memory 1"),
            *("--max-cells 9", "--require age,cough", "--forbid age,cough", "--tiers age;cough", "--bins 3"),
        )
    ),
    ("score MODEL GAPS --missing error", "'smoke' (10)"),
    ("score MODEL GAPS --missing em", "--missing em is a way to learn, and goes with --folds; a model takes keep"),
    ("score GAPS --folds 2 --missing node-average --score aic", "other scores go with missing='em'"),
    ("score NET NUMBER-GAP --missing state", "--missing state is for tables of states"),
    ("score NET NUMBERS --terms", "--terms needs a Bayesian network, which has a conditional per variable"),
    ("score NET NUMBERS --score bic", "--score bic is for models of states"),
    ("score NET NUMBER-GAP --missing error", "missing in 'b' (1)"),
    ("score NET NUMBER-WORD", "column 'b', row 0: numbers are needed, and the label 'x' is none"),
    ("score NET TABLE", "'a'"),
    # sample
    ("sample MODEL -n -1", "from 0"),
    ("sample MODEL -n 1 --seed -1", "seed must not be negative"),
    ("sample MODEL -n 1099511627776", "memory"),
    ("sample COIN -n 1 --given a=y", "probability 0"),
    ("sample MODEL -n 1 --chains 2", "--chains is for dependency networks"),
    ("sample MODEL -n 1 --burn-in 0", "--burn-in is for dependency networks"),
    ("sample MODEL -n 1 --thin 1", "--thin is for dependency networks"),
    ("sample MODEL -n 1 --scan random", "--scan is for dependency networks"),
    ("sample MARKOV -n 1 --thin 2", "is for dependency networks"),
    ("sample DN -n 0", "from 1"),
    ("sample EMPTY-DN -n 1 --json", "no variables"),
    ("sample DN -n 1 --chains 0", "chains must be an integer from 1"),
    ("sample DN -n 1 --burn-in -1", "burn_in must be an integer from 0"),
    ("sample DN -n 1 --thin 0", "thin must be an integer from 1"),
    ("sample DN -n 1 --scan nope", "unknown scan 'nope'; there are 'random', 'ordered'"),
    ("sample DN -n 1 --given nope=1", "--given: no variable 'nope'"),
    ("sample DN -n 1 --given age", "--given takes NAME=STATE"),
    ("sample DN -n 1 --given age=nope", "'nope'"),
    ("sample DN -n 1 --given age=old --given age=young", "--given names 'age' twice"),
    ("sample DN -n 1 --given age=old --given smoke=no --given cough=no", "nothing to sample"),
    ("sample NET -n 2 --given a=x", "'a' has finite numbers, and 'x' is none"),
    ("sample NET -n 2 --burn-in 5", "--burn-in does not go with a Gaussian Markov network"),
    ("sample NET -n -1", "n must be an integer"),
    ("sample GRAPH -n 2", "this is an undirected graph; a model is needed"),
    ("sample MIXTURE -n 2", "this is a mixture of normal distributions"),
    # predict
    ("predict MODEL TABLE --target nope", "'nope'"),
    ("predict MODEL ODD --target cough", "'perhaps'"),
    ("predict MODEL ODD --target cough --missing keep", "'perhaps'"),
    ("predict COIN2 HALF --target a", "row 0 has probability 0"),
    ("predict COIN2 HALF --target a", "smoothing above 0"),
    ("predict DN TABLE --target age", "this is a dependency network; predict needs a Bayesian network"),
    ("predict GRAPH TABLE --target a", "this is an undirected graph"),
    ("predict MIXTURE TABLE --target a", "this is a mixture of normal distributions"),
    ("predict NET NUMBERS --target d", "'d'"),
    # impute
    ("impute MODEL TABLE --seed 1", "--seed is for --how draw"),
    ("impute MODEL TABLE --how draw --seed -1", "seed must not be negative"),
    ("impute MODEL ODD", "'perhaps'"),
    ("impute COIN2 HOLE", "what is known of row 0 has probability 0 under the network; fit it with smoothing above 0"),
    ("impute DN TABLE", "this is a dependency network; impute needs a Bayesian network"),
    *((f"impute {model} TABLE", "this is a") for model in ("GRAPH", "MIXTURE", "MARKOV")),
    # query
    ("query ASIA nope", "no variable 'nope'; there are 'asia', 'tub'"),
    ("query ASIA lung lung", "'lung' appears more than once"),
    ("query ASIA --given smoke", "--given takes NAME=STATE, not 'smoke'"),
    ("query ASIA --do ''", "--do takes NAME=STATE, not ''"),
    ("query ASIA --given smok=yes", "--given: no variable 'smok'; there are 'asia', 'tub'"),
    ("query ASIA --do =yes", "--do: no variable ''; there are 'asia', 'tub'"),
    ("query ASIA --given smoke=perhaps", "'smoke' has no state 'perhaps'; it has 'yes', 'no'"),
    ("query ASIA --do smoke=Yes", "'smoke' has no state 'Yes'; it has 'yes', 'no'"),
    ("query ASIA --given smoke=", "'smoke' has no state ''"),
    ("query ASIA --given lung=yes --given lung=no", "--given names 'lung' twice, with 'yes' and 'no'"),
    ("query ASIA --do lung=no --do lung=yes", "--do names 'lung' twice, with 'no' and 'yes'"),
    ("query ASIA --given lung=yes --do lung=yes", "'lung' is in both --given and --do"),
    ("query ASIA --joint", "--joint needs the NAMEs"),
    ("query ASIA lung --most-probable", "--most-probable is about all variables"),
    ("query ASIA --joint --most-probable", "--most-probable is about all variables"),
    *(
        (f"query ASIA {words} --given either=no --given lung=yes", said)
        for words in ("", "smoke", "smoke bronc --joint", "--most-probable")
        for said in ("probability 0", "either = 'no', lung = 'yes'", "smoothing above 0")
    ),
    ("query COIN --given a=y", "probability 0"),
    ("query DN --do smoke=yes", "this is a dependency network; --do needs a Bayesian network"),
    ("query DN --do smoke=yes", "fishernet sample --given"),
    ("query DN --most-probable", "this is a dependency network; --most-probable needs a Bayesian network"),
    ("query MARKOV --do a=x", "this is a Markov network; --do needs a Bayesian network"),
    ("query NET --do a=1", "this is a Gaussian Markov network; --do needs a Bayesian network"),
    ("query NET --given a=low", "'a' has finite numbers, and 'low' is none"),
    *((f"query {model} a", "this is a") for model in ("GRAPH", "MIXTURE")),
    # select
    *(
        (f"select ASIA ROWS -k {k} --by {by}", f"k must be an integer from 1 to 200 (the rows of the table), got {k} ")
        for k in (0, -1, 201)
        for by in ("mmd", "chi-square", "random")
    ),
    *(
        (f"select ASIA ROWS -k 5 --starts {n}", f"starts must be an integer from 1 to 2,147,483,647, got {n}")
        for n in (0, -1, 2**31)
    ),
    *(
        (f"select ASIA ROWS -k 5 --tolerance 0.1 --by {by}", "--tolerance needs --by mmd-critic, protodash or coreset")
        for by in ("mmd", "kernel-thinning", "chi-square", "random")
    ),
    *(
        (f"select ASIA ROWS -k 5 --starts 9 --by {by}", "--starts is for mmd and chi-square")
        for by in ("mmd-critic", "protodash", "kernel-thinning")
    ),
    ("select ASIA ROWS --tolerance -1 --by protodash", "tolerance must"),
    (
        "select ASIA ROWS -k 5 --criticisms 0",
        "criticisms must be an integer from 1 to 195 (the rows not chosen), got 0",
    ),
    ("select ASIA ROWS -k 5 --criticisms 196", "(the rows not chosen), got 196 (option --criticisms)"),
    ("select ASIA ROWS -k 200 --criticisms 1", "all rows are chosen"),
    ("select ASIA IMPOSSIBLE -k 5 --by mmd-critic", "row 200 has either = 'yes' given lung = 'no', tub = 'no'"),
    ("select ASIA ROWS -k 5 --seed -1", "seed must not be negative"),
    ("select ASIA ROWS -k 5 --weights n", "'n', as weights asks"),
    *(
        (f"select MODEL NOTHING -k 1 --weights n --by {by}", "all rows have weight 0")
        for by in ("mmd", "protodash", "random")
    ),
    ("select ASIA IMPOSSIBLE -k 5", "row 200 has either = 'yes' given lung = 'no', tub = 'no'"),
    ("select ASIA IMPOSSIBLE -k 5", "smoothing above 0"),
    ("select DN TABLE -k 3", "this is a dependency network; select needs a Bayesian network"),
    *((f"select {model} TABLE -k 2", "this is a") for model in ("GRAPH", "MIXTURE", "MARKOV")),
    ("select NET NUMBERS -k 2 --by chi-square", "chi_square is for categorical columns"),
    # similar
    (
        "similar ASIA ROWS --row 200",
        "row must be an integer from 0 to 199 (the rows of the table), got 200 (option --r",
    ),
    (
        "similar ASIA ROWS --row -1",
        "row must be an integer from 0 to 199 (the rows of the table), got -1 (option --row)",
    ),
    ("similar ASIA ROWS --row 0 -n 0", "n must be an integer of at least 1, got 0 (option -n)"),
    ("similar ASIA ROWS --row 0 --top 0", "top must be an integer of at least 1, got 0 (option --top)"),
    ("similar ASIA IMPOSSIBLE --row 0 --by fisher", "row 200 has either = 'yes' given lung = 'no', tub = 'no'"),
    ("similar DN TABLE --row 0", "this is a dependency network; similar needs a Bayesian network"),
    *((f"similar {model} TABLE --row 0", "this is a") for model in ("GRAPH", "MIXTURE")),
    # compare
    (
        "compare TABLE TABLE --permutations 0",
        "permutations must be an integer from 1 to 1,000,000, got 0 (option --permut",
    ),
    ("compare TABLE TABLE --level 2", "level must be a number from 0 to 1, got 2.0 (option --level)"),
    ("compare TABLE TABLE --top -1", "top must be an integer of at least 0, got -1 (option --top)"),
    ("compare TABLE TABLE --seed -1", "seed must not"),
    ("compare TABLE TABLE --model DN", "this is a dependency network; compare needs a Bayesian network"),
    (
        "compare TABLE TABLE --model TABLE",
        "a model is read from a file ending in .json, .bif, .xdsl, .net, ",
    ),
    ("compare ROWS IMPOSSIBLE --model ASIA", "row 200 has either = 'yes' given lung = 'no', tub = 'no'"),
    ("compare TABLE ABSENT", "no such file"),
    # compare-graphs
    ("compare-graphs MODEL ASIA", "the same variables"),
    ("compare-graphs MODEL ASIA", "only the first has 'age', 'cough'; only the second has 'asia', 'tub'"),
    ("compare-graphs MODEL DN", "a dependency network; compare-graphs needs a Bayesian network"),
    ("compare-graphs BNET GRAPH", "compare two graphs of one kind"),
    ("compare-graphs NET BNET", "compare two graphs of one kind"),
    ("compare-graphs GRAPH NET1", "'b'"),
    # convert
    ("convert MODEL x.csv", "holds a model, not a table"),
    (
        "convert MODEL x.pkl",
        "a model is written to a file ending in .json, .bif, .xdsl, .net, ",
    ),
    (
        "convert x.dot x.json",
        "a model is read from a file ending in .json, .bif, .xdsl, .net, ",
    ),
    ("convert x.dot x.csv", "cannot be turned into a table"),
    ("convert TABLE x.json", "cannot be turned into a model"),
    ("convert TABLE x.arff", "by the path's ending"),
    ("convert ABSENT x.parquet", "no such file"),
    ("convert ABSENT nowhere/x.parquet", "no directory"),
    *((f"convert {model} x.bif", "only a Bayesian network can be turned into .bif") for model in ("DN", "NET", "BNET")),
    ("convert MIXTURE x.json", "only networks and graphs can be converted"),
    # cluster
    ("cluster TABLE -k 0", "n_clusters must be an integer from 1 to 100 (the rows of the table), got 0 (option -k)"),
    ("cluster TABLE -k 101", "n_clusters must be"),
    ("cluster TABLE --most 0", "most must be an integer of at least 1, got 0 (option --most)"),
    ("cluster TABLE --restarts 0", "restarts must be"),
    ("cluster TABLE --top 0", "top must be"),
    ("cluster TABLE --seed -1", "seed must not"),
    ("cluster TABLE --weights nope", "'nope'"),
    ("cluster TABLE -o out.json", "by the path's ending"),
]


def models() -> dict[str, Any]:
    """The models that the words above stand for."""
    a, b = fn.Variable("a", ["x", "y"]), fn.Variable("b", ["x", "y"])
    dag = fn.Dag.from_edges(["a", "b"], [("a", "b")])
    halves: Any = {"a": [1, 0], "b": np.array([[1, 0], [0.5, 0.5]])}
    return {
        "ASIA": ASIA,
        "COIN": coin(probabilities=[1.0, 0.0]),
        "COIN2": fn.BayesianNetwork.from_tables([a, b], {"b": ["a"]}, halves),
        "EMPTY-DN": fn.DependencyNetwork([], []),
        "MARKOV": fn.MarkovNetwork([a, b], [(("a", "b"), [[2.0, 1.0], [1.0, 3.0]])]),
        "GRAPH": fn.UndirectedGraph.from_edges(["a", "b"], [("a", "b")]),
        "NET": fn.GaussianMarkovNetwork(["a", "b"], [0, 0], [[2, 1], [1, 2]]),
        "NET1": fn.GaussianMarkovNetwork(["a"], [0], [[2]]),
        "BNET": fn.BayesianNetwork.from_regressions(dag, [0, 0], [[], [1]], [1, 1]),
        "MIXTURE": fn.GaussianMixture([1.0], [0.0], 1.0),
    }


TEXTS = {
    "MANY": "x,y\n" + "".join(f"{i},{i // 150}\n" for i in range(300)),
    "DISCRETE": "a,b\n" + "".join(f"{i % 2},{3 * i}\n" for i in range(40)),
    "NUMBER-GAP": "a,b\n1,\n",
    "NUMBER-WORD": "a,b\n1,x\n",
    "ODD": "age,smoke,cough\nold,yes,perhaps\n",
    "HALF": "b\ny\n",
    "HOLE": "a,b\n,y\n",
    "NOTHING": "age,smoke,cough,n\nold,no,no,0\nold,yes,no,0\n",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return the files that the words above stand for."""
    folder = tmp_path_factory.mktemp("refused")
    found = {"TABLE": patients(folder), "ABSENT": folder / "absent.csv", "NO-FILES": folder / "no-files"}
    found["NO-FILES"].mkdir()
    table = fn.read_table(found["TABLE"])
    learned = {"MODEL": fn.learn.bayesian_network(table), "DN": fn.learn.dependency_network(table)}
    found |= {name: saved(model, folder / f"{name}.json") for name, model in (models() | learned).items()}
    text = found["TABLE"].read_text(encoding="utf-8")
    fn.write_table(ROWS, folder / "ROWS.csv")
    rows = (folder / "ROWS.csv").read_text(encoding="utf-8")
    texts = TEXTS | {
        "GAPS": text.replace("young,yes,yes", "young,,yes"),
        "NUMBERS": chain(120).to_csv(index=False),
        "WIDE": ",".join(f"v{v}" for v in range(22))
        + "\n"
        + "".join(",".join(two * 11) + "\n" for two in ("ab", "ba") * 20),
        "ROWS": rows,
        "IMPOSSIBLE": rows + "no,no,no,no,no,yes,no,no\n",
    }
    return found | {name: written(folder / f"{name}.csv", text) for name, text in texts.items()}


@pytest.mark.parametrize(("line", "said"), REFUSED)
def test_what_makes_no_sense_is_one_sentence(
    files: dict[str, Path], monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    folder = files["TABLE"].parent
    monkeypatch.chdir(folder)
    before = sorted(folder.iterdir())
    message = refused(*(files.get(word, word) for word in shlex.split(line)))
    assert said in message
    assert sorted(folder.iterdir()) == before
