#include <cstdlib>

#include "bind/arrays.hpp"

NB_MODULE(_core, m) {
    // What a program still holds when it ends is no leak; developers may want to see it all the same.
    nanobind::set_leak_warnings(std::getenv("FISHERNET_LEAKS") != nullptr);
    m.doc() = "The loops of fishernet, in C++; arguments are checked, messages are for developers.";
    fishernet::bind::bind_threads(m);
    fishernet::bind::bind_counts(m);
    fishernet::bind::bind_scores(m);
    fishernet::bind::bind_exact(m);
    fishernet::bind::bind_layer_walk(m);
    fishernet::bind::bind_conditionals(m);
    fishernet::bind::bind_gaussian(m);
    fishernet::bind::bind_mixed_scores(m);
    fishernet::bind::bind_search(m);
    fishernet::bind::bind_gibbs(m);
    fishernet::bind::bind_hmm(m);
    fishernet::bind::bind_inference(m);
    fishernet::bind::bind_completion(m);
    fishernet::bind::bind_hidden_forest(m);
    fishernet::bind::bind_mixed(m);
    fishernet::bind::bind_kernels(m);
    fishernet::bind::bind_comparison(m);
    fishernet::bind::bind_knn(m);
    fishernet::bind::bind_select(m);
    fishernet::bind::bind_stationary(m);
    fishernet::bind::bind_trees(m);
    fishernet::bind::bind_strings(m);
}
