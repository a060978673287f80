// Test cases that register themselves, and plain checks. The first check that fails says where and ends its case; the
// others go on.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

struct TestCase {
    std::string name;
    void (*run)();
};

inline std::vector<TestCase>& test_cases() {
    static std::vector<TestCase> cases;
    return cases;
}

struct TestRegistration {
    TestRegistration(const char* name, void (*run)()) { test_cases().push_back({name, run}); }
};

#define TEST(name)                                            \
    static void test_##name();                                \
    static const TestRegistration of_##name(#name, test_##name); \
    static void test_##name()

struct CheckFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};

#define CHECK_TEXT_(x) #x
#define CHECK_TEXT(x) CHECK_TEXT_(x)
#define CHECK(condition)                                                                                      \
    do {                                                                                                      \
        if (!(condition)) throw CheckFailed(__FILE__ ":" CHECK_TEXT(__LINE__) ": not so: " #condition);       \
    } while (false)
