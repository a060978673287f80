// Runs all cases, or those whose names hold the first argument.
#include <cstdio>
#include <exception>

#include "base/pool.hpp"
#include "test/check.hpp"

namespace {

bool passes(const TestCase& test) {
    fishernet::set_threads(2);
    try {
        test.run();
        return true;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s failed: %s\n", test.name.c_str(), error.what());
        return false;
    }
}

}  // namespace

int main(int n_arguments, char** arguments) {
    const std::string wanted = n_arguments > 1 ? arguments[1] : "";
    int passed = 0, failed = 0;
    for (const auto& test : test_cases()) {
        if (test.name.find(wanted) == std::string::npos) continue;
        ++(passes(test) ? passed : failed);
    }
    std::printf("core: %d passed, %d failed\n", passed, failed);
    return failed > 0 || passed == 0 ? 1 : 0;
}
