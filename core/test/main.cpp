#include <cstdio>

#include "check.hpp"

int main() {
    test_pool();
    test_sequence_map();
    test_kernels();
    test_counting();
    test_set_terms();
    test_subset_terms();
    test_hill_climb();
    test_order_search();
    test_conditionals();
    test_sampling();
    test_inference();
    test_selection();
    test_knn();
    test_firing();
    std::puts("core: 14 passed, 0 failed");
    return 0;
}
