#include "base/buffer.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace fishernet {

void FreeBuffer::operator()(double* values) const { std::free(values); }

Buffer make_buffer(std::size_t cells) {
    constexpr std::size_t huge_page = std::size_t{1} << 21;
    const std::size_t bytes = cells * sizeof(double);
    void* memory = nullptr;
    if (bytes < 2 * huge_page) {
        memory = std::malloc(bytes ? bytes : 1);
    } else {
        memory = std::aligned_alloc(huge_page, (bytes + huge_page - 1) / huge_page * huge_page);
#if defined(MADV_HUGEPAGE)
        if (memory != nullptr) madvise(memory, bytes, MADV_HUGEPAGE);  // a wish: nothing is lost when it is not granted
#endif
    }
    if (memory == nullptr) throw std::bad_alloc();
    return Buffer(static_cast<double*>(memory));
}

}  // namespace fishernet
