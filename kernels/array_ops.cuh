// What arrays hold, and what is done to it: elements, operations on them, and what a reduction's result becomes.
//
// Each operation computes in an accumulator of its own:
//   floats, sum and product    double; -0 and 1 are what changes nothing (core/float_tree.h)
//   floats, minimum, maximum   integers of the floats' order: -0 just before 0, and NaN beyond the infinity on the side
//                              that the operation keeps, so that one NaN is enough
//   integers, sum              `wide`, 128 bits: no sum of as many values as there can be leaves it
//   integers, product          `magnitude`: a sign, 64 bits, and whether that was too few; a 0 makes up for it
//   integers, extremes         64 bits
#ifndef GI_KERNELS_ARRAY_OPS_CUH
#define GI_KERNELS_ARRAY_OPS_CUH

#include <type_traits>

#include "core/float_tree.h"
#include "kernels/arrays.h"
#include "kernels/common.cuh"

namespace gi {

// ---- floats -------------------------------------------------------------------------------------------------------

// By intrinsics, so that no product is contracted with a sum.
struct real_sum {
    __device__ double identity() const { return GI_TREE_SUM_IDENTITY; }
    __device__ double operator()(double a, double b) const { return __dadd_rn(a, b); }
};

struct real_product {
    __device__ double identity() const { return GI_TREE_PROD_IDENTITY; }
    __device__ double operator()(double a, double b) const { return __dmul_rn(a, b); }
};

__device__ __forceinline__ double canonical(double value) {
    return value == value ? value : __longlong_as_double(0x7FF8000000000000);
}

// ---- extremes -----------------------------------------------------------------------------------------------------

// Integers of the same order as the elements.
template <typename E> struct key_type { using type = int64_t; };
template <> struct key_type<float> { using type = int32_t; };
template <> struct key_type<int32_t> { using type = int32_t; };
template <> struct key_type<uint8_t> { using type = int32_t; };
template <typename E> using key_of = typename key_type<E>::type;

template <typename T> __host__ __device__ constexpr T largest_of() {
    return (T)((uint64_t)INT64_MAX >> (64 - 8 * sizeof(T)));
}

// What nothing else replaces: a NaN, where the largest or smallest value is wanted.
template <typename K, bool Most> constexpr K NAN_KEY = Most ? largest_of<K>() : (K)~largest_of<K>();

template <bool Most, typename E> __device__ __forceinline__ key_of<E> to_key(E value) {
    using K = key_of<E>;
    if constexpr (std::is_floating_point<E>::value) {
        K bits;
        memcpy(&bits, &value, sizeof bits);
        const K key = bits < 0 ? bits ^ largest_of<K>() : bits;
        return value == value ? key : NAN_KEY<K, Most>;
    } else {
        return value;
    }
}

template <bool Most, typename E> __device__ __forceinline__ E from_key(key_of<E> key) {
    using K = key_of<E>;
    if constexpr (std::is_floating_point<E>::value) {
        const K nan = sizeof(K) == 4 ? (K)0x7FC00000 : (K)0x7FF8000000000000;
        const K bits = key == NAN_KEY<K, Most> ? nan : key < 0 ? key ^ largest_of<K>() : key;
        E value;
        memcpy(&value, &bits, sizeof value);
        return value;
    } else {
        return (E)key;
    }
}

template <typename K, bool Most> struct extreme {
    __device__ K identity() const { return NAN_KEY<K, !Most>; }
    __device__ K operator()(K a, K b) const { return Most ? max(a, b) : min(a, b); }
};

// ---- integers -----------------------------------------------------------------------------------------------------

// A sum in two's complement of 128 bits.
struct wide {
    uint64_t low;
    int64_t high;
};

__device__ __forceinline__ wide to_wide(int64_t value) { return {(uint64_t)value, value >> 63}; }
__device__ __forceinline__ bool fits(wide value) { return value.high == (int64_t)value.low >> 63; }

struct wide_sum {
    __device__ wide identity() const { return {0, 0}; }
    __device__ wide operator()(wide a, wide b) const {
        const uint64_t low = a.low + b.low;
        return {low, (int64_t)((uint64_t)a.high + (uint64_t)b.high + (low < a.low))};
    }
};

// The nearest double, of two as near the even one: the upper 64 bits of the magnitude, the last of them set where any
// below is, are rounded as all would be.
__device__ __forceinline__ double to_double(wide value) {
    if (fits(value)) return (double)(int64_t)value.low;
    const bool negative = value.high < 0;
    uint64_t low = value.low, high = (uint64_t)value.high;
    if (negative) {
        low = ~low + 1;
        high = ~high + (low == 0);
    }
    if (high == 0) return negative ? -(double)low : (double)low;
    const int shift = 64 - __clzll((long long)high);
    uint64_t top = shift == 64 ? high : high << (64 - shift) | low >> shift;
    const uint64_t below = shift == 64 ? low : low << (64 - shift);
    const double magnitude = scalbn((double)(top | (below != 0)), shift);
    return negative ? -magnitude : magnitude;
}

// A product: (-1)^negative * value, or something that is larger than 64 bits.
struct magnitude {
    uint64_t value; // 1 where large
    uint32_t negative, large;
};

__device__ __forceinline__ magnitude to_magnitude(int64_t value) {
    return {value < 0 ? 0 - (uint64_t)value : (uint64_t)value, value < 0, 0};
}
__device__ __forceinline__ bool fits(magnitude m) {
    return !m.large && m.value <= (uint64_t)INT64_MAX + (m.negative != 0);
}
__device__ __forceinline__ int64_t to_integer(magnitude m) { return (int64_t)(m.negative ? 0 - m.value : m.value); }

struct magnitude_product {
    __device__ magnitude identity() const { return {1, 0, 0}; }
    __device__ magnitude operator()(magnitude a, magnitude b) const {
        if (a.value == 0 || b.value == 0) return {0, 0, 0};
        const uint32_t negative = a.negative ^ b.negative;
        if (a.large || b.large || __umul64hi(a.value, b.value) != 0) return {1, negative, 1};
        return {a.value * b.value, negative, 0};
    }
};

// ---- what is reduced or scanned -----------------------------------------------------------------------------------

// An operation on elements E: accumulator A, Op, and
//     A of(E)                             what an element is
//     gi_device_number finish(A, count)   what the reduction of so many is
//     bool put(Out *, A)                  what a scan's result is, and whether it fits
template <typename E, bool Product, bool Mean = false> struct real_job {
    using element = E;
    using A = double;
    using Op = typename std::conditional<Product, real_product, real_sum>::type;
    using Out = E;
    __device__ static A of(E value) { return (double)value; }
    __device__ static gi_device_number finish(A value, size_t count) {
        return {canonical(Mean ? value / (double)count : value), 0, 0};
    }
    __device__ static bool put(E *to, A value) {
        if (sizeof(E) == 4)
            *to = (E)(value == value ? __double2float_rn(value) : __int_as_float(0x7FC00000));
        else
            *to = (E)canonical(value);
        return true;
    }
};

template <typename E> using scan_out = typename std::conditional<std::is_floating_point<E>::value, E, int64_t>::type;

template <typename E, bool Most> struct extreme_job {
    using element = E;
    using A = key_of<E>;
    using Op = extreme<A, Most>;
    using Out = scan_out<E>;
    __device__ static A of(E value) { return to_key<Most>(value); }
    __device__ static gi_device_number finish(A key, size_t) {
        const E value = from_key<Most, E>(key);
        if (std::is_floating_point<E>::value) return {canonical((double)value), 0, 0};
        return {0, (int64_t)value, 0};
    }
    __device__ static bool put(Out *to, A key) {
        *to = (Out)from_key<Most, E>(key);
        return true;
    }
};

template <typename E, bool Mean = false> struct sum_job {
    using element = E;
    using A = wide;
    using Op = wide_sum;
    using Out = int64_t;
    __device__ static A of(E value) { return to_wide(value); }
    __device__ static gi_device_number finish(A sum, size_t count) {
        if (Mean) return {to_double(sum) / (double)count, 0, 0};
        return {0, (int64_t)sum.low, fits(sum) ? 0U : 1U};
    }
    __device__ static bool put(Out *to, A sum) {
        *to = (int64_t)sum.low;
        return fits(sum);
    }
};

template <typename E> struct product_job {
    using element = E;
    using A = magnitude;
    using Op = magnitude_product;
    using Out = int64_t;
    __device__ static A of(E value) { return to_magnitude(value); }
    __device__ static gi_device_number finish(A product, size_t) {
        return {0, to_integer(product), fits(product) ? 0U : 1U};
    }
    __device__ static bool put(Out *to, A product) {
        *to = to_integer(product);
        return fits(product);
    }
};

// What an exclusive scan begins with.
template <typename Out> __host__ __device__ inline Out scan_identity(gi_operation operation) {
    if (operation == GI_OPERATION_SUM) return 0;
    if (operation == GI_OPERATION_PROD) return 1;
    const bool most = operation == GI_OPERATION_MAX;
    if constexpr (std::is_floating_point<Out>::value)
        return most ? -(Out)INFINITY : (Out)INFINITY;
    else
        return most ? INT64_MIN : INT64_MAX;
}

// ---- from a job's element and operation to its types --------------------------------------------------------------

template <typename T> struct type_tag { using type = T; };

template <bool Means, typename E, typename Call> gi_status with_real(gi_operation operation, Call call) {
    switch (operation) {
    case GI_OPERATION_PROD: return call(type_tag<real_job<E, true>>{});
    case GI_OPERATION_MIN: return call(type_tag<extreme_job<E, false>>{});
    case GI_OPERATION_MAX: return call(type_tag<extreme_job<E, true>>{});
    case GI_OPERATION_MEAN: return call(type_tag<real_job<E, false, Means>>{});
    default: return call(type_tag<real_job<E, false>>{});
    }
}

template <bool Means, typename E, typename Call> gi_status with_integer(gi_operation operation, Call call) {
    switch (operation) {
    case GI_OPERATION_PROD: return call(type_tag<product_job<E>>{});
    case GI_OPERATION_MIN: return call(type_tag<extreme_job<E, false>>{});
    case GI_OPERATION_MAX: return call(type_tag<extreme_job<E, true>>{});
    case GI_OPERATION_MEAN: return call(type_tag<sum_job<E, Means>>{});
    default: return call(type_tag<sum_job<E>>{});
    }
}

// Calls call(type_tag<...>) with what the element and the operation are; returns what that returns. Without Means a
// mean is a sum: scans have none.
template <bool Means, typename Call> gi_status with_job(gi_element element, gi_operation operation, Call call) {
    switch (element) {
    case GI_ELEMENT_F64: return with_real<Means, double>(operation, call);
    case GI_ELEMENT_I32: return with_integer<Means, int32_t>(operation, call);
    case GI_ELEMENT_I64: return with_integer<Means, int64_t>(operation, call);
    case GI_ELEMENT_U8: return with_integer<Means, uint8_t>(operation, call);
    default: return with_real<Means, float>(operation, call);
    }
}

} // namespace gi

#endif
