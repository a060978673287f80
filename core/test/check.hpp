// Plain checks: the first that fails says where, and ends the program.
#pragma once

#include <cstdio>
#include <cstdlib>

#define CHECK(condition)                                                              \
    do {                                                                              \
        if (!(condition)) {                                                           \
            std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
            std::exit(1);                                                             \
        }                                                                             \
    } while (false)

void test_pool();
void test_sequence_map();
void test_kernels();
void test_counting();
void test_set_terms();
void test_subset_terms();
void test_hill_climb();
void test_order_search();
void test_exact_search();
void test_conditionals();
void test_sampling();
void test_inference();
void test_selection();
void test_gaussian();
void test_knn();
void test_firing();
void test_strings();
void test_trees();
void test_hmm();
void test_threads();
