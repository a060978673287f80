#include <cstdio>
#include <iterator>

#include "test/check.hpp"

int main() {
    void (*const tests[])() = {
        test_pool,
        test_sequence_map,
        test_kernels,
        test_counting,
        test_set_terms,
        test_subset_terms,
        test_exact_search,
        test_hill_climb,
        test_order_search,
        test_conditionals,
        test_sampling,
        test_inference,
        test_selection,
        test_gaussian,
        test_knn,
        test_firing,
        test_strings,
        test_trees,
        test_hmm,
        test_threads,
    };
    for (const auto test : tests) test();  // a failed check ends the program
    std::printf("core: %zu passed, 0 failed\n", std::size(tests));
    return 0;
}
