#!/usr/bin/env python3
"""Derives the coefficients of src/core/heat_math.h and prints them as C constants with the error they reach.

tanh(x) = x P(x^2) / Q(x^2) on [0, 4] and sin(x) = x P(x^2) on [0, 1.1], both with constant terms 1, are fitted so that
the largest absolute error is least: linearised least squares on Chebyshev nodes, the weights raised where the error is
large until it is level (Lawson 1961). The header evaluates tanh as x (1/4 + N/Q) with N = P - Q/4: near |x| = 4, where
the result is close to 1 and tanh(x) = x/4, the quotient is small and its rounding errors with it. Of sin it takes a
hundredth of what is left after x: 0.99 x + 0.01 sin(x) = x + x D(x^2) with D = (P - 1) / 100.
"""
import numpy as np


def fit(function, end, p_terms, q_terms, rounds=600, nodes=4000):
    """(error, p, q) of the best x P(x^2) / Q(x^2) on [0, end] with p[0] = q[0] = 1."""
    x = end / 2 * (1 + np.cos(np.pi * (np.arange(nodes) + 0.5) / nodes))
    u, y = x * x, function(x)
    weight, q_value = np.ones(nodes), np.ones(nodes)
    best = (np.inf, None, None)
    for _ in range(rounds):
        scale = np.sqrt(weight) / q_value
        columns = [x * u**i * scale for i in range(1, p_terms)] + [-y * u**i * scale for i in range(1, q_terms)]
        matrix = np.array(columns).T
        size = np.abs(matrix).max(axis=0)
        solution = np.linalg.lstsq(matrix / size, (y - x) * scale, rcond=None)[0] / size
        p = np.concatenate([[1], solution[: p_terms - 1]])
        q = np.concatenate([[1], solution[p_terms - 1 :]])
        q_value = np.polyval(q[::-1], u)
        error = np.abs(x * np.polyval(p[::-1], u) / q_value - y)
        if error.max() < best[0]:
            best = (error.max(), p, q)
        weight *= error / error.mean() + 1e-3
        weight /= weight.sum()
    return best


def constant(value):
    mantissa, exponent = float(np.float32(value)).hex().split("p")
    return f"{mantissa[:-7]}p{exponent}F"


def main():
    error, p, q = fit(np.tanh, 4.0, 4, 4)
    print(f"tanh: error before rounding {error:.2g}")
    print("  N:", ", ".join(constant(c) for c in p - q / 4))
    print("  Q:", ", ".join(constant(c) for c in q))
    error, p, _ = fit(np.sin, 1.1, 4, 1)
    print(f"sin: error before rounding {error:.2g}")
    print("  D:", ", ".join(constant(c / 100) for c in p[1:]))


if __name__ == "__main__":
    main()
